#include "report/hlo_category.h"

#include <algorithm>

#include "ops/fusion_role.h"

namespace hlosim {
namespace {

/// Moves elements and computes nothing.
bool only_formats(const OpTable& table, const Instruction& instruction) {
  const OpDef& def = table[instruction.opcode];
  if (def.has(kFree)) return true;
  const FusionRole role = fusion_role(table, instruction);
  return role == FusionRole::kCopy || role == FusionRole::kReindex ||
         (role == FusionRole::kPart && def.rules.layout == LayoutRole::kTranspose);
}

std::string fusion_category(const Module& module, const OpTable& table, const Instruction& fusion) {
  const Attr* calls = fusion.find(AttrKey::kCalls);
  if (calls) {
    const Computation& body = module[calls->computations()[0]];
    const auto is_product = [&](InstructionId id) {
      return fusion_role(table, module[id]) == FusionRole::kProduct;
    };
    if (std::ranges::any_of(body.instructions, is_product)) return "convolution fusion";
    if (std::ranges::all_of(body.instructions,
                            [&](InstructionId id) { return only_formats(table, module[id]); }))
      return "data formatting";
  }
  const Attr* kind = fusion.find(AttrKey::kKind);
  const std::string_view word = kind ? kind->text() : "kLoop";
  if (word == "kInput") return "input fusion";
  if (word == "kOutput") return "output fusion";
  if (word == "kCustom") return "custom fusion";
  return "loop fusion";
}

}  // namespace

std::string hlo_category(const Module& module, const OpTable& table, const Instruction& instruction) {
  const OpDef& def = table[instruction.opcode];
  if (def.has(kFusion)) return fusion_category(module, table, instruction);
  if (!def.has(kFree) && only_formats(table, instruction)) return "data formatting";
  if (def.has(kElementwise) && !def.has(kFree)) return "non-fusion elementwise";
  return std::string(to_text(instruction.opcode));
}

}  // namespace hlosim
