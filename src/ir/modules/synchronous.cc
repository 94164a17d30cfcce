#include "modules/synchronous.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "hlo/user_index.h"
#include "modules/async_forms.h"
#include "modules/compact.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

class Joiner {
 public:
  Joiner(Module& module, const OpTable& table) : module_(module), table_(table), users_(module) {}

  void run() {
    for (Computation& computation : module_.computations) {
      for (const InstructionId id : computation.instructions) join(id);
      std::erase_if(computation.instructions, [&](InstructionId id) { return gone_.contains(id); });
    }
    for (Instruction& instruction : module_.instructions) forget(instruction);
  }

 private:
  /// The start of a done and what has been bound between them; invalid: something else lies between.
  InstructionId start_of(InstructionId done, std::vector<InstructionId>& parts,
                         std::vector<InstructionId>& operands) const {
    InstructionId at = module_[done].operands[0];
    std::vector<InstructionId> bound;
    while (op_rules(module_[at].opcode).value == ValueRule::kAsyncUpdate) {
      const auto more = module_[at].operands.subspan(1);
      bound.insert(bound.begin(), more.begin(), more.end());
      parts.push_back(at);
      at = module_[at].operands[0];
    }
    if (!is_in_flight(module_[at].opcode)) return {};
    parts.push_back(at);
    operands.assign(module_[at].operands.begin(), module_[at].operands.end());
    operands.insert(operands.end(), bound.begin(), bound.end());
    return at;
  }

  void join(InstructionId id) {
    const Instruction& done = module_[id];
    const OpRules& rules = op_rules(done.opcode);
    if (rules.async_part != AsyncPart::kDone && rules.value != ValueRule::kAsyncDone) return;
    std::vector<InstructionId> parts, operands;
    const InstructionId start = start_of(id, parts, operands);
    if (!start.valid()) return;
    const std::optional<Opcode> plain = synchronous_form(module_[start].opcode);
    const InstructionId result = module_[done.parent].root;
    const auto is_seen = [&](InstructionId part) { return part == result || users_.users(part).size() != 1; };
    if (!plain || std::ranges::any_of(parts, is_seen)) return;
    if (handles_buffers(id, operands)) return;  // which calls may not
    std::vector<Attr> attrs;
    for (const Attr& attr : module_[start].attrs) add(attrs, attr, *plain);
    for (const Attr& attr : done.attrs)
      if (is_common(attr.key)) attrs.push_back(attr);
    add_predecessors(attrs, id, parts);
    become(id, *plain, operands, attrs);
    gone_.insert(parts.begin(), parts.end());
  }

  bool handles_buffers(InstructionId done, const std::vector<InstructionId>& operands) const {
    bool any = false;
    const auto look = [&](InstructionId id) {
      for_each_leaf(module_[id].shape, [&](ShapeRef leaf) { any = any || leaf->is_buffer(); });
    };
    look(done);
    std::ranges::for_each(operands, look);
    return any;
  }

  static bool is_common(AttrKey key) {
    return key == AttrKey::kSharding || key == AttrKey::kMetadata || key == AttrKey::kFrontendAttributes;
  }

  /// What any part waited for. Who waited for a start waits no more: its end may need them.
  void add_predecessors(std::vector<Attr>& attrs, InstructionId done, std::vector<InstructionId> parts) {
    std::vector<InstructionId> waited_for;
    parts.push_back(done);
    for (const InstructionId part : parts) {
      const Attr* before = module_[part].find(AttrKey::kControlPredecessors);
      if (!before) continue;
      for (const InstructionId other : before->instructions())
        if (!std::ranges::count(parts, other) && !std::ranges::count(waited_for, other))
          waited_for.push_back(other);
    }
    if (waited_for.empty()) return;
    attrs.push_back(Attr::make_list(AttrKey::kControlPredecessors, AttrSyntax::kInstructions,
                                    std::span<const InstructionId>(module_.arena().copy(waited_for))));
  }

  /// As the plain operation has it; what a start calls is called.
  void add(std::vector<Attr>& attrs, const Attr& attr, Opcode plain) {
    // What shares memory with what is the pair's own business.
    if (attr.key == AttrKey::kOutputToOperandAliasing) return;
    for (const AttrSpec& spec : table_[plain].attrs)
      if (spec.key == attr.key) return attrs.push_back(attr);
    if (attr.key != AttrKey::kCalls) return;
    for (const ComputationId called : attr.computations())
      module_.computations[called].is_async_sugar = false;
    attrs.push_back(Attr::make_list(AttrKey::kToApply, AttrSyntax::kComputation,
                                    std::span<const ComputationId>(attr.computations())));
  }

  void become(InstructionId id, Opcode opcode, std::span<const InstructionId> operands,
              std::span<const Attr> attrs) {
    Instruction& instruction = module_.instructions[id];
    instruction.opcode = opcode;
    instruction.operands = module_.arena().copy(operands);
    instruction.attrs = module_.arena().copy(attrs);
  }

  /// Nothing waits for what is gone; its end is waited for where it is needed.
  void forget(Instruction& instruction) {
    const Attr* before = instruction.find(AttrKey::kControlPredecessors);
    if (!before) return;
    std::vector<InstructionId> kept;
    for (const InstructionId id : before->instructions())
      if (!gone_.contains(id)) kept.push_back(id);
    if (kept.size() == before->instructions().size()) return;
    std::vector<Attr> attrs;
    for (const Attr& attr : instruction.attrs) {
      if (attr.key != AttrKey::kControlPredecessors)
        attrs.push_back(attr);
      else if (!kept.empty())
        attrs.push_back(Attr::make_list(attr.key, attr.syntax,
                                        std::span<const InstructionId>(module_.arena().copy(kept))));
    }
    instruction.attrs = module_.arena().copy(std::span<const Attr>(attrs));
  }

  Module& module_;
  const OpTable& table_;
  const UserIndex users_;  // as they were
  std::unordered_set<InstructionId> gone_;
};

}  // namespace

Module synchronous(const Module& module, const OpTable& table) {
  Module copy = module.copy();
  bool any = false;
  for (const Instruction& instruction : module.instructions) any |= is_in_flight(instruction.opcode);
  if (any) Joiner(copy, table).run();
  return any ? compacted(copy, table) : std::move(copy);
}

}  // namespace hlosim
