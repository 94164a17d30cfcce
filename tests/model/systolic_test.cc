#include "systolic/systolic.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <vector>

#include "support/folders.h"

namespace hlosim {
namespace {

constexpr SystolicDataflow kDataflows[] = {SystolicDataflow::kWeightStationary,
                                           SystolicDataflow::kOutputStationary,
                                           SystolicDataflow::kInputStationary};

using Matrix = std::vector<std::vector<int64_t>>;

Matrix matrix(int64_t rows, int64_t columns) {
  return Matrix(static_cast<size_t>(rows), std::vector<int64_t>(static_cast<size_t>(columns), 0));
}
Matrix numbered(int64_t rows, int64_t columns, int64_t seed) {
  Matrix result = matrix(rows, columns);
  for (auto& row : result)
    for (int64_t& value : row) value = (seed = (seed * 1103515245 + 12345) % 2147483648) % 19 - 9;
  return result;
}
int64_t at(const Matrix& m, int64_t row, int64_t column) {
  const bool inside = row < static_cast<int64_t>(m.size()) && column < static_cast<int64_t>(m[0].size());
  return inside ? m[static_cast<size_t>(row)][static_cast<size_t>(column)] : 0;
}
Matrix transposed(const Matrix& m) {
  Matrix result = matrix(static_cast<int64_t>(m[0].size()), static_cast<int64_t>(m.size()));
  for (size_t i = 0; i < m.size(); ++i)
    for (size_t j = 0; j < m[i].size(); ++j) result[j][i] = m[i][j];
  return result;
}

/// An array whose places pass values to their right and lower neighbours once per cycle.
struct Machine {
  int64_t rows, columns, clock = 0;

  /// result [streamed, columns] += moving [streamed, depth] · held [depth, columns], one fold that starts at
  /// (first_row, first_column) of `held`.
  void stationary_fold(const Matrix& moving, const Matrix& held, int64_t first_row, int64_t first_column,
                       Matrix& result) {
    const auto streamed = static_cast<int64_t>(moving.size());
    Matrix weight = matrix(rows, columns);
    for (int64_t step = 0; step < rows; ++step, ++clock) {  // every row moves down, a new one enters on top
      for (int64_t r = rows - 1; r > 0; --r)
        weight[static_cast<size_t>(r)] = weight[static_cast<size_t>(r - 1)];
      for (int64_t c = 0; c < columns; ++c)
        weight[0][static_cast<size_t>(c)] = at(held, first_row + rows - 1 - step, first_column + c);
    }
    Matrix right = matrix(rows, columns), down = matrix(rows, columns);
    int64_t collected = 0;
    for (int64_t step = 0; collected < streamed * columns; ++step, ++clock) {
      Matrix new_right = right, new_down = down;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          const int64_t row = step - r;  // the row of `moving` that enters row r of the array now
          const bool enters = row >= 0 && row < streamed;
          const int64_t value = c > 0 ? at(right, r, c - 1) : enters ? at(moving, row, first_row + r) : 0;
          const int64_t above = r > 0 ? at(down, r - 1, c) : 0;
          new_right[static_cast<size_t>(r)][static_cast<size_t>(c)] = value;
          new_down[static_cast<size_t>(r)][static_cast<size_t>(c)] = above + value * at(weight, r, c);
        }
      }
      right = new_right, down = new_down;
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t row = step - (rows - 1) - c;  // what the lowest place of column c has finished
        if (row < 0 || row >= streamed) continue;
        ++collected;
        if (first_column + c < static_cast<int64_t>(result[0].size()))
          result[static_cast<size_t>(row)][static_cast<size_t>(first_column + c)] += at(down, rows - 1, c);
      }
    }
  }

  void output_fold(const Matrix& lhs, const Matrix& rhs, int64_t first_row, int64_t first_column,
                   Matrix& result) {
    const auto depth = static_cast<int64_t>(rhs.size());
    Matrix right = matrix(rows, columns), down = matrix(rows, columns), sum = matrix(rows, columns);
    int64_t last_place = 0;  // multiplications that the place which starts last has done
    for (int64_t step = 0; last_place < depth; ++step, ++clock) {
      Matrix new_right = right, new_down = down;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          const auto enters = [&](int64_t k) { return k >= 0 && k < depth; };
          const int64_t a = c > 0              ? at(right, r, c - 1)
                            : enters(step - r) ? at(lhs, first_row + r, step - r)
                                               : 0;
          const int64_t b = r > 0              ? at(down, r - 1, c)
                            : enters(step - c) ? at(rhs, step - c, first_column + c)
                                               : 0;
          new_right[static_cast<size_t>(r)][static_cast<size_t>(c)] = a;
          new_down[static_cast<size_t>(r)][static_cast<size_t>(c)] = b;
          sum[static_cast<size_t>(r)][static_cast<size_t>(c)] += a * b;
          if (r == rows - 1 && c == columns - 1 && step >= rows - 1 + columns - 1) ++last_place;
        }
      }
      right = new_right, down = new_down;
    }
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        if (first_row + r < static_cast<int64_t>(result.size()) &&
            first_column + c < static_cast<int64_t>(result[0].size()))
          result[static_cast<size_t>(first_row + r)][static_cast<size_t>(first_column + c)] = at(sum, r, c);
  }
};

struct Stepped {
  Matrix product;
  int64_t last_cycle;
};

