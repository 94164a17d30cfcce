#include "kernels/matmul.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "kernels/matmul_recipe.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"

namespace hlosim {
namespace {

constexpr int64_t kSmallWork = 128 * 128 * 128;  // multiplications up to which nothing is packed
constexpr int64_t kPackingRows = 24;             // that are worth packing a rhs …
constexpr int64_t kCachedOperand = 24 << 10;     // … of more bytes than these, of the L1 cache, even so
constexpr int64_t kSkinnyRows = 16;              // up to which rhs is streamed
constexpr int64_t kSkinnyElements = 16 << 10;    // of rhs, from which it is
constexpr int64_t kParallelElements = 64 << 10;  // of rhs that one thread streams
constexpr int64_t kCachedSums = 128 << 10;       // bytes of the result that stay in the L2 cache
constexpr int64_t kParallelWork = 1 << 20;       // multiplications

bool is_streamed(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kBF16 || type == ElementType::kF16;
}

void clear(const Matmul& product) {
  const int64_t bytes = byte_width(product.result.type);
  auto* data = static_cast<std::byte*>(product.result.data);
  for (int64_t row = 0; row < product.m; ++row)
    for (int64_t column = 0; column < product.n; ++column)
      std::memset(data + (row * product.result.row_stride + column * product.result.column_stride) * bytes, 0,
                  static_cast<size_t>(bytes));
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

/// Where f32 sums go: the result itself if it can hold them, else memory that finish() converts.
class FloatSums {
 public:
  FloatSums(const Matmul& product, const MatmulRecipe& recipe)
      : product_(product),
        recipe_(recipe),
        direct_(recipe.sums_are_result && product.result.column_stride == 1),
        own_(direct_ ? 0 : product.m * product.n * 4) {}

  float* data() const { return direct_ ? static_cast<float*>(product_.result.data) : own_.as<float>(); }
  int64_t stride() const { return direct_ ? product_.result.row_stride : product_.n; }
  void finish() const {
    if (direct_) return;
    recipe_.store({.sums = own_.as<float>(),
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

/// lanes × k of an operand as f32 [k][lane].
void pack_all(const MatmulOperand& operand, const PackRecipe& recipe, int64_t lanes, int64_t lane_stride,
              int64_t k, int64_t k_stride, float* packed) {
  recipe.pack({.data = operand.data,
               .lane_stride = lane_stride,
               .k_stride = k_stride,
               .lanes = lanes,
               .k = k,
               .width = lanes,
               .values = recipe.values},
              packed);
}

/// The columns of each tile are packed first: rows of rhs that lie apart share few places of the L1 cache.
void small_by_columns(const MatmulDirect& product, const MatmulRecipe& recipe,
                      const MatmulDirectKernels& kernels) {
  const int64_t width = std::max<int64_t>(kernels.small_columns, 16);
  Scratch packed(product.k * width * 4);
  for (int64_t column = 0; column < product.n; column += width) {
    MatmulDirect part = product;
    part.n = std::min(width, product.n - column);
    pack_all({static_cast<const float*>(product.rhs) + column, ElementType::kF32, product.rhs_stride, 1},
             recipe.rhs, part.n, 1, product.k, product.rhs_stride, packed.as<float>());
    part.rhs = packed.as<float>();
    part.rhs_stride = part.n;
    part.result = product.result + column;
    kernels.small(part);
  }
}

void small_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level) {
  const bool lhs_as_is = product.lhs.type == ElementType::kF32;
  const bool rhs_as_is = product.rhs.type == ElementType::kF32 && product.rhs.column_stride == 1;
  Scratch lhs(lhs_as_is ? 0 : product.m * product.k * 4), rhs(rhs_as_is ? 0 : product.k * product.n * 4);
  FloatSums sums(product, recipe);
  MatmulDirect direct{.m = product.m,
                      .n = product.n,
                      .k = product.k,
                      .lhs = static_cast<const float*>(product.lhs.data),
                      .lhs_row_stride = product.lhs.row_stride,
                      .lhs_k_stride = product.lhs.column_stride,
                      .rhs = product.rhs.data,
                      .rhs_stride = product.rhs.row_stride,
                      .result = sums.data(),
                      .result_stride = sums.stride()};
  if (!lhs_as_is) {
    pack_all(product.lhs, recipe.lhs, product.m, product.lhs.row_stride, product.k, product.lhs.column_stride,
             lhs.as<float>());
    direct.lhs = lhs.as<float>();
    direct.lhs_row_stride = 1;
    direct.lhs_k_stride = product.m;
  }
  if (!rhs_as_is) {
    pack_all(product.rhs, recipe.rhs, product.n, product.rhs.column_stride, product.k, product.rhs.row_stride,
             rhs.as<float>());
    direct.rhs = rhs.as<float>();
    direct.rhs_stride = product.n;
  }
  if (rhs_as_is && product.m >= kPackingRows && product.k * product.n * 4 > kCachedOperand)
    small_by_columns(direct, recipe, *level.direct);
  else
    level.direct->small(direct);
  sums.finish();
}

using DirectKernel = void (*)(const MatmulDirect&);

/// Few rows, rhs with neighbouring columns: every thread streams some of them.
void stream_matmul(const Matmul& product, const MatmulRecipe& recipe, DirectKernel kernel) {
  Scratch lhs(product.m * product.k * 4);
  pack_all(product.lhs, recipe.lhs, product.m, product.lhs.row_stride, product.k, product.lhs.column_stride,
           lhs.as<float>());
  FloatSums sums(product, recipe);
  const int64_t cached = std::max<int64_t>(256, kCachedSums / (4 * product.m) / 32 * 32);
  const int64_t worth = kParallelElements / product.k;
  const int64_t share = (product.n + thread_count() - 1) / thread_count();
  const int64_t grain = (std::max(share, std::min(worth, product.n)) + 15) / 16 * 16;
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; column += cached) {
      kernel({.m = product.m,
              .n = std::min(cached, end - column),
              .k = product.k,
              .lhs = lhs.as<float>(),
              .rhs = static_cast<const std::byte*>(product.rhs.data) + column * byte_width(product.rhs.type),
              .rhs_stride = product.rhs.row_stride,
              .result = sums.data() + column,
              .result_stride = sums.stride()});
    }
  });
  sums.finish();
}

/// Few rows, rhs with neighbouring k: scalar products.
void dots_matmul(const Matmul& product, const MatmulRecipe& recipe, DirectKernel kernel) {
  const bool lhs_as_is = product.lhs.type == ElementType::kF32 && product.lhs.column_stride == 1;
  Scratch own_lhs(lhs_as_is ? 0 : product.m * product.k * 4);
  if (!lhs_as_is)
    pack_all(product.lhs, recipe.lhs, product.k, product.lhs.column_stride, product.m, product.lhs.row_stride,
             own_lhs.as<float>());
  FloatSums sums(product, recipe);
  const int64_t grain = std::max<int64_t>(1, kParallelElements / product.k / 4) * 4;
  parallel_for(product.n, grain, [&](int64_t begin, int64_t end) {
    kernel({.m = product.m,
            .n = end - begin,
            .k = product.k,
            .lhs = lhs_as_is ? static_cast<const float*>(product.lhs.data) : own_lhs.as<float>(),
            .lhs_row_stride = lhs_as_is ? product.lhs.row_stride : product.k,
            .lhs_k_stride = 1,
            .rhs = static_cast<const std::byte*>(product.rhs.data) +
                   begin * product.rhs.column_stride * byte_width(product.rhs.type),
            .rhs_stride = product.rhs.column_stride,
            .result = sums.data() + begin,
            .result_stride = sums.stride()});
  });
  sums.finish();
}

/// Of the kernels for f32, bf16 and f16.
DirectKernel of_type(ElementType type, DirectKernel f32, DirectKernel bf16, DirectKernel f16) {
  return type == ElementType::kF32 ? f32 : type == ElementType::kBF16 ? bf16 : f16;
}

void float_matmul(const Matmul& product, const MatmulRecipe& recipe, const MatmulLevel& level) {
  if (product.n < product.m && product.n <= kSkinnyRows && product.m > kSkinnyRows) {
    const Matmul other = transposed(product);
    MatmulRecipe swapped = recipe;
    std::swap(swapped.lhs, swapped.rhs);
    return float_matmul(other, swapped, level);
  }
  const MatmulDirectKernels& direct = *level.direct;
  const MatmulOperand& rhs = product.rhs;
  if (product.m <= kSkinnyRows && product.n * product.k >= kSkinnyElements && is_streamed(rhs.type)) {
    if (rhs.column_stride == 1)
      return stream_matmul(product, recipe,
                           of_type(rhs.type, direct.stream_f32, direct.stream_bf16, direct.stream_f16));
    if (rhs.row_stride == 1)
      return dots_matmul(product, recipe,
                         of_type(rhs.type, direct.dots_f32, direct.dots_bf16, direct.dots_f16));
  }
  if (product.m * product.n * product.k <= kSmallWork) return small_matmul(product, recipe, level);
  blocked_matmul(product, recipe, level);
}

void real_matmul(const Matmul& product, const MatmulLevel& level) {
  if (product.k == 0) return clear(product);
  const auto recipe = matmul_recipe(product.lhs.type, product.rhs.type, product.result.type, level);
  HLOSIM_CHECK(recipe.has_value(), "no product {} · {} → {}", to_text(product.lhs.type),
               to_text(product.rhs.type), to_text(product.result.type));
  if (recipe->kind == MatmulKind::kF32) return float_matmul(product, *recipe, level);
  blocked_matmul(product, *recipe, level);
}

// ── Complex ─────────────────────────────────────────────────────
// Parts of complex products often cancel, and what is left is rounding. Small products round as the
// published values did: four sums of real products, each product and each sum rounded, put together at the
// end. Large ones are real products: (re im) of lhs are two elements of k, (re im) of the result two columns,
// and an element of rhs is the block
//    re im
//   -im re

constexpr int64_t kSmallComplexWork = 64 * 64 * 64;  // multiplications that are done one by one

/// One row of the result. `sums` holds 4 × n: re·re, im·im, re·im, im·re.
template <class Real>
void small_complex_row(const Matmul& product, int64_t row, Real* sums) {
  const int64_t n = product.n;
  Real *rr = sums, *ii = sums + n, *ri = sums + 2 * n, *ir = sums + 3 * n;
  std::fill_n(sums, 4 * n, Real(0));
  for (int64_t p = 0; p < product.k; ++p) {
    const Real* a = static_cast<const Real*>(product.lhs.data) +
                    (row * product.lhs.row_stride + p * product.lhs.column_stride) * 2;
    const Real* b = static_cast<const Real*>(product.rhs.data) + p * product.rhs.row_stride * 2;
    for (int64_t j = 0; j < n; ++j, b += product.rhs.column_stride * 2) {
      rr[j] += a[0] * b[0];
      ii[j] += a[1] * b[1];
      ri[j] += a[0] * b[1];
      ir[j] += a[1] * b[0];
    }
  }
  Real* to = static_cast<Real*>(product.result.data) + row * product.result.row_stride * 2;
  for (int64_t j = 0; j < n; ++j, to += product.result.column_stride * 2) {
    to[0] = rr[j] - ii[j];
    to[1] = ri[j] + ir[j];
  }
}

template <class Real>
void complex_matmul(const Matmul& product, ElementType real, const MatmulLevel& level) {
  const int64_t m = product.m, n = product.n, k = product.k;
  if (m * n * k <= kSmallComplexWork) {
    Scratch sums(4 * n * static_cast<int64_t>(sizeof(Real)));
    for (int64_t row = 0; row < m; ++row) small_complex_row(product, row, sums.as<Real>());
    return;
  }
  const auto* lhs = static_cast<const Real*>(product.lhs.data);
  const auto* rhs = static_cast<const Real*>(product.rhs.data);
  auto* result = static_cast<Real*>(product.result.data);
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Real));
  const bool lhs_as_is = product.lhs.column_stride == 1, direct = product.result.column_stride == 1;
  Scratch own_lhs(lhs_as_is ? 0 : m * k * 2 * kBytes), blocks(k * n * 4 * kBytes);
  Scratch own_result(direct ? 0 : m * n * 2 * kBytes);
  Matmul cut{.m = m,
             .n = 2 * n,
             .k = 2 * k,
             .lhs = {lhs, real, 2 * product.lhs.row_stride, 1},
             .rhs = {blocks.as<Real>(), real, 2 * n, 1},
             .result = {result, real, 2 * product.result.row_stride, 1}};
  if (!lhs_as_is) {
    parallel_for(m, std::max<int64_t>(1, kParallelElements / std::max<int64_t>(k, 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i)
                     for (int64_t p = 0; p < k; ++p)
                       std::memcpy(own_lhs.as<Real>() + (i * k + p) * 2,
                                   lhs + (i * product.lhs.row_stride + p * product.lhs.column_stride) * 2,
                                   2 * sizeof(Real));
                 });
    cut.lhs = {own_lhs.as<Real>(), real, 2 * k, 1};
  }
  parallel_for(
      k, std::max<int64_t>(1, kParallelElements / std::max<int64_t>(n, 1)), [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          Real* upper = blocks.as<Real>() + p * 4 * n;
          Real* lower = upper + 2 * n;
          for (int64_t j = 0; j < n; ++j) {
            const Real* from = rhs + (p * product.rhs.row_stride + j * product.rhs.column_stride) * 2;
            upper[2 * j] = lower[2 * j + 1] = from[0];
            upper[2 * j + 1] = from[1];
            lower[2 * j] = -from[1];
          }
        }
      });
  if (!direct) cut.result = {own_result.as<Real>(), real, 2 * n, 1};
  real_matmul(cut, level);
  if (direct) return;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      std::memcpy(result + (i * product.result.row_stride + j * product.result.column_stride) * 2,
                  own_result.as<Real>() + (i * n + j) * 2, 2 * sizeof(Real));
}

