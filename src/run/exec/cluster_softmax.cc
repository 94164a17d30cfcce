#include "exec/cluster_softmax.h"

#include <algorithm>

#include "cpu_kernels/softmax.h"

namespace hlosim {
namespace {

using Step = RowPass::Step;
using Value = RowPass::Value;

bool same(const Value& a, const Value& b) { return a.place == b.place && a.index == b.index; }

bool folds(const Step& step, FoldOp op) {
  return !step.program && !step.is_softmax && step.fold.rows == fold_kernel(op, ElementType::kF32).rows;
}

/// Is it `value op of_row`, or e to the power of that?
bool computes(const Step& step, const Value& value, ChainOp op, const Value& of_row, bool exponential,
              int64_t row) {
  if (!step.program || !step.wide || step.outputs.size() != 1) return false;
  const auto found = step.program->row_step();
  if (!found || found->op != op || found->exponential != exponential) return false;
  const RowPass::Input &left = step.inputs[found->value], &right = step.inputs[found->of_row];
  return same(left.from, value) && left.load.is_dense() && left.load.offset() == 0 &&
         same(right.from, of_row) && right.load.is_uniform(row) && right.load.offset() == 0;
}

bool reads(const Step& step, const Value& value) {
  if (!step.program) return same(step.folded, value);
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const RowPass::Input& input) { return same(input.from, value); });
}

bool begins_softmax(const RowPass& pass, size_t at) {
  const Step* steps = &pass.steps[at];
  if (!folds(steps[0], FoldOp::kMaximum) || !folds(steps[2], FoldOp::kAdd)) return false;
  const Value &x = steps[0].folded, &largest = steps[0].outputs[0], &sum = steps[2].outputs[0];
  if (!computes(steps[1], x, ChainOp::kSubtract, largest, true, pass.row)) return false;
  const Value& exponentials = steps[1].outputs[0];
  if (!same(steps[2].folded, exponentials) ||
      !computes(steps[3], exponentials, ChainOp::kDivide, sum, false, pass.row))
    return false;
  for (const Value& between : {largest, exponentials, sum}) {
    if (between.place != RowPass::Place::kBuffer) return false;
    for (size_t s = 0; s < pass.steps.size(); ++s)
      if ((s < at || s >= at + 4) && reads(pass.steps[s], between)) return false;
  }
  return true;
}

}  // namespace

std::optional<size_t> join_softmax(RowPass& pass) {
  if (pass.row == 0 || pass.row % kSoftmaxStep != 0 || pass.row > kSoftmaxMost) return std::nullopt;
  for (size_t at = 0; at + 4 <= pass.steps.size(); ++at) {
    if (!begins_softmax(pass, at)) continue;
    Step& joined = pass.steps[at];
    joined.is_softmax = true;
    joined.sum_init = pass.steps[at + 2].init;
    joined.outputs = pass.steps[at + 3].outputs;
    const auto first = pass.steps.begin() + static_cast<std::ptrdiff_t>(at);
    pass.steps.erase(first + 1, first + 4);
    return at;
  }
  return std::nullopt;
}

}  // namespace hlosim
