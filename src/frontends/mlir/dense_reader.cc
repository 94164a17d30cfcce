#include "mlir/dense_reader.h"

#include <charconv>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "hlo/number.h"
#include "mlir/write_text.h"

namespace hlosim::mlir {
namespace {

/// Of the low bits of a type of less than a byte the number that they are.
int64_t extend_sign(int64_t value, int bits) {
  const int64_t sign = int64_t{1} << (bits - 1);
  return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/// Old texts store eight elements of i1 in a byte, low bits first.
std::span<char> unpack_bits(std::span<const char> bits, int64_t count, Arena& arena) {
  char* out = static_cast<char*>(arena.allocate(static_cast<size_t>(count), 1));
  for (int64_t i = 0; i < count; ++i)
    out[i] = static_cast<char>((bits[static_cast<size_t>(i / 8)] >> (i % 8)) & 1);
  return {out, static_cast<size_t>(count)};
}

}  // namespace

const char* read_decimal(const char* start, const char* end, double& value) {
  const auto [after, error] = std::from_chars(start, end, value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error != std::errc::result_out_of_range) return after;
  // Beyond doubles: strtod tells zero from infinity.
  value = std::strtod(std::string(start, after).c_str(), nullptr);
  return after;
}

const char* DenseReader::find_end(const Scanner& in) {
  const std::string_view text = in.rest();
  for (size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '>') return text.data() + i;
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = text.find('\n', i);
    } else if (c == '"') {
      do i = text.find_first_of("\\\"\n", i + 1);
      while (i != std::string_view::npos && text[i] == '\\' && ++i < text.size());
    }
    if (i == std::string_view::npos) return nullptr;
  }
  return nullptr;
}

bool DenseReader::read(const Type& type, const char* end, Elements& elements) {
  const uint32_t offset = in_.offset();
  const bool has_shape = type.kind == TypeKind::kTensor || type.kind == TypeKind::kVector;
  if (!has_shape) return in_.fail("dense elements are of a tensor or a vector");
  const std::optional<int64_t> count = count_elements(type.dims);
  if (!count) return in_.fail("dense elements need a shape without dynamic dimensions");
  const std::optional<ElementFormat> format = element_format(*type.element);
  if (!format) {
    elements.is_given = false;
    return true;
  }
  type_ = &type;
  format_ = *format;
  if (in_.peek() == '"') {
    std::string_view inside;
    if (!in_.raw_string(inside, "elements")) return false;
    if (in_.position() != end) return in_.expects("'>' behind the elements");
    if (!inside.starts_with("0x")) return in_.fail_at(offset, "expects hexadecimal digits behind 0x");
    return read_hex(type, inside.substr(2), offset, elements);
  }
  if (in_.position() == end)
    return *count == 0 || in_.fail(fmt::format("expects {} elements, but sees none", *count));
  elements.is_splat = in_.peek() != '[';
  const int64_t written = elements.is_splat ? 1 : *count;
  if (written > end - in_.position())
    return in_.fail(fmt::format("expects the {} elements of {}", written, shown(to_text(type))));
  const size_t bytes = static_cast<size_t>(written * format_.bytes());
  out_ = static_cast<char*>(arena_.allocate(bytes, 8));
  elements.bytes = {out_, bytes};
  if (!(elements.is_splat ? read_element() : read_list(0))) return false;
  return in_.position() == end || in_.expects("'>' behind the elements");
}

bool DenseReader::read_array(const Type& element, Elements& elements) {
  const std::optional<ElementFormat> format = element_format(element);
  if (!format) return in_.fail("expects elements of a type with a width");
  format_ = *format;
  type_ = nullptr;
  std::string bytes;
  char one[16];
  do {
    out_ = one;
    if (!read_element()) return false;
    bytes.append(one, static_cast<size_t>(format_.bytes()));
  } while (in_.eat(','));
  elements.bytes = arena_.copy(std::string_view(bytes));
  return true;
}

bool DenseReader::read_hex(const Type& type, std::string_view digits, uint32_t offset, Elements& elements) {
  const std::optional<int64_t> count = count_elements(type.dims);
  const std::optional<ElementFormat> format = element_format(*type.element);
  if (!format || !count) return true;
  elements.is_given = true;
  const size_t size = digits.size() / 2;
  char* out = static_cast<char*>(arena_.allocate(size, 8));
  int wrong = static_cast<int>(digits.size() % 2);
  for (size_t i = 0; i < size; ++i) {
    const int high = hex_digit(digits[2 * i]), low = hex_digit(digits[2 * i + 1]);
    wrong |= high | low;
    out[i] = static_cast<char>((high << 4) | (low & 15));
  }
  if (wrong < 0 || digits.size() % 2 != 0) return in_.fail_at(offset, "expects pairs of hexadecimal digits");
  const int64_t given = static_cast<int64_t>(size), width = format->bytes();
  elements.bytes = {out, size};
  const bool bits = format->type == ElementType::kPred && given == (*count + 7) / 8 && given != *count;
  if (bits && *count > 1) {
    // A byte of all ones for several elements stands for them all.
    elements.is_splat = given == 1 && static_cast<unsigned char>(out[0]) == 0xff;
    const std::span<char> unpacked = unpack_bits({out, size}, elements.is_splat ? 1 : *count, arena_);
    elements.bytes = {unpacked.data(), unpacked.size()};
    return true;
  }
  elements.is_splat = given == width && *count != 1;
  if (format->type == ElementType::kPred)
    for (size_t i = 0; i < size; ++i) out[i] = out[i] != 0;
  if (is_signed_integer(format->type) && bit_width(format->type) < 8)
    for (size_t i = 0; i < size; ++i)
      out[i] = static_cast<char>(extend_sign(out[i], bit_width(format->type)));
  if (given == width || (*count <= given / width && given == *count * width)) return true;
  return in_.fail_at(
      offset, fmt::format("{} bytes aren't the {} elements of {}", given, *count, shown(to_text(type))));
}

