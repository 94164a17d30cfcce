// Element values as bits: the number formats of all element types.
#pragma once

#include <cstdint>
#include <string>

#include "layout/element_type.h"

namespace hlosim {

/// Bits of `value` rounded to nearest even in `type`, a float type of at most 64 bits. NaN and infinity
/// become the type's own. Where there is no infinity it becomes NaN. Where there is no NaN either, infinity
/// becomes the largest value, NaN a zero of the opposite sign. Where there is no zero it becomes NaN.
/// `overflow` is set when a finite value but zero has no finite image.
uint64_t encode_float(ElementType type, double value, bool& overflow);

/// The value of `bits` in `type`, a float type.
double decode_float(ElementType type, uint64_t bits);

/// Bits of `value` in `type`, real numbers of any kind, in as many low bytes as an element has. Integers lose
/// the fraction and what they can't hold becomes the nearest that they can; pred is whether it isn't 0.
uint64_t encode_number(ElementType type, double value);

/// Stored mantissa bits, i.e. room for a NaN payload; 0 for types with a single NaN or none.
int nan_payload_bits(ElementType type);

/// Bits of a NaN with the given sign and payload (0: the type's usual quiet NaN). Requires: the
/// payload fits nan_payload_bits().
uint64_t nan_bits(ElementType type, bool negative, uint64_t payload);

/// Appends the shortest decimal text that reads back to the same bits: `0.001`, `-0.0`, `inf`, `nan`.
void append_float(std::string& out, ElementType type, uint64_t bits);

}  // namespace hlosim
