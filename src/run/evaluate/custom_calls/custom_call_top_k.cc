// The custom call TopK.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "elementwise/element_program.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "ops/infer.h"
#include "ops/require.h"
#include "threads/parallel.h"

namespace hlosim {

namespace {

/// Bits of an element as a number that orders as the elements do, floats by total order.
uint64_t order_key(const std::byte* element, ElementType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, element, static_cast<size_t>(byte_width(type)));
  const bool is_signed = is_signed_integer(type);
  if (!is_signed && !is_float(type)) return bits;
  const int width = is_float(type) ? bit_width(type) : static_cast<int>(8 * byte_width(type));
  const uint64_t sign = uint64_t{1} << (width - 1), all = sign | (sign - 1);
  if (is_signed) return bits ^ sign;
  return bits & sign ? ~bits & all : bits | sign;
}

/// compare(lhs, rhs), GT, by total order, of the first two parameters: what TopK is without a comparator.
bool is_descending_total_order(const OpContext& op, ComputationId comparator) {
  const Instruction& root = op.module().root(comparator);
  if (root.opcode != Opcode::kCompare) return false;
  const Attr* direction = root.find(AttrKey::kDirection);
  const Attr* order = root.find(AttrKey::kType);
  const Instruction& lhs = op.module()[root.operands[0]];
  const Instruction& rhs = op.module()[root.operands[1]];
  return direction && direction->text() == "GT" && lhs.parameter_number == 0 && rhs.parameter_number == 1 &&
         (!is_float(lhs.shape->element_type) || (order && order->text() == "TOTALORDER"));
}

struct TopKRows {
  int64_t rows, length, k, width;
  ElementType type;
};

void take_chosen(const TopKRows& top, const std::byte* row, std::span<const int32_t> order, std::byte* values,
                 int32_t* indices) {
  for (int64_t i = 0; i < top.k; ++i) {
    indices[i] = order[static_cast<size_t>(i)];
    std::memcpy(values + i * top.width, row + indices[i] * top.width, static_cast<size_t>(top.width));
  }
}

void top_k_by_key(const TopKRows& top, const std::byte* in, std::byte* values, int32_t* indices) {
  parallel_for(
      top.rows, std::max<int64_t>(1, 4096 / std::max<int64_t>(top.length, 1)),
      [&](int64_t begin, int64_t end) {
        std::vector<uint64_t> keys(static_cast<size_t>(top.length));
        std::vector<int32_t> order(keys.size());
        for (int64_t r = begin; r < end; ++r) {
          const std::byte* row = in + r * top.length * top.width;
          for (size_t i = 0; i < keys.size(); ++i)
            keys[i] = order_key(row + static_cast<int64_t>(i) * top.width, top.type);
          std::iota(order.begin(), order.end(), 0);
          std::partial_sort(order.begin(), order.begin() + top.k, order.end(), [&](int32_t a, int32_t b) {
            const uint64_t key_a = keys[static_cast<size_t>(a)], key_b = keys[static_cast<size_t>(b)];
            return key_a != key_b ? key_a > key_b : a < b;
          });
          take_chosen(top, row, order, values + r * top.k * top.width, indices + r * top.k);
        }
      });
}

/// `before(a, b)`: does the comparator put element a of the row before element b? Merging survives a
/// comparator that is no order.
template <class Before>
void top_k_by(const TopKRows& top, const std::byte* in, std::byte* values, int32_t* indices,
              Before&& before) {
  std::vector<int32_t> order(static_cast<size_t>(top.length)), merged(order.size());
  for (int64_t r = 0; r < top.rows; ++r) {
    const std::byte* row = in + r * top.length * top.width;
    std::iota(order.begin(), order.end(), 0);
    for (size_t run = 1; run < order.size(); run *= 2) {
      for (size_t at = 0; at < order.size(); at += 2 * run) {
        const auto begin = order.begin() + static_cast<int64_t>(at);
        const auto middle = order.begin() + static_cast<int64_t>(std::min(at + run, order.size()));
        const auto end = order.begin() + static_cast<int64_t>(std::min(at + 2 * run, order.size()));
        std::merge(begin, middle, middle, end, merged.begin() + static_cast<int64_t>(at),
                   [&](int32_t a, int32_t b) { return before(row, a, b); });
      }
      order.swap(merged);
    }
    take_chosen(top, row, order, values + r * top.k * top.width, indices + r * top.k);
  }
}

/// The comparator run on single elements.
class ElementComparator {
 public:
  ElementComparator(const ElementProgram& program, int64_t width) : runner_(program, 1), width_(width) {}
  bool operator()(const std::byte* row, int32_t a, int32_t b) {
    const void* in[] = {row + a * width_, row + b * width_, &a, &b};
    uint8_t result = 0;
    void* out[] = {&result};
    runner_.run(in, out, 1);
    return result != 0;
  }

