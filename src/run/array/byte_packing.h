// Between the elements of a file (dense, of runtime sizes, either byte order) and those of an Array.
#pragma once

#include <vector>

#include "array/array.h"
#include "base/source.h"

namespace hlosim {

/// Turns around the bytes of `count` elements; both halves of complex ones.
void swap_bytes(std::byte* data, int64_t count, ElementType type);

/// Makes bytes from outside what an Array holds: pred 0 or 1, sub-byte integers extended, f4 and f6 with
/// zeros above. Error: a value that the type doesn't have, with its place.
Result<void> normalise(std::byte* data, int64_t count, ElementType type);

/// Copies dense elements of the array's runtime sizes into it, the first index running fastest if
/// `fortran_order`.
void unpack(const std::byte* dense, bool fortran_order, Array& array);

/// The elements within the runtime sizes, dense and row-major.
std::vector<std::byte> pack(const Array& array);

/// The runtime sizes of all dimensions.
std::vector<int64_t> runtime_sizes(const Array& array);

}  // namespace hlosim