void one_matmul(const Matmul& product, const MatmulLevel& level) {
  switch (product.result.type) {
    case ElementType::kC64:
      return complex_matmul<float>(product, ElementType::kF32, level);
    case ElementType::kC128:
      return complex_matmul<double>(product, ElementType::kF64, level);
    default:
      return real_matmul(product, level);
  }
}

/// The product at a batch index, counted over all batch dimensions, the last one fastest.
Matmul at_index(const Matmul& product, int64_t index) {
  int64_t lhs = 0, rhs = 0, result = 0;
  for (size_t i = product.batch.size(); i-- > 0;) {
    const MatmulBatch& batch = product.batch[i];
    const int64_t here = index % batch.size;
    index /= batch.size;
    lhs += here * batch.lhs_stride;
    rhs += here * batch.rhs_stride;
    result += here * batch.result_stride;
  }
  Matmul one = product;
  one.batch = {};
  one.lhs.data = static_cast<const std::byte*>(one.lhs.data) + lhs * byte_width(one.lhs.type);
  one.rhs.data = static_cast<const std::byte*>(one.rhs.data) + rhs * byte_width(one.rhs.type);
  one.result.data = static_cast<std::byte*>(one.result.data) + result * byte_width(one.result.type);
  return one;
}

}  // namespace

void matmul(const Matmul& product, const MatmulLevel& level) {
  int64_t count = 1;
  for (const MatmulBatch& batch : product.batch) count *= batch.size;
  if (product.m == 0 || product.n == 0 || count == 0) return;
  if (product.batch.empty()) return one_matmul(product, level);
  const int64_t work = product.m * product.n * std::max<int64_t>(product.k, 1);
  parallel_for(count, std::max<int64_t>(1, kParallelWork / work), [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) one_matmul(at_index(product, index), level);
  });
}

void matmul(const Matmul& product) { matmul(product, matmul_level()); }

}  // namespace hlosim
