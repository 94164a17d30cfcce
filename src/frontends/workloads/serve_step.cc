// Prefill and decode: the forward alone, with a cache of keys and values.
//
// The cache of each layer is [batch, sequence, kv heads, size] for keys and for values, stacked by group of
// layers as parameters are. Latent attention caches the latent of all heads [batch, sequence, rank] and the
// keys' rotary part [batch, sequence, size]; decode attends to the latents themselves.
// Prefill writes all of it from a prompt that fills the sequence; decode reads it, adds one token at
// `position`, and attends to what is there by then.
// With page_size each cache is a pool [pages, page_size, …] instead. `page_table` s32[batch, pages of a
// request] has the pages of each request, in the order of its tokens, and `position` is s32[batch].
#include <fmt/format.h>

#include "workloads/body_writer.h"
#include "workloads/sampling.h"
#include "workloads/step_module.h"

namespace hlosim {
namespace {

class ServeStep {
 public:
  ServeStep(const ModelConfig& model, const StepOptions& options)
      : step_(model, options),
        model_(model),
        options_(options),
        decodes_(options.kind == StepKind::kDecode) {}

  Result<Module> make() {
    step_.add_model_parameters();
    if (decodes_) add_caches();
    tokens_ = step_.parameter("tokens", {ElementType::kS32, {options_.batch, length()}, {}},
                              {Axis::kBatch, decodes_ ? Axis::kNone : Axis::kLength});
    if (decodes_) position_ = step_.parameter("position", position_type(), position_axes());
    if (pages()) add_page_table();
    InstructionId x = embedded();
    size_t cache = 0;
    for (size_t g = 0; g < step_.groups().size(); ++g) x = layers(g, x, cache);
    std::vector<Axis> axes{Axis::kBatch, Axis::kNone};
    if (options_.sampling == Sampling::kLogits) axes.push_back(Axis::kActVocab);
    if (options_.sampling == Sampling::kRandom) add_sampling_inputs();
    step_.result(last_row(x), axes);
    for (const Cache& one : caches_) step_.result(one.value, stacked(cache_axes()), one.parameter);
    if (options_.sampling == Sampling::kRandom) step_.result(new_state_, {Axis::kNone}, state_parameter_);
    return step_.finish(decodes_ ? "decode_step" : "prefill_step");
  }

 private:
  struct Cache {
    InstructionId value{};
    int64_t parameter = -1;
  };
  bool pages() const { return options_.page_size > 0; }
  int64_t pages_of_request() const { return options_.sequence / options_.page_size; }
  ValueType position_type() const { return {ElementType::kS32, pages() ? Dims{options_.batch} : Dims{}, {}}; }
  std::vector<Axis> position_axes() const {
    return pages() ? std::vector<Axis>{Axis::kBatch} : std::vector<Axis>{};
  }
  bool is_latent() const { return model_.attention.latent.has_value(); }
  std::vector<Axis> cache_axes() const {
    const Axis rows = pages() ? Axis::kNone : Axis::kBatch, tokens = pages() ? Axis::kNone : Axis::kLength;
    if (is_latent()) return {rows, tokens, Axis::kNone};
    return {rows, tokens, Axis::kActHeads, Axis::kNone};
  }

  int64_t length() const { return decodes_ ? 1 : options_.sequence; }
  bool loops() const { return options_.scan_layers; }
  std::vector<Axis> stacked(std::vector<Axis> axes) const {
    if (loops()) axes.insert(axes.begin(), Axis::kNone);
    return axes;
  }
  LayerScope scope(ExpressionGraph& graph, int64_t layer = 0) const {
    return LayerScope{graph, model_, options_, step_.rules(), layer};
  }

