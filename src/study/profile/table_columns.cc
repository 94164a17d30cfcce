#include "profile/table_columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "profile/decimal_time.h"
#include "profile/tpu_core.h"

namespace hlosim {
namespace {

enum What : size_t {
  kProgram,
  kCategory,
  kName,
  kText,
  kOpName,
  kOccurrences,
  kTime,
  kAverage,
  kSelf,
  kAverageSelf,
  kModelRate,
  kRate,
  kBandwidth,
  kHbm,
  kIntensity,
  kBoundBy,
  kSource,
  kCore,
  kSide,
  kType,
  kOperation,
  kStep,
  kColumns
};

/// Ids and titles of XProf's columns, in the order of What; other versions have the others.
constexpr struct {
  std::string_view id, title, other_id = {}, other_title = {};
} kNames[kColumns] = {
    {"program_id", "Program id", "hlo_module_id", "Hlo Module Id"},
    {"category", "HLO op category", "hlo_category", "Category"},
    {"hlo_op_name", "HLO op name", "hlo_name", "HLO Name"},
    {"hlo_op_expression", "HLO op text", "hlo_expression", "HLO op expression"},
    {"tf_op_name", "Framework op name", "framework_op_name", "TF op name"},
    {"occurrences", "#Occurrences", "num_occurrences", "# Occurrences"},
    {"total_time", "Total time (us)", "total_time_in_us", "Total Time (us)"},
    {"avg_time", "Avg. time (us)", "avg_time_in_us", "Avg. Time (us)"},
    {"total_self_time", "Total self time (us)", "total_self_time_in_us", "Total self-time (us)"},
    {"avg_self_time", "Avg. self time (us)", "avg_self_time_in_us", "Avg. self-time (us)"},
    {"model_flop_rate", "Model GFLOP/s", "model_flops_rate", "Model FLOP Rate (GFLOP/s)"},
    {"normalized_flop_rate", "Normalized GFLOP/s", "measured_flop_rate", "Normalized FLOP Rate (GFLOP/s)"},
    {"measured_memory_bw", "Measured memory BW (GiB/s)", "memory_bw", "Memory BW (GiB/s)"},
    {"hbm_bw", "HBM BW (GiB/s)"},
    {"operational_intensity", "Operational intensity (FLOPS/Byte)", {}, "Operational Intensity (FLOP/Byte)"},
    {"bound_by", "Bound by"},
    {"source_info", "Source Info"},
    {"core_type", "TPU core type"},
    {"host_or_device", "Host/device"},
    {"type", "Operation Type", {}, "Type"},
    {"operation", "Operation", {}, "Operation Name"},
    {"step", "Step"},
};

constexpr int kMicroseconds = 6;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || at != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

/// What a rate comes to in a time: FLOPs or bytes of one occurrence.
std::optional<int64_t> amount(std::string_view rate, double unit, Picoseconds time, int64_t occurrences) {
  const std::optional<double> each = number(rate);
  if (!each || occurrences <= 0) return std::nullopt;
  const double value =
      *each * unit * static_cast<double>(time.count()) * 1e-12 / static_cast<double>(occurrences);
  if (!(value < 9e18)) return std::nullopt;
  return std::llround(value);
}

}  // namespace

TableColumns::TableColumns(const std::vector<std::string>& names) : at_(kColumns, -1) {
  for (size_t what = 0; what < kColumns; ++what)
    for (const std::string_view name :
         {kNames[what].id, kNames[what].title, kNames[what].other_id, kNames[what].other_title})
      for (size_t i = 0; i < names.size() && at_[what] < 0; ++i)
        if (!name.empty() && names[i] == name) at_[what] = static_cast<int>(i);
}

std::string_view TableColumns::form() const {
  if (at_[kName] >= 0 || at_[kText] >= 0 || at_[kOperation] < 0) return "hlo_stats";
  return at_[kSide] >= 0 ? "framework_op_stats" : "roofline_model";
}

std::string_view TableColumns::missing() const {
  if (at_[kName] < 0 && at_[kText] < 0 && at_[kOperation] < 0) return "hlo_op_name";
  if (at_[kSelf] < 0 && at_[kTime] < 0) return "total_self_time";
  if (at_[kOccurrences] < 0 && at_[kAverageSelf] < 0 && at_[kAverage] < 0) return "occurrences";
  return {};
}

std::string TableColumns::cell(const std::vector<std::string>& cells, size_t what) const {
  const int at = at_[what];
  return at < 0 || static_cast<size_t>(at) >= cells.size() ? std::string() : cells[static_cast<size_t>(at)];
}

bool TableColumns::is_left_out(const std::vector<std::string>& cells) const {
  if (cell(cells, kSide) == "Host") return true;
  if (at_[kStep] >= 0 && cell(cells, kStep) != "Total") return true;
  const std::string category = cell(cells, kCategory).empty() ? cell(cells, kType) : cell(cells, kCategory);
  return category == "IDLE" || name_of(cells) == "IDLE" || (at_[kStep] >= 0 && category == "Program");
}

std::string TableColumns::name_of(const std::vector<std::string>& cells) const {
  std::string name = cell(cells, kName);
  if (name.empty()) name = instruction_name(cell(cells, kText));
  if (name.empty()) name = cell(cells, kOperation);
  if (name.starts_with('%')) name.erase(0, 1);
  return name;
}

/// What is wrong with them; empty: nothing.
std::string TableColumns::add_times(const std::vector<std::string>& cells, ProfiledOperation& row) const {
  const std::string self_text = cell(cells, kSelf), time_text = cell(cells, kTime);
  const std::optional<int64_t> self =
      picoseconds_of(self_text.empty() ? time_text : self_text, kMicroseconds);
  const std::optional<int64_t> time =
      picoseconds_of(time_text.empty() ? self_text : time_text, kMicroseconds);
  if (!self || !time)
    return fmt::format("time '{}' of {}, expected microseconds from 0 on",
                       shown(self ? time_text : self_text), shown(row.name));
  std::optional<int64_t> occurrences = whole_amount(cell(cells, kOccurrences));
  if (!occurrences) {
    const bool has_self = !cell(cells, kAverageSelf).empty();
    const std::optional<int64_t> each =
        picoseconds_of(cell(cells, has_self ? kAverageSelf : kAverage), kMicroseconds);
    if (!each) return fmt::format("occurrences of {}, expected a whole number", shown(row.name));
    const int64_t all = has_self ? *self : *time;
    occurrences = *each == 0 ? 1 : (all + *each / 2) / *each;
  }
  row.time = Picoseconds(*time), row.self_time = Picoseconds(*self);
  row.occurrences = *occurrences;
  return {};
}

/// Rates of FLOPs are GFLOP/s by their titles, but some versions write TFLOP/s below them. FLOPs per byte
/// and bytes per second tell which.
void TableColumns::add_amounts(const std::vector<std::string>& cells, ProfiledOperation& row) {
  constexpr double kGibi = 1024.0 * 1024 * 1024;
  const std::string bandwidth = cell(cells, kBandwidth).empty() ? cell(cells, kHbm) : cell(cells, kBandwidth);
  row.bytes = amount(bandwidth, kGibi, row.time, row.occurrences);
  const double rate = number(cell(cells, kRate)).value_or(0),
               counted = number(cell(cells, kIntensity)).value_or(0) *
                         number(cell(cells, kBandwidth)).value_or(0) * kGibi;
  if (rate > 0 && counted > 0) rate_unit_ = counted / rate > 3e10 ? 1e12 : 1e9;
  row.model_flops = amount(cell(cells, kModelRate), rate_unit_, row.time, row.occurrences);
  row.flops = amount(cell(cells, kRate), rate_unit_, row.time, row.occurrences);
  if (!row.flops) row.flops = row.model_flops;
}

std::string TableColumns::add(const std::vector<std::string>& cells, ProfileBuilder& builder) {
  if (is_left_out(cells)) return {};
  ProfiledOperation row;
  row.text = cell(cells, kText);
  row.name = name_of(cells);
  if (row.name.empty()) return "an operation without a name";
  row.category = cell(cells, kCategory).empty() ? cell(cells, kType) : cell(cells, kCategory);
  row.op_name = form() == "framework_op_stats" ? row.name : cell(cells, kOpName);
  row.source = cell(cells, kSource);
  row.bound_by = cell(cells, kBoundBy);
  if (cell(cells, kCore) == kCoreBeside) row.core = kCoreBeside, row.beside = true;
  if (std::string wrong = add_times(cells, row); !wrong.empty()) return wrong;
  add_amounts(cells, row);
  const std::string program = cell(cells, kProgram);
  ProgramName name = parse_program_name(program);
  uint64_t id = 0;
  const char* end = program.data() + program.size();
  if (const auto read = std::from_chars(program.data(), end, id);
      read.ec == std::errc() && read.ptr == end && !program.empty())
    name = {{}, id};
  const Picoseconds time = row.time, self = row.self_time;
  const int64_t occurrences = row.occurrences;
  row.time = row.self_time = Picoseconds(0), row.occurrences = 0;
  const uint32_t at = builder.program(name);
  ProfileBuilder::add_time(builder.profile().programs[at].operations[builder.operation(at, row)],
                           Picoseconds(-1), time, self, occurrences);
  return {};
}

}  // namespace hlosim