bool DenseReader::read_list(size_t level) {
  const Nesting nesting(in_);
  if (!nesting.entered()) return false;
  if (level == type_->dims.size())
    return in_.fail(fmt::format("expects an element of {}, but sees a list", shown(to_text(*type_))));
  if (!in_.eat('['))
    return in_.expects(fmt::format("'[' around dimension {} of {}", level, shown(to_text(*type_))));
  return read_rows(level);
}

bool DenseReader::read_rows(size_t level) {
  const int64_t wanted = type_->dims[level];
  const bool last = level + 1 == type_->dims.size();
  int64_t seen = 0;
  if (in_.peek() != ']') {
    do {
      if (seen == wanted) return wrong_count(level, seen + 1);
      if (last && in_.peek() == '[') return read_list(level + 1);  // says what is wrong
      if (!(last ? read_element() : read_list(level + 1))) return false;
      ++seen;
    } while (in_.eat(','));
  }
  if (in_.peek() == ']' && seen < wanted) return wrong_count(level, seen);
  return in_.need(']', "at the end of a row of elements");
}

bool DenseReader::wrong_count(size_t level, int64_t seen) {
  const bool many = seen > type_->dims[level];
  return in_.fail(fmt::format("expects {} elements in dimension {} of {}, but sees {}{}", type_->dims[level],
                              level, shown(to_text(*type_)), many ? "more" : "",
                              many ? "" : fmt::to_string(seen)));
}

bool DenseReader::read_element() {
  if (format_.parts == 1) {
    return is_float(format_.type) ? read_float() : read_integer();
  }
  const bool floats = is_float(format_.type);
  if (!in_.need('(', "before the parts of a complex number")) return false;
  if (!(floats ? read_float() : read_integer()) || !in_.need(',', "between the parts of a complex number"))
    return false;
  return (floats ? read_float() : read_integer()) && in_.need(')', "behind the parts of a complex number");
}

void DenseReader::append(uint64_t bits) {
  std::memcpy(out_, &bits, static_cast<size_t>(format_.part_bytes));
  out_ += format_.part_bytes;
}

bool DenseReader::read_integer() {
  const ElementType type = format_.type;
  if (Scanner::starts_word(in_.peek())) {
    if (is_pred(type) && (in_.sees_word("true") || in_.sees_word("false"))) {
      append(in_.peek() == 't' ? 1 : 0);
      in_.word();
      return true;
    }
    return in_.expects(is_pred(type) ? "true or false" : "an integer");
  }
  const char* start = in_.position();
  const bool negative = in_.peek() == '-';
  int64_t value = 0;
  if (!in_.integer(value)) return false;
  if (in_.position() == in_.last_end() && in_.peek() == '.')
    return in_.fail_at(start, "expects an integer, but sees a decimal");
  if (is_pred(type)) {
    if (value < -1 || value > 1) return in_.fail_at(start, "expects true or false");
    append(value != 0 ? 1 : 0);
    return true;
  }
  const int bits = bit_width(type);
  const bool is_signed_type = is_signed_integer(type);
  bool fits = negative ? is_signed_type || value == 0 : true;
  if (bits < 64 && negative) fits &= value >= -(int64_t{1} << (bits - 1));
  if (bits < 64 && !negative) fits &= static_cast<uint64_t>(value) < uint64_t{1} << bits;
  if (!fits) {
    return in_.fail_at(start, fmt::format("{} doesn't fit into {}", shown(in_.since(start)),
                                          type_ == nullptr ? to_text(type) : type_->element->word));
  }
  if (is_signed_type && bits < 8) value = extend_sign(value, bits);
  append(static_cast<uint64_t>(value));
  return true;
}

bool DenseReader::read_float() {
  const char* start = in_.position();
  if (in_.peek() == '0' && in_.peek(1) == 'x') {
    int64_t bits = 0;
    if (!in_.integer(bits)) return false;
    const int width = bit_width(format_.type);
    if (width < 64 && static_cast<uint64_t>(bits) >> width != 0)
      return in_.fail_at(start,
                         fmt::format("these bits are more than the {} of {}", width, to_text(format_.type)));
    append(static_cast<uint64_t>(bits));
    return true;
  }
  if (!in_.sees_integer()) return in_.expects("a number");
  double value = 0;
  const char* end = read_decimal(start, start + in_.rest().size(), value);
  if (end == nullptr) return in_.expects("a number");
  in_.move_to(end);
  if (format_.type == ElementType::kF32) {
    const float narrow = static_cast<float>(value);
    std::memcpy(out_, &narrow, sizeof narrow);
    out_ += sizeof narrow;
    return true;
  }
  bool overflow = false;
  append(encode_float(format_.type, value, overflow));
  return true;
}

}  // namespace hlosim::mlir
