// Running a cluster of elementwise operations.
//
//   ElementPass pass{.program = program, .inputs = inputs, .widths = {4}, .reused = {-1}, .count = n};
//   node.evaluation = pass_evaluation(std::move(pass));
#pragma once

#include <memory>
#include <vector>

#include "elementwise/element_program.h"
#include "evaluate/evaluate.h"
#include "exec/cluster_load.h"

namespace hlosim {

/// What a pass over `count` elements computes.
struct ElementPass {
  struct Input {
    size_t operand;  // leaf of the node
    LoadPlan load;
  };
  std::shared_ptr<const ElementProgram> program;
  std::vector<Input> inputs;    // of the program
  std::vector<int64_t> widths;  // bytes of an element of each output
  std::vector<int64_t> reused;  // the operand whose bytes an output may take, or -1
  int64_t count = 0;
};

Evaluation pass_evaluation(ElementPass pass);

}  // namespace hlosim
