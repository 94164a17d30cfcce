// Arrays of the golden cases: NumPy's .npy files.
#pragma once

#include <filesystem>
#include <optional>

#include "oracle/value.h"

namespace hlosim::test {

/// The array in `path` as a value of `shape`, whose element width and number of elements it must have.
/// nullopt: missing or different.
std::optional<ValuePtr> read_npy(const std::filesystem::path& path, ShapeRef shape);

}  // namespace hlosim::test
