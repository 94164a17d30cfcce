#include "exec/cluster_views.h"

#include <cstdlib>

#include "hlo/op_def.h"

namespace hlosim {
namespace {

// Bytes that stay in the L2 cache while one row after another walks down their columns.
constexpr int64_t kCached = 128 << 10;
constexpr int64_t kCacheLine = 64;

bool is_whole(const StridedView& view, ShapeRef base) {
  return view.is_dense() && view.offset == 0 && view.count() == base->element_count();
}

// Loads block by block use what they fetch: neighbours, one element many times, or what the cache keeps.
bool is_fast(const StridedView& view, ShapeRef base) {
  const StridedView runs = collapsed(view);
  if (runs.dimensions.empty()) return true;
  const int64_t width = byte_width(base->element_type);
  return std::abs(runs.strides.back()) * width < kCacheLine || base->element_count() * width <= kCached;
}

}  // namespace

bool is_plain_array(ShapeRef shape) {
  return shape->is_array() && shape->is_static() && shape->element_count() > 0;
}

ValueViews::ValueViews(const ComputationGraph& graph, Module& module, const OpTable& table,
                       const std::vector<std::pair<ValueId, Seen>>& known)
    : graph_(graph), values_(graph.values.size()) {
  for (ValueId value = 0; value < values_.size(); ++value) values_[value].base = value;
  for (const auto& [value, seen] : known) values_[value] = seen;
  for (const GraphNode& node : graph.nodes) see(node, module, table);
}

void ValueViews::see(const GraphNode& node, Module& module, const OpTable& table) {
  const OpDef& def = table[node.instruction->opcode];
  if (node.evaluation || !def.view || def.element || node.operands.size() != 1 || node.results.size() != 1)
    return;
  const ValueId from = node.operands[0], to = node.results[0];
  const ShapeRef operand = graph_.values[from].shape, result = graph_.values[to].shape;
  if (!is_plain_array(operand) || !is_plain_array(result) || operand->element_type != result->element_type)
    return;

  const OpContext op(module, *node.instruction, table, nullptr);
  StridedView view;
  Seen seen{values_[from].base, std::nullopt};
  bool known = values_[from].view && def.view(op, *values_[from].view, view);
  if (!known) {
    // Nothing stands between the operand and its base but other dimensions, or the operand has to be there.
    if (values_[from].view) seen.base = from;
    known = def.view(op, dense_view(operand->dimensions), view);
  }
  if (!known) return;
  if (!is_whole(view, graph_.values[seen.base].shape)) seen.view = std::move(view);
  values_[to] = std::move(seen);
}

Seen ValueViews::load(ValueId value) const {
  const Seen& seen = values_[value];
  if (seen.view && !is_fast(*seen.view, graph_.values[seen.base].shape)) return {value, std::nullopt};
  return seen;
}

}  // namespace hlosim
