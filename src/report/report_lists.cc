// The lists of a report's JSON, but for instructions and transfers.
#include <fmt/format.h>

#include "report/report_members.h"

namespace hlosim {

// ── a mesh ──

std::span<const JsonMember<AxisUse>> json_members(const AxisUse*) {
  using Row = const AxisUse&;
  static constexpr JsonMember<AxisUse> kMembers[] = {
      {"axes", "", [](Row row) { return text_or_null(row.axes); }},
      {"kind", "", [](Row row) { return row.kind; }},
      {"executions", "", [](Row row) { return row.executions; }},
      {"sent_bytes", "by one device", [](Row row) { return row.sent; }},
      {"takes_ps", "", [](Row row) { return row.takes; }},
      {"hidden_ps", "", [](Row row) { return SignedNumber{row.hidden.count()}; }},
      {"exposed_ps", "", [](Row row) { return row.exposed; }}};
  return kMembers;
}

std::span<const JsonMember<ReportResharding>> json_members(const ReportResharding*) {
  using Row = const ReportResharding&;
  static constexpr JsonMember<ReportResharding> kMembers[] = {
      {"collective", "", [](Row row) { return row.collective; }},
      {"kind", "", [](Row row) { return row.kind; }},
      {"axes", "", [](Row row) { return text_or_null(row.axes); }},
      {"asked_by", "an instruction of the given module", [](Row row) { return row.asked_by; }},
      {"source", "model.py:12", [](Row row) { return text_or_null(row.source); }},
      {"what", "whose value moves", [](Row row) { return row.what; }},
      {"from", "", [](Row row) { return row.from; }},
      {"to", "", [](Row row) { return row.to; }},
      {"sent_bytes_each", "", [](Row row) { return row.bytes; }},
      {"executions", "0: merged with others, or rewritten", [](Row row) { return row.executions; }},
      {"takes_ps", "", [](Row row) { return row.takes; }},
      {"exposed_ps", "", [](Row row) { return row.exposed; }}};
  return kMembers;
}

std::span<const JsonMember<ReplicatedReport>> json_members(const ReplicatedReport*) {
  using Row = const ReplicatedReport&;
  static constexpr JsonMember<ReplicatedReport> kMembers[] = {
      {"what", "custom-call.3, or custom-call.3 and 5 more", [](Row row) { return row.what; }},
      {"reason", "", [](Row row) { return row.reason; }},
      {"instructions", "", [](Row row) { return row.instructions; }},
      {"time_ps", "of all their executions", [](Row row) { return row.time; }}};
  return kMembers;
}

std::span<const JsonMember<SpreadReport>> json_members(const SpreadReport*) {
  using In = const SpreadReport&;
  static constexpr JsonMember<SpreadReport> kMembers[] = {
      {"axes", "fsdp=16,tensor=4; null: without names", [](In in) { return text_or_null(in.mesh); }},
      {"was_partitioned", "it was partitioned when it was given", [](In in) { return in.was_partitioned; }},
      {"collectives", "by axes and kind, all executions together", [](In in) { return in.uses; }},
      {"reshardings", "the longest first", [](In in) { return in.reshardings; }},
      {"replicated", "work that every device does as a whole, the longest first",
       [](In in) { return in.replicated; }}};
  return kMembers;
}

// ── lists ──

std::span<const JsonMember<ReportLoop>> json_members(const ReportLoop*) {
  using Row = const ReportLoop&;
  static constexpr JsonMember<ReportLoop> kMembers[] = {
      {"name", "", [](Row row) { return row.name; }},
      {"line", "", [](Row row) { return positive_or_null(row.line); }},
      {"trip_count", "", [](Row row) { return row->trip_count; }},
      {"trip_count_known", "false: --while-trip-count", [](Row row) { return row->known; }},
      {"iteration_ps", "", [](Row row) { return row->iteration; }}};
  return kMembers;
}

std::span<const JsonMember<ReportPadding>> json_members(const ReportPadding*) {
  using Row = const ReportPadding&;
  static constexpr JsonMember<ReportPadding> kMembers[] = {
      {"name", "", [](Row row) { return row.name; }},
      {"opcode", "", [](Row row) { return row.opcode; }},
      {"op_name", "", [](Row row) { return text_or_null(row.op_name); }},
      {"shape", "", [](Row row) { return row.shape; }},
      {"allocation", "parameter, output, constant or HLO temp", [](Row row) { return row.allocation; }},
      {"space", "", [](Row row) { return row.space; }},
      {"unpadded_bytes", "", [](Row row) { return row.padding.unpadded; }},
      {"padded_bytes", "", [](Row row) { return row.padding.padded; }},
      {"extra_bytes", "", [](Row row) { return row.padding.extra; }},
      {"expansion", "", [](Row row) { return row.padding.expansion; }}};
  return kMembers;
}

std::span<const JsonMember<ReportAssumption>> json_members(const ReportAssumption*) {
  using Row = const ReportAssumption&;
  static constexpr JsonMember<ReportAssumption> kMembers[] = {
      {"text", "", [](Row row) { return row.text; }},
      {"count", "", [](Row row) { return row.count; }},
      {"example", "an instruction", [](Row row) { return text_or_null(row.example); }}};
  return kMembers;
}

std::span<const JsonMember<UnusedKey>> json_members(const UnusedKey*) {
  using Row = const UnusedKey&;
  static constexpr JsonMember<UnusedKey> kMembers[] = {
      {"path", "", [](Row row) { return row.path; }},
      {"value", "", [](Row row) { return row.text; }},
      {"previous", "the result is the same with it", [](Row row) { return row.previous; }},
      {"from_set", "", [](Row row) { return row.from_set; }}};
  return kMembers;
}

std::span<const JsonMember<FlagNotGiven>> json_members(const FlagNotGiven*) {
  using Row = const FlagNotGiven&;
  static constexpr JsonMember<FlagNotGiven> kMembers[] = {
      {"flag", "", [](Row row) { return row.name; }},
      {"key", "of the device", [](Row row) { return row.key; }},
      {"value", "the value that was assumed, as the flag is written", [](Row row) { return row.value; }},
      {"other", "", [](Row row) { return row.other; }},
      {"time_ps", "of the module with the other end; null: it is too large to run once more",
       [](Row row) { return row.time; }}};
  return kMembers;
}

std::span<const JsonMember<ReportAdvice>> json_members(const ReportAdvice*) {
  using Row = const ReportAdvice&;
  static constexpr JsonMember<ReportAdvice> kMembers[] = {
      {"saved_ps", "", [](Row row) { return SignedNumber{row.saved.count()}; }},
      {"saving", "", [](Row row) { return row.saving; }},
      {"problem", "", [](Row row) { return row.problem; }},
      {"change", "in the words of JAX, Pallas and XLA flags", [](Row row) { return row.change; }},
      {"place", "", [](Row row) { return text_or_null(row.place); }}};
  return kMembers;
}

// ── figures to compare by ──

std::span<const JsonMember<InstructionMetrics>> json_members(const InstructionMetrics*) {
  using Row = const InstructionMetrics&;
  static constexpr JsonMember<InstructionMetrics> kMembers[] = {
      {"name", "", [](Row row) { return row.name; }},
      {"opcode", "", [](Row row) { return row.opcode; }},
      {"computation", "", [](Row row) { return row.computation; }},
      {"shape", "", [](Row row) { return row.shape; }},
      {"op_name", "", [](Row row) { return text_or_null(row.op_name); }},
      {"source_file", "", [](Row row) { return text_or_null(row.source_file); }},
      {"source_line", "", [](Row row) { return positive_or_null(row.source_line); }},
      {"line", "", [](Row row) { return positive_or_null(row.line); }},
      {"executions", "", [](Row row) { return row.executions; }},
      {"bound_by", "", [](Row row) { return text_or_null(row.bound_by); }},
      {"own_fingerprint", "16 hex digits over opcode, shape, attributes, constant and called computations",
       [](Row row) { return fmt::format("{:016x}", row.own); }},
      {"fingerprint", "the same with all that the instruction depends on through operands",
       [](Row row) { return fmt::format("{:016x}", row.deep); }},
      {"amounts", "of each of comparison.metrics", [](Row row) {
         std::vector<SignedNumber> amounts;
         for (const int64_t amount : row.amounts) amounts.push_back({amount});
         return amounts;
       }}};
  return kMembers;
}

namespace {

struct MetricTotal {
  const Metric& metric;
  int64_t total = 0;
};

std::span<const JsonMember<MetricTotal>> json_members(const MetricTotal*) {
  using Row = const MetricTotal&;
  static constexpr JsonMember<MetricTotal> kMembers[] = {
      {"metric", "docs/diff.md lists them", [](Row row) { return row.metric.name; }},
      {"unit", "", [](Row row) { return row.metric.unit; }},
      {"total", "", [](Row row) { return SignedNumber{row.total}; }}};
  return kMembers;
}

}  // namespace

std::span<const JsonMember<ComparisonSection>> json_members(const ComparisonSection*) {
  using In = const ComparisonSection&;
  static constexpr JsonMember<ComparisonSection> kMembers[] = {
      {"structure", "16 hex digits over the program, names of instructions left out",
       [](In in) { return in.figures.structure; }},
      {"line", "where the module begins in its file", [](In in) { return in.figures.line; }},
      {"metrics", "", [](In in) {
         std::vector<MetricTotal> rows;
         for (size_t i = 0; i < in.figures.metrics.size(); ++i)
           rows.push_back({in.figures.metrics[i], in.figures.totals[i]});
         return rows;
       }}};
  return kMembers;
}

}  // namespace hlosim
