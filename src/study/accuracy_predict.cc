#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "base/text.h"
#include "estimate/estimate.h"
#include "estimate/named_slice.h"
#include "input/load_modules.h"
#include "layout/sizes.h"
#include "model/device_overrides.h"
#include "ops/op_table.h"
#include "study/accuracy.h"
#include "study/repeated_predictions.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

/// What a device is made from.
struct DeviceRequest {
  std::string name;
  std::vector<std::pair<std::string, std::string>> flags;  // name, value
  std::optional<int64_t> cores;
  std::vector<XlaFlag> places = {};  // of the flags; not part of what is asked for
  bool operator<(const DeviceRequest& other) const {
    return std::tie(name, flags, cores) < std::tie(other.name, other.flags, other.cores);
  }
};

DeviceRequest request_of(const MeasuredCase& one) {
  DeviceRequest request{one.device, {}, one.cores, one.xla_flags};
  for (const XlaFlag& flag : one.xla_flags) request.flags.emplace_back(flag.name, flag.value);
  return request;
}

std::string first_error(const DiagnosticList& problems) {
  for (const Diagnostic& problem : problems.items())
    if (problem.severity == Severity::kError) return problem.message;
  return "unknown error";
}

/// Of a device of several cores some only: the others do something else meanwhile.
Result<std::vector<DeviceOverride>> core_overrides(int64_t cores, const DeviceConfig& device) {
  if (cores > device.cores || device.cores % cores != 0)
    return failure(
        fmt::format("\"cores\" is {}, but a device {} has {}", cores, device.generation, device.cores));
  return std::vector<DeviceOverride>{
      {"cores", fmt::format("{}", cores)},
      {"cores_per_chip", fmt::format("{}", device.cores_per_chip / (device.cores / cores))}};
}

/// A case's own flags as overrides of its device.
Result<std::vector<DeviceOverride>> flag_overrides(const DeviceRequest& request, const DeviceConfig& device) {
  DiagnosticList problems;
  std::vector<DeviceOverride> overrides = xla_flag_overrides(request.places, device, problems);
  if (problems.has_errors()) return failure(first_error(problems));
  if (!request.cores) return overrides;
  const Result<std::vector<DeviceOverride>> cores = core_overrides(*request.cores, device);
  if (!cores) return tl::unexpected(cores.error());
  overrides.insert(overrides.end(), cores->begin(), cores->end());
  return overrides;
}

Result<Device> make_device(const DeviceRequest& request, const PredictOptions& options) {
  DiagnosticList problems;
  std::optional<Device> device = load_device(request.name, {}, options.search, problems);
  if (!device) return failure(first_error(problems));
  Result<std::vector<DeviceOverride>> overrides = flag_overrides(request, device->config);
  if (!overrides) return failure(overrides.error().message);
  overrides->insert(overrides->end(), options.overrides.begin(), options.overrides.end());
  if (!overrides->empty()) device = load_device(request.name, *overrides, options.search, problems);
  if (!device) return failure(first_error(problems));
  return std::move(*device);
}

using Devices = std::map<DeviceRequest, Result<Device>>;

/// A slice whose sides count cores, in chips: the cores of a chip lie along the first side they divide.
Result<Topology> in_chips(Topology topology, const DeviceConfig& device) {
  for (int64_t& side : topology.sides)
    if (side % device.cores_per_chip == 0) {
      side /= device.cores_per_chip;
      return topology;
    }
  return failure(fmt::format("no side of the slice holds the {} cores of a chip", device.cores_per_chip));
}

/// The instruction of the entry that `wanted` names, or whose opcode it is, or else the last fusion that has
/// such an instruction inside.
Result<const InstructionRecord*> timed_part(const Module& module, const OpTable& table,
                                            const Simulation& simulation, const std::string& wanted) {
  const auto matches = [&](const Instruction& instruction) {
    return instruction.name == wanted || table[instruction.opcode].name == wanted;
  };
  const auto holds = [&](const Instruction& instruction) {
    bool found = false;
    for_each_called(instruction, [&](ComputationId id) {
      for (const InstructionId inner : module[id].instructions) found |= matches(module[inner]);
    });
    return found;
  };
  const InstructionRecord* direct = nullptr;
  const InstructionRecord* inside = nullptr;
  for (const InstructionRecord& record : simulation.instructions) {
    const Instruction& instruction = module[record.id];
    if (matches(instruction)) direct = &record;
    if (table[instruction.opcode].has(kFusion) && holds(instruction)) inside = &record;
  }
  if (!direct) direct = inside;
  if (!direct) return failure(fmt::format("no instruction that runs is or is called '{}'", shown(wanted)));
  return direct;
}

double microseconds(Picoseconds time) { return static_cast<double>(time.count()) / 1e6; }

double hbm_bytes(ShapeRef shape) {
  double bytes = 0;
  for_each_leaf(shape, [&](ShapeRef leaf) {
    if (leaf->is_array() && leaf->memory_space() == 0)
      bytes += static_cast<double>(dense_bytes(leaf).count());
  });
  return bytes;
}

