#include "profile/xspace_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "input/proto_text.h"
#include "model/device_names.h"
#include "profile/operation_facts.h"
#include "profile/plane_builder.h"
#include "profile/xplane.pb.h"
#include "report/report.h"
#include "report/source_place.h"

namespace hlosim {
namespace {

/// Numbers of the lines, as the profiler gives them.
constexpr int64_t kStepsLine = 1, kModulesLine = 2, kOperationsLine = 3, kAsyncLine = 4, kTraceMeLine = 6,
                  kOverlayLine = 7;
constexpr int64_t kDevicePlane = 2;

/// The profiler's numbers of memories; 0: not among them.
uint64_t memory_number(std::string_view space) {
  return space == "hbm" ? 1 : space == "cmem" ? 2 : space == "vmem" ? 3 : 0;
}

std::string program_name(const Module& module, uint64_t id) { return fmt::format("{}({})", module.name, id); }

/// The plane of the device, run after run.
class DevicePlane {
 public:
  DevicePlane(xplane::Plane& plane, const OpTable& table, const Device& device)
      : plane_(plane), builder_(plane, "/device:TPU:0"), table_(table), device_(device.config) {
    plane_.set_id(kDevicePlane);
    describe_device();
    steps_ = &builder_.line(kStepsLine, "Steps");
    modules_ = &builder_.line(kModulesLine, "XLA Modules");
    operations_ = &builder_.line(kOperationsLine, "XLA Ops");
    beside_ = &builder_.line(kAsyncLine, "Async XLA Ops");
    // What the runtime notes of itself, waiting for its host and for other devices: nothing is predicted.
    builder_.line(kOverlayLine, "Overlay");
    builder_.line(kTraceMeLine, "XLA TraceMe");
  }

  void add(const PredictedRun& run) {
    const Module& module = *run.estimate->module;
    const Picoseconds time = run.trace->makespan;
    const uint64_t id = program_id(module, table_);
    ++runs_;
    xplane::Event& step =
        PlaneBuilder::event(*steps_, builder_.event_metadata(fmt::format("{}", runs_ - 1)).id(), now_, time);
    add_device_time(step, now_, time);
    builder_.number(*step.add_stats(), "group_id", static_cast<int64_t>(runs_ - 1));
    xplane::Event& ran =
        PlaneBuilder::event(*modules_, builder_.event_metadata(program_name(module, id)).id(), now_, time);
    builder_.unsigned_number(*ran.add_stats(), "run_id", runs_);
    builder_.number(*ran.add_stats(), "replica_id", 0);
    builder_.unsigned_number(*ran.add_stats(), "queue_id", 0);
    builder_.unsigned_number(*ran.add_stats(), "core_type", 0);
    add_operations(run, id);
    now_ += time;
  }

 private:
  void describe_device() {
    const auto stat = [&]() -> xplane::Stat& { return *plane_.add_stats(); };
    const auto gigabytes = [](BytesPerSecond rate) { return rate.count() < 1e300 ? rate.count() / 1e9 : 0; };
    // A message of the numbers of host, chip and core: none is written where all are 0, as the first core's
    // are.
    builder_.bytes(stat(), "core_details", {});
    builder_.text(stat(), "device_type_string", profiler_name(device_));
    builder_.real(stat(), "peak_teraflops_per_second",
                  peak_flops(device_, ElementType::kBF16).count() / 1e12);
    builder_.real(stat(), "peak_hbm_bw_gigabytes_per_second",
                  gigabytes(device_rates(device_, device_.hbm()).total));
    const MemorySpace* cmem = device_.memory_space("cmem");
    const SpaceRates vmem = device_rates(device_, device_.vmem_space());
    const SpaceRates on_chip = cmem ? device_rates(device_, *cmem) : SpaceRates{};
    builder_.real(stat(), "peak_cmem_rd_bw_gigabytes_per_second", gigabytes(on_chip.read));
    builder_.real(stat(), "peak_cmem_wr_bw_gigabytes_per_second", gigabytes(on_chip.write));
    for (const char* name : {"vmem", "sram"}) {
      const SpaceRates& rates = name[0] == 's' && cmem ? on_chip : vmem;
      builder_.real(stat(), fmt::format("peak_{}_rd_bw_gigabytes_per_second", name), gigabytes(rates.read));
      builder_.real(stat(), fmt::format("peak_{}_wr_bw_gigabytes_per_second", name), gigabytes(rates.write));
    }
    builder_.number(stat(), "has_megacore", device_.cores > 1);
    builder_.number(stat(), "has_merged_vmem", cmem == nullptr);
  }

