#include "study/sweep_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hash.h"
#include "base/text.h"
#include "estimate/estimate.h"
#include "estimate/named_slice.h"
#include "input/load_modules.h"
#include "interconnect/slice.h"
#include "model/device_overrides.h"
#include "model/native_layouts.h"
#include "ops/op_table.h"
#include "prefetch/prefetch.h"
#include "relayout/layout_tuner.h"
#include "schedule/latency_schedule.h"
#include "text/escape.h"

namespace hlosim {
namespace {

constexpr SweepMetric kMetrics[] = {
    {"time", "ps", "simulated time of one run"},
    {"lower_bound", "ps", "perfect-overlap bound: the time of the busiest unit"},
    {"exposed", "ps", "the TensorCore stalls on transfers; synchronous collectives count as a whole"},
    {"cycles", "", "time in clock cycles"},
    {"mxu_busy", "", "part of the time in which the MXU works"},
    {"hbm_busy", "", "part of the time in which HBM works"},
    {"flops", "", "of matmuls"},
    {"hbm_bytes", "B", "read from and written to HBM"},
    {"sent_bytes", "B", "sent over the interconnect by one device"},
    {"hbm_peak", "B", "most that HBM holds at a time"},
    {"vmem_peak", "B", "most that VMEM holds at a time"},
    {"fits", "", "1: no memory space overflows"},
};

std::vector<double> metrics_of(const Estimate& estimate, const Device& device) {
  const Totals& totals = estimate.simulation->totals;
  const auto part = [&](Unit unit) {
    return totals.makespan.count() == 0 ? 0.0
                                        : static_cast<double>(totals.busy[index_of(unit)].count()) /
                                              static_cast<double>(totals.makespan.count());
  };
  const auto count = [](auto quantity) { return static_cast<double>(quantity.count()); };
  const size_t hbm = static_cast<size_t>(&device.config.hbm() - device.config.memory.data());
  double hbm_peak = 0, vmem_peak = 0;
  bool fits = true;
  for (const SpaceOccupancy& space : estimate.occupancy.spaces) {
    if (space.number == kDefaultMemorySpace) hbm_peak = count(space.peak);
    if (space.number == kVmemSpace) vmem_peak = count(space.peak);
    fits &= !space.capacity || space.peak <= *space.capacity;
  }
  return {count(totals.makespan),
          count(totals.lower_bound),
          count(totals.exposed()),
          count(totals.cycles),
          part(Unit::kMxu),
          part(memory_unit(hbm)),
          count(totals.flops),
          count(totals.traffic[hbm].total()),
          count(totals.sent),
          hbm_peak,
          vmem_peak,
          fits ? 1.0 : 0.0};
}

/// What is done to a module, and how it is run.
struct Steps {
  bool layout = false, schedule = false;
  std::optional<LayoutQuestion> what_if;
  std::optional<PrefetchAlgorithm> prefetch;
  XlaKnobs prefetch_knobs;
  LatencyScheduleOptions schedule_options;
  EstimateOptions estimate;
};

Result<bool> read_flag(std::string_view text) {
  if (text == "true" || text == "on") return true;
  if (text == "false" || text == "off") return false;
  return failure(fmt::format("expects true or false, but is \"{}\"", shown(text)));
}

Result<int64_t> read_count(std::string_view text, int64_t low) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= low) return value;
  return failure(fmt::format("expects a whole number from {} on, but is \"{}\"", low, shown(text)));
}

Result<std::optional<PrefetchAlgorithm>> read_algorithm(std::string_view text) {
  if (text == "false" || text == "off") return std::nullopt;
  for (const PrefetchAlgorithm algorithm : {PrefetchAlgorithm::kStrip, PrefetchAlgorithm::kXla,
                                            PrefetchAlgorithm::kGreedy, PrefetchAlgorithm::kStrong})
    if (to_text(algorithm) == text) return algorithm;
  return failure(fmt::format("expects false, strip, xla, greedy or strong, but is \"{}\"", shown(text)));
}

