#include "stablehlo/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace hlosim::stablehlo {
namespace {

using mlir::Type;
using mlir::TypeKind;

struct Spelling {
  std::string_view mlir;
  ElementType type;
};
/// What isn't HLO's spelling in capital letters.
constexpr Spelling kSpellings[] = {
    {"i1", ElementType::kPred},  {"i2", ElementType::kS2},    {"i4", ElementType::kS4},
    {"i8", ElementType::kS8},    {"i16", ElementType::kS16},  {"i32", ElementType::kS32},
    {"i64", ElementType::kS64},  {"si2", ElementType::kS2},   {"si4", ElementType::kS4},
    {"si8", ElementType::kS8},   {"si16", ElementType::kS16}, {"si32", ElementType::kS32},
    {"si64", ElementType::kS64}, {"ui2", ElementType::kU2},   {"ui4", ElementType::kU4},
    {"ui8", ElementType::kU8},   {"ui16", ElementType::kU16}, {"ui32", ElementType::kU32},
    {"ui64", ElementType::kU64}, {"f16", ElementType::kF16},  {"bf16", ElementType::kBF16},
    {"f32", ElementType::kF32},  {"f64", ElementType::kF64},
};

bool is_quantized(const Type& type) {
  return type.kind == TypeKind::kOpaque && type.word.find("quant") != std::string_view::npos;
}

/// The bounds of a tensor's dimensions, -1 where there is none; empty: the encoding has none.
std::vector<int64_t> bounds_of(const Type& type) {
  const mlir::Attribute* encoding = type.attribute;
  if (!encoding) return {};
  std::vector<int64_t> bounds;
  std::string_view text = encoding->text;
  if (const mlir::Attribute* list = encoding->find("bounds")) {
    if (list->kind == mlir::AttributeKind::kIntegers) return {list->integers.begin(), list->integers.end()};
    text = list->text;
  }
  if (const size_t open = text.find('['); open != std::string_view::npos) text = text.substr(open + 1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '?') bounds.push_back(-1);
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    int64_t value = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i)
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[i] - '0', &value))
        return {};
    bounds.push_back(value);
    --i;
  }
  return bounds;
}

Result<ShapeRef> tensor(const Type& type, ShapePool& shapes) {
  const ElementType element = element_type_of(*type.element);
  if (is_quantized(*type.element))
    return failure(fmt::format("{} is a quantized type: quantized programs are not supported",
                               type_text(*type.element)));
  if (element == ElementType::kInvalid)
    return failure(fmt::format("{} has no HLO type for its elements", type_text(type)));
  const std::vector<int64_t> bounds = bounds_of(type);
  std::vector<int64_t> dimensions(type.dims.begin(), type.dims.end());
  if (!bounds.empty() && bounds.size() != dimensions.size())
    return failure(fmt::format("{} has {} bounds, expected one for each of its {} dimensions",
                               type_text(type), bounds.size(), dimensions.size()));
  for (size_t i = 0; i < bounds.size(); ++i)
    if (bounds[i] >= 0 && dimensions[i] != mlir::kDynamic)
      return failure(fmt::format("dimension {} of {} is static and has the bound {}, expected '?'", i,
                                 type_text(type), bounds[i]));
  const auto flags = std::make_unique<bool[]>(dimensions.size() + 1);
  bool any = false;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] != mlir::kDynamic) continue;
    if (i >= bounds.size() || bounds[i] < 0)
      return failure(fmt::format("dimension {} of {} is dynamic, expected a static size", i, type_text(type)),
                     "--dim gives the dynamic dimensions of arguments a size");
    dimensions[i] = bounds[i];
    flags[i] = any = true;
  }
  return shapes.array(element, dimensions, nullptr,
                      any ? std::span<const bool>(flags.get(), dimensions.size()) : std::span<const bool>());
}

}  // namespace

