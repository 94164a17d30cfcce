// Instructions that make arrays from nothing.
#include "partition/rule_call.h"

namespace hlosim {

/// Each tile counts from where it begins.
std::optional<SpmdValues> iota_rule(Rules& rules, const RuleCall& call) {
  Emitter& emit = rules.emit;
  Tiling tiling = call.wanted[0].value_or(whole(call, call.results[0]));
  tiling.partial = 0;
  const ShapeRef local = shard_shape(rules.axes, tiling, call.results[0], emit.module().shapes());
  const int64_t dimension = call.op.integer(AttrKey::kIotaDimension);
  const AxisList& cut = tiling.cut(dimension);
  if (cut.empty()) return emit_local(rules, call, {}, std::span(&tiling, 1));
  const InstructionId start = emit.times(emit.index(cut), local->dim(dimension));
  const InstructionId begin = emit.broadcast(start, local);
  const InstructionId at = emit.plus(emit.iota(local, dimension), begin);
  return SpmdValues{{emit.convert(at, local->element_type), tiling, call.results[0]}};
}

/// Constants, ids, random numbers: the same on every device; what is wanted is cut from it.
std::optional<SpmdValues> source_rule(Rules& rules, const RuleCall& call) {
  return replicated_rule(rules, call);
}

}  // namespace hlosim
