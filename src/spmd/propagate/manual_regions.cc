#include "propagate/manual_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "hlo/module_editor.h"
#include "hlo/user_index.h"
#include "ops/leaf_forwarding.h"
#include "sharding/sharding_calls.h"

namespace hlosim {
namespace {

bool is_border(const Instruction& instruction) {
  const ShardingCall call = sharding_call(instruction);
  return call == ShardingCall::kIntoManual || call == ShardingCall::kOutOfManual;
}

/// Arrays that are on the same side of all borders, as every instruction says it of some.
class Meetings {
 public:
  Meetings(const Module& module, const OpTable& table, std::span<const ComputationId> computations,
           Arrays& arrays)
      : module_(module), table_(table), arrays_(arrays), pool_(module.shapes().copy()) {
    for (const ComputationId computation : computations)
      for (const InstructionId id : module[computation].instructions) add(id);
    index();
  }

  size_t count() const { return where_.size(); }
  InstructionId where(int32_t meeting) const { return where_[static_cast<size_t>(meeting)]; }
  std::span<const int32_t> members(int32_t meeting) const {
    const auto i = static_cast<size_t>(meeting);
    return std::span(members_).subspan(begin_[i], begin_[i + 1] - begin_[i]);
  }
  std::span<const int32_t> of(int32_t array) const {
    const auto i = static_cast<size_t>(array);
    return std::span(meetings_).subspan(of_begin_[i], of_begin_[i + 1] - of_begin_[i]);
  }

 private:
  void add(InstructionId id) {
    const Instruction& instruction = module_[id];
    const ValueRule value = table_[instruction.opcode].rules.value;
    if (is_border(instruction) || value == ValueRule::kTuple || value == ValueRule::kElement) return;
    if (value == ValueRule::kLoop) return add_states(id, 0, *instruction.find(AttrKey::kBody));
    if (value == ValueRule::kConditional) {
      size_t operand = 1;
      for_each_called(instruction, [&](ComputationId branch) { add_state(id, operand++, branch); });
      return;
    }
    const OpContext op(module_, pool_, instruction, table_, nullptr);
    if (const std::optional<OpenedCall> call = opened_call(op)) return add_call(id, *call);
    if (value == ValueRule::kShallowCopy) return add_pairs(id, instruction.operands[0]);
    for (const InstructionId operand : instruction.operands) put_all(operand);
    put_all(id);
    close(id);
  }

  /// Leaf by leaf the same.
  void add_pairs(InstructionId id, InstructionId from) {
    for (int64_t leaf = 0; leaf < std::min(arrays_.leaf_count(from), arrays_.leaf_count(id)); ++leaf)
      pair(id, arrays_.leaf(from, leaf), arrays_.leaf(id, leaf));
  }
  void add_states(InstructionId id, size_t operand, const Attr& called) {
    add_state(id, operand, called.computations()[0]);
  }
  void add_state(InstructionId id, size_t operand, ComputationId to) {
    if (operand >= module_[id].operands.size() || module_[to].parameters.empty()) return;
    const InstructionId from = module_[id].operands[operand], parameter = module_[to].parameters[0];
    for (int64_t leaf = 0; leaf < std::min(arrays_.leaf_count(from), arrays_.leaf_count(parameter)); ++leaf)
      pair(id, arrays_.leaf(from, leaf), arrays_.leaf(parameter, leaf));
  }
  void add_call(InstructionId id, const OpenedCall& call) {
    std::vector<int32_t> operands;
    for (const InstructionId operand : module_[id].operands)
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(operand); ++leaf)
        operands.push_back(arrays_.leaf(operand, leaf));
    size_t next = 0;
    for (const InstructionId parameter : module_[call.computation].parameters)
      for (int64_t leaf = 0; leaf < arrays_.leaf_count(parameter) && next < call.arguments.size(); ++leaf) {
        const int64_t from = call.arguments[next++];
        if (from >= 0 && from < static_cast<int64_t>(operands.size()))
          pair(id, operands[static_cast<size_t>(from)], arrays_.leaf(parameter, leaf));
      }
  }
  void pair(InstructionId id, int32_t a, int32_t b) {
    if (a == b) return;
    members_.push_back(a);
    members_.push_back(b);
    close(id);
  }
  void put_all(InstructionId id) {
    for (int64_t leaf = 0; leaf < arrays_.leaf_count(id); ++leaf) members_.push_back(arrays_.leaf(id, leaf));
  }
  void close(InstructionId id) {
    where_.push_back(id);
    begin_.push_back(members_.size());
  }

