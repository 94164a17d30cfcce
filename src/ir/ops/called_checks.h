// What instructions and the computations they call must agree on.
#pragma once

#include "ops/infer.h"

namespace hlosim {

/// Does `called` take exactly `count` parameters, of the shapes of operands first_operand, …? Reports.
bool require_parameters(OpContext& op, int constraint, ComputationId called, int64_t first_operand,
                        int64_t count);

/// Each entry of output_to_operand_aliasing names an operand, an index in it and an index in the result,
/// and both have the same shape, layouts and dynamic sizes aside.
enum class AliasShapes : uint8_t {
  kEqual,
  kEqualButForBuffers,  // a buffer and its array count as the same
  kAny,
};
bool require_aliases(OpContext& op, int constraint, AliasShapes shapes);

/// Does `part`, what an async operation has bound of a tuple so far, begin `whole`? Each of its elements is
/// that of `whole`; nothing bound, `()`, begins anything.
bool begins(ShapeRef part, ShapeRef whole);

/// The branches of a conditional. Branch 0 first: true_computation, whatever the order of the text.
std::vector<ComputationId> branches_in(const OpContext& op);

/// The shape without `b(...)`.
inline ShapeRef without_buffer(ShapeRef shape) { return shape->is_buffer() ? shape->elements[0] : shape; }

/// Do the instruction and `related` (roots and parameters of called computations) have one sharding, as far
/// as the texts show? Forms with several spellings (iota, meshes, subgroups) are taken to agree, and so is an
/// absent one.
bool require_one_sharding(OpContext& op, int constraint, std::span<const InstructionId> related);

}  // namespace hlosim
