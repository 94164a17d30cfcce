// How elements of MLIR types are stored in ir.h's Elements, and which element type of HLO they are.
//
//   const std::optional<ElementFormat> format = element_format(*tensor.element);   // complex<f32>
//   format->type, format->parts, format->part_bytes, format->bytes()               // kF32, 2, 4, 8
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "layout/element_type.h"
#include "mlir/ir.h"

namespace hlosim::mlir {

struct ElementFormat {
  ElementType type = ElementType::kInvalid;  // of a part; index is s64
  int parts = 1;                             // 2: complex
  int64_t part_bytes = 1;
  int64_t bytes() const { return parts * part_bytes; }
};

/// Nothing for types that have no elements of a fixed width, or none that HLO knows: `!quant.…`, i3, tf32.
std::optional<ElementFormat> element_format(const Type& element);

/// The element type of HLO with the name that MLIR has for it: "i1" is pred, "ui8" u8, "f8E4M3FN" f8e4m3fn;
/// kInvalid: none.
ElementType element_type(std::string_view word);
/// MLIR's name of an element type of HLO: kPred is "i1", kC64 "complex<f32>".
std::string_view type_word(ElementType type);

/// Whether `word` is the name of a builtin type without parameters: i7, si4, bf16, index, none, …
bool is_type_word(std::string_view word);

/// Elements of a shape; nothing where a dimension is dynamic or there are more than 2^62.
std::optional<int64_t> count_elements(std::span<const int64_t> dims);

}  // namespace hlosim::mlir