/// The knobs besides those of a tuner, which are written `schedule.rerun`.
struct Knob {
  std::string_view name;
  Result<void> (*set)(Steps& steps, std::string_view value);
};
template <class T, class Place>
Result<void> store(Result<T> value, Place& place) {
  if (!value) return tl::unexpected(value.error());
  place = *value;
  return {};
}
Result<void> set_lowering(Steps& steps, const Result<bool>& lower) {
  if (!lower) return tl::unexpected(lower.error());
  steps.estimate.lowering = *lower ? Lowering::kPlain : Lowering::kNever;
  return {};
}
Result<void> set_partitioning(Steps& steps, const Result<bool>& partition) {
  if (!partition) return tl::unexpected(partition.error());
  steps.estimate.partitioning = *partition ? Partitioning::kSharded : Partitioning::kNever;
  return {};
}
constexpr Knob kKnobs[] = {
    {"layout", [](Steps& s, std::string_view v) { return store(read_flag(v), s.layout); }},
    {"lower", [](Steps& s, std::string_view v) { return set_lowering(s, read_flag(v)); }},
    {"mesh",
     [](Steps& s, std::string_view v) {
       return v == "none" ? Result<void>() : store(parse_mesh_request(v), s.estimate.mesh);
     }},
    {"partition", [](Steps& s, std::string_view v) { return set_partitioning(s, read_flag(v)); }},
    {"prefetch", [](Steps& s, std::string_view v) { return store(read_algorithm(v), s.prefetch); }},
    {"schedule", [](Steps& s, std::string_view v) { return store(read_flag(v), s.schedule); }},
    {"slices",
     [](Steps& s, std::string_view v) { return store(read_count(v, 1), s.estimate.simulate.slice.slices); }},
    {"topology",
     [](Steps& s, std::string_view v) {
       const int64_t slices = s.estimate.simulate.slice.slices;
       const Result<void> read = store(parse_topology(std::string(v)), s.estimate.simulate.slice);
       s.estimate.simulate.slice.slices = slices;
       return read;
     }},
    {"what_if",
     [](Steps& s, std::string_view v) {
       return v == "none" ? Result<void>() : store(parse_layout_question(v), s.what_if);
     }},
    {"while_trip_count",
     [](Steps& s, std::string_view v) {
       return store(read_count(v, 0), s.estimate.simulate.unknown_trip_count);
     }},
};

Result<void> set_knob(Steps& steps, std::string_view name, std::string_view value) {
  for (const Knob& knob : kKnobs)
    if (knob.name == name) return knob.set(steps, value);
  if (name.starts_with("schedule.")) return set_schedule_knob(steps.schedule_options, name.substr(9), value);
  if (name.starts_with("prefetch.")) return set_knob(steps.prefetch_knobs, name.substr(9), value);
  std::vector<std::string> names;
  for (const Knob& knob : kKnobs) names.emplace_back(knob.name);
  for (const KnobRow& knob : knob_rows({})) names.push_back("prefetch." + knob.name);
  for (const KnobDoc& knob : schedule_knobs({})) names.push_back("schedule." + knob.name);
  return failure(fmt::format("unknown knob \"{}\"", shown(name)),
                 did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())));
}

Result<Module> laid_out(const Module& module, const Device& device, const Steps& steps) {
  if (!carries_tiles(module)) return failure("layouts are tuned in modules with tiles: set lower to true");
  LayoutTuneOptions options;
  options.simulate = steps.estimate.simulate;
  Result<LayoutTuning> tuned = steps.what_if
                                   ? ask_layouts(module, op_table(), device, options, {*steps.what_if})
                                   : tune_layouts(module, op_table(), device, options);
  if (!tuned) return tl::unexpected(tuned.error());
  if (!steps.what_if || !steps.layout) return std::move(*tuned->module);
  tuned = tune_layouts(*tuned->module, op_table(), device, options);
  if (!tuned) return tl::unexpected(tuned.error());
  return std::move(*tuned->module);
}

Result<Module> prefetched(const Module& module, const Device& device, const Steps& steps) {
  PrefetchOptions options;
  options.algorithm = *steps.prefetch;
  options.knobs = steps.prefetch_knobs;
  options.budget = 0;  // no limit: what is found must not depend on how busy the machine is
  options.simulate = steps.estimate.simulate;
  Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
  if (!result) return tl::unexpected(result.error());
  return std::move(result->module);
}

