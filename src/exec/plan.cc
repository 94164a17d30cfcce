#include "exec/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/saturating.h"
#include "exec/lifetimes.h"

namespace hlosim {

Plan::Plan(const Module& module, ComputationGraph graph, std::span<const int64_t> callee_bytes)
    : module_(module), parameters_(graph.parameters), results_(graph.results) {
  find_last_uses(graph);
  measure(graph, callee_bytes);
  for (ComputationGraph::Value& value : graph.values) {
    values_.push_back(std::move(value.constant));
    values_.back().shape = value.shape;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) steps_[i].evaluation = std::move(graph.nodes[i].evaluation);
}

void Plan::find_last_uses(const ComputationGraph& graph) {
  constexpr int64_t kNever = -1;
  const auto end = static_cast<int64_t>(graph.nodes.size());
  std::vector<int64_t> last_use(graph.values.size(), kNever);
  for (int64_t n = 0; n < end; ++n) {
    for (const ValueId value : graph.nodes[static_cast<size_t>(n)].results) last_use[value] = n;
    for (const ValueId value : graph.nodes[static_cast<size_t>(n)].operands) last_use[value] = n;
  }
  for (const ValueId value : graph.results) last_use[value] = end;
  for (ValueId v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].constant.data) last_use[v] = end;

  for (const ValueId parameter : parameters_)
    if (last_use[parameter] == kNever) unused_parameters_.push_back(parameter);
  std::vector<bool> left(graph.values.size(), false);
  for (size_t i = results_.size(); i-- > 0;) {  // a value that is a result twice moves at its last place
    moves_result_.push_back(!left[results_[i]] && !graph.values[results_[i]].constant.data);
    left[results_[i]] = true;
  }
  std::reverse(moves_result_.begin(), moves_result_.end());

  std::vector<char> flags;
  for (int64_t n = 0; n < end; ++n) {
    const GraphNode& node = graph.nodes[static_cast<size_t>(n)];
    Step step{};
    step.instruction = node.instruction;
    step.operands = static_cast<uint32_t>(indices_.size());
    step.operand_count = static_cast<uint32_t>(node.operands.size());
    std::vector<ValueId> dying;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId value = node.operands[i];
      // Whoever takes an operand may look at an earlier mention of the same value no more.
      const bool again = std::count(node.operands.begin(), node.operands.end(), value) > 1;
      indices_.push_back(value);
      flags.push_back(last_use[value] == n && !again);
      if (last_use[value] == n) dying.push_back(value);
    }
    step.results = static_cast<uint32_t>(indices_.size());
    step.result_count = static_cast<uint32_t>(node.results.size());
    for (const ValueId value : node.results) {
      indices_.push_back(value);
      if (last_use[value] == n) dying.push_back(value);
    }
    step.dying = static_cast<uint32_t>(indices_.size());
    step.dying_count = static_cast<uint32_t>(dying.size());
    indices_.insert(indices_.end(), dying.begin(), dying.end());
    flags.resize(indices_.size(), 0);
    steps_.push_back(std::move(step));
  }
  last_uses_ = std::make_unique<bool[]>(flags.size());
  std::copy(flags.begin(), flags.end(), last_uses_.get());
}

void Plan::measure(const ComputationGraph& graph, std::span<const int64_t> callee_bytes) {
  const auto bytes = [&](ValueId value) { return data_bytes(graph.values[value].shape); };
  for (const ComputationGraph::Value& value : graph.values)
    if (value.constant.data) constant_bytes_ = saturating_sum(constant_bytes_, data_bytes(value.shape));
  for (const ValueId parameter : parameters_)
    argument_bytes_ = saturating_sum(argument_bytes_, bytes(parameter));
  peak_bytes_ = Lifetimes(graph, graph.nodes).peak(callee_bytes).bytes;
}

std::unique_ptr<Plan::Frame> Plan::take_frame() const {
  {
    const std::lock_guard lock(frames_mutex_);
    if (!frames_.empty()) {
      std::unique_ptr<Frame> frame = std::move(frames_.back());
      frames_.pop_back();
      return frame;
    }
  }
  return std::make_unique<Frame>(values_);
}

void Plan::give_back(std::unique_ptr<Frame> frame) const {
  const std::lock_guard lock(frames_mutex_);
  frames_.push_back(std::move(frame));
}

namespace {

void clear(Array& array) {
  array.data = Buffer();
  array.sizes = nullptr;
}

}  // namespace

void Plan::run_steps(DeviceState& device, Frame& frame) const {
  const std::span<Array> values(frame);
  for (const Step& step : steps_) {
    Invocation call(device, module_, *step.instruction, values, {indices_.data() + step.operands, step.operand_count},
                    {indices_.data() + step.results, step.result_count}, last_uses_.get() + step.operands);
    step.evaluation(call);
    if (device.failed()) return;
    for (uint32_t i = 0; i < step.dying_count; ++i) clear(frame[indices_[step.dying + i]]);
  }
}

void Plan::call(DeviceState& device, std::span<Array> arguments, std::span<Array> results) const {
  HLOSIM_CHECK(arguments.size() == parameters_.size() && results.size() == results_.size(),
               "{} arguments and {} results, expected {} and {}", arguments.size(), results.size(),
               parameters_.size(), results_.size());
  std::unique_ptr<Frame> frame = take_frame();
  for (size_t i = 0; i < arguments.size(); ++i) {
    Array& parameter = (*frame)[parameters_[i]];
    parameter.data = std::move(arguments[i].data);
    parameter.sizes = std::move(arguments[i].sizes);
  }
  for (const ValueId parameter : unused_parameters_) clear((*frame)[parameter]);
  run_steps(device, *frame);
  if (device.failed()) return;  // the frame goes, with whatever is in it
  for (size_t i = 0; i < results.size(); ++i) {
    Array& value = (*frame)[results_[i]];
    if (moves_result_[i])
      results[i] = std::move(value);
    else
      results[i] = value;
  }
  give_back(std::move(frame));
}

}  // namespace hlosim
