#include "systolic/systolic.h"

#include <fmt/format.h>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// Sums and products of positive numbers that remember whether one was too large.
class Exact {
 public:
  int64_t sum(int64_t a, int64_t b) {
    int64_t result = 0;
    overflow_ |= __builtin_add_overflow(a, b, &result);
    return result;
  }
  int64_t product(int64_t a, int64_t b) {
    int64_t result = 0;
    overflow_ |= __builtin_mul_overflow(a, b, &result);
    return result;
  }
  bool overflow() const { return overflow_; }

 private:
  bool overflow_ = false;
};

}  // namespace

std::string_view to_text(SystolicDataflow dataflow) {
  constexpr std::string_view kNames[] = {"ws", "os", "is"};
  return kNames[static_cast<size_t>(dataflow)];
}

Result<SystolicRun> systolic_run(SystolicDataflow dataflow, SystolicArray array, GemmSize gemm) {
  if (array.rows <= 0 || array.columns <= 0)
    return failure(fmt::format("an array of {}x{} has no places", array.rows, array.columns));
  if (gemm.m <= 0 || gemm.n <= 0 || gemm.k <= 0)
    return failure(
        fmt::format("a product of M={}, N={}, K={} has nothing to multiply", gemm.m, gemm.n, gemm.k));
  SystolicRun run;
  switch (dataflow) {
    case SystolicDataflow::kWeightStationary:
      run.on_rows = gemm.k, run.on_columns = gemm.n, run.streamed = gemm.m;
      break;
    case SystolicDataflow::kOutputStationary:
      run.on_rows = gemm.m, run.on_columns = gemm.n, run.streamed = gemm.k;
      break;
    case SystolicDataflow::kInputStationary:
      run.on_rows = gemm.k, run.on_columns = gemm.m, run.streamed = gemm.n;
      break;
  }
  run.row_folds = ceil_div(run.on_rows, array.rows);
  run.column_folds = ceil_div(run.on_columns, array.columns);
  Exact exact;
  // Outputs start from nothing; what else stays moves in row by row.
  run.load = dataflow == SystolicDataflow::kOutputStationary ? 0 : array.rows;
  // The last place starts rows - 1 + columns - 1 cycles after the first and works `streamed` cycles.
  run.stream = exact.sum(run.streamed, exact.sum(array.rows - 1, array.columns - 1));
  const int64_t folds = exact.product(run.row_folds, run.column_folds);
  run.cycles = exact.product(folds, exact.sum(run.load, run.stream)) - 1;
  exact.product(exact.product(gemm.m, gemm.n), gemm.k);
  if (exact.overflow())
    return failure(
        fmt::format("a product of M={}, N={}, K={} on {}x{} takes more than 2^63 - 1 cycles or operations",
                    gemm.m, gemm.n, gemm.k, array.rows, array.columns));
  const double operations =
      static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  run.utilization = operations / (static_cast<double>(run.cycles) + 1.0) /
                    (static_cast<double>(array.rows) * static_cast<double>(array.columns));
  return run;
}

}  // namespace hlosim
