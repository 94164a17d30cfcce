// The sections of a report's JSON that aren't lists.
#include "model/version.h"
#include "report/report_members.h"

namespace hlosim {
/// Those that aren't 0.
template <>
struct JsonOf<BytesByClass> {
  static Json json(const BytesByClass& bytes) {
    Json object = Json::object();
    for (size_t i = 0; i < kMemoryClasses; ++i)
      if (bytes[i].count() > 0) object[to_text(static_cast<MemoryClass>(i))] = bytes[i].count();
    return object;
  }
  static Json schema() {
    return {{"type", "object"}, {"additionalProperties", {{"type", "integer"}, {"minimum", 1}}}};
  }
};

namespace {

int64_t whole(Hertz rate) { return static_cast<int64_t>(rate.count()); }

struct UnitTime {
  const std::string& unit;
  std::optional<Picoseconds> busy;
  Picoseconds bounds{};
};

std::span<const JsonMember<UnitTime>> json_members(const UnitTime*) {
  using Row = const UnitTime&;
  static constexpr JsonMember<UnitTime> kMembers[] = {
      {"unit",
       "MXU, VPU, EUP, XLU, scalar, ICI, host, custom call, a memory space in upper case, overhead, wait",
       [](Row row) { return row.unit; }},
      {"busy_ps", "null: overhead and waiting keep no unit busy", [](Row row) { return row.busy; }},
      {"bounds_ps", "time of the instructions that this bounds", [](Row row) { return row.bounds; }}};
  return kMembers;
}

std::vector<UnitTime> unit_times(const Report& report) {
  std::vector<UnitTime> rows;
  for (size_t i = 0; i < report.bound_time.size(); ++i) {
    const bool has_busy = i < kUnitCount;
    const Picoseconds busy = has_busy ? report.totals().busy[i] : Picoseconds(0);
    if (busy.count() == 0 && report.bound_time[i].count() == 0) continue;
    rows.push_back(
        {report.unit_names[i], has_busy ? std::optional(busy) : std::nullopt, report.bound_time[i]});
  }
  return rows;
}

}  // namespace

std::span<const JsonMember<ToolSection>> json_members(const ToolSection*) {
  static constexpr JsonMember<ToolSection> kMembers[] = {
      {"name", "hlosim", [](const ToolSection&) { return std::string_view("hlosim"); }},
      {"version", "", [](const ToolSection& tool) { return tool.version; }},
      {"model_version", "rises when the same input may get other numbers",
       [](const ToolSection&) { return kModelVersion; }}};
  return kMembers;
}

std::span<const JsonMember<DeviceSection>> json_members(const DeviceSection*) {
  using In = const DeviceSection&;
  static constexpr JsonMember<DeviceSection> kMembers[] = {
      {"name", "", [](In in) { return in.report.device_name; }},
      {"file", "the device file, or the built-in one", [](In in) { return in.report.device_file; }},
      {"fingerprint", "16 hex digits over all keys and values",
       [](In in) { return in.report.device_fingerprint; }},
      {"clock_hz", "", [](In in) { return whole(in.report.clock); }},
      {"peak_flops_per_second", "bf16 products of one device", [](In in) { return in.report.peak_flops; }},
      {"peak_hbm_bytes_per_second", "", [](In in) { return in.report.peak_hbm_bandwidth; }},
      {"slice", "sides of the slice of chips", [](In in) { return in.report.slice; }},
      {"slice_devices", "", [](In in) { return in.report.slice_devices; }}};
  return kMembers;
}

std::span<const JsonMember<ModuleSection>> json_members(const ModuleSection*) {
  using In = const ModuleSection&;
  static constexpr JsonMember<ModuleSection> kMembers[] = {
      {"name", "", [](In in) { return in.report.module_name; }},
      {"file", "",
       [](In in) {
         return in.report.module_file.empty() ? std::nullopt : std::optional(in.report.module_file);
       }},
      {"fingerprint", "16 hex digits over the canonical text without metadata",
       [](In in) { return in.report.module_fingerprint; }},
      {"instructions", "", [](In in) { return in.report.instruction_count; }},
      {"computations", "", [](In in) { return in.report.computation_count; }},
      {"is_scheduled", "by its text", [](In in) { return in.report.scheduled; }},
      {"replicas", "", [](In in) { return in.report.replicas; }},
      {"partitions", "", [](In in) { return in.report.partitions; }}};
  return kMembers;
}

// ── time and work ──

std::span<const JsonMember<TimeRange>> json_members(const TimeRange*) {
  static constexpr JsonMember<TimeRange> kMembers[] = {
      {"low", "", [](const TimeRange& range) { return range.low; }},
      {"high", "", [](const TimeRange& range) { return range.high; }},
      {"share", "", [](const TimeRange&) { return kRangeShare; }}};
  return kMembers;
}

std::span<const JsonMember<TimeSection>> json_members(const TimeSection*) {
  using In = const TimeSection&;
  static constexpr JsonMember<TimeSection> kMembers[] = {
      {"total_ps", "makespan of one run", [](In in) { return in.report.totals().makespan; }},
      {"range_ps",
       "prediction interval: the measured time of that share of comparable programs is in it; null: unknown",
       [](In in) { return in.report.time_range; }},
      {"cycles", "total × clock, rounded up", [](In in) { return in.report.totals().cycles; }},
      {"clock_hz", "", [](In in) { return whole(in.report.clock); }},
      {"lower_bound_ps", "perfect-overlap bound: the time of the busiest unit",
       [](In in) { return in.report.totals().lower_bound; }},
      {"bound_by", "unit of the longest part of the time",
       [](In in) { return in.report.unit_name(in.report.totals().bound_by); }},
      {"bound_by_ps", "", [](In in) { return in.report.bound_time[index_of(in.report.totals().bound_by)]; }},
      {"bound_by_key",
       "the device's key whose rate limits the memory space that bounds the time, such as dma.bandwidth; "
       "null: no memory "
       "space bounds it, or no single rate",
       [](In in) {
         return in.report.limiting_key.empty() ? std::nullopt : std::optional(in.report.limiting_key);
       }},
      {"idle_ps", "the TensorCore is idle", [](In in) { return in.report.totals().idle; }},
      {"exposed_copies_ps", "", [](In in) { return in.report.totals().exposed_copies; }},
      {"exposed_collectives_ps", "exposed time of collectives; synchronous ones count as a whole",
       [](In in) { return in.report.totals().all_exposed_collectives(); }},
      {"exposed_others_ps", "", [](In in) { return in.report.totals().exposed_others; }},
      {"by_category_ps", "adds up to total_ps", [](In in) { return ByCategory(in.report.totals()); }},
      {"by_unit", "", [](In in) { return unit_times(in.report); }}};
  return kMembers;
}

std::span<const JsonMember<WorkSection>> json_members(const WorkSection*) {
  using In = const WorkSection&;
  static constexpr JsonMember<WorkSection> kMembers[] = {
      {"flops", "of matmuls, 2 per multiply-add", [](In in) { return in.report.totals().flops; }},
      {"flops_utilisation", "flops over time and peak_flops_per_second",
       [](In in) { return in.report.flops_utilisation(); }},
      {"vector_operations", "", [](In in) { return in.report.totals().vector_operations; }},
      {"transcendentals", "", [](In in) { return in.report.totals().transcendentals; }},
      {"unknown_instructions",
       "instructions whose operations are not counted: the numbers above are lower bounds",
       [](In in) { return in.report.unknown_work; }},
      {"custom_calls_by_bytes_ps", "time of custom calls of which nothing but their bytes is known",
       [](In in) { return in.report.custom_calls_by_bytes; }},
      {"custom_calls_by_blocks_ps", "time of custom calls of TPU kernels that are costed by their blocks",
       [](In in) { return in.report.custom_calls_by_blocks; }},
      {"custom_calls_by_estimate_ps",
       "time of custom calls of TPU kernels that are costed by their authors' estimate",
       [](In in) { return in.report.custom_calls_by_estimate; }}};
  return kMembers;
}

// ── traffic and memory ──

std::span<const JsonMember<ReportRoofline>> json_members(const ReportRoofline*) {
  using Row = const ReportRoofline&;
  static constexpr JsonMember<ReportRoofline> kMembers[] = {
      {"space", "", [](Row row) { return row.space; }},
      {"bytes", "", [](Row row) { return row.bytes; }},
      {"bytes_per_second", "for this mix of reads and writes", [](Row row) { return row.rate; }},
      {"flops_per_byte", "", [](Row row) { return row.intensity; }},
      {"ridge_flops_per_byte", "from here on the matrix units are the limit",
       [](Row row) { return row.ridge; }},
      {"attainable_flops_per_second", "", [](Row row) { return row.attainable; }}};
  return kMembers;
}

std::span<const JsonMember<ReportEnergy>> json_members(const ReportEnergy*) {
  using Row = const ReportEnergy&;
  static constexpr JsonMember<ReportEnergy> kMembers[] = {
      {"part", "a memory space, MXU, VPU or ICI", [](Row row) { return row.part.what; }},
      {"amount", "", [](Row row) { return row.part.amount; }},
      {"unit", "of amount: B or FLOP", [](Row row) { return row.part.unit; }},
      {"pj_each", "", [](Row row) { return row.part.each; }},
      {"pj", "", [](Row row) { return row.part.energy; }},
      {"source", "of the figure", [](Row row) { return row.source; }}};
  return kMembers;
}

std::span<const JsonMember<ReportBuffer>> json_members(const ReportBuffer*) {
  using Row = const ReportBuffer&;
  static constexpr JsonMember<ReportBuffer> kMembers[] = {{"name", "", [](Row row) { return row.name; }},
                                                          {"shape", "", [](Row row) { return row.shape; }},
                                                          {"class", "", [](Row row) { return row.kind; }},
                                                          {"bytes", "", [](Row row) { return row.size; }}};
  return kMembers;
}

std::span<const JsonMember<ReportSpace>> json_members(const ReportSpace*) {
  using Row = const ReportSpace&;
  static constexpr JsonMember<ReportSpace> kMembers[] = {
      {"number", "n of S(n)",
       [](Row row) { return row.number >= 0 ? std::optional(row.number) : std::nullopt; }},
      {"name", "", [](Row row) { return row.name; }},
      {"capacity_bytes", "what a program may take", [](Row row) { return row.capacity; }},
      {"runtime_bytes", "reserved by the runtime, not part of capacity_bytes",
       [](Row row) { return row.runtime; }},
      {"peak_bytes", "", [](Row row) { return row.peak; }},
      {"mean_bytes", "bytes there, over the time of the run", [](Row row) { return row.mean; }},
      {"peak_step", "of the flattened schedule",
       [](Row row) { return row.is_used ? std::optional(row.peak_step) : std::nullopt; }},
      {"peak_instruction", "", [](Row row) { return text_or_null(row.peak_instruction); }},
      {"scratch_bytes", "what one instruction may use besides peak_bytes",
       [](Row row) { return row.reserved; }},
      {"fits", "", [](Row row) { return row.capacity ? std::optional(!row.overflows()) : std::nullopt; }},
      {"read_bytes", "", [](Row row) { return row.read; }},
      {"written_bytes", "", [](Row row) { return row.written; }},
      {"peak_by_class",
       "parameters, optimizer state, cache, inputs, activations, gathered copies, results, constants: those "
       "that aren't 0, "
       "which add up to peak_bytes",
       [](Row row) { return row.by_class; }},
      {"largest", "the largest buffers at the peak, at most 5",
       [](Row row) { return std::span(row.largest); }}};
  return kMembers;
}

std::span<const JsonMember<EnergySection>> json_members(const EnergySection*) {
  using In = const EnergySection&;
  static constexpr JsonMember<EnergySection> kMembers[] = {
      {"total_pj", "",
       [](In in) {
         return in.report.energy.empty() ? std::nullopt : std::optional(in.report.total_energy());
       }},
      {"parts", "", [](In in) { return std::span(in.report.energy); }}};
  return kMembers;
}

std::span<const JsonMember<TrafficSection>> json_members(const TrafficSection*) {
  using In = const TrafficSection&;
  static constexpr JsonMember<TrafficSection> kMembers[] = {
      {"hbm_bytes", "", [](In in) { return in.report.hbm_traffic().total(); }},
      {"hbm_read_bytes", "", [](In in) { return in.report.hbm_traffic().read; }},
      {"hbm_written_bytes", "", [](In in) { return in.report.hbm_traffic().written; }},
      {"hbm_utilisation", "hbm_bytes over time and peak_hbm_bytes_per_second",
       [](In in) { return in.report.hbm_utilisation(); }},
      {"logical_bytes", "of all arrays read and written, without padding",
       [](In in) { return in.report.totals().logical_bytes; }},
      {"padded_bytes", "the same with it", [](In in) { return in.report.totals().padded_bytes; }},
      {"sent_bytes", "over the interconnect by one device: arrays",
       [](In in) { return in.report.totals().sent; }},
      {"sent_scalar_bytes", "and scalars", [](In in) { return in.report.totals().scalar_sent; }},
      {"spaces", "", [](In in) { return traffic_rows(in.report, in.report.totals().traffic); }},
      {"roofline", "the rate of matmuls that each memory space allows",
       [](In in) { return std::span(in.report.roofline); }},
      {"energy", "what switches in one device, by the figures that the device file has",
       [](In in) { return EnergySection{in.report}; }}};
  return kMembers;
}

std::span<const JsonMember<MemorySection>> json_members(const MemorySection*) {
  using In = const MemorySection&;
  static constexpr JsonMember<MemorySection> kMembers[] = {
      {"fits", "no space overflows", [](In in) { return in.report.overflows().empty(); }},
      {"spaces", "", [](In in) { return std::span(in.report.spaces); }}};
  return kMembers;
}

std::span<const JsonMember<PaddingSection>> json_members(const PaddingSection*) {
  using In = const PaddingSection&;
  static constexpr JsonMember<PaddingSection> kMembers[] = {
      {"padded_arrays", "", [](In in) { return in.report.padded_arrays; }},
      {"unpadded_bytes", "", [](In in) { return in.report.padding_total.unpadded; }},
      {"padded_bytes", "", [](In in) { return in.report.padding_total.padded; }},
      {"extra_bytes", "", [](In in) { return in.report.padding_total.extra; }},
      {"expansion", "", [](In in) { return in.report.padding_total.expansion; }}};
  return kMembers;
}

}  // namespace hlosim