  ElementType cache_type() const {
    return options_.cache_type == ElementType::kInvalid ? options_.compute_type : options_.cache_type;
  }
  /// Keys, then values, of a layer; or latents, then the keys' rotary part.
  std::vector<ValueType> cache_types(int64_t layer) const {
    const int64_t rows = pages() ? options_.batch * pages_of_request() : options_.batch;
    const int64_t tokens = pages() ? options_.page_size : options_.sequence;
    if (const auto& latent = model_.attention.latent) {
      const auto one = [&](int64_t size) { return ValueType{cache_type(), {rows, tokens, size}, {}}; };
      return {one(latent->kv_rank), one(latent->rope_dim)};
    }
    const HeadSizes heads = head_sizes(model_, layer);
    const auto one = [&](int64_t size) {
      return ValueType{cache_type(), {rows, tokens, heads.kv_heads, size}, {}};
    };
    return {one(heads.head_dim), one(heads.value_dim)};
  }
  void add_caches() {
    for (const LayerGroup& group : step_.groups())
      for (int64_t turn = 0; turn < (loops() ? 1 : group.repeats); ++turn)
        for (int64_t place = 0; place < group.period; ++place) {
          const int64_t layer = group.first + place + turn * group.period;
          std::vector<ValueType> types = cache_types(layer);
          for (size_t i = 0; i < 2; ++i) {
            if (loops()) types[i].dims.insert(types[i].dims.begin(), group.repeats);
            const std::string_view what = is_latent() ? (i ? "rope" : "latent") : i ? "value" : "key";
            const std::string name = fmt::format("{}_cache.{}", what, layer);
            const InstructionId value = step_.parameter(name, types[i], stacked(cache_axes()));
            caches_.push_back({value, step_.parameter_count() - 1});
          }
        }
  }

  ValueType page_table_type() const { return {ElementType::kS32, {options_.batch, pages_of_request()}, {}}; }
  ValueType slots_type() const { return {ElementType::kS32, {options_.batch}, {}}; }

  /// The token of the pool that a request writes: its page's number, times page_size, and the place in it.
  void add_page_table() {
    page_table_ = step_.parameter("page_table", page_table_type(), {Axis::kBatch, Axis::kNone});
    ExpressionGraph graph;
    graph.set_scope("pages");
    ExpressionEmitter emitter(graph, step_.parts(), step_.body());
    const auto size = static_cast<double>(options_.page_size),
               count = static_cast<double>(pages_of_request());
    const Expr position = leaf(graph, emitter, position_type(), position_);
    const Expr table = leaf(graph, emitter, page_table_type(), page_table_);
    const Expr page = divide(graph, position, full_like(graph, position, size));
    const Expr place = subtract(graph, position, scale(graph, page, size));
    const Expr request = iota(graph, ElementType::kS32, {options_.batch}, 0);
    const Expr all = reshape(graph, table, {options_.batch * pages_of_request()});
    const Expr number = gather_rows(graph, all, add(graph, scale(graph, request, count), page));
    slots_ = emitter.emit(add(graph, scale(graph, number, size), place));
  }

  InstructionId embedded() {
    ExpressionGraph graph;
    LayerScope at = scope(graph);
    ExpressionEmitter emitter(graph, step_.parts(), step_.body());
    use(at, emitter, "embedding");
    if (model_.position == Position::kLearned) use(at, emitter, "positions");
    const Expr tokens = leaf(graph, emitter, {ElementType::kS32, {options_.batch, length()}, {}}, tokens_);
    std::optional<Expr> first;
    if (decodes_) first = leaf(graph, emitter, position_type(), position_);
    return emitter.emit(embed(at, tokens, first));
  }

  /// Of the last token alone: its logits, or the token that follows.
  InstructionId last_row(InstructionId x) {
    ExpressionGraph graph;
    LayerScope at = scope(graph);
    ExpressionEmitter emitter(graph, step_.parts(), step_.body());
    use(at, emitter, model_.tied_embeddings ? "embedding" : "head");
    use(at, emitter, "final_norm.scale");
    if (model_.norm == NormKind::kLayer) use(at, emitter, "final_norm.bias");
    const Expr all =
        leaf(graph, emitter, {options_.compute_type, {options_.batch, length(), model_.d_model}, {}}, x);
    const Expr last = slice(graph, all, 1, length() - 1, length());
    const Expr logits = logits_of(at, logits_product(at, norm(at, last, "final_norm")));
    switch (options_.sampling) {
      case Sampling::kLogits:
        return emitter.emit(logits);
      case Sampling::kGreedy:
        return emitter.emit(most_likely_tokens(graph, logits));
      case Sampling::kRandom:
        break;
    }
    return draw(at, emitter, logits);
  }