ElementType element_type_of(const Type& type) {
  if (type.kind == TypeKind::kComplex) {
    const ElementType part = type.members.empty() ? ElementType::kInvalid : element_type_of(*type.members[0]);
    return part == ElementType::kF32   ? ElementType::kC64
           : part == ElementType::kF64 ? ElementType::kC128
                                       : ElementType::kInvalid;
  }
  if (type.kind != TypeKind::kElement) return ElementType::kInvalid;
  for (const Spelling& spelling : kSpellings)
    if (spelling.mlir == type.word) return spelling.type;
  if (!type.word.starts_with("f8") && !type.word.starts_with("f6") && !type.word.starts_with("f4"))
    return ElementType::kInvalid;
  return parse_element_type(lower_case(type.word));
}

bool is_dynamic(const Type& type) {
  if (type.kind == TypeKind::kTuple)
    return std::any_of(type.members.begin(), type.members.end(),
                       [](const Type* t) { return is_dynamic(*t); });
  return !dynamic_dimensions(type).empty();
}

std::vector<size_t> dynamic_dimensions(const Type& type) {
  std::vector<size_t> found;
  if (type.kind != TypeKind::kTensor) return found;
  const std::vector<int64_t> bounds = bounds_of(type);
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (type.dims[i] == mlir::kDynamic && (i >= bounds.size() || bounds[i] < 0)) found.push_back(i);
  return found;
}

Result<ShapeRef> shape_of(const Type& type, ShapePool& shapes) {
  switch (type.kind) {
    case TypeKind::kTensor:
      return tensor(type, shapes);
    case TypeKind::kToken:
      return shapes.token();
    case TypeKind::kTuple: {
      std::vector<ShapeRef> elements;
      for (const Type* member : type.members) {
        const Result<ShapeRef> element = shape_of(*member, shapes);
        if (!element) return element;
        elements.push_back(*element);
      }
      return shapes.tuple(elements);
    }
    case TypeKind::kUnrankedTensor:
      return failure(fmt::format("{} has no rank: unranked tensors are not supported", type_text(type)));
    case TypeKind::kOpaque:
      if (is_quantized(type))
        return failure(
            fmt::format("{} is a quantized type: quantized programs are not supported", type_text(type)));
      if (type.word == "!stablehlo.token" || type.word == "!mhlo.token") return shapes.token();
      break;
    case TypeKind::kElement:
    case TypeKind::kComplex:
    case TypeKind::kMemRef:
    case TypeKind::kVector:
    case TypeKind::kFunction:
      break;
  }
  return failure(fmt::format("{} is not a type of StableHLO values, expected a tensor, a tuple or a token",
                             type_text(type)));
}

std::string type_text(const Type& type) {
  const auto list = [](std::span<const Type* const> types) {
    std::string out;
    for (const Type* one : types) out += (out.empty() ? "" : ", ") + type_text(*one);
    return out;
  };
  const auto sizes = [&] {
    std::string out;
    for (const int64_t size : type.dims) out += (size == mlir::kDynamic ? "?" : fmt::to_string(size)) + "x";
    return out;
  };
  const auto element = [&] { return type.element ? type_text(*type.element) : std::string(); };
  switch (type.kind) {
    case TypeKind::kElement:
    case TypeKind::kOpaque:
      return std::string(type.word);
    case TypeKind::kComplex:
      return fmt::format("complex<{}>", list(type.members));
    case TypeKind::kTensor:
      return fmt::format("tensor<{}{}>", sizes(), element());
    case TypeKind::kUnrankedTensor:
      return fmt::format("tensor<*x{}>", element());
    case TypeKind::kMemRef:
      return fmt::format("memref<{}{}>", sizes(), element());
    case TypeKind::kVector:
      return fmt::format("vector<{}{}>", sizes(), element());
    case TypeKind::kTuple:
      return fmt::format("tuple<{}>", list(type.members));
    case TypeKind::kFunction:
      return fmt::format("({}) -> ({})", list(type.members), list(type.results));
    case TypeKind::kToken:
      return "!stablehlo.token";
  }
  return {};
}

}  // namespace hlosim::stablehlo
