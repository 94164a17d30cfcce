// Products that read their operands where they lie, or nearly so: small ones, and those of few rows or
// columns.
//
// They round as blocked ones do where that shows in 64 bits: sums of f64 are of blocks of k. Sums of f32 go
// front to back through all of k, or lane by lane where k is innermost.
#include <algorithm>

#include "base/rounding.h"
#include "cpu_kernels/matmul_recipe.h"
#include "cpu_kernels/scratch.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kSmallWork = 128 * 128 * 128;   // multiplications up to which sums of f32 are one
constexpr int64_t kMediumWork = 512 * 512 * 512;  // up to which lhs isn't packed
constexpr int64_t kPackingRows = 24;              // that are worth packing a rhs …
constexpr int64_t kLeastRows = 96;                // of a part, if a thread packs rhs for it
constexpr int64_t kCachedOperand = 24 << 10;      // … of more bytes than these, of the L1 cache, even so
constexpr int64_t kSkinnyRows = 16;               // up to which rhs is streamed
constexpr int64_t kSkinnyElements = 16 << 10;     // of rhs, from which it is
constexpr int64_t kParallelElements = 64 << 10;   // of rhs that one thread streams
constexpr int64_t kCachedSums = 128 << 10;        // bytes of the result that stay in the L2 cache

int64_t sum_bytes(const MatmulRecipe& recipe) {
  return recipe.kind == MatmulKind::kF64 || recipe.kind == MatmulKind::kU64 ? 8 : 4;
}

int64_t block_of(const Matmul& product, const MatmulRecipe& recipe) {
  return recipe.kind == MatmulKind::kF64 ? matmul_block_steps(product.k) : product.k;
}

/// Where sums go: the result itself if it can hold them, else memory that finish() converts.
class Sums {
 public:
  Sums(const Matmul& product, const MatmulRecipe& recipe)
      : product_(product),
        recipe_(recipe),
        direct_(recipe.sums_are_result && product.result.column_stride == 1),
        own_(direct_ ? 0 : product.m * product.n * sum_bytes(recipe)) {}

  std::byte* data() const {
    return direct_ ? static_cast<std::byte*>(product_.result.data) : own_.as<std::byte>();
  }
  int64_t stride() const { return direct_ ? product_.result.row_stride : product_.n; }
  void finish() const {
    if (direct_) return;
    recipe_.store({.sums = own_.as<std::byte>(),
                   .sums_stride = product_.n,
                   .rows = product_.m,
                   .columns = product_.n,
                   .result = product_.result.data,
                   .row_stride = product_.result.row_stride,
                   .column_stride = product_.result.column_stride});
  }

 private:
  const Matmul& product_;
  const MatmulRecipe& recipe_;
  bool direct_;
  Scratch own_;
};

/// lanes × k of an operand as [k][lane].
void pack_all(const void* data, const PackRecipe& recipe, int64_t lanes, int64_t lane_stride, int64_t k,
              int64_t k_stride, void* packed) {
  recipe.pack({.data = data,
               .lane_stride = lane_stride,
               .k_stride = k_stride,
               .lanes = lanes,
               .k = k,
               .width = lanes,
               .values = recipe.values},
              packed);
}

const std::byte* behind(const void* data, int64_t elements, int64_t bytes) {
  return static_cast<const std::byte*>(data) + elements * bytes;
}

// ── Small ───────────────────────────────────────────────────────

/// The columns of each tile are packed first: rows of rhs that lie apart share few places of the L1 cache.
/// Strides of `rhs` are those of the product.
void by_columns(const MatmulDirect& product, const MatmulOperand& rhs, const MatmulRecipe& recipe,
                int64_t block, int64_t width) {
  const int64_t bytes = sum_bytes(recipe), strips = ceil_div(product.n, width);
  const int64_t work = product.m * product.k * width;  // of a strip
  // Few strips are cut by rows, each of which packs for itself.
  const int64_t parts =
      thread_count() == 1 || work * strips <= kSmallWork
          ? 1
          : std::clamp<int64_t>(4 * thread_count() / strips, 1, ceil_div(product.m, kLeastRows));
  const int64_t rows = ceil_div(product.m, parts);
  parallel_for(
      strips * parts, std::max<int64_t>(1, kSmallWork * parts / work), [&](int64_t begin, int64_t end) {
        Scratch packed(std::min(block, product.k) * width * bytes);
        MatmulDirect part = product;
        for (int64_t i = begin; i < end; ++i) {
          const int64_t column = i / parts * width, row = i % parts * rows;
          part.m = std::min(rows, product.m - row);
          if (part.m <= 0) continue;
          part.n = part.rhs_stride = std::min(width, product.n - column);
          part.rhs = packed.as<std::byte>();
          part.result =
              static_cast<std::byte*>(product.result) + (row * product.result_stride + column) * bytes;
          for (int64_t k = 0; k < product.k; k += block) {
            part.k = std::min(block, product.k - k);
            part.lhs = behind(product.lhs, row * product.lhs_row_stride + k * product.lhs_k_stride, bytes);
            part.accumulate = k > 0;
            pack_all(behind(rhs.data, k * rhs.row_stride + column * rhs.column_stride, byte_width(rhs.type)),
                     recipe.rhs, part.n, rhs.column_stride, part.k, rhs.row_stride, packed.as<std::byte>());
            recipe.small(part);
          }
        }
      });
}

