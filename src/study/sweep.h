// Experiments: modules × devices × values of whatever can be set, each combination simulated.
//
//   modules: [seed.hlo]
//   devices: [v5e]
//   set:   {memory.vmem.capacity: [16 MiB, 32 MiB]}     keys of the device
//   knobs: {lower: [true, false]}                       what is done to the module before
//   text:  {layout: ["{1,0:T(8,128)}", "{0,1}"]}        what stands for ${layout} in the module's text
//
// docs/sweep.md describes the format.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "input/load_modules.h"
#include "model/device.h"

namespace hlosim {

class Stop;

struct SweepAxis {
  enum class Kind : uint8_t { kSet, kKnob, kText };
  Kind kind = Kind::kSet;
  std::string name;
  std::vector<std::string> values;  // at least one
};

struct SweepModule {
  std::string name;  // as the tables show it
  SourcePtr source;
};

/// A column of results, or an axis whose values are numbers.
struct Objective {
  std::string name;
  bool maximise = false;
};

struct SweepDevice {
  std::string name;  // as it was written: it may name a slice
  Device device;     // with what the experiment's flags say
};

struct Experiment {
  std::string name;
  std::vector<SweepModule> modules;
  std::vector<SweepDevice> devices;
  std::vector<SweepAxis> axes;  // in the order of the text
  std::vector<Objective> objectives;
  std::vector<std::string> columns;  // metrics that tables for people show
  struct Plot {
    std::string x, y, series;  // an axis, `device` or `module`, or a metric; series may be empty
  } plot;
  LoadOptions load;            // how modules are read
  const Stop* stop = nullptr;  // asked: points are errors

  int64_t size() const;
};

/// One combination: where each axis stands.
struct SweepPoint {
  size_t module = 0, device = 0;
  std::vector<size_t> values;  // by axis
};
/// The last axis goes fastest, then the others, the device, the module.
/// Requires: 0 <= index < experiment.size().
SweepPoint point_at(const Experiment& experiment, int64_t index);
std::string_view value_at(const Experiment& experiment, const SweepPoint& point, size_t axis);
/// What a column that isn't a metric holds: `module`, `device` or an axis by its name. Null: there is none.
std::optional<std::string> setting(const Experiment& experiment, const SweepPoint& point,
                                   std::string_view column);

/// Reads an experiment; its modules are those of `at_hand` by their names, else files beside `source`. Null
/// with errors in `problems`, at the line and column where they are: keys, values and knobs that don't exist
/// or a device doesn't take, files that match nothing, more than `kMostPoints` combinations.
std::optional<Experiment> read_experiment(const SourcePtr& source, const DeviceSearch& search,
                                          DiagnosticList& problems,
                                          std::span<const SweepModule> at_hand = {});
inline constexpr int64_t kMostPoints = 10'000'000;

/// `4 KiB` as a number in its base unit, `1e3`, `true`; null: a word.
std::optional<double> number_of(std::string_view text);

}  // namespace hlosim
