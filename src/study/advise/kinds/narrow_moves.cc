// Casts to a narrower type behind what only moves data: before it, half the bytes move.
#include <fmt/format.h>

#include <algorithm>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "hlo/user_index.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

constexpr size_t kMostNarrowMoves = 8;
constexpr int64_t kLeastMovedBytes = int64_t{1} << 16;

/// One operand's elements at other places, on this device or others; each of the result is one of them.
bool only_moves(const OpTable& table, const Instruction& instruction) {
  if (instruction.operands.size() != 1 || !instruction.shape->is_array()) return false;
  const OpDef& def = table[instruction.opcode];
  const bool sends =
      def.rules.async_kind == AsyncKind::kAllGather || def.rules.async_kind == AsyncKind::kPermute ||
      def.rules.async_kind == AsyncKind::kAllToAll || def.rules.async_kind == AsyncKind::kBroadcast;
  if (def.has(kCollective)) return sends && def.rules.async_part == AsyncPart::kSplits;
  const FusionRole role = fusion_role(table, instruction);
  return def.view != nullptr &&
         (role == FusionRole::kPart || role == FusionRole::kCopy || role == FusionRole::kReindex);
}

bool narrows(const Module& module, const Instruction& convert) {
  if (convert.opcode != Opcode::kConvert || !is_float(convert.shape->element_type)) return false;
  const ElementType from = module[convert.operands[0]].shape->element_type;
  return is_float(from) && bit_width(from) > bit_width(convert.shape->element_type);
}

/// move(x) then convert becomes convert(x) then move.
Result<void> convert_first(ModuleEditor& editor, const std::string& name) {
  Module& module = editor.module();
  const Result<InstructionId> convert = named(module, name);
  if (!convert) return tl::unexpected(convert.error());
  const InstructionId move = module[*convert].operands[0];
  const ComputationId parent = module[move].parent;
  const ElementType type = module[*convert].shape->element_type;
  const InstructionId source[] = {module[move].operands[0]};
  const ShapeRef narrow = module.shapes().with_element_type(module[source[0]].shape, type);
  const InstructionId first = editor.add(parent, Opcode::kConvert, "convert", narrow, source);
  module.computations[parent].instructions.push_back(first);
  editor.set_operand(move, 0, first);
  module.instructions[move].shape = module.shapes().with_element_type(module[move].shape, type);
  editor.replace_everywhere(parent, *convert, move);
  std::erase(module.computations[parent].instructions, *convert);
  editor.sort(parent);
  return {};
}

}  // namespace

std::vector<Proposal> find_narrow_moves(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model) return found;
  const Module& module = *subject.setup.module;
  const UserIndex users(module);
  const AdvicePlaces places(module);
  std::vector<InstructionId> converts;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      if (!narrows(module, module[id])) continue;
      const InstructionId move = module[id].operands[0];
      if (only_moves(subject.table, module[move]) && users.users(move).size() == 1 &&
          logical_bytes(module[move].shape) >= kLeastMovedBytes)
        converts.push_back(id);
    }
  const auto moved = [&](InstructionId id) { return logical_bytes(module[module[id].operands[0]].shape); };
  std::ranges::stable_sort(converts, std::ranges::greater(), moved);
  converts.resize(std::min(converts.size(), kMostNarrowMoves));
  for (const InstructionId id : converts) {
    const Instruction& move = module[module[id].operands[0]];
    const std::string name(module[id].name);
    Proposal& one = found.emplace_back();
    one.edit = edit_of_module(
        subject.table, [name](ModuleEditor& editor, TrialSetup&) { return convert_first(editor, name); });
    one.name = name;
    one.problem = fmt::format("{} moves {}, and its only user casts the result to {}", move.name,
                              to_text_without_layout(move.shape), to_text(module[id].shape->element_type));
    one.change = fmt::format("x.astype(jnp.{}) before the {}, not behind it",
                             module[id].shape->element_type == ElementType::kBF16 ? "bfloat16" : "float16",
                             to_text(move.opcode));
    one.reason = "the same numbers move in fewer bytes";
    one.place = places.of(move);
  }
  return found;
}

}  // namespace hlosim
