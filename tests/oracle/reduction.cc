// Computations applied over dimensions and windows.
#include <algorithm>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// inputs…, inits… of reduce and reduce-window.
struct Inputs {
  explicit Inputs(const Operation& op) : count(op.operands.size() / 2) {
    for (size_t i = 0; i < count; ++i) {
      inputs.push_back(&op.operand(i));
      types.push_back(op.operand(i).type());
      inits.push_back(op.operand(count + i).data[0]);
      init_types.push_back(op.operand(count + i).type());
    }
  }
  std::vector<Element> at(const Index& index) const {
    std::vector<Element> elements;
    for (const Value* input : inputs) elements.push_back(input->at(index));
    return elements;
  }

  size_t count;
  std::vector<const Value*> inputs;
  std::vector<ElementType> types, init_types;
  std::vector<Element> inits;
};

/// The arrays of a result that is one array or a tuple of them.
struct Results {
  explicit Results(ShapeRef shape) : whole(zero_value(shape)) {
    if (!shape->is_tuple()) arrays.push_back(whole);
    for (size_t i = 0; i < whole->elements.size(); ++i) {
      arrays.push_back(zero_value(shape->elements[i]));
      whole->elements[i] = arrays.back();
    }
    for (const auto& array : arrays) types.push_back(array->type());
  }
  void set(const Index& index, std::span<const Element> elements) {
    for (size_t i = 0; i < arrays.size(); ++i) arrays[i]->at(index) = elements[i];
  }

  std::shared_ptr<Value> whole;
  std::vector<std::shared_ptr<Value>> arrays;
  std::vector<ElementType> types;
};

int64_t dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

}  // namespace

int64_t places_of_window(int64_t size, const WindowDimension& window) {
  const int64_t space = dilated(size, window.base_dilation) + window.padding_low + window.padding_high -
                        dilated(window.size, window.window_dilation);
  return space < 0 ? 0 : space / window.stride + 1;
}

std::optional<int64_t> element_under_window(int64_t size, const WindowDimension& window, int64_t place,
                                            int64_t tap) {
  const int64_t at = place * window.stride + tap * window.window_dilation - window.padding_low;
  if (at < 0 || at % window.base_dilation != 0 || at / window.base_dilation >= size) return std::nullopt;
  return at / window.base_dilation;
}

ValuePtr evaluate_reduce(Operation& op) {
  const Inputs inputs(op);
  Results results(op.shape());
  const auto dimensions = op.ints(AttrKey::kDimensions);
  const Value& first = *inputs.inputs[0];
  Index kept;
  for (int64_t d = 0; d < first.rank(); ++d)
    if (std::find(dimensions.begin(), dimensions.end(), d) == dimensions.end()) kept.push_back(d);
  for (size_t k = 0; k < kept.size(); ++k)
    for (const auto& array : results.arrays) array->sizes[k] = first.sizes[static_cast<size_t>(kept[k])];
  // Reduced dimensions in the order of the operand.
  Index order(dimensions.begin(), dimensions.end()), reduced_sizes;
  std::sort(order.begin(), order.end());
  for (const int64_t d : order) reduced_sizes.push_back(first.sizes[static_cast<size_t>(d)]);
  bool good = true;
  for_each_index(results.arrays[0]->shape->dimensions, [&](const Index& index) {
    Accumulator accumulator(op.evaluator, op.called(), inputs.inits, inputs.init_types);
    Index source(static_cast<size_t>(first.rank()));
    for (size_t k = 0; k < kept.size(); ++k) source[static_cast<size_t>(kept[k])] = index[k];
    for_each_index(reduced_sizes, [&](const Index& reduced) {
      for (size_t k = 0; k < order.size(); ++k) source[static_cast<size_t>(order[k])] = reduced[k];
      good = good && accumulator.add(inputs.at(source), inputs.types);
    });
    if (good) results.set(index, accumulator.result(results.types));
  });
  return good ? results.whole : nullptr;
}

ValuePtr evaluate_reduce_window(Operation& op) {
  const Inputs inputs(op);
  Results results(op.shape());
  const Value& first = *inputs.inputs[0];
  const auto window = op.window(first.rank());
  Index window_sizes;
  for (const WindowDimension& dimension : window) window_sizes.push_back(dimension.size);
  bool good = true;
  for_each_index(results.arrays[0]->shape->dimensions, [&](const Index& index) {
    Accumulator accumulator(op.evaluator, op.called(), inputs.inits, inputs.init_types, true);
    for_each_index(window_sizes, [&](const Index& tap) {
      Index source;
      for (size_t d = 0; d < tap.size(); ++d)
        if (const auto at = element_under_window(first.shape->dimensions[d], window[d], index[d], tap[d]))
          source.push_back(*at);
      if (source.size() == tap.size()) good = good && accumulator.add(inputs.at(source), inputs.types);
    });
    if (good) results.set(index, accumulator.result(results.types));
  });
  return good ? results.whole : nullptr;
}