  void add_sampling_inputs() {
    const auto one = [&](const char* name, ElementType type) {
      return step_.parameter(name, {type, {options_.batch}, {}}, {Axis::kBatch});
    };
    sampling_ = {one("temperature", ElementType::kF32), one("top_k", ElementType::kS32),
                 one("top_p", ElementType::kF32)};
    sampling_.push_back(step_.parameter("rng_state", {ElementType::kU64, {2}, {}}, {Axis::kNone}));
    state_parameter_ = step_.parameter_count() - 1;
  }

  /// Servers sample from logits that every device of `tensor` has all of.
  InstructionId draw(const LayerScope& at, ExpressionEmitter& emitter, Expr logits) {
    ExpressionGraph& graph = at.graph;
    const Dims rows{options_.batch};
    const SamplingInputs inputs{leaf(graph, emitter, {ElementType::kF32, rows, {}}, sampling_[0]),
                                leaf(graph, emitter, {ElementType::kS32, rows, {}}, sampling_[1]),
                                leaf(graph, emitter, {ElementType::kF32, rows, {}}, sampling_[2]),
                                leaf(graph, emitter, {ElementType::kU64, {2}, {}}, sampling_[3])};
    const Expr whole = at.constrained(logits, {Axis::kBatch, Axis::kNone, Axis::kNone});
    const SampledTokens made = sampled_tokens(graph, whole, inputs);
    new_state_ = emitter.emit(made.state);
    return emitter.emit(made.tokens);
  }

  static Expr leaf(ExpressionGraph& graph, ExpressionEmitter& emitter, const ValueType& type,
                   InstructionId value) {
    const Expr made = graph.leaf(type, "value");
    emitter.bind(made, value);
    return made;
  }
  void use(LayerScope& at, ExpressionEmitter& emitter, const std::string& name) {
    const StepParameter& parameter = step_.outer(name);
    at.parameters[name] =
        leaf(at.graph, emitter, {step_.type_of(parameter.spec), parameter.spec.dims, {}}, parameter.value);
  }

  /// One turn of a group: activations out, and each layer's keys and values. `cached`: before; empty: none.
  std::vector<InstructionId> turn(ModuleBuilder::Body& body, const LayerGroup& group, InstructionId x,
                                  const std::vector<StackedParameter>& specs,
                                  const std::vector<InstructionId>& parameters,
                                  const std::vector<InstructionId>& cached, InstructionId position) {
    ExpressionGraph graph;
    ExpressionEmitter emitter(graph, step_.parts(), body);
    Expr value =
        leaf(graph, emitter, {options_.compute_type, {options_.batch, length(), model_.d_model}, {}}, x);
    std::vector<Expr> results;
    size_t next = 0;  // parameters are in the order of their layers
    for (int64_t place = 0; place < group.period; ++place) {
      LayerScope at = scope(graph, group.first + place);
      for (; next < specs.size() && specs[next].place == place; ++next)
        at.parameters[specs[next].spec.name] = leaf(
            graph, emitter, {step_.type_of(specs[next].spec), specs[next].spec.dims, {}}, parameters[next]);
      if (!cached.empty()) {
        const std::vector<ValueType> types = cache_types(group.first + place);
        at.position = leaf(graph, emitter, position_type(), position);
        if (pages()) {
          at.page_table = leaf(graph, emitter, page_table_type(), page_table_);
          at.slots = leaf(graph, emitter, slots_type(), slots_);
        }
        at.cached_keys = leaf(graph, emitter, types[0], cached[static_cast<size_t>(2 * place)]);
        at.cached_values = leaf(graph, emitter, types[1], cached[static_cast<size_t>(2 * place + 1)]);
      }
      value = decoder_layer(at, value);
      results.push_back(at.new_keys);
      results.push_back(at.new_values);
    }
    std::vector<InstructionId> made{emitter.emit(value)};
    for (const Expr result : results) made.push_back(emitter.emit(result));
    return made;
  }

