// The sections of a report's JSON: what is written, and what its schema says, come from the same rows.
#include "report/report_json.h"

#include "report/report_members.h"

namespace hlosim {
namespace {
struct SchemaVersion {};
}  // namespace

template <>
struct JsonOf<SchemaVersion> {
  static Json json(SchemaVersion) { return kReportSchemaVersion; }
  static Json schema() {
    Json schema = Json::object();
    schema["const"] = kReportSchemaVersion;
    return schema;
  }
};

namespace {

/// What one document is made of.
struct Whole {
  const Report& report;
  const Metrics* figures;                   // null: nothing to compare by
  const std::vector<ReportAdvice>* advice;  // null: not asked for
  std::string_view tool_version;
};

std::vector<std::string> findings_of(const Report& report) {
  std::vector<std::string> findings;
  for (const ReportSpace* space : report.overflows()) findings.push_back(overflow_message(*space));
  return findings;
}

std::span<const JsonSection<Whole>> sections() {
  using In = const Whole&;
  static constexpr JsonSection<Whole> kSections[] = {
      {"schema_version", "rises when a member changes its meaning or goes away; new members don't change it",
       [](In) { return SchemaVersion(); }},
      {"tool", "", [](In in) { return ToolSection{in.tool_version}; }},
      {"device", "", [](In in) { return DeviceSection{in.report}; }},
      {"module", "", [](In in) { return ModuleSection{in.report}; }},
      {"findings", "what is wrong, the worst first: memory spaces that overflow",
       [](In in) { return findings_of(in.report); }},
      {"time", "", [](In in) { return TimeSection{in.report}; }},
      {"work", "", [](In in) { return WorkSection{in.report}; }},
      {"traffic", "", [](In in) { return TrafficSection{in.report}; }},
      {"memory", "", [](In in) { return MemorySection{in.report}; }},
      {"mesh", "of a program that was to be spread over a mesh; absent otherwise",
       [](In in) { return IfAny<SpreadReport>{in.report.spread}; }},
      {"instructions", "that ran, in order; amounts are those of all executions",
       [](In in) { return instruction_rows(in.report); }},
      {"copies", "asynchronous copies; amounts of one execution", [](In in) { return copy_rows(in.report); }},
      {"collectives", "amounts of one execution by one device",
       [](In in) { return collective_rows(in.report); }},
      {"other_transfers", "to and from the host, and computations concurrent with the TensorCore",
       [](In in) { return other_transfer_rows(in.report); }},
      {"loops", "", [](In in) { return std::span(in.report.loops); }},
      {"padding_total", "over all arrays that need memory", [](In in) { return PaddingSection{in.report}; }},
      {"padding", "the most expensive first, at most 1000",
       [](In in) { return std::span(in.report.padding); }},
      {"assumptions", "", [](In in) { return std::span(in.report.assumptions); }},
      {"coverage", "the time by where the numbers come from that decide it; default: nothing modelled it",
       [](In in) { return Coverage(in.report.totals()); }},
      {"keys_without_effect", "", [](In in) { return std::span(in.report.unused_keys.keys); }},
      {"keys_not_tried", "changed keys that were not checked: the module is too large",
       [](In in) { return in.report.unused_keys.unchecked; }},
      {"flags_not_given", "compiler flags with their default, each with the other end of its range",
       [](In in) { return std::span(in.report.flags_not_given); }},
      {"advice", "changes that were tried and pay, the largest saving first; only with --advise",
       [](In in) {
         return IfAny<std::span<const ReportAdvice>>{in.advice ? std::optional(std::span(*in.advice))
                                                               : std::nullopt};
       }},
      {"comparison",
       "what `hlosim diff` compares reports by, with compared_instructions; in what `hlosim report` prints",
       [](In in) {
         return IfAny<ComparisonSection>{in.figures ? std::optional(ComparisonSection{*in.figures})
                                                    : std::nullopt};
       }},
      {"compared_instructions",
       "instructions that ran, in order of first execution, then those that only hold memory", [](In in) {
         return IfAny<std::span<const InstructionMetrics>>{
             in.figures ? std::optional(std::span(in.figures->instructions)) : std::nullopt};
       }}};
  return kSections;
}

}  // namespace

std::string to_json(const Report& report, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice) {
  return json_document(sections(), Whole{report, nullptr, advice, tool_version});
}

std::string to_json(const Report& report, const Metrics& figures, std::string_view tool_version,
                    const std::vector<ReportAdvice>* advice) {
  return json_document(sections(), Whole{report, &figures, advice, tool_version});
}

std::string report_json_schema() {
  Json schema = Json::object();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "hlosim report";
  schema["description"] =
      "What `hlosim --format=json` prints for one module. Times are picoseconds, sizes bytes, rates per "
      "second; null "
      "is an unknown value. Several modules: an array of these.";
  schema.update(json_object_schema(sections()));
  return schema.dump(2) + "\n";
}

}  // namespace hlosim
