// What MHLO, the dialect that StableHLO came from, has and StableHLO hasn't, or calls by another name than
// CHLO. All others go by StableHLO's rows (find_row).
#include <optional>
#include <vector>

#include "stablehlo/op_lowering.h"
#include "stablehlo/output_aliases.h"

namespace hlosim::stablehlo {
namespace {

void lower_copy(OpLowering& op, Opcode) {
  if (op.takes(1)) op.give(op.make(Opcode::kCopy, {op.operand(0)}, {}, op.result()));
}

/// Of two operands: a value, and what it waits for or random bits.
void lower_pair(OpLowering& op, Opcode opcode) {
  if (!op.takes(2)) return;
  const Values operands = op.operands();
  op.give(op.make(opcode, operands, {}, op.result()));
}

/// `mhlo.xla.rng_get_and_update_state {delta = 1 : i64}`: the state of the generator before the step.
void lower_rng_state(OpLowering& op, Opcode) {
  if (!op.takes(0)) return;
  const Attr delta[] = {Attr::make_int(AttrKey::kDelta, op.integer("delta"))};
  const ShapeRef state = op.static_result();
  op.give(op.make(Opcode::kRngGetAndUpdateState, std::span<const InstructionId>(), delta, state));
}

/// `"mhlo.fusion"(…) ({…}) {fusion_kind = #mhlo<fusion_kind kLoop>}`: compiled HLO as MLIR has it.
void lower_fusion(OpLowering& op, Opcode) {
  const mlir::Attribute* kind = op.find("fusion_kind");
  Values operands = op.operands();
  const ComputationId body[] = {op.closed_region(0, "fused_computation", operands)};
  if (op.failed()) return;
  std::vector<Attr> attrs = {op.word(AttrKey::kKind, kind ? kind->text : std::string_view("kLoop")),
                             op.builder().computations(AttrKey::kCalls, body)};
  for (const char* name : {"output_operand_aliases", "output_operand_aliasing", "output_operand_alias"})
    if (const std::optional<Attr> aliases = output_aliases(op, name)) {
      attrs.push_back(*aliases);
      break;
    }
  op.give_elements(op.make(Opcode::kFusion, operands, attrs, op.whole_result()));
}

void lower_topk(OpLowering& op, Opcode) {
  const RowOfOperation* row = find_row("chlo.top_k");
  row->lower(op, row->opcode);
}

constexpr Row kMhloRows[] = {
    {"mhlo.add_dependency", lower_pair}, {"mhlo.copy", lower_copy},
    {"mhlo.fusion", lower_fusion},       {"mhlo.stochastic_convert", lower_pair},
    {"mhlo.topk", lower_topk},           {"mhlo.xla.rng_get_and_update_state", lower_rng_state},
};

}  // namespace

std::span<const Row> mhlo_rows() { return kMhloRows; }

}  // namespace hlosim::stablehlo
