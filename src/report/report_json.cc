#include "report/report_json.h"

#include <fmt/format.h>

#include "model/version.h"
#include "ops/op_table.h"
#include "report/figures.h"
#include "report/hlo_category.h"
#include "text/json.h"

namespace hlosim {
namespace {

Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(std::string(text)); }
Json or_null(const std::optional<int64_t>& value) { return value ? Json(*value) : Json(nullptr); }
Json or_null(const std::optional<Bytes>& value) { return value ? Json(value->count()) : Json(nullptr); }
Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json line_or_null(int64_t line) { return line > 0 ? Json(line) : Json(nullptr); }

Json device_json(const Report& report) {
  return {{"name", report.device_name},
          {"file", report.device_file},
          {"fingerprint", report.device_fingerprint},
          {"clock_hz", static_cast<int64_t>(report.clock.count())},
          {"peak_flops_per_second", report.peak_flops ? Json(report.peak_flops->count()) : Json(nullptr)},
          {"peak_hbm_bytes_per_second",
           report.peak_hbm_bandwidth ? Json(report.peak_hbm_bandwidth->count()) : Json(nullptr)},
          {"slice", report.slice},
          {"slice_devices", report.slice_devices}};
}

Json module_json(const Report& report) {
  return {{"name", report.module_name},
          {"file", text_or_null(report.module_file)},
          {"fingerprint", report.module_fingerprint},
          {"instructions", report.instruction_count},
          {"computations", report.computation_count},
          {"is_scheduled", report.scheduled},
          {"replicas", report.replicas},
          {"partitions", report.partitions}};
}

Json by_category_json(const Totals& totals) {
  Json json = Json::object();
  for (size_t i = 0; i < kCostCategoryCount; ++i)
    json[std::string(to_text(static_cast<CostCategory>(i)))] = totals.by_category[i].count();
  json["waiting"] = totals.idle.count();
  return json;
}

Json by_unit_json(const Report& report) {
  Json rows = Json::array();
  for (size_t i = 0; i < report.bound_time.size(); ++i) {
    const bool has_busy = i < kUnitCount;
    const Picoseconds busy = has_busy ? report.totals.busy[i] : Picoseconds(0);
    if (busy.count() == 0 && report.bound_time[i].count() == 0) continue;
    rows.push_back({{"unit", report.unit_names[i]},
                    {"busy_ps", has_busy ? Json(busy.count()) : Json(nullptr)},
                    {"bounds_ps", report.bound_time[i].count()}});
  }
  return rows;
}

Json time_json(const Report& report) {
  const Totals& totals = report.totals;
  Json range = nullptr;
  if (report.time_range)
    range = {{"low", report.time_range->low.count()},
             {"high", report.time_range->high.count()},
             {"share", kRangeShare}};
  return {{"total_ps", totals.makespan.count()},
          {"range_ps", range},
          {"cycles", totals.cycles.count()},
          {"clock_hz", static_cast<int64_t>(report.clock.count())},
          {"lower_bound_ps", totals.lower_bound.count()},
          {"bound_by", report.unit_name(totals.bound_by)},
          {"bound_by_ps", report.bound_time[index_of(totals.bound_by)].count()},
          {"bound_by_key", text_or_null(report.limiting_key)},
          {"idle_ps", totals.idle.count()},
          {"exposed_copies_ps", totals.exposed_copies.count()},
          {"exposed_collectives_ps", totals.all_exposed_collectives().count()},
          {"exposed_others_ps", totals.exposed_others.count()},
          {"by_category_ps", by_category_json(totals)},
          {"by_unit", by_unit_json(report)}};
}

Json flag_json(const FlagNotGiven& flag) {
  return {{"flag", flag.name},
          {"key", flag.key},
          {"value", flag.value},
          {"other", flag.other},
          {"time_ps", flag.time ? Json(flag.time->count()) : Json(nullptr)}};
}

Json work_json(const Report& report) {
  const Totals& totals = report.totals;
  return {{"flops", totals.flops.count()},
          {"flops_utilisation", or_null(report.flops_utilisation())},
          {"vector_operations", totals.vector_operations},
          {"transcendentals", totals.transcendentals},
          {"unknown_instructions", report.unknown_work},
          {"custom_calls_by_bytes_ps", report.custom_calls_by_bytes.count()},
          {"custom_calls_by_blocks_ps", report.custom_calls_by_blocks.count()},
          {"custom_calls_by_estimate_ps", report.custom_calls_by_estimate.count()}};
}

Json traffic_rows(const Report& report, const SpaceTraffic& traffic) {
  Json rows = Json::array();
  for (size_t i = 0; i < traffic.size(); ++i)
    if (traffic[i].total().count() > 0)
      rows.push_back({{"space", report.traffic_names[i]},
                      {"read_bytes", traffic[i].read.count()},
                      {"written_bytes", traffic[i].written.count()}});
  return rows;
}

Json energy_json(const Report& report) {
  Json parts = Json::array();
  for (const auto& [part, source] : report.energy)
    parts.push_back({{"part", part.what},
                     {"amount", part.amount},
                     {"unit", part.unit},
                     {"pj_each", part.each},
                     {"pj", part.energy.count()},
                     {"source", source}});
  const Json total = report.energy.empty() ? Json(nullptr) : Json(report.total_energy().count());
  return {{"total_pj", total}, {"parts", parts}};
}

Json roofline_json(const Report& report) {
  Json rows = Json::array();
  for (const ReportRoofline& row : report.roofline)
    rows.push_back({{"space", row.space},
                    {"bytes", row.bytes.count()},
                    {"bytes_per_second", row.rate.count()},
                    {"flops_per_byte", row.intensity},
                    {"ridge_flops_per_byte", row.ridge},
                    {"attainable_flops_per_second", row.attainable.count()}});
  return rows;
}

Json traffic_json(const Report& report) {
  const Traffic& hbm = report.hbm_traffic();
  return {{"hbm_bytes", hbm.total().count()},
          {"hbm_read_bytes", hbm.read.count()},
          {"hbm_written_bytes", hbm.written.count()},
          {"hbm_utilisation", or_null(report.hbm_utilisation())},
          {"logical_bytes", report.totals.logical_bytes.count()},
          {"padded_bytes", report.totals.padded_bytes.count()},
          {"sent_bytes", report.totals.sent.count()},
          {"sent_scalar_bytes", report.totals.scalar_sent.count()},
          {"spaces", traffic_rows(report, report.totals.traffic)},
          {"roofline", roofline_json(report)},
          {"energy", energy_json(report)}};
}

Json space_json(const ReportSpace& space) {
  Json largest = Json::array(), classes = Json::object();
  for (const ReportBuffer& buffer : space.largest)
    largest.push_back({{"name", std::string(buffer.name)},
                       {"shape", buffer.shape},
                       {"class", std::string(to_text(buffer.kind))},
                       {"bytes", buffer.size.count()}});
  for (size_t i = 0; i < kMemoryClasses; ++i)
    if (space.by_class[i].count() > 0)
      classes[std::string(to_text(static_cast<MemoryClass>(i)))] = space.by_class[i].count();
  return {{"number", space.number >= 0 ? Json(space.number) : Json(nullptr)},
          {"name", space.name},
          {"capacity_bytes", or_null(space.capacity)},
          {"runtime_bytes", or_null(space.runtime)},
          {"peak_bytes", space.peak.count()},
          {"mean_bytes", space.mean.count()},
          {"peak_step", space.is_used ? Json(space.peak_step) : Json(nullptr)},
          {"peak_instruction", text_or_null(space.peak_instruction)},
          {"scratch_bytes", or_null(space.reserved)},
          {"fits", space.capacity ? Json(!space.overflows()) : Json(nullptr)},
          {"read_bytes", space.read.count()},
          {"written_bytes", space.written.count()},
          {"peak_by_class", std::move(classes)},
          {"largest", std::move(largest)}};
}

Json memory_json(const Report& report) {
  Json spaces = Json::array();
  for (const ReportSpace& space : report.spaces) spaces.push_back(space_json(space));
  return {{"fits", report.overflows().empty()}, {"spaces", std::move(spaces)}};
}

Json axis_use_json(const AxisUse& use) {
  return {{"axes", text_or_null(use.axes)},   {"kind", use.kind},
          {"executions", use.executions},     {"sent_bytes", use.sent.count()},
          {"takes_ps", use.takes.count()},    {"hidden_ps", use.hidden.count()},
          {"exposed_ps", use.exposed.count()}};
}

Json resharding_json(const ReportResharding& row) {
  return {{"collective", row.collective},
          {"kind", row.kind},
          {"axes", text_or_null(row.axes)},
          {"asked_by", row.asked_by},
          {"source", text_or_null(row.source)},
          {"what", row.what},
          {"from", row.from},
          {"to", row.to},
          {"sent_bytes_each", row.bytes.count()},
          {"executions", row.executions},
          {"takes_ps", row.takes.count()},
          {"exposed_ps", row.exposed.count()}};
}

/// Requires: report.spread.
Json mesh_json(const Report& report) {
  Json uses = Json::array(), reshardings = Json::array();
  for (const AxisUse& use : report.spread->uses) uses.push_back(axis_use_json(use));
  for (const ReportResharding& row : report.spread->reshardings) reshardings.push_back(resharding_json(row));
  Json replicated = Json::array();
  for (const ReplicatedReport& one : report.spread->replicated)
    replicated.push_back({{"what", one.what},
                          {"reason", one.reason},
                          {"instructions", one.instructions},
                          {"time_ps", one.time.count()}});
  return {{"axes", text_or_null(report.spread->mesh)},
          {"was_partitioned", report.spread->was_partitioned},
          {"collectives", std::move(uses)},
          {"reshardings", std::move(reshardings)},
          {"replicated", std::move(replicated)}};
}

Json findings_json(const Report& report) {
  Json rows = Json::array();
  for (const ReportSpace* space : report.overflows()) rows.push_back(overflow_message(*space));
  return rows;
}

/// Null: the module isn't known any more.
Json category_of(const Report& report, const ReportInstruction& row) {
  if (!report.module) return nullptr;
  return hlo_category(*report.module, op_table(), (*report.module)[row.id]);
}

Json instruction_json(const Report& report, const ReportInstruction& row) {
  return {{"name", std::string(row.name)},
          {"opcode", std::string(row.opcode)},
          {"computation", std::string(row.computation_name)},
          {"op_name", text_or_null(row.op_name)},
          {"source_file", text_or_null(row.source_file)},
          {"source_line", line_or_null(row.source_line)},
          {"line", line_or_null(row.line)},
          {"executions", row.executions},
          {"start_ps", row.start.count()},
          {"time_ps", row.time.count()},
          {"self_time_ps", row.self_time.count()},
          {"exposed_ps", row.exposed.count()},
          {"waited_for", text_or_null(row.waited_for_name)},
          {"bound_by", report.unit_name(row.bound_by)},
          {"category", std::string(to_text(row.cost.category))},
          {"hlo_category", category_of(report, row)},
          {"provenance", std::string(to_text(row.cost.provenance))},
          {"flops", or_null(row.flops)},
          {"vector_operations", or_null(row.vector_operations)},
          {"transcendentals", or_null(row.transcendentals)},
          {"logical_bytes", row.logical_bytes.count()},
          {"padded_bytes", row.padded_bytes.count()},
          {"traffic", traffic_rows(report, row.traffic)}};
}

Json transfer_json(const ReportTransfer& row) {
  Json json = {{"start", std::string(row.start_name)}, {"done", text_or_null(row.done_name)},
               {"line", line_or_null(row.line)},       {"executions", row.executions},
               {"start_ps", row.start.count()},        {"end_ps", row.end.count()},
               {"duration_ps", row.duration.count()},  {"hidden_ps", row.hidden.count()},
               {"exposed_ps", row.exposed.count()}};
  json["queued_ps"] = row.queued.count();
  json["queued_behind"] = text_or_null(row.ahead_name);
  json["alone_ps"] = row.alone.count();
  return json;
}

Json copy_json(const ReportTransfer& row) {
  Json json = transfer_json(row);
  json["bytes"] = row.bytes.count();
  json["from"] = row.from_space_name;
  json["to"] = row.to_space_name;
  json["cross_program"] = row.cross_program;
  return json;
}

Json groups_json(int64_t number) { return number > 0 ? Json(number) : Json(nullptr); }

// Of one of several in a wrapper.
Json wrapped_json(const CollectiveCost& cost) {
  return {{"kind", std::string(to_text(cost.kind))},
          {"payload_bytes", cost.payload.count()},
          {"sent_bytes", cost.sent.count()},
          {"sent_scalar_bytes", cost.scalar_sent.count()},
          {"group_size", cost.group_size},
          {"group_count", cost.group_count},
          {"algorithm", text_or_null(cost.algorithm)}};
}

// Amounts of one execution by one device.
Json collective_json(const ReportTransfer& row) {
  Json json = transfer_json(row);
  json["payload_bytes"] = row.bytes.count();
  const std::optional<CollectiveCost>& cost = row.collective;
  json["logical_payload_bytes"] = cost ? Json(cost->logical_payload.count()) : Json(nullptr);
  json["scalar_payload_bytes"] = cost ? Json(cost->scalar_payload.count()) : Json(nullptr);
  json["sent_bytes"] = cost ? Json(cost->sent.count()) : Json(nullptr);
  json["sent_scalar_bytes"] = cost ? Json(cost->scalar_sent.count()) : Json(nullptr);
  json["group_size"] = cost ? groups_json(cost->group_size) : Json(nullptr);
  json["group_count"] = cost ? groups_json(cost->group_count) : Json(nullptr);
  json["launch_ps"] = cost ? Json(cost->launch.count()) : Json(nullptr);
  json["network_ps"] = cost ? Json(cost->network.count()) : Json(nullptr);
  json["network_bound_ps"] = cost && cost->bound.count() > 0 ? Json(cost->bound.count()) : Json(nullptr);
  json["latency_bound"] = cost ? Json(cost->latency_bound) : Json(nullptr);
  json["algorithm"] = cost ? text_or_null(cost->algorithm) : Json(nullptr);
  if (cost && cost->driver != Unit::kNone) {
    json["driver"] = std::string(unit_row(cost->driver).name);
    json["driving_ps"] = cost->driving.count();
  }
  for (const CollectiveCost& one : row.wrapped) json["wrapped"].push_back(wrapped_json(one));
  return json;
}

Json other_transfer_json(const ReportTransfer& row) {
  Json json = transfer_json(row);
  json["kind"] = std::string(to_text(row.kind));
  json["bytes"] = row.bytes.count();
  return json;
}

Json loop_json(const ReportLoop& loop) {
  return {{"name", std::string(loop.name)},
          {"line", line_or_null(loop.line)},
          {"trip_count", loop.trip_count},
          {"trip_count_known", loop.known},
          {"iteration_ps", loop.iteration.count()}};
}

Json padding_json(const ReportPadding& row) {
  return {{"name", std::string(row.name)},
          {"opcode", std::string(row.opcode)},
          {"op_name", text_or_null(row.op_name)},
          {"shape", row.shape},
          {"allocation", std::string(row.allocation)},
          {"space", row.space},
          {"unpadded_bytes", row.padding.unpadded.count()},
          {"padded_bytes", row.padding.padded.count()},
          {"extra_bytes", row.padding.extra.count()},
          {"expansion", row.padding.expansion}};
}

Json padding_total_json(const Report& report) {
  return {{"padded_arrays", report.padded_arrays},
          {"unpadded_bytes", report.padding_total.unpadded.count()},
          {"padded_bytes", report.padding_total.padded.count()},
          {"extra_bytes", report.padding_total.extra.count()},
          {"expansion", report.padding_total.expansion}};
}

Json assumption_json(const ReportAssumption& item) {
  return {{"text", item.text}, {"count", item.count}, {"example", text_or_null(item.example)}};
}

Json coverage_json(const Report& report) {
  Json json = Json::object();
  for (size_t i = 0; i < kProvenanceCount; ++i)
    json[std::string(to_text(static_cast<Provenance>(i))) + "_ps"] = report.totals.by_provenance[i].count();
  return json;
}

Json unused_key_json(const UnusedKey& key) {
  return {{"path", key.path},
          {"value", key.text},
          {"previous", key.previous ? Json(*key.previous) : Json(nullptr)},
          {"from_set", key.from_set}};
}

// The document is written member by member, so that a large module's never stands in memory as a tree.
class Document {
 public:
  void member(std::string_view key, const Json& value) {
    open(key);
    out_ += dumped(value);
  }
  /// An array whose elements stand on a line each.
  template <class Rows, class ToJson>
  void array(std::string_view key, const Rows& rows, ToJson to_json) {
    open(key);
    out_ += '[';
    bool first = true;
    for (const auto& row : rows) {
      const Json json = to_json(row);
      if (json.is_null()) continue;
      out_ += first ? "\n    " : ",\n    ";
      out_ += dumped(json);
      first = false;
    }
    out_ += first ? "]" : "\n  ]";
  }
  std::string close() { return std::move(out_ += "\n}\n"); }

