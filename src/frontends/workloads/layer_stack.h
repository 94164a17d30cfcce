// Layers as loops: forward over stacked parameters, backward over what the forward has saved.
//
//   LayerStack loop(model, options, rules, parts, group, parameters);  // stacked, by place and name
//   InstructionId out = loop.forward(body, in);
//   const LayerStack::Gradients made = loop.backward(body, cotangent);  // of the input, and stacked ones
//
// A loop's body runs the `period` layers of its group. Unrolled, there is no loop, and what is recomputed
// stands behind a barrier that keeps it from being merged with the first time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hlo/module_builder.h"
#include "workloads/expression_emitter.h"
#include "workloads/layer.h"

namespace hlosim {

/// A parameter of the layers first + place, first + place + period, … of a group.
struct StackedParameter {
  ParameterSpec spec;                   // of one layer
  int64_t place = 0;                    // of the layer in its period
  std::vector<InstructionId> values{};  // stacked; unrolled: one for each turn
};

class LayerStack {
 public:
  LayerStack(const ModelConfig& model, const StepOptions& options, const AxisRules& rules, ModelParts& parts,
             LayerGroup group, std::vector<StackedParameter> parameters);
  ~LayerStack();

  struct Gradients {
    InstructionId input{};
    std::vector<std::vector<InstructionId>>
        parameters;  // in the options' grad_type, as the parameters' values
  };
  InstructionId forward(ModuleBuilder::Body& body, InstructionId in);
  /// Requires: forward() was called.
  Gradients backward(ModuleBuilder::Body& body, InstructionId cotangent);

 private:
  struct Turn;  // its expressions

  void differentiate();
  std::vector<Axis> saved_axes(Expr value) const;
  std::vector<InstructionId> stacks(ModuleBuilder::Body& body) const;
  std::vector<InstructionId> parameter_parts(ModuleBuilder::Body& body, InstructionId index,
                                             std::span<const InstructionId> stacks) const;
  InstructionId forward_loop(ModuleBuilder::Body& body, InstructionId in);
  InstructionId forward_unrolled(ModuleBuilder::Body& body, InstructionId in);
  Gradients backward_loop(ModuleBuilder::Body& body, InstructionId cotangent);
  Gradients backward_unrolled(ModuleBuilder::Body& body, InstructionId cotangent);
  std::string name() const;

  const StepOptions& options_;
  const AxisRules& rules_;
  ModelParts& parts_;
  LayerGroup group_;
  std::vector<StackedParameter> parameters_;
  std::unique_ptr<Turn> turn_;
  std::vector<InstructionId> saved_;  // stacked; unrolled: of each turn, one turn after the other
};

}  // namespace hlosim
