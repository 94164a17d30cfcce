#include "cpu_kernels/matmul.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "cpu_kernels/matmul_recipe.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kParallelWork = 1 << 20;  // multiplications

void clear(const Matmul& product) {
  const int64_t bytes = byte_width(product.result.type);
  auto* data = static_cast<std::byte*>(product.result.data);
  for (int64_t row = 0; row < product.m; ++row)
    for (int64_t column = 0; column < product.n; ++column)
      std::memset(data + (row * product.result.row_stride + column * product.result.column_stride) * bytes, 0,
                  static_cast<size_t>(bytes));
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

void one_matmul(const Matmul& product, const MatmulLevel& level) {
  is_complex(product.result.type) ? complex_matmul(product, level) : real_matmul(product, level);
}

}  // namespace

void real_matmul(const Matmul& product, const MatmulLevel& level) {
  if (product.k == 0) return clear(product);
  const auto recipe = matmul_recipe(product.lhs.type, product.rhs.type, product.result.type, level);
  HLOSIM_CHECK(recipe.has_value(), "no product {} · {} → {}", to_text(product.lhs.type),
               to_text(product.rhs.type), to_text(product.result.type));
  if (!direct_matmul(product, *recipe, level)) blocked_matmul(product, *recipe, level);
}

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