  void index() {
    of_begin_.assign(arrays_.size() + 1, 0);
    for (const int32_t array : members_) ++of_begin_[static_cast<size_t>(array) + 1];
    for (size_t i = 1; i < of_begin_.size(); ++i) of_begin_[i] += of_begin_[i - 1];
    meetings_.resize(members_.size());
    std::vector<size_t> next(of_begin_.begin(), of_begin_.end() - 1);
    for (size_t meeting = 0; meeting < where_.size(); ++meeting)
      for (const int32_t array : members(static_cast<int32_t>(meeting)))
        meetings_[next[static_cast<size_t>(array)]++] = static_cast<int32_t>(meeting);
  }

  const Module& module_;
  const OpTable& table_;
  Arrays& arrays_;
  ShapePool pool_;
  std::vector<InstructionId> where_;
  std::vector<size_t> begin_ = {0};
  std::vector<int32_t> members_;
  std::vector<size_t> of_begin_;
  std::vector<int32_t> meetings_;
};

bool is_manual(const SharedArray& array) { return array.is_manual_whole || array.manual != 0; }

/// Nullopt: `to` is not asked, or is so already; false: it is manual along other axes.
std::optional<bool> take_manual(const SharedArray& from, SharedArray& to, InstructionId through) {
  if (is_manual(to)) {
    if (to.is_manual_whole == from.is_manual_whole && to.manual == from.manual) return std::nullopt;
    return false;
  }
  if (to.stated && to.open == 0) return std::nullopt;
  if ((to.used & from.manual) != 0 || (from.is_manual_whole && to.used != 0)) return std::nullopt;
  to.is_manual_whole = from.is_manual_whole;
  to.closed |= to.is_manual_whole;
  to.manual = from.manual;
  to.used |= from.manual;
  if (to.order < 0) to.order = from.order;
  if (to.decision.by == Decider::kDefault) to.decision = {Decider::kForward, from.decision.from, through};
  return true;
}

tl::unexpected<Diagnostic> contradiction(const Module& module, const Arrays& arrays, InstructionId id,
                                         const SharedArray& a, const SharedArray& b) {
  const auto text = [&](const SharedArray& array) {
    return array.is_manual_whole
               ? std::string("manual")
               : fmt::format("manual along axes {}", to_text(arrays.axes(), arrays.tiling(array)));
  };
  Diagnostic problem;
  problem.message = fmt::format("{} works on arrays of two manual regions: one is {}, another {}",
                                module[id].name, text(a), text(b));
  problem.hint = "values enter and leave such regions through SPMDFullToShardShape and SPMDShardToFullShape";
  problem.source = module.source;
  problem.offset = module[id].offset;
  return tl::unexpected(std::move(problem));
}

bool is_fill(const OpTable& table, const Instruction& instruction) {
  const OpDef& def = table[instruction.opcode];
  return instruction.operands.empty() && def.rules.dimensions == DimensionRule::kFree &&
         !def.has(kSideEffect) && def.rules.value != ValueRule::kParameter &&
         !instruction.find(AttrKey::kSharding);
}

/// Costs nothing to have once more: a constant or the like, or a broadcast of one.
bool is_cheap(const Module& module, const OpTable& table, const Instruction& instruction) {
  if (instruction.operands.empty()) return is_fill(table, instruction);
  return table[instruction.opcode].rules.dimensions == DimensionRule::kBroadcast &&
         !instruction.find(AttrKey::kSharding) && is_fill(table, module[instruction.operands[0]]);
}

/// The clones of what is_cheap() in one computation.
class Splitter {
 public:
  Splitter(ModuleEditor& editor, const OpTable& table, ComputationId computation)
      : editor_(editor), module_(editor.module()), table_(table), computation_(computation) {}

