// A training step: embedding, layers, loss, all of it backwards, optimizer.
#include "workloads/body_writer.h"
#include "workloads/gradients.h"
#include "workloads/loss.h"
#include "workloads/optimizer.h"
#include "workloads/step_module.h"

namespace hlosim {
namespace {

/// Something outside of the layers: a few expressions and their gradients, forward and backward in one body.
class OuterPart {
 public:
  explicit OuterPart(StepModule& step)
      : step_(step),
        emitter_(graph_, step.parts(), step.body()),
        scope_{graph_, step.model(), step.options(), step.rules()} {}

  LayerScope& scope() { return scope_; }
  ExpressionGraph& graph() { return graph_; }
  Expr value(const ValueType& type, InstructionId instruction) {
    const Expr made = graph_.leaf(type, "value");
    emitter_.bind(made, instruction);
    return made;
  }
  /// The parameter, for the scope and for gradients.
  void use(const StepParameter& parameter) {
    const Expr made = value({step_.options().param_type, parameter.spec.dims, {}}, parameter.value);
    used_.push_back({&parameter, made});
    scope_.parameters[parameter.spec.name] =
        with_sharding(graph_, made, step_.rules().sharding(parameter.spec.axes));
  }
  InstructionId emit(Expr value) { return emitter_.emit(value); }

  /// The gradient of `input` (or none), and of the parameters into `gradients`.
  InstructionId backward(Expr output, InstructionId cotangent, std::optional<Expr> input,
                         std::vector<std::vector<InstructionId>>& gradients) {
    const Expr given = value(graph_[output].type, cotangent);
    std::vector<Expr> wanted;
    for (const auto& [parameter, expr] : used_) wanted.push_back(expr);
    if (input) wanted.push_back(*input);
    Backward backward(graph_, wanted);
    backward.add(output, given);
    backward.run();
    for (const auto& [parameter, expr] : used_) {
      const Expr made = convert(graph_, backward.of(expr), step_.options().grad_type);
      gradients[static_cast<size_t>(parameter - step_.parameters().data())].push_back(emit(made));
    }
    return input ? emit(backward.of(*input)) : InstructionId{};
  }

 private:
  StepModule& step_;
  ExpressionGraph graph_;
  ExpressionEmitter emitter_;
  LayerScope scope_;
  std::vector<std::pair<const StepParameter*, Expr>> used_;
};

class TrainStep {
 public:
  TrainStep(const ModelConfig& model, const StepOptions& options)
      : step_(model, options), model_(model), options_(options) {}

  Result<Module> make() {
    add_parameters();
    std::vector<InstructionId> gradients = forward_and_backward();
    if (options_.gradients_only) {
      step_.result(loss_, {});
      for (size_t i = 0; i < gradients.size(); ++i)
        step_.result(gradients[i], step_.parameters()[i].spec.axes);
    } else {
      update(gradients);
    }
    return step_.finish("train_step");
  }

 private:
  void add_parameters() {
    step_.add_model_parameters();
    const size_t count = step_.parameters().size();
    const auto moments = [&](const char* name, ElementType type, std::vector<InstructionId>& into) {
      for (size_t i = 0; i < count; ++i) {
        const StepParameter& parameter = step_.parameters()[i];
        into.push_back(
            step_.parameter(name + parameter.name, {type, parameter.spec.dims, {}}, parameter.spec.axes));
      }
    };
    if (!options_.gradients_only) {
      moments("mu.", options_.optimizer.mu_type, mu_);
      moments("nu.", options_.optimizer.nu_type, nu_);
      count_ = step_.parameter("step", {ElementType::kS32, {}, {}}, {});
    }
    const ValueType tokens{ElementType::kS32, {options_.batch, options_.sequence}, {}};
    const std::vector<Axis> axes{Axis::kBatch, Axis::kLength};
    tokens_ = step_.parameter("tokens", tokens, axes);
    targets_ = step_.parameter("targets", tokens, axes);
  }

  /// One gradient for each of the model's parameters; parameters that serve twice have the sum.
  std::vector<InstructionId> forward_and_backward() {
    std::vector<std::vector<InstructionId>> gradients(step_.parameters().size());
    OuterPart first(step_);
    first.use(step_.outer("embedding"));
    if (model_.position == Position::kLearned) first.use(step_.outer("positions"));
    const Expr tokens = first.value({ElementType::kS32, {options_.batch, options_.sequence}, {}}, tokens_);
    const Expr embedded = embed(first.scope(), tokens);
    InstructionId x = first.emit(embedded);

    std::vector<std::unique_ptr<LayerStack>> loops;
    const size_t groups = step_.groups().size() - (step_.has_layer_ahead() ? 1 : 0);
    for (size_t g = 0; g < groups; ++g) {
      loops.push_back(std::make_unique<LayerStack>(model_, options_, step_.rules(), step_.parts(),
                                                   step_.groups()[g], step_.group_parameters(g)));
      x = loops.back()->forward(step_.body(), x);
    }

    BodyWriter writer(step_.parts(), step_.body());
    InstructionId cotangent = loss_and_gradient(x, gradients);
    if (step_.has_layer_ahead()) cotangent = writer.sum(cotangent, predict_ahead(x, gradients));
    for (size_t g = loops.size(); g-- > 0;) cotangent = backward_of(*loops[g], g, cotangent, gradients);
    first.backward(embedded, cotangent, {}, gradients);

    std::vector<InstructionId> sums;
    for (const std::vector<InstructionId>& parts : gradients) {
      InstructionId sum = parts[0];
      for (size_t i = 1; i < parts.size(); ++i) sum = writer.sum(sum, parts[i]);
      sums.push_back(sum);
    }
    return sums;
  }