 private:
  void open(std::string_view key) {
    out_ += out_.size() > 1 ? ",\n  \"" : "\n  \"";
    (out_ += key) += "\": ";
  }
  static std::string dumped(const Json& json) { return json.dump(); }
  std::string out_ = "{";
};

}  // namespace

namespace {

Json comparison_json(const Metrics& figures) {
  Json metrics = Json::array();
  for (size_t i = 0; i < figures.metrics.size(); ++i)
    metrics.push_back({{"metric", figures.metrics[i].name},
                       {"unit", std::string(to_text(figures.metrics[i].unit))},
                       {"total", figures.totals[i]}});
  return {{"structure", figures.structure}, {"line", figures.line}, {"metrics", std::move(metrics)}};
}

Json compared_json(const InstructionMetrics& row) {
  return {{"name", row.name},
          {"opcode", row.opcode},
          {"computation", row.computation},
          {"shape", row.shape},
          {"op_name", text_or_null(row.op_name)},
          {"source_file", text_or_null(row.source_file)},
          {"source_line", line_or_null(row.source_line)},
          {"line", line_or_null(row.line)},
          {"executions", row.executions},
          {"bound_by", text_or_null(row.bound_by)},
          {"own_fingerprint", fmt::format("{:016x}", row.own)},
          {"fingerprint", fmt::format("{:016x}", row.deep)},
          {"amounts", row.amounts}};
}

std::string printed(const Report& report, const Metrics* figures, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice) {
  Document document;
  document.member("schema_version", kReportSchemaVersion);
  document.member(
      "tool", {{"name", "hlosim"}, {"version", std::string(tool_version)}, {"model_version", kModelVersion}});
  document.member("device", device_json(report));
  document.member("module", module_json(report));
  document.member("findings", findings_json(report));
  document.member("time", time_json(report));
  document.member("work", work_json(report));
  document.member("traffic", traffic_json(report));
  document.member("memory", memory_json(report));
  if (report.spread) document.member("mesh", mesh_json(report));
  document.array("instructions", report.instructions,
                 [&](const auto& row) { return instruction_json(report, row); });
  const auto of_kind = [&](std::string_view key, auto wanted, Json (*to_json)(const ReportTransfer&)) {
    document.array(key, report.transfers,
                   [&](const auto& row) { return wanted(row.kind) ? to_json(row) : Json(nullptr); });
  };
  of_kind(
      "copies", [](TransferKind kind) { return kind == TransferKind::kCopy; }, copy_json);
  of_kind(
      "collectives", [](TransferKind kind) { return kind == TransferKind::kCollective; }, collective_json);
  of_kind(
      "other_transfers",
      [](TransferKind kind) { return kind != TransferKind::kCopy && kind != TransferKind::kCollective; },
      other_transfer_json);
  document.array("loops", report.loops, loop_json);
  document.member("padding_total", padding_total_json(report));
  document.array("padding", report.padding, padding_json);
  document.array("assumptions", report.assumptions, assumption_json);
  document.member("coverage", coverage_json(report));
  document.array("keys_without_effect", report.unused_keys.keys, unused_key_json);
  document.member("keys_not_tried", report.unused_keys.unchecked);
  document.array("flags_not_given", report.flags_not_given, flag_json);
  if (advice) document.array("advice", *advice, advice_json);
  if (figures) {
    document.member("comparison", comparison_json(*figures));
    document.array("compared_instructions", figures->instructions, compared_json);
  }
  return document.close();
}

}  // namespace

std::string to_json(const Report& report, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice) {
  return printed(report, nullptr, tool_version, advice);
}

std::string to_json(const Report& report, const Metrics& figures, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice) {
  return printed(report, &figures, tool_version, advice);
}

}  // namespace hlosim
