#include "workloads/loss.h"

#include "workloads/body_writer.h"
#include "workloads/manual_region.h"

namespace hlosim {
namespace {

/// Sum over tokens of log(sum(exp(logits))) - logits[target], times `share`.
Expr cross_entropy(const LayerScope& scope, Expr logits, Expr targets, double share) {
  ExpressionGraph& graph = scope.graph;
  const Dims dims = graph.dims(logits);
  const Expr numbers = iota(graph, ElementType::kS32, dims, 2);
  const Expr is_target = compare(graph, broadcast(graph, targets, dims, {0, 1}), numbers, "EQ");
  const Expr highest = stop_gradient(graph, reduce_max(graph, logits, {2}));
  const Expr shifted = subtract(graph, logits, along(graph, highest, dims, 2));
  const Expr sums = logarithm(graph, reduce_sum(graph, exponential(graph, shifted), {2}));
  const Expr of_target =
      reduce_sum(graph, select(graph, is_target, shifted, full_like(graph, shifted, 0)), {2});
  return scale(graph, reduce_sum(graph, subtract(graph, sums, of_target), {0, 1}), share);
}

}  // namespace

TokenLoss::TokenLoss(StepModule& step, const StepParameter& table) : step_(step), table_(table) {
  const StepOptions& options = step.options();
  LayerScope scope{graph_, step.model(), options, step.rules()};
  const int64_t length = tile_length();
  graph_.set_scope("loss");
  hidden_ = graph_.leaf({options.compute_type, {options.batch, length, step.model().d_model}, {}}, "hidden");
  targets_ = graph_.leaf({ElementType::kS32, {options.batch, length}, {}}, "targets");
  // In parts, the loop is given the parameter as products take it.
  const bool in_parts = options.vocab_tiles > 1;
  const std::string sharding = step.rules().sharding(table.spec.axes);
  parameter_ =
      graph_.leaf({in_parts ? options.compute_type : options.param_type, table.spec.dims, {}}, table.name);
  scope.parameters[table.spec.name] = in_parts ? parameter_ : with_sharding(graph_, parameter_, sharding);
  const Expr product = logits_product(scope, hidden_);
  const double tokens = static_cast<double>(options.batch) * static_cast<double>(options.sequence);
  loss_ = cross_entropy(scope, logits_of(scope, product), targets_, 1 / tokens);
  Backward backward(graph_, {hidden_, parameter_});
  backward.add(loss_, number(graph_, scope.wide(), 1));
  backward.run();
  hidden_gradient_ = scope.residual(backward.of(hidden_));
  const Expr gradient = in_parts ? gradient_of_table(backward, product) : backward.of(parameter_);
  // Parts add up in the wide type, whatever the optimizer reads.
  parameter_gradient_ = convert(graph_, gradient, in_parts ? scope.wide() : options.grad_type);
}

/// Of one part: a product for each device's tokens, [devices along the batch, along the sequence, table…].
Expr TokenLoss::gradient_of_table(Backward& backward, Expr product) {
  const AxisRules& rules = step_.rules();
  const int64_t batch = rules.parts(Axis::kBatch), length = rules.parts(Axis::kLength);
  gradient_sharding_ = rules.sharding(table_.spec.axes);
  by_device_ = batch * length > 1;
  if (!by_device_) return with_sharding(graph_, backward.of(parameter_), gradient_sharding_);
  const auto by_device = [&](Expr value, Axis last) {
    const Dims dims = graph_.dims(value);
    const Expr cut = reshape(graph_, value, {batch, dims[0] / batch, length, dims[1] / length, dims[2]});
    return with_sharding(graph_, cut,
                         rules.sharding({Axis::kBatch, Axis::kNone, Axis::kLength, Axis::kNone, last}));
  };
  Expr rows = by_device(hidden_, Axis::kNone), columns = by_device(backward.of(product), Axis::kActVocab);
  std::vector<Axis> axes{Axis::kBatch, Axis::kLength, Axis::kNone, Axis::kActVocab};
  if (step_.model().tied_embeddings) std::swap(rows, columns), std::swap(axes[2], axes[3]);
  gradient_sharding_ = rules.sharding(axes);
  return with_sharding(graph_, dot(graph_, rows, columns, {{1, 3}, {1, 3}, {0, 2}, {0, 2}}),
                       gradient_sharding_);
}

/// The devices' shares together, as the parameter lies.
InstructionId TokenLoss::summed_gradient(InstructionId parts) {
  ExpressionGraph graph;
  ExpressionEmitter emitter(graph, step_.parts(), step_.body());
  const Expr given = graph.leaf(graph_[parameter_gradient_].type, "parts");
  emitter.bind(given, parts);
  if (!by_device_) return emitter.emit(convert(graph, given, step_.options().grad_type));
  const ManualRegion region(graph, step_.rules());
  const bool tied = step_.model().tied_embeddings;
  const AxisSharding from = region.cut({Axis::kBatch, Axis::kLength, tied ? Axis::kActVocab : Axis::kNone,
                                        tied ? Axis::kNone : Axis::kActVocab});
  const AxisSharding to = region.cut(table_.spec.axes);
  std::vector<AxisPart> summed = from.dimensions[0];
  summed.insert(summed.end(), from.dimensions[1].begin(), from.dimensions[1].end());
  Expr local = region.enter(given, from);
  local = reshape(graph, local, {graph.dims(local)[2], graph.dims(local)[3]});
  for (size_t i = 0; i < to.dimensions.size(); ++i) {
    std::vector<AxisPart> scattered;
    for (const AxisPart& part : to.dimensions[i])
      if (std::erase_if(summed, [&](const AxisPart& one) { return one.axis == part.axis; }) > 0)
        scattered.push_back(part);
    local = region.scatter_sum(local, static_cast<int64_t>(i), scattered);
  }
  local = convert(graph, region.sum_over(local, summed), step_.options().grad_type);
  return emitter.emit(region.leave(local, to));
}

/// The parameter in the products' type, gathered once for all parts.
InstructionId TokenLoss::ready_table() {
  ExpressionGraph graph;
  ExpressionEmitter emitter(graph, step_.parts(), step_.body());
  const Expr stored = graph.leaf({step_.options().param_type, table_.spec.dims, {}}, table_.name);
  emitter.bind(stored, table_.value);
  const Expr stated = with_sharding(graph, stored, step_.rules().sharding(table_.spec.axes));
  return emitter.emit(
      gathered(graph, convert(graph, stated, step_.options().compute_type), table_.spec, step_.rules()));
}

void TokenLoss::bind(ExpressionEmitter& emitter, InstructionId hidden, InstructionId targets,
                     InstructionId table) const {
  emitter.bind(hidden_, hidden);
  emitter.bind(targets_, targets);
  emitter.bind(parameter_, table);
}

InstructionId TokenLoss::forward(InstructionId hidden, InstructionId targets) {
  hidden_value_ = hidden, targets_value_ = targets;
  if (step_.options().vocab_tiles > 1) return tiles_forward();
  emitter_ = std::make_unique<ExpressionEmitter>(graph_, step_.parts(), step_.body());
  bind(*emitter_, hidden, targets, table_.value);
  return emitter_->emit(loss_);
}

TokenLoss::Gradients TokenLoss::backward() {
  if (step_.options().vocab_tiles > 1) return tiles_backward();
  return {emitter_->emit(hidden_gradient_), emitter_->emit(parameter_gradient_)};
}

// ── in parts ──

// State: loss, activations and targets [batch, tiles, …], the parameter.
InstructionId TokenLoss::tiles_forward() {
  const StepOptions& options = step_.options();
  BodyWriter writer(step_.parts(), step_.body());
  const int64_t tiles = options.vocab_tiles, length = tile_length();
  hidden_value_ = writer.reshaped(hidden_value_, {options.batch, tiles, length, step_.model().d_model});
  targets_value_ = writer.reshaped(targets_value_, {options.batch, tiles, length});
  const InstructionId zero = step_.parts().constant(step_.body(), graph_.element(loss_), 0);
  const LoopTurn turn = [&](ModuleBuilder::Body& body, InstructionId counter,
                            const std::vector<InstructionId>& before) {
    BodyWriter inner(step_.parts(), body);
    ExpressionEmitter emitter(graph_, step_.parts(), body);
    bind(emitter, inner.part_of(before[1], counter, 1), inner.part_of(before[2], counter, 1), before[3]);
    std::vector<InstructionId> after = before;
    after[0] = inner.sum(before[0], emitter.emit(loss_));
    return after;
  };
  table_value_ = ready_table();
  return count_loop(step_.parts(), step_.body(), {zero, hidden_value_, targets_value_, table_value_}, tiles,
                    "loss_tiles", turn)[0];
}

// State: gradients of activations and of the parameter, then what the forward has.
TokenLoss::Gradients TokenLoss::tiles_backward() {
  const StepOptions& options = step_.options();
  BodyWriter writer(step_.parts(), step_.body());
  const AxisRules& rules = step_.rules();
  const InstructionId gradient = writer.allocate(
      writer.shape(hidden_value_), rules.sharding({Axis::kBatch, Axis::kNone, Axis::kLength, Axis::kHidden}));
  // Memory that is added to begins as zeros.
  const InstructionId zeros =
      writer.zeros(step_.parts().shape(graph_[parameter_gradient_].type), gradient_sharding_);
  const LoopTurn turn = [&](ModuleBuilder::Body& body, InstructionId counter,
                            const std::vector<InstructionId>& before) {
    BodyWriter inner(step_.parts(), body);
    ExpressionEmitter emitter(graph_, step_.parts(), body);
    bind(emitter, inner.part_of(before[2], counter, 1), inner.part_of(before[3], counter, 1), before[4]);
    std::vector<InstructionId> after = before;
    after[0] = inner.with_part(before[0], emitter.emit(hidden_gradient_), counter, 1);
    after[1] = inner.sum(before[1], emitter.emit(parameter_gradient_));
    return after;
  };
  const std::vector<InstructionId> out =
      count_loop(step_.parts(), step_.body(), {gradient, zeros, hidden_value_, targets_value_, table_value_},
                 options.vocab_tiles, "loss_tiles_gradients", turn);
  return {writer.reshaped(out[0], {options.batch, options.sequence, step_.model().d_model}),
          summed_gradient(out[1])};
}

}  // namespace hlosim