std::optional<double> roofline(const Module& module, const Simulation& simulation,
                               const DeviceConfig& device) {
  const Computation& entry = module.entry_computation();
  double bytes = hbm_bytes(module.root(module.entry).shape);
  for (const InstructionId parameter : entry.parameters) bytes += hbm_bytes(module[parameter].shape);
  const double peak = peak_flops(device, ElementType::kBF16).count();
  const double bandwidth = device_rates(device, device.hbm()).total.count();
  if (!(peak > 0) || !(bandwidth > 0)) return std::nullopt;
  const double compute = static_cast<double>(simulation.totals.flops.count()) / peak;
  return std::max(compute, bytes / bandwidth) * 1e6;
}

Result<Prediction> predict_kernel(const MeasuredCase& one, const DeviceConfig& device) {
  if (!*one.kernel) return failure(one.kernel->error().message);
  const Result<KernelCost> cost = kernel_cost(device, **one.kernel);
  if (!cost) return failure(cost.error().message);
  Prediction prediction;
  prediction.us = microseconds(cost->time) + one.dispatch_us;
  prediction.generation = device.generation;
  prediction.kinds = TimeByKind{};
  (*prediction.kinds)[static_cast<size_t>(CostCategory::kCustomCall)] = cost->time;
  const double peak = peak_flops(device, ElementType::kBF16).count();
  const double bandwidth = device_rates(device, device.hbm()).total.count();
  if (peak > 0 && bandwidth > 0)
    prediction.roofline_us =
        1e6 * std::max(static_cast<double>(cost->flops.count()) / peak,
                       static_cast<double>(kernel_bytes(**one.kernel).count()) / bandwidth);
  return prediction;
}

/// A whole step; the roofline is that of the model's own count of FLOPs.
Result<Prediction> predict_step(const PublishedRun& run, const Device& device) {
  auto made = std::make_shared<const RunPrediction>(predict_run(run, device));
  Prediction prediction;
  prediction.generation = made->generation;
  prediction.reason = made->reason;
  if (made->seconds) prediction.us = *made->seconds * 1e6;
  if (run.model_flops > 0 && made->peak_flops > 0)
    prediction.roofline_us = run.model_flops / made->peak_flops * 1e6;
  prediction.run = std::move(made);
  return prediction;
}

/// A server: the time that its source gives, or else that of one token of all requests.
Prediction predict_served(const MeasuredServer& server, const Device& device) {
  auto made = std::make_shared<const ServerPrediction>(predict_server(server, device));
  Prediction prediction;
  prediction.generation = device.config.generation;
  prediction.reason = made->reason;
  if (made->ms)
    prediction.us = *made->ms * 1e3;
  else if (made->rate)
    prediction.us = 1e6 / *made->rate;
  prediction.server = std::move(made);
  return prediction;
}

/// A case's module, and how it is run.
struct LoadedCase {
  Module module;
  EstimateOptions options;
};

Result<LoadedCase> load_case(const MeasuredCase& one, const std::string& file, const Device& device,
                             const PredictOptions& predict) {
  const auto source = std::make_shared<const SourceFile>(fmt::format("{}: {}", file, one.id), one.hlo);
  DiagnosticList problems;
  std::vector<Module> modules = load_modules(source, op_table(), problems, {predict.limits, {}, false});
  if (problems.has_errors()) {
    for (const Diagnostic& problem : problems.items())
      if (problem.severity == Severity::kError) {
        const LineColumn place = source->locate(problem.offset);
        return failure(fmt::format("module:{}:{}: {}", place.line, place.column, problem.message));
      }
  }
  if (modules.size() != 1) return failure(fmt::format("{} modules instead of one", modules.size()));
  EstimateOptions options;
  SimulateOptions& simulate = options.simulate;
  simulate.keep_timeline = false;
  if (one.topology) {
    Topology topology = *one.topology;
    if (one.topology_in_cores) {
      const Result<Topology> chips = in_chips(topology, device.config);
      if (!chips) return failure(chips.error().message);
      topology = *chips;
    }
    simulate.slice.topology = topology;
  } else if (one.num_devices > 1) {
    simulate.slice.devices = one.num_devices;
  }
  const Result<SliceRequest> slice = on_named_slice(simulate.slice, one.device, device);
  if (!slice) return failure(slice.error().message);
  simulate.slice = *slice;
  const bool is_optimized = one.optimized.value_or(false);
  options.lowering = is_optimized ? Lowering::kNever : predict.lowering;
  if (is_optimized) options.partitioning = Partitioning::kNever;
  return LoadedCase{std::move(modules[0]), std::move(options)};
}

Result<Prediction> prediction_of(const MeasuredCase& one, const Module& ran, const Simulation& simulation,
                                 const DeviceConfig& device) {
  Picoseconds time = simulation.totals.makespan;
  Prediction prediction;
  prediction.generation = device.generation;
  prediction.kinds = kinds_of(simulation.totals);
  if (!one.time_of.empty()) {
    const Result<const InstructionRecord*> part = timed_part(ran, op_table(), simulation, one.time_of);
    if (!part) return failure(part.error().message);
    time = (*part)->time;
    prediction.kinds = TimeByKind{};
    (*prediction.kinds)[static_cast<size_t>(simulation.cost(**part).category)] = time;
  }
  prediction.us = microseconds(time) + one.dispatch_us;
  prediction.roofline_us = roofline(ran, simulation, device);
  return prediction;
}