Stepped step_by_step(SystolicDataflow dataflow, SystolicArray array, const Matrix& lhs, const Matrix& rhs) {
  Machine machine{array.rows, array.columns};
  const auto m = static_cast<int64_t>(lhs.size()), k = static_cast<int64_t>(rhs.size()),
             n = static_cast<int64_t>(rhs[0].size());
  Matrix result = matrix(m, n);
  const auto folds = [&](int64_t on_rows, int64_t on_columns,
                         const std::function<void(int64_t, int64_t)>& fold) {
    for (int64_t r = 0; r < on_rows; r += array.rows)
      for (int64_t c = 0; c < on_columns; c += array.columns) fold(r, c);
  };
  if (dataflow == SystolicDataflow::kWeightStationary) {
    folds(k, n, [&](int64_t r, int64_t c) { machine.stationary_fold(lhs, rhs, r, c, result); });
  } else if (dataflow == SystolicDataflow::kOutputStationary) {
    folds(m, n, [&](int64_t r, int64_t c) { machine.output_fold(lhs, rhs, r, c, result); });
  } else {  // the same machine on the transposed product
    Matrix turned = matrix(n, m);
    folds(k, m, [&](int64_t r, int64_t c) {
      machine.stationary_fold(transposed(rhs), transposed(lhs), r, c, turned);
    });
    result = transposed(turned);
  }
  return {result, machine.clock - 1};
}

Matrix product(const Matrix& lhs, const Matrix& rhs) {
  Matrix result = matrix(static_cast<int64_t>(lhs.size()), static_cast<int64_t>(rhs[0].size()));
  for (size_t i = 0; i < lhs.size(); ++i)
    for (size_t j = 0; j < rhs[0].size(); ++j)
      for (size_t k = 0; k < rhs.size(); ++k) result[i][j] += lhs[i][k] * rhs[k][j];
  return result;
}

TEST(Systolic, EqualsAMachineThatMovesEveryValueStepByStep) {
  for (const SystolicDataflow dataflow : kDataflows)
    for (const SystolicArray array : {SystolicArray{1, 1}, {2, 3}, {3, 2}, {4, 4}, {1, 5}})
      for (int64_t m = 1; m <= 6; ++m)
        for (int64_t n = 1; n <= 6; ++n)
          for (int64_t k = 1; k <= 6; ++k) {
            const Matrix lhs = numbered(m, k, m * 7 + k), rhs = numbered(k, n, n * 13 + k);
            const Stepped stepped = step_by_step(dataflow, array, lhs, rhs);
            ASSERT_EQ(stepped.product, product(lhs, rhs));  // the machine multiplies
            const auto run = systolic_run(dataflow, array, {m, n, k});
            ASSERT_TRUE(run);
            ASSERT_EQ(run->cycles, stepped.last_cycle) << to_text(dataflow) << " " << array.rows << "x"
                                                       << array.columns << " " << m << " " << n << " " << k;
          }
}

TEST(Systolic, EqualsTheRecordedCyclesOfScaleSim) {
  const std::filesystem::path path = test::shared_folder() / "data/systolic.tsv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no " << path;
  std::string line;
  std::getline(file, line);
  ASSERT_EQ(line, "dataflow\trows\tcolumns\tM\tN\tK\tcycles\tstalls");
  int lines = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name;
    SystolicArray array;
    GemmSize gemm;
    int64_t cycles = 0;
    ASSERT_TRUE(fields >> name >> array.rows >> array.columns >> gemm.m >> gemm.n >> gemm.k >> cycles)
        << line;
    for (const SystolicDataflow dataflow : kDataflows) {
      if (to_text(dataflow) != name) continue;
      const auto run = systolic_run(dataflow, array, gemm);
      ASSERT_TRUE(run) << line;
      EXPECT_EQ(run->cycles, cycles) << line;
      ++lines;
    }
  }
  EXPECT_GT(lines, 100);
}

TEST(Systolic, UtilizationIsAShareAndOneOnlyForAFullArrayForever) {
  for (const SystolicDataflow dataflow : kDataflows) {
    double before = 0;
    for (const int64_t streamed : {1, 10, 100, 10'000, 1'000'000'000}) {
      GemmSize gemm{16, 16, 16};
      (dataflow == SystolicDataflow::kWeightStationary   ? gemm.m
       : dataflow == SystolicDataflow::kOutputStationary ? gemm.k
                                                         : gemm.n) = streamed;
      const auto run = systolic_run(dataflow, {16, 16}, gemm);
      ASSERT_TRUE(run);
      EXPECT_GT(run->utilization, before);
      EXPECT_LE(run->utilization, 1);
      before = run->utilization;
    }
    EXPECT_GT(before, 0.999);
    EXPECT_LT(systolic_run(dataflow, {16, 16}, {17, 17, 17})->utilization,
              systolic_run(dataflow, {16, 16}, {16, 16, 16})->utilization);
  }
}

TEST(Systolic, RefusesWhatIsNoProductOrTooMuchToCount) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(systolic_run(SystolicDataflow::kWeightStationary, {0, 8}, {1, 1, 1}));
  EXPECT_FALSE(systolic_run(SystolicDataflow::kWeightStationary, {8, -8}, {1, 1, 1}));
  EXPECT_FALSE(systolic_run(SystolicDataflow::kWeightStationary, {8, 8}, {1, 0, 1}));
  EXPECT_FALSE(systolic_run(SystolicDataflow::kWeightStationary, {kMost, 1}, {1, 1, 1}));
  EXPECT_FALSE(systolic_run(SystolicDataflow::kOutputStationary, {1, 1}, {kMost, 1, 2}));
  EXPECT_TRUE(systolic_run(SystolicDataflow::kOutputStationary, {1, 1}, {1, 1, kMost - 1}));
}

}  // namespace
}  // namespace hlosim
