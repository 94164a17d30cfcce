// Instructions of a report.
#include "layout/shape.h"
#include "ops/op_table.h"
#include "report/hlo_category.h"
#include "report/report_members.h"

namespace hlosim {

std::span<const JsonMember<TrafficRow>> json_members(const TrafficRow*) {
  static constexpr JsonMember<TrafficRow> kMembers[] = {
      {"space", "", [](const TrafficRow& row) { return row.space; }},
      {"read_bytes", "", [](const TrafficRow& row) { return row.read; }},
      {"written_bytes", "", [](const TrafficRow& row) { return row.written; }}};
  return kMembers;
}

std::vector<TrafficRow> traffic_rows(const Report& report, const SpaceTraffic& traffic) {
  std::vector<TrafficRow> rows;
  for (size_t i = 0; i < traffic.size(); ++i)
    if (traffic[i].total().count() > 0)
      rows.push_back({report.traffic_names[i], traffic[i].read, traffic[i].written});
  return rows;
}

std::span<const JsonMember<InstructionRow>> json_members(const InstructionRow*) {
  using Row = const InstructionRow&;
  static constexpr JsonMember<InstructionRow> kMembers[] = {
      {"name", "", [](Row one) { return one.row.name; }},
      {"opcode", "", [](Row one) { return one.row.opcode; }},
      {"computation", "", [](Row one) { return one.row.computation_name; }},
      {"shape", "of the result, with its layout; null: unknown",
       [](Row one) -> std::optional<std::string> {
         const Module* module = one.report.module.get();
         if (!module) return std::nullopt;
         return to_text((*module)[one.row->id].shape);
       }},
      {"op_name", "from the metadata", [](Row one) { return text_or_null(one.row.op_name); }},
      {"source_file", "of the program, from the metadata",
       [](Row one) { return text_or_null(one.row.source_file); }},
      {"source_line", "in source_file", [](Row one) { return positive_or_null(one.row.source_line); }},
      {"line", "in the module's file", [](Row one) { return positive_or_null(one.row.line); }},
      {"executions", "0: in a branch that was not taken", [](Row one) { return one.row->executions; }},
      {"start_ps", "of the first execution", [](Row one) { return one.row->start; }},
      {"time_ps", "of all executions, called computations included", [](Row one) { return one.row->time; }},
      {"self_time_ps", "without called computations: these add up to total_ps",
       [](Row one) { return one.row->self_time; }},
      {"exposed_ps", "of it, waiting", [](Row one) { return one.row->exposed; }},
      {"waited_for", "start of what it waited for",
       [](Row one) { return text_or_null(one.row.waited_for_name); }},
      {"bound_by", "a unit, overhead or wait",
       [](Row one) { return one.report.unit_name(one.row->bound_by); }},
      {"category", "", [](Row one) { return one.cost().category; }},
      {"hlo_category", "as profilers of TPUs name it; null: unknown",
       [](Row one) -> std::optional<std::string> {
         const Module* module = one.report.module.get();
         if (!module) return std::nullopt;
         return std::string(hlo_category(*module, op_table(), (*module)[one.row->id]));
       }},
      {"provenance", "where the numbers come from that decide the time",
       [](Row one) { return one.cost().provenance; }},
      {"flops", "of matmuls; null: unknown", [](Row one) { return one.work.flops; }},
      {"vector_operations", "", [](Row one) { return one.work.vector_operations; }},
      {"transcendentals", "", [](Row one) { return one.work.transcendentals; }},
      {"logical_bytes", "read and written, without padding", [](Row one) { return one.work.logical_bytes; }},
      {"padded_bytes", "the same with padding", [](Row one) { return one.work.padded_bytes; }},
      {"traffic", "by memory space", [](Row one) { return traffic_rows(one.report, one.work.traffic); }}};
  return kMembers;
}

}  // namespace hlosim
