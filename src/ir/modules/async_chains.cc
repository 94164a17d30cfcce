#include "modules/async_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "hlo/finding.h"
#include "layout/shape.h"
#include "modules/async_forms.h"
#include "ops/called_checks.h"
#include "ops/custom_calls/async_values.h"
#include "ops/dataflow.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

bool begins_or_updates(Opcode opcode) {
  const OpDef& def = op_table()[opcode];
  return def.has(kAsyncStart) || def.has(kAsyncUpdate);
}

using TupleIndex = std::vector<int64_t>;  // innermost element first

/// Depth-first search backwards; each (value, index) is visited once, so loops end.
class BackwardSearch {
 public:
  BackwardSearch(const Module& module, const UserIndex& users) : module_(module), users_(users) {}

  const Instruction* find(InstructionId from) {
    push(from, {});
    while (!stack_.empty()) {
      const Place place = std::move(stack_.back());
      stack_.pop_back();
      const Instruction& value = module_[place.first];
      if (begins_or_updates(value.opcode)) return &value;
      const size_t base = stack_.size();
      expand(value, place.second);
      std::reverse(stack_.begin() + static_cast<std::ptrdiff_t>(base), stack_.end());
    }
    return nullptr;
  }

 private:
  using Place = std::pair<InstructionId, TupleIndex>;

  void push(InstructionId id, TupleIndex index) {
    constexpr size_t kDeepest = 64;  // of tuples within tuples
    if (index.size() > kDeepest) return;
    Place place(id, std::move(index));
    if (seen_.insert(place).second) stack_.push_back(std::move(place));
  }

  void expand(const Instruction& value, TupleIndex index) {
    const OpRules& rules = op_rules(value.opcode);
    switch (rules.value) {
      case ValueRule::kElement:
        index.push_back(value.find(AttrKey::kIndex)->integer());
        return push(value.operands[0], std::move(index));
      case ValueRule::kTuple:
        return expand_tuple(value, std::move(index));
      case ValueRule::kParameter:
        return expand_parameter(value, index);
      case ValueRule::kLoop:
        push(module_[loop_body(value)].root, index);
        return push(value.operands[0], std::move(index));
      default:
        break;
    }
    const bool passes =
        rules.async_part == AsyncPart::kPasses || (annotates_sharding(value) && !value.operands.empty());
    if (passes) push(value.operands[0], std::move(index));
  }

  void expand_tuple(const Instruction& tuple, TupleIndex index) {
    if (index.empty()) {
      for (const InstructionId operand : tuple.operands) push(operand, {});
      return;
    }
    const int64_t element = index.back();
    index.pop_back();
    if (element >= 0 && element < static_cast<int64_t>(tuple.operands.size()))
      push(tuple.operands[static_cast<size_t>(element)], std::move(index));
  }

  // A loop's state comes from before the loop or from the turn before.
  void expand_parameter(const Instruction& parameter, const TupleIndex& index) {
    const Instruction* loop = nullptr;
    for (const InstructionId caller : users_.callers(parameter.parent)) {
      if (op_rules(module_[caller].opcode).value != ValueRule::kLoop) continue;
      if (loop) return;
      loop = &module_[caller];
    }
    if (!loop || loop->find(AttrKey::kBody)->computations()[0] != parameter.parent) return;
    push(loop->operands[0], index);
    push(module_[parameter.parent].root, index);
  }

  const Module& module_;
  const UserIndex& users_;
  std::vector<Place> stack_;
  std::set<Place> seen_;
};

ValueRule value_rule(const Instruction& instruction) { return op_rules(instruction.opcode).value; }
bool is_start(const Instruction& instruction) { return value_rule(instruction) == ValueRule::kAsyncStart; }
bool is_update(const Instruction& instruction) { return value_rule(instruction) == ValueRule::kAsyncUpdate; }
bool is_done(const Instruction& instruction) { return value_rule(instruction) == ValueRule::kAsyncDone; }
/// A chain that isn't at its end.
bool is_open(const Instruction& instruction) { return is_start(instruction) || is_update(instruction); }
bool is_transfer(Opcode start) {
  const AsyncKind kind = op_rules(start).async_kind;
  return kind == AsyncKind::kSendHost || kind == AsyncKind::kRecvHost;
}

bool is_async_part(Opcode opcode) { return op_rules(opcode).async_part == AsyncPart::kChain; }

