#include "algorithms/triangular.h"

#include <Eigen/Core>

#include "cpu_kernels/matrix_scalar.h"

namespace hlosim {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

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

void solve(const TriangularSystem& system, const void* a, void* b) {
  if (system.n == 0 || system.m == 0) return;
  with_matrix_scalar(system.type, [&](auto scalar) {
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
