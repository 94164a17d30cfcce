#include "partition/partitioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "modules/async_forms.h"
#include "ops/collective_groups.h"
#include "ops/op_table.h"
#include "partition/borders.h"

namespace hlosim {

Partitioner::Partitioner(const Module& module, const OpTable& table, const PartitionOptions& options,
                         const WantedShardings& stated, Partitioned& made)
    : module_(module),
      table_(table),
      options_(options),
      stated_(stated),
      made_(made),
      axes_(stated.axes()),
      users_(module),
      emit_(made.module, table, axes_),
      reshard_(emit_, made),
      rules_{emit_, reshard_, axes_, options},
      shapes_(made.module.shapes().copy()),
      values_(module.instructions.size()) {}

bool Partitioner::run() {
  const Computation& entry = module_.entry_computation();
  std::vector<Tiling> parameters;
  for (const InstructionId id : entry.parameters) {
    const Instruction& parameter = module_[id];
    const Wanted wanted = wanted_of(parameter);
    size_t leaf = 0;
    for_each_leaf(parameter.shape, [&](ShapeRef shape) {
      const size_t i = leaf++;
      parameters.push_back(wanted[i] ? *wanted[i] : Tiling(shape->is_array() ? shape->rank() : 0));
      made_.layout.parameters.push_back({parameters.back(), {}});
    });
  }
  made_.layout.axes = axes_;
  made_.module.entry = computation(module_.entry, parameters, {}, true).id;
  return !fault_;
}

void Partitioner::fail(const Instruction& instruction, std::string message, std::string hint) {
  if (fault_) return;
  fault_ = Diagnostic{Severity::kError, fmt::format("{}: {}", instruction.name, message), std::move(hint),
                      module_.source, instruction.offset};
}

// ── computations ────────────────────────────────────────────────

PartitionedComputation Partitioner::computation(ComputationId id, const std::vector<Tiling>& parameters,
                                                const Wanted& results, bool is_entry) {
  const Computation& original = module_[id];
  PartitionedComputation made;
  made.id = emit_.open(original.name);
  made.parameters = parameters;
  size_t next = 0;
  for (const InstructionId parameter : original.parameters) {
    const Instruction& instruction = module_[parameter];
    emit_.stands_for(instruction);
    const auto count = static_cast<size_t>(leaf_count(instruction.shape));
    const std::span<const Tiling> tilings = std::span(parameters).subspan(next, count);
    size_t leaf = 0;
    const auto local = [&](auto&& self, ShapeRef shape) -> ShapeRef {
      if (!shape->is_tuple()) return shard_shape(axes_, tilings[leaf++], shape, emit_.module().shapes());
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(self(self, element));
      return emit_.module().shapes().tuple(elements);
    };
    const InstructionId input = emit_.parameter(instruction.name, local(local, instruction.shape));
    emit_.keep_attributes(input, instruction, is_entry);
    values_[parameter] = opened(input, instruction.shape, tilings);
    next += count;
  }
  if (is_entry) enter_parameters();
  for (const InstructionId at : original.instructions) {
    if (fault_) break;
    instruction(at);
  }
  SpmdValues leaves = fault_ ? SpmdValues() : values_[original.root];
  if (!fault_) {
    const Instruction& root = module_[original.root];
    emit_.stands_for(root);
    reshard_.asks(root);
    const Wanted stated = wanted_of(root);
    for (size_t i = 0; i < leaves.size(); ++i) {
      Tiling goal = leaves[i].tiling;
      if (stated[i]) goal = *stated[i];
      if (!stated[i] || !is_entry || options_.reduce_results) goal.partial = 0;
      if (i < results.size() && results[i]) goal = *results[i];
      leaves[i] = reshard_.to(seen_as(leaves[i], goal.manual), goal);
      made.results.push_back(goal);
    }
  }
  const InstructionId root = fault_     ? emit_.number(0)
                             : is_entry ? leave_results(std::move(leaves))
                                        : packed(module_[original.root].shape, leaves);
  emit_.close(root);
  return made;
}

/// Inputs whose devices stand in another order are brought into that of the axes.
void Partitioner::enter_parameters() {
  if (options_.replicate_all) return;
  for (const InstructionId id : module_.entry_computation().parameters) {
    std::vector<std::vector<int64_t>> device_at;
    stated_.of(module_[id], false, &device_at);
    emit_.stands_for(module_[id]);
    reshard_.asks(module_[id]);
    size_t first = 0;
    for (const InstructionId other : module_.entry_computation().parameters) {
      if (other == id) break;
      first += static_cast<size_t>(leaf_count(module_[other].shape));
    }
    for (size_t i = 0; i < device_at.size(); ++i) made_.layout.parameters[first + i].device_at = device_at[i];
    say_tilings(id, device_at);
    for (size_t i = 0; i < device_at.size(); ++i)
      if (!device_at[i].empty()) values_[id][i] = reshard_.placed(values_[id][i], device_at[i]);
  }
}

/// An input says how it is cut in the form that everybody reads, unless its devices stand in another order.
void Partitioner::say_tilings(InstructionId id, const std::vector<std::vector<int64_t>>& device_at) {
  if (device_at.empty()) return;
  std::vector<std::string> texts;
  for (size_t i = 0; i < device_at.size(); ++i) {
    if (!device_at[i].empty()) return;
    texts.push_back(to_text(axes_, values_[id][i].tiling));
  }
  const bool is_tuple = module_[id].shape->is_tuple();
  const InstructionId input = emit_.parameters()[static_cast<size_t>(module_[id].parameter_number)];
  emit_.set_sharding(input, is_tuple ? fmt::format("{{{}}}", fmt::join(texts, ", ")) : texts[0]);
}

/// The same of outputs; the root says how it is cut.
InstructionId Partitioner::leave_results(SpmdValues leaves) {
  const Instruction& root = module_.root(module_.entry);
  std::vector<std::vector<int64_t>> device_at;
  if (!options_.replicate_all) stated_.of(root, false, &device_at);
  std::vector<std::string> texts;
  for (size_t i = 0; i < leaves.size(); ++i) {
    texts.push_back(to_text(axes_, leaves[i].tiling));
    made_.layout.results.push_back(
        {leaves[i].tiling, i < device_at.size() ? device_at[i] : std::vector<int64_t>()});
    if (i < device_at.size() && !device_at[i].empty()) leaves[i] = reshard_.unplaced(leaves[i], device_at[i]);
  }
  InstructionId id = packed(root.shape, leaves);
  std::string text =
      texts.size() == 1 && !root.shape->is_tuple() ? texts[0] : fmt::format("{{{}}}", fmt::join(texts, ", "));
  const bool other_order = std::any_of(device_at.begin(), device_at.end(),
                                       [](const std::vector<int64_t>& list) { return !list.empty(); });
  if (const Attr* stated = root.find(AttrKey::kSharding); stated && other_order) text = stated->text();
  // A root that is an input stays what that is.
  if (emit_[id].parameter_number >= 0 && emit_[id].find(AttrKey::kSharding) == nullptr)
    emit_.set_sharding(id, text);
  else if (emit_[id].parameter_number < 0)
    emit_.set_sharding(id, text);
  return id;
}

// ── instructions ────────────────────────────────────────────────

namespace {

bool has_runtime_size(ShapeRef shape) {
  return shape->is_array() &&
         std::find(shape->dynamic.begin(), shape->dynamic.end(), true) != shape->dynamic.end();
}

}  // namespace

/// Arrays whose sizes are known only when it runs are copies, whatever the text says.
Wanted Partitioner::wanted_of(const Instruction& instruction) const {
  Wanted wanted = stated_.of(instruction, options_.replicate_all);
  size_t leaf = 0;
  for_each_leaf(instruction.shape, [&](ShapeRef shape) {
    std::optional<Tiling>& tiling = wanted[leaf++];
    if (!tiling || !has_runtime_size(shape)) return;
    for (AxisList& cut : tiling->cuts) cut.clear();
    tiling->partial = 0;
  });
  return wanted;
}

SpmdValues Partitioner::operand_leaves(const Instruction& instruction) const {
  SpmdValues leaves;
  for (const InstructionId operand : instruction.operands)
    leaves.insert(leaves.end(), values_[operand].begin(), values_[operand].end());
  return leaves;
}

void Partitioner::instruction(InstructionId id) {
  const Instruction& instruction = module_[id];
  if (instruction.parameter_number >= 0) return;
  emit_.stands_for(instruction);
  reshard_.asks(instruction);
  const OpDef& def = table_[instruction.opcode];
  if (synchronous_form(instruction.opcode) || starts_what_is_lost(instruction, id))
    return fail(instruction, fmt::format("{} goes on while others run, and what ends it isn't next to it",
                                         to_text(instruction.opcode)));
  if (ends_what_is_lost(instruction))
    return fail(instruction,
                fmt::format("{} can't be partitioned: what goes on until then is taken apart into arrays",
                            to_text(instruction.opcode)));
  const Wanted wanted = wanted_of(instruction);
  SpmdValues values;
  switch (def.rules.value) {
    case ValueRule::kTuple:
      values = operand_leaves(instruction);
      break;
    case ValueRule::kElement: {
      const SpmdValues& all = values_[instruction.operands[0]];
      const ShapeRef tuple = module_[instruction.operands[0]].shape;
      const auto index = static_cast<size_t>(instruction.find(AttrKey::kIndex)->integer());
      size_t first = 0;
      for (size_t i = 0; i < index; ++i) first += static_cast<size_t>(leaf_count(tuple->elements[i]));
      const auto count = static_cast<size_t>(leaf_count(instruction.shape));
      values.assign(all.begin() + static_cast<std::ptrdiff_t>(first),
                    all.begin() + static_cast<std::ptrdiff_t>(first + count));
      break;
    }
    case ValueRule::kLoop:
      values = loop(instruction, wanted);
      break;
    case ValueRule::kConditional:
      values = conditional(instruction, wanted);
      break;
    case ValueRule::kCall:
      values = call(instruction, wanted);
      break;
    default:
      values = border_of(instruction) != Border::kNone ? border(instruction, wanted)
                                                       : by_rule(instruction, wanted);
  }
  if (!fault_ && !fits(instruction.shape, values))
    fail(instruction,
         fmt::format("{} passes arrays of other dimensions than its result's", to_text(instruction.opcode)));
  if (!fault_) values_[id] = settled(instruction, id, std::move(values), wanted);
}

/// Are these the arrays of `shape`? Nobody checks that of what only hands its operand on.
bool Partitioner::fits(ShapeRef shape, const SpmdValues& values) {
  size_t leaf = 0;
  bool same = true;
  for_each_leaf(shape, [&](ShapeRef one) {
    same =
        same && leaf < values.size() && std::ranges::equal(values[leaf].shape->dimensions, one->dimensions);
    ++leaf;
  });
  return same && leaf == values.size();
}

/// A start of what a tuple holds until its done: tuples are taken apart into arrays here.
bool Partitioner::starts_what_is_lost(const Instruction& instruction, InstructionId id) const {
  const OpRules& rules = table_[instruction.opcode].rules;
  if (rules.async_part != AsyncPart::kStart && rules.value != ValueRule::kAsyncStart) return false;
  return !std::ranges::all_of(users_.users(id), [&](InstructionId user) {
    const OpRules& next = table_[module_[user].opcode].rules;
    return next.async_part == AsyncPart::kDone || next.value == ValueRule::kAsyncDone ||
           next.value == ValueRule::kAsyncUpdate;
  });
}

/// A done or update of what would be put together from arrays here: nothing that still goes on.
bool Partitioner::ends_what_is_lost(const Instruction& instruction) {
  const OpRules& rules = table_[instruction.opcode].rules;
  const bool ends = rules.async_part == AsyncPart::kDone || rules.value == ValueRule::kAsyncDone ||
                    rules.value == ValueRule::kAsyncUpdate;
  if (!ends || !module_[instruction.operands[0]].shape->is_tuple()) return false;
  const InstructionId operand =
      packed(module_[instruction.operands[0]].shape, values_[instruction.operands[0]]);
  return is_tuple(emit_.module()[operand]);
}

/// As the text states it. Summands that one instruction uses wait for what that needs.
SpmdValues Partitioner::settled(const Instruction& instruction, InstructionId id, SpmdValues values,
                                const Wanted& wanted) {
  const bool waits = users_.users(id).size() == 1 && module_[instruction.parent].root != id;
  for (size_t i = 0; i < values.size(); ++i) {
    Tiling goal = wanted[i].value_or(values[i].tiling);
    if (!wanted[i]) goal.partial = 0;
    if (values[i].tiling.partial != 0 && goal.partial == 0 && waits) continue;
    values[i] = reshard_.to(seen_as(values[i], goal.manual), goal);
  }
  return values;
}

AxisSet Partitioner::manual_of(const Instruction& instruction, const Wanted& wanted) const {
  for (const std::optional<Tiling>& tiling : wanted)
    if (tiling) return tiling->manual;
  AxisSet manual = 0;
  for (const InstructionId operand : instruction.operands)
    for (const SpmdValue& value : values_[operand]) manual |= value.tiling.manual;
  return manual;
}

/// The value where these axes are manual: what each device has is its own.
SpmdValue Partitioner::seen_as(const SpmdValue& value, AxisSet manual) {
  if (value.tiling.manual == manual || !value.shape->is_array()) return value;
  Tiling tiling = value.tiling;
  tiling.partial = 0;
  for (AxisList& cut : tiling.cuts) std::erase_if(cut, [&](int axis) { return (manual >> axis & 1) != 0; });
  SpmdValue seen = reshard_.to(value, tiling);
  seen.tiling.manual = manual;
  return seen;
}

SpmdValues Partitioner::by_rule(const Instruction& instruction, const Wanted& wanted) {
  RuleCall call{OpContext(module_, shapes_, instruction, table_, nullptr), {}, {}, wanted, 0};
  call.manual = manual_of(instruction, wanted);
  for (SpmdValue& value : operand_leaves(instruction)) call.operands.push_back(seen_as(value, call.manual));
  for_each_leaf(instruction.shape, [&](ShapeRef leaf) { call.results.push_back(leaf); });
  for (std::optional<Tiling>& tiling : call.wanted)
    if (tiling) tiling->manual = call.manual;
  const bool all_manual = axes_.count() > 0 && call.manual == axes_.all();
  if (!all_manual && table_[instruction.opcode].has(kCollective)) {
    const Result<GroupMode> mode = group_mode(call.op);
    if (call.manual == 0 && mode && *mode != GroupMode::kCrossReplica)
      return replicated(call, "it talks to other partitions outside of a manual region");
    if (call.manual != 0 && across_cuts(call)) {
      fail(instruction, "its groups go across axes that aren't manual and along which the operand is sharded",
           "groups within the manual axes are possible");
      return {};
    }
  }
  if (all_manual) return replicated_rule(rules_, call);
  const auto of_value = [](const SpmdValue& value) { return has_runtime_size(value.shape); };
  if (std::ranges::any_of(call.results, has_runtime_size) || std::ranges::any_of(call.operands, of_value))
    return replicated(call, "sizes are known only when it runs");
  if (std::optional<SpmdValues> values = rule_of(call.op)(rules_, call)) return *values;
  return replicated(call, "there is no rule for its dimensions");
}

/// A collective of a region that is partitioned by hand along some axes: do its groups mix parts?
bool Partitioner::across_cuts(const RuleCall& call) {
  if (!call.op.def().has(kCollective) || call.operands.empty()) return false;
  const DeviceGrid grid{1, axes_.devices(), false, false};
  const auto groups = collective_groups(call.op, grid);
  if (!groups) return false;
  const AxisSet cut = call.operands[0].tiling.cutting();
  const auto mixes = [&](int64_t a, int64_t b) {
    const AxisList list = list_of(cut);
    return axes_.index(axes_.place_of(a), list) != axes_.index(axes_.place_of(b), list);
  };
  for (const auto& group : groups->groups)
    for (const int64_t member : group)
      if (mixes(group.front(), member)) return true;
  return std::any_of(groups->pairs.begin(), groups->pairs.end(),
                     [&](const auto& pair) { return mixes(pair[0], pair[1]); });
}

SpmdValues Partitioner::replicated(const RuleCall& call, std::string_view reason) {
  const Instruction& instruction = call.op.instruction();
  int64_t bytes = 0;
  bool cuts = false;
  for (const SpmdValue& value : call.operands) {
    bytes += reshard_.bytes(value, whole(call, value.shape));
    cuts = cuts || value.tiling.cutting() != 0;
  }
  for (const std::optional<Tiling>& tiling : call.wanted) cuts = cuts || (tiling && tiling->cutting() != 0);
  if (cuts)
    made_.replicated.push_back(
        {std::string(instruction.name), instruction.offset, std::string(reason), bytes});
  return replicated_rule(rules_, call);
}

// ── borders of regions that are partitioned by hand ─────────────

// What each device has stays the same; what shape it is said to be part of changes.
SpmdValues Partitioner::border(const Instruction& instruction, const Wanted& wanted) {
  SpmdValues values = operand_leaves(instruction);
  const bool enters = border_of(instruction) == Border::kEnters;
  std::vector<ShapeRef> shapes;
  for_each_leaf(instruction.shape, [&](ShapeRef leaf) { shapes.push_back(leaf); });
  const Wanted outside = enters && instruction.operands.size() == 1
                             ? stated_.of(module_[instruction.operands[0]], false)
                             : stated_.of(instruction, false);
  bool alike = values.size() == shapes.size();
  for (size_t i = 0; alike && i < values.size(); ++i)
    alike = values[i].shape->is_array() == shapes[i]->is_array() &&
            (!shapes[i]->is_array() || values[i].shape->rank() == shapes[i]->rank());
  if (!alike) {
    fail(instruction, "what crosses the border of a manual region has other dimensions on its two sides");
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) {
    SpmdValue& value = values[i];
    if (!value.shape->is_array()) continue;
    const AxisSet manual = enters ? (wanted[i] ? wanted[i]->manual : axes_.all()) : value.tiling.manual;
    Tiling border = i < outside.size() && outside[i] ? *outside[i] : value.tiling;
    border.manual = enters ? value.tiling.manual : 0;
    border.partial = 0;
    if (options_.replicate_all)
      for (AxisList& cut : border.cuts)
        std::erase_if(cut, [&](int axis) { return (manual >> axis & 1) == 0; });
    Tiling inside = border;
    inside.manual = manual;
    for (AxisList& cut : inside.cuts) std::erase_if(cut, [&](int axis) { return (manual >> axis & 1) != 0; });
    value = reshard_.to(value, enters ? border : inside);
    value.tiling = enters ? inside : border;
    const ShapeRef local = shard_shape(axes_, value.tiling, shapes[i], emit_.module().shapes());
    if (!std::ranges::equal(local->dimensions, emit_.shape(value.id)->dimensions)) {
      fail(instruction,
           fmt::format("{} is not a part of {} by {}",
                       to_text_without_layout(enters ? shapes[i] : value.shape),
                       to_text_without_layout(enters ? value.shape : shapes[i]), to_text(axes_, border)));
      return {};
    }
    value.shape = shapes[i];
  }
  return values;
}

}  // namespace hlosim
