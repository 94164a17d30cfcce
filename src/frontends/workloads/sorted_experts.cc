// Experts without a limit: rows sorted by expert, one product in groups for each matrix.
//
// It all happens in a region of one device: its tokens, the parameters gathered from fsdp. Along `tensor` a
// device has parts of the hidden width, or of the experts where servers deal them out over it. Along `expert`
// there are two forms:
//
// * Exchange (training): every device sends its rows to the devices of their experts, which sort them by
//   expert, and gets them back (expert_exchange.h). What arrives goes into an array with room for the most
//   that could arrive, or for a multiple of the mean.
// * Ring of experts (servers; training with use_ring_of_experts): every device is given the tokens of all of
//   them and has products with its own experts' rows, which a sorting puts first. What comes out is summed.
//
// In both a device's ragged-dot has more rows than have products. Its frontend attribute `hlosim.row_groups`
// is the number of groups of the usual size that they would be.
#include <algorithm>

#include "workloads/expert_exchange.h"
#include "workloads/experts.h"
#include "workloads/manual_region.h"

namespace hlosim {
namespace {

class SortedExperts {
 public:
  SortedExperts(const LayerScope& scope)
      : scope_(scope), graph_(scope.graph), moe_(*scope.model.moe), region_(scope.graph, scope.rules) {}

  Expr make(Expr x, const Routing& routing) {
    Expr local = region_.enter(x, {Axis::kBatch, Axis::kLength, Axis::kHidden});
    local = region_.gather(local, 2, axes_of(Axis::kHidden));
    const Expr tokens = region_.gather(local, 0, gathered_axes());
    const Dims dims = graph_.dims(tokens);
    const int64_t count = dims[0] * dims[1];
    sort(routing, count);
    const Expr copies =
        broadcast(graph_, reshape(graph_, tokens, {count, dims[2]}), {count, moe_.top_k, dims[2]}, {0, 2});
    Expr rows =
        permute_rows(graph_, reshape(graph_, copies, {count * moe_.top_k, dims[2]}), order_, inverse_);
    rows = exchanges() ? through_experts(rows) : mlp(rows);
    const Expr back = permute_rows(graph_, rows, inverse_, order_);
    const Dims by_token{count, moe_.top_k, graph_.dims(back)[1]};
    const Expr weights = broadcast(graph_, convert(graph_, weights_, scope_.type()), by_token, {0, 1});
    Expr out = reduce_sum(graph_, multiply(graph_, reshape(graph_, back, by_token), weights), {1});
    out = reshape(graph_, out, {dims[0], dims[1], by_token[2]});
    if (!exchanges()) {
      out = region_.scatter_sum(out, 0, gathered_axes());
      out = region_.scatter_sum(out, 2, axes_of(Axis::kHidden));
    }
    out = region_.sum_over(out, replicated_axes());
    return region_.leave(out, {Axis::kBatch, Axis::kLength, Axis::kHidden});
  }

 private:
  std::vector<AxisPart> axes_of(Axis axis) const { return region_.cut({axis}).dimensions[0]; }
  std::vector<AxisPart> expert_axes() const { return axes_of(Axis::kActExperts); }
  static bool has_axis(const std::vector<AxisPart>& parts, size_t axis) {
    return std::any_of(parts.begin(), parts.end(), [&](const AxisPart& part) { return part.axis == axis; });
  }
  /// Of the experts' axes, those that cut the tokens, too.
  std::vector<AxisPart> token_axes() const {
    std::vector<AxisPart> axes;
    for (const AxisPart& part : expert_axes())
      if (has_axis(axes_of(Axis::kBatch), part.axis)) axes.push_back(part);
    return axes;
  }
  bool exchanges() const {
    return scope_.options.kind == StepKind::kTrain && !scope_.options.ring_of_experts &&
           !token_axes().empty();
  }
  /// Axes along which every device is given all tokens.
  std::vector<AxisPart> gathered_axes() const { return exchanges() ? std::vector<AxisPart>() : token_axes(); }
  /// Of the axes that cut experts or their widths, those along which every device has the whole result.
  std::vector<AxisPart> replicated_axes() const {
    const AxisSharding cut = region_.cut({Axis::kExperts, Axis::kEmbed, Axis::kMlp});
    std::vector<AxisPart> axes;
    for (const std::vector<AxisPart>* parts : {&cut.dimensions[0], &cut.dimensions[2]})
      for (const AxisPart& part : *parts)
        if (stays_cut(part) && !has_axis(axes_of(Axis::kBatch), part.axis) &&
            !has_axis(axes_of(Axis::kHidden), part.axis))
          axes.push_back(part);
    return axes;
  }
  const std::string& name_of(const AxisPart& part) const { return scope_.rules.mesh().axes[part.axis].name; }
  /// Axes of experts' weights that are not gathered.
  bool stays_cut(const AxisPart& part) const {
    return name_of(part) == "tensor" || name_of(part) == "expert";
  }
  /// Devices that share the width of an expert.
  int64_t width_parts() const {
    const AxisSharding cut = region_.cut({Axis::kExperts, Axis::kEmbed, Axis::kMlp});
    int64_t parts = 1;
    for (const AxisPart& part : cut.dimensions[2])
      if (stays_cut(part)) parts *= part.size;
    return parts;
  }