  /// All layers of a group; `cache` counts the caches that are behind.
  InstructionId layers(size_t index, InstructionId x, size_t& cache) {
    const LayerGroup& group = step_.groups()[index];
    const std::vector<StackedParameter> specs = step_.group_parameters(index);
    const auto count = static_cast<size_t>(2 * group.period);
    return loops() ? loop(group, x, specs, count, cache) : unrolled(group, x, specs, count, cache);
  }

  InstructionId unrolled(const LayerGroup& group, InstructionId x, const std::vector<StackedParameter>& specs,
                         size_t count, size_t& cache) {
    for (int64_t i = 0; i < group.repeats; ++i) {
      std::vector<InstructionId> parameters, cached;
      for (const StackedParameter& spec : specs) parameters.push_back(spec.values[static_cast<size_t>(i)]);
      for (size_t k = 0; decodes_ && k < count; ++k) cached.push_back(caches_[cache + k].value);
      const std::vector<InstructionId> made =
          turn(step_.body(), group, x, specs, parameters, cached, position_);
      x = made[0];
      keep({made.begin() + 1, made.end()}, cache);
      cache += count;
    }
    return x;
  }

  // State: activations, caches, position (decode), parameters.
  InstructionId loop(const LayerGroup& group, InstructionId x, const std::vector<StackedParameter>& specs,
                     size_t count, size_t& cache) {
    BodyWriter outer(step_.parts(), step_.body());
    std::vector<InstructionId> state{x};
    for (size_t k = 0; k < count; ++k) {
      if (decodes_) {
        state.push_back(caches_[cache + k].value);
        continue;
      }
      ValueType type = cache_types(group.first + static_cast<int64_t>(k / 2))[k % 2];
      type.dims.insert(type.dims.begin(), group.repeats);
      state.push_back(
          outer.allocate(step_.parts().shape(type), step_.rules().sharding(stacked(cache_axes()))));
    }
    if (decodes_) state.push_back(position_);
    const size_t first = state.size();
    for (const StackedParameter& spec : specs) state.push_back(spec.values[0]);
    const LoopTurn one = [&](ModuleBuilder::Body& body, InstructionId counter,
                             const std::vector<InstructionId>& before) {
      BodyWriter writer(step_.parts(), body);
      std::vector<InstructionId> parameters, cached;
      for (size_t i = 0; i < specs.size(); ++i)
        parameters.push_back(writer.part_of(before[first + i], counter, options_.stack_axis));
      for (size_t k = 0; decodes_ && k < count; ++k)
        cached.push_back(writer.part_of(before[1 + k], counter, 0));
      const std::vector<InstructionId> made = turn(body, group, before[0], specs, parameters, cached,
                                                   decodes_ ? before[1 + count] : InstructionId{});
      std::vector<InstructionId> after = before;
      after[0] = made[0];
      for (size_t k = 0; k < count; ++k)
        after[1 + k] = writer.with_part(before[1 + k], made[1 + k], counter, 0);
      return after;
    };
    const std::vector<InstructionId> out = count_loop(step_.parts(), step_.body(), state, group.repeats,
                                                      fmt::format("layers_from_{}", group.first), one);
    keep({out.begin() + 1, out.begin() + 1 + static_cast<int64_t>(count)}, cache);
    cache += count;
    return out[0];
  }

  void keep(const std::vector<InstructionId>& values, size_t cache) {
    for (size_t k = 0; k < values.size(); ++k) {
      if (cache + k == caches_.size()) caches_.emplace_back();
      caches_[cache + k].value = values[k];
    }
  }

  StepModule step_;
  const ModelConfig& model_;
  const StepOptions& options_;
  bool decodes_;
  InstructionId tokens_{}, position_{}, new_state_{};
  InstructionId page_table_{}, slots_{};  // with page_size
  std::vector<InstructionId> sampling_;   // temperature, top-k, top-p, the generator's state
  int64_t state_parameter_ = -1;
  std::vector<Cache> caches_;
};

}  // namespace

Result<Module> make_serve_step(const ModelConfig& model, const StepOptions& options) {
  return ServeStep(model, options).make();
}

}  // namespace hlosim
