#include "relayout/layout_cost.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/saturating.h"
#include "layout/sizes.h"
#include "ops/dataflow.h"
#include "ops/infer.h"

namespace hlosim {

LayoutScore& LayoutScore::operator+=(const LayoutScore& other) {
  first = saturating_add(first, other.first);
  second = saturating_add(second, other.second);
  return *this;
}

LayoutScore& LayoutScore::operator-=(const LayoutScore& other) {
  first = saturating_subtract(first, other.first);
  second = saturating_subtract(second, other.second);
  return *this;
}

LayoutCosts::LayoutCosts(LayoutProblem& problem, const OpTable& table, const Device& device,
                         LayoutObjective objective)
    : problem_(problem),
      table_(table),
      device_(device),
      memory_(device.config),
      offloads_(problem.module(), table),
      objective_(objective) {
  double fastest = 0;
  for (const MxuType& type : device.config.mxu.types)
    fastest = std::max(fastest, peak_flops(device.config, type.type).count());
  if (fastest > 0) picoseconds_per_flop_ = 1e12 / fastest;
}

Result<std::unique_ptr<LayoutCosts>> LayoutCosts::make(LayoutProblem& problem, const OpTable& table,
                                                       const Device& device, const CostOptions& options,
                                                       const Simulation& given, LayoutObjective objective) {
  std::unique_ptr<LayoutCosts> costs(new LayoutCosts(problem, table, device, objective));
  auto probe = CostProbe::make(problem.module(), table, device, options);
  if (!probe) return tl::unexpected(probe.error());
  costs->probe_ = std::move(*probe);
  costs->slice_ = given.slice, costs->grid_ = given.grid;
  costs->collect(given);
  costs->add_loops(given);
  return costs;
}

// ── parts ───────────────────────────────────────────────────────

void LayoutCosts::collect(const Simulation& given) {
  Module& module = problem_.module();
  ModuleEditor editor(module);
  const ShapeRef none = module.shapes().array(ElementType::kF32, {}, module.shapes().default_layout(0));
  scratch_operand_ = editor.add(module.entry, Opcode::kCopy, "copy", none, {});
  const InstructionId operands[] = {scratch_operand_};
  scratch_ = editor.add(module.entry, Opcode::kCopy, "copy", none, operands);

  std::unordered_map<ComputationId, int64_t> executions;
  for (const InstructionRecord& record : given.instructions)
    executions[record.computation] = record.executions;
  std::set<ComputationId> in_branch;
  for (const ComputationId computation : problem_.groups().computations())  // callers first
    for (const InstructionId id : module[computation].instructions) {
      const bool chooses = dataflow(module[id].opcode).value == ValueRule::kConditional;
      if (!chooses && !in_branch.contains(computation)) continue;
      for_each_called(module[id], [&](ComputationId called) { in_branch.insert(called); });
    }
  parts_of_.resize(static_cast<size_t>(problem_.groups().size()));
  for (const ComputationId computation : problem_.groups().computations()) {
    std::unordered_map<InstructionId, Part> copies;
    std::vector<InstructionId> order;
    for (const InstructionId id : module[computation].instructions) {
      const LayoutRule& rule = problem_.relations().rule(id);
      const auto part_of = [&](InstructionId of) {
        Part part;
        part.id = of;
        part.executions = executions[computation];
        part.in_branch = in_branch.contains(computation);
        return part;
      };
      for (size_t k = 0; k < module[id].operands.size(); ++k) {
        const InstructionId operand = module[id].operands[k];
        if (rule.operands[k].wish == LayoutWish::kAny || !module[operand].shape->is_array()) continue;
        const auto [place, is_new] = copies.try_emplace(operand, part_of(operand));
        if (is_new) order.push_back(operand);
        place->second.is_copies = true;
        place->second.uses.push_back({id, k});
      }
      if (table_[module[id].opcode].has(kFree) && !problem_.is_spelled_out(id)) continue;
      Part part = part_of(id);
      part.reads_all = reads_all(id) && takes_all(id);
      add_part(std::move(part));
    }
    for (const InstructionId operand : order) add_part(std::move(copies.at(operand)));
  }
  for (const Part& part : parts_) {
    recent_.push_back({.first = recent_layouts_.size()});
    recent_layouts_.resize(recent_layouts_.size() + Recent::kCount * part.groups.size());
  }
}

/// Nothing of it depends on which elements share a tile.
bool LayoutCosts::reads_all(InstructionId id) const {
  const Module& module = problem_.module();
  const auto plain = [&](InstructionId at) {
    const LayoutRule& rule = problem_.relations().rule(at);
    for (size_t k = 0; k < rule.operands.size(); ++k) {
      const ShapeRef operand = module[module[at].operands[k]].shape;
      if (rule.operands[k].wish == LayoutWish::kKeep || !operand->is_array()) return false;
      const bool complete = rule.operands[k].wish == LayoutWish::kLike && module[at].shape->is_array() &&
                            operand->rank() == module[at].shape->rank();
      if (complete && !std::ranges::equal(operand->dimensions, module[at].shape->dimensions)) return false;
    }
    return rule.result != LayoutWish::kKeep;
  };
  if (!dataflow(module[id].opcode).is_fusion) return plain(id);
  const ComputationId body = called_in_order(module[id])[0];
  return std::ranges::all_of(module[body].instructions, [&](InstructionId at) {
    return !dataflow(module[at].opcode).is_fusion &&
           (module[body].root == at || module[at].shape->is_array()) && plain(at);
  });
}

void LayoutCosts::add_part(Part part) {
  const Module& module = problem_.module();
  std::set<int32_t> groups;
  const auto add = [&](InstructionId id) {
    for_each_leaf_number(module[id].shape, [&](int32_t leaf, ShapeRef) {
      const int32_t group = problem_.groups().of(id, leaf);
      if (group >= 0) groups.insert(group);
    });
  };
  add(part.id);
  if (part.is_copies) {
    for (const auto& [user, k] : part.uses) add(user);
    const auto vanishing = [&](InstructionId id) {
      return problem_.is_relay(id) || dataflow(module[id].opcode).is_copy;
    };
    part.may_share = vanishing(part.id);
    for (const Part& other : parts_)  // copies of what `other` may vanish into
      part.may_share |= !other.is_copies && vanishing(other.id) && module[other.id].operands[0] == part.id;
  } else {
    for (const InstructionId operand : module[part.id].operands) add(operand);
  }
  const auto index = static_cast<int32_t>(parts_.size());
  for (const int32_t group : groups) {
    if (problem_.candidates(group).size() < 2 && problem_.groups()[group].fixed.size()) continue;
    part.groups.push_back(group);
    parts_of_[static_cast<size_t>(group)].push_back(index);
  }
  if (!part.is_copies && dataflow(module[part.id].opcode).is_fusion) node_of_[part.id] = parts_.size();
  parts_.push_back(std::move(part));
}

// ── costs ───────────────────────────────────────────────────────

void LayoutCosts::add_loops(const Simulation& given) {
  std::unordered_map<InstructionId, int64_t> executions;
  for (const InstructionRecord& record : given.instructions) executions[record.id] = record.executions;
  int64_t time = 0;
  for (const LoopRecord& loop : given.loops)
    time = saturating_add(time, saturating_multiply(saturating_multiply(executions[loop.id], loop.trip_count),
                                                    device_.config.overhead.loop_iteration.count()));
  (objective_ == LayoutObjective::kBytes ? constant_.second : constant_.first) = time;
}

/// Of a collective that the TensorCore waits for: the links beside the memory.
void LayoutCosts::add_network(InstructionId id, InstructionCost& cost) {
  Module& module = problem_.module();
  const OpDef& def = table_[module[id].opcode];
  if (!def.has(kCollective) || def.has(kAsyncStart) || def.has(kAsyncUpdate) || def.has(kAsyncDone)) return;
  AssumptionList assumptions;
  const bool is_given = offloads_.has(id);
  auto network = cost_collective(OpContext(module, module[id], table_, nullptr), device_.config, slice_,
                                 grid_, assumptions, axis_order(is_given, device_.config));
  if (!network) return;
  drive_collective(*network, module[id], is_given, device_.config, assumptions);
  cost.stream = std::max(cost.stream, network->stream());
  cost.fixed = later(cost.fixed, network->launch);
}

LayoutCosts::NodeCost LayoutCosts::probe(InstructionId id) {
  InstructionCost cost = probe_->cost(id);
  add_network(id, cost);
  NodeCost result;
  result.time = cost.time().count();
  result.bytes = cost.traffic[memory_.hbm()].total().count();
  result.min_time = static_cast<int64_t>(static_cast<double>(cost.flops.count()) * picoseconds_per_flop_);
  result.min_time = std::min(result.min_time, result.time);
  return result;
}

bool LayoutCosts::is_better(const NodeCost& a, const NodeCost& b) const {
  const bool bytes_first = objective_ == LayoutObjective::kBytes;
  const auto key = [&](const NodeCost& cost) {
    return bytes_first ? std::pair(cost.bytes, cost.time) : std::pair(cost.time, cost.bytes);
  };
  return key(a) < key(b);
}

bool LayoutCosts::unchanged(InstructionId id, const std::vector<ShapeRef>& operands, ShapeRef result) const {
  const LayoutRelations& relations = problem_.relations();
  for (size_t k = 0; k < operands.size(); ++k)
    if (operands[k] != relations.original(relations.operands(id)[k])) return false;
  return result == relations.original(id);
}

LayoutCosts::NodeCost LayoutCosts::fusion_now(InstructionId id, const std::vector<ShapeRef>& operands,
                                              ShapeRef result) {
  LayoutEdit& edit = problem_.edit();
  const auto prepare = [&] {
    for (size_t k = 0; k < operands.size(); ++k)
      edit.set_shape(problem_.module()[id].operands[k], operands[k]);
    edit.set_shape(id, result);
  };
  if (unchanged(id, operands, result) || !problem_.groups().may_relay_body(id)) {
    prepare();
    const NodeCost cost = probe(id);
    edit.undo();
    return cost;
  }
  std::optional<NodeCost> best;
  for (const BodyVariant variant : kBodyVariants) {
    prepare();
    edit.lay_out_body(id, operands, result, variant);
    NodeCost cost = probe(id);
    cost.variant = variant;
    edit.undo();
    if (!best || is_better(cost, *best)) best = cost;
  }
  return *best;
}

LayoutCosts::NodeCost LayoutCosts::node_now(const Part& part, const LayoutChoice& choice) {
  LayoutEdit& edit = problem_.edit();
  Module& module = problem_.module();
  std::vector<ShapeRef> operands;
  bool exact = true;
  for (size_t k = 0; k < module[part.id].operands.size(); ++k) {
    operands.push_back(edit.presented(part.id, k, choice));
    for (size_t other = 0; other < k; ++other)
      exact &=
          module[part.id].operands[other] != module[part.id].operands[k] || operands[other] == operands[k];
  }
  const ShapeRef result = edit.shape_of(part.id, choice);
  if (!operands.empty() && edit.vanishes(part.id, operands[0], result)) return {};
  NodeCost cost;
  if (dataflow(module[part.id].opcode).is_fusion) {
    cost = fusion_now(part.id, operands, result);
  } else {
    for (size_t k = 0; k < operands.size(); ++k) edit.set_shape(module[part.id].operands[k], operands[k]);
    edit.set_shape(part.id, result);
    edit.spell_out(part.id);
    cost = probe(part.id);
    edit.undo();
  }
  cost.exact = exact;
  return cost;
}

LayoutCosts::NodeCost LayoutCosts::copy_cost(ShapeRef from, ShapeRef to) {
  Module& module = problem_.module();
  module.instructions[scratch_operand_].shape = from;
  module.instructions[scratch_].shape = to;
  return probe(scratch_);
}

/// Each layout that users want and the array doesn't have is made once.
LayoutCosts::NodeCost LayoutCosts::copies_now(const Part& part, const LayoutChoice& choice) {
  const ShapeRef made = problem_.edit().shape_of(part.id, choice);
  std::set<ShapeRef> wanted;
  for (const auto& [user, k] : part.uses) wanted.insert(problem_.edit().presented(user, k, choice));
  wanted.erase(made);
  NodeCost sum;
  for (const ShapeRef shape : wanted) {
    const NodeCost one = copy_cost(made, shape);
    sum.time += one.time, sum.bytes += one.bytes;
  }
  return sum;
}

PointerKey LayoutCosts::key_of(size_t part, const LayoutChoice& choice,
                               const std::vector<uint8_t>* decided) const {
  PointerKey key;
  key.reserve(parts_[part].groups.size() + 1);
  key.push_back(reinterpret_cast<const void*>(part));
  for (const int32_t group : parts_[part].groups) {
    const auto i = static_cast<size_t>(group);
    key.push_back(!decided || (*decided)[i] ? choice[i] : nullptr);
  }
  return key;
}

const LayoutCosts::NodeCost* LayoutCosts::recent(size_t part, const LayoutChoice& choice) const {
  const Recent& last = recent_[part];
  const std::vector<int32_t>& groups = parts_[part].groups;
  for (size_t i = 0; i < Recent::kCount && last.costs[i]; ++i) {
    const Layout* const* layouts = recent_layouts_.data() + last.first + i * groups.size();
    size_t k = 0;
    while (k < groups.size() && layouts[k] == choice[static_cast<size_t>(groups[k])]) ++k;
    if (k == groups.size()) return last.costs[i];
  }
  return nullptr;
}

void LayoutCosts::remember(size_t part, const LayoutChoice& choice, const NodeCost& cost) {
  Recent& last = recent_[part];
  const std::vector<int32_t>& groups = parts_[part].groups;
  for (size_t k = 0; k < groups.size(); ++k)
    recent_layouts_[last.first + last.next * groups.size() + k] = choice[static_cast<size_t>(groups[k])];
  last.costs[last.next] = &cost;
  last.next = (last.next + 1) % Recent::kCount;
}

const LayoutCosts::NodeCost& LayoutCosts::node(size_t part, const LayoutChoice& choice) {
  if (const NodeCost* const known = recent(part, choice)) return *known;
  const auto [place, is_new] = nodes_.try_emplace(key_of(part, choice));
  if (is_new)
    place->second =
        parts_[part].is_copies ? copies_now(parts_[part], choice) : node_now(parts_[part], choice);
  remember(part, choice, place->second);
  return place->second;
}

LayoutScore LayoutCosts::score(const NodeCost& cost, const Part& part) const {
  const int64_t time = saturating_multiply(cost.time, part.executions);
  const int64_t bytes = saturating_multiply(cost.bytes, part.executions);
  return objective_ == LayoutObjective::kBytes ? LayoutScore{bytes, time} : LayoutScore{time, bytes};
}

LayoutScore LayoutCosts::cost(size_t part, const LayoutChoice& choice) {
  return score(node(part, choice), parts_[part]);
}

LayoutScore LayoutCosts::total(const LayoutChoice& choice) {
  LayoutScore sum = constant_;
  for (size_t part = 0; part < parts_.size(); ++part) sum += cost(part, choice);
  return sum;
}

// ── writing ─────────────────────────────────────────────────────

void LayoutCosts::apply(const LayoutChoice& choice) {
  find_variants(choice);
  for (const auto& [id, part] : node_of_) apply_inside(id, choice);
  write_outside(choice);
}

void LayoutCosts::apply_outside(const LayoutChoice& choice) {
  find_variants(choice);
  write_outside(choice);
}

/// Costs that are not known yet are found by trying: nothing may be written meanwhile.
void LayoutCosts::find_variants(const LayoutChoice& choice) {
  for (const auto& [id, part] : node_of_) node(part, choice);
}

void LayoutCosts::apply_inside(InstructionId fusion, const LayoutChoice& choice) {
  LayoutEdit& edit = problem_.edit();
  if (!problem_.groups().may_relay_body(fusion)) return;
  const ShapeRef result = edit.shape_of(fusion, choice);
  std::vector<ShapeRef> operands;
  for (size_t k = 0; k < problem_.relations().operands(fusion).size(); ++k)
    operands.push_back(edit.presented(fusion, k, choice));
  if (unchanged(fusion, operands, result)) return;
  edit.lay_out_body(fusion, operands, result, node(node_of_.at(fusion), choice).variant);
}

void LayoutCosts::write_outside(const LayoutChoice& choice) {
  LayoutEdit& edit = problem_.edit();
  for (const ComputationId computation : problem_.groups().computations())
    for (const InstructionId id : problem_.module()[computation].instructions)
      edit.set_shape(id, edit.shape_of(id, choice));
  for (const ComputationId computation : problem_.groups().computations()) edit.finish(computation);
}

}  // namespace hlosim
