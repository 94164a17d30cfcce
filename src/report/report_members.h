// The members of a report's JSON. What writes them and the schema read the same rows, and CSV some of them.
#pragma once

#include <boost/iterator/transform_iterator.hpp>
#include <boost/range/iterator_range.hpp>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/figures.h"
#include "report/report.h"
#include "report/report_advice.h"
#include "text/json_members.h"

namespace hlosim {

template <>
inline constexpr size_t kJsonNames<CostCategory> = kCostCategoryCount;
template <>
inline constexpr size_t kJsonNames<Provenance> = kProvenanceCount;
template <>
inline constexpr size_t kJsonNames<TransferKind> = 4;
template <>
inline constexpr size_t kJsonNames<MemoryClass> = kMemoryClasses;
template <>
inline constexpr size_t kJsonNames<MetricUnit> = 3;

/// Null for empty text, and for a line that nobody knows.
inline std::optional<std::string_view> text_or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<int64_t> positive_or_null(int64_t number) {
  return number > 0 ? std::optional(number) : std::nullopt;
}

/// Times by names that are no identifiers, such as categories: all of them are there.
struct NamedTimes {
  std::vector<std::pair<std::string, Picoseconds>> times;
};

/// Times of which the names are always the same.
struct ByCategory : NamedTimes {
  explicit ByCategory(const Totals& totals) {
    for (size_t i = 0; i < kCostCategoryCount; ++i)
      times.emplace_back(to_text(static_cast<CostCategory>(i)), totals.by_category[i]);
    times.emplace_back("waiting", totals.idle);
  }
};
struct Coverage : NamedTimes {
  explicit Coverage(const Totals& totals) {
    for (size_t i = 0; i < kProvenanceCount; ++i)
      times.emplace_back(std::string(to_text(static_cast<Provenance>(i))) + "_ps", totals.by_provenance[i]);
  }
};

template <std::derived_from<NamedTimes> T>
struct JsonOf<T> {
  static Json json(const T& named) {
    Json object = Json::object();
    for (const auto& [name, time] : named.times) object[name] = time.count();
    return object;
  }
  static Json schema() {
    Json properties = Json::object(), required = Json::array();
    for (const auto& [name, time] : T(Totals()).times) {
      properties[name] = JsonOf<Picoseconds>::schema();
      required.push_back(name);
    }
    return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
  }
};

/// Bytes of one memory space.
struct TrafficRow {
  std::string_view space;
  Bytes read{}, written{};
};
std::span<const JsonMember<TrafficRow>> json_members(const TrafficRow*);
/// Of the spaces that have some.
std::vector<TrafficRow> traffic_rows(const Report& report, const SpaceTraffic& traffic);

/// An instruction that ran.
struct InstructionRow {
  const Report& report;
  const ReportInstruction& row;
  InstructionWork work = report.work(row);
  const InstructionCost& cost() const { return report.cost(row); }
};
std::span<const JsonMember<InstructionRow>> json_members(const InstructionRow*);

/// The instructions of a report one after the other: their work is computed when it is their turn.
struct ToInstructionRow {
  const Report* report = nullptr;
  InstructionRow operator()(const ReportInstruction& row) const { return {*report, row}; }
};
using InstructionRows = boost::iterator_range<
    boost::transform_iterator<ToInstructionRow, std::vector<ReportInstruction>::const_iterator>>;
inline InstructionRows instruction_rows(const Report& report) {
  const auto at = [&](auto row) { return boost::make_transform_iterator(row, ToInstructionRow{&report}); };
  return {at(report.instructions.begin()), at(report.instructions.end())};
}

/// Transfers, by what moves.
struct CopyRow {
  const ReportTransfer& row;
};
struct CollectiveRow {
  const ReportTransfer& row;
};
struct OtherTransferRow {
  const ReportTransfer& row;
};
std::span<const JsonMember<CopyRow>> json_members(const CopyRow*);
std::span<const JsonMember<CollectiveRow>> json_members(const CollectiveRow*);
std::span<const JsonMember<OtherTransferRow>> json_members(const OtherTransferRow*);
std::vector<CopyRow> copy_rows(const Report& report);
std::vector<CollectiveRow> collective_rows(const Report& report);
std::vector<OtherTransferRow> other_transfer_rows(const Report& report);

/// Sections of a report.
struct ToolSection {
  std::string_view version;
};
struct DeviceSection {
  const Report& report;
};
struct ModuleSection {
  const Report& report;
};
struct TimeSection {
  const Report& report;
};
struct WorkSection {
  const Report& report;
};
struct TrafficSection {
  const Report& report;
};
struct MemorySection {
  const Report& report;
};
struct PaddingSection {
  const Report& report;
};
struct EnergySection {
  const Report& report;
};
struct ComparisonSection {
  const Metrics& figures;
};
std::span<const JsonMember<ToolSection>> json_members(const ToolSection*);
std::span<const JsonMember<DeviceSection>> json_members(const DeviceSection*);
std::span<const JsonMember<ModuleSection>> json_members(const ModuleSection*);
std::span<const JsonMember<TimeSection>> json_members(const TimeSection*);
std::span<const JsonMember<WorkSection>> json_members(const WorkSection*);
std::span<const JsonMember<TrafficSection>> json_members(const TrafficSection*);
std::span<const JsonMember<MemorySection>> json_members(const MemorySection*);
std::span<const JsonMember<PaddingSection>> json_members(const PaddingSection*);
std::span<const JsonMember<EnergySection>> json_members(const EnergySection*);
std::span<const JsonMember<ComparisonSection>> json_members(const ComparisonSection*);
std::span<const JsonMember<SpreadReport>> json_members(const SpreadReport*);
std::span<const JsonMember<ReportLoop>> json_members(const ReportLoop*);
std::span<const JsonMember<ReportPadding>> json_members(const ReportPadding*);
std::span<const JsonMember<ReportAssumption>> json_members(const ReportAssumption*);
std::span<const JsonMember<UnusedKey>> json_members(const UnusedKey*);
std::span<const JsonMember<FlagNotGiven>> json_members(const FlagNotGiven*);
std::span<const JsonMember<ReportAdvice>> json_members(const ReportAdvice*);
std::span<const JsonMember<InstructionMetrics>> json_members(const InstructionMetrics*);

}  // namespace hlosim