  /// Rows by expert, and how many each has. In the ring, own experts come first and others aren't counted.
  void sort(const Routing& routing, int64_t count) {
    const std::vector<Axis> cut{Axis::kBatch, Axis::kLength, Axis::kNone};
    const int64_t slots = count * moe_.top_k;
    const auto local = [&](Expr value) {
      return region_.gather(region_.enter(value, cut), 0, gathered_axes());
    };
    weights_ = reshape(graph_, local(routing.weights), {count, moe_.top_k});
    experts_ = reshape(graph_, local(routing.experts), {slots});
    const int64_t counted = exchanges() ? moe_.experts : own_experts();
    if (counted < moe_.experts) {
      const Expr numbers = iota(graph_, ElementType::kS32, {moe_.experts}, 0);
      const Expr first = slice(graph_, region_.enter(numbers, {Axis::kActExperts}), 0, 0, 1);
      const Expr from =
          subtract(graph_, experts_, broadcast(graph_, reshape(graph_, first, {}), {slots}, {}));
      const Expr none = full_like(graph_, from, 0);
      const Expr later = shift(graph_, from, static_cast<double>(moe_.experts));
      experts_ = select(graph_, compare(graph_, from, none, "LT"), later, from);
    }
    const Sorted by_expert = sorted(experts_);
    sorted_experts_ = by_expert.keys, order_ = by_expert.order, inverse_ = by_expert.inverse;
    const Dims dims{slots, counted};
    const Expr hits = compare(graph_, broadcast(graph_, experts_, dims, {0}),
                              iota(graph_, ElementType::kS32, dims, 1), "EQ");
    sizes_ = reduce_sum(graph_, convert(graph_, hits, ElementType::kS32), {0});
    row_groups_ = static_cast<double>(moe_.experts);
  }
  int64_t own_experts() const { return moe_.experts / scope_.rules.parts(Axis::kActExperts); }

  struct Sorted {
    Expr keys, order, inverse;
  };
  Sorted sorted(Expr keys) const {
    const Expr both = sort_with_positions(graph_, keys);
    const Expr order = element(graph_, both, 1);
    return {element(graph_, both, 0), order, element(graph_, sort_with_positions(graph_, order), 1)};
  }

  /// Rows in the order of experts -> what their experts make of them. Along `tensor` each device sends back
  /// its part of the sum.
  Expr through_experts(Expr rows) {
    const int64_t slots = graph_.dims(rows)[0], own = own_experts();
    const int64_t most = slots / moe_.top_k * std::min(own, moe_.top_k) * (moe_.experts / own);
    const double factor = scope_.options.ragged_buffer_factor;
    const int64_t room =
        factor > 0 ? std::clamp(static_cast<int64_t>(static_cast<double>(slots) * factor), int64_t{1}, most)
                   : most;
    const ExpertExchange exchange(graph_, region_, token_axes(), sizes_, room, room < most);
    row_groups_ = static_cast<double>(own) * static_cast<double>(room) / static_cast<double>(slots);
    sizes_ = exchange.sizes();
    const Expr arrived = exchange.to_experts(rows);
    const Sorted by_expert = sorted(exchange.experts());
    sorted_experts_ = by_expert.keys;
    Expr out = mlp(permute_rows(graph_, arrived, by_expert.order, by_expert.inverse));
    out = region_.scatter_sum(out, 1, axes_of(Axis::kHidden));
    return exchange.to_tokens(permute_rows(graph_, out, by_expert.inverse, by_expert.order), slots);
  }

