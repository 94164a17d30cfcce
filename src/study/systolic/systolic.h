// Cycles of a matrix product on one systolic array of any size, without memory stalls: the machine that
// SCALE-Sim simulates, by closed form. It asks what an array could do; what an MXU of a device takes, with
// its own rates, is Core::product() in model/core.h.
//
//   const Result<SystolicRun> run =
//       systolic_run(SystolicDataflow::kWeightStationary, {128, 128}, {.m = 256, .n = 256, .k = 256});
//   run->row_folds * run->column_folds             // 4 folds, one after the other
#pragma once

#include <cstdint>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// Which operand stays in the array while the others move through it.
enum class SystolicDataflow : uint8_t { kWeightStationary, kOutputStationary, kInputStationary };
/// "ws", "os", "is"
std::string_view to_text(SystolicDataflow dataflow);

struct SystolicArray {
  int64_t rows = 0, columns = 0;
};

/// [m,k]·[k,n]
struct GemmSize {
  int64_t m = 0, n = 0, k = 0;
};

/// The two dimensions of the product that lie on the array are cut into folds of its size; each fold runs
/// on its own, from an empty array to an empty one, and takes as long whether it fills the array or not.
struct SystolicRun {
  int64_t on_rows = 0, on_columns = 0;  // sizes of the dimensions that lie on the array …
  int64_t streamed = 0;                 // … and of the one that moves through it
  int64_t row_folds = 0, column_folds = 0;
  int64_t load = 0;        // cycles of a fold in which the stationary operand moves in
  int64_t stream = 0;      // cycles of a fold from the first multiplication to the last
  int64_t cycles = 0;      // number of the last cycle, counted from 0
  double utilization = 0;  // multiply-adds / (cycles + 1) / places of the array
};

/// Errors: a size that is not positive; more cycles or multiply-adds than 2^63 - 1.
Result<SystolicRun> systolic_run(SystolicDataflow dataflow, SystolicArray array, GemmSize gemm);

}  // namespace hlosim
