// The function that each EvaluationKind of the opcode table stands for.
//
//   const Evaluation run = evaluation_functions(op.def().evaluation).evaluate(op);
#pragma once

#include "evaluate/devices/joint.h"
#include "evaluate/evaluate.h"
#include "hlo/evaluation_kind.h"

namespace hlosim {

struct EvaluationFunctions {
  /// What runs the instruction, made once for many runs; reports what isn't supported and returns null.
  Evaluation (*evaluate)(EvaluateContext&) = nullptr;
  /// The same where a program is made for several devices, for opcodes at which devices meet. Null without a
  /// report: this instruction concerns each device alone.
  JointEvaluation (*evaluate_jointly)(EvaluateContext&) = nullptr;
};

const EvaluationFunctions& evaluation_functions(EvaluationKind kind);

}  // namespace hlosim
