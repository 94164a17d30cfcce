// Sums, products, extrema and the like over dimensions of an array.
//
// The order in which elements are combined depends on the shape alone, never on the number of threads or the
// processor. Sums and products of f32 and smaller floats are kept in f64 and rounded once.
//
//   const FoldKernel sum = fold_kernel(FoldOp::kAdd, ElementType::kF32);
//   const int64_t sizes[] = {2, 3}, strides[] = {3, 1};
//   const uint8_t reduced[] = {0, 1};
//   fold(sum, sizes, strides, reduced, in, zero, out);         // out[i] = in[i][0] + in[i][1] + in[i][2]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "layout/element_type.h"

namespace hlosim {

enum class FoldOp : uint8_t { kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, kXor };
inline constexpr int kFoldOpCount = 7;

/// Combines elements of one type into accumulators, which may be wider.
struct FoldKernel {
  int64_t width = 0;  // bytes of an element
  int64_t accumulator_width = 0;
  /// *accumulator op= the n elements of `in`.
  void (*row)(const void* in, int64_t n, void* accumulator) = nullptr;
  /// out[r] = init op the n elements from in + r · n on, for each of `count` rows: widened, folded by row()
  /// and finished.
  void (*rows)(const void* in, int64_t n, int64_t count, const void* init, void* out) = nullptr;
  /// accumulators[j] op= element j of each of `rows` rows, `stride` bytes apart.
  void (*columns)(const void* in, int64_t stride, int64_t rows, int64_t n, void* accumulators) = nullptr;
  /// accumulators[j] op= others[j].
  void (*combine)(const void* others, int64_t n, void* accumulators) = nullptr;
  /// Fills accumulators with what changes nothing.
  void (*clear)(void* accumulators, int64_t n) = nullptr;
  /// Elements as accumulators, and back.
  void (*widen)(const void* in, int64_t n, void* accumulators) = nullptr;
  void (*finish)(const void* accumulators, int64_t n, void* out) = nullptr;
  explicit operator bool() const { return row != nullptr; }
};

/// The kernel for this processor. Empty where `op` isn't defined for the type or no kernel is faster at it
/// than element by element: maximum and minimum of integers are by signedness, pred's operations are logical.
FoldKernel fold_kernel(FoldOp op, ElementType type);

/// Neighbours that are always folded by one call of row(). Where only they are reduced, an output is init,
/// widened, op row() of them, finished, as any caller of these does.
inline constexpr int64_t kUncutRow = 64 << 10;

/// out[kept…] = init op the elements at all reduced indices. `strides` count elements, `is_reduced` has an
/// entry per dimension; the result is dense in the order of the kept dimensions. On several threads when it
/// is worth it.
void fold(const FoldKernel& kernel, std::span<const int64_t> dimensions, std::span<const int64_t> strides,
          std::span<const uint8_t> is_reduced, const std::byte* in, const std::byte* init, std::byte* out);

/// Element types that the level's tables hold, in their order.
enum class FoldType : uint8_t { kF32, kF64, kBF16, kS8, kU8, kS16, kU16, kS32, kU32, kS64, kU64 };
inline constexpr int kFoldTypeCount = 11;

struct FoldKernels {
  FoldKernel kernels[kFoldTypeCount][kFoldOpCount];
};
HLOSIM_KERNEL_TABLE(FoldKernels, kFolds)

}  // namespace hlosim
