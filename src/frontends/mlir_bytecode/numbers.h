// Numbers as bytecode and dense attributes store them.
//
//   element_bytes(*i4)           // 1: as numpy would store it
//   integer_at(bytes, *ui8)      // 255 where the byte is 0xff; -1 for i8
//   number_of(0x3f80, "bf16")    // 1.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mlir/ir.h"
#include "mlir_bytecode/attribute_table.h"

namespace hlosim::mlir {

inline constexpr uint64_t kWidestInteger = 4096;  // bits; what tells lengths from nonsense

/// Bits of the word of a number's type; none where it is no number's: "none", "!quant.…".
std::optional<uint32_t> width_of(std::string_view word);
bool is_float_word(std::string_view word);

/// Bytes of one element; 0: it has no width.
size_t element_bytes(const Type& element);
/// Sign-extended but for ui…; i1 is 0 or 1. Requires: element_bytes(element) bytes there, an integer type.
int64_t integer_at(const char* bytes, const Type& element);
/// The value of the bits of a float type.
double number_of(uint64_t bits, std::string_view word);

/// What a tensor of the type holds; a fault where the bytes don't fit it.
Elements elements_of(AttributeTable& table, const Type& tensor, std::string_view bytes, ByteReader& in);

}  // namespace hlosim::mlir
