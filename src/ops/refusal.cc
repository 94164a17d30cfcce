#include "ops/refusal.h"

namespace hlosim {

Evaluation refusal(EvaluateContext& op, std::string why) {
  if (op.instruction().parent == op.module().entry) return op.unsupported(why);
  return [why = "cannot be run: " + why](Invocation& call) { call.fail(why); };
}

}  // namespace hlosim
