#include "exec/cluster_build.h"

#include <algorithm>

#include "elementwise/element_kernels.h"
#include "exec/cluster_pass.h"
#include "hlo/op_def.h"

namespace hlosim {

void ProgramMaker::apply(const GraphNode& node) {
  std::vector<Value> operands;
  for (const ValueId operand : node.operands) operands.push_back(value_of(operand));
  const OpContext op(context_.module, *node.instruction, context_.table, nullptr);
  const ValueId result = node.results[0];
  values_[result] =
      builder_.apply(elementwise_kernel(op), operands, context_.graph.values[result].shape->element_type);
}

ProgramMaker::Value ProgramMaker::value_of(ValueId operand) {
  Seen seen = context_.views.load(operand);
  if (!seen.view) {
    const auto known = values_.find(seen.base);
    if (known != values_.end()) return known->second;
    seen.view = dense_view(context_.graph.values[seen.base].shape->dimensions);
  }
  if (context_.graph.values[operand].shape->is_scalar() && space_ != 1)
    seen.view = StridedView{seen.view->offset, {space_}, {0}};
  return load(seen.base, collapsed(*seen.view));
}

ProgramMaker::Value ProgramMaker::load(ValueId base, const StridedView& view) {
  for (const Load& known : loads_)
    if (known.base == base && known.view.offset == view.offset && known.view.dimensions == view.dimensions &&
        known.view.strides == view.strides)
      return known.value;
  const LoadPlan plan(view, context_.width(base));
  const ComputationGraph::Value& source = context_.graph.values[base];
  Value value;
  if (source.constant.data && (plan.is_splat() || space_ == 1)) {
    value =
        builder_.constant(source.shape->element_type, source.constant.bytes() + view.offset * plan.width());
  } else {
    value = builder_.input(source.shape->element_type);
    inputs_.push_back({base, plan});
  }
  loads_.push_back({base, view, value});
  return value;
}

std::shared_ptr<const ElementProgram> ProgramMaker::finish() {
  BlockRows rows;
  for (const Input& input : inputs_) rows.add(input.load);
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i].load.is_uniform(rows.length)) builder_.set_uniform(i);
  return builder_.finish();
}

size_t operand_index(GraphNode& node, ValueId value) {
  const auto found = std::find(node.operands.begin(), node.operands.end(), value);
  if (found != node.operands.end()) return static_cast<size_t>(found - node.operands.begin());
  node.operands.push_back(value);
  return node.operands.size() - 1;
}

int64_t reusable_operand(const ClusterContext& context, const GraphNode& node, ValueId result,
                         const std::vector<bool>& free) {
  const auto elements = [&](ValueId value) { return context.graph.values[value].shape->element_count(); };
  for (size_t i = 0; i < free.size(); ++i)
    if (free[i] && context.width(node.operands[i]) == context.width(result) &&
        elements(node.operands[i]) == elements(result))
      return static_cast<int64_t>(i);
  return -1;
}

GraphNode make_pass(const ClusterContext& context, const Group& group, const std::vector<ValueId>& outputs) {
  const auto& nodes = context.graph.nodes;
  GraphNode result;
  result.instruction = nodes[group.nodes.back()].instruction;
  result.results = outputs;
  result.keep = true;
  ElementPass pass;
  pass.count = space(context.graph, nodes[group.nodes[0]]);
  ProgramMaker maker(context, pass.count);
  for (const NodeIndex n : group.nodes) maker.apply(nodes[n]);
  for (const ValueId output : outputs) {
    maker.output(output);
    pass.widths.push_back(context.width(output));
  }
  for (const ProgramMaker::Input& input : maker.inputs())
    pass.inputs.push_back({operand_index(result, input.base), input.load});
  pass.program = maker.finish();

  // An output may lie where an operand is that is read at the same place only.
  std::vector<bool> free(result.operands.size(), true);
  for (const ElementPass::Input& input : pass.inputs)
    if (!input.load.is_dense() || input.load.offset() != 0) free[input.operand] = false;
  for (const ValueId output : outputs) {
    const int64_t chosen = reusable_operand(context, result, output, free);
    if (chosen >= 0) free[static_cast<size_t>(chosen)] = false;
    pass.reused.push_back(chosen);
  }
  result.reused = pass.reused;
  result.evaluation = pass_evaluation(std::move(pass));
  return result;
}

}  // namespace hlosim
