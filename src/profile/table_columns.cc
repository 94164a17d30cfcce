#include "profile/table_columns.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "profile/decimal_time.h"

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
  kBandwidth,
  kHbm,
  kBoundBy,
  kSource,
  kColumns
};

/// Ids and titles of XProf's columns, in the order of What.
constexpr struct {
  std::string_view id, title;
} kNames[kColumns] = {
    {"program_id", "Program id"},
    {"category", "HLO op category"},
    {"hlo_op_name", "HLO op name"},
    {"hlo_op_expression", "HLO op text"},
    {"tf_op_name", "Framework op name"},
    {"occurrences", "#Occurrences"},
    {"total_time", "Total time (us)"},
    {"avg_time", "Avg. time (us)"},
    {"total_self_time", "Total self time (us)"},
    {"avg_self_time", "Avg. self time (us)"},
    {"model_flop_rate", "Model GFLOP/s"},
    {"measured_memory_bw", "Measured memory BW (GiB/s)"},
    {"hbm_bw", "HBM BW (GiB/s)"},
    {"bound_by", "Bound by"},
    {"source_info", "Source Info"},
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
    for (size_t i = names.size(); i-- > 0;) {
      const bool by_id = names[i] == kNames[what].id;
      if (by_id || (names[i] == kNames[what].title && at_[what] < 0)) at_[what] = static_cast<int>(i);
    }
}

std::string_view TableColumns::missing() const {
  if (at_[kName] < 0 && at_[kText] < 0) return "hlo_op_name";
  if (at_[kSelf] < 0 && at_[kTime] < 0) return "total_self_time";
  if (at_[kOccurrences] < 0 && at_[kAverageSelf] < 0 && at_[kAverage] < 0) return "occurrences";
  return {};
}

std::string TableColumns::cell(const std::vector<std::string>& cells, size_t what) const {
  const int at = at_[what];
  return at < 0 || static_cast<size_t>(at) >= cells.size() ? std::string() : cells[static_cast<size_t>(at)];
}

std::string TableColumns::add(const std::vector<std::string>& cells, ProfileBuilder& builder) const {
  ProfiledOperation row;
  row.text = cell(cells, kText);
  row.name = cell(cells, kName);
  if (row.name.starts_with('%')) row.name.erase(0, 1);
  if (row.name.empty()) row.name = instruction_name(row.text);
  if (row.name.empty()) return "an operation without a name";
  row.category = cell(cells, kCategory);
  if (row.name == "IDLE" || row.category == "IDLE") return {};  // what is between operations
  row.op_name = cell(cells, kOpName);
  row.source = cell(cells, kSource);
  row.bound_by = cell(cells, kBoundBy);
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
    const std::string average =
        cell(cells, kAverageSelf).empty() ? cell(cells, kAverage) : cell(cells, kAverageSelf);
    const std::optional<int64_t> each = picoseconds_of(average, kMicroseconds);
    if (!each) return fmt::format("occurrences of {}, expected a whole number", shown(row.name));
    occurrences = *each == 0 ? 1 : (*self + *each / 2) / *each;
  }
  row.flops = row.model_flops = amount(cell(cells, kModelRate), 1e9, Picoseconds(*time), *occurrences);
  const std::string bandwidth = cell(cells, kBandwidth).empty() ? cell(cells, kHbm) : cell(cells, kBandwidth);
  row.bytes = amount(bandwidth, 1024.0 * 1024 * 1024, Picoseconds(*time), *occurrences);
  ProgramName name;
  uint64_t id = 0;
  const std::string program = cell(cells, kProgram);
  if (std::from_chars(program.data(), program.data() + program.size(), id).ec == std::errc() &&
      !program.empty())
    name = parse_program_name(program).id ? parse_program_name(program) : ProgramName{{}, id};
  else
    name = parse_program_name(program);
  const uint32_t at = builder.program(name);
  ProfileBuilder::add_time(builder.profile().programs[at].operations[builder.operation(at, row)],
                           Picoseconds(-1), Picoseconds(*time), Picoseconds(*self), *occurrences);
  return {};
}

}  // namespace hlosim