 private:
  ElementRunner runner_;
  int64_t width_;
};

/// The same as a call of a computation.
class CalledComparator {
 public:
  CalledComparator(const Callable& callable, DeviceState& device, std::span<const ShapeRef> parameters,
                   int64_t width)
      : callable_(callable), device_(device), parameters_(parameters), width_(width) {}
  bool operator()(const std::byte* row, int32_t a, int32_t b) {
    const void* in[] = {row + a * width_, row + b * width_, &a, &b};
    std::vector<Array> arguments;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      arguments.push_back(make_array(device_.pool(), parameters_[i]));
      std::memcpy(arguments.back().bytes(), in[i], static_cast<size_t>(data_bytes(parameters_[i])));
    }
    Array result;
    callable_.call(device_, arguments, {&result, 1});
    return !device_.failed() && *result.as<uint8_t>() != 0;
  }

 private:
  const Callable& callable_;
  DeviceState& device_;
  std::span<const ShapeRef> parameters_;
  int64_t width_;
};

std::optional<TopKRows> top_k_rows(const OpContext& op) {
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  if (operands.size() != 1 || results.size() != 2) return std::nullopt;
  const ShapeRef in = operands[0], values = results[0], indices = results[1];
  if (!in->is_array() || !in->is_static() || in->rank() == 0 || !values->is_array() || !indices->is_array() ||
      is_complex(in->element_type) || values->element_type != in->element_type ||
      indices->element_type != ElementType::kS32 || values->rank() != in->rank() ||
      !same_dimensions(values, indices))
    return std::nullopt;
  const int64_t last = in->rank() - 1, k = values->dim(last), length = in->dim(last);
  for (int64_t i = 0; i < last; ++i)
    if (values->dim(i) != in->dim(i)) return std::nullopt;
  if (k > length || length > INT32_MAX) return std::nullopt;
  return TopKRows{length ? in->element_count() / length : 0, length, k, byte_width(in->element_type),
                  in->element_type};
}

}  // namespace

Evaluation evaluate_top_k_call(EvaluateContext& op) {
  const auto top = top_k_rows(op);
  if (!top) return op.unsupported();
  const ComputationId* comparator = called_computation(op);
  if (!comparator || is_descending_total_order(op, *comparator))
    return [top = *top](Invocation& call) {
      std::byte* values = call.make_result(0).bytes();
      top_k_by_key(top, call.operand(0).bytes(), values, call.out<int32_t>(1));
    };
  std::vector<ShapeRef> parameters;
  for (int64_t i = 0; i < parameter_count(op, *comparator); ++i)
    parameters.push_back(parameter_shape(op, *comparator, i));
  const ShapeRef value = op.shapes().scalar(top->type), index = op.shapes().scalar(ElementType::kS32);
  const bool fits = (parameters.size() == 2 || parameters.size() == 4) &&
                    result_of(op, *comparator)->is_scalar() &&
                    is_pred(result_of(op, *comparator)->element_type) &&
                    std::all_of(parameters.begin(), parameters.end(), [&](const ShapeRef& parameter) {
                      return holds_the_same(parameter, &parameter - parameters.data() < 2 ? value : index);
                    });
  if (!fits)
    return op.unsupported(
        "the comparator of TopK is not a predicate of (value, value[, s32 index, s32 index])");
  if (const auto program = op.element_program(*comparator))
    return [top = *top, program](Invocation& call) {
      std::byte* values = call.make_result(0).bytes();
      ElementComparator before(*program, top.width);
      top_k_by(top, call.operand(0).bytes(), values, call.out<int32_t>(1), before);
    };
  return [top = *top, callable = op.callable(*comparator), parameters](Invocation& call) {
    std::byte* values = call.make_result(0).bytes();
    CalledComparator before(*callable, call.device(), parameters, top.width);
    top_k_by(top, call.operand(0).bytes(), values, call.out<int32_t>(1), before);
  };
}

}  // namespace hlosim
