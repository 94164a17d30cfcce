// The optimizer's part of a step: new parameters and moments from gradients.
//
//   AdamUpdate adam(step, step_number, gradients);    // and the gradients' norm, where they are clipped
//   const AdamUpdate::Updated made = adam.update(i, mu, nu);
#pragma once

#include "workloads/step_module.h"

namespace hlosim {

class AdamUpdate {
 public:
  /// `gradients`: one for each of step.parameters(). `count`: s32[], steps taken before this one.
  AdamUpdate(StepModule& step, InstructionId count, const std::vector<InstructionId>& gradients);

  struct Updated {
    InstructionId parameter{}, mu{}, nu{};
  };
  Updated update(size_t parameter, InstructionId mu, InstructionId nu);

 private:
  Expr wide(Expr value) { return convert(graph_, value, wide_type_); }
  Expr spread(Expr scalar, Expr like);

  StepModule& step_;
  ElementType wide_type_;
  ExpressionGraph graph_;
  ExpressionEmitter emitter_;
  std::vector<Expr> gradients_;
  Expr first_correction_{}, second_correction_{};  // 1 / (1 - beta^t)
  std::optional<Expr> clip_{};                     // what gradients are multiplied by
};

}  // namespace hlosim
