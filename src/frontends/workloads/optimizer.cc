#include "workloads/optimizer.h"

#include <cmath>
#include <numeric>

namespace hlosim {

AdamUpdate::AdamUpdate(StepModule& step, InstructionId count, const std::vector<InstructionId>& gradients)
    : step_(step),
      wide_type_(step.options().compute_type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32),
      emitter_(graph_, step.parts(), step.body()) {
  graph_.set_scope("optimizer");
  const OptimizerOptions& options = step.options().optimizer;
  const Expr before = graph_.leaf({ElementType::kS32, {}, {}}, "count");
  for (size_t i = 0; i < gradients.size(); ++i)
    gradients_.push_back(
        graph_.leaf({step.options().grad_type, step.parameters()[i].spec.dims, {}}, "gradient"));
  emitter_.bind(before, count);
  for (size_t i = 0; i < gradients.size(); ++i) emitter_.bind(gradients_[i], gradients[i]);
  const Expr t = shift(graph_, wide(before), 1);
  const Expr one = number(graph_, wide_type_, 1);
  const auto correction = [&](double beta) {
    const Expr power = exponential(graph_, scale(graph_, t, std::log(beta)));
    return divide(graph_, one, subtract(graph_, one, power));
  };
  first_correction_ = correction(options.beta1);
  second_correction_ = correction(options.beta2);
  if (options.clip_norm <= 0) return;
  Expr squares = number(graph_, wide_type_, 0);
  for (const Expr gradient : gradients_) {
    const Expr value = wide(gradient);
    Dims all(static_cast<size_t>(graph_.rank(value)));
    std::iota(all.begin(), all.end(), 0);
    squares = add(graph_, squares, reduce_sum(graph_, multiply(graph_, value, value), all));
  }
  const Expr limit = number(graph_, wide_type_, options.clip_norm);
  clip_ = divide(graph_, limit, maximum(graph_, square_root(graph_, squares), limit));
}

Expr AdamUpdate::spread(Expr scalar, Expr like) {
  return broadcast(graph_, scalar, Dims(graph_.dims(like)), {});
}

AdamUpdate::Updated AdamUpdate::update(size_t index, InstructionId mu_value, InstructionId nu_value) {
  const OptimizerOptions& options = step_.options().optimizer;
  const StepParameter& parameter = step_.parameters()[index];
  const auto leaf = [&](ElementType type, const char* name, InstructionId value) {
    const Expr made = graph_.leaf({type, parameter.spec.dims, {}}, name);
    emitter_.bind(made, value);
    return wide(made);
  };
  const Expr p = leaf(step_.options().param_type, "parameter", parameter.value);
  const Expr mu = leaf(options.mu_type, "mu", mu_value), nu = leaf(options.nu_type, "nu", nu_value);
  Expr g = wide(gradients_[index]);
  if (clip_) g = multiply(graph_, g, spread(*clip_, g));
  const Expr new_mu = add(graph_, scale(graph_, mu, options.beta1), scale(graph_, g, 1 - options.beta1));
  const Expr new_nu =
      add(graph_, scale(graph_, nu, options.beta2), scale(graph_, multiply(graph_, g, g), 1 - options.beta2));
  const Expr top = multiply(graph_, new_mu, spread(first_correction_, new_mu));
  const Expr below = square_root(graph_, multiply(graph_, new_nu, spread(second_correction_, new_nu)));
  Expr change = divide(graph_, top, shift(graph_, below, options.epsilon));
  if (options.kind != OptimizerOptions::Kind::kAdam && options.weight_decay > 0)
    change = add(graph_, change, scale(graph_, p, options.weight_decay));
  const Expr made = subtract(graph_, p, scale(graph_, change, options.learning_rate));
  return {emitter_.emit(convert(graph_, made, step_.options().param_type)),
          emitter_.emit(convert(graph_, new_mu, options.mu_type)),
          emitter_.emit(convert(graph_, new_nu, options.nu_type))};
}

}  // namespace hlosim
