// What one point of an experiment gives.
//
//   PointRunner runner(experiment);
//   const SweepResult result = runner.run(point);
//   metric_text(metric_index("time"), result.values[0])
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/module.h"
#include "model/device.h"
#include "study/sweep.h"

namespace hlosim {

struct SweepMetric {
  std::string_view name, unit, meaning;
};
/// In the order of SweepResult::values.
std::span<const SweepMetric> sweep_metrics();
/// Its number; -1: there is none.
int metric_index(std::string_view name);
/// As people read it: "1.5 us", "16.00 MiB".
std::string metric_text(int metric, double value);

struct SweepResult {
  std::vector<double> values;  // by metric; empty: it failed
  std::string error;           // one line
  bool ok() const { return error.empty(); }
};

/// Errors: a knob that doesn't exist, a value that it can't have.
Result<void> check_sweep_knob(std::string_view name, std::string_view value);

/// Runs points, from several threads at once. Modules are read once per text, devices loaded once
/// per combination of what is set.
class PointRunner {
 public:
  /// Requires: the experiment outlives the object.
  explicit PointRunner(const Experiment& experiment);
  ~PointRunner();

  /// 32 hex digits over all that the result depends on: the module's text, the device, the knobs, `version`.
  std::string key(const SweepPoint& point, std::string_view version);
  SweepResult run(const SweepPoint& point);

 private:
  struct LoadedDevice;
  struct LoadedText;
  using Choice = std::vector<size_t>;  // a device or module, and where the axes that change it stand
  Choice choice(size_t first, const SweepPoint& point, SweepAxis::Kind kind) const;
  LoadedDevice& device(const SweepPoint& point);
  LoadedText& text(const SweepPoint& point);
  /// Null: text.error says why.
  const Module* module_of(LoadedText& text);

  const Experiment& experiment_;
  std::vector<std::string> fingerprints_;  // of them
  std::vector<size_t> by_name_;            // the axes that change the device or what is done to modules
  std::mutex mutex_;
  std::map<Choice, std::unique_ptr<LoadedDevice>> devices_;
  std::map<Choice, std::unique_ptr<LoadedText>> texts_;
};

}  // namespace hlosim
