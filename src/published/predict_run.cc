#include "published/predict_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/estimate.h"
#include "estimate/named_slice.h"
#include "model/device_overrides.h"
#include "models/step.h"
#include "ops/op_table.h"
#include "published/device_share.h"

namespace hlosim {
namespace {

/// The device as the run's compiler flags change it; flags that change nothing are assumptions.
Result<Device> with_flags(const PublishedRun& run, const Device& device,
                          std::vector<std::string>& assumptions) {
  DiagnosticList problems;
  const std::vector<DeviceOverride> overrides = xla_flag_overrides(run.flags, device.config, problems);
  size_t without = 0;
  for (const Diagnostic& problem : problems.items()) {
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
    ++without;
  }
  if (without > 0)
    assumptions.push_back(
        fmt::format("{} of {} compiler flags change nothing here", without, run.flags.size()));
  std::optional<Device> changed = overrides.empty() ? device : with_overrides(device, overrides, problems);
  if (changed) return std::move(*changed);
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return tl::unexpected(problem);
  return failure("the flags make no device");
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
Result<Estimate> simulate_program(const PublishedRun& run, const Device& device, const SliceRequest& slice) {
  Result<Module> module = make_step(run.model, run.options);
  if (!module) return tl::unexpected(module.error());
  EstimateOptions options;
  options.simulate.keep_timeline = false;
  options.simulate.slice = slice;
  options.mesh.emplace().partitions = run.devices;  // the step's shardings say everything
  return estimate(*module, op_table(), device, options);
}

/// What the core does in a step with its share of everything, simulated as one device's program.
Result<Estimate> simulate_share(const PublishedRun& run, const Device& device) {
  const DeviceShare share = device_share(run.model, run.options);
  Result<Module> module = make_step(share.model, share.options);
  if (!module) return tl::unexpected(module.error());
  EstimateOptions options;
  options.simulate.keep_timeline = false;
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

/// The share's queries see its own keys only; with the sequence cut, they see all.
Result<double> attention_beyond_share(const PublishedRun& run, const StepWork& work,
                                      const DeviceConfig& device) {
  double seconds = 0;
  for (const StepPiece& piece : work.pieces) {
    if (piece.attention.queries == 0 || run.options.kind != StepKind::kTrain) continue;
    const Result<double> whole = attention_seconds(piece, run.options.tiles, run.options.attention, device);
    if (!whole) return whole;
    const double layers = piece.times;  // parts of a layer's attention
    StepPiece own = piece;
    const auto parts = static_cast<int64_t>(
        std::max(1.0, static_cast<double>(piece.attention.queries) /
                          static_cast<double>(device_share(run.model, run.options).options.sequence)));
    if (parts == 1) return 0.0;
    own.attention.queries /= parts, own.attention.keys /= parts;
    const Result<double> less = attention_seconds(own, run.options.tiles, run.options.attention, device);
    if (!less) return less;
    seconds += layers * (*whole - *less * static_cast<double>(parts));
  }
  return seconds;
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
  const double optimizer = parts->seconds(StepCategory::kOptimizer);
  const double counted = parts->work() - optimizer;
  prediction.parts = {std::move(work), std::move(*parts)};
  const Result<Estimate> program = simulate_program(run, *device, *request);
  if (program) {
    add_rows(program->simulation.totals, prediction);
    prediction.seconds = seconds(program->simulation.totals.makespan);
    return {};
  }
  prediction.assumptions.push_back(
      fmt::format("one device's share is simulated and its collectives are counted, as the program can't be "
                  "partitioned: {}",
                  program.error().message));
  const Result<Estimate> share = simulate_share(run, *device);
  if (!share) return tl::unexpected(share.error());
  const double simulated = seconds(share->simulation.totals.makespan);
  const double exposed = prediction.parts->second.exposed(std::max(1.0, simulated / counted));
  add_rows(share->simulation.totals, prediction);
  const Result<double> beyond = attention_beyond_share(run, prediction.parts->first, device->config);
  if (!beyond) return tl::unexpected(beyond.error());
  if (*beyond > 0) prediction.rows.emplace_back("attention to other devices' keys", *beyond);
  prediction.rows.emplace_back("optimizer", optimizer);
  prediction.rows.emplace_back("exposed collectives and host", exposed);
  prediction.seconds = simulated + *beyond + optimizer + exposed;
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