ValuePtr evaluate_select_and_scatter(Operation& op) {
  const Value &operand = op.operand(0), &source = op.operand(1), &init = op.operand(2);
  const auto window = op.window(operand.rank());
  Index window_sizes;
  for (const WindowDimension& dimension : window) window_sizes.push_back(dimension.size);
  // One accumulator for each element: sources arrive in any order.
  const ElementType init_type = init.type(), source_type = source.type();
  std::vector<Accumulator> accumulators;
  for (size_t i = 0; i < operand.data.size(); ++i)
    accumulators.emplace_back(op.evaluator, op.called(AttrKey::kScatter), init.data, std::span(&init_type, 1),
                              true);
  auto result = zero_value(op.shape());
  bool good = true, known = true;
  for_each_index(source.shape->dimensions, [&](const Index& index) {
    std::optional<Index> selected;
    for_each_index(window_sizes, [&](const Index& tap) {
      Index candidate;
      for (size_t d = 0; d < tap.size(); ++d)
        if (const auto at = element_under_window(operand.shape->dimensions[d], window[d], index[d], tap[d]))
          candidate.push_back(*at);
      if (candidate.size() != tap.size() || !good) return;
      if (!selected) {
        selected = candidate;
        return;
      }
      const ElementType types[] = {operand.type(), operand.type()};
      const Element arguments[] = {operand.at(*selected), operand.at(candidate)};
      const ElementType pred = ElementType::kPred;
      const auto keep =
          op.evaluator.apply(op.called(AttrKey::kSelect), types, arguments, std::span(&pred, 1));
      good = !keep.empty();
      if (!good) return;
      known = known && !keep[0].unknown();
      if (keep[0].bits == 0) selected = candidate;
    });
    if (!selected || !good) return;
    const auto place = static_cast<size_t>(operand.place(*selected));
    good = accumulators[place].add({&source.at(index), 1}, std::span(&source_type, 1));
  });
  if (!good) return nullptr;
  if (!known) return unknown_value(op.shape());
  const ElementType type = result->type();
  for (size_t i = 0; i < result->data.size(); ++i)
    result->data[i] = accumulators[i].result(std::span(&type, 1))[0];
  return result;
}

ValuePtr evaluate_map(Operation& op) {
  auto result = zero_value(op.shape());
  std::vector<ElementType> types;
  for (const ValuePtr& operand : op.operands) types.push_back(operand->type());
  const ElementType type = result->type();
  for (size_t place = 0; place < result->data.size(); ++place) {
    std::vector<Element> arguments;
    for (const ValuePtr& operand : op.operands)
      arguments.push_back(operand->data[operand->rank() == 0 ? 0 : place]);
    const auto element = op.evaluator.apply(op.called(), types, arguments, std::span(&type, 1));
    if (element.empty()) return nullptr;
    result->data[place] = element[0];
  }
  return result;
}

namespace {

/// `array` at `place` along `dimension`, in the shape the body takes.
ValuePtr slice_of(const Value& array, int64_t dimension, int64_t place, ShapeRef shape) {
  auto slice = zero_value(shape);
  for_each_index(shape->dimensions, [&](const Index& index) {
    Index source = index;
    source.insert(source.begin() + dimension, place);
    slice->at(index) = convert_element(array.type(), slice->type(), array.at(source));
  });
  return slice;
}

void put_slice(Value& array, int64_t dimension, int64_t place, const Value& slice) {
  for_each_index(slice.shape->dimensions, [&](const Index& index) {
    Index target = index;
    target.insert(target.begin() + dimension, place);
    array.at(target) = convert_element(slice.type(), array.type(), slice.at(index));
  });
}

}  // namespace

ValuePtr evaluate_scan(Operation& op) {
  const auto carries = static_cast<size_t>(op.integer(AttrKey::kNumCarries));
  const size_t inputs = op.operands.size() - carries;
  const int64_t dimension = op.ints(AttrKey::kDimensions)[0], length = op.operand(0).dim(dimension);
  const bool reverse = op.flag(AttrKey::kIsReverse);
  const auto& parameters = op.evaluator.module()[op.called()].parameters;
  Results results(op.shape());
  const size_t outputs = results.arrays.size() - carries;
  std::vector<ValuePtr> state(op.operands.begin() + static_cast<int64_t>(inputs), op.operands.end());
  for (int64_t step = 0; step < length; ++step) {
    const int64_t place = reverse ? length - 1 - step : step;
    std::vector<ValuePtr> arguments;
    for (size_t i = 0; i < inputs; ++i)
      arguments.push_back(
          slice_of(op.operand(i), dimension, place, op.evaluator.module()[parameters[i]].shape));
    arguments.insert(arguments.end(), state.begin(), state.end());
    const ValuePtr returned = op.evaluator.call(op.called(), arguments);
    if (!returned) return nullptr;
    const std::vector<ValuePtr> values =
        returned->shape->is_tuple() ? returned->elements : std::vector<ValuePtr>{returned};
    for (size_t i = 0; i < outputs; ++i) put_slice(*results.arrays[i], dimension, place, *values[i]);
    state.assign(values.begin() + static_cast<int64_t>(outputs), values.end());
  }
  for (size_t i = 0; i < carries; ++i)
    *results.arrays[outputs + i] = *retyped(state[i], results.arrays[outputs + i]->shape);
  return results.whole;
}

}  // namespace hlosim::test
