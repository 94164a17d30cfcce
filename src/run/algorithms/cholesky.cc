#include <Eigen/Cholesky>
#include <limits>

#include "algorithms/triangular.h"
#include "cpu_kernels/matrix_scalar.h"

namespace hlosim {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <int kTriangle, class T>
void factorize(Eigen::Map<const Matrix<T>> in, Eigen::Map<Matrix<T>> out) {
  out.setZero();
  out.template triangularView<kTriangle>() = in.template triangularView<kTriangle>();
  // Only the real part of the diagonal of a Hermitian matrix counts.
  if constexpr (Eigen::NumTraits<T>::IsComplex) out.diagonal().imag().setZero();
  Eigen::Ref<Matrix<T>> target(out);
  const Eigen::LLT<Eigen::Ref<Matrix<T>>, kTriangle> factor(target);
  using Real = typename Eigen::NumTraits<T>::Real;
  if (factor.info() != Eigen::Success) out.setConstant(std::numeric_limits<Real>::quiet_NaN());
}

}  // namespace

void cholesky(ElementType type, int64_t n, bool lower, const void* in, void* out) {
  if (n == 0) return;
  with_matrix_scalar(type, [&](auto scalar) {
    using T = decltype(scalar);
    const Eigen::Map<const Matrix<T>> a(static_cast<const T*>(in), n, n);
    const Eigen::Map<Matrix<T>> factor(static_cast<T*>(out), n, n);
    lower ? factorize<Eigen::Lower, T>(a, factor) : factorize<Eigen::Upper, T>(a, factor);
  });
}

}  // namespace hlosim
