#include "exec/plan_maker.h"

#include <algorithm>
#include <utility>

#include "base/saturating.h"
#include "elementwise/element_program.h"
#include "evaluate/devices/joint.h"
#include "exec/cluster.h"

namespace hlosim {

std::shared_ptr<const Plan> PlanMaker::plan(ComputationId id) {
  const auto found = plans_.find(id);
  if (found != plans_.end()) {
    note_callee(*found->second);
    return found->second;
  }
  auto made = plan(make_graph(module_, table_, id, pool_, options_.graph, sink_));
  plans_.emplace(id, made);
  constant_bytes_ = saturating_add(constant_bytes_, made->constant_bytes());
  note_callee(*made);
  return made;
}

std::shared_ptr<const Plan> PlanMaker::plan(InstructionId id) {
  return plan(make_graph(module_, table_, id, pool_, options_.graph, sink_));
}

std::shared_ptr<const Plan> PlanMaker::plan(ComputationGraph graph) {
  if (options_.cluster) make_clusters(graph, module_, table_, *this);
  const std::vector<int64_t> callee_bytes = make_evaluations(graph);
  return std::make_shared<const Plan>(module_, std::move(graph), callee_bytes);
}

std::shared_ptr<const ElementProgram> PlanMaker::element_program(ComputationId id) {
  if (shows_values(id)) return nullptr;
  const auto found = element_programs_.find(id);
  if (found != element_programs_.end()) return found->second;
  return element_programs_.emplace(id, hlosim::element_program(module_, table_, id)).first->second;
}

// Bytes that the computations called by each node need beside their arguments. Nodes may get others around
// them.
std::vector<int64_t> PlanMaker::make_evaluations(ComputationGraph& graph) {
  std::vector<GraphNode> nodes;
  std::vector<int64_t> callee_bytes;
  const auto add = [&](GraphNode node, int64_t bytes) {
    nodes.push_back(std::move(node));
    callee_bytes.push_back(bytes);
  };
  for (GraphNode& node : graph.nodes) {
    const int64_t outer = std::exchange(callee_bytes_, 0);
    Conversions around;
    if (!node.evaluation) around = make(graph, node);
    for (GraphNode& conversion : around.before) add(std::move(conversion), 0);
    add(std::move(node), std::exchange(callee_bytes_, outer));
    for (GraphNode& conversion : around.after) add(std::move(conversion), 0);
  }
  graph.nodes = std::move(nodes);
  return callee_bytes;
}

// False: it can't be run on these types, as `found` says.
bool PlanMaker::make(EvaluateContext& op, const DiagnosticList& found, GraphNode& node) {
  ++depth_;
  node.joint = options_.grid ? make_joint_evaluation(op) : nullptr;
  if (!node.joint && !found.has_errors()) node.evaluation = make_evaluation(op);
  --depth_;
  return !found.has_errors();
}

// What cannot be run is an error now where it is sure to be reached, else when it is reached.
Conversions PlanMaker::make(ComputationGraph& graph, GraphNode& node) {
  DiagnosticList found, found_wide;
  EvaluateContext op(module_, *node.instruction, table_, &found, *this);
  if (make(op, found, node)) return {};
  if (const std::optional<OnePrecision> wide = in_one_precision(op)) {
    EvaluateContext wide_op(*wide->module, *wide->instruction, table_, &found_wide, *this);
    if (make(wide_op, found_wide, node)) return add_conversions(graph, *wide, node);
  }
  const Diagnostic error = found.items().front();
  node.joint = nullptr;
  if (depth_ == 0)
    sink_.add(error);
  else
    node.evaluation = [error](Invocation& call) { call.device().fail(error); };
  return {};
}

// Somebody wants to see a value of the computation or of one it calls.
bool PlanMaker::shows_values(ComputationId id) const {
  if (!options_.graph.traced) return false;
  const auto& instructions = module_[id].instructions;
  return std::any_of(instructions.begin(), instructions.end(), [&](InstructionId i) {
    bool shows = options_.graph.traced(module_[i]);
    for_each_called(module_[i], [&](ComputationId called) { shows = shows || shows_values(called); });
    return shows;
  });
}

void PlanMaker::note_callee(const Plan& callee) {
  callee_bytes_ = std::max(callee_bytes_, callee.peak_bytes() - callee.argument_bytes());
}

}  // namespace hlosim
