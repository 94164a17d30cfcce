// The header of a .npy file: a Python dictionary that says type, order and shape.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"

namespace hlosim {

/// A `descr`, taken apart: '<f4' is little-endian, kind 'f', 4 bytes.
struct NpyType {
  std::string text;   // as the file has it
  char kind = 0;      // b i u f c V as NumPy means them; 0: `named` has the type
  int64_t bytes = 0;  // of one element
  bool big_endian = false;
  ElementType named = ElementType::kInvalid;  // 'bfloat16', 'float8_e4m3fn', …, as ml_dtypes names them
};

struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

/// Length of magic, version and header length: what has to be read first.
inline constexpr size_t kNpyPrefixBytes = 12;

struct NpyPrefix {
  size_t header_start = 0;  // offset of the dictionary: 10 or 12
  size_t header_bytes = 0;
};

/// Reads the file's first bytes, up to kNpyPrefixBytes of them. Errors: no .npy file, an unknown version, a
/// header of more than 1 MiB.
Result<NpyPrefix> parse_npy_prefix(std::string_view bytes);

/// Reads the dictionary. Errors quote what isn't understood; sizes that exceed int64 are one.
Result<NpyHeader> parse_npy_header(std::string_view dictionary);

/// Whether a file's elements may stand for elements of `type`: NumPy's own type where there is one; else V,
/// unsigned integers or the ml_dtypes name, of byte_width(type).
bool npy_type_fits(const NpyType& npy, ElementType type);

/// The `descr` that arrays of `type` are written with: '<f4', '|b1'; '|V1' and '|V2' for what NumPy lacks.
std::string npy_descr(ElementType type);

/// What NumPy calls the type: float32, bool; for what it lacks, the ml_dtypes name: bfloat16.
std::string_view npy_name(ElementType type);

/// Everything that stands before the data of a file: format 1.0, or 2.0 where the shape needs it, 64-byte
/// aligned.
std::string npy_preamble(ElementType type, std::span<const int64_t> shape);

}  // namespace hlosim
