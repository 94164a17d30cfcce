#include "exec/plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/saturating.h"
#include "evaluate/devices/joint.h"
#include "exec/lifetimes.h"
#include "threads/parallel.h"

namespace hlosim {

Plan::Plan(const Module& module, ComputationGraph graph, std::span<const int64_t> callee_bytes)
    : module_(module), parameters_(graph.parameters), results_(graph.results) {
  find_last_uses(graph);
  measure(graph, callee_bytes);
  for (ComputationGraph::Value& value : graph.values) {
    values_.push_back(std::move(value.constant));
    values_.back().shape = value.shape;
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    steps_[i].evaluation = std::move(graph.nodes[i].evaluation);
    steps_[i].joint = std::move(graph.nodes[i].joint);
    if (steps_[i].joint) joint_steps_.push_back(i);
  }
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
    if (value.constant.data) constant_bytes_ = saturating_add(constant_bytes_, data_bytes(value.shape));
  for (const ValueId parameter : parameters_)
    argument_bytes_ = saturating_add(argument_bytes_, bytes(parameter));
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

Invocation Plan::invocation(const Step& step, DeviceState& device, Frame& frame) const {
  return Invocation(device, module_, *step.instruction, frame,
                    {indices_.data() + step.operands, step.operand_count},
                    {indices_.data() + step.results, step.result_count}, last_uses_.get() + step.operands);
}

void Plan::run_steps(DeviceState& device, Frame& frame, size_t begin, size_t end) const {
  for (size_t s = begin; s < end; ++s) {
    const Step& step = steps_[s];
    if (device.stops_at(module_, *step.instruction)) return;
    Invocation call = invocation(step, device, frame);
    step.evaluation(call);
    if (device.failed()) return;
    for (uint32_t i = 0; i < step.dying_count; ++i) clear(frame[indices_[step.dying + i]]);
  }
}

std::unique_ptr<Plan::Frame> Plan::start(const DeviceCall& call) const {
  HLOSIM_CHECK(call.arguments.size() == parameters_.size() && call.results.size() == results_.size(),
               "{} arguments and {} results, expected {} and {}", call.arguments.size(), call.results.size(),
               parameters_.size(), results_.size());
  std::unique_ptr<Frame> frame = take_frame();
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    Array& parameter = (*frame)[parameters_[i]];
    parameter.data = std::move(call.arguments[i].data);
    parameter.sizes = std::move(call.arguments[i].sizes);
  }
  for (const ValueId parameter : unused_parameters_) clear((*frame)[parameter]);
  return frame;
}

// After a failure the frame goes, with whatever is in it.
void Plan::finish(const DeviceCall& call, std::unique_ptr<Frame> frame) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    Array& value = (*frame)[results_[i]];
    if (moves_result_[i])
      call.results[i] = std::move(value);
    else
      call.results[i] = value;
  }
  give_back(std::move(frame));
}

void Plan::call(DeviceState& device, std::span<Array> arguments, std::span<Array> results) const {
  if (is_joint())
    return device.fail(module_, *steps_[joint_steps_[0]].instruction,
                       "devices can't meet inside of a computation that is applied to elements");
  const DeviceCall one{&device, arguments, results};
  std::unique_ptr<Frame> frame = start(one);
  run_steps(device, *frame, 0, steps_.size());
  if (!device.failed()) finish(one, std::move(frame));
}

void Plan::run_together(LockstepRun& run, const Step& step, std::span<const DeviceCall> calls,
                        std::span<const std::unique_ptr<Frame>> frames) const {
  std::vector<Invocation> members;
  members.reserve(calls.size());
  for (size_t i = 0; i < calls.size(); ++i) members.push_back(invocation(step, *calls[i].device, *frames[i]));
  CollectiveCall joint(run, module_, *step.instruction, members);
  step.joint(joint);
  for (size_t i = 0; i < frames.size(); ++i)
    for (uint32_t k = 0; k < step.dying_count; ++k) clear((*frames[i])[indices_[step.dying + k]]);
}

void Plan::call_jointly(LockstepRun& run, std::span<const DeviceCall> calls) const {
  std::vector<std::unique_ptr<Frame>> frames;
  for (const DeviceCall& call : calls) frames.push_back(start(call));
  const auto alone = [&](size_t begin, size_t end) {
    if (begin < end)
      parallel_for(static_cast<int64_t>(calls.size()), 1, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i)
          run_steps(*calls[static_cast<size_t>(i)].device, *frames[static_cast<size_t>(i)], begin, end);
      });
    return !run.check(calls);
  };
  size_t next = 0;
  for (const size_t joint : joint_steps_) {
    if (!alone(next, joint)) return;
    run_together(run, steps_[joint], calls, frames);
    if (run.check(calls)) return;
    next = joint + 1;
  }
  if (!alone(next, steps_.size())) return;
  for (size_t i = 0; i < calls.size(); ++i) finish(calls[i], std::move(frames[i]));
}

}  // namespace hlosim
