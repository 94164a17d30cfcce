#include "workloads/manual_region.h"

#include <algorithm>

#include "workloads/gradients.h"

namespace hlosim {
namespace {

using Kind = ExpressionAttr::Kind;

ExpressionAttr sharding_attr(const std::string& text) {
  return {AttrKey::kSharding, Kind::kBraces, {}, text};
}

int64_t product(const std::vector<AxisPart>& axes) {
  int64_t devices = 1;
  for (const AxisPart& part : axes) devices *= part.size;
  return devices;
}

}  // namespace

Dims ManualRegion::local_dims(const Dims& dims, const AxisSharding& sharding) const {
  Dims local = dims;
  for (size_t i = 0; i < dims.size(); ++i) local[i] /= sharding.tiles(i);
  return local;
}

/// Axes of the mesh that cut nothing: the value is the same along them.
std::vector<AxisPart> ManualRegion::others(const AxisSharding& sharding) const {
  std::vector<AxisPart> left;
  const Mesh& mesh = rules_.mesh();
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    const bool cuts =
        std::any_of(sharding.dimensions.begin(), sharding.dimensions.end(), [&](const auto& parts) {
          return std::any_of(parts.begin(), parts.end(),
                             [&](const AxisPart& part) { return part.axis == axis; });
        });
    if (!cuts && mesh.axes[axis].size > 1) left.push_back({axis, 1, mesh.axes[axis].size});
  }
  return left;
}

Expr ManualRegion::enter(Expr value, const AxisSharding& sharding) const {
  if (!rules_.sharded()) return value;
  const std::string text = sharding_text(rules_.mesh(), sharding);
  ValueType type = graph_[value].type;
  const Expr stated = custom_call(graph_, "Sharding", {value}, type, {sharding_attr(text)});
  graph_.at(stated).gradient = [](Backward& backward, Expr self, Expr cotangent) {
    backward.add(backward.graph()[self].operands[0], cotangent);
  };
  type.dims = local_dims(type.dims, sharding);
  const Expr local = custom_call(graph_, "SPMDFullToShardShape", {stated}, type, {sharding_attr("{manual}")});
  graph_.at(local).gradient = [rules = &rules_, sharding](Backward& backward, Expr self, Expr cotangent) {
    const ManualRegion region(backward.graph(), *rules);
    const Expr sum = region.sum_over(cotangent, region.others(sharding));
    backward.add(backward.graph()[self].operands[0], region.leave(sum, sharding));
  };
  return local;
}

Expr ManualRegion::leave(Expr local, const AxisSharding& sharding) const {
  if (!rules_.sharded()) return local;
  const std::string text = sharding_text(rules_.mesh(), sharding);
  ValueType type = graph_[local].type;
  const Expr stated = custom_call(graph_, "Sharding", {local}, type, {sharding_attr("{manual}")});
  graph_.at(stated).gradient = [](Backward& backward, Expr self, Expr cotangent) {
    backward.add(backward.graph()[self].operands[0], cotangent);
  };
  for (size_t i = 0; i < type.dims.size(); ++i) type.dims[i] *= sharding.tiles(i);
  const Expr whole = custom_call(graph_, "SPMDShardToFullShape", {stated}, type, {sharding_attr(text)});
  graph_.at(whole).gradient = [rules = &rules_, sharding](Backward& backward, Expr self, Expr cotangent) {
    const ManualRegion region(backward.graph(), *rules);
    backward.add(backward.graph()[self].operands[0], region.enter(cotangent, sharding));
  };
  return whole;
}

namespace {

/// Groups of `members` devices of a mesh that lie in another order than their numbers: places by the axes in
/// `order`, the last ones within a group.
std::vector<Dims> listed_groups(const Mesh& mesh, const Dims& order, int64_t members) {
  Dims strides(mesh.axes.size(), 1);
  for (size_t i = strides.size() - 1; i-- > 0;) strides[i] = strides[i + 1] * mesh.axes[i + 1].size;
  std::vector<Dims> groups;
  for (int64_t number = 0; number < mesh.devices(); ++number) {
    if (number % members == 0) groups.emplace_back();
    int64_t rest = number, place = 0;
    for (size_t i = order.size(); i-- > 0;) {
      const auto axis = static_cast<size_t>(order[i]);
      place += rest % mesh.axes[axis].size * strides[axis];
      rest /= mesh.axes[axis].size;
    }
    groups.back().push_back(mesh.device_order[static_cast<size_t>(place)]);
  }
  return groups;
}

/// Groups of devices that differ along `axes` only.
ExpressionAttr groups_along(const Mesh& mesh, const std::vector<AxisPart>& axes) {
  Dims sizes, order;
  for (size_t i = 0; i < mesh.axes.size(); ++i) {
    sizes.push_back(mesh.axes[i].size);
    if (std::none_of(axes.begin(), axes.end(), [&](const AxisPart& part) { return part.axis == i; }))
      order.push_back(static_cast<int64_t>(i));
  }
  for (const AxisPart& part : axes) order.push_back(static_cast<int64_t>(part.axis));
  const int64_t members = product(axes);
  if (!mesh.device_order.empty())
    return {AttrKey::kReplicaGroups, Kind::kGroupList, {}, {}, listed_groups(mesh, order, members)};
  if (std::is_sorted(order.begin(), order.end())) sizes = {mesh.devices()}, order.clear();
  return {
      AttrKey::kReplicaGroups, Kind::kGroups, {}, {}, {{mesh.devices() / members, members}, sizes, order}};
}

}  // namespace

