#include "evaluate/dot_evaluation.h"

#include <algorithm>
#include <cstring>

namespace hlosim {
namespace {

using Sizes = std::vector<int64_t>;

Sizes sizes_of(const Array& array) {
  Sizes sizes(array.shape->dimensions.begin(), array.shape->dimensions.end());
  if (array.sizes) sizes = *array.sizes;
  return sizes;
}

/// Dimensions of the result in the order in which they come: batch, free ones of lhs, free ones of rhs.
Sizes result_sizes(const Sizes& lhs, const Sizes& rhs, const DotRoles& roles) {
  const auto holds = [](const std::vector<int64_t>& list, int64_t i) {
    return std::find(list.begin(), list.end(), i) != list.end();
  };
  Sizes result;
  for (const int64_t i : roles.lhs_batch) result.push_back(lhs[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < static_cast<int64_t>(lhs.size()); ++i)
    if (!holds(roles.lhs_batch, i) && !holds(roles.lhs_contracting, i))
      result.push_back(lhs[static_cast<size_t>(i)]);
  for (int64_t i = 0; i < static_cast<int64_t>(rhs.size()); ++i)
    if (!holds(roles.rhs_batch, i) && !holds(roles.rhs_contracting, i))
      result.push_back(rhs[static_cast<size_t>(i)]);
  return result;
}

/// The elements within the runtime sizes, close together.
Buffer without_rest(const Array& array, MemoryPool& pool) {
  const Sizes sizes = sizes_of(array);
  const int64_t width = byte_width(array.type());
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  Buffer close = pool.allocate(count * width);
  StridedCopy(sizes, dense_strides(array.shape->dimensions), dense_strides(sizes), width)
      .run(array.bytes(), close.data());
  return close;
}

/// Operands of which only a part is there: a plan for the sizes of this very call.
void run_dynamic_dot(Invocation& call, const DotRoles& roles) {
  MemoryPool& pool = call.device().pool();
  const Array &lhs = call.operand(0), &rhs = call.operand(1);
  const Sizes lhs_sizes = sizes_of(lhs), rhs_sizes = sizes_of(rhs);
  Array& result = call.make_result();
  const Sizes sizes = result_sizes(lhs_sizes, rhs_sizes, roles);
  const auto plan = DotPlan::make({lhs.type(), lhs_sizes}, {rhs.type(), rhs_sizes}, roles, result.type());
  const int64_t width = byte_width(result.type());
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  const Buffer close_lhs = without_rest(lhs, pool), close_rhs = without_rest(rhs, pool);
  const Buffer close_result = pool.allocate(count * width);
  plan->run(pool, close_lhs.data(), close_rhs.data(), close_result.data());
  StridedCopy(sizes, dense_strides(sizes), dense_strides(result.shape->dimensions), width)
      .run(close_result.data(), result.bytes());
  result.sizes = std::make_shared<const Sizes>(sizes);
}

}  // namespace

DotOperand dot_operand(ShapeRef shape) {
  return {shape->element_type, {shape->dimensions.begin(), shape->dimensions.end()}};
}

Evaluation evaluate_dot(EvaluateContext& op) {
  const DotRoles roles = dot_roles(op);
  auto plan = DotPlan::make(dot_operand(op.operand_shape(0)), dot_operand(op.operand_shape(1)), roles,
                            op.shape()->element_type);
  if (!plan) return op.unsupported();
  return [plan = std::move(*plan), roles](Invocation& call) {
    if (call.operand(0).sizes || call.operand(1).sizes) return run_dynamic_dot(call, roles);
    const Array& result = call.make_result();
    plan.run(call.device().pool(), call.operand(0).bytes(), call.operand(1).bytes(), result.bytes());
  };
}

// ── scaled-dot ──────────────────────────────────────────────────

namespace {

/// An operand in the type of the sums, times its scale: element i of the operand has element
/// i / (size / blocks) of the scale in each dimension.
class ScaledOperand {
 public:
  ScaledOperand(ShapeRef operand, ShapeRef scale, ElementType type)
      : type_(type),
        count_(operand->element_count()),
        from_(operand->element_type, type),
        has_scale_(!scale->is_scalar()),
        scale_from_(scale->element_type, type),
        scale_count_(scale->element_count()),
        multiply_(element_kernel(ElementOp::kMultiply, type, type)) {
    if (!has_scale_) return;
    // Each dimension in two: blocks × elements of a block, which share a scale.
    std::vector<int64_t> sizes, scale_strides;
    const std::vector<int64_t> strides = dense_strides(scale->dimensions);
    for (int64_t i = 0; i < operand->rank(); ++i) {
      const int64_t blocks = scale->dim(i);
      sizes.insert(sizes.end(), {blocks, blocks == 0 ? 0 : operand->dim(i) / blocks});
      scale_strides.insert(scale_strides.end(), {strides[static_cast<size_t>(i)], 0});
    }
    spread_ = StridedCopy(sizes, scale_strides, dense_strides(sizes), byte_width(type));
  }

  bool supported() const { return from_.supported() && scale_from_.supported() && multiply_; }

  Buffer run(MemoryPool& pool, const std::byte* operand, const std::byte* scale) const {
    Buffer values = pool.allocate(count_ * byte_width(type_));
    from_.run(operand, values.data(), count_);
    if (!has_scale_) return values;
    const Buffer scales = pool.allocate(scale_count_ * byte_width(type_));
    const Buffer spread = pool.allocate(count_ * byte_width(type_));
    scale_from_.run(scale, scales.data(), scale_count_);
    spread_.run(scales.data(), spread.data());
    const void* in[] = {values.data(), spread.data()};
    multiply_.fn(values.data(), in, multiply_.immediate, count_);
    return values;
  }

 private:
  ElementType type_;
  int64_t count_;
  ConvertElements from_;
  bool has_scale_;
  ConvertElements scale_from_;
  int64_t scale_count_;
  ElementKernel multiply_;
  StridedCopy spread_;
};

}  // namespace

Evaluation evaluate_scaled_dot(EvaluateContext& op) {
  const ElementType result = op.shape()->element_type;
  ElementType type = result;
  if (is_float(type) && type != ElementType::kF64) type = ElementType::kF32;
  const ScaledOperand lhs(op.operand_shape(0), op.operand_shape(2), type);
  const ScaledOperand rhs(op.operand_shape(1), op.operand_shape(3), type);
  DotOperand left = dot_operand(op.operand_shape(0)), right = dot_operand(op.operand_shape(1));
  left.type = right.type = type;
  const auto plan = DotPlan::make(left, right, dot_roles(op), type);
  const ConvertElements to_result(type, result);
  if (!plan || !lhs.supported() || !rhs.supported() || !to_result.supported()) return op.unsupported();
  return [lhs, rhs, plan = *plan, to_result, type, result](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    const Array& out = call.make_result();
    const Buffer left_values = lhs.run(pool, call.operand(0).bytes(), call.operand(2).bytes());
    const Buffer right_values = rhs.run(pool, call.operand(1).bytes(), call.operand(3).bytes());
    if (type == result) return plan.run(pool, left_values.data(), right_values.data(), out.bytes());
    const Buffer sums = pool.allocate(out.count() * byte_width(type));
    plan.run(pool, left_values.data(), right_values.data(), sums.data());
    to_result.run(sums.data(), out.bytes(), out.count());
  };
}

}  // namespace hlosim
