#include "profile/operation_facts.h"

#include <algorithm>
#include <vector>

#include "hlo/printer.h"

namespace hlosim {
namespace {

int64_t whole(float value) { return value >= 0 && value < 9e18f ? static_cast<int64_t>(value) : 0; }

bool holds_product(const Module& module, const OpTable& table, const Instruction& fusion) {
  bool found = false;
  for_each_called(fusion, [&](ComputationId id) {
    for (const InstructionId inner : module[id].instructions)
      found = found || table[module[inner].opcode].rules.fusion == FusionRule::kProduct;
  });
  return found;
}

}  // namespace

OperationFacts::OperationFacts(const Module& module, const OpTable& table)
    : module_(module), table_(table), copy_(module.copy()), costs_(copy_, table) {}

std::string OperationFacts::category(InstructionId id) const {
  const Instruction& instruction = module_[id];
  const OpDef& def = table_[instruction.opcode];
  if (def.has(kFusion)) {
    if (holds_product(module_, table_, instruction)) return "convolution fusion";
    const Attr* kind = instruction.find(AttrKey::kKind);
    const std::string_view word = kind ? kind->text() : std::string_view();
    if (word == "kLoop") return "loop fusion";
    if (word == "kInput") return "input fusion";
    if (word == "kOutput") return "output fusion";
    return "custom fusion";
  }
  const LayoutRole layout = def.rules.layout;
  if (layout == LayoutRole::kCopy || layout == LayoutRole::kTranspose || layout == LayoutRole::kReshape)
    return "data formatting";
  return def.has(kElementwise) ? "non-fusion elementwise" : std::string(def.name);
}

std::string OperationFacts::text(InstructionId id) const {
  Instruction instruction = module_[id];
  std::vector<Attr> attrs;
  for (const Attr& attr : instruction.attrs)
    if (attr.key != AttrKey::kBackendConfig && attr.key != AttrKey::kFrontendAttributes)
      attrs.push_back(attr);
  instruction.attrs = attrs;
  PrintOptions options;
  options.operand_shapes = true;
  options.metadata = false;
  return to_text(module_, instruction, table_, options);
}

std::string OperationFacts::shape(InstructionId id) const { return to_text(module_[id].shape); }
int64_t OperationFacts::flops(InstructionId id) const { return whole(costs_.of(id).flops); }

// The profiler counts a copy that runs beside others once, at its start and at its done.
int64_t OperationFacts::bytes(InstructionId id) const {
  const Instruction& instruction = module_[id];
  const OpDef& def = table_[instruction.opcode];
  if (def.has(kCopyStart) && !instruction.operands.empty())
    return xla_leaf_bytes(module_[instruction.operands.front()].shape);
  if (def.has(kAsyncDone) && !instruction.operands.empty() &&
      table_[module_[instruction.operands.front()].opcode].has(kCopyStart))
    return xla_leaf_bytes(instruction.shape);
  return whole(costs_.of(id).bytes_accessed);
}

}  // namespace hlosim
