// Products of complex numbers. Their parts often cancel, and what is left is rounding. Small products round
// as the published values did: four sums of real products, each product and each sum rounded, put together at
// the end. Large ones are real products: (re im) of lhs are two elements of k, (re im) of the result two
// columns, and an element of rhs is the block
//    re im
//   -im re
// which those of few rows make in registers.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cpu_kernels/matmul_recipe.h"
#include "cpu_kernels/scratch.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kSmallComplexWork = 64 * 64 * 64;     // multiplications that are done one by one
constexpr int64_t kSkinnyComplexRows = 16;              // up to which rhs is streamed
constexpr int64_t kParallelComplexElements = 64 << 10;  // that one thread copies

/// Numbers, of which a stride of 1 passes over two parts.
template <class Real>
struct Numbers {
  Real* data;
  int64_t row_stride, column_stride;
  Real* at(int64_t row, int64_t column) const {
    return data + 2 * (row * row_stride + column * column_stride);
  }
};

template <class Real>
void copy(int64_t rows, int64_t columns, Numbers<const Real> from, Numbers<Real> to) {
  parallel_for(rows, std::max<int64_t>(1, kParallelComplexElements / std::max<int64_t>(columns, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   for (int64_t j = 0; j < columns; ++j)
                     std::memcpy(to.at(i, j), from.at(i, j), 2 * sizeof(Real));
               });
}

/// One product whose operands and result have neighbouring columns where that is asked for.
template <class Real>
class ComplexProduct {
 public:
  static constexpr bool kSingle = std::is_same_v<Real, float>;
  static constexpr auto kBytes = static_cast<int64_t>(sizeof(Real));

  ComplexProduct(const Matmul& product, const MatmulLevel& level)
      : m_(product.m),
        n_(product.n),
        k_(product.k),
        lhs_{static_cast<const Real*>(product.lhs.data), product.lhs.row_stride, product.lhs.column_stride},
        rhs_{static_cast<const Real*>(product.rhs.data), product.rhs.row_stride, product.rhs.column_stride},
        result_{static_cast<Real*>(product.result.data), product.result.row_stride,
                product.result.column_stride},
        level_(level),
        direct_(result_.column_stride == 1),
        own_result_(direct_ ? 0 : 2 * m_ * n_ * kBytes),
        sums_(direct_ ? result_ : Numbers<Real>{own_result_.as<Real>(), n_, 1}) {}

  void run() {
    if (m_ * n_ * k_ <= kSmallComplexWork)
      small();
    else if (m_ <= kSkinnyComplexRows && rhs_.column_stride == 1)
      stream();
    else
      large();
    if (!direct_) copy<Real>(m_, n_, {sums_.data, n_, 1}, result_);
  }

 private:
  MatmulDirect in_parts(Numbers<const Real> lhs, Numbers<const Real> rhs) const {
    return {.m = m_,
            .n = 2 * n_,
            .k = k_,
            .lhs = lhs.data,
            .lhs_row_stride = 2 * lhs.row_stride,
            .lhs_k_stride = 2 * lhs.column_stride,
            .rhs = rhs.data,
            .rhs_stride = 2 * rhs.row_stride,
            .result = sums_.data,
            .result_stride = 2 * sums_.row_stride};
  }

  void small() const {
    const bool as_is = rhs_.column_stride == 1;
    Scratch own(as_is ? 0 : 2 * k_ * n_ * kBytes);
    if (!as_is) copy<Real>(k_, n_, rhs_, {own.as<Real>(), n_, 1});
    const MatmulDirectFn kernel = kSingle ? level_.small->c64 : level_.small->c128;
    kernel(in_parts(lhs_, as_is ? rhs_ : Numbers<const Real>{own.as<Real>(), n_, 1}));
  }

  void stream() const {
    Scratch lhs(2 * m_ * k_ * kBytes);
    copy<Real>(m_, k_, lhs_, {lhs.as<Real>(), 1, m_});
    const int64_t block = kSingle ? k_ : matmul_block_steps(2 * k_) / 2;  // as real products have it
    stream_columns(in_parts({lhs.as<Real>(), 1, m_}, rhs_),
                   kSingle ? level_.skinny->stream_c64 : level_.skinny->stream_c128, block, kBytes, kBytes);
  }

  void large() const {
    const ElementType real = kSingle ? ElementType::kF32 : ElementType::kF64;
    const bool as_is = lhs_.column_stride == 1;
    Scratch own_lhs(as_is ? 0 : 2 * m_ * k_ * kBytes), blocks(4 * k_ * n_ * kBytes);
    if (!as_is) copy<Real>(m_, k_, lhs_, {own_lhs.as<Real>(), k_, 1});
    parallel_for(k_, std::max<int64_t>(1, kParallelComplexElements / n_), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        Real* upper = blocks.as<Real>() + p * 4 * n_;
        Real* lower = upper + 2 * n_;
        for (int64_t j = 0; j < n_; ++j) {
          const Real* from = rhs_.at(p, j);
          upper[2 * j] = lower[2 * j + 1] = from[0];
          upper[2 * j + 1] = from[1];
          lower[2 * j] = -from[1];
        }
      }
    });
    real_matmul({.m = m_,
                 .n = 2 * n_,
                 .k = 2 * k_,
                 .lhs = {as_is ? lhs_.data : own_lhs.as<Real>(), real, 2 * (as_is ? lhs_.row_stride : k_), 1},
                 .rhs = {blocks.as<Real>(), real, 2 * n_, 1},
                 .result = {sums_.data, real, 2 * sums_.row_stride, 1}},
                level_);
  }

  int64_t m_, n_, k_;
  Numbers<const Real> lhs_, rhs_;
  Numbers<Real> result_;
  const MatmulLevel& level_;
  bool direct_;
  Scratch own_result_;
  Numbers<Real> sums_;
};

}  // namespace

void complex_matmul(const Matmul& product, const MatmulLevel& level) {
  if (product.result.type == ElementType::kC64)
    ComplexProduct<float>(product, level).run();
  else
    ComplexProduct<double>(product, level).run();
}

}  // namespace hlosim
