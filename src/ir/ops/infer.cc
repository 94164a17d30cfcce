#include "ops/infer.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace hlosim {

void DimensionList::grow() {
  capacity_ *= 2;
  auto sizes = std::make_unique<int64_t[]>(capacity_);
  auto dynamic = std::make_unique<bool[]>(capacity_);
  std::copy_n(sizes_, count_, sizes.get());
  std::copy_n(dynamic_, count_, dynamic.get());
  heap_sizes_ = std::move(sizes);
  heap_dynamic_ = std::move(dynamic);
  sizes_ = heap_sizes_.get();
  dynamic_ = heap_dynamic_.get();
}

ShapeRef DimensionList::array(const OpContext& op, ElementType type) const {
  const ShapeRef declared = op.shape();
  if (declared && declared->is_array() && declared->element_type == type &&
      std::equal(declared->dimensions.begin(), declared->dimensions.end(), sizes_, sizes_ + count_))
    return declared->logical;
  return array(op.shapes(), type);
}

namespace {

/// Largest exponent and width of the significand of a float type, the implicit bit included.
struct FloatRange {
  int exponent = std::numeric_limits<int>::min();
  int significand = std::numeric_limits<int>::min();
};

FloatRange float_range(ElementType type) {
  switch (type) {
    case ElementType::kF4E2M1FN:
      return {3, 2};
    case ElementType::kF6E2M3FN:
      return {3, 4};
    case ElementType::kF6E3M2FN:
      return {5, 3};
    case ElementType::kF8E3M4:
      return {4, 5};
    case ElementType::kF8E4M3:
      return {8, 4};
    case ElementType::kF8E4M3B11FNUZ:
      return {5, 4};
    case ElementType::kF8E4M3FN:
      return {9, 4};
    case ElementType::kF8E4M3FNUZ:
      return {8, 4};
    case ElementType::kF8E5M2:
      return {16, 3};
    case ElementType::kF8E5M2FNUZ:
      return {16, 3};
    case ElementType::kF8E8M0FNU:
      return {128, 1};
    case ElementType::kF16:
      return {16, 11};
    case ElementType::kBF16:
      return {128, 8};
    case ElementType::kF32:
    case ElementType::kC64:
      return {128, 24};
    case ElementType::kF64:
    case ElementType::kC128:
      return {1024, 53};
    default:
      return {};
  }
}

auto precision_order(ElementType type) {
  const FloatRange range = float_range(type);
  return std::make_tuple(is_complex(type), range.exponent, range.significand, bit_width(type),
                         is_signed_integer(type));
}

}  // namespace

ElementType higher_precision(ElementType a, ElementType b) {
  return a == b || precision_order(a) >= precision_order(b) ? a : b;
}

bool require_same_thread(OpContext& op, AttrKey key) {
  if (!op.has(key)) return true;
  const Computation& called = op.computation(op.called(key));
  const Computation& caller = op.computation(op.instruction().parent);
  // An operation that the reader wrapped for `<op>-start` runs where the start says.
  if (called.execution_thread == caller.execution_thread || caller.is_async_sugar) return true;
  op.error(0, "{}={} runs on thread \"{}\", its caller on \"{}\"", to_text(key), called.name,
           called.execution_thread, caller.execution_thread);
  return false;
}

std::string list_text(std::span<const int64_t> values) {
  std::string text = "{";
  for (const int64_t value : values) {
    if (text.size() > 1) text += ',';
    text += size_text(value);
  }
  return text + '}';
}

std::string size_text(int64_t size) { return size == Shape::kUnbounded ? "?" : std::to_string(size); }

}  // namespace hlosim
