#include "lower/roundings.h"

#include <algorithm>

#include "hlo/graph.h"
#include "layout/bitcast.h"
#include "model/core.h"
#include "modules/list_rewriter.h"

namespace hlosim {
namespace {

/// x, if `id` widens the rounding of a reshape x to its type again.
InstructionId widened_reshape(const Module& module, InstructionId id) {
  if (module[id].opcode != Opcode::kConvert) return {};
  const InstructionId rounded = module[id].operands[0];
  if (!is_rounding(module, rounded, module[id].shape->element_type)) return {};
  const InstructionId source = module[rounded].operands[0];
  return module[source].opcode == Opcode::kReshape ? source : InstructionId{};
}

}  // namespace

bool is_rounding(const Module& module, InstructionId id, ElementType wide) {
  if (module[id].opcode != Opcode::kConvert) return false;
  const ShapeRef source = module[module[id].operands[0]].shape;
  const ElementType narrow = module[id].shape->element_type;
  constexpr int kNarrowest = 16;
  return is_float(wide) && is_float(narrow) && bit_width(narrow) < bit_width(wide) &&
         bit_width(narrow) >= kNarrowest && source->is_array() && source->element_type == wide;
}

bool moves_nothing(const Module& module, const Instruction& reshape, const DeviceConfig& device) {
  const ShapeRef from = module[reshape.operands[0]].shape;
  if (static_cast<double>(from->element_count()) <= Core(device).register_elements()) return true;
  const BitcastKind kind = classify_bitcast(from, reshape.shape).kind;
  return kind == BitcastKind::kIdentity || kind == BitcastKind::kReshape ||
         kind == BitcastKind::kTiledReshape;
}

void drop_roundings(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device) {
  Module& module = editor.module();
  ListRewriter rewriter(editor, table);
  for (const FlowComputation& flow : flow_computations(module, table)) {
    if (flow.is_condition) continue;
    const std::vector<InstructionId>& list = module[flow.id].instructions;
    if (std::ranges::none_of(list, [&](InstructionId id) { return widened_reshape(module, id).valid(); }))
      continue;
    const Users users = users_of(module, flow.id);
    rewriter.run(flow.id, [&](InstructionId id) {
      const InstructionId reshape = widened_reshape(module, id);
      if (!reshape.valid()) return id;
      const bool rounds = !moves_nothing(module, module[reshape], device) && users[reshape].size() == 1;
      return rounds ? id : reshape;
    });
  }
}

}  // namespace hlosim
