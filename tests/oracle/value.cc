#include "oracle/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "hlo/number.h"

namespace hlosim::test {

ElementType part_type(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  if (type == ElementType::kC128) return ElementType::kF64;
  return type;
}

ElementType compute_type(ElementType type) {
  const ElementType part = part_type(type);
  return part == ElementType::kF64 ? part : ElementType::kF32;
}

double unit_roundoff(ElementType type) {
  switch (part_type(type)) {
    case ElementType::kF64:
      return 0x1p-53;
    case ElementType::kF32:
      return 0x1p-24;
    case ElementType::kF16:
      return 0x1p-11;
    case ElementType::kBF16:
      return 0x1p-8;
    default:
      return 0x1p-2;
  }
}

double smallest_normal(ElementType type) {
  return compute_type(type) == ElementType::kF64 ? std::numeric_limits<double>::min()
                                                 : static_cast<double>(std::numeric_limits<float>::min());
}

namespace {

double float_value(ElementType type, uint64_t bits) {
  if (type == ElementType::kF32)
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (type == ElementType::kBF16)
    return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits) << 16));
  return decode_float(type, bits);
}

}  // namespace

double real_of(ElementType type, const Element& element) {
  if (is_float(type) || is_complex(type)) return float_value(part_type(type), element.bits);
  if (is_unsigned_integer(type)) return static_cast<double>(element.bits);
  return static_cast<double>(integer_of(element));
}

Complex complex_of(ElementType type, const Element& element) {
  if (!is_complex(type)) return real_of(type, element);
  return {float_value(part_type(type), element.bits), float_value(part_type(type), element.imaginary)};
}

uint64_t float_bits(ElementType type, double value) {
  if (type == ElementType::kF64 && !std::isnan(value)) return std::bit_cast<uint64_t>(value);
  if (type == ElementType::kF32 && !std::isnan(value))
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  bool overflow = false;
  return encode_float(
      type, type == ElementType::kF64 ? value : static_cast<double>(static_cast<float>(value)), overflow);
}

Element integer_element(ElementType type, uint64_t value) {
  if (is_pred(type)) return {value != 0 ? uint64_t{1} : 0, 0, 0};
  const int unused = 64 - bit_width(type);
  if (is_signed_integer(type))
    return {static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused), 0, 0};
  return {value << unused >> unused, 0, 0};
}

Element float_element(ElementType type, double value, double error) {
  Element result{float_bits(type, value), 0, 0};
  if (error == kInfinity || std::isnan(error)) return {result.bits, 0, kInfinity};
  if (std::isnan(value)) {
    const bool has_nan = std::isnan(float_value(type, result.bits));
    result.error = has_nan ? kTiny : kInfinity;
    return result;
  }
  if (error == 0) return result;
  const double center = float_value(type, result.bits);
  const double low = float_value(type, float_bits(type, value - error));
  const double high = float_value(type, float_bits(type, value + error));
  if (std::isfinite(center) && std::isfinite(low) && std::isfinite(high))
    result.error = std::max({center - low, high - center, kTiny});
  else
    result.error = low == high ? kTiny : kInfinity;
  return result;
}

Element complex_element(ElementType type, Complex value, double error) {
  const Element re = float_element(part_type(type), value.real(), error);
  const Element im = float_element(part_type(type), value.imag(), error);
  return {re.bits, im.bits, std::max(re.error, im.error)};
}

void store_element(ElementType type, const Element& element, std::byte* to) {
  const auto part = static_cast<size_t>(byte_width(part_type(type)));
  std::memcpy(to, &element.bits, part);
  if (is_complex(type)) std::memcpy(to + part, &element.imaginary, part);
}

Element load_element(ElementType type, const std::byte* from) {
  const auto part = static_cast<size_t>(byte_width(part_type(type)));
  Element element;
  std::memcpy(&element.bits, from, part);
  if (is_complex(type)) std::memcpy(&element.imaginary, from + part, part);
  if (is_integer(type) || is_pred(type)) return integer_element(type, element.bits);
  return element;
}

bool Value::is_dynamic() const {
  return shape->is_array() && !std::equal(sizes.begin(), sizes.end(), shape->dimensions.begin());
}

int64_t Value::place(std::span<const int64_t> index) const {
  int64_t number = 0;
  for (size_t i = 0; i < index.size(); ++i) number = number * shape->dimensions[i] + index[i];
  return number;
}

bool Value::any_unknown() const {
  return std::any_of(data.begin(), data.end(), [](const Element& e) { return e.unknown(); });
}

std::shared_ptr<Value> zero_value(ShapeRef shape) {
  auto value = std::make_shared<Value>();
  value->shape = shape;
  if (shape->is_buffer()) value->shape = shape->elements[0];
  if (shape->is_tuple())
    for (const ShapeRef element : shape->elements) value->elements.push_back(zero_value(element));
  if (value->shape->is_array()) {
    value->data.resize(static_cast<size_t>(value->shape->element_count()));
    value->sizes.assign(value->shape->dimensions.begin(), value->shape->dimensions.end());
  }
  return value;
}

std::shared_ptr<Value> unknown_value(ShapeRef shape) {
  auto value = zero_value(shape);
  for (Element& element : value->data) element.error = kInfinity;
  for (size_t i = 0; i < value->elements.size(); ++i) value->elements[i] = unknown_value(shape->elements[i]);
  return value;
}

bool first_index(std::span<const int64_t> dimensions, Index& index) {
  index.assign(dimensions.size(), 0);
  return std::all_of(dimensions.begin(), dimensions.end(), [](int64_t size) { return size > 0; });
}

bool next_index(std::span<const int64_t> dimensions, Index& index) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < dimensions[i]) return true;
    index[i] = 0;
  }
  return false;
}

namespace {

bool part_agrees(ElementType type, uint64_t expected, uint64_t actual, double error) {
  if (expected == actual) return true;
  const double a = float_value(type, expected), b = float_value(type, actual);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return error > 0 && std::fabs(a - b) <= error;
}

}  // namespace

bool agrees(ElementType type, const Element& element, const Element& other) {
  if (element.unknown()) return true;
  if (is_float(type)) return part_agrees(type, element.bits, other.bits, element.error);
  if (is_complex(type))
    return part_agrees(part_type(type), element.bits, other.bits, element.error) &&
           part_agrees(part_type(type), element.imaginary, other.imaginary, element.error);
  return element.bits == other.bits;
}

std::string text_of(ElementType type, const Element& element) {
  std::string text;
  if (is_float(type) || is_complex(type))
    append_float(text, part_type(type), element.bits);
  else
    text =
        is_unsigned_integer(type) ? fmt::format("{}", element.bits) : fmt::format("{}", integer_of(element));
  if (is_complex(type)) {
    text += ", ";
    append_float(text, part_type(type), element.imaginary);
    text = "(" + text + ")";
  }
  if (element.error > 0) text += fmt::format(" ± {:.3g}", element.error);
  return text;
}

}  // namespace hlosim::test