  void add_device_time(xplane::Event& event, Picoseconds start, Picoseconds duration) {
    builder_.unsigned_number(*event.add_stats(), "device_offset_ps", static_cast<uint64_t>(start.count()));
    builder_.unsigned_number(*event.add_stats(), "device_duration_ps",
                             static_cast<uint64_t>(duration.count()));
  }

  // ── operations ──

  struct Flight {
    const TraceSlice* start = nullptr;
    const TraceSlice* done = nullptr;
  };

  /// The TensorCore's slices as they nest; flows from a start to its done beside it.
  void add_operations(const PredictedRun& run, uint64_t program) {
    const Module& module = *run.estimate->module;
    const OperationFacts facts(module, table_);
    const SourcePlaces places(module);
    std::map<std::pair<int32_t, bool>, int64_t> metadata;  // by instruction of the trace, beside
    const auto kind = [&](int32_t instruction, bool beside) {
      int64_t& known = metadata[{instruction, beside}];
      if (known == 0) known = describe(run, instruction, program, facts, places, beside);
      return known;
    };
    std::map<uint64_t, Flight> flights;
    for (const TraceSlice& slice : run.trace->slices) {
      if (run.trace->tracks[slice.track] != to_text(Lane::kTensorCore)) continue;
      if (slice.role == FlowRole::kStart) flights[slice.flow].start = &slice;
      if (slice.role == FlowRole::kEnd) flights[slice.flow].done = &slice;
      if (slice.first_hidden > 0) continue;  // of a loop, its time is in the loop's own event
      const Picoseconds duration = slice.end - slice.start;
      xplane::Event& event =
          PlaneBuilder::event(*operations_, kind(slice.instruction, false), now_ + slice.start, duration);
      add_device_time(event, now_ + slice.start, duration);
    }
    for (const auto& [flow, flight] : flights) {
      if (!flight.start || !flight.done) continue;
      xplane::Event& event =
          PlaneBuilder::event(*beside_, kind(flight.start->instruction, true), now_ + flight.start->start,
                              flight.done->end - flight.start->start);
      const TraceInstruction& done = run.trace->instructions[static_cast<size_t>(flight.done->instruction)];
      builder_.text(*event.add_stats(), "hlo_op", done.name);
      builder_.number(*event.add_stats(), "_a", 1);
      builder_.unsigned_number(*event.add_stats(), "flow", flow);
      builder_.unsigned_number(*event.add_stats(), "id", flow - 1);
    }
  }

  int64_t describe(const PredictedRun& run, int32_t index, uint64_t program, const OperationFacts& facts,
                   const SourcePlaces& places, bool beside) {
    const InstructionRecord& record = run.estimate->simulation->instructions[static_cast<size_t>(index)];
    const Module& module = *run.estimate->module;
    const Instruction& instruction = module[record.id];
    xplane::EventMetadata& kind = builder_.event_metadata(facts.text(record.id));
    kind.set_display_name(beside ? std::string("async-copy") : std::string(instruction.name));
    const auto stat = [&]() -> xplane::Stat& { return *kind.add_stats(); };
    const int64_t flops = facts.flops(record.id), bytes = facts.bytes(record.id);
    builder_.text(stat(), "hlo_category", facts.category(record.id));
    builder_.unsigned_number(stat(), "program_id", program);
    builder_.unsigned_number(stat(), "symbol_id", static_cast<uint64_t>(index) + 1);
    if (const std::string_view name = metadata_value(instruction, "deduplicated_name"); !name.empty())
      builder_.text(stat(), "deduplicated_name", without_escapes(name));
    builder_.number(stat(), "flops", flops);
    builder_.number(stat(), "model_flops", flops);
    builder_.number(stat(), "bytes_accessed", bytes);
    builder_.bytes(stat(), "memory_access_breakdown", accesses(*run.estimate->simulation, module, record));
    if (const SourcePlace place = places.of(instruction); !place.file.empty())
      builder_.text(stat(), "source", fmt::format("{}:{}", without_escapes(place.file), place.line));
    if (const std::string stack = places.stack_of(instruction); !stack.empty())
      builder_.text(stat(), "source_stack", stack);
    builder_.number(stat(), "raw_bytes_accessed", bytes);
    builder_.text(stat(), "shape_with_layout", facts.shape(record.id));
    if (const std::string_view name = op_name_of(instruction); !name.empty())
      builder_.text(stat(), "tf_op", fmt::format("{}:", without_escapes(name)));
    return kind.id();
  }

