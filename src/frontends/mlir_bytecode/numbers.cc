#include "mlir_bytecode/numbers.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace hlosim::mlir {
namespace {

struct FloatFormat {
  std::string_view word;
  uint32_t width, exponent_bits, mantissa_bits;
  int32_t bias;
  enum class Ends : uint8_t { kInfinities, kOneNan, kNegativeZeroNan, kNone, kAllOnesNan } ends;
};

constexpr FloatFormat kFloats[] = {
    {"f32", 32, 8, 23, 127, FloatFormat::Ends::kInfinities},
    {"bf16", 16, 8, 7, 127, FloatFormat::Ends::kInfinities},
    {"f16", 16, 5, 10, 15, FloatFormat::Ends::kInfinities},
    {"f64", 64, 11, 52, 1023, FloatFormat::Ends::kInfinities},
    {"tf32", 19, 8, 10, 127, FloatFormat::Ends::kInfinities},
    {"f8E5M2", 8, 5, 2, 15, FloatFormat::Ends::kInfinities},
    {"f8E4M3", 8, 4, 3, 7, FloatFormat::Ends::kInfinities},
    {"f8E3M4", 8, 3, 4, 3, FloatFormat::Ends::kInfinities},
    {"f8E4M3FN", 8, 4, 3, 7, FloatFormat::Ends::kOneNan},
    {"f8E4M3FNUZ", 8, 4, 3, 8, FloatFormat::Ends::kNegativeZeroNan},
    {"f8E5M2FNUZ", 8, 5, 2, 16, FloatFormat::Ends::kNegativeZeroNan},
    {"f8E4M3B11FNUZ", 8, 4, 3, 11, FloatFormat::Ends::kNegativeZeroNan},
    {"f8E8M0FNU", 8, 8, 0, 127, FloatFormat::Ends::kAllOnesNan},
    {"f6E2M3FN", 6, 2, 3, 1, FloatFormat::Ends::kNone},
    {"f6E3M2FN", 6, 3, 2, 3, FloatFormat::Ends::kNone},
    {"f4E2M1FN", 4, 2, 1, 1, FloatFormat::Ends::kNone},
    {"f80", 80, 15, 64, 16383, FloatFormat::Ends::kInfinities},
    {"f128", 128, 15, 112, 16383, FloatFormat::Ends::kInfinities},
};

const FloatFormat* float_format(std::string_view word) {
  for (const FloatFormat& format : kFloats)
    if (format.word == word) return &format;
  return nullptr;
}

uint64_t ones(uint32_t bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

}  // namespace

std::optional<uint32_t> width_of(std::string_view word) {
  if (word == "index") return 64;
  if (const FloatFormat* format = float_format(word)) return format->width;
  const size_t letters = word.starts_with("si") || word.starts_with("ui") ? 2 : word.starts_with("i") ? 1 : 0;
  uint32_t width = 0;
  const char* const end = word.data() + word.size();
  if (letters == 0 || word.size() == letters) return std::nullopt;
  const auto read = std::from_chars(word.data() + letters, end, width);
  if (read.ec != std::errc{} || read.ptr != end || width > kWidestInteger) return std::nullopt;
  return width;
}

bool is_float_word(std::string_view word) { return float_format(word) != nullptr; }

size_t element_bytes(const Type& element) {
  if (element.kind == TypeKind::kComplex)
    return element.members.size() == 1 ? 2 * element_bytes(*element.members[0]) : 0;
  if (element.kind != TypeKind::kElement) return 0;
  const std::optional<uint32_t> width = width_of(element.word);
  if (!width) return 0;
  return std::bit_ceil(std::max<size_t>(*width, 8)) / 8;
}

int64_t integer_at(const char* bytes, const Type& element) {
  uint64_t value = 0;
  const size_t size = std::min<size_t>(element_bytes(element), 8);
  std::memcpy(&value, bytes, size);
  const auto width = std::min<uint32_t>(width_of(element.word).value_or(64), 64);
  if (width == 0) return 0;
  value &= ones(width);
  const bool is_signed = !element.word.starts_with('u') && width > 1;
  if (is_signed && width < 64 && (value >> (width - 1) & 1)) value |= ~ones(width);
  return static_cast<int64_t>(value);
}

double number_of(uint64_t bits, std::string_view word) {
  const FloatFormat* const format = float_format(word);
  if (!format || format->width > 64) return 0;
  if (word == "f64") return std::bit_cast<double>(bits);
  using Ends = FloatFormat::Ends;
  const uint64_t mantissa = bits & ones(format->mantissa_bits);
  const uint64_t exponent = bits >> format->mantissa_bits & ones(format->exponent_bits);
  const bool has_sign = format->ends != Ends::kAllOnesNan;
  const bool is_negative = has_sign && (bits >> (format->width - 1) & 1);
  const bool is_last = exponent == ones(format->exponent_bits);
  const double sign = is_negative ? -1 : 1;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (format->ends == Ends::kInfinities && is_last)
    return mantissa ? kNan : sign * std::numeric_limits<double>::infinity();
  if (format->ends == Ends::kOneNan && is_last && mantissa == ones(format->mantissa_bits)) return kNan;
  if (format->ends == Ends::kNegativeZeroNan && is_negative && mantissa == 0 && exponent == 0) return kNan;
  if (format->ends == Ends::kAllOnesNan)
    return is_last ? kNan : std::ldexp(1.0, static_cast<int>(exponent) - format->bias);
  const bool is_normal = exponent != 0;
  const uint64_t digits = mantissa | (is_normal ? uint64_t{1} << format->mantissa_bits : 0);
  const int power =
      static_cast<int>(is_normal ? exponent : 1) - format->bias - static_cast<int>(format->mantissa_bits);
  return sign * std::ldexp(static_cast<double>(digits), power);
}

namespace {

/// Elements of a shape; none where it is dynamic or has more than any file.
std::optional<uint64_t> element_count(std::span<const int64_t> dims) {
  uint64_t count = 1;
  bool is_empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) is_empty = true;
    if (!is_empty && __builtin_mul_overflow(count, static_cast<uint64_t>(dim), &count)) return std::nullopt;
  }
  return is_empty ? 0 : count;
}

/// Truth values: a byte each, or bits that begin with the lowest.
std::optional<Elements> truths(AttributeTable& table, uint64_t count, std::string_view bytes,
                               ByteReader& in) {
  constexpr std::string_view kTrue("\1", 1), kFalse("\0", 1);
  const bool is_one = bytes.size() == 1;
  if (is_one && static_cast<uint8_t>(bytes[0]) == 0xff) return Elements{kTrue, true, true};
  const uint64_t packed = count / 8 + (count % 8 != 0);
  if (bytes.size() == packed && packed != count) {
    const std::span<char> made = table.room<char>(count, in);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<char>(static_cast<uint8_t>(bytes[i / 8]) >> (i % 8) & 1);
    return Elements{{made.data(), made.size()}, false, true};
  }
  if (is_one && count != 1) return Elements{bytes[0] ? kTrue : kFalse, true, true};
  if (bytes.size() == count) return Elements{bytes, false, true};
  return std::nullopt;
}

}  // namespace

Elements elements_of(AttributeTable& table, const Type& tensor, std::string_view bytes, ByteReader& in) {
  const bool is_shaped = tensor.kind == TypeKind::kTensor || tensor.kind == TypeKind::kVector;
  if (!is_shaped || !tensor.element) {
    in.fail("elements of a type that is not a tensor");
    return {};
  }
  const size_t width = element_bytes(*tensor.element);
  if (width == 0) return {{}, false, false};
  const std::optional<uint64_t> count = element_count(tensor.dims);
  if (count && tensor.element->word == "i1") {
    if (const auto made = truths(table, *count, bytes, in)) return *made;
  } else if (count && bytes.size() % width == 0 && bytes.size() / width == *count) {
    return {bytes, false, true};
  } else if (count && bytes.size() == width) {
    return {bytes, true, true};
  }
  in.fail(count ? fmt::format("{} bytes for {} elements of {}", bytes.size(), *count,
                              width == 1 ? "a byte" : fmt::format("{} bytes", width))
                : std::string("elements of a tensor without a size"));
  return {};
}

}  // namespace hlosim::mlir
