// Where the elements of a value lie when nothing is copied for broadcasts, slices, reshapes and the like.
//
//   const ValueViews views(graph, module, table);
//   if (views.is_view(value)) …                    // its elements lie in views[value].base
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "exec/step_graph.h"
#include "layout/strided_view.h"

namespace hlosim {

/// Elements of `base` in the order of another value's.
struct Seen {
  ValueId base = 0;
  /// Nullopt: all elements of `base` in its own order, maybe under other dimensions.
  std::optional<StridedView> view;
};

/// For each value of a graph how it is seen in the memory of the first value behind it that isn't itself only
/// a view of another.
class ValueViews {
 public:
  /// `known`: values that are views of others though no opcode with a view makes them.
  ValueViews(const ComputationGraph& graph, Module& module, const OpTable& table,
             const std::vector<std::pair<ValueId, Seen>>& known = {});

  /// As composed as possible.
  const Seen& operator[](ValueId value) const { return values_[value]; }
  /// As a pass reads it block by block: the value itself where single strided loads would be too slow, as
  /// those down the columns of a large array.
  Seen load(ValueId value) const;
  /// The value is the result of an opcode that only looks at its operand's elements.
  bool is_view(ValueId value) const { return values_[value].base != value; }

 private:
  void see(const GraphNode& node, Module& module, const OpTable& table);

  const ComputationGraph& graph_;
  std::vector<Seen> values_;
};

/// The value takes part: an array of static shape with elements.
bool is_plain_array(ShapeRef shape);

}  // namespace hlosim