/// Sums of every `block` steps of k by themselves.
void small_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level,
                  int64_t block) {
  const int64_t bytes = sum_bytes(recipe);
  Scratch lhs(recipe.lhs.copies ? 0 : product.m * product.k * bytes);
  Sums sums(product, recipe);
  MatmulDirect direct{.m = product.m,
                      .n = product.n,
                      .k = product.k,
                      .lhs = product.lhs.data,
                      .lhs_row_stride = product.lhs.row_stride,
                      .lhs_k_stride = product.lhs.column_stride,
                      .rhs = product.rhs.data,
                      .rhs_stride = product.rhs.row_stride,
                      .result = sums.data(),
                      .result_stride = sums.stride()};
  if (!recipe.lhs.copies) {
    pack_all(product.lhs.data, recipe.lhs, product.m, product.lhs.row_stride, product.k,
             product.lhs.column_stride, lhs.as<std::byte>());
    direct.lhs = lhs.as<std::byte>();
    direct.lhs_row_stride = 1;
    direct.lhs_k_stride = product.m;
  }
  const bool as_is = recipe.rhs.copies && product.rhs.column_stride == 1 &&
                     product.m * product.n * product.k <= kSmallWork &&
                     (product.m < kPackingRows || product.k * product.n * bytes <= kCachedOperand);
  if (as_is && block >= product.k)
    recipe.small(direct);
  else
    by_columns(direct, product.rhs, recipe, block, std::max<int64_t>(level.small->column_bytes, 64) / bytes);
  sums.finish();
}

/// Few columns: rhs stays in the L1 cache, and every thread reads some rows of lhs.
void narrow_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level) {
  const int64_t grain = std::max<int64_t>(1, kParallelElements / product.k / 6) * 6;
  parallel_for(product.m, grain, [&](int64_t begin, int64_t end) {
    Matmul part = product;
    part.m = end - begin;
    part.lhs.data = behind(product.lhs.data, begin * product.lhs.row_stride, byte_width(product.lhs.type));
    part.result.data = static_cast<std::byte*>(product.result.data) +
                       begin * product.result.row_stride * byte_width(product.result.type);
    small_matmul(part, recipe, level, block_of(product, recipe));
  });
}

// ── Few rows ────────────────────────────────────────────────────

/// kernel() of every `block` steps by itself. Only sums of f64 come in several.
void run_in_blocks(const MatmulDirect& product, MatmulDirectFn kernel, int64_t block, int64_t lhs_bytes,
                   int64_t rhs_bytes) {
  if (block >= product.k) return kernel(product);
  Scratch own(product.m * product.n * 8);
  for (int64_t k = 0; k < product.k; k += block) {
    MatmulDirect part = product;
    part.k = std::min(block, product.k - k);
    part.lhs = behind(product.lhs, k * product.lhs_k_stride, lhs_bytes);
    part.rhs = behind(product.rhs, k * product.rhs_stride, rhs_bytes);
    if (k > 0) part.result = own.as<double>(), part.result_stride = product.n;
    kernel(part);
    if (k == 0) continue;
    for (int64_t i = 0; i < product.m; ++i)
      for (int64_t j = 0; j < product.n; ++j)
        static_cast<double*>(product.result)[i * product.result_stride + j] +=
            own.as<double>()[i * product.n + j];
  }
}

