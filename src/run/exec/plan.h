// A computation as steps over a frame of values: what Program runs.
//
//   const Plan plan(module, std::move(graph), callee_bytes);
//   plan.call(device, arguments, results);
//   const int64_t needed = plan.peak_bytes() + plan.constant_bytes();
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "exec/step_graph.h"

namespace hlosim {

class Plan final : public Callable {
 public:
  /// `graph`: evaluations made. `callee_bytes`: for each node the bytes that computations it calls need
  /// beside their arguments.
  Plan(const Module& module, ComputationGraph graph, std::span<const int64_t> callee_bytes);

  void call(DeviceState& device, std::span<Array> arguments, std::span<Array> results) const override;
  void call_jointly(LockstepRun& run, std::span<const DeviceCall> calls) const override;
  bool is_joint() const override { return !joint_steps_.empty(); }
  size_t argument_count() const override { return parameters_.size(); }
  size_t result_count() const override { return results_.size(); }

  /// Bytes alive at once while it runs, arguments included; constants are not.
  int64_t peak_bytes() const { return peak_bytes_; }
  int64_t argument_bytes() const { return argument_bytes_; }
  int64_t constant_bytes() const { return constant_bytes_; }

 private:
  using Frame = std::vector<Array>;
  struct Step {
    const Instruction* instruction;
    Evaluation evaluation;
    JointEvaluation joint;             // in place of that
    uint32_t operands, operand_count;  // into indices_; `last uses` stand at the same place in last_uses_
    uint32_t results, result_count;
    uint32_t dying, dying_count;  // values not needed after the step
  };

  void find_last_uses(const ComputationGraph& graph);
  void measure(const ComputationGraph& graph, std::span<const int64_t> callee_bytes);
  std::unique_ptr<Frame> take_frame() const;
  void give_back(std::unique_ptr<Frame> frame) const;
  std::unique_ptr<Frame> start(const DeviceCall& call) const;
  void finish(const DeviceCall& call, std::unique_ptr<Frame> frame) const;
  Invocation invocation(const Step& step, DeviceState& device, Frame& frame) const;
  void run_steps(DeviceState& device, Frame& frame, size_t begin, size_t end) const;
  void run_together(LockstepRun& run, const Step& step, std::span<const DeviceCall> calls,
                    std::span<const std::unique_ptr<Frame>> frames) const;

  const Module& module_;
  std::vector<Array> values_;  // a fresh frame: shapes and constants
  std::vector<ValueId> parameters_, results_;
  std::vector<bool> moves_result_;  // the value leaves the frame there
  std::vector<ValueId> unused_parameters_;
  std::vector<Step> steps_;
  std::vector<size_t> joint_steps_;
  std::vector<uint32_t> indices_;
  std::unique_ptr<bool[]> last_uses_;
  int64_t peak_bytes_ = 0, argument_bytes_ = 0, constant_bytes_ = 0;

  mutable std::mutex frames_mutex_;
  mutable std::vector<std::unique_ptr<Frame>> frames_;  // used before, empty but for constants
};

}  // namespace hlosim
