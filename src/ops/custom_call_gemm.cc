// The custom calls __cublas$gemm and __cublas$lt$matmul.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/parallel.h"
#include "ops/custom_call_evaluations.h"
#include "ops/custom_call_spellings.h"
#include "ops/dot_evaluation.h"
#include "ops/gemm_config.h"

namespace hlosim {
namespace {

/// What follows the product, in this order.
struct Epilogue {
  std::complex<double> alpha;
  double beta;  // 0: there is no addend
  bool bias, relu, gelu;

  bool is_nothing() const { return alpha == 1.0 && beta == 0 && !bias && !relu && !gelu; }
};

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
void finish(const Epilogue& epilogue, std::byte* sums, const std::byte* addend, const std::byte* bias,
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

void finish(ElementType type, const Epilogue& epilogue, std::byte* sums, const std::byte* addend,
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
  Epilogue epilogue;
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

ElementType sum_type(ElementType result) {
  if (is_complex(result) || result == ElementType::kF64) return result;
  return is_float(result) ? ElementType::kF32 : ElementType::kS32;
}

/// DEFAULT, or some of BIAS, RELU, GELU joined by _.
bool parse_epilogue(const std::string& text, Epilogue& epilogue) {
  std::string_view rest = text;
  epilogue.bias = rest.starts_with("BIAS");
  if (epilogue.bias) rest.remove_prefix(rest.starts_with("BIAS_") ? 5 : 4);
  epilogue.relu = rest == "RELU";
  epilogue.gelu = rest == "GELU";
  return epilogue.relu || epilogue.gelu || rest == "DEFAULT" || rest.empty();
}

bool is_dimension_list(const std::vector<int64_t>& list, ShapeRef shape) {
  return std::all_of(list.begin(), list.end(), [&](int64_t i) { return i >= 0 && i < shape->rank(); });
}

/// The dimension numbers that the configuration names, if they fit the operands and the result.
std::optional<DotRoles> roles_of(const GemmConfig& config, ShapeRef lhs, ShapeRef rhs, ShapeRef result) {
  using List = std::vector<int64_t>;
  DotRoles roles{config.lhs_batch.value_or(List()), config.rhs_batch.value_or(List()),
                 config.lhs_contracting.value_or(List{lhs->rank() - 1}),
                 config.rhs_contracting.value_or(List{rhs->rank() - 2})};
  if (roles.lhs_batch.size() != roles.rhs_batch.size() ||
      roles.lhs_contracting.size() != roles.rhs_contracting.size())
    return std::nullopt;
  std::vector<bool> lhs_used(static_cast<size_t>(lhs->rank())), rhs_used(static_cast<size_t>(rhs->rank()));
  int64_t count = 1;
  const auto pair = [&](const List& left, const List& right, bool kept) {
    if (!is_dimension_list(left, lhs) || !is_dimension_list(right, rhs)) return false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (lhs->dim(left[i]) != rhs->dim(right[i])) return false;
      lhs_used[static_cast<size_t>(left[i])] = rhs_used[static_cast<size_t>(right[i])] = true;
      if (kept) count *= lhs->dim(left[i]);
    }
    return true;
  };
  if (!pair(roles.lhs_batch, roles.rhs_batch, true) ||
      !pair(roles.lhs_contracting, roles.rhs_contracting, false))
    return std::nullopt;
  for (int64_t i = 0; i < lhs->rank(); ++i)
    if (!lhs_used[static_cast<size_t>(i)]) count *= lhs->dim(i);
  for (int64_t i = 0; i < rhs->rank(); ++i)
    if (!rhs_used[static_cast<size_t>(i)]) count *= rhs->dim(i);
  return count == result->element_count() ? std::optional(roles) : std::nullopt;
}

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
  const Epilogue& epilogue = call.epilogue;
  const auto is_whole = [](std::complex<double> x) {
    return x == std::round(x.real()) && std::abs(x.real()) < 0x1p31;
  };
  if (integers && (epilogue.relu || epilogue.gelu || !is_whole(config.alpha) || !is_whole(config.beta)))
    return op.unsupported("a product of integers with real factors");
  call.sums = sum_type(result->element_type);

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

  const auto roles = roles_of(config, lhs, rhs, result);
  if (!roles) return op.unsupported("dot_dimension_numbers that don't fit the operands and the result");
  auto plan = DotPlan::make(dot_operand(lhs), dot_operand(rhs), *roles, call.sums, op.reference_only());
  call.to_result = ConvertElements(call.sums, result->element_type);
  if (!plan || !call.to_result.supported()) return op.unsupported();
  call.plan = std::move(*plan);
  return [call = std::move(call)](Invocation& invocation) { call.run(invocation); };
}

namespace {

/// x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 x³)))
InstructionId spell_out_gelu(Spelling& spelling, InstructionId x) {
  const ShapeRef shape = spelling.shape_of(x);
  const auto times = [&](InstructionId value, double number) {
    return spelling.binary(Opcode::kMultiply, value, spelling.filled(shape, number));
  };
  const InstructionId cube = spelling.binary(Opcode::kMultiply, spelling.binary(Opcode::kMultiply, x, x), x);
  const InstructionId inner = times(spelling.binary(Opcode::kAdd, x, times(cube, 0.044715)), 0.7978845608028654);
  const InstructionId tanh = spelling.add(Opcode::kTanh, shape, {inner});
  return spelling.binary(Opcode::kMultiply, times(x, 0.5),
                         spelling.binary(Opcode::kAdd, tanh, spelling.filled(shape, 1)));
}

InstructionId spell_out_product(Spelling& spelling, const DotRoles& roles, ElementType type) {
  const ShapeRef lhs = spelling.shape_of(spelling.operand(0)), rhs = spelling.shape_of(spelling.operand(1));
  std::vector<int64_t> sizes;
  for (const int64_t i : roles.lhs_batch) sizes.push_back(lhs->dim(i));
  const auto add_free = [&](ShapeRef shape, const std::vector<int64_t>& batch, const std::vector<int64_t>& depth) {
    for (int64_t i = 0; i < shape->rank(); ++i)
      if (std::ranges::count(batch, i) + std::ranges::count(depth, i) == 0) sizes.push_back(shape->dim(i));
  };
  add_free(lhs, roles.lhs_batch, roles.lhs_contracting);
  add_free(rhs, roles.rhs_batch, roles.rhs_contracting);
  std::vector<Attr> attrs;
  const auto note = [&](AttrKey key, const std::vector<int64_t>& dimensions) {
    if (!dimensions.empty()) attrs.push_back(spelling.ints(key, dimensions));
  };
  note(AttrKey::kLhsBatchDims, roles.lhs_batch);
  note(AttrKey::kLhsContractingDims, roles.lhs_contracting);
  note(AttrKey::kRhsBatchDims, roles.rhs_batch);
  note(AttrKey::kRhsContractingDims, roles.rhs_contracting);
  return spelling.add(Opcode::kDot, spelling.module().shapes().array(type, sizes),
                      {spelling.operand(0), spelling.operand(1)}, attrs);
}

}  // namespace

InstructionId spell_out_gemm(Spelling& spelling) {
  const Instruction& call = spelling.call();
  const ShapeRef result = call.shape->is_tuple() ? call.shape->elements[0] : call.shape;
  const auto is_plain_array = [&](ShapeRef shape) {
    return shape->is_array() && shape->is_static() && !is_complex(shape->element_type);
  };
  if (call.operands.size() < 2 || !is_plain_array(result)) return {};
  for (const InstructionId operand : call.operands)
    if (!is_plain_array(spelling.shape_of(operand))) return {};
  const Attr* text = call.find(AttrKey::kBackendConfig);
  const GemmConfig config = parse_gemm_config(text ? text->text() : std::string_view());
  Epilogue epilogue{config.alpha, config.beta, false, false, false};
  const ShapeRef lhs = spelling.shape_of(spelling.operand(0)), rhs = spelling.shape_of(spelling.operand(1));
  if (!parse_epilogue(config.epilogue, epilogue) || config.alpha.imag() != 0 || lhs->rank() < 1 || rhs->rank() < 2)
    return {};
  const size_t extras = (epilogue.beta != 0 ? 1 : 0) + (epilogue.bias ? 1 : 0);
  const auto roles = roles_of(config, lhs, rhs, result);
  if (!roles || call.operands.size() != 2 + extras) return {};

  const ElementType sums = epilogue.is_nothing() ? result->element_type : sum_type(result->element_type);
  InstructionId value = spelling.reshaped(spell_out_product(spelling, *roles, sums), result->dimensions);
  const ShapeRef shape = spelling.shape_of(value);
  const auto scaled = [&](InstructionId x, double factor) {
    return factor == 1 ? x : spelling.binary(Opcode::kMultiply, x, spelling.filled(shape, factor));
  };
  value = scaled(value, epilogue.alpha.real());
  size_t next = 2;
  if (epilogue.beta != 0) {
    const InstructionId addend = spelling.reshaped(spelling.operand(next++), result->dimensions);
    value = spelling.binary(Opcode::kAdd, value, scaled(spelling.converted(addend, sums), epilogue.beta));
  }
  if (epilogue.bias) {
    const int64_t last[] = {result->rank() - 1}, size[] = {result->dim(last[0])};
    const InstructionId bias = spelling.converted(spelling.reshaped(spelling.operand(next++), size), sums);
    value = spelling.binary(Opcode::kAdd, value, spelling.broadcast(bias, shape, last));
  }
  if (epilogue.relu) value = spelling.binary(Opcode::kMaximum, value, spelling.filled(shape, 0));
  if (epilogue.gelu) value = spell_out_gelu(spelling, value);
  return spelling.result(spelling.converted(value, result->element_type));
}

}  // namespace hlosim
