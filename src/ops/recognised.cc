#include "ops/recognised.h"

namespace hlosim {

std::optional<FoldOp> recognised_fold(const AppliedComputation& applied) {
  if (!applied.program() || !applied.is_direct() || !applied.program()->single()) return std::nullopt;
  switch (applied.program()->single()->opcode) {
    case Opcode::kAdd:
      return FoldOp::kAdd;
    case Opcode::kMultiply:
      return FoldOp::kMultiply;
    case Opcode::kMaximum:
      return FoldOp::kMaximum;
    case Opcode::kMinimum:
      return FoldOp::kMinimum;
    case Opcode::kAnd:
      return FoldOp::kAnd;
    case Opcode::kOr:
      return FoldOp::kOr;
    case Opcode::kXor:
      return FoldOp::kXor;
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim
