#include "mlir/element_format.h"

#include <algorithm>
#include <cctype>

namespace hlosim::mlir {
namespace {

struct Named {
  std::string_view word;
  ElementType type;
};

constexpr Named kNamed[] = {
    {"i1", ElementType::kPred},
    {"i2", ElementType::kS2},
    {"i4", ElementType::kS4},
    {"i8", ElementType::kS8},
    {"i16", ElementType::kS16},
    {"i32", ElementType::kS32},
    {"i64", ElementType::kS64},
    {"ui2", ElementType::kU2},
    {"ui4", ElementType::kU4},
    {"ui8", ElementType::kU8},
    {"ui16", ElementType::kU16},
    {"ui32", ElementType::kU32},
    {"ui64", ElementType::kU64},
    {"f32", ElementType::kF32},
    {"bf16", ElementType::kBF16},
    {"f16", ElementType::kF16},
    {"f64", ElementType::kF64},
    {"f4E2M1FN", ElementType::kF4E2M1FN},
    {"f6E2M3FN", ElementType::kF6E2M3FN},
    {"f6E3M2FN", ElementType::kF6E3M2FN},
    {"f8E3M4", ElementType::kF8E3M4},
    {"f8E4M3", ElementType::kF8E4M3},
    {"f8E4M3B11FNUZ", ElementType::kF8E4M3B11FNUZ},
    {"f8E4M3FN", ElementType::kF8E4M3FN},
    {"f8E4M3FNUZ", ElementType::kF8E4M3FNUZ},
    {"f8E5M2", ElementType::kF8E5M2},
    {"f8E5M2FNUZ", ElementType::kF8E5M2FNUZ},
    {"f8E8M0FNU", ElementType::kF8E8M0FNU},
    {"complex<f32>", ElementType::kC64},
    {"complex<f64>", ElementType::kC128},
    // Spelt with a sign that HLO's names imply.
    {"si2", ElementType::kS2},
    {"si4", ElementType::kS4},
    {"si8", ElementType::kS8},
    {"si16", ElementType::kS16},
    {"si32", ElementType::kS32},
    {"si64", ElementType::kS64},
};

bool all_digits(std::string_view text) {
  return !text.empty() && text.size() <= 8 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

ElementType element_type(std::string_view word) {
  for (const Named& named : kNamed)
    if (named.word == word) return named.type;
  return ElementType::kInvalid;
}

std::string_view type_word(ElementType type) {
  for (const Named& named : kNamed)
    if (named.type == type) return named.word;
  return {};
}

std::optional<ElementFormat> element_format(const Type& element) {
  if (element.kind == TypeKind::kComplex) {
    if (element.members.empty() || element.members[0]->kind != TypeKind::kElement) return std::nullopt;
    std::optional<ElementFormat> part = element_format(*element.members[0]);
    if (part) part->parts = 2;
    return part;
  }
  if (element.kind != TypeKind::kElement) return std::nullopt;
  const ElementType type = element.word == "index" ? ElementType::kS64 : element_type(element.word);
  if (type == ElementType::kInvalid) return std::nullopt;
  return ElementFormat{type, 1, byte_width(type)};
}

bool is_type_word(std::string_view word) {
  for (const std::string_view sign : {"i", "si", "ui"})
    if (word.starts_with(sign) && all_digits(word.substr(sign.size()))) return true;
  for (const std::string_view known : {"index", "none", "tf32", "f80", "f128"})
    if (word == known) return true;
  return element_type(word) != ElementType::kInvalid;
}

std::optional<int64_t> count_elements(std::span<const int64_t> dims) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t count = 1;
  bool too_many = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) return 0;
    too_many |= count > kMost / dim;
    if (!too_many) count *= dim;
  }
  if (too_many) return std::nullopt;
  return count;
}

}  // namespace hlosim::mlir
