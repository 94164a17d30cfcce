// Running a cluster over rows: elementwise operations and reductions of rows that depend on each other.
//
// A chunk of whole rows, as many as stay in the L2 cache, goes through all steps before the next one:
//
//     softmax       x ────────┬───────────────────┐
//     step 0, fold            ▼ m = max of row    │
//     step 1, wide            e = exp(x - m) ◄────┘      m spread over its row, e in a buffer of the chunk
//     step 2, fold            s = sum of e
//     step 3, wide            result = e / s
//
// Wide steps have an element for each of the chunk's rows · row elements, narrow ones for each of its rows.
#pragma once

#include <memory>
#include <vector>

#include "cpu_kernels/fold.h"
#include "elementwise/element_program.h"
#include "evaluate/evaluate.h"
#include "exec/cluster_load.h"

namespace hlosim {

struct RowPass {
  /// Where a value is.
  enum class Place : uint8_t { kOperand, kResult, kBuffer };
  struct Value {
    Place place = Place::kOperand;
    size_t index = 0;   // leaf of the node, or the buffer
    int64_t width = 0;  // bytes of an element
    bool wide = false;
  };
  struct Input {
    Value from;
    LoadPlan load;
  };
  struct Step {
    bool wide = false;
    // A program, or a fold of `folded` into outputs[0], beginning with the scalar operand `init`, or the
    // softmax of `folded` into outputs[0], whose maximum begins with `init` and whose sum with `sum_init`.
    std::shared_ptr<const ElementProgram> program;
    std::vector<Input> inputs;
    FoldKernel fold;
    Value folded;
    bool is_softmax = false;
    size_t init = 0, sum_init = 0;
    std::vector<Value> outputs;
  };

  int64_t rows = 0, row = 0;
  std::vector<Step> steps;
  std::vector<Value> buffers;   // what lies in each
  std::vector<int64_t> reused;  // for each result the operand whose bytes it may take, or -1
};

Evaluation row_pass_evaluation(RowPass pass);

}  // namespace hlosim
