#include "report/explain.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "hlo/user_index.h"
#include "terms/instruction_terms.h"

namespace hlosim {
namespace {

/// What the run says of the instruction, and its cost there if it waits for links.
void add_run(const Module& module, const OpDef& def, const DeviceConfig& device, InstructionId id,
             const Simulation& simulation, Explanation& result) {
  InstructionCost& cost = result.cost;
  Unit bound_by = Unit::kNone;
  for (const InstructionRecord& record : simulation.instructions) {
    if (record.id != id) continue;
    result.executions += record.executions;
    result.in_run += record.time;
    result.waited += record.exposed;
    result.computation = std::string(module[record.computation].name);
    bound_by = record.bound_by;
    if (record.waited_for >= 0)
      result.waited_for =
          module[simulation.transfers[static_cast<size_t>(record.waited_for)].start_instruction].name;
    // Links are no part of cost_with_terms().
    const InstructionCost& in_run = simulation.cost(record);
    const bool on_links = in_run.busy[index_of(Unit::kIci)].count() > 0;
    if ((def.has(kCollective) && !def.has(kAsyncStart)) || on_links) cost = in_run;
  }
  const Picoseconds rest = result.in_run - result.waited;
  const auto alone = static_cast<double>(cost.time().count()) * static_cast<double>(result.executions);
  const bool is_work = !def.has(kCallsInline) && result.executions > 0 && alone < 9e18;
  if (is_work && rest > Picoseconds(static_cast<int64_t>(alone))) {
    result.shared = rest - Picoseconds(static_cast<int64_t>(alone));
    result.bound_in_run = unit_name(device, bound_by);
  }
  for (const LoopRecord& loop : simulation.loops)
    if (loop.id == id) result.loop = &loop;
}

/// Fusions, calls and starts that run a computation's instructions, and that run themselves.
void add_runners(const Module& module, ComputationId computation, const UserIndex& users,
                 const std::unordered_set<InstructionId>& running, std::unordered_set<ComputationId>& seen,
                 std::vector<std::string>& names) {
  if (!seen.insert(computation).second) return;
  for (const InstructionId caller : users.callers(computation)) {
    if (!running.contains(caller))
      add_runners(module, module[caller].parent, users, running, seen, names);
    else if (std::find(names.begin(), names.end(), module[caller].name) == names.end())
      names.emplace_back(module[caller].name);
  }
}

std::unordered_set<InstructionId> running_in(const Simulation& simulation) {
  std::unordered_set<InstructionId> running;
  for (const InstructionRecord& record : simulation.instructions)
    if (record.executions > 0) running.insert(record.id);
  return running;
}

/// A collective inside of a wrapper takes what it takes on the links; the wrapper's start moves its bytes.
bool is_wrapped(const Explanation& e) {
  return e.executions == 0 && e.transfers.size() == 1 && e.transfers[0].collectives.size() == 1 &&
         e.transfers[0].collectives[0].instruction == e.instruction;
}

void explain_wrapped(const Device& device, Explanation& e) {
  const CollectiveCost& collective = e.transfers[0].collectives[0].cost;
  const Unit driver = collective.driver == Unit::kNone ? Unit::kIci : collective.driver;
  e.cost = {};
  e.cost.stream = collective.stream(), e.cost.fixed = collective.launch;
  e.bound_by = unit_name(device.config, driver);
  e.terms = terms_of(e.transfers[0], device);
  const std::string launch = e.cost.fixed.count() > 0 ? "launch + " : "";
  Term& time = e.terms.emplace_back(Term{"time", launch + "links, or what drives them", {}, e.cost.time()});
  if (e.cost.fixed.count() > 0) time.adds("launch", e.cost.fixed);
  time.adds(e.bound_by, e.cost.stream);
}

}  // namespace

InstructionId find_instruction(const Module& module, const Simulation& simulation, std::string_view name,
                               std::string_view computation) {
  const auto bare = [](std::string_view text) { return text.starts_with('%') ? text.substr(1) : text; };
  const std::unordered_set<InstructionId> running = running_in(simulation);
  InstructionId first;
  for (const Computation& one : module.computations) {
    if (!computation.empty() && bare(one.name) != bare(computation)) continue;
    for (const InstructionId id : one.instructions) {
      if (bare(module[id].name) != bare(name)) continue;
      if (running.contains(id)) return id;
      if (!first.valid()) first = id;
    }
  }
  return first;
}

Result<Explanation> explain(const Module& module, const OpTable& table, const Device& device,
                            const CostOptions& options, InstructionId id, const Simulation& simulation) {
  RecordedTerms terms;
  const Result<InstructionCost> own = cost_with_terms(module, table, device, options, id, terms);
  if (!own) return tl::unexpected(own.error());
  const Instruction& instruction = module[id];
  const OpDef& def = table[instruction.opcode];
  Explanation result;
  result.instruction = std::string(instruction.name);
  result.opcode = std::string(def.name);
  result.device = device.config.name;
  result.computation = std::string(module[instruction.parent].name);
  result.given_by = terms.costed_by();
  result.cost = *own;
  add_run(module, def, device.config, id, simulation, result);
  result.bound_by = unit_name(device.config, result.cost.bound_by);
  if (result.executions == 0) {
    std::unordered_set<ComputationId> seen;
    add_runners(module, instruction.parent, UserIndex(module), running_in(simulation), seen, result.run_by);
  }
  result.transfers = transfers_of(module, table, simulation, id);
  if (is_wrapped(result)) {
    explain_wrapped(device, result);
    return result;
  }
  std::vector<Term> links;
  Picoseconds launch{};
  for (const TransferTerms& transfer : result.transfers) {
    std::ranges::move(terms_of(transfer, device), std::back_inserter(links));
    if (transfer.record.collective) launch += transfer.record.collective->launch;
  }
  const bool is_beside = def.has(kAsyncStart) || def.has(kAsyncDone) || def.has(kAsyncUpdate);
  const bool on_links = !is_beside && (result.cost.busy[index_of(Unit::kIci)].count() > 0 ||
                                       (def.has(kCollective) && result.executions > 0));
  if (on_links)
    record_links(terms, std::move(links), launch, result.cost);
  else
    record_beside(terms, std::move(links));
  result.terms = std::move(terms).all();
  return result;
}

}  // namespace hlosim