  void split() {
    const std::vector<InstructionId> before = module_[computation_].instructions;
    IdMap<InstructionId, uint8_t> used(module_.instructions.size(), 0);
    for (const InstructionId user : before) {
      std::vector<InstructionId> operands(module_[user].operands.begin(), module_[user].operands.end());
      for (InstructionId& operand : operands) {
        if (!is_cheap(module_, table_, module_[operand])) continue;
        if (used[operand] != 0)
          operand = clone(operand);
        else
          used[operand] = 1;
      }
      if (!std::ranges::equal(operands, module_[user].operands)) editor_.set_operands(user, operands);
    }
    std::vector<InstructionId>& list = module_.computations[computation_].instructions;
    list.insert(list.begin(), made_.begin(), made_.end());
    editor_.sort(computation_);
  }

 private:
  InstructionId clone(InstructionId id) {
    const Instruction copied = module_[id];
    std::vector<InstructionId> operands;
    for (const InstructionId operand : copied.operands) operands.push_back(clone(operand));
    const InstructionId fresh =
        editor_.add(computation_, copied.opcode, copied.name, copied.shape, operands, copied.attrs);
    module_.instructions[fresh].literal = copied.literal;
    editor_.place_like(fresh, copied);
    made_.push_back(fresh);
    return fresh;
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  ComputationId computation_;
  std::vector<InstructionId> made_;
};

}  // namespace

bool has_manual_regions(const StatedTilings& stated) {
  return std::any_of(stated.leaves.begin(), stated.leaves.end(), [](const StatedTiling& leaf) {
    return leaf.kind == TileAssignment::Kind::kManual || leaf.tiling.manual != 0;
  });
}

void split_constants(Module& module, const OpTable& table) {
  const size_t computations = module.computations.size();
  ModuleEditor editor(module);
  for (size_t c = 0; c < computations; ++c) {
    const ComputationId computation{static_cast<int32_t>(c)};
    const std::vector<InstructionId>& list = module[computation].instructions;
    if (std::any_of(list.begin(), list.end(), [&](InstructionId id) { return is_border(module[id]); }))
      Splitter(editor, table, computation).split();
  }
}

Result<void> spread_manual(const Module& module, const OpTable& table,
                           std::span<const ComputationId> computations, Arrays& arrays) {
  const Meetings meetings(module, table, computations, arrays);
  std::vector<int32_t> waiting;
  for (size_t i = 0; i < arrays.size(); ++i)
    if (is_manual(arrays[static_cast<int32_t>(i)])) waiting.push_back(static_cast<int32_t>(i));
  std::vector<int32_t> spread_by(meetings.count(), -1);
  for (size_t next = 0; next < waiting.size(); ++next) {
    const int32_t array = waiting[next];
    for (const int32_t meeting : meetings.of(array)) {
      int32_t& first = spread_by[static_cast<size_t>(meeting)];
      const int32_t known[] = {first};
      const std::span<const int32_t> others = first < 0 ? meetings.members(meeting) : known;
      first = array;
      for (const int32_t other : others) {
        if (other == array) continue;
        const std::optional<bool> taken = take_manual(arrays[array], arrays[other], meetings.where(meeting));
        if (!taken) continue;
        if (!*taken)
          return contradiction(module, arrays, meetings.where(meeting), arrays[array], arrays[other]);
        waiting.push_back(other);
      }
    }
  }
  return {};
}

}  // namespace hlosim
