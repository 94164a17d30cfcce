#include "advise/worth.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "advise/advice_kind.h"
#include "sim/resimulation.h"

namespace hlosim {
namespace {

struct SourceGroup {
  LineWorth line;
  std::vector<InstructionId> members;
};

std::string source_key(const AdvicePlace& place) {
  if (place.source_line > 0) return fmt::format("{}:{}", place.source_file, place.source_line);
  return place.op_name.empty() ? place.instruction : place.op_name;
}

std::vector<SourceGroup> groups_by_time(const Estimate& estimate) {
  std::map<std::string, SourceGroup> by_source;
  const AdvicePlaces places(*estimate.module);
  for (const InstructionRecord& record : estimate.simulation->instructions) {
    if (record.self_time.count() == 0) continue;
    if (estimate.simulation->cost(record).category == CostCategory::kControl) continue;
    const AdvicePlace place = places.without_line((*estimate.module)[record.id]);
    SourceGroup& group = by_source[source_key(place)];
    group.line.what = source_key(place);
    if (group.line.op_name.empty()) group.line.op_name = place.op_name;
    ++group.line.instructions;
    group.line.time += record.self_time;
    group.members.push_back(record.id);
  }
  std::vector<SourceGroup> groups;
  for (auto& [key, group] : by_source) groups.push_back(std::move(group));
  std::ranges::stable_sort(groups, std::ranges::greater(), [](const SourceGroup& g) { return g.line.time; });
  return groups;
}

}  // namespace

std::vector<LineWorth> worth_of_lines(const Estimate& estimate, const OpTable& table, const Device& device,
                                      const SimulateOptions& options, size_t most) {
  std::vector<LineWorth> lines;
  std::vector<SourceGroup> groups = groups_by_time(estimate);
  groups.resize(std::min(groups.size(), most));
  if (groups.empty()) return lines;
  SimulateOptions quick = options;
  quick.keep_timeline = false;
  Module module = estimate.module->copy();
  AssumptionList unused;
  const Result<InstructionCosts> costs =
      cost_instructions(module, table, device, {.custom_calls = options.custom_calls}, unused);
  Result<std::unique_ptr<Resimulation>> again = Resimulation::make(module, table, device, quick);
  if (!costs || !again) return lines;
  for (SourceGroup& group : groups) {
    InstructionCosts without = *costs;
    for (const InstructionId id : group.members) {
      InstructionCost nothing;
      nothing.category = (*costs)[id].category;
      without.set(id, nothing);
    }
    const Result<Totals> totals = (*again)->run(without, false);
    if (!totals) return {};
    group.line.without = totals->makespan;
    lines.push_back(std::move(group.line));
  }
  std::ranges::stable_sort(lines, {}, [](const LineWorth& line) { return line.without; });
  return lines;
}

}  // namespace hlosim