/// rhs with neighbouring columns.
void stream_matmul(const Matmul& product, const MatmulRecipe& recipe) {
  const int64_t bytes = sum_bytes(recipe);
  Scratch lhs(product.m * product.k * bytes);
  pack_all(product.lhs.data, recipe.lhs, product.m, product.lhs.row_stride, product.k,
           product.lhs.column_stride, lhs.as<std::byte>());
  Sums sums(product, recipe);
  stream_columns({.m = product.m,
                  .n = product.n,
                  .k = product.k,
                  .lhs = lhs.as<std::byte>(),
                  .lhs_row_stride = 1,
                  .lhs_k_stride = product.m,
                  .rhs = product.rhs.data,
                  .rhs_stride = product.rhs.row_stride,
                  .result = sums.data(),
                  .result_stride = sums.stride()},
                 recipe.stream, block_of(product, recipe), byte_width(product.rhs.type), bytes);
  sums.finish();
}

/// rhs with neighbouring k: scalar products.
void dots_matmul(const Matmul& product, const MatmulRecipe& recipe) {
  const bool lhs_as_is = recipe.lhs.copies && product.lhs.column_stride == 1;
  Scratch own_lhs(lhs_as_is ? 0 : product.m * product.k * 4);
  if (!lhs_as_is)
    pack_all(product.lhs.data, recipe.lhs, product.k, product.lhs.column_stride, product.m,
             product.lhs.row_stride, own_lhs.as<float>());
  Sums sums(product, recipe);
  const int64_t grain = std::max<int64_t>(1, kParallelElements / product.k / 4) * 4;
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    recipe.dots(
        {.m = product.m,
         .n = end - begin,
         .k = product.k,
         .lhs = lhs_as_is ? product.lhs.data : own_lhs.as<float>(),
         .lhs_row_stride = lhs_as_is ? product.lhs.row_stride : product.k,
         .lhs_k_stride = 1,
         .rhs = behind(product.rhs.data, begin * product.rhs.column_stride, byte_width(product.rhs.type)),
         .rhs_stride = product.rhs.column_stride,
         .result = sums.data() + begin * 4,
         .result_stride = sums.stride()});
  });
  sums.finish();
}

/// result^T = rhs^T · lhs^T.
Matmul transposed(const Matmul& product) {
  Matmul other = product;
  std::swap(other.m, other.n);
  std::swap(other.lhs, other.rhs);
  std::swap(other.lhs.row_stride, other.lhs.column_stride);
  std::swap(other.rhs.row_stride, other.rhs.column_stride);
  std::swap(other.result.row_stride, other.result.column_stride);
  return other;
}

}  // namespace

void stream_columns(const MatmulDirect& product, MatmulDirectFn kernel, int64_t block, int64_t rhs_bytes,
                    int64_t bytes) {
  const int64_t cached = std::max<int64_t>(1024 / bytes, kCachedSums / (bytes * product.m) / 32 * 32);
  const int64_t worth = kParallelElements / product.k;
  const int64_t share = ceil_div(product.n, int64_t{thread_count()});
  const int64_t grain = ceil_div(std::max(share, std::min(worth, product.n)), 16) * 16;
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; column += cached) {
      MatmulDirect part = product;
      part.n = std::min(cached, end - column);
      part.rhs = behind(product.rhs, column, rhs_bytes);
      part.result = static_cast<std::byte*>(product.result) + column * bytes;
      run_in_blocks(part, kernel, block, bytes, rhs_bytes);
    }
  });
}

bool direct_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level) {
  if (recipe.small == nullptr) return false;
  const MatmulOperand& rhs = product.rhs;
  if (product.n < product.m && product.n <= kSkinnyRows && product.m > kSkinnyRows) {
    if (recipe.kind == MatmulKind::kF32 || product.lhs.row_stride == 1) {
      real_matmul(transposed(product), level);
      return true;
    }
    if (product.lhs.column_stride == 1) {
      narrow_matmul(product, recipe, level);
      return true;
    }
  }
  if (product.m <= kSkinnyRows && product.n * product.k >= kSkinnyElements) {
    if (rhs.column_stride == 1 && recipe.stream != nullptr) {
      stream_matmul(product, recipe);
      return true;
    }
    if (rhs.row_stride == 1 && recipe.dots != nullptr) {
      dots_matmul(product, recipe);
      return true;
    }
  }
  const int64_t work = product.m * product.n * product.k;
  if (work > kMediumWork) return false;
  if (work > kSmallWork && !(recipe.lhs.copies && product.lhs.column_stride == 1)) return false;
  // Medium ones have the bits of packed products.
  const int64_t block = work > kSmallWork ? matmul_block_steps(product.k) : block_of(product, recipe);
  small_matmul(product, recipe, level, block);
  return true;
}

}  // namespace hlosim
