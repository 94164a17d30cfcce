#include "workloads/expert_exchange.h"

#include <utility>

namespace hlosim {

ExpertExchange::ExpertExchange(ExpressionGraph& graph, const ManualRegion& region, std::vector<AxisPart> axes,
                               Expr sizes, int64_t room, bool may_drop)
    : graph_(graph), region_(region), axes_(std::move(axes)), room_(room), may_drop_(may_drop) {
  for (const AxisPart& part : axes_) members_ *= part.size;
  const int64_t experts = graph.dims(sizes)[0];
  own_ = experts / members_;
  const Expr all = region.gather(reshape(graph, sizes, {1, experts}), 0, axes_);
  const Expr by_member = reshape(graph, all, {members_, members_, own_});  // from, to, expert there
  AxisSharding cut;
  cut.dimensions = {axes_};
  me_ = reshape(graph, region.enter(iota(graph, ElementType::kS32, {members_}, 0), cut), {});
  ways(reduce_sum(graph, by_member, {2}));
  arrivals(by_member);
}

/// `pairs` s32[members, members]: rows from one to another.
void ExpertExchange::ways(Expr pairs) {
  const Expr sent = sum_where(pairs, 0, "EQ"), arriving = sum_where(pairs, 1, "EQ");
  const Expr landing = sum_where(pairs, 0, "LT"), leaving = sum_where(pairs, 1, "LT");
  const Expr first = exclusive_sums(arriving);
  there_ = {exclusive_sums(sent), sent, landing, arriving};
  if (may_drop_) {
    there_.output_offsets = clipped(landing);
    there_.send_sizes = subtract(graph_, clipped(add(graph_, landing, sent)), there_.output_offsets);
    there_.recv_sizes = subtract(graph_, clipped(add(graph_, first, arriving)), clipped(first));
  }
  back_ = {may_drop_ ? clipped(first) : first, there_.recv_sizes, leaving, there_.send_sizes};
}

/// What arrives is in the order of members, and of experts within each.
void ExpertExchange::arrivals(Expr by_member) {
  const Expr here = reshape(graph_, sum_where(by_member, 1, "EQ"), {members_ * own_});
  const Expr starts = exclusive_sums(here);
  ends_ = clipped(add(graph_, starts, here));
  const Expr counts = may_drop_ ? subtract(graph_, ends_, clipped(starts)) : here;
  sizes_ = reduce_sum(graph_, reshape(graph_, counts, {members_, own_}), {0});
}

Expr ExpertExchange::experts() const {
  const int64_t parts = members_ * own_;
  const Dims dims{room_, parts};
  const Expr is_behind =
      compare(graph_, iota(graph_, ElementType::kS32, dims, 0), broadcast(graph_, ends_, dims, {1}), "GE");
  const Expr part = reduce_sum(graph_, convert(graph_, is_behind, ElementType::kS32), {1});
  const Expr own = full_like(graph_, part, static_cast<double>(own_));
  const Expr expert = subtract(graph_, part, multiply(graph_, divide(graph_, part, own), own));
  const Expr has_row = compare(graph_, part, full_like(graph_, part, static_cast<double>(parts)), "LT");
  return select(graph_, has_row, expert, own);
}

Expr ExpertExchange::to_experts(Expr rows) const {
  return region_.exchange(rows, room_, there_, back_, axes_);
}

Expr ExpertExchange::to_tokens(Expr arrived, int64_t rows) const {
  return region_.exchange(arrived, rows, back_, there_, axes_);
}

/// The sum along `dimension` over members that compare so with this one.
Expr ExpertExchange::sum_where(Expr values, int64_t dimension, const char* direction) const {
  const Dims dims = graph_.dims(values);
  const Expr counts = compare(graph_, iota(graph_, ElementType::kS32, dims, dimension),
                              broadcast(graph_, me_, dims, {}), direction);
  return reduce_sum(graph_, select(graph_, counts, values, full_like(graph_, values, 0)), {dimension});
}

/// Sums of the elements before each.
Expr ExpertExchange::exclusive_sums(Expr values) const {
  const int64_t size = graph_.dims(values)[0];
  const Dims dims{size, size};
  const Expr is_before = compare(graph_, iota(graph_, ElementType::kS32, dims, 0),
                                 iota(graph_, ElementType::kS32, dims, 1), "LT");
  const Expr all = broadcast(graph_, values, dims, {0});
  return reduce_sum(graph_, select(graph_, is_before, all, full_like(graph_, all, 0)), {0});
}

Expr ExpertExchange::clipped(Expr place) const {
  return may_drop_ ? minimum(graph_, place, full_like(graph_, place, static_cast<double>(room_))) : place;
}

}  // namespace hlosim
