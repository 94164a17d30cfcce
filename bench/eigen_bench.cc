// Ours against Eigen, family by family, one thread, in turns: eigen_v3_bench and eigen_v4_bench are this file
// compiled for a level, which the processor has to have, and take our kernels of the same one.
//
//   eigen_v4_bench [filter]
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "algorithms/fft.h"
#include "algorithms/triangular.h"
#include "base/cpu.h"
#include "cpu_kernels/fold.h"
#include "cpu_kernels/matmul.h"
#include "interleaved.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using enum ElementType;

std::string filter;
bool wanted(const std::string& title) { return title.find(filter) != std::string::npos; }

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Small whole numbers: sums of their products are exact in every type, so results must be equal.
template <class T>
RowMajor<T> numbers(int64_t rows, int64_t columns) {
  RowMajor<T> matrix(rows, columns);
  for (int64_t i = 0; i < matrix.size(); ++i)
    matrix.data()[i] =
        static_cast<T>(static_cast<float>((static_cast<uint64_t>(i) * 2654435761u >> 16) % 5) - 2);
  return matrix;
}

void must(bool equal, const std::string& title) {
  if (equal) return;
  std::printf("%s: results differ\n", title.c_str());
  std::exit(1);
}

// ── Products ────────────────────────────────────────────────────

/// T · T → R. Eigen's is of R, converted before where they differ.
template <class T, class R>
void product(const char* name, ElementType type, ElementType result, int64_t m, int64_t n, int64_t k) {
  const std::string title = fmt::format("product {} {}x{}x{}", name, m, k, n);
  if (!wanted(title)) return;
  const RowMajor<T> a = numbers<T>(m, k), b = numbers<T>(k, n);
  RowMajor<R> ours(m, n), theirs(m, n);
  const double work = 2.0 * static_cast<double>(m * n * k);
  const int calls = static_cast<int>(std::clamp(2e7 / work, 1.0, 2000.0));
  Interleaved runs(title, work * calls);
  runs.add("ours", [&] {
    for (int i = 0; i < calls; ++i)
      matmul({m, n, k, {a.data(), type, k, 1}, {b.data(), type, n, 1}, {ours.data(), result, n, 1}});
  });
  runs.add("Eigen", [&] {
    for (int i = 0; i < calls; ++i)
      if constexpr (std::is_same_v<T, R>)
        theirs.noalias() = a * b;
      else
        theirs.noalias() = a.template cast<R>() * b.template cast<R>();
  });
  runs.report(true);
  must(ours == theirs, title);
}

template <class T, class R>
void products(const char* name, ElementType type, ElementType result, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes) product<T, R>(name, type, result, size, size, size);
  product<T, R>(name, type, result, 1, 1024, 1024);
  product<T, R>(name, type, result, 8, 1024, 1024);
}

// ── Reductions ──────────────────────────────────────────────────

/// Of the rows or the columns of a matrix that the L2 cache holds, so that it isn't memory that counts.
template <class T>
void reductions(const char* name, ElementType type, int64_t rows, int64_t columns) {
  const RowMajor<T> in = numbers<T>(rows, columns);
  for (const FoldOp op : {FoldOp::kAdd, FoldOp::kMaximum})
    for (const bool of_rows : {true, false}) {
      const std::string title = fmt::format("{} of {} {} {}x{}", op == FoldOp::kAdd ? "sum" : "maximum",
                                            of_rows ? "rows" : "columns", name, rows, columns);
      if (!wanted(title)) continue;
      const FoldKernel kernel = fold_kernel(op, type);
      const int64_t sizes[] = {rows, columns}, strides[] = {columns, 1};
      const uint8_t reduced[] = {static_cast<uint8_t>(!of_rows), static_cast<uint8_t>(of_rows)};
      std::vector<T> ours(static_cast<size_t>(of_rows ? rows : columns)), theirs(ours.size());
      const T init = op == FoldOp::kAdd ? T(0) : std::numeric_limits<T>::lowest();
      const auto size = static_cast<Eigen::Index>(theirs.size());
      Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>> column(theirs.data(), size);
      Eigen::Map<Eigen::Matrix<T, 1, Eigen::Dynamic>> row(theirs.data(), size);
      constexpr int kCalls = 50;
      Interleaved runs(title, static_cast<double>(rows * columns) * sizeof(T) * kCalls);
      runs.add("ours", [&] {
        for (int i = 0; i < kCalls; ++i)
          fold(kernel, sizes, strides, reduced, reinterpret_cast<const std::byte*>(in.data()),
               reinterpret_cast<const std::byte*>(&init), reinterpret_cast<std::byte*>(ours.data()));
      });
      runs.add("Eigen", [&] {
        for (int i = 0; i < kCalls; ++i) {
          if (op == FoldOp::kAdd)
            of_rows ? void(column = in.rowwise().sum()) : void(row = in.colwise().sum());
          else
            of_rows ? void(column = in.rowwise().maxCoeff()) : void(row = in.colwise().maxCoeff());
        }
      });
      runs.report(true);
      must(ours == theirs, title);
    }
}

