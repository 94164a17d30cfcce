#include "evaluate/data_movement_evaluation.h"

#include <algorithm>

#include "cpu_kernels/element.h"
#include "cpu_kernels/strided_copy.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"
#include "threads/parallel.h"

namespace hlosim {
Evaluation evaluate_copy(EvaluateContext& op) {
  if (op.operand_shape(0)->is_array()) return evaluate_converted(op);
  return [](Invocation& call) {
    for (size_t i = 0; i < call.result_count(); ++i) call.set_result(call.take(i), i);
  };
}

Evaluation evaluate_converted(EvaluateContext& op) {
  // The instruction as if its result had the operand's type.
  const ShapeRef operand = op.operand_shape(0), result = op.shape();
  const ElementKernel convert =
      element_kernel(ElementOp::kConvert, operand->element_type, result->element_type);
  Instruction moved = op.instruction();
  moved.shape = op.shapes().with_element_type(result, operand->element_type);
  StridedView view;
  if (!convert || !op.def().view(op.of(moved), dense_view(operand->dimensions), view))
    return op.unsupported();
  const StridedCopy copy(view.dimensions, view.strides, dense_strides(view.dimensions),
                         byte_width(operand->element_type));
  return [convert, copy, operand, result,
          offset = view.offset * byte_width(operand->element_type)](Invocation& call) {
    const Buffer elements =
        call.device().pool().allocate(result->element_count() * byte_width(operand->element_type));
    copy.run(call.operand(0).bytes() + offset, elements.data());
    std::byte* out = call.make_result().bytes();
    parallel_for(result->element_count(), 16 << 10, [&](int64_t begin, int64_t end) {
      const void* in[] = {elements.data() + begin * byte_width(operand->element_type)};
      convert.fn(out + begin * byte_width(result->element_type), in, convert.immediate, end - begin);
    });
  };
}

// ── iota ────────────────────────────────────────────────────────

namespace {

void count_up(const ElementKernel& convert, int64_t width, int64_t length, std::byte* out) {
  parallel_for(length, 64 << 10, [&](int64_t begin, int64_t end) {
    constexpr int64_t kBlock = 512;
    int64_t numbers[kBlock];
    const void* in[] = {numbers};
    for (int64_t at = begin; at < end; at += kBlock) {
      const int64_t n = std::min(kBlock, end - at);
      for (int64_t i = 0; i < n; ++i) numbers[i] = at + i;
      convert.fn(out + at * width, in, convert.immediate, n);
    }
  });
}

}  // namespace

int64_t counted_dimension(const OpContext& op) {
  return op.def().evaluation == EvaluationKind::kIota ? op.integer(AttrKey::kIotaDimension) : -1;
}

Evaluation count_evaluation(ElementType type, int64_t length) {
  const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kS64, type);
  if (!convert) return nullptr;
  return [convert, width = byte_width(type), length](Invocation& call) {
    count_up(convert, width, length, call.make_result().bytes());
  };
}

Evaluation evaluate_iota(EvaluateContext& op) {
  const ShapeRef shape = op.shape();
  const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kS64, shape->element_type);
  if (!convert) return op.unsupported();
  const auto along = static_cast<size_t>(op.integer(AttrKey::kIotaDimension));
  const int64_t width = byte_width(shape->element_type);
  std::vector<int64_t> from(shape->dimensions.size(), 0);
  from[along] = 1;
  const StridedCopy copy(shape->dimensions, from, dense_strides(shape->dimensions), width);
  return [convert, copy, width, length = shape->dimensions[along]](Invocation& call) {
    const Buffer row = call.device().pool().allocate(length * width);
    count_up(convert, width, length, row.data());
    copy.run(row.data(), call.make_result().bytes());
  };
}

}  // namespace hlosim