/// Prepares the module, tunes it as the point wants it, and runs what that gives.
Result<Estimate> run_steps(const Module& module, const Device& device, const Steps& steps) {
  Result<Prepared> prepared = prepare(module, op_table(), device, steps.estimate);
  if (!prepared) return tl::unexpected(std::move(prepared.error()));
  Result<Module> made;
  const Module* now = prepared->written.get();
  const auto becomes = [&](Result<Module> next) {
    made = std::move(next);
    if (made) now = &*made;
    return made.has_value();
  };
  const bool ok =
      (!(steps.layout || steps.what_if) || becomes(laid_out(*now, device, steps))) &&
      (!steps.schedule || becomes(schedule_for_latency(*now, op_table(), device, steps.schedule_options))) &&
      (!steps.prefetch || becomes(prefetched(*now, device, steps)));
  if (!ok) return tl::unexpected(std::move(made.error()));
  if (now == prepared->written.get())
    return estimate(std::move(*prepared), op_table(), device, steps.estimate.simulate);
  return estimate(*now, op_table(), device,
                  {.simulate = steps.estimate.simulate,
                   .lowering = Lowering::kNever,
                   .partitioning = steps.estimate.partitioning});
}

/// FNV-1a over what is added, twice from different beginnings.
class Hash128 {
 public:
  void add(std::string_view text) {
    for (const char c : text) step(static_cast<unsigned char>(c));
    for (uint64_t size = text.size(), i = 0; i < 8; ++i) step(static_cast<unsigned char>(size >> (8 * i)));
  }
  std::string text() const { return fmt::format("{:016x}{:016x}", a_.value(), b_.value()); }

 private:
  void step(unsigned char byte) {
    a_.add_word(byte);
    b_.add_word(byte + 0x9eu);
  }
  Fnv1a a_, b_ = Fnv1a(0x84222325cbf29ce4);
};

std::string first_error(const DiagnosticList& problems) {
  for (const Diagnostic& problem : problems.items()) {
    if (problem.severity != Severity::kError) continue;
    if (!problem.source) return one_line(problem.message);
    const LineColumn at = problem.source->locate(problem.offset);
    return one_line(fmt::format("{}:{}:{}: {}", problem.source->name(), at.line, at.column, problem.message));
  }
  return "wrong input";
}

void replace_all(std::string& text, const std::string& from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

std::span<const SweepMetric> sweep_metrics() { return kMetrics; }

int metric_index(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                   [&](const SweepMetric& metric) { return metric.name == name; });
  return found == std::end(kMetrics) ? -1 : static_cast<int>(found - std::begin(kMetrics));
}

std::string metric_text(int metric, double value) {
  const std::string_view unit = kMetrics[metric].unit;
  if (unit == "ps") return to_text(Picoseconds(static_cast<int64_t>(value)));
  if (unit == "B") return to_text(Bytes(static_cast<int64_t>(value)));
  return kMetrics[metric].name.ends_with("busy") ? fmt::format("{:.1f}%", 100 * value)
                                                 : fmt::format("{}", value);
}

Result<void> check_sweep_knob(std::string_view name, std::string_view value) {
  Steps steps;
  return set_knob(steps, name, value);
}

struct PointRunner::LoadedDevice {
  std::once_flag once;
  std::optional<Device> device;
  std::string error;
};

struct PointRunner::LoadedText {
  std::once_flag once;
  SourcePtr source;
  std::string fingerprint;
  std::once_flag read_once;
  std::optional<Module> module;
  std::string error;
};

PointRunner::PointRunner(const Experiment& experiment) : experiment_(experiment) {
  for (const SweepDevice& one : experiment.devices) {
    fingerprints_.push_back(one.device.fingerprint());
    // Names of one device with different slices are different points.
    if (const auto slice = on_named_slice({}, one.name, one.device); slice && slice->topology)
      fingerprints_.back() += " " + one.name;
  }
  for (size_t i = 0; i < experiment.axes.size(); ++i)
    if (experiment.axes[i].kind != SweepAxis::Kind::kText) by_name_.push_back(i);
  std::sort(by_name_.begin(), by_name_.end(),
            [&](size_t a, size_t b) { return experiment.axes[a].name < experiment.axes[b].name; });
}
PointRunner::~PointRunner() = default;

PointRunner::Choice PointRunner::choice(size_t first, const SweepPoint& point, SweepAxis::Kind kind) const {
  Choice choice{first};
  for (size_t i = 0; i < experiment_.axes.size(); ++i)
    if (experiment_.axes[i].kind == kind) choice.push_back(point.values[i]);
  return choice;
}

