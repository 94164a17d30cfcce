// Parts of a step that are written for one device, as shard_map makes them: values go in as shards and come
// out as whole arrays; between, collectives are said by axes of the mesh.
//
//   const ManualRegion region(graph, rules);
//   const Expr local = region.enter(x, {Axis::kBatch, Axis::kLength, Axis::kNone});
//   const Expr out = region.leave(work(local), {Axis::kBatch, Axis::kLength, Axis::kNone});
//
// Gradients: what goes in whole along some axes comes back as the sum over them; what comes out whole is a
// sum over the devices that the region itself has made (sum_over), or the same everywhere.
#pragma once

#include <string>
#include <vector>

#include "workloads/axis_rules.h"
#include "workloads/model_operations.h"

namespace hlosim {

/// Rows of one device for each of the members of its group, s32[members] each: where they begin in the input,
/// how many they are, where they go in the member's output; and how many arrive from each.
struct RowExchange {
  Expr input_offsets{}, send_sizes{}, output_offsets{}, recv_sizes{};
};

class ManualRegion {
 public:
  ManualRegion(ExpressionGraph& graph, const AxisRules& rules) : graph_(graph), rules_(rules) {}

  Expr enter(Expr value, const std::vector<Axis>& axes) const { return enter(value, cut(axes)); }
  Expr leave(Expr local, const std::vector<Axis>& axes) const { return leave(local, cut(axes)); }
  Expr enter(Expr value, const AxisSharding& sharding) const;
  Expr leave(Expr local, const AxisSharding& sharding) const;
  AxisSharding cut(const std::vector<Axis>& axes) const { return rules_.axes(axes); }

  /// Shards along `dimension` put together over these axes; the gradient is scattered.
  Expr gather(Expr local, int64_t dimension, const std::vector<AxisPart>& axes) const;
  /// Sums over devices, of which each keeps its part of `dimension`; the gradient is gathered.
  Expr scatter_sum(Expr local, int64_t dimension, const std::vector<AxisPart>& axes) const;
  /// The sum over devices; each is handed the whole gradient.
  Expr sum_over(Expr local, const std::vector<AxisPart>& axes) const;
  /// A ragged all-to-all of rows into `received` of them; rows that nothing arrives in are 0. The gradient
  /// goes the way that `back` describes.
  Expr exchange(Expr rows, int64_t received, const RowExchange& there, const RowExchange& back,
                const std::vector<AxisPart>& axes) const;
  Dims local_dims(const Dims& dims, const AxisSharding& sharding) const;

 private:
  Expr collective(Opcode opcode, std::vector<Expr> operands, Dims dims, std::vector<ExpressionAttr> attrs,
                  const std::vector<AxisPart>& axes) const;
  std::vector<AxisPart> others(const AxisSharding& sharding) const;

  ExpressionGraph& graph_;
  const AxisRules& rules_;
};

}  // namespace hlosim
