// Random valid modules, as text, so that the reader is exercised and a failing one can be pasted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "oracle/value.h"

namespace hlosim::test {

/// The module of a seed: 3 to 25 random operations on random arrays, those of its fusions and called
/// computations not counted. `decorated`: with random layouts, tiles and memory spaces, which mean nothing
/// for the values; without, the same module has none but those its bitcasts depend on. `leaf`: only what that
/// element of the result needs, and the parameters.
std::string random_module(uint64_t seed, bool decorated = true, std::optional<size_t> leaf = std::nullopt);

/// Values for the parameters of its entry: moderate numbers, some arrays with infinities, NaNs and the like.
std::vector<ValuePtr> random_inputs(const Module& module, uint64_t seed);

}  // namespace hlosim::test