  /// From the gradient of a group's output to that of its input.
  InstructionId backward_of(LayerStack& layers, size_t group, InstructionId cotangent,
                            std::vector<std::vector<InstructionId>>& gradients) {
    const LayerStack::Gradients made = layers.backward(step_.body(), cotangent);
    const std::vector<std::vector<size_t>> places = step_.group_places(group);
    for (size_t i = 0; i < places.size(); ++i)
      for (size_t turn = 0; turn < places[i].size(); ++turn)
        gradients[places[i][turn]].push_back(made.parameters[i][turn]);
    return made.input;
  }

  /// The token after the next, from the last layer's output and the next token: both normed and joined, one
  /// more
  /// layer, the model's own norm and head. To the gradient of the last layer's output.
  InstructionId predict_ahead(InstructionId x, std::vector<std::vector<InstructionId>>& gradients) {
    OuterPart join(step_);
    join.use(step_.outer("embedding"));
    if (model_.position == Position::kLearned) join.use(step_.outer("positions"));
    for (const ParameterSpec& spec : ahead_parameters(model_)) join.use(step_.outer(spec.name));
    const Dims dims{options_.batch, options_.sequence, model_.d_model};
    const Expr hidden = join.value({options_.compute_type, dims, {}}, x);
    const Expr next = join.value({ElementType::kS32, {options_.batch, options_.sequence}, {}}, targets_);
    const Expr embedded = embed(join.scope(), next);
    join.graph().set_scope("ahead");
    const Expr both = concatenate(join.graph(),
                                  {norm(join.scope(), hidden, "ahead.hidden_norm"),
                                   norm(join.scope(), embedded, "ahead.embedding_norm")},
                                  2);
    const Expr joined = join.scope().residual(project(join.scope(), both, "ahead.join"));
    const size_t group = step_.groups().size() - 1;
    LayerStack layer(model_, options_, step_.rules(), step_.parts(), step_.groups()[group],
                     step_.group_parameters(group));
    const InstructionId out = layer.forward(step_.body(), join.emit(joined));
    const InstructionId first_loss = loss_;
    InstructionId cotangent = loss_and_gradient(out, gradients);
    loss_ = BodyWriter(step_.parts(), step_.body()).sum(first_loss, loss_);
    cotangent = backward_of(layer, group, cotangent, gradients);
    return join.backward(joined, cotangent, hidden, gradients);
  }

  /// From the last layer's output to its gradient.
  InstructionId loss_and_gradient(InstructionId x, std::vector<std::vector<InstructionId>>& gradients) {
    OuterPart last(step_);
    for (const char* name : {"final_norm.scale", "final_norm.bias"})
      if (std::string_view(name) != "final_norm.bias" || model_.norm == NormKind::kLayer)
        last.use(step_.outer(name));
    const Expr input =
        last.value({options_.compute_type, {options_.batch, options_.sequence, model_.d_model}, {}}, x);
    last.graph().set_scope("final_norm");
    const Expr hidden = last.scope().residual(norm(last.scope(), input, "final_norm"));
    const StepParameter& table = step_.outer(model_.tied_embeddings ? "embedding" : "head");
    TokenLoss loss(step_, table);
    loss_ = loss.forward(last.emit(hidden), targets_);
    const TokenLoss::Gradients made = loss.backward();
    gradients[static_cast<size_t>(&table - step_.parameters().data())].push_back(made.table);
    return last.backward(hidden, made.hidden, input, gradients);
  }

  void update(const std::vector<InstructionId>& gradients) {
    AdamUpdate adam(step_, count_, gradients);
    const auto count = static_cast<int64_t>(gradients.size());
    std::vector<AdamUpdate::Updated> made;
    for (size_t i = 0; i < gradients.size(); ++i) made.push_back(adam.update(i, mu_[i], nu_[i]));
    const auto results = [&](InstructionId AdamUpdate::Updated::*which, int64_t first) {
      for (size_t i = 0; i < made.size(); ++i)
        step_.result(made[i].*which, step_.parameters()[i].spec.axes, first + static_cast<int64_t>(i));
    };
    results(&AdamUpdate::Updated::parameter, 0);
    results(&AdamUpdate::Updated::mu, count);
    results(&AdamUpdate::Updated::nu, 2 * count);
    BodyWriter writer(step_.parts(), step_.body());
    step_.result(writer.sum(count_, writer.number(1)), {}, 3 * count);
    step_.result(loss_, {});
  }

  StepModule step_;
  const ModelConfig& model_;
  const StepOptions& options_;
  std::vector<InstructionId> mu_, nu_;
  InstructionId count_{}, tokens_{}, targets_{}, loss_{};
};

}  // namespace

Result<Module> make_train_step(const ModelConfig& model, const StepOptions& options) {
  return TrainStep(model, options).make();
}

}  // namespace hlosim
