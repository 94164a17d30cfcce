// Custom calls named after functions: xla_builder.math.*.
#include <cmath>
#include <cstring>

#include "cpu_kernels/element.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "ops/infer.h"

namespace hlosim {

namespace {

struct MathFunction {
  std::string_view name;
  ElementOp op;
};
constexpr MathFunction kMathFunctions[] = {
    {"Acos", ElementOp::kAcos},   {"Acosh", ElementOp::kAcosh}, {"Asin", ElementOp::kAsin},
    {"Asinh", ElementOp::kAsinh}, {"Atanh", ElementOp::kAtanh}, {"Cosh", ElementOp::kCosh},
    {"Sinh", ElementOp::kSinh},   {"Tan", ElementOp::kTan},
};

Buffer filled_with_one(MemoryPool& pool, ElementKernel convert, ElementType type, int64_t count) {
  const float one = 1;
  const void* in[] = {&one};
  alignas(16) std::byte element[16];
  convert.fn(element, in, convert.immediate, 1);
  const auto width = static_cast<size_t>(byte_width(type));
  Buffer ones = pool.allocate(count * byte_width(type));
  for (size_t i = 0; i < static_cast<size_t>(count); ++i)
    std::memcpy(ones.data() + i * width, element, width);
  return ones;
}

ElementKernel math_kernel(std::string_view name, ElementType type) {
  for (const MathFunction& function : kMathFunctions)
    if (function.name == name) return element_kernel(function.op, type, type);
  return {};
}

}  // namespace

Evaluation evaluate_builder_math(EvaluateContext& op) {
  if (called_computation(op)) return evaluate_called_computation(op);
  const std::string_view target = custom_call_target(op), name = target.substr(target.rfind('.') + 1);
  const ShapeRef shape = op.shape();
  for (int64_t i = 0; i < op.operand_count(); ++i)
    if (!holds_the_same(op.operand_shape(i), shape)) return op.unsupported();
  const ElementType type = shape->element_type;
  const int64_t count = shape->element_count();
  if (const ElementKernel kernel = math_kernel(name, type); kernel && op.operand_count() == 1)
    return [kernel, count](Invocation& call) {
      const void* in[] = {call.operand(0).bytes()};
      kernel.fn(call.make_result().bytes(), in, kernel.immediate, count);
    };
  if (name == "NextAfter" && op.operand_count() == 2 &&
      (type == ElementType::kF32 || type == ElementType::kF64))
    return [type, count](Invocation& call) {
      Array& result = call.make_result();
      const auto step = [&](auto* out) {
        using T = std::remove_pointer_t<decltype(out)>;
        for (int64_t i = 0; i < count; ++i) out[i] = std::nextafter(call.in<T>(0)[i], call.in<T>(1)[i]);
      };
      type == ElementType::kF32 ? step(result.as<float>()) : step(result.as<double>());
    };
  const ElementKernel atan2 = element_kernel(ElementOp::kAtan2, type, type);
  const ElementKernel convert = element_kernel(ElementOp::kConvert, ElementType::kF32, type);
  if (name == "Atan" && op.operand_count() == 1 && atan2 && convert)
    return [atan2, convert, type, count](Invocation& call) {
      const Buffer ones = filled_with_one(call.device().pool(), convert, type, count);
      const void* in[] = {call.operand(0).bytes(), ones.data()};
      atan2.fn(call.make_result().bytes(), in, atan2.immediate, count);
    };
  return op.unsupported(fmt::format("{} of {} calls no computation that defines it", target, text_of(shape)));
}

}  // namespace hlosim
