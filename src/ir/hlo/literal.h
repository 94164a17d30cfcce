// Values of `constant(...)`.
//
//   const Literal& table = *module[id].literal;     // f32[2] constant({1, 2})
//   table.at<float>(1)                              // 2
//   to_text(table)                                  // "{1, 2}"
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/arena.h"
#include "layout/shape.h"

namespace hlosim {

/// A constant value. Array data is dense, row-major by logical index whatever the layout says,
/// little-endian, one element per byte_width() bytes: sub-byte types take a byte each (sign- or
/// zero-extended), pred is 0 or 1, complex is (real, imaginary). Elements behind the end of the data
/// are zero: a bare value written for a whole array sets element 0 only.
struct Literal {
  ShapeRef shape = nullptr;
  std::span<const std::byte> data;           // arrays; empty when elided
  bool elided = false;                       // `{...}`: the text does not hold the values
  std::span<const Literal* const> elements;  // tuples

  template <class T>
  T at(int64_t index) const {
    T value{};
    const size_t offset = static_cast<size_t>(index) * sizeof(T);
    if (offset + sizeof(T) <= data.size()) std::memcpy(&value, data.data() + offset, sizeof(T));
    return value;
  }
};

/// Value of a scalar or element of an integer or pred array as int64 (u64 wraps). Requires: not elided.
int64_t integer_at(const Literal& literal, int64_t index);

/// HLO text of the value without its shape: `42`, `{1, 2}`, `{ { 1, 2 }, { 3, 4 } }`, `( 1, {2} )`,
/// `{...}`. Shortest decimals that read back to the same bits.
std::string to_text(const Literal& literal);
void append_text(std::string& out, const Literal& literal);

}  // namespace hlosim
