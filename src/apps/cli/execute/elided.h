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

/// The values of such constants, by a word:
///   zeros   all elements zero
///   random  random_array() with `seed` and a stream by the constant's name: another version of the module
///           gets the same values
///   xla     the values of XLA's reader: 32-bit words that count up from 0 through all elided constants in
///           the order of the text, cut to the width of the type. As floats of 32 bits they are almost zero.
/// Null for any other word. `module` outlives the result.
std::function<Array(const Instruction&, MemoryPool&)> elided_values(std::string_view word,
                                                                    const Module& module, uint64_t seed);

}  // namespace hlosim
