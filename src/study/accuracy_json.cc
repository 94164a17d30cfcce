
#include "study/accuracy.h"
#include "study/accuracy_ladders.h"
#include "study/accuracy_serving.h"
#include "study/accuracy_steps.h"
#include "text/json.h"

namespace hlosim {
namespace {

constexpr int kSchemaVersion = 1;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json summary_json(const ErrorSummary& summary) {
  if (summary.count == 0) return nullptr;
  return {{"count", summary.count}, {"median", summary.median}, {"p90", summary.p90},
          {"bias", summary.bias},   {"q", summary.q},           {"worst_q", summary.worst_q}};
}

Json rows_json(const std::vector<AccuracyRow>& rows) {
  Json json = Json::array();
  for (const AccuracyRow& row : rows)
    json.push_back({{"device", row.device},
                    {"kind", row.kind},
                    {"scope", row.scope},
                    {"dtype_class", row.dtype_class},
                    {"cases", row.cases},
                    {"model", summary_json(row.model)},
                    {"roofline", summary_json(row.roofline)}});
  return json;
}

}  // namespace

namespace {

Json parts_json(const std::vector<StepPart>& parts) {
  Json json = Json::array();
  for (const StepPart& part : parts)
    json.push_back({{"name", part.name},
                    {"cases", part.cases},
                    {"measured_us", part.measured_us},
                    {"predicted_us", part.predicted_us},
                    {"off_us", part.off_us}});
  return json;
}

Json steps_json(const Accuracy& accuracy) {
  Json json = Json::array();
  for (const StepSum& step : step_sums(accuracy))
    json.push_back({{"family", step.family},
                    {"device", step.device},
                    {"cases", step.all.cases},
                    {"left_out", step.left_out},
                    {"measured_us", step.all.measured_us},
                    {"predicted_us", step.all.predicted_us},
                    {"error", step.error()},
                    {"ratio", step.ratio()},
                    {"kinds", parts_json(step.kinds)},
                    {"parts", parts_json(step.cases)}});
  return json;
}

}  // namespace

namespace {

/// Of a model's step: categories of the simulated time, the count of its pieces, what was assumed.
void add_run(Json& row, const RunPrediction& run) {
  Json categories = Json::array();
  for (const auto& [name, seconds] : run.rows) categories.push_back({{"name", name}, {"us", seconds * 1e6}});
  row["categories"] = std::move(categories);
  if (run.range) row["range_us"] = {run.range->first * 1e6, run.range->second * 1e6};
  row["assumptions"] = run.assumptions;
  if (!run.findings.empty()) row["findings"] = run.findings;
  if (!run.parts) return;
  const auto& [work, parts] = *run.parts;
  Json pieces = Json::array();
  for (size_t i = 0; i < work.pieces.size(); ++i)
    pieces.push_back({{"category", to_text(work.pieces[i].category)},
                      {"name", work.pieces[i].name},
                      {"times", work.pieces[i].times},
                      {"us", parts.pieces[i] * 1e6}});
  row["parts"] = {{"least_us", parts.least() * 1e6}, {"pieces", std::move(pieces)}};
}

/// Of a server: both figures that a source gives, and what was assumed.
void add_server(Json& row, const MeasuredServer& server, const ServerPrediction& prediction) {
  const auto figure = [](double measured) { return measured > 0 ? Json(measured) : Json(nullptr); };
  row["measured_ms"] = figure(server.ms), row["predicted_ms"] = or_null(prediction.ms);
  row["measured_tok_s"] = figure(server.rate), row["predicted_tok_s"] = or_null(prediction.rate);
  row["assumptions"] = prediction.assumptions;
}

Json serving_json(const Accuracy& accuracy) {
  Json json = Json::array();
  for (const ServingErrorGroup& group : serving_errors(accuracy).groups)
    json.push_back({{"generation", group.generation},
                    {"servers", group.what},
                    {"cases", group.cases},
                    {"time", summary_json(group.time)},
                    {"tok_s", summary_json(group.rate)}});
  return json;
}

Json ladders_json(const Accuracy& accuracy) {
  Json json = Json::array();
  for (const Ladder& ladder : run_ladders(accuracy)) {
    Json runs = Json::array();
    for (size_t i = 0; i < ladder.runs.size(); ++i)
      runs.push_back({{"id", accuracy.cases[ladder.runs[i]].id},
                      {"x", ladder.x[i]},
                      {"measured_s", ladder.measured_y[i]},
                      {"predicted_s", ladder.predicted_y[i]}});
    const auto line = [](const LadderLine& one) {
      return Json{{"slope_s", one.slope}, {"fixed_s", one.fixed}};
    };
    json.push_back({{"by", to_text(ladder.kind)},
                    {"generation", ladder.generation},
                    {"measured", line(ladder.measured)},
                    {"predicted", line(ladder.predicted)},
                    {"growth_error", ladder.growth_error()},
                    {"fixed_error", ladder.fixed_error()},
                    {"runs", std::move(runs)}});
  }
  return json;
}

}  // namespace

std::string to_json(const Accuracy& accuracy, bool with_steps) {
  Json cases = Json::array();
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const MeasuredCase& one = accuracy.cases[i];
    const Prediction& prediction = accuracy.predictions[i];
    Json row = {{"id", one.id},
                {"device", one.device},
                {"kind", one.kind},
                {"scope", one.scope},
                {"dtype_class", one.dtype_class},
                {"core", one.core},
                {"measured_us", one.time_us},
                {"predicted_us", or_null(prediction.us)},
                {"roofline_us", or_null(prediction.roofline_us)}};
    if (!prediction.us) row["reason"] = prediction.reason;
    if (prediction.run) add_run(row, *prediction.run);
    if (prediction.server) add_server(row, *one.server, *prediction.server);
    cases.push_back(std::move(row));
  }
  Json json = {{"schema_version", kSchemaVersion},
               {"headlines", rows_json(accuracy.headlines)},
               {"kinds", rows_json(accuracy.kinds)},
               {"groups", rows_json(accuracy.rows)},
               {"cases", std::move(cases)}};
  if (Json ladders = ladders_json(accuracy); !ladders.empty()) json["ladders"] = std::move(ladders);
  if (Json served = serving_json(accuracy); !served.empty()) json["serving"] = std::move(served);
  if (with_steps) json["steps"] = steps_json(accuracy);
  return json.dump(1) + "\n";
}

}  // namespace hlosim
