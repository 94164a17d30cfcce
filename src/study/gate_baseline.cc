#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "study/gate.h"
#include "text/json.h"
#include "text/json_fields.h"

namespace hlosim {
namespace {

constexpr std::string_view kSchema = "hlosim-gate-baseline";
constexpr int64_t kSchemaVersion = 1;

std::string dumped(const Json& json) { return json.dump(); }

/// [name, opcode, computation, shape, op_name, own, deep, executions, metric, amount, metric, amount, …]
Json row_json(const InstructionMetrics& row) {
  Json json = {row.name,
               row.opcode,
               row.computation,
               row.shape,
               row.op_name,
               fmt::format("{:016x}", row.own),
               fmt::format("{:016x}", row.deep),
               row.executions};
  for (size_t m = 0; m < row.amounts.size(); ++m)
    if (row.amounts[m] != 0) {
      json.push_back(m);
      json.push_back(row.amounts[m]);
    }
  return json;
}

// A done that waits for nothing amounts to nothing; kept, it is known when it waits one day.
bool is_kept(const InstructionMetrics& row) {
  return row.executions > 0 ||
         std::any_of(row.amounts.begin(), row.amounts.end(), [](int64_t amount) { return amount != 0; });
}

void add_run(std::string& out, const GateRun& run) {
  const Metrics& figures = run.figures;
  const auto member = [&](std::string_view key, const Json& value, bool first = false) {
    out += fmt::format("{}      \"{}\": {}", first ? "" : ",\n", key, dumped(value));
  };
  out += "    {\n";
  member("file", run.file, true);
  member("module", figures.module_name);
  member("number", run.number);
  member("device", run.device);
  member("options", run.options);
  member("module_fingerprint", figures.module_fingerprint);
  member("structure", figures.structure);
  member("device_name", figures.device_name);
  member("device_fingerprint", figures.device_fingerprint);
  member("model_version", figures.model_version.value_or(0));
  out += ",\n      \"metrics\": [";
  for (size_t m = 0; m < figures.metrics.size(); ++m)
    out += fmt::format(
        "{}\n        {}", m ? "," : "",
        dumped({figures.metrics[m].name, std::string(to_text(figures.metrics[m].unit)), figures.totals[m]}));
  out += "\n      ],\n      \"instructions\": [";
  bool first = true;
  for (const InstructionMetrics& row : figures.instructions) {
    if (!is_kept(row)) continue;
    out += fmt::format("{}\n        {}", first ? "" : ",", dumped(row_json(row)));
    first = false;
  }
  out += first ? "]\n    }" : "\n      ]\n    }";
}

class BaselineReader {
 public:
  explicit BaselineReader(DiagnosticList& problems) : fields_(problems) {}

  std::optional<Baseline> read(const Value& root) {
    const Value* schema = root.find("schema");
    if (!root.is_map() || !schema || schema->text != kSchema) {
      fields_.wrong(root, "no baseline of `hlosim gate`: it has no \"schema\": \"hlosim-gate-baseline\"");
      return std::nullopt;
    }
    const int64_t version = fields_.whole(root, "schema_version");
    if (fields_.ok() && version != kSchemaVersion)
      fields_.wrong(
          *root.find("schema_version"),
          fmt::format("a baseline of schema version {}; this program reads version {}: make it anew with "
                      "--update-baseline",
                      version, kSchemaVersion));
    if (!fields_.ok()) return std::nullopt;
    if (const Value* runs = fields_.list(root, "runs"))
      for (const Value& run : runs->items) read_run(run);
    if (!fields_.ok()) return std::nullopt;
    return std::move(baseline_);
  }