PointRunner::LoadedDevice& PointRunner::device(const SweepPoint& point) {
  LoadedDevice* loaded = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LoadedDevice>& place = devices_[choice(point.device, point, SweepAxis::Kind::kSet)];
    if (!place) place = std::make_unique<LoadedDevice>();
    loaded = place.get();
  }
  std::call_once(loaded->once, [&] {
    std::vector<DeviceOverride> overrides;
    for (size_t i = 0; i < experiment_.axes.size(); ++i)
      if (experiment_.axes[i].kind == SweepAxis::Kind::kSet)
        overrides.push_back({experiment_.axes[i].name, std::string(value_at(experiment_, point, i))});
    const Device& base = experiment_.devices[point.device].device;
    DiagnosticList problems;
    loaded->device = overrides.empty() ? base : with_overrides(base, overrides, problems);
    if (!loaded->device) loaded->error = first_error(problems);
  });
  return *loaded;
}

PointRunner::LoadedText& PointRunner::text(const SweepPoint& point) {
  LoadedText* loaded = nullptr;
  {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<LoadedText>& place = texts_[choice(point.module, point, SweepAxis::Kind::kText)];
    if (!place) place = std::make_unique<LoadedText>();
    loaded = place.get();
  }
  std::call_once(loaded->once, [&] {
    const SourcePtr& source = experiment_.modules[point.module].source;
    std::string text(source->text());
    for (size_t i = 0; i < experiment_.axes.size(); ++i)
      if (experiment_.axes[i].kind == SweepAxis::Kind::kText)
        replace_all(text, "${" + experiment_.axes[i].name + "}", value_at(experiment_, point, i));
    Hash128 hash;
    hash.add(text);
    loaded->fingerprint = hash.text();
    loaded->source = std::make_shared<const SourceFile>(source->name(), std::move(text));
  });
  return *loaded;
}

const Module* PointRunner::module_of(LoadedText& text) {
  std::call_once(text.read_once, [&] {
    DiagnosticList problems;
    std::vector<Module> modules = load_modules(text.source, op_table(), problems, experiment_.load);
    if (problems.has_errors())
      text.error = first_error(problems);
    else if (modules.size() != 1)
      text.error = fmt::format("{} holds {} modules, expected one", text.source->name(), modules.size());
    else
      text.module = std::move(modules[0]);
  });
  return text.module ? &*text.module : nullptr;
}

std::string PointRunner::key(const SweepPoint& point, std::string_view version) {
  Hash128 hash;
  hash.add(version);
  hash.add(text(point).fingerprint);
  hash.add(fingerprints_[point.device]);
  if (experiment_.load.partial) hash.add("partial");
  for (const stablehlo::DimensionSize& one : experiment_.load.mlir.dimensions)
    hash.add(fmt::format("dim {}={}", one.name, one.size));
  for (const size_t i : by_name_) {
    hash.add(experiment_.axes[i].name);
    hash.add(value_at(experiment_, point, i));
  }
  return hash.text();
}

SweepResult PointRunner::run(const SweepPoint& point) {
  SweepResult result;
  const LoadedDevice& device = this->device(point);
  result.error = device.error;
  Steps steps;
  for (size_t i = 0; i < experiment_.axes.size(); ++i)
    if (experiment_.axes[i].kind == SweepAxis::Kind::kKnob)
      if (const auto set = set_knob(steps, experiment_.axes[i].name, value_at(experiment_, point, i)); !set)
        result.error = one_line(set.error().message);
  if (result.ok() && steps.estimate.mesh)
    if (const auto few = check_devices(*steps.estimate.mesh, experiment_.load.limits); !few)
      result.error = one_line(few.error().message);
  if (!result.ok()) return result;
  const Result<SliceRequest> slice =
      on_named_slice(steps.estimate.simulate.slice, experiment_.devices[point.device].name, *device.device);
  if (!slice) return {{}, one_line(slice.error().message)};
  steps.estimate.simulate.slice = *slice;
  steps.estimate.simulate.keep_timeline = false;
  steps.estimate.simulate.stop = experiment_.stop;
  steps.schedule_options.simulate = steps.estimate.simulate;

  LoadedText& text = this->text(point);
  const Module* module = module_of(text);
  if (!module) return {{}, text.error};
  const Result<Estimate> estimate = run_steps(*module, *device.device, steps);
  if (!estimate) return {{}, one_line(estimate.error().message)};
  result.values = metrics_of(*estimate, *device.device);
  return result;
}

}  // namespace hlosim