/// Do the computations compute the same, as far as opcodes, shapes and operands show?
bool alike(const Module& module, ComputationId a, ComputationId b) {
  if (a == b) return true;
  const auto left = module[a].instructions, right = module[b].instructions;
  if (left.size() != right.size()) return false;
  std::unordered_map<int32_t, size_t> left_at, right_at;
  for (size_t i = 0; i < left.size(); ++i) {
    const Instruction &x = module[left[i]], &y = module[right[i]];
    if (x.opcode != y.opcode || x.operands.size() != y.operands.size() || !compatible(x.shape, y.shape))
      return false;
    for (size_t k = 0; k < x.operands.size(); ++k)
      if (left_at[x.operands[k].index] != right_at[y.operands[k].index]) return false;
    left_at[left[i].index] = right_at[right[i].index] = i;
  }
  return true;
}

class ChainChecker {
 public:
  ChainChecker(const Module& module, const UserIndex& users, DiagnosticList& diagnostics)
      : module_(module), users_(users), diagnostics_(diagnostics) {}

  void run() {
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions) {
        if (diagnostics_.full()) return;
        uses(id);
        transfer(id);
        if (is_async_part(module_[id].opcode)) parts_.push_back(id);
      }
    for (const InstructionId id : parts_) operands(id);
    pair();
  }

 private:
  template <class... Args>
  void error(const Instruction& at, fmt::format_string<Args...> format, Args&&... args) {
    diagnostics_.add(error_at(module_, at, fmt::format(format, std::forward<Args>(args)...)));
  }

  /// Starts and updates are operand 0 of updates and dones, or go through what passes them on.
  void uses(InstructionId id) {
    const Instruction& user = module_[id];
    for (size_t i = 0; i < user.operands.size(); ++i) {
      const Instruction& operand = module_[user.operands[i]];
      if (!is_open(operand)) continue;
      if (is_update(user) || is_done(user)) {
        if (i != 0)
          error(user, "{} is operand {}, but may only be operand 0 of async-update or async-done",
                operand.name, i);
      } else if (!passes_async_value(user)) {
        error(user,
              "{} is used as an operand, but may only be used by async-update, async-done, control flow or "
              "tuples",
              operand.name);
      }
    }
  }

  /// Pairs with opcodes of their own: one user, the done; the done's operand is the start.
  void transfer(InstructionId id) {
    const Instruction& instruction = module_[id];
    const std::optional<Opcode> partner = async_partner(instruction.opcode);
    if (!partner) return;
    if (op_rules(instruction.opcode).async_part == AsyncPart::kDone) return single_operand(id, *partner);
    const bool wrapped = is_transfer(instruction.opcode) && id == module_[instruction.parent].root &&
                         is_async_computation(instruction.parent);
    if (!wrapped) single_user(id, *partner);
  }

  bool is_async_computation(ComputationId id) const {
    for (const InstructionId caller : users_.callers(id))
      if (is_async_part(module_[caller].opcode)) return true;
    return false;
  }

  void single_user(InstructionId id, Opcode done) {
    const Instruction& start = module_[id];
    const Instruction* only = nullptr;
    size_t count = 0;
    for (const InstructionId user : users_.users(id)) {
      const Instruction& instruction = module_[user];
      const Attr* target = instruction.find(AttrKey::kCustomCallTarget);
      if (target && target->text() == "\"control_dep\"") continue;
      only = &instruction;
      ++count;
    }
    if (count != 1) {
      error(start, "{} needs one user, but has {}", start.name, count);
      return;
    }
    if (only->opcode != done && !passes_values_on(*only))
      error(start, "the user of {} is {}, expected {} or a tuple", start.name, to_text(only->opcode),
            to_text(done));
    if (only->opcode == done && is_transfer(start.opcode)) same_channel(start, *only);
  }

  void same_channel(const Instruction& start, const Instruction& done) {
    const Attr* channel = start.find(AttrKey::kChannelId);
    if (!channel) return;
    const Attr* other = done.find(AttrKey::kChannelId);
    if (!other || other->integer() != channel->integer()) {
      error(done, "expected the channel of {}, {}", start.name, channel->integer());
      return;
    }
    const auto host = [](const Instruction& i) {
      const Attr* attr = i.find(AttrKey::kIsHostTransfer);
      return attr && attr->flag();
    };
    if (host(start) != host(done)) error(done, "is_host_transfer is not that of {}", start.name);
  }

  void single_operand(InstructionId id, Opcode start) {
    const Instruction& done = module_[id];
    const Instruction& operand = module_[done.operands[0]];
    if (operand.opcode == start) return;
    if (is_transfer(start) && value_rule(operand) == ValueRule::kElement) return;
    const Instruction* producer = async_producer(module_, users_, done.operands[0]);
    if (producer && producer->opcode == start) return;
    error(done, "the operand {} is {}, expected {}", operand.name, to_text(operand.opcode), to_text(start));
  }

  static bool passes_values_on(const Instruction& user) {
    return op_rules(user.opcode).async_part == AsyncPart::kPasses || annotates_sharding(user);
  }

  /// Operands of an update or done: the chain before it, of the same computation, and newly bound values.
  void operands(InstructionId id) {
    const Instruction& part = module_[id];
    if (is_start(part)) return;
    const Instruction* before = async_producer(module_, users_, part.operands[0]);
    if (!before || !is_open(*before)) {
      if (is_update(part))
        error(part, "expects operand 0 to come from async-start or async-update, but it is {}",
              to_text(before ? before->opcode : module_[part.operands[0]].opcode));
      return;  // pair() reports a done without start
    }
    const auto own = async_wrapped_computation(module_, users_, part);
    const auto other = async_wrapped_computation(module_, users_, *before);
    if (!own || !other || !alike(module_, *own, *other)) {
      error(part, "wraps {}, but {} wraps {}", own ? module_[*own].name : "nothing", before->name,
            other ? module_[*other].name : "nothing");
      return;
    }
    if (is_update(part))
      update_operands(part, *own);
    else
      done_operands(part, *before, *own);
  }

  /// Element {0} begins the parameters, element {1} the result.
  bool begins_wrapped(const Instruction& update, ComputationId wrapped) {
    const ShapeRef operands = update.shape->elements[0], output = update.shape->elements[1];
    const auto& parameters = module_[wrapped].parameters;
    bool right =
        operands->elements.size() <= parameters.size() && begins(output, module_.root(wrapped).shape);
    for (size_t i = 0; right && i < operands->elements.size(); ++i)
      right = compatible(operands->elements[i], module_[parameters[i]].shape);
    if (!right)
      error(update,
            "operands {} and output {} of the shape do not begin the parameters and the result of {}, {}",
            to_text_without_layout(operands), to_text_without_layout(output), module_[wrapped].name,
            to_text_without_layout(module_.root(wrapped).shape));
    return right;
  }

  void update_operands(const Instruction& update, ComputationId wrapped) {
    if (!begins_wrapped(update, wrapped)) return;
    const ShapeRef from = module_[update.operands[0]].shape, to = update.shape;
    if (!from->is_tuple() || from->elements.size() < 2 || !from->elements[0]->is_tuple()) return;
    if (!begins(from->elements[0], to->elements[0]) || !begins(from->elements[1], to->elements[1])) {
      error(update, "operands and output of operand 0, {}, do not begin those of the result, {}",
            to_text_without_layout(from), to_text_without_layout(to));
      return;
    }
    const auto bound = from->elements[0]->elements, all = to->elements[0]->elements;
    if (update.operands.size() - 1 != all.size() - bound.size()) {
      error(update, "has {} new operands, but its shape binds {} new parameters", update.operands.size() - 1,
            all.size() - bound.size());
      return;
    }
    for (size_t i = 1; i < update.operands.size(); ++i) {
      const ShapeRef expected = all[bound.size() + i - 1], actual = module_[update.operands[i]].shape;
      if (compatible(expected, actual)) continue;
      error(update, "operand {} is {}, but element {{0,{}}} of the shape is {}", i,
            to_text_without_layout(actual), bound.size() + i - 1, to_text_without_layout(expected));
      return;
    }
  }

  void done_operands(const Instruction& done, const Instruction& before, ComputationId wrapped) {
    const ShapeRef result = module_.root(wrapped).shape;
    if (!compatible(done.shape, result)) {
      error(done, "the result {} does not match that of {}, {}", to_text_without_layout(done.shape),
            module_[wrapped].name, to_text_without_layout(result));
      return;
    }
    if (!before.shape->is_tuple() || before.shape->elements.empty() || !before.shape->elements[0]->is_tuple())
      return;
    const auto bound = before.shape->elements[0]->elements;
    const auto& parameters = module_[wrapped].parameters;
    bool complete = bound.size() == parameters.size();
    for (size_t i = 0; complete && i < bound.size(); ++i)
      complete = compatible(bound[i], module_[parameters[i]].shape);
    if (!complete)
      error(done, "{} of {} operands of {} are bound, expected all", bound.size(), parameters.size(),
            module_[wrapped].name);
  }

  /// Every done goes back to a start, every start on to exactly one done, every update lies between.
  void pair() {
    std::unordered_map<const Instruction*, const Instruction*> done_of;
    std::unordered_set<const Instruction*> updates;
    for (const InstructionId id : parts_) {
      const Instruction& done = module_[id];
      if (!is_done(done)) continue;
      const Instruction* producer = async_producer(module_, users_, done.operands[0]);
      bool shared = false;
      while (producer && is_update(*producer)) {
        if (!updates.insert(producer).second) {
          error(*producer, "{} is part of several chains or of a cycle", producer->name);
          shared = true;
          break;
        }
        producer = async_producer(module_, users_, producer->operands[0]);
      }
      if (shared) continue;
      if (!producer) {
        error(done, "{} does not trace back to an async-start", done.name);
      } else if (!is_start(*producer)) {
        error(done, "{} traces back to {} {}, expected an async-start", done.name, to_text(producer->opcode),
              producer->name);
      } else if (const auto [at, is_new] = done_of.emplace(producer, &done); !is_new) {
        error(done, "{} is matched by several async-done instructions: {} and {}", producer->name,
              at->second->name, done.name);
      }
    }
    for (const InstructionId id : parts_) {
      const Instruction& part = module_[id];
      if (is_start(part) && !done_of.contains(&part) && !carried_by_loop(id))
        error(part, "{} has no matching async-done", part.name);
      if (is_update(part) && !updates.contains(&part) && !carried_by_loop(id))
        error(part, "{} belongs to no chain that ends in an async-done", part.name);
    }
  }

  bool carried_by_loop(InstructionId from) const {
    std::unordered_set<int32_t> seen;
    std::vector<InstructionId> pending = {from};
    while (!pending.empty()) {
      const InstructionId id = pending.back();
      pending.pop_back();
      if (!seen.insert(id.index).second) continue;
      const ComputationId parent = module_[id].parent;
      if (id == module_[parent].root)
        for (const InstructionId caller : users_.callers(parent)) {
          const ValueRule rule = value_rule(module_[caller]);
          if (rule == ValueRule::kLoop && loop_body(module_[caller]) == parent) return true;
          if (rule == ValueRule::kCall || rule == ValueRule::kConditional) pending.push_back(caller);
        }
      for (const InstructionId user : users_.users(id)) {
        const ValueRule rule = value_rule(module_[user]);
        if (rule == ValueRule::kLoop) return true;
        const bool goes_on = carries_async_value(module_[user].opcode) && rule != ValueRule::kShallowCopy;
        if (is_update(module_[user]) || goes_on) pending.push_back(user);
      }
    }
    return false;
  }

  const Module& module_;
  const UserIndex& users_;
  DiagnosticList& diagnostics_;
  std::vector<InstructionId> parts_;
};

}  // namespace

const Instruction* async_producer(const Module& module, const UserIndex& users, InstructionId value) {
  const Instruction& instruction = module[value];
  if (begins_or_updates(instruction.opcode)) return &instruction;
  return BackwardSearch(module, users).find(value);
}

std::optional<ComputationId> async_wrapped_computation(const Module& module, const UserIndex& users,
                                                       const Instruction& instruction) {
  const Instruction* at = &instruction;
  std::unordered_set<const Instruction*> seen;
  while (at && seen.insert(at).second) {
    if (const Attr* calls = at->find(AttrKey::kCalls)) return calls->computations()[0];
    if (!is_async_part(at->opcode) || at->operands.empty()) return std::nullopt;
    at = async_producer(module, users, at->operands[0]);
  }
  return std::nullopt;
}

void check_async_chains(const Module& module, const UserIndex& users, DiagnosticList& diagnostics) {
  ChainChecker(module, users, diagnostics).run();
}

}  // namespace hlosim
