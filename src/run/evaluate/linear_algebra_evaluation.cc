#include "evaluate/linear_algebra_evaluation.h"

#include <algorithm>
#include <cstring>

#include "algorithms/triangular.h"
#include "array/convert_array.h"
#include "base/saturating.h"
#include "ops/infer.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// The type that matrices of `type` are computed in; kInvalid where there is none.
ElementType computed_in(ElementType type) {
  if (is_complex(type) || type == ElementType::kF64 || type == ElementType::kF32) return type;
  return is_float(type) && can_convert(type, ElementType::kF32) && can_convert(ElementType::kF32, type)
             ? ElementType::kF32
             : ElementType::kInvalid;
}

/// Matrices at a time, so that a thread has something to do: some n³ operations each.
int64_t matrix_grain(int64_t n) { return n > 64 ? 1 : 1 + 65536 / (1 + n * n * n / 8); }

int64_t batch_size(ShapeRef matrices) {
  int64_t batch = 1;
  for (int64_t i = 0; i < matrices->rank() - 2; ++i) batch = saturating_multiply(batch, matrices->dim(i));
  return batch;
}

}  // namespace

Evaluation evaluate_cholesky(EvaluateContext& op) {
  const ShapeRef shape = op.operand_shape(0);
  const ElementType type = shape->element_type, inner = computed_in(type);
  if (inner == ElementType::kInvalid || op.shape()->element_type != type || !shape->is_static())
    return op.unsupported();
  const bool lower = op.flag(AttrKey::kLower);
  const int64_t n = shape->dim(shape->rank() - 1), batch = batch_size(shape);
  return [=](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    const Buffer in = converted(pool, call.operand(0).data, type, inner, batch * n * n);
    Buffer out = pool.allocate(batch * n * n * byte_width(inner));
    const int64_t bytes = n * n * byte_width(inner);
    parallel_for(batch, matrix_grain(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        cholesky(inner, n, lower, in.data() + i * bytes, out.data() + i * bytes);
    });
    call.result().data = converted(pool, std::move(out), inner, type, batch * n * n);
  };
}

Evaluation evaluate_triangular_solve(EvaluateContext& op) {
  const ShapeRef a_shape = op.operand_shape(0), b_shape = op.operand_shape(1);
  const ElementType type = b_shape->element_type, inner = computed_in(type);
  if (inner == ElementType::kInvalid || op.shape()->element_type != type || !a_shape->is_static() ||
      !b_shape->is_static())
    return op.unsupported();
  const std::string_view transpose = op.text(AttrKey::kTransposeA);
  TriangularSystem system;
  system.type = inner;
  system.left_side = op.flag(AttrKey::kLeftSide);
  system.lower = op.flag(AttrKey::kLower);
  system.unit_diagonal = op.flag(AttrKey::kUnitDiagonal);
  system.transpose = transpose == "ADJOINT"     ? TriangularSystem::Transpose::kAdjoint
                     : transpose == "TRANSPOSE" ? TriangularSystem::Transpose::kTranspose
                                                : TriangularSystem::Transpose::kNone;
  const int64_t rank = b_shape->rank(), batch = batch_size(b_shape);
  system.n = a_shape->dim(rank - 1);
  system.m = b_shape->dim(rank - (system.left_side ? 1 : 2));
  return [=](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    const int64_t a_count = system.n * system.n, b_count = system.n * system.m;
    const Buffer a = converted(pool, call.operand(0).data, type, inner, batch * a_count);
    Buffer b = writable(pool, converted(pool, call.take(1).data, type, inner, batch * b_count),
                        batch * b_count * byte_width(inner));
    parallel_for(batch, matrix_grain(std::max(system.n, system.m)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        solve(system, a.data() + i * a_count * byte_width(inner), b.data() + i * b_count * byte_width(inner));
    });
    call.result().data = converted(pool, std::move(b), inner, type, batch * b_count);
  };
}

}  // namespace hlosim
