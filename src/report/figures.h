// What a run of a module amounts to, as numbers that two runs can be compared by: a list of metrics, their
// totals, and what each instruction has of them. Comes from a report, or from a saved one, and stands alone.
//
//   time                 the makespan; instructions: time without that of called computations
//   exposed_copies       waiting for copies
//   exposed_collectives  waiting for collectives, and running synchronous ones; each is its done's
//   exposed_others       waiting for the host and for computations beside the TensorCore
//   hbm_bytes            read from and written to HBM
//   sent_bytes           sent by one device over the links
//   padding_bytes        what arrays take above what their elements need
//   flops, vector_operations, transcendentals
//   peak.<space>         largest sum of live arrays at one step; of instructions: their live arrays then
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "report/report.h"

namespace hlosim {

enum class MetricUnit : uint8_t { kPicoseconds, kBytes, kCount };
/// "ps", "bytes", "count"
std::string_view to_text(MetricUnit unit);

struct Metric {
  std::string name;
  MetricUnit unit = MetricUnit::kCount;
  bool operator==(const Metric&) const = default;
};

/// Of the metrics that every module has: `peak.…` are not among them.
std::optional<MetricUnit> metric_unit(std::string_view name);
/// Their names, in the order of a report.
std::vector<Metric> common_metrics();

struct InstructionMetrics {
  std::string name, opcode, computation;
  std::string shape, op_name;  // empty: unknown
  std::string source_file;     // of the metadata; may be empty
  std::string bound_by;
  int64_t source_line = 0;
  int64_t line = 0;              // in the module's text; 0: unknown
  int64_t executions = 0;        // 0: it takes no part in the run but memory
  uint64_t own = 0, deep = 0;    // fingerprints (report/structure.h); 0: unknown
  std::vector<int64_t> amounts;  // by metric
};

struct Metrics {
  std::string module_name, module_file, module_fingerprint;
  std::string structure;  // 16 hex digits, report/structure.h; empty: unknown
  std::string device_name, device_file, device_fingerprint;
  std::optional<int64_t> model_version;
  int64_t line = 1;  // where the module begins
  std::vector<Metric> metrics;
  std::vector<int64_t> totals;  // by metric
  std::vector<InstructionMetrics>
      instructions;  // in order of first execution, then those that only hold memory

  /// The index of a metric, or -1.
  int index_of(std::string_view metric) const;
  /// What the instructions don't account for.
  int64_t rest(size_t metric) const;
};

/// The figures of a report. `module` is what was read, `estimate` what the report was made of.
Metrics make_figures(const Report& report, const Module& module, const OpTable& table,
                     const Estimate& estimate);

/// The figures of a report's JSON. Errors, with their place, when it is none or has another schema.
std::optional<Metrics> read_report_figures(const Value& document, DiagnosticList& problems);

/// "12.34 us", "5.25 MiB", "1,234": an amount of a metric; with a sign: "+12.34 us", "-3", "0 ps".
std::string amount_text(MetricUnit unit, int64_t amount);
std::string change_text(MetricUnit unit, int64_t change);
/// "+7.4 %" of a change from `before` to `after`; "+0.0001 %" rather than "+0.0 %"; empty when before is 0.
std::string percent_text(int64_t before, int64_t after);

}  // namespace hlosim
