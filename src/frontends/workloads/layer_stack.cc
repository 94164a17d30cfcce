#include "workloads/layer_stack.h"

#include <fmt/format.h>

#include "workloads/body_writer.h"
#include "workloads/gradients.h"

namespace hlosim {

/// The layers of one turn, forward and backward.
struct LayerStack::Turn {
  struct Saved {
    Expr value;
    bool on_host = false;
    std::vector<Axis> axes;  // of its dimensions
  };

  ExpressionGraph graph{};
  Expr input{}, output{}, cotangent{};
  std::vector<Expr> parameters{};
  Expr input_gradient{};
  std::vector<Expr> parameter_gradients{};
  std::vector<Saved> saved{};

  /// All that a backward turn makes. Emitted together they are in the order of differentiation, in which the
  /// gradient of a parameter stands beside that of its product's input, as JAX writes them: what both read
  /// isn't kept until the end of the turn.
  std::vector<Expr> gradients() const {
    std::vector<Expr> all = parameter_gradients;
    all.push_back(input_gradient);
    return all;
  }
};

namespace {

/// The parameter as a layer uses it: with its sharding stated, gathered before its cast where that is asked
/// for.
Expr usable(ExpressionGraph& graph, Expr stored, const ParameterSpec& spec, const StepOptions& options,
            const AxisRules& rules) {
  const Expr value = with_sharding(graph, stored, rules.sharding(spec.axes));
  return options.cast_before_gather ? value : gathered(graph, value, spec, rules);
}

std::vector<Axis> stacked(const std::vector<Axis>& axes, int64_t at) {
  std::vector<Axis> all = axes;
  all.insert(all.begin() + at, Axis::kNone);
  return all;
}

}  // namespace

LayerStack::LayerStack(const ModelConfig& model, const StepOptions& options, const AxisRules& rules,
                       ModelParts& parts, LayerGroup group, std::vector<StackedParameter> parameters)
    : options_(options),
      rules_(rules),
      parts_(parts),
      group_(group),
      parameters_(std::move(parameters)),
      turn_(std::make_unique<Turn>()) {
  ExpressionGraph& graph = turn_->graph;
  const ValueType activations{options.compute_type, {options.batch, options.sequence, model.d_model}, {}};
  turn_->input = graph.leaf(activations, "input");
  for (const StackedParameter& parameter : parameters_)
    turn_->parameters.push_back(
        graph.leaf({options.param_type, parameter.spec.dims, {}}, parameter.spec.name));
  Expr x = turn_->input;
  size_t next = 0;  // parameters are in the order of their layers
  for (int64_t place = 0; place < group.period; ++place) {
    LayerScope scope{graph, model, options, rules, group.first + place};
    for (; next < parameters_.size() && parameters_[next].place == place; ++next)
      scope.parameters[parameters_[next].spec.name] =
          usable(graph, turn_->parameters[next], parameters_[next].spec, options, rules);
    x = decoder_layer(scope, x);
  }
  turn_->output = x;
  turn_->cotangent = graph.leaf(activations, "cotangent");
  differentiate();
}

LayerStack::~LayerStack() = default;

std::string LayerStack::name() const { return fmt::format("layers_from_{}", group_.first); }

/// Backward through one turn, and what it needs of the forward.
void LayerStack::differentiate() {
  ExpressionGraph& graph = turn_->graph;
  std::vector<Expr> cuts, wanted = turn_->parameters;
  wanted.push_back(turn_->input);
  const auto keep = [&](Expr value) {
    const int64_t name = graph[value].saved_as;
    return name < 0 ? Keep::kRecompute : options_.remat[static_cast<SavedValue>(name)];
  };
  for (int32_t i = 0; i < graph.size(); ++i)
    if (keep(Expr{i}) != Keep::kRecompute || Expr{i} == turn_->input) cuts.push_back(Expr{i});
  Backward backward(graph, wanted);
  backward.add(turn_->output, turn_->cotangent);
  backward.run();
  turn_->input_gradient = backward.of(turn_->input);
  for (const Expr parameter : turn_->parameters)
    turn_->parameter_gradients.push_back(convert(graph, backward.of(parameter), options_.grad_type));
  for (const Expr value : needed_of(graph, turn_->gradients(), cuts))
    turn_->saved.push_back({value, keep(value) == Keep::kHost, saved_axes(value)});
}

std::vector<Axis> LayerStack::saved_axes(Expr value) const {
  const int64_t rank = turn_->graph.rank(value), name = turn_->graph[value].saved_as;
  std::vector<Axis> axes(static_cast<size_t>(rank), Axis::kNone);
  if (rank == 2) {  // rows of experts
    axes[0] = Axis::kTokens;
    return axes;
  }
  axes[0] = Axis::kBatch;
  if (name == static_cast<int64_t>(SavedValue::kContext) && options_.attention != AttentionKernel::kPlain) {
    axes[1] = Axis::kActHeads, axes[2] = Axis::kLength;  // as the kernel has it
    return axes;
  }
  axes[1] = Axis::kLength;
  if (rank >= 4) axes[static_cast<size_t>(rank) - 2] = Axis::kActHeads;
  if (rank != 3) return axes;
  const bool is_wide = name == static_cast<int64_t>(SavedValue::kMlpWi) ||
                       name == static_cast<int64_t>(SavedValue::kMlpWi0) ||
                       name == static_cast<int64_t>(SavedValue::kMlpWi1);
  axes[2] = is_wide ? Axis::kActMlp : Axis::kHidden;
  return axes;
}

InstructionId LayerStack::forward(ModuleBuilder::Body& body, InstructionId in) {
  return options_.scan_layers ? forward_loop(body, in) : forward_unrolled(body, in);
}

LayerStack::Gradients LayerStack::backward(ModuleBuilder::Body& body, InstructionId cotangent) {
  return options_.scan_layers ? backward_loop(body, cotangent) : backward_unrolled(body, cotangent);
}

/// Memory for what each turn saves.
std::vector<InstructionId> LayerStack::stacks(ModuleBuilder::Body& body) const {
  BodyWriter writer(parts_, body);
  std::vector<InstructionId> made;
  for (const Turn::Saved& saved : turn_->saved) {
    ValueType type = turn_->graph[saved.value].type;
    type.dims.insert(type.dims.begin(), group_.repeats);
    made.push_back(writer.allocate(parts_.shape(type, saved.on_host ? kHostSpace : kDefaultMemorySpace),
                                   rules_.sharding(stacked(saved.axes, 0))));
  }
  return made;
}

/// One turn's parameters.
std::vector<InstructionId> LayerStack::parameter_parts(ModuleBuilder::Body& body, InstructionId index,
                                                       std::span<const InstructionId> stacks) const {
  BodyWriter writer(parts_, body);
  std::vector<InstructionId> made;
  for (const InstructionId stack : stacks) made.push_back(writer.part_of(stack, index, options_.stack_axis));
  return made;
}

// ── as loops ──

// State: activations, one stack for each saved value, parameters.
InstructionId LayerStack::forward_loop(ModuleBuilder::Body& body, InstructionId in) {
  std::vector<InstructionId> state = stacks(body);
  const size_t saved = state.size();
  state.insert(state.begin(), in);
  for (const StackedParameter& parameter : parameters_) state.push_back(parameter.values[0]);
  const LoopTurn turn = [&](ModuleBuilder::Body& inner, InstructionId counter,
                            const std::vector<InstructionId>& before) {
    BodyWriter writer(parts_, inner);
    ExpressionEmitter emitter(turn_->graph, parts_, inner);
    const std::vector<InstructionId> parameters =
        parameter_parts(inner, counter, std::span(before).subspan(1 + saved));
    for (size_t i = 0; i < parameters.size(); ++i) emitter.bind(turn_->parameters[i], parameters[i]);
    emitter.bind(turn_->input, before[0]);
    std::vector<InstructionId> after = before;
    after[0] = emitter.emit(turn_->output);
    for (size_t i = 0; i < saved; ++i) {
      const InstructionId value = emitter.emit(turn_->saved[i].value);
      after[1 + i] = writer.with_part(before[1 + i], value, counter, 0);
    }
    return after;
  };
  const std::vector<InstructionId> out = count_loop(parts_, body, state, group_.repeats, name(), turn);
  saved_.assign(out.begin() + 1, out.begin() + 1 + static_cast<int64_t>(saved));
  return out[0];
}

// State: cotangent, one stack for each parameter's gradient, what was saved, parameters.
LayerStack::Gradients LayerStack::backward_loop(ModuleBuilder::Body& body, InstructionId cotangent) {
  BodyWriter outer(parts_, body);
  std::vector<InstructionId> state{cotangent};
  for (const StackedParameter& parameter : parameters_) {
    ValueType type{options_.grad_type, parameter.spec.dims, {}};
    type.dims.insert(type.dims.begin() + options_.stack_axis, group_.repeats);
    state.push_back(outer.allocate(parts_.shape(type),
                                   rules_.sharding(stacked(parameter.spec.axes, options_.stack_axis))));
  }
  const size_t gradients = parameters_.size();
  state.insert(state.end(), saved_.begin(), saved_.end());
  for (const StackedParameter& parameter : parameters_) state.push_back(parameter.values[0]);
  const LoopTurn turn = [&](ModuleBuilder::Body& inner, InstructionId counter,
                            const std::vector<InstructionId>& before) {
    BodyWriter writer(parts_, inner);
    ExpressionEmitter emitter(turn_->graph, parts_, inner);
    const InstructionId index = writer.subtract(writer.number(group_.repeats - 1), counter);
    const std::vector<InstructionId> parameters =
        parameter_parts(inner, index, std::span(before).subspan(1 + gradients + saved_.size()));
    for (size_t i = 0; i < parameters.size(); ++i) emitter.bind(turn_->parameters[i], parameters[i]);
    for (size_t i = 0; i < saved_.size(); ++i)
      emitter.bind(turn_->saved[i].value, writer.part_of(before[1 + gradients + i], index, 0));
    emitter.bind(turn_->cotangent, before[0]);
    std::vector<InstructionId> after = before;
    emitter.emit(turn_->gradients());
    after[0] = emitter.emit(turn_->input_gradient);
    for (size_t i = 0; i < gradients; ++i)
      after[1 + i] = writer.with_part(before[1 + i], emitter.emit(turn_->parameter_gradients[i]), index,
                                      options_.stack_axis);
    return after;
  };
  const std::vector<InstructionId> out =
      count_loop(parts_, body, state, group_.repeats, name() + "_gradients", turn);
  Gradients made{out[0], {}};
  for (size_t i = 0; i < gradients; ++i) made.parameters.push_back({out[1 + i]});
  return made;
}

// ── unrolled ──

InstructionId LayerStack::forward_unrolled(ModuleBuilder::Body& body, InstructionId in) {
  BodyWriter writer(parts_, body);
  for (size_t turn = 0; turn < static_cast<size_t>(group_.repeats); ++turn) {
    ExpressionEmitter emitter(turn_->graph, parts_, body);
    for (size_t i = 0; i < parameters_.size(); ++i)
      emitter.bind(turn_->parameters[i], parameters_[i].values[turn]);
    emitter.bind(turn_->input, in);
    in = emitter.emit(turn_->output);
    for (const Turn::Saved& saved : turn_->saved) {
      const InstructionId value = emitter.emit(saved.value);
      saved_.push_back(saved.on_host ? writer.moved(value, kHostSpace) : value);
    }
  }
  return in;
}

LayerStack::Gradients LayerStack::backward_unrolled(ModuleBuilder::Body& body, InstructionId cotangent) {
  BodyWriter writer(parts_, body);
  const auto turns = static_cast<size_t>(group_.repeats), count = turn_->saved.size();
  Gradients made{cotangent, std::vector(parameters_.size(), std::vector<InstructionId>(turns))};
  for (size_t turn = turns; turn-- > 0;) {
    ExpressionEmitter emitter(turn_->graph, parts_, body);
    // As jax.checkpoint has it: what is recomputed from these isn't what the forward has computed, parameters
    // that were gathered for it included; and it waits for the gradient.
    std::vector<InstructionId> from(saved_.begin() + static_cast<int64_t>(turn * count),
                                    saved_.begin() + static_cast<int64_t>((turn + 1) * count));
    for (const StackedParameter& parameter : parameters_) from.push_back(parameter.values[turn]);
    from.push_back(made.input);
    from = writer.barrier(from);
    for (size_t i = 0; i < count; ++i)
      emitter.bind(turn_->saved[i].value,
                   turn_->saved[i].on_host ? writer.moved(from[i], kDefaultMemorySpace) : from[i]);
    for (size_t i = 0; i < parameters_.size(); ++i) emitter.bind(turn_->parameters[i], from[count + i]);
    emitter.bind(turn_->cotangent, from.back());
    emitter.emit(turn_->gradients());
    made.input = emitter.emit(turn_->input_gradient);
    for (size_t i = 0; i < parameters_.size(); ++i)
      made.parameters[i][turn] = emitter.emit(turn_->parameter_gradients[i]);
  }
  return made;
}

}  // namespace hlosim