 private:
  void read_run(const Value& json) {
    GateRun run;
    run.file = fields_.text(json, "file");
    run.device = fields_.text(json, "device");
    run.options = fields_.text(json, "options");
    run.number = fields_.whole(json, "number");
    Metrics& figures = run.figures;
    figures.module_name = fields_.text(json, "module");
    figures.module_file = run.file;
    figures.module_fingerprint = fields_.text(json, "module_fingerprint");
    figures.structure = fields_.text(json, "structure");
    figures.device_name = fields_.text(json, "device_name");
    figures.device_fingerprint = fields_.text(json, "device_fingerprint");
    figures.model_version = fields_.whole(json, "model_version");
    if (const Value* metrics = fields_.list(json, "metrics"))
      for (const Value& metric : metrics->items) read_metric(metric, figures);
    if (const Value* rows = fields_.list(json, "instructions"))
      for (const Value& row : rows->items) read_row(row, figures);
    if (fields_.ok() && !keys_.insert(run.key()).second)
      fields_.wrong(json, fmt::format("{} on {} is there twice", shown(run.name()), shown(run.device)));
    baseline_.runs.push_back(std::move(run));
  }

  void read_metric(const Value& json, Metrics& figures) {
    if (!json.is_list() || json.items.size() != 3)
      return fields_.wrong(json, "a metric is [name, unit, amount]");
    Metric metric;
    metric.name = fields_.text_of(json.items[0]);
    const std::string unit = fields_.text_of(json.items[1]);
    bool known = false;
    for (const MetricUnit one : {MetricUnit::kPicoseconds, MetricUnit::kBytes, MetricUnit::kCount})
      if (to_text(one) == unit) metric.unit = one, known = true;
    if (!known) fields_.wrong(json.items[1], fmt::format("no unit: \"{}\"", shown(unit)));
    if (figures.index_of(metric.name) >= 0) fields_.wrong(json.items[0], "this metric is there twice");
    figures.metrics.push_back(std::move(metric));
    figures.totals.push_back(fields_.whole_of(json.items[2]));
  }

  void read_row(const Value& json, Metrics& figures) {
    constexpr size_t kFixed = 8;
    if (!json.is_list() || json.items.size() < kFixed || (json.items.size() - kFixed) % 2 != 0)
      return fields_.wrong(
          json,
          "an instruction is [name, opcode, computation, shape, op_name, own, deep, executions, "
          "metric, amount, …]");
    InstructionMetrics row;
    std::string* const texts[] = {&row.name, &row.opcode, &row.computation, &row.shape, &row.op_name};
    for (size_t i = 0; i < std::size(texts); ++i) *texts[i] = fields_.text_of(json.items[i]);
    row.own = JsonFields::hash_of(fields_.text_of(json.items[5]));
    row.deep = JsonFields::hash_of(fields_.text_of(json.items[6]));
    row.executions = fields_.whole_of(json.items[7]);
    row.amounts.assign(figures.metrics.size(), 0);
    for (size_t i = kFixed; i < json.items.size(); i += 2) {
      const int64_t metric = fields_.whole_of(json.items[i]);
      if (metric < 0 || static_cast<size_t>(metric) >= row.amounts.size())
        return fields_.wrong(json.items[i], fmt::format("there is no metric {}", metric));
      row.amounts[static_cast<size_t>(metric)] = fields_.whole_of(json.items[i + 1]);
    }
    figures.instructions.push_back(std::move(row));
  }

  JsonFields fields_;
  Baseline baseline_;
  std::set<std::string> keys_;
};

}  // namespace

std::string to_json(const Baseline& baseline, std::string_view tool_version) {
  std::string out = fmt::format(
      "{{\n  \"schema\": \"{}\",\n  \"schema_version\": {},\n  \"tool\": {},\n  \"runs\": [", kSchema,
      kSchemaVersion, dumped({{"name", "hlosim"}, {"version", std::string(tool_version)}}));
  for (size_t i = 0; i < baseline.runs.size(); ++i) {
    out += i ? ",\n" : "\n";
    add_run(out, baseline.runs[i]);
  }
  return out + (baseline.runs.empty() ? "]\n}\n" : "\n  ]\n}\n");
}

std::optional<Baseline> read_baseline(const SourcePtr& source, DiagnosticList& problems) {
  const std::optional<Value> root = parse_json(source, problems);
  if (!root) return std::nullopt;
  return BaselineReader(problems).read(*root);
}

}  // namespace hlosim