Expr ManualRegion::collective(Opcode opcode, std::vector<Expr> operands, Dims dims,
                              std::vector<ExpressionAttr> attrs, const std::vector<AxisPart>& axes) const {
  attrs.push_back(groups_along(rules_.mesh(), axes));
  attrs.push_back({AttrKey::kChannelId, Kind::kChannel});
  if (opcode != Opcode::kRaggedAllToAll) attrs.push_back({AttrKey::kUseGlobalDeviceIds, Kind::kFlag, {1}});
  attrs.push_back(sharding_attr("{manual}"));
  Expression expression;
  expression.opcode = opcode;
  expression.type = {graph_.element(operands[0]), std::move(dims), {}};
  expression.operands = std::move(operands);
  expression.attrs = std::move(attrs);
  return graph_.add(std::move(expression));
}

Expr ManualRegion::gather(Expr local, int64_t dimension, const std::vector<AxisPart>& axes) const {
  if (product(axes) == 1) return local;
  Dims dims = graph_.dims(local);
  dims[static_cast<size_t>(dimension)] *= product(axes);
  const Expr whole =
      collective(Opcode::kAllGather, {local}, dims, {{AttrKey::kDimensions, Kind::kInts, {dimension}}}, axes);
  graph_.at(whole).gradient = [rules = &rules_, dimension, axes](Backward& backward, Expr self,
                                                                 Expr cotangent) {
    backward.add(backward.graph()[self].operands[0],
                 ManualRegion(backward.graph(), *rules).scatter_sum(cotangent, dimension, axes));
  };
  return whole;
}

Expr ManualRegion::scatter_sum(Expr local, int64_t dimension, const std::vector<AxisPart>& axes) const {
  if (product(axes) == 1) return local;
  Dims dims = graph_.dims(local);
  dims[static_cast<size_t>(dimension)] /= product(axes);
  const Expr part = collective(
      Opcode::kReduceScatter, {local}, dims,
      {{AttrKey::kDimensions, Kind::kInts, {dimension}}, {AttrKey::kToApply, Kind::kReducer, {}, "add"}},
      axes);
  graph_.at(part).gradient = [rules = &rules_, dimension, axes](Backward& backward, Expr self,
                                                                Expr cotangent) {
    backward.add(backward.graph()[self].operands[0],
                 ManualRegion(backward.graph(), *rules).gather(cotangent, dimension, axes));
  };
  return part;
}

Expr ManualRegion::sum_over(Expr local, const std::vector<AxisPart>& axes) const {
  if (product(axes) == 1) return local;
  const Expr sum = collective(Opcode::kAllReduce, {local}, graph_.dims(local),
                              {{AttrKey::kToApply, Kind::kReducer, {}, "add"}}, axes);
  graph_.at(sum).gradient = [](Backward& backward, Expr self, Expr cotangent) {
    backward.add(backward.graph()[self].operands[0], cotangent);
  };
  return sum;
}

Expr ManualRegion::exchange(Expr rows, int64_t received, const RowExchange& there, const RowExchange& back,
                            const std::vector<AxisPart>& axes) const {
  if (product(axes) == 1) return rows;
  Dims dims = graph_.dims(rows);
  dims[0] = received;
  const Expr output = full(graph_, graph_.element(rows), dims, 0);
  const Expr arrived = collective(
      Opcode::kRaggedAllToAll,
      {rows, output, there.input_offsets, there.send_sizes, there.output_offsets, there.recv_sizes}, dims, {},
      axes);
  graph_.at(arrived).gradient = [rules = &rules_, there, back, axes](Backward& backward, Expr self,
                                                                     Expr cotangent) {
    const Expr sent = backward.graph()[self].operands[0];
    backward.add(sent, ManualRegion(backward.graph(), *rules)
                           .exchange(cotangent, backward.graph().dims(sent)[0], back, there, axes));
  };
  return arrived;
}

}  // namespace hlosim
