#include "shrink/resized_attributes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "loop_factors/window_form.h"

namespace hlosim {
namespace {

constexpr int64_t kResult = -1;

template <class T>
Attr with_list(const Attr& attr, std::span<const T> list) {
  Attr made = Attr::make_list<T>(attr.key, attr.syntax, list);
  made.offset = attr.offset;
  return made;
}

/// Lists of three numbers for each dimension, the first two of them counted along it.
Attr resized_lists(const Attr& attr, const DivisorOf& divisor, int64_t operand, Arena& arena) {
  std::vector<std::span<const int64_t>> lists;
  int64_t dimension = 0;
  for (const auto& list : attr.int_lists()) {
    const std::span<int64_t> made = arena.copy(list);
    const int64_t by = divisor(operand, dimension++);
    made[0] /= by;
    made[1] /= by;
    lists.push_back(made);
  }
  return with_list<std::span<const int64_t>>(attr, arena.copy(lists));
}

Attr resized_sizes(const Attr& attr, const DivisorOf& divisor, int64_t operand, Arena& arena) {
  const std::span<int64_t> made = arena.copy(attr.ints());
  for (size_t i = 0; i < made.size(); ++i) made[i] /= divisor(operand, static_cast<int64_t>(i));
  return with_list<int64_t>(attr, made);
}

/// Of a gather: those of dimensions that the result has are the result's.
Attr resized_slice_sizes(const OpContext& op, const Attr& attr, const DivisorOf& divisor, Arena& arena) {
  const auto offset = op.ints(AttrKey::kOffsetDims);
  const auto has = [&](AttrKey key, size_t i) {
    const auto list = op.ints(key);
    return std::find(list.begin(), list.end(), static_cast<int64_t>(i)) != list.end();
  };
  const std::span<int64_t> made = arena.copy(attr.ints());
  size_t window = 0;
  for (size_t i = 0; i < made.size(); ++i)
    if (!has(AttrKey::kCollapsedSliceDims, i) && !has(AttrKey::kOperandBatchingDims, i))
      made[i] /= divisor(kResult, offset[window++]);
  return with_list<int64_t>(attr, made);
}

/// Where the window slides over, what comes out, and what its size follows.
struct WindowPlace {
  int64_t base, base_operand, places, places_operand;
};

WindowPlace window_place(const OpContext& op, int64_t i) {
  const Attr* labels = op.find(AttrKey::kDimLabels);
  if (!labels) {
    const bool scatters = op.def().rules.dimensions == DimensionRule::kSelectAndScatter;
    return {i, 0, i, scatters ? 1 : kResult};
  }
  const auto at = static_cast<size_t>(i);
  const ConvolutionDimensions& roles = labels->dim_labels();
  return {roles.input_spatial[at], 0, roles.output_spatial[at], kResult};
}

Attr resized_window_attribute(const OpContext& op, const Attr& attr, const DivisorOf& divisor, Arena& arena) {
  const auto array = [&](int64_t operand) {
    const ShapeRef shape = operand == kResult ? op.shape() : op.operand_shape(operand);
    return shape->is_tuple() ? shape->elements[0] : shape;
  };
  std::vector<WindowDimension> made(attr.window().dimensions.begin(), attr.window().dimensions.end());
  for (size_t i = 0; i < made.size(); ++i) {
    const WindowPlace at = window_place(op, static_cast<int64_t>(i));
    const WindowForm form =
        window_form(array(at.base_operand)->dim(at.base), made[i], array(at.places_operand)->dim(at.places));
    const int64_t by = form == WindowForm::kSpread ? divisor(at.places_operand, at.places)
                                                   : divisor(at.base_operand, at.base);
    if (by > 1) made[i] = resized_window(form, made[i], made[i].size / by);
  }
  Window window;
  window.dimensions = arena.copy(made);
  Attr result = Attr::make_struct(attr.key, attr.syntax, arena.make<Window>(window));
  result.offset = attr.offset;
  return result;
}

}  // namespace

Attr resized_attribute(const OpContext& op, const Attr& attr, const DivisorOf& divisor, Arena& arena) {
  const DimensionRule rule = op.def().rules.dimensions;
  switch (attr.key) {
    case AttrKey::kSlice:
      return resized_lists(attr, divisor, 0, arena);
    case AttrKey::kPadding:
      return resized_lists(attr, divisor, 0, arena);
    case AttrKey::kDynamicSliceSizes:
      return resized_sizes(attr, divisor, kResult, arena);
    case AttrKey::kSliceSizes:
      if (rule != DimensionRule::kGather) return attr;
      return resized_slice_sizes(op, attr, divisor, arena);
    case AttrKey::kWindow:
      if (rule != DimensionRule::kConvolution && rule != DimensionRule::kWindow &&
          rule != DimensionRule::kSelectAndScatter)
        return attr;
      return resized_window_attribute(op, attr, divisor, arena);
    case AttrKey::kK: {
      if (rule != DimensionRule::kTopK) return attr;
      const ShapeRef operand = op.operand_shape(0);
      Attr made = Attr::make_int(attr.key, attr.integer() / divisor(0, operand->rank() - 1));
      made.offset = attr.offset;
      return made;
    }
    default:
      return attr;
  }
}

std::string without_window_config(std::string_view text) {
  const size_t key = text.find("\"window_config\":{");
  if (key == std::string_view::npos) return std::string(text);
  size_t end = text.find('{', key), depth = 0;
  do {
    depth += text[end] == '{';
    depth -= text[end] == '}';
    ++end;
  } while (depth > 0 && end < text.size());
  size_t begin = key;
  if (end < text.size() && text[end] == ',')
    ++end;
  else if (begin > 0 && text[begin - 1] == ',')
    --begin;
  return std::string(text.substr(0, begin)) + std::string(text.substr(end));
}

}  // namespace hlosim
