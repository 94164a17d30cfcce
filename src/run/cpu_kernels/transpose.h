// Rectangles of elements that are written row by row and read column by column.
//
//   const TransposeKernels& kernels = HLOSIM_PICK_KERNELS(level, kTranspose);
//   kernels.transpose[2](in, 12, out, 8, 3, 2, false);                     // f32[2,3] to f32[3,2]
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.h"

namespace hlosim {

/// destination row r, column c ← source row c, column r, for `rows` and `columns` of the destination.
/// Elements of a row are neighbours; strides between rows in bytes. `stream`: past the caches, where
/// alignment allows.
using TransposeFn = void (*)(const std::byte* source, int64_t source_stride, std::byte* destination,
                             int64_t destination_stride, int64_t rows, int64_t columns, bool stream);

/// destination[i] ← source[-i].
using ReverseFn = void (*)(const std::byte* source, std::byte* destination, int64_t count);

struct TransposeKernels {
  TransposeFn transpose[5];  // by log2 of the width in bytes
  ReverseFn reverse[5];
};
HLOSIM_KERNEL_TABLE(TransposeKernels, kTranspose)

}  // namespace hlosim