// ── Decompositions, which are Eigen's of level v2 ───────────────

template <class T>
void decompositions(const char* name, ElementType type, int64_t n) {
  RowMajor<T> matrix = RowMajor<T>::Identity(n, n) * T(4 * static_cast<double>(n));
  matrix += numbers<T>(n, n) + numbers<T>(n, n).adjoint();
  RowMajor<T> ours(n, n), theirs(n, n), right(n, n), solution(n, n);
  const auto cubes = static_cast<double>(n * n * n);
  if (const std::string title = fmt::format("cholesky {} {}", name, n); wanted(title)) {
    Interleaved runs(title, cubes / 3);
    runs.add("ours", [&] { cholesky(type, n, true, matrix.data(), ours.data()); });
    runs.add("Eigen", [&] { theirs = matrix.template selfadjointView<Eigen::Lower>().llt().matrixL(); });
    runs.report(true);
    must((ours - theirs).norm() <= 1e-3 * ours.norm(), title);
  }
  if (const std::string title = fmt::format("triangular solve {} {}", name, n); wanted(title)) {
    right = numbers<T>(n, n);
    Interleaved runs(title, cubes);
    runs.add("ours", [&] {
      solution = right;
      solve({.type = type, .n = n, .m = n, .left_side = true, .lower = true}, matrix.data(), solution.data());
    });
    runs.add("Eigen", [&] {
      theirs = right;
      matrix.template triangularView<Eigen::Lower>().solveInPlace(theirs);
    });
    runs.report(true);
    must((solution - theirs).norm() <= 1e-3 * solution.norm(), title);
  }
}

// ── Fourier transforms ──────────────────────────────────────────

void transforms(int64_t length) {
  const std::string title = fmt::format("fft {}", length);
  if (!wanted(title)) return;
  const auto size = static_cast<size_t>(length);
  std::vector<std::complex<double>> in(size), ours(size), theirs(size);
  for (size_t i = 0; i < size; ++i)
    in[i] = {static_cast<double>(i * 7 % 11), static_cast<double>(i * 5 % 13)};
  const FftPlan plan(length);
  std::vector<ComplexDouble> scratch(static_cast<size_t>(plan.scratch_size()));
  Eigen::FFT<double> fft;
  const double work = 5.0 * static_cast<double>(length) * std::log2(static_cast<double>(length));
  const int calls = static_cast<int>(std::clamp(1e6 / work, 1.0, 1000.0));
  Interleaved runs(title, work * calls);
  runs.add("ours", [&] {
    for (int i = 0; i < calls; ++i)
      plan.transform(reinterpret_cast<const ComplexDouble*>(in.data()),
                     reinterpret_cast<ComplexDouble*>(ours.data()), scratch.data());
  });
  runs.add("Eigen", [&] {
    for (int i = 0; i < calls; ++i) fft.fwd(theirs.data(), in.data(), static_cast<Eigen::Index>(length));
  });
  runs.report(true);
  double difference = 0;
  for (size_t i = 0; i < size; ++i) difference = std::max(difference, std::abs(ours[i] - theirs[i]));
  must(difference <= 1e-9 * static_cast<double>(length), title);
}

int run(int count, char** arguments) {
  setenv("HLOSIM_ISA", HLOSIM_BENCH_LEVEL, 1);
  const auto level = isa_level();
  if (!level) {
    std::printf("%s\n", level.error().message.c_str());
    return 0;
  }
  if (count > 1) filter = arguments[1];
  set_thread_count(1);
  products<float, float>("f32", kF32, kF32, {4, 16, 31, 64, 128, 256, 1024});
  products<double, double>("f64", kF64, kF64, {4, 16, 64, 256, 1024});
  products<std::complex<float>, std::complex<float>>("c64", kC64, kC64, {4, 16, 64, 256, 512});
  products<std::complex<double>, std::complex<double>>("c128", kC128, kC128, {4, 16, 64, 256, 512});
  products<int8_t, int32_t>("s8", kS8, kS32, {16, 64, 256});
  products<int32_t, int32_t>("s32", kS32, kS32, {4, 16, 64, 256});
  products<int64_t, int64_t>("s64", kS64, kS64, {4, 16, 64, 256});
  reductions<float>("f32", kF32, 256, 512);
  reductions<double>("f64", kF64, 256, 256);
  reductions<int32_t>("s32", kS32, 256, 512);
  for (const int64_t n : {64, 512}) {
    decompositions<float>("f32", kF32, n);
    decompositions<double>("f64", kF64, n);
    decompositions<std::complex<double>>("c128", kC128, n);
  }
  for (const int64_t length : {64, 1000, 4096, 10007, 65536}) transforms(length);
  return 0;
}

}  // namespace
}  // namespace hlosim

int main(int count, char** arguments) { return hlosim::run(count, arguments); }
