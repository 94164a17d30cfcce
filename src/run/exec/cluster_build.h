// From a group of nodes to one node that runs as a pass.
//
//   ProgramMaker maker({graph, views, groups, module, table}, elements);
//   for (const GraphNode& node : nodes) maker.apply(node);
//   maker.output(result);                     // maker.finish() is the program
#pragma once

#include <unordered_map>
#include <vector>

#include "elementwise/element_program.h"
#include "exec/cluster_groups.h"
#include "exec/cluster_load.h"

namespace hlosim {

/// What all makers of passes look at.
struct ClusterContext {
  const ComputationGraph& graph;
  const ValueViews& views;
  const Groups& groups;
  Module& module;
  const OpTable& table;

  int64_t width(ValueId value) const { return byte_width(graph.values[value].shape->element_type); }
};

/// Elementwise nodes of `space` elements as one program.
class ProgramMaker {
 public:
  /// What an input of the program is read from.
  struct Input {
    ValueId base;
    LoadPlan load;
  };

  ProgramMaker(const ClusterContext& context, int64_t space) : context_(context), space_(space) {}

  void apply(const GraphNode& node);
  /// Requires: `value` is of a node applied.
  void output(ValueId value) { builder_.output(values_.at(value)); }
  const std::vector<Input>& inputs() const { return inputs_; }
  std::shared_ptr<const ElementProgram> finish();

 private:
  using Value = ElementProgramBuilder::Value;
  Value value_of(ValueId operand);
  Value load(ValueId base, const StridedView& view);

  struct Load {
    ValueId base;
    StridedView view;
    Value value;
  };
  const ClusterContext& context_;
  int64_t space_;
  ElementProgramBuilder builder_;
  std::unordered_map<ValueId, Value> values_;
  std::vector<Load> loads_;
  std::vector<Input> inputs_;
};

/// The group as one node; `outputs`: the values needed outside.
GraphNode make_pass(const ClusterContext& context, const Group& group, const std::vector<ValueId>& outputs);
/// The same for a group with rows (exec/cluster_row_build.cc).
GraphNode make_row_pass(const ClusterContext& context, const Group& group,
                        const std::vector<ValueId>& outputs);

/// Index of `value` among the operands, where it is added if need be.
size_t operand_index(GraphNode& node, ValueId value);

/// An operand whose bytes `result` may take: one that is `free` (a flag per operand), of as many elements as
/// wide; -1: there is none.
int64_t reusable_operand(const ClusterContext& context, const GraphNode& node, ValueId result,
                         const std::vector<bool>& free);

}  // namespace hlosim
