#include "published/predict_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/estimate.h"
#include "estimate/named_slice.h"
#include "estimate/time_range.h"
#include "flags/compiler_choices.h"
#include "model/device_overrides.h"
#include "ops/op_table.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

/// The device as the run's compiler flags change it; flags that change nothing are assumptions.
Result<Device> with_flags(const PublishedRun& run, const Device& device,
                          std::vector<std::string>& assumptions) {
  DiagnosticList problems;
  std::vector<DeviceOverride> overrides = xla_flag_overrides(run.flags, device.config, problems);
  for (const Diagnostic& problem : problems.items()) {
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
    assumptions.push_back(problem.message);
  }
  std::optional<Device> changed = overrides.empty() ? device : with_overrides(device, overrides, problems);
  if (changed) return std::move(*changed);
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
  return failure("the flags make no device");
}

Result<CompilerChoices> choices_of(const PublishedRun& run, const Device& device,
                                   std::vector<std::string>& assumptions) {
  DiagnosticList problems;
  const CompilerChoices choices = compiler_choices(run.flags, device.config, problems);
  for (const Diagnostic& problem : problems.items()) {
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
    assumptions.push_back(problem.message);
  }
  return choices;
}

Result<SliceRequest> slice_request_of(const PublishedRun& run, const Device& device) {
  SliceRequest request;
  if (!run.topology.sides.empty()) request.topology = run.topology;
  Result<SliceRequest> named = on_named_slice(request, run.device, device);
  if (!named) return tl::unexpected(named.error());
  named->slices = run.slices;
  named->devices = run.devices;
  return named;
}

/// The whole step, written as for one device, spread over the run's devices and simulated.
Result<Estimate> simulate_program(const PublishedRun& run, const Device& device, const SliceRequest& slice,
                                  const CompilerChoices& compiler) {
  Result<Module> module = make_step(run.model, run.options);
  if (!module) return tl::unexpected(module.error());
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  options.simulate.slice = slice;
  options.compiler = compiler;
  options.mesh.emplace().partitions = run.devices;  // the step's shardings say everything
  return estimate(*module, op_table(), device, options);
}

double seconds(Picoseconds time) { return static_cast<double>(time.count()) * 1e-12; }

void add_rows(const Totals& totals, RunPrediction& prediction) {
  double rest = seconds(totals.makespan);
  for (size_t i = 0; i < kCostCategoryCount; ++i) {
    const double time = seconds(totals.by_category[i]);
    rest -= time;
    if (time > 0) prediction.rows.emplace_back(to_text(static_cast<CostCategory>(i)), time);
  }
  if (rest > 0) prediction.rows.emplace_back("waiting", rest);
}

Result<void> predict(const PublishedRun& run, const Device& plain, RunPrediction& prediction) {
  const Result<Device> device = with_flags(run, plain, prediction.assumptions);
  if (!device) return tl::unexpected(device.error());
  prediction.peak_flops = peak_flops(device->config, ElementType::kBF16).count();
  AssumptionList assumptions;
  const Result<SliceRequest> request = slice_request_of(run, *device);
  if (!request) return tl::unexpected(request.error());
  const Result<Slice> slice = choose_slice(device->config, *request, run.devices, assumptions);
  if (!slice) return tl::unexpected(slice.error());
  StepWork work = step_work(run.model, run.options);
  Result<StepParts> parts = step_parts(work, run, device->config, *slice);
  if (!parts) return tl::unexpected(parts.error());
  prediction.parts = {std::move(work), std::move(*parts)};
  const Result<CompilerChoices> compiler = choices_of(run, plain, prediction.assumptions);
  if (!compiler) return tl::unexpected(compiler.error());
  const Result<Estimate> program = simulate_program(run, *device, *request, *compiler);
  if (!program) return tl::unexpected(program.error());
  for (const Diagnostic& finding : program->occupancy.findings)
    prediction.findings.push_back(finding.message);
  add_rows(program->simulation->totals, prediction);
  prediction.seconds = seconds(program->simulation->totals.makespan);
  if (const auto range = time_range(device->config.errors, *program->simulation))
    prediction.range = {seconds(range->low), seconds(range->high)};
  return {};
}

}  // namespace

RunPrediction predict_run(const PublishedRun& run, const Device& device) {
  RunPrediction prediction;
  prediction.assumptions = run.assumptions;
  prediction.generation = device.config.generation;
  if (const Result<void> done = predict(run, device, prediction); !done)
    prediction.reason = done.error().message;
  return prediction;
}

}  // namespace hlosim
