
#include "study/diff.h"
#include "text/json.h"

namespace hlosim {
namespace {

Json side_json(const Metrics& figures) {
  return {{"module", figures.module_name},
          {"file", figures.module_file.empty() ? Json(nullptr) : Json(figures.module_file)},
          {"module_fingerprint", figures.module_fingerprint},
          {"device", figures.device_name},
          {"device_fingerprint", figures.device_fingerprint},
          {"model_version", figures.model_version ? Json(*figures.model_version) : Json(nullptr)}};
}

Json row_side_json(const InstructionMetrics* row) {
  if (!row) return nullptr;
  return {{"name", row->name},
          {"opcode", row->opcode.empty() ? Json(nullptr) : Json(row->opcode)},
          {"computation", row->computation.empty() ? Json(nullptr) : Json(row->computation)},
          {"shape", row->shape.empty() ? Json(nullptr) : Json(row->shape)},
          {"op_name", row->op_name.empty() ? Json(nullptr) : Json(row->op_name)},
          {"line", row->line > 0 ? Json(row->line) : Json(nullptr)},
          {"executions", row->executions}};
}

std::string key_of(const Metric& metric) {
  return metric.unit == MetricUnit::kPicoseconds ? metric.name + "_ps" : metric.name;
}

Json changes_json(const Diff& diff, const InstructionDiff& row) {
  Json changes = Json::object();
  for (size_t m = 0; m < diff.metrics.size(); ++m)
    if (row.change[m] != 0) changes[key_of(diff.metrics[m].metric)] = row.change[m];
  return changes;
}

}  // namespace

std::string to_json(const Diff& diff, std::string_view tool_version) {
  Json metrics = Json::array();
  for (const MetricDiff& metric : diff.metrics)
    metrics.push_back({{"metric", key_of(metric.metric)},
                       {"unit", std::string(to_text(metric.metric.unit))},
                       {"before", metric.before},
                       {"after", metric.after},
                       {"change", metric.change()},
                       {"rest", metric.rest}});
  Json rows = Json::array();
  for (const InstructionDiff& row : diff.instructions) {
    Json changes = changes_json(diff, row);
    if (changes.empty() && row.before >= 0 && row.after >= 0 && !row.renamed && !row.moved && !row.edited)
      continue;
    rows.push_back({{"before", row_side_json(diff.old_of(row))},
                    {"after", row_side_json(diff.new_of(row))},
                    {"renamed", row.renamed},
                    {"moved", row.moved},
                    {"edited", row.edited},
                    {"change", std::move(changes)}});
  }
  const Json document = {{"schema_version", 1},
                         {"tool", {{"name", "hlosim"}, {"version", std::string(tool_version)}}},
                         {"before", side_json(*diff.before)},
                         {"after", side_json(*diff.after)},
                         {"same_device", diff.same_device},
                         {"same_model", diff.same_model},
                         {"metrics", std::move(metrics)},
                         {"instructions", std::move(rows)}};
  return document.dump(1) + "\n";
}

}  // namespace hlosim
