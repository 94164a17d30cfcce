// Positions and sizes that are operands.
#include <algorithm>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// The start of a block of `sizes` in `array`, clamped; operands `first` and up hold it. false: unknown.
bool read_start(const Operation& op, size_t first, const Value& array, std::span<const int64_t> sizes,
                Index& start) {
  bool known = true;
  const bool one_vector = op.operands.size() == first + 1 && op.operand(first).rank() == 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const Value& from = one_vector ? op.operand(first) : op.operand(first + d);
    const Element& element = from.data[one_vector ? d : 0];
    known = known && !element.unknown();
    const int64_t most = array.shape->dimensions[d] - sizes[d];
    int64_t value = integer_of(element);
    if (value < 0 && is_unsigned_integer(from.type())) value = most;
    start.push_back(std::clamp<int64_t>(value, 0, std::max<int64_t>(most, 0)));
  }
  return known;
}

Index sum(const Index& a, const Index& b) {
  Index result = a;
  for (size_t i = 0; i < a.size(); ++i) result[i] += b[i];
  return result;
}

}  // namespace

ValuePtr evaluate_dynamic_slice(Operation& op) {
  const Value& operand = op.operand(0);
  Index start;
  if (!read_start(op, 1, operand, op.ints(AttrKey::kDynamicSliceSizes), start))
    return unknown_value(op.shape());
  auto result = zero_value(op.shape());
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    result->at(index) = convert_element(operand.type(), result->type(), operand.at(sum(start, index)));
  });
  return result;
}

ValuePtr evaluate_dynamic_update_slice(Operation& op) {
  const Value &operand = op.operand(0), &update = op.operand(1);
  Index start;
  if (!read_start(op, 2, operand, update.shape->dimensions, start)) return unknown_value(op.shape());
  auto result = std::make_shared<Value>(*retyped(op.operands[0], op.shape()));
  for_each_index(update.shape->dimensions, [&](const Index& index) {
    result->at(sum(start, index)) = convert_element(update.type(), result->type(), update.at(index));
  });
  return result;
}

ValuePtr evaluate_dynamic_reshape(Operation& op) {
  auto result = zero_value(op.shape());
  result->data = op.operand(0).data;
  for (size_t i = 0; i < result->sizes.size(); ++i) {
    if (op.operand(i + 1).any_unknown()) return op.fail("undecided size");
    result->sizes[i] = op.operand(i + 1).integer();
  }
  return result;
}

ValuePtr evaluate_get_dimension_size(Operation& op) {
  auto result = zero_value(op.shape());
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  result->data[0] = integer_element(result->type(), static_cast<uint64_t>(op.operand(0).sizes[dimension]));
  return result;
}

ValuePtr evaluate_set_dimension_size(Operation& op) {
  if (op.operand(1).any_unknown()) return op.fail("undecided size");
  auto result = std::make_shared<Value>(op.operand(0));
  result->shape = op.shape();
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  const int64_t size = op.operand(1).integer();
  if (size < 0 || size > result->dim(static_cast<int64_t>(dimension))) return op.fail("size out of bounds");
  result->sizes[dimension] = size;
  return result;
}

}  // namespace hlosim::test
