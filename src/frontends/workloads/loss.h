// The loss of the logits of normed activations, and its gradients, in one part or in parts along the tokens.
//
//   TokenLoss loss(model, options, rules, parts, table);           // the parameter that logits are made with
//   const InstructionId value = loss.forward(body, hidden, targets, parameter);
//   const TokenLoss::Gradients made = loss.backward(body);         // of hidden and of the parameter
//
// The mean over all tokens of -log softmax(logits)[target]. In parts, logits exist for one part at a time,
// and the backward pass computes them again. Each device adds up its own tokens' share of the parameter's
// gradient over all parts; the devices' shares are summed once, after the last part.
#pragma once

#include "workloads/gradients.h"
#include "workloads/step_module.h"

namespace hlosim {

class TokenLoss {
 public:
  TokenLoss(StepModule& step, const StepParameter& table);

  struct Gradients {
    InstructionId hidden{}, table{};
  };
  InstructionId forward(InstructionId hidden, InstructionId targets);
  /// Requires: forward() was called.
  Gradients backward();

 private:
  int64_t tile_length() const { return step_.options().sequence / step_.options().vocab_tiles; }
  void bind(ExpressionEmitter& emitter, InstructionId hidden, InstructionId targets,
            InstructionId table) const;
  InstructionId ready_table();
  Expr gradient_of_table(Backward& backward, Expr product);
  InstructionId summed_gradient(InstructionId parts);
  InstructionId tiles_forward();
  Gradients tiles_backward();

  StepModule& step_;
  const StepParameter& table_;
  ExpressionGraph graph_;
  std::string gradient_sharding_;  // of what a part adds to the parameter's gradient; empty: none
  bool by_device_ = false;         // it is [devices along the batch, along the sequence, table…]
  Expr hidden_{}, targets_{}, parameter_{}, loss_{}, hidden_gradient_{}, parameter_gradient_{};
  InstructionId hidden_value_{}, targets_value_{};  // in tiles: [batch, tiles, length of one, …]
  InstructionId table_value_{};                     // in tiles
  std::unique_ptr<ExpressionEmitter> emitter_;      // of the one part
};

}  // namespace hlosim
