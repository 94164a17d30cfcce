#include "exec/program.h"

#include "array/arguments.h"
#include "base/saturating.h"
#include "evaluate/devices/joint.h"
#include "exec/plan_maker.h"

namespace hlosim {

void finish_results(std::vector<Array>& results, std::span<const ShapeRef> shapes, MemoryPool& pool) {
  for (size_t i = 0; i < results.size(); ++i) {
    const bool has_value = results[i].data || !shapes[i]->is_array() || shapes[i]->element_count() == 0;
    if (!has_value) results[i] = zero_array(shapes[i], pool);
    results[i].shape = shapes[i];
  }
}

std::unique_ptr<const Program> Program::make(Module& module, const OpTable& table, MemoryPool& pool,
                                             const ProgramOptions& options, DiagnosticList& sink) {
  PlanMaker maker(module, table, pool, options, sink);
  const std::shared_ptr<const Plan> entry = maker.plan(module.entry);
  if (sink.has_errors()) return nullptr;
  std::unique_ptr<Program> program(new Program);
  program->entry_ = entry;
  program->constant_bytes_ = maker.constant_bytes();
  program->peak_bytes_ = saturating_add(entry->peak_bytes(), maker.constant_bytes());
  for (const InstructionId parameter : module.entry_computation().parameters)
    for_each_leaf(module[parameter].shape, [&](ShapeRef leaf) { program->parameters_.push_back(leaf); });
  for_each_leaf(module.root(module.entry).shape, [&](ShapeRef leaf) { program->results_.push_back(leaf); });
  return program;
}

Program::~Program() = default;

Result<std::vector<Array>> Program::run(DeviceState& device, std::vector<Array> inputs) const {
  HLOSIM_CHECK(inputs.size() == parameters_.size(), "{} inputs, expected {}", inputs.size(),
               parameters_.size());
  std::vector<Array> outputs(results_.size());
  entry_->call(device, inputs, outputs);
  if (device.failed()) return tl::unexpected<Diagnostic>(*device.failure());
  finish_results(outputs, results_, device.pool());
  return outputs;
}

Result<std::vector<std::vector<Array>>> Program::run_jointly(LockstepRun& run, std::span<DeviceState> devices,
                                                             std::vector<std::vector<Array>> inputs) const {
  HLOSIM_CHECK(inputs.size() == devices.size(), "{} inputs of {} devices", inputs.size(), devices.size());
  std::vector<std::vector<Array>> outputs(devices.size(), std::vector<Array>(results_.size()));
  std::vector<DeviceCall> calls;
  for (size_t i = 0; i < devices.size(); ++i) calls.push_back({&devices[i], inputs[i], outputs[i]});
  entry_->call_jointly(run, calls);
  if (run.failed()) return tl::unexpected<Diagnostic>(*run.failure());
  for (size_t i = 0; i < outputs.size(); ++i) finish_results(outputs[i], results_, devices[i].pool());
  return outputs;
}

}  // namespace hlosim
