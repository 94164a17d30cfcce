// What `hlosim gate` is asked to watch over: docs/gate.md has every key.
//
//   modules: [examples/*.hlo]
//   devices: [v4, v5e]
//   limits:
//     - {metric: time, relative: 1 %}
//     - {module: "train", metric: "peak\\..*", absolute: 1 MiB, most: 14 GiB}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "base/source.h"
#include "base/value.h"
#include "report/figures.h"
#include "stablehlo/options.h"

namespace hlosim {

enum class GatePolicy : uint8_t { kPass, kWarn, kFail };
std::optional<GatePolicy> parse_gate_policy(std::string_view text);

/// A limit without `relative` and `absolute` allows no increase at all.
struct GateLimit {
  Pattern module, device, metric;
  std::optional<double> relative;   // of the baseline: 0.01 for 1 %, as near as that gets
  std::optional<int64_t> absolute;  // in the metric's unit
  std::optional<int64_t> most;      // of the value itself, whatever the baseline says
  std::optional<MetricUnit> unit;   // of the two above; none: any
  Value place;                      // in the file, for messages
  /// "1 %", "1 %, 10 us", "0; at most 14.00 GiB"
  std::string text(MetricUnit metric_unit) const;
};

/// A text of the file with its place.
struct GateText {
  std::string text;
  Value place;
};

struct GateConfig {
  std::string baseline;  // relative to the configuration's folder, as are modules; empty: by its name
  std::vector<GateText> modules;  // names with * and ?
  std::vector<GateText> devices;
  std::vector<GateText> metrics;    // regular expressions; empty: all but those of kUngated
  std::vector<GateText> set;        // path=value for every device
  std::vector<GateText> xla_flags;  // that the compiler was given, before `set`
  GateText topology;                // may be empty, as custom_call_costs
  GateText mesh;                    // the same, as parse_mesh_request() takes it
  int64_t slices = 1;
  int64_t while_trip_count = 1;
  GateText custom_call_costs;
  GateText advise;  // time for changes of what got slower, as in "10s"; may be empty: none are tried
  std::vector<stablehlo::DimensionSize> dimensions;  // as --dim takes them
  bool partial = false;
  bool lower = true;
  bool partition = true;          // sharded modules, where no mesh is given
  std::vector<GateLimit> limits;  // the first that fits decides
  GatePolicy on_new = GatePolicy::kWarn;
  GatePolicy on_gone = GatePolicy::kFail;
  GatePolicy on_incomparable = GatePolicy::kFail;

  bool watches(std::string_view metric) const;
  /// The limit of a metric of a module ("file:name"); null: no increase is allowed.
  const GateLimit* limit_of(const std::string& module, const std::string& device,
                            const std::string& metric) const;

  std::vector<Pattern> metric_expressions;  // of `metrics`
};

/// Nothing when it is wrong: several mistakes are reported at once, each at its place.
std::optional<GateConfig> read_gate_config(const SourcePtr& source, DiagnosticList& problems);

/// The baseline of a configuration that names none: "ci/nightly.yaml" has "nightly-baseline.json" beside it.
std::string default_baseline(const std::string& config);

/// A configuration with every key and what it is for, as `hlosim init` writes it.
std::string gate_config_template(const std::string& baseline);

}  // namespace hlosim
