// Running the operations that apply a computation to elements, rows or slices of arrays.
//
//   const Evaluation run = evaluate_reduce(op);  // run(invocation) folds
//   if (const std::optional<RowFold> fold = row_fold(op))
//     for (int64_t i = 0; i < fold->rows; ++i) …  // fold->kernel.row()
#pragma once

#include <optional>

#include "cpu_kernels/fold.h"
#include "evaluate/evaluate.h"

namespace hlosim {

Evaluation evaluate_reduce(EvaluateContext& op);
/// A reduce of one array's minor dimensions, `row` elements for each of `rows` results, that a kernel does:
/// each result is init, widened, folded with its elements by one call of kernel.row() and finished.
struct RowFold {
  FoldKernel kernel;
  int64_t rows = 0, row = 0;
};
/// Nullopt where `op` is anything else.
std::optional<RowFold> row_fold(EvaluateContext& op);

Evaluation evaluate_map(EvaluateContext& op);
Evaluation evaluate_scan(EvaluateContext& op);

}  // namespace hlosim
