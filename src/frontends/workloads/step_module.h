// The entry of a step on its way: parameters with shardings, results, what aliases what.
//
//   StepModule step(model, options);
//   const InstructionId table = step.parameter("embedding", {type, dims}, axes);
//   step.result(updated, axes, table_number);                      // takes the parameter's memory
//   Result<Module> module = step.finish("train_step");
#pragma once

#include <span>
#include <string>
#include <vector>

#include "workloads/axis_rules.h"
#include "workloads/expression_emitter.h"
#include "workloads/layer_stack.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

/// A parameter of the model as the step takes it.
struct StepParameter {
  std::string name;
  ParameterSpec spec;  // of the whole array, stacked
  int64_t number = 0;  // of the entry's parameters
  InstructionId value{};
};

class StepModule {
 public:
  StepModule(const ModelConfig& model, const StepOptions& options);
  StepModule(const StepModule&) = delete;
  StepModule& operator=(const StepModule&) = delete;

  const ModelConfig& model() const { return model_; }
  const StepOptions& options() const { return options_; }
  const AxisRules& rules() const { return rules_; }
  ModelParts& parts() { return parts_; }
  ModuleBuilder& builder() { return builder_; }
  ModuleBuilder::Body& body() { return body_; }

  InstructionId parameter(const std::string& name, const ValueType& type, const std::vector<Axis>& axes);
  int64_t parameter_count() const { return static_cast<int64_t>(body_.parameters.size()); }
  /// `in_place_of`: the parameter whose memory the result takes; -1: none.
  void result(InstructionId value, const std::vector<Axis>& axes, int64_t in_place_of = -1);

  /// The model's own parameters; groups of layers in the order of layer_groups().
  void add_model_parameters();
  std::vector<StepParameter>& parameters() { return model_parameters_; }
  /// The type that the parameter is stored in.
  ElementType type_of(const ParameterSpec& spec) const {
    return spec.type == ElementType::kInvalid ? options_.param_type : spec.type;
  }
  /// Of the layer that predicts ahead: the last of groups(), behind those of the model's layers.
  bool has_layer_ahead() const { return model_.predicts_ahead && options_.kind == StepKind::kTrain; }
  /// By the name of its spec, of those outside of layers.
  const StepParameter& outer(std::string_view name) const;
  /// Of a group: with the instructions of the entry.
  std::vector<StackedParameter> group_parameters(size_t group) const;
  /// Which of parameters() they are, as group_parameters() lists their values.
  std::vector<std::vector<size_t>> group_places(size_t group) const;
  const std::vector<LayerGroup>& groups() const { return groups_; }

  /// Verified.
  Result<Module> finish(const std::string& name);

 private:
  struct StepResult {
    InstructionId value;
    std::string sharding;
    int64_t in_place_of = -1;
  };
  struct LayerPlace {
    size_t group = 0, parameter = 0;  // of parameters()
    int64_t place = 0, turn = 0;
  };
  std::span<const LayerPlace> places_of(size_t group) const;

  const ModelConfig& model_;
  const StepOptions& options_;
  AxisRules rules_;
  DiagnosticList problems_;
  ModuleBuilder builder_;
  ModelParts parts_;
  ModuleBuilder::Body body_;
  std::vector<LayerGroup> groups_;
  std::vector<StepParameter> model_parameters_;
  std::vector<LayerPlace> places_;  // of those in layers, in the order of their groups
  std::vector<StepResult> results_;
};

/// Each kind of step; Requires: options that step_fault() has nothing against.
Result<Module> make_train_step(const ModelConfig& model, const StepOptions& options);
Result<Module> make_serve_step(const ModelConfig& model, const StepOptions& options);
/// What is wrong with the options for this model; empty: nothing.
std::string step_fault(const ModelConfig& model, const StepOptions& options);

// ── what training and serving share ──

/// Tokens s32[batch, length] to activations; `first`: the position of the first of them.
Expr embed(const LayerScope& scope, Expr tokens, std::optional<Expr> first = {});
/// Normed activations [batch, length, d_model] times the head, [batch, length, vocab].
Expr logits_product(const LayerScope& scope, Expr hidden);
/// Logits in the wide type, of that product.
Expr logits_of(const LayerScope& scope, Expr product);

}  // namespace hlosim
