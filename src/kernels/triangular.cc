#include "kernels/triangular.h"

#include <Eigen/Dense>

#include <complex>
#include <limits>

#include "base/check.h"

namespace hlosim {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class F>
void with_scalar(ElementType type, F&& f) {
  switch (type) {
    case ElementType::kF32:
      return f(float());
    case ElementType::kF64:
      return f(double());
    case ElementType::kC64:
      return f(std::complex<float>());
    case ElementType::kC128:
      return f(std::complex<double>());
    default:
      HLOSIM_CHECK(false, "matrices of {}", to_text(type));
  }
}

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

template <int kMode, class A, class B>
void solve_side(const A& a, bool left_side, B& b) {
  if (left_side)
    a.template triangularView<kMode>().solveInPlace(b);
  else
    a.template triangularView<kMode>().template solveInPlace<Eigen::OnTheRight>(b);
}

/// `lower`: of op(a), where transposing has swapped the triangles.
template <class A, class B>
void solve_triangle(const A& a, const TriangularSystem& system, bool lower, B& b) {
  if (system.unit_diagonal)
    lower ? solve_side<Eigen::UnitLower>(a, system.left_side, b)
          : solve_side<Eigen::UnitUpper>(a, system.left_side, b);
  else
    lower ? solve_side<Eigen::Lower>(a, system.left_side, b)
          : solve_side<Eigen::Upper>(a, system.left_side, b);
}

}  // namespace

void cholesky(ElementType type, int64_t n, bool lower, const void* in, void* out) {
  if (n == 0) return;
  with_scalar(type, [&](auto scalar) {
    using T = decltype(scalar);
    const Eigen::Map<const Matrix<T>> a(static_cast<const T*>(in), n, n);
    const Eigen::Map<Matrix<T>> factor(static_cast<T*>(out), n, n);
    lower ? factorize<Eigen::Lower, T>(a, factor) : factorize<Eigen::Upper, T>(a, factor);
  });
}

void solve(const TriangularSystem& system, const void* a, void* b) {
  if (system.n == 0 || system.m == 0) return;
  with_scalar(system.type, [&](auto scalar) {
    using T = decltype(scalar);
    const Eigen::Map<const Matrix<T>> matrix(static_cast<const T*>(a), system.n, system.n);
    Eigen::Map<Matrix<T>> right(static_cast<T*>(b), system.left_side ? system.n : system.m,
                                system.left_side ? system.m : system.n);
    switch (system.transpose) {
      case TriangularSystem::Transpose::kNone:
        return solve_triangle(matrix, system, system.lower, right);
      case TriangularSystem::Transpose::kTranspose:
        return solve_triangle(matrix.transpose(), system, !system.lower, right);
      case TriangularSystem::Transpose::kAdjoint:
        return solve_triangle(matrix.adjoint(), system, !system.lower, right);
    }
  });
}

}  // namespace hlosim
