// LeafArrays for constants whose text leaves them out: `constant({...})`.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "array/array.h"
#include "hlo/module.h"

namespace hlosim {

/// Constants of `module` that are elided.
int64_t elided_constants(const Module& module);

/// What gives such constants their values:
///   zeros   all elements zero
///   random  random_array() with `seed`; the constant's name decides the stream, so that another version of
///   the
///           module gets the same values
///   xla     what XLA's reader puts there: 32-bit words that count up from 0 through all elided constants in
///   the
///           order of the text, cut to what the type has. Of floats of 32 bits that is next to zero.
/// Null for any other word. `module` outlives the result.
std::function<Array(const Instruction&, MemoryPool&)> elided_values(std::string_view word,
                                                                    const Module& module, uint64_t seed);

}  // namespace hlosim
