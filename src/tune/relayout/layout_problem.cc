#include "relayout/layout_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "ops/dataflow.h"

namespace hlosim {
namespace {

/// Layouts that take more than this many times the least are not looked at.
constexpr int64_t kMostPadding = 8;
/// All orders up to this rank; of larger arrays, all choices of the two fastest dimensions.
constexpr int64_t kAllOrders = 3;
/// Layouts of one group: more than arrays of 11 dimensions get. Each is compared with all others.
constexpr size_t kMostCandidates = 400;

std::vector<std::vector<int64_t>> orders_of(ShapeRef array) {
  std::vector<int64_t> order(array->layout->minor_to_major.begin(), array->layout->minor_to_major.end());
  std::vector<std::vector<int64_t>> all = {order};
  if (array->rank() <= kAllOrders) {
    std::sort(order.begin(), order.end());
    do all.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return all;
  }
  for (const int64_t first : order)
    for (const int64_t second : order) {
      if (first == second) continue;
      std::vector<int64_t> one = {first, second};
      for (const int64_t i : order)
        if (i != first && i != second) one.push_back(i);
      all.push_back(one);
    }
  return all;
}

Result<std::vector<const Layout*>> read_tiles(ShapePool& pool, std::span<const std::string> texts) {
  std::vector<const Layout*> tiles;
  for (const std::string& text : texts) {
    const Result<ShapeRef> shape = parse_shape(pool, fmt::format("f32[8,128]{{1,0:{}}}", text));
    if (!shape || !carries_tiles(*shape) || validate_layout(*shape))
      return failure(fmt::format("'{}' is not a tiling", text), "as in T(8,128) or T(8,128)(2,1)");
    tiles.push_back((*shape)->layout);
  }
  return tiles;
}

}  // namespace

Result<std::unique_ptr<LayoutProblem>> LayoutProblem::make(const Module& given, const OpTable& table,
                                                           const DeviceConfig& device,
                                                           const LayoutProblemOptions& options) {
  std::unique_ptr<LayoutProblem> problem(new LayoutProblem());
  problem->module_ = std::make_unique<Module>(compacted(given, table));
  Module& module = *problem->module_;
  problem->out_of_time_ = options.out_of_time;
  problem->editor_ = std::make_unique<ModuleEditor>(module);
  problem->spell_out_bitcasts();
  if (!options.free_entry) problem->add_relays(table, options);
  problem->groups_ = std::make_unique<LayoutGroups>(module, table, options.free_entry);
  problem->relations_ = std::make_unique<LayoutRelations>(module, table, tiling_policy(device));
  problem->find_moves();
  problem->edit_ = std::make_unique<LayoutEdit>(*problem->editor_, *problem->relations_, *problem->groups_,
                                                problem->moves_);
  std::erase_if(problem->moves_.bitcasts, [&](InstructionId id) {  // likewise
    return !problem->is_spelled_out(id) && problem->groups_->of(id) >= 0 &&
           problem->edit_->vanishes(id, module[module[id].operands[0]].shape, module[id].shape);
  });
  problem->restore_bitcasts();
  if (Result<void> found = problem->find_candidates(device, options); !found)
    return tl::unexpected(found.error());
  return problem;
}

void LayoutProblem::spell_out_bitcasts() {
  for (const Computation& computation : module_->computations) {
    for (const InstructionId id : computation.instructions) {
      const Instruction given = (*module_)[id];
      if (given.opcode != Opcode::kBitcast || !editor_->spell_out_bitcast(id)) continue;
      bitcasts_.push_back({id, given});
      moves_.spelled_out[id] = (*module_)[id];
    }
  }
}

void LayoutProblem::restore_bitcasts() {
  for (const auto& [id, given] : bitcasts_) {
    Instruction& instruction = module_->instructions[id];
    instruction.opcode = given.opcode;
    instruction.attrs = given.attrs;
  }
}

/// Behind what can't change stands a copy that can, and before what the module returns.
void LayoutProblem::add_relays(const OpTable& table, const LayoutProblemOptions& options) {
  Module& module = *module_;
  const LayoutGroups groups(module, table, false);
  const auto matches = [&](InstructionId id) {
    return !options.values || options.values->finds(module[id].name);
  };
  const auto can_change = [&](InstructionId id) {
    const ShapeRef shape = module[id].shape;
    return shape->is_array() && shape->rank() > 1 && shape->is_static() &&
           shape->memory_space() != kHostSpace && shape->layout->splits.empty() &&
           shape->layout->metadata_prefix_bytes == 0 && matches(id);
  };
  const auto make = [&](InstructionId from) {
    const InstructionId operands[] = {from};
    const InstructionId id =
        editor_->add(module[from].parent, Opcode::kCopy, "copy", module[from].shape, operands);
    module.instructions[id].offset = module[from].offset;
    module.instructions[id].opcode_offset = module[from].opcode_offset;
    relays_[id] = from;
    return id;
  };
  const InstructionId root = module.entry_computation().root;
  for (const ComputationId computation : groups.computations()) {
    std::vector<InstructionId> list;
    std::unordered_map<InstructionId, InstructionId> now;
    for (const InstructionId id : std::vector<InstructionId>(module[computation].instructions)) {
      const LayoutRule rule = layout_rule(table, module, module[id]);
      std::vector<InstructionId> operands(module[id].operands.begin(), module[id].operands.end());
      for (size_t k = 0; k < operands.size(); ++k) {
        if (id == root) {
          const bool ours = can_change(operands[k]) &&
                            dataflow(module[id].opcode).value == ValueRule::kTuple &&
                            !groups[groups.of(operands[k])].is_argument;
          if (ours) list.push_back(operands[k] = make(operands[k]));
        } else if (rule.operands[k].wish != LayoutWish::kKeep && now.contains(operands[k])) {
          operands[k] = now[operands[k]];
        }
      }
      editor_->set_operands(id, operands);
      list.push_back(id);
      if (id == root || !can_change(id)) continue;
      const LayoutGroup& group = groups[groups.of(id)];
      const ValueRule value = dataflow(module[id].opcode).value;
      const bool taken_out = value == ValueRule::kElement &&
                             dataflow(module[module[id].operands[0]].opcode).value != ValueRule::kTuple;
      const bool begins = value == ValueRule::kMakesAll || value == ValueRule::kParameter || taken_out;
      if (!begins || !(group.is_argument || group.is_unknown)) continue;
      list.push_back(now[id] = make(id));
    }
    if (computation == module.entry && can_change(root) && module[root].parameter_number < 0) {
      module.computations[computation].root = make(root);
      list.push_back(module[computation].root);
    }
    module.computations[computation].instructions = std::move(list);
  }
}

void LayoutProblem::find_moves() {
  Module& module = *module_;
  for (const auto& [id, from] : relays_) moves_.removable.insert(id);
  for (const auto& [id, spelled] : moves_.spelled_out) moves_.bitcasts.insert(id);
  std::unordered_set<InstructionId> awaited;  // by control dependences
  for (const Instruction& instruction : module.instructions)
    if (const Attr* before = instruction.find(AttrKey::kControlPredecessors))
      awaited.insert(before->instructions().begin(), before->instructions().end());
  // Nothing but its maker writes there, so that it may as well be the memory of another value.
  const auto is_alone = [&](InstructionId id) {
    const LayoutGroup& one = (*groups_)[groups_->of(id)];
    const bool donated =
        one.is_argument && (module.find(AttrKey::kInputOutputAlias) || module.find(AttrKey::kBufferDonor));
    return one.makers == 1 && !donated;
  };
  std::unordered_set<InstructionId> of_arguments,
      returned;  // what may turn out to be an argument, or a result
  for (const auto& [id, from] : relays_)
    if ((*groups_)[groups_->of(id)].is_result) returned.insert(from);
  for (const ComputationId computation : groups_->computations()) {
    for (const InstructionId id : module[computation].instructions) {
      const Instruction& instruction = module[id];
      if (instruction.operands.size() != 1 || !instruction.shape->is_array() || groups_->of(id) < 0) continue;
      const bool is_copy = dataflow(instruction.opcode).is_copy;
      const bool may_be_bitcast =
          instruction.opcode == Opcode::kReshape || instruction.opcode == Opcode::kTranspose;
      if (!is_copy && !may_be_bitcast) continue;
      const auto relay = relays_.find(instruction.operands[0]);
      const InstructionId from = relay == relays_.end() ? instruction.operands[0] : relay->second;
      const LayoutGroup &here = (*groups_)[groups_->of(id)], &there = (*groups_)[groups_->of(from)];
      const bool of_argument = there.is_argument || of_arguments.contains(from);
      const bool is_result = here.is_result || returned.contains(id);
      if (of_argument && is_spelled_out(id)) of_arguments.insert(id);
      if (is_relay(id) || awaited.contains(id) || instruction.find(AttrKey::kControlPredecessors)) continue;
      // One that does nothing as it is has another reason to be there. Results have memory of their own.
      if (is_copy && same_layout(module[from].shape, instruction.shape)) continue;
      if (!is_alone(id) || !is_alone(from) || (is_result && (of_argument || there.is_result))) continue;
      (is_copy ? moves_.removable : moves_.bitcasts).insert(id);
      if (of_argument) of_arguments.insert(id);
    }
    for (const InstructionId fusion : module[computation].instructions) {
      if (!groups_->may_relay_body(fusion)) continue;
      for (const InstructionId id : module[called_in_order(module[fusion])[0]].instructions)
        if (module[id].opcode == Opcode::kReshape || module[id].opcode == Opcode::kTranspose)
          moves_.bitcasts.insert(id);
    }
  }
}

// ── candidates ──────────────────────────────────────────────────

bool LayoutProblem::is_chosen(int32_t group, const LayoutProblemOptions& options) const {
  const LayoutGroup& one = (*groups_)[group];
  if (!one.fixed.empty()) return false;
  if (!options.values) return true;
  return std::any_of(one.members.begin(), one.members.end(),
                     [&](const LayoutSlot& slot) { return options.values->finds(name_of(slot.id)); });
}

ShapeRef LayoutProblem::array_with(int32_t group, const Layout* layout) const {
  const ShapeRef array = (*groups_)[group].array;
  return layout ? laid_out_as(module_->shapes(), array, layout) : array;
}

/// On-chip memory doesn't grow, and the units that make it can.
bool LayoutProblem::is_allowed(int32_t group, ShapeRef array) const {
  const LayoutGroup& one = (*groups_)[group];
  for (const LayoutSlot& slot : one.members) {
    if (slot.leaf == 0 && (*module_)[slot.id].shape->is_array() && !relations_->makes(slot.id, array))
      return false;
    bool on_chip = false;
    for_each_leaf_number((*module_)[slot.id].shape, [&](int32_t number, ShapeRef leaf) {
      on_chip |= number == slot.leaf && leaf->memory_space() != kDefaultMemorySpace;
    });
    if (on_chip && array_size(array) > array_size(one.array)) return false;
  }
  return true;
}

const Layout* LayoutProblem::add_candidate(int32_t group, ShapeRef array) {
  ShapePool& pool = module_->shapes();
  const Layout* layout = pool.with_memory_space(array, kDefaultMemorySpace)->layout;
  std::vector<const Layout*>& list = candidates_[static_cast<size_t>(group)];
  if (std::find(list.begin(), list.end(), layout) == list.end()) list.push_back(layout);
  if (list.size() == 2 && std::find(free_groups_.begin(), free_groups_.end(), group) == free_groups_.end())
    free_groups_.push_back(group);
  return layout;
}

void LayoutProblem::offer(int32_t group, ShapeRef array) {
  const size_t known_ones = candidates_[static_cast<size_t>(group)].size();
  if (!open_[static_cast<size_t>(group)] || known_ones >= kMostCandidates || out_of_time()) return;
  if (validate_layout(array) || !is_allowed(group, array)) return;
  ShapePool& pool = module_->shapes();
  for (const Layout* known : candidates_[static_cast<size_t>(group)])
    if (same_places(pool, array_with(group, known), array)) return;
  add_candidate(group, array);
}

Result<void> LayoutProblem::find_candidates(const DeviceConfig& device, const LayoutProblemOptions& options) {
  ShapePool& pool = module_->shapes();
  const Result<std::vector<const Layout*>> tiles = read_tiles(pool, options.tiles);
  if (!tiles) return tl::unexpected(tiles.error());
  std::vector<TilingPolicy> policies = {tiling_policy(device)};
  for (const bool large : {false, true}) {
    policies.push_back(policies[0]);
    policies.back().compact_rows = CompactRows::kOff;
    policies.back().large_rows = large;
  }
  for (int32_t group = 0; group < groups_->size(); ++group) {
    const ShapeRef array = (*groups_)[group].array;
    candidates_.push_back({pool.with_memory_space(array, kDefaultMemorySpace)->layout});
    open_.push_back(is_chosen(group, options));
    if (!open_.back()) continue;
    for (const std::vector<int64_t>& order : orders_of(array)) {
      if (candidates_.back().size() >= kMostCandidates || out_of_time()) break;
      Layout layout = *array->layout;
      layout.minor_to_major = order;
      layout.tiles = {};
      layout.tail_padding_alignment = 1;
      const ShapeRef bare = pool.with_layout(array, pool.layout(layout));
      for (const TilingPolicy& policy : policies) offer(group, with_native_tiling(pool, bare, policy));
      for (const Layout* tile : *tiles) {
        Layout tiled = *with_native_tiling(pool, bare, policies[0])->layout;
        tiled.tiles = tile->tiles;
        offer(group, pool.with_layout(array, pool.layout(tiled)));
      }
    }
  }
  exchange_candidates();
  for (int32_t group = 0; group < groups_->size(); ++group) {
    std::vector<const Layout*>& list = candidates_[static_cast<size_t>(group)];
    const auto size = [&](const Layout* layout) { return array_size(array_with(group, layout)).count(); };
    int64_t least = size(list[0]);
    for (const Layout* layout : list) least = std::min(least, size(layout));
    std::erase_if(
        list, [&](const Layout* layout) { return layout != list[0] && size(layout) / kMostPadding > least; });
  }
  std::erase_if(free_groups_, [&](int32_t group) { return candidates(group).size() < 2; });
  return {};
}

/// What a neighbour's layout would make of a value.
void LayoutProblem::exchange_candidates() {
  for (const ComputationId computation : groups_->computations()) {
    for (const InstructionId id : (*module_)[computation].instructions) {
      const Instruction& instruction = (*module_)[id];
      if (!instruction.shape->is_array() || groups_->of(id) < 0) continue;
      for (size_t k = 0; k < instruction.operands.size(); ++k) {
        const InstructionId operand = instruction.operands[k];
        if (!(*module_)[operand].shape->is_array()) continue;
        if (const ShapeRef wanted = relations_->follow(id, k, (*module_)[operand].shape))
          offer(groups_->of(id), wanted);
        if (const ShapeRef wanted = relations_->lead(id, k, instruction.shape))
          offer(groups_->of(operand), wanted);
      }
    }
  }
}

std::string_view LayoutProblem::name_of(InstructionId id) const {
  const auto relay = relays_.find(id);
  return (*module_)[relay == relays_.end() ? id : relay->second].name;
}

LayoutChoice LayoutProblem::as_given() const {
  LayoutChoice choice;
  for (const std::vector<const Layout*>& list : candidates_)
    choice.push_back(list.size() < 2 ? nullptr : list[0]);
  return choice;
}

}  // namespace hlosim
