// Rows of tokens on their way to the devices of their experts and back, as MaxText's
// RoutedMoE.sparse_matmul sends them: two ragged all-to-alls along the axis of experts.
//
//   const ExpertExchange exchange(graph, region, axes, sizes, room, may_drop);
//   Expr arrived = exchange.to_experts(rows);                      // [room, width]
//   arrived = products(in the order of exchange.experts(), exchange.sizes());
//   const Expr back = exchange.to_tokens(arrived, rows);           // [rows, width]
//
// Every device knows how many rows each device has for each expert; offsets and sizes of both ways are sums
// of these numbers, and the gradient of one way is the other.
#pragma once

#include <vector>

#include "workloads/manual_region.h"

namespace hlosim {

class ExpertExchange {
 public:
  /// `sizes`: s32[experts], this device's rows of each expert, which has them in the order of experts.
  /// `room`: rows that a device can receive. `may_drop`: more than that could be sent; the last are dropped.
  ExpertExchange(ExpressionGraph& graph, const ManualRegion& region, std::vector<AxisPart> axes, Expr sizes,
                 int64_t room, bool may_drop);

  /// [rows, width] in the order of experts -> [room, width] in the order of the devices that they come from.
  Expr to_experts(Expr rows) const;
  /// The way back; `rows`: of the result.
  Expr to_tokens(Expr arrived, int64_t rows) const;
  /// s32[room]: which of the device's own experts each row is for; their number where no row has arrived.
  Expr experts() const;
  /// s32[own experts]: rows that have arrived for each.
  Expr sizes() const { return sizes_; }

 private:
  void ways(Expr pairs);
  void arrivals(Expr by_member);
  Expr sum_where(Expr values, int64_t dimension, const char* direction) const;
  Expr exclusive_sums(Expr values) const;
  Expr clipped(Expr place) const;

  ExpressionGraph& graph_;
  const ManualRegion& region_;
  std::vector<AxisPart> axes_;
  int64_t members_ = 1, own_ = 0, room_ = 0;
  bool may_drop_ = false;
  Expr me_{};  // this device's place along the axes
  // s32[members x own experts]: where rows of a member for an expert end among those that arrive.
  Expr ends_{};
  Expr sizes_{};
  RowExchange there_{}, back_{};
};

}  // namespace hlosim
