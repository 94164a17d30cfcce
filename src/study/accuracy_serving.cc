#include "study/accuracy_serving.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>

#include "base/number_text.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

using Cells = std::vector<std::string>;
using TakesServer = std::function<bool(const MeasuredCase&, const Prediction&)>;

constexpr int64_t kManyRequests = 16;  // with fewer the host and the fabric show more than the chip
constexpr const char* kManyDense = "dense, 16 requests or more";

bool is_many_dense(const MeasuredCase& one) {
  return one.server && one.server->is_dense() && one.server->mix.concurrency >= kManyRequests &&
         one.server->mix.output > 1;
}

std::optional<ServingErrorGroup> group_of(const Accuracy& accuracy, const std::vector<size_t>& cases,
                                          ServingErrorGroup group, const TakesServer& takes) {
  std::vector<double> ms, ms_measured, rate, rate_measured;
  for (const size_t i : cases) {
    const MeasuredCase& one = accuracy.cases[i];
    const Prediction& prediction = accuracy.predictions[i];
    if (!takes(one, prediction)) continue;
    ++group.cases;
    if (!prediction.server) continue;
    if (const auto& made = prediction.server->ms) ms.push_back(*made), ms_measured.push_back(one.server->ms);
    if (const auto& made = prediction.server->rate)
      rate.push_back(*made), rate_measured.push_back(one.server->rate);
  }
  if (group.cases == 0) return std::nullopt;
  group.time = summarize_errors(ms, ms_measured);
  group.rate = summarize_errors(rate, rate_measured);
  return group;
}

const Cells kServingGroupTitles = {"generation", "servers",      "n",   "time median", "p90", "bias",
                                   "n tok/s",    "tok/s median", "p90", "bias"};
const Cells kServingRowTitles = {"case",  "time",           "measured ms", "predicted",
                                 "ratio", "measured tok/s", "predicted",   "ratio"};
constexpr size_t kServingNames = 2;

Cells cells(const ServingErrorGroup& group) {
  Cells out = {group.generation, group.what};
  for (const ErrorSummary* one : {&group.time, &group.rate}) {
    out.push_back(fmt::format("{} of {}", one->count, group.cases));
    for (const double value : {one->median, one->p90, one->bias})
      out.push_back(one->count > 0 ? percent_text(value) : "-");
  }
  return out;
}

void add_figure(Cells& out, double measured, const std::optional<double>& predicted) {
  out.push_back(measured > 0 ? fmt::format("{:.4g}", measured) : "-");
  out.push_back(predicted ? fmt::format("{:.4g}", *predicted) : "-");
  out.push_back(predicted && measured > 0 ? fmt::format("{:.2f}", *predicted / measured) : "-");
}

Cells cells(const MeasuredCase& one, const Prediction& prediction) {
  Cells out = {one.id, one.kind};
  const std::optional<double> none;
  const ServerPrediction* made = prediction.server.get();
  add_figure(out, one.server ? one.server->ms : 0, made ? made->ms : none);
  add_figure(out, one.server ? one.server->rate : 0, made ? made->rate : none);
  return out;
}

std::string serving_table_text(const Cells& titles, const std::vector<Cells>& rows) {
  std::vector<Column> columns;
  for (const std::string& title : titles)
    columns.push_back({title, columns.size() < kServingNames ? Align::kLeft : Align::kRight});
  Table table(columns);
  for (const Cells& row : rows) table.add(row);
  return table.text("  ");
}

std::string serving_table_markdown(const Cells& titles, const std::vector<Cells>& rows) {
  std::string text;
  const auto line = [&](const Cells& words) {
    text += "|";
    for (const std::string& word : words) text += " " + markdown_cell(word) + " |";
    text += "\n";
  };
  line(titles);
  text += "|";
  for (size_t i = 0; i < titles.size(); ++i) text += i < kServingNames ? " --- |" : " ---: |";
  text += "\n";
  for (const Cells& row : rows) line(row);
  return text;
}

std::vector<Cells> group_rows(const ServingErrors& errors) {
  std::vector<Cells> rows;
  for (const ServingErrorGroup& group : errors.groups) rows.push_back(cells(group));
  return rows;
}

std::vector<Cells> case_rows(const ServingErrors& errors, const Accuracy& accuracy) {
  std::vector<Cells> rows;
  for (const size_t i : errors.cases)
    if (accuracy.predictions[i].us) rows.push_back(cells(accuracy.cases[i], accuracy.predictions[i]));
  return rows;
}

constexpr std::string_view kServingHead =
    "servers of models; time is ITL, TPOT (or TTFT of requests with one token) as the source gives it";

}  // namespace

ServingErrors serving_errors(const Accuracy& accuracy) {
  ServingErrors errors;
  std::set<std::string> generations;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    if (accuracy.cases[i].scope != "serving") continue;
    errors.cases.push_back(i);
    if (accuracy.predictions[i].us) generations.insert(accuracy.predictions[i].generation);
  }
  const auto add = [&](std::string generation, std::string what, const TakesServer& takes) {
    if (auto group =
            group_of(accuracy, errors.cases, {std::move(generation), std::move(what), 0, {}, {}}, takes))
      errors.groups.push_back(std::move(*group));
  };
  add("all", "all", [](const MeasuredCase&, const Prediction&) { return true; });
  add("all", kManyDense, [](const MeasuredCase& one, const Prediction&) { return is_many_dense(one); });
  add("all", "experts",
      [](const MeasuredCase& one, const Prediction&) { return one.server && !one.server->is_dense(); });
  for (const std::string& name : generations) {
    const auto of_it = [&](const Prediction& made) { return made.generation == name; };
    add(name, "all", [&](const MeasuredCase&, const Prediction& made) { return of_it(made); });
    add(name, kManyDense,
        [&](const MeasuredCase& one, const Prediction& made) { return of_it(made) && is_many_dense(one); });
  }
  return errors;
}

std::string serving_text(const ServingErrors& errors, const Accuracy& accuracy) {
  if (errors.cases.empty()) return {};
  std::string text;
  const TextBuilder print{text};
  print("\n{}\n\n{}", kServingHead, serving_table_text(kServingGroupTitles, group_rows(errors)));
  if (const std::vector<Cells> rows = case_rows(errors, accuracy); !rows.empty())
    print("\n{}", serving_table_text(kServingRowTitles, rows));
  return text;
}

std::string serving_markdown(const ServingErrors& errors, const Accuracy& accuracy) {
  if (errors.cases.empty()) return {};
  std::string text;
  const TextBuilder print{text};
  print("\n## Servers of models\n\n{}.\n\n{}", kServingHead,
        serving_table_markdown(kServingGroupTitles, group_rows(errors)));
  if (const std::vector<Cells> rows = case_rows(errors, accuracy); !rows.empty())
    print("\n{}", serving_table_markdown(kServingRowTitles, rows));
  return text;
}

}  // namespace hlosim