  /// A parameter in the layer's type, whole but along expert and tensor.
  Expr weights(const std::string& name, const std::vector<Axis>& axes, bool narrow = false) const {
    Expr value = region_.enter(scope_.parameter("moe." + name), region_.cut(axes));
    if (narrow) value = narrowed_weights(graph_, value);
    return gathered(value, axes);
  }
  Expr stored(const std::string& name, const std::vector<Axis>& axes) const {
    return gathered(region_.enter(scope_.stored("moe." + name), region_.cut(axes)), axes);
  }
  Expr gathered(Expr value, const std::vector<Axis>& axes) const {
    const AxisSharding cut = region_.cut(axes);
    for (size_t i = 0; i < axes.size(); ++i) {
      std::vector<AxisPart> parts;
      for (const AxisPart& part : cut.dimensions[i]) {
        const bool stays =
            name_of(part) == "tensor" || (axes[i] == Axis::kExperts && name_of(part) == "expert");
        if (!stays) parts.push_back(part);
      }
      value = region_.gather(value, static_cast<int64_t>(i), parts);
    }
    return value;
  }

  /// Rows [experts, out] of a table for each row's expert; rows without an own expert have the last one.
  Expr of_rows(Expr table) const {
    const Expr own = full_like(graph_, sorted_experts_, static_cast<double>(graph_.dims(sizes_)[0]));
    return gather_rows(graph_, table, minimum(graph_, sorted_experts_, shift(graph_, own, -1)));
  }

  /// The biases [experts, out] of each row's expert, none for rows without an own one; `share`: of the
  /// devices that add it.
  Expr with_row_bias(Expr rows, const std::string& name, const std::vector<Axis>& axes, double share) const {
    if (!scope_.has("moe." + name)) return rows;
    const Dims dims = graph_.dims(rows);
    const Expr own = full_like(graph_, sorted_experts_, static_cast<double>(graph_.dims(sizes_)[0]));
    const Expr is_own = convert(graph_, compare(graph_, sorted_experts_, own, "LT"), scope_.type());
    const Expr biases = of_rows(scale(graph_, weights(name, axes), share));
    return add(graph_, rows, multiply(graph_, biases, broadcast(graph_, is_own, dims, {0})));
  }

  /// Named by what is outside of the region, where nothing is a partial sum.
  Expr named(Expr rows, SavedValue value) const {
    if (scope_.rules.parts(Axis::kActMlp) > 1 || (!exchanges() && !expert_axes().empty())) return rows;
    const std::vector<Axis> cut{Axis::kTokens, Axis::kNone};
    return region_.enter(graph_.named(region_.leave(rows, cut), value), cut);
  }

  Expr times_weights(Expr rows, const std::string& name, const std::vector<Axis>& axes) const {
    const ExpertTiles& tiles = scope_.options.expert_tiles;
    const RowGroups groups{sizes_, row_groups_, name == "wo" ? tiles.out : tiles.in};
    const std::string scales = scale_of(name);
    if (scope_.has("moe." + scales)) {
      const Expr sums = stored_grouped_product(scope_, rows, stored(name, axes), groups);
      const Expr of_experts = convert(graph_, stored(scales, {axes.front(), axes.back()}), scope_.type());
      return multiply(graph_, sums, of_rows(of_experts));
    }
    std::optional<Expr> narrow;
    if (scope_.options.quantized_gather && scope_.options.quantization == Quantization::kFp8)
      narrow = weights(name, axes, true);
    return grouped_product(scope_, rows, weights(name, axes), groups, narrow);
  }

  Expr mlp(Expr rows) const {
    const std::vector<Axis> in{Axis::kExperts, Axis::kEmbed, Axis::kMlp};
    const auto product = [&](const std::string& name, SavedValue value) {
      const Expr made = times_weights(rows, name, in);
      return named(with_row_bias(made, name + "_bias", {Axis::kExperts, Axis::kMlp}, 1), value);
    };
    Expr hidden;
    if (scope_.model.gated_mlp) {
      const Expr gate = product("wi_0", SavedValue::kMlpWi0), up = product("wi_1", SavedValue::kMlpWi1);
      hidden = multiply(graph_, activate(scope_, gate), up);
    } else {
      hidden = activate(scope_, product("wi", SavedValue::kMlpWi));
    }
    const Expr out = times_weights(hidden, "wo", {Axis::kExperts, Axis::kMlp, Axis::kEmbed});
    const double share = 1.0 / static_cast<double>(width_parts());
    return named(with_row_bias(out, "wo_bias", {Axis::kExperts, Axis::kNone}, share), SavedValue::kMlpWo);
  }

  const LayerScope& scope_;
  ExpressionGraph& graph_;
  const MoeConfig& moe_;
  ManualRegion region_;
  Expr weights_{}, experts_{}, sorted_experts_{}, order_{}, inverse_{}, sizes_{};
  double row_groups_ = 0;
};

}  // namespace

Expr sorted_experts(const LayerScope& scope, Expr x, const Routing& routing) {
  return SortedExperts(scope).make(x, routing);
}

}  // namespace hlosim
