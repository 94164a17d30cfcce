#include "partition_check/device_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "array/arguments.h"
#include "base/saturating.h"
#include "dist/ranks.h"
#include "evaluate/devices/joint.h"
#include "hlo/verifier.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// A host that gives every device the same and takes what it gets.
class SomeHost : public HostTransfers {
 public:
  Result<Array> infeed(ShapeRef leaf, MemoryPool& pool) override { return some(leaf, pool); }
  Result<void> outfeed(const Array& /*leaf*/) override { return {}; }
  Result<Array> receive(int64_t /*channel*/, ShapeRef leaf, MemoryPool& pool) override {
    return some(leaf, pool);
  }
  Result<void> send(int64_t /*channel*/, const Array& /*leaf*/) override { return {}; }

 private:
  Result<Array> some(ShapeRef leaf, MemoryPool& pool) { return random_array(leaf, 0, next_++, pool); }
  uint64_t next_ = 1000;
};

tl::unexpected<Diagnostic> fault(std::string_view what, const DiagnosticList& problems) {
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return failure(fmt::format("{}{}", what, problem.message));
  return failure(fmt::format("{}no reason given", what));
}

}  // namespace

bool runs_alone(const Module& module, const OpTable& table) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const OpDef& def = table[module[id].opcode];
      if (def.has(kCollective) || def.evaluation == EvaluationKind::kPartitionId) return false;
    }
  return true;
}

Tolerance tolerance_of_sums(const Array& expected, MemoryPool& pool) {
  Tolerance tolerance = default_tolerance(expected.type());
  if (!is_float(expected.type()) && !is_complex(expected.type())) return tolerance;
  const double largest = compare(expected, zero_array(expected.shape, pool), tolerance).max_abs;
  tolerance.abs = std::max(tolerance.abs, tolerance.rel * largest);
  return tolerance;
}

Result<void> DevicesRun::prepare(int64_t max_constant_bytes) {
  DiagnosticList problems;
  if (!verify(module_, table_, problems)) return fault("the partitioned module is wrong: ", problems);
  ProgramOptions options;
  options.graph.max_constant_bytes = max_constant_bytes;
  if (devices_ > 1) options.grid = DeviceGrid{1, devices_, false, false};
  program_ = Program::make(module_, table_, pool_, options, problems);
  if (!program_) return fault("it can't be run: ", problems);
  return {};
}

int64_t DevicesRun::peak_bytes() const { return saturating_multiply(program_->peak_bytes(), devices_); }

namespace {

/// Of an instruction, in multiplications of a product.
double effort(const OpContext& op) {
  constexpr double kComparison = 500, kInGroups = 20;
  double count = 0;
  for (const MatmulWork& one : work_of(op).matmuls)
    count += static_cast<double>(one.batch) * static_cast<double>(one.m) * static_cast<double>(one.n) *
             static_cast<double>(one.k);
  if (op.integer(AttrKey::kBatchGroupCount, 1) > 1 || op.integer(AttrKey::kFeatureGroupCount, 1) > 1)
    count *= kInGroups;
  if (op.def().evaluation == EvaluationKind::kSort && op.operand_count() > 0) {
    const ShapeRef sorted = op.operand_shape(0);
    const int64_t along = op.ints(AttrKey::kDimensions)[0];
    count += kComparison * static_cast<double>(sorted->element_count()) *
             std::log2(static_cast<double>(std::max<int64_t>(2, sorted->dim(along))));
  }
  return count;
}

}  // namespace

double DevicesRun::products() const {
  double count = 0;
  for (const Computation& computation : module_.computations)
    for (const InstructionId id : computation.instructions)
      count += effort(OpContext(module_, module_.shapes(), module_[id], table_, nullptr));
  return count * static_cast<double>(devices_);
}

Result<std::vector<std::vector<Array>>> DevicesRun::run(std::vector<std::vector<Array>> inputs,
                                                        const Stop* stop) {
  std::vector<DeviceState> states;
  std::vector<SomeHost> hosts(static_cast<size_t>(devices_));
  for (int64_t id = 0; id < devices_; ++id) {
    DeviceState& state = states.emplace_back(pool_);
    state.id = state.partition_id = id;
    state.rng_state = {1, 0};
    state.stop = stop;
    state.host = &hosts[static_cast<size_t>(id)];
  }
  if (devices_ == 1) {
    auto outputs = program_->run(states[0], std::move(inputs[0]));
    if (!outputs) return tl::unexpected(outputs.error());
    return std::vector<std::vector<Array>>{std::move(*outputs)};
  }
  LockstepRun run(DeviceGrid{1, devices_, false, false}, lone_rank());
  return program_->run_jointly(run, states, std::move(inputs));
}

}  // namespace hlosim
