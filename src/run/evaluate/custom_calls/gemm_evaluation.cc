// Running the custom calls __cublas$gemm and __cublas$lt$matmul.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "evaluate/dot_evaluation.h"
#include "ops/custom_calls/gemm_config.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// The tanh form, as the library computes it.
template <class T>
T gelu(T x) {
  return x / 2 * (1 + std::tanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
}

template <class T>
T factor(std::complex<double> value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>)
    return T(value);
  else if constexpr (std::is_same_v<T, uint32_t>)
    return static_cast<T>(static_cast<int64_t>(value.real()));
  else
    return static_cast<T>(value.real());
}

template <class T>
constexpr bool kIsReal = std::is_same_v<T, float> || std::is_same_v<T, double>;

template <class T>
void finish(const GemmEpilogue& epilogue, std::byte* sums, const std::byte* addend, const std::byte* bias,
            int64_t count, int64_t columns) {
  T* values = reinterpret_cast<T*>(sums);
  const T alpha = factor<T>(epilogue.alpha), beta = factor<T>(epilogue.beta);
  parallel_for(count, 16 << 10, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T value = alpha * values[i];
      if (addend) value += beta * reinterpret_cast<const T*>(addend)[i];
      if (bias) value += reinterpret_cast<const T*>(bias)[i % columns];
      if constexpr (kIsReal<T>) {
        if (epilogue.relu) value = value < 0 ? 0 : value;
        if (epilogue.gelu) value = gelu(value);
      }
      values[i] = value;
    }
  });
}

void finish(ElementType type, const GemmEpilogue& epilogue, std::byte* sums, const std::byte* addend,
            const std::byte* bias, int64_t count, int64_t columns) {
  switch (type) {
    case ElementType::kF32:
      return finish<float>(epilogue, sums, addend, bias, count, columns);
    case ElementType::kF64:
      return finish<double>(epilogue, sums, addend, bias, count, columns);
    case ElementType::kC64:
      return finish<std::complex<float>>(epilogue, sums, addend, bias, count, columns);
    case ElementType::kC128:
      return finish<std::complex<double>>(epilogue, sums, addend, bias, count, columns);
    default:
      return finish<uint32_t>(epilogue, sums, addend, bias, count, columns);
  }
}

/// An operand behind the first two, in the type of the sums.
struct Extra {
  size_t operand;
  ConvertElements convert;

  Buffer run(Invocation& call) const {
    const Array& array = call.operand(operand);
    Buffer values = call.device().pool().allocate(array.count() * byte_width(convert.to));
    convert.run(array.bytes(), values.data(), array.count());
    return values;
  }
};

struct GemmCall {
  DotPlan plan;
  GemmEpilogue epilogue;
  ElementType sums;
  std::optional<Extra> addend, bias;
  ConvertElements to_result;

  void run(Invocation& call) const {
    MemoryPool& pool = call.device().pool();
    const Array& result = call.make_result();
    for (size_t i = 1; i < call.result_count(); ++i) {  // the library's workspace
      const Array& workspace = call.make_result(i);
      std::memset(workspace.bytes(), 0, static_cast<size_t>(data_bytes(workspace.shape)));
    }
    const int64_t count = result.count();
    Buffer own;
    std::byte* values = result.bytes();
    if (sums != result.type()) {
      own = pool.allocate(count * byte_width(sums));
      values = own.data();
    }
    plan.run(pool, call.operand(0).bytes(), call.operand(1).bytes(), values);
    if (!epilogue.is_nothing()) {
      const Buffer addends = addend ? addend->run(call) : Buffer(),
                   biases = bias ? bias->run(call) : Buffer();
      finish(sums, epilogue, values, addends.data(), biases.data(), count,
             bias ? call.operand(bias->operand).count() : 1);
    }
    if (own) to_result.run(values, result.bytes(), count);
  }
};

}  // namespace

Evaluation evaluate_gemm_call(EvaluateContext& op) {
  const std::vector<ShapeRef> results = leaves_of(op.shape());
  if (op.operand_count() < 2 || results.empty() || !results[0]->is_array()) return op.unsupported();
  for (int64_t i = 0; i < op.operand_count(); ++i)
    if (!op.operand_shape(i)->is_array()) return op.unsupported();
  const ShapeRef lhs = op.operand_shape(0), rhs = op.operand_shape(1), result = results[0];
  if (lhs->rank() < 1 || rhs->rank() < 2) return op.unsupported();
  const GemmConfig config = parse_gemm_config(op.text(AttrKey::kBackendConfig));
  GemmCall call;
  call.epilogue.alpha = config.alpha;
  call.epilogue.beta = config.beta;
  if (!parse_epilogue(config.epilogue, call.epilogue))
    return op.unsupported(fmt::format("the epilogue {}", config.epilogue));
  const bool integers = !is_float(result->element_type) && !is_complex(result->element_type);
  const GemmEpilogue& epilogue = call.epilogue;
  const auto is_whole = [](std::complex<double> x) {
    return x == std::round(x.real()) && std::abs(x.real()) < 0x1p31;
  };
  if (integers && (epilogue.relu || epilogue.gelu || !is_whole(config.alpha) || !is_whole(config.beta)))
    return op.unsupported("a product of integers with real factors");
  call.sums = gemm_sum_type(result->element_type);

  size_t next = 2;
  const auto extra = [&](std::optional<Extra>& slot) {
    if (next >= static_cast<size_t>(op.operand_count())) return false;
    const ElementType type = op.operand_shape(static_cast<int64_t>(next))->element_type;
    slot = Extra{next++, ConvertElements(type, call.sums)};
    return slot->convert.supported();
  };
  if (config.beta != 0 &&
      (!extra(call.addend) || op.operand_shape(2)->element_count() != result->element_count()))
    return op.unsupported("beta without an addend of the result's shape");
  if (epilogue.bias &&
      (!extra(call.bias) || result->rank() == 0 ||
       op.operand_shape(static_cast<int64_t>(next) - 1)->element_count() != result->dim(result->rank() - 1)))
    return op.unsupported("the epilogue BIAS without a vector of the result's last dimension");
  if (next != static_cast<size_t>(op.operand_count()))
    return op.unsupported(fmt::format("operand {}, which neither beta nor the epilogue uses", next));

  const auto roles = gemm_roles(config, lhs, rhs, result);
  if (!roles) return op.unsupported("dot_dimension_numbers that don't fit the operands and the result");
  auto plan = DotPlan::make(dot_operand(lhs), dot_operand(rhs), *roles, call.sums);
  call.to_result = ConvertElements(call.sums, result->element_type);
  if (!plan || !call.to_result.supported()) return op.unsupported();
  call.plan = std::move(*plan);
  return [call = std::move(call)](Invocation& invocation) { call.run(invocation); };
}

}  // namespace hlosim