Result<Prediction> predict_one(const MeasuredCase& one, const std::string& file, const Result<Device>& device,
                               const PredictOptions& predict) {
  if (!one.unreadable.empty()) return failure(one.unreadable);
  if (!device) return failure(device.error().message);
  if (one.kernel) return predict_kernel(one, device->config);
  if (one.run) return predict_step(*one.run, *device);
  if (one.server) return predict_served(*one.server, *device);
  const Result<LoadedCase> loaded = load_case(one, file, *device, predict);
  if (!loaded) return tl::unexpected(loaded.error());
  const Result<Estimate> estimate = hlosim::estimate(loaded->module, op_table(), *device, loaded->options);
  if (!estimate) return failure(estimate.error().message);
  return prediction_of(one, *estimate->module, *estimate->simulation, device->config);
}

}  // namespace

std::vector<Prediction> predict(std::span<const MeasuredCase> cases, const std::string& file,
                                const PredictOptions& options) {
  Devices devices;
  for (const MeasuredCase& one : cases) {
    const DeviceRequest request = request_of(one);
    if (!devices.contains(request)) devices.emplace(request, make_device(request, options));
  }
  std::vector<Prediction> predictions(cases.size());
  parallel_for(static_cast<int64_t>(cases.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<size_t>(i);
      Result<Prediction> one = predict_one(cases[at], file, devices.at(request_of(cases[at])), options);
      if (one)
        predictions[at] = std::move(*one);
      else
        predictions[at].reason = one.error().message;
    }
  });
  return predictions;
}

// ── again and again ──

struct RepeatedPredictions::State {
  struct Case {
    MeasuredCase measured;
    DeviceRequest request;
    std::optional<Prepared> prepared;  // as it runs; nothing of kernels, steps and servers
    SimulateOptions simulate;
    bool ok = false;
  };
  std::vector<Case> cases;
  Devices devices;
};

RepeatedPredictions::RepeatedPredictions(std::vector<MeasuredCase> cases, const std::string& file,
                                         const PredictOptions& options)
    : state_(std::make_unique<State>()) {
  for (MeasuredCase& one : cases) {
    State::Case& made = state_->cases.emplace_back();
    made.request = request_of(one);
    made.measured = std::move(one);
    if (!state_->devices.contains(made.request))
      state_->devices.emplace(made.request, make_device(made.request, options));
  }
  parallel_for(static_cast<int64_t>(state_->cases.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      State::Case& one = state_->cases[static_cast<size_t>(i)];
      const Result<Device>& device = state_->devices.at(one.request);
      one.ok = device.has_value() && one.measured.unreadable.empty();
      if (!device || one.measured.kernel || one.measured.run || one.measured.server) continue;
      const Result<LoadedCase> loaded = load_case(one.measured, file, *device, options);
      Result<Prepared> prepared = loaded ? prepare(loaded->module, op_table(), *device, loaded->options)
                                         : tl::unexpected(loaded.error());
      one.ok = prepared.has_value();
      if (!prepared) continue;
      one.simulate = loaded->options.simulate;
      one.prepared = std::move(*prepared);
    }
  });
}

RepeatedPredictions::~RepeatedPredictions() = default;
RepeatedPredictions::RepeatedPredictions(RepeatedPredictions&&) noexcept = default;

std::vector<std::optional<double>> RepeatedPredictions::times(std::span<const DeviceOverride> overrides,
                                                              std::span<const size_t> which) const {
  std::map<DeviceRequest, std::optional<Device>> devices;
  for (const size_t i : which) {
    const State::Case& one = state_->cases[i];
    if (!one.ok || devices.contains(one.request)) continue;
    DiagnosticList problems;
    devices.emplace(one.request, with_overrides(*state_->devices.at(one.request), overrides, problems));
  }
  std::vector<std::optional<double>> times(which.size());
  parallel_for(static_cast<int64_t>(which.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const State::Case& one = state_->cases[which[static_cast<size_t>(at)]];
      if (!one.ok) continue;
      const std::optional<Device>& device = devices.at(one.request);
      if (!device) continue;
      const Result<Prediction> made = [&]() -> Result<Prediction> {
        if (one.measured.kernel) return predict_kernel(one.measured, device->config);
        if (one.measured.run) return predict_step(*one.measured.run, *device);
        if (one.measured.server) return predict_served(*one.measured.server, *device);
        // Times alone: what memory holds is the same on all of these devices.
        const Module& ran = *one.prepared->module;
        const Result<Simulation> simulation = simulate(ran, op_table(), *device, one.simulate);
        if (!simulation) return tl::unexpected(simulation.error());
        return prediction_of(one.measured, ran, *simulation, device->config);
      }();
      if (made) times[static_cast<size_t>(at)] = made->us;
    }
  });
  return times;
}

}  // namespace hlosim
