#include "evaluate/recognised.h"

namespace hlosim {

std::optional<FoldOp> recognised_fold(const AppliedComputation& applied) {
  if (!applied.program() || !applied.is_direct() || !applied.program()->single()) return std::nullopt;
  switch (applied.program()->single()->op) {
    case ElementOp::kAdd:
      return FoldOp::kAdd;
    case ElementOp::kMultiply:
      return FoldOp::kMultiply;
    case ElementOp::kMaximum:
      return FoldOp::kMaximum;
    case ElementOp::kMinimum:
      return FoldOp::kMinimum;
    case ElementOp::kAnd:
      return FoldOp::kAnd;
    case ElementOp::kOr:
      return FoldOp::kOr;
    case ElementOp::kXor:
      return FoldOp::kXor;
    default:
      return std::nullopt;
  }
}

}  // namespace hlosim