  /// What an operation reads and writes where; a copy beside others reads with its start and writes with its
  /// done.
  std::string accesses(const Simulation& simulation, const Module& module,
                       const InstructionRecord& record) const {
    xplane::MemoryAccesses all;
    constexpr int32_t kRead = 1, kWritten = 2;
    const auto add = [&](int32_t operation, uint64_t space, Bytes bytes) {
      if (bytes.count() <= 0) return;
      xplane::MemoryAccess& one = *all.add_memory_accessed();
      one.set_operation_type(operation);
      one.set_memory_space(space);
      one.set_bytes_accessed(static_cast<uint64_t>(bytes.count()));
    };
    const OpDef& def = table_[module[record.id].opcode];
    const SpaceTraffic& traffic = simulation.cost(record).traffic;
    const SpaceTraffic* written = &traffic;
    if (def.has(kCopyStart)) written = nullptr;
    if (def.has(kAsyncDone))
      for (const InstructionRecord& start : simulation.instructions)
        if (start.id == simulation.schedule.start_of[record.id] &&
            table_[module[start.id].opcode].has(kCopyStart))
          written = &simulation.cost(start).traffic;
    for (size_t i = 0; i < device_.memory.size(); ++i) {
      const uint64_t number = memory_number(device_.memory[i].name);
      if (number == 0) continue;
      add(kRead, number, traffic[i].read);
      if (written) add(kWritten, number, (*written)[i].written);
    }
    return all.SerializeAsString();
  }

  xplane::Plane& plane_;
  PlaneBuilder builder_;
  const OpTable& table_;
  const DeviceConfig& device_;
  xplane::Line *steps_, *modules_, *operations_, *beside_;
  Picoseconds now_{};
  uint64_t runs_ = 0;
};

/// The modules that ran, each as its proto, keyed by its number.
Result<void> add_modules(xplane::Plane& plane, std::span<const PredictedRun> runs, const OpTable& table) {
  PlaneBuilder builder(plane, "/host:metadata");
  std::vector<uint64_t> known;
  for (const PredictedRun& run : runs) {
    const Module& module = *run.estimate->module;
    const uint64_t id = program_id(module, table);
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    known.push_back(id);
    Result<std::string> proto = proto_of(module);
    if (!proto) return tl::unexpected(proto.error());
    xplane::EventMetadata& kind = builder.event_metadata(program_name(module, id), static_cast<int64_t>(id));
    builder.bytes(*kind.add_stats(), "Hlo Proto", std::move(*proto));
  }
  return {};
}

/// The host's threads aren't predicted, what its counters say of the matrix unit is: FLOPs of products over
/// the peak.
void add_host(xplane::Plane& plane, std::span<const PredictedRun> runs, const DeviceConfig& device) {
  PlaneBuilder builder(plane, "/host:CPU");
  double flops = 0, seconds = 0;
  for (const PredictedRun& run : runs) {
    flops += static_cast<double>(run.estimate->simulation->totals.flops.count());
    seconds += static_cast<double>(run.trace->makespan.count()) / 1e12;
  }
  const double possible = peak_flops(device, ElementType::kBF16).count() * seconds;
  builder.real(*plane.add_stats(), "matrix_unit_utilization_percent",
               possible > 0 ? 100 * flops / possible : 0);
}

}  // namespace

uint64_t program_id(const Module& module, const OpTable& table) {
  const std::string text = module_fingerprint(module, table);
  uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return std::max<uint64_t>(id, 1);
}

Result<std::string> xspace_of(std::span<const PredictedRun> runs, const OpTable& table,
                              const Device& device) {
  xplane::Space space;
  Picoseconds all{};
  {
    DevicePlane plane(*space.add_planes(), table, device);
    for (const PredictedRun& run : runs) {
      plane.add(run);
      all += run.trace->makespan;
    }
  }
  if (const Result<void> modules = add_modules(*space.add_planes(), runs, table); !modules)
    return tl::unexpected(modules.error());
  add_host(*space.add_planes(), runs, device.config);
  PlaneBuilder environment(*space.add_planes(), "Task Environment");
  xplane::Plane& last = *space.mutable_planes(space.planes_size() - 1);
  environment.unsigned_number(*last.add_stats(), "profile_start_time", 0);
  environment.unsigned_number(*last.add_stats(), "profile_stop_time",
                              static_cast<uint64_t>(all.count() / 1000));
  return space.SerializeAsString();
}

}  // namespace hlosim
