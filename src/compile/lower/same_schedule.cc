#include "lower/same_schedule.h"

#include <algorithm>

namespace hlosim {
namespace {

bool alike(const Attr& a, const Attr& b) {
  if (a.key != b.key || a.syntax != b.syntax) return false;
  switch (a.syntax) {
    case AttrSyntax::kBool:
      return a.flag() == b.flag();
    case AttrSyntax::kInt:
      return a.integer() == b.integer();
    case AttrSyntax::kComputation:
    case AttrSyntax::kComputations:
      return std::ranges::equal(a.computations(), b.computations());
    case AttrSyntax::kInstructions:
      return std::ranges::equal(a.instructions(), b.instructions());
    case AttrSyntax::kShape:
    case AttrSyntax::kShapes:
    case AttrSyntax::kEntryLayout:
      return std::ranges::equal(a.shapes(), b.shapes());
    default:  // whatever it is, it is the same one
      return a.text().data() == b.text().data() && a.text().size() == b.text().size();
  }
}

bool alike(std::span<const Attr> a, std::span<const Attr> b) {
  return std::ranges::equal(a, b, [](const Attr& one, const Attr& other) { return alike(one, other); });
}

bool alike(const Instruction& a, const Instruction& b) {
  return a.opcode == b.opcode && a.shape == b.shape && a.literal == b.literal && a.parent == b.parent &&
         a.parameter_number == b.parameter_number && a.name == b.name &&
         std::ranges::equal(a.operands, b.operands) && alike(a.attrs, b.attrs);
}

bool alike(const Computation& a, const Computation& b) {
  return a.root == b.root && a.instructions == b.instructions && a.parameters == b.parameters &&
         a.execution_thread == b.execution_thread && a.is_async_sugar == b.is_async_sugar;
}

/// Any order that respects dependencies and else keeps that of the text is that of the text.
bool stands_in_order(const Module& module) {
  for (const Computation& computation : module.computations) {
    if (!std::ranges::is_sorted(computation.instructions)) return false;
    for (const InstructionId id : computation.instructions) {
      const auto is_before = [&](InstructionId needed) { return needed < id; };
      if (!std::ranges::all_of(module[id].operands, is_before)) return false;
      const Attr* waits = module[id].find(AttrKey::kControlPredecessors);
      if (waits && !std::ranges::all_of(waits->instructions(), is_before)) return false;
    }
  }
  return true;
}

std::vector<Attr> header_but_order(const Module& module) {
  std::vector<Attr> attrs(module.attrs.begin(), module.attrs.end());
  std::erase_if(attrs, [](const Attr& attr) { return attr.key == AttrKey::kIsScheduled; });
  return attrs;
}

}  // namespace

bool same_schedule(const Module& a, const Module& b) {
  const auto same = [](const auto& one, const auto& other) { return alike(one, other); };
  return a.entry == b.entry && a.instructions.size() == b.instructions.size() &&
         std::ranges::equal(a.computations, b.computations, same) &&
         std::ranges::equal(a.instructions, b.instructions, same) &&
         alike(std::span<const Attr>(header_but_order(a)), header_but_order(b)) && stands_in_order(a);
}

}  // namespace hlosim
