#include "study/mesh_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/text.h"
#include "study/sweep_table.h"
#include "text/json.h"
#include "text/scatter_svg.h"
#include "text/table.h"

namespace hlosim {
namespace {

using State = MeshRow::State;

/// "data=16,model=4"
std::string axes_of(const MeshRow& row) { return row.text.substr(0, row.text.find(';')); }
/// How parameters are sharded; may be empty.
std::string cuts_of(const MeshRow& row) {
  const size_t end = row.text.find("; ");
  return end == std::string::npos ? "" : row.text.substr(end + 2);
}

std::string value_text(const MeshRow& row, std::string_view metric) {
  if (row.state != State::kSimulated) return "-";
  return metric_text(metric_index(metric), row.value(metric));
}

bool knows_tokens(const MeshSearch& search) { return !search.rows.empty() && search.rows[0].tokens > 0; }

double tokens_per_second(const MeshRow& row) { return row.tokens / (row.value("time") * 1e-12); }

std::string rate_text_of(const MeshRow& row) {
  return row.state == State::kSimulated ? fmt::format("{:.0f}", tokens_per_second(row)) : "-";
}

/// The rows that nothing is better than, the least memory first; empty where there is one.
std::string front_text(const MeshSearch& search, const Paint& paint) {
  std::vector<const MeshRow*> front;
  for (const MeshRow& row : search.rows)
    if (row.is_front) front.push_back(&row);
  if (front.size() < 2 || !knows_tokens(search)) return "";
  std::ranges::reverse(front);  // rows are by cost
  const double best = front.back()->cost();
  Table table(
      {{"HBM peak"}, {"tokens/s"}, {"of the fastest"}, {"mesh", Align::kLeft, 40}, {"", Align::kLeft, 60}});
  for (const MeshRow* row : front)
    table.add({value_text(*row, "hbm_peak"), rate_text_of(*row), percent_text(best / row->cost()),
               axes_of(*row), row->note});
  return fmt::format("\n{}\n{}", paint.strong("Frontier of memory against time"), table.text("  "));
}

/// Batches differ: rows are compared by the time of a token.
std::string cost_svg(const MeshSearch& search) {
  ScatterPlot plot;
  plot.x = {.name = "hbm_peak",
            .text = [metric = metric_index("hbm_peak")](double value) { return metric_text(metric, value); }};
  plot.y = {.name = "time per token",
            .text = [](double value) { return to_text(ceil_picoseconds(value)); },
            .from_zero = true};
  plot.series.clear();
  for (const MeshRow& row : search.rows) {
    if (row.state != State::kSimulated) continue;
    const std::string mesh = axes_of(row);
    const auto series = std::ranges::find(plot.series, mesh);
    plot.marks.push_back({row.value("hbm_peak"), row.cost(),
                          static_cast<size_t>(series - plot.series.begin()), row.is_front, row.note});
    if (series == plot.series.end()) plot.series.push_back(mesh);
  }
  return scatter_svg(std::move(plot));
}

std::string counts_text(const MeshSearch& search) {
  size_t counts[4] = {};
  for (const MeshRow& row : search.rows) ++counts[static_cast<size_t>(row.state)];
  std::string text = fmt::format("{} of {} simulated", counts[0], search.rows.size());
  for (const State state : {State::kRuledOut, State::kDoesNotFit, State::kFailed})
    if (const size_t count = counts[static_cast<size_t>(state)]; count > 0)
      text += fmt::format(", {} {}", count, to_text(state));
  return text;
}

}  // namespace

std::string mesh_text(const MeshSearch& search, const MeshTextOptions& options) {
  const std::vector<MeshRow>& rows = search.rows;
  const size_t shown = options.top == 0 ? rows.size() : std::min(options.top, rows.size());
  std::vector<Column> columns = {{"", Align::kRight},
                                 {"mesh", Align::kLeft, 40},
                                 {"time"},
                                 {"HBM peak"},
                                 {"fits", Align::kLeft},
                                 {"exposed"},
                                 {"sent"}};
  if (knows_tokens(search)) columns.push_back({"tokens/s"});
  columns.push_back({"", Align::kLeft, 60});
  Table table(columns);
  std::string cuts;
  for (size_t i = 0; i < shown; ++i) {
    const MeshRow& row = rows[i];
    const std::string number = fmt::format("{}{}", i + 1, row.is_front ? "*" : " ");
    std::vector<std::string> cells = {number,
                                      axes_of(row),
                                      value_text(row, "time"),
                                      value_text(row, "hbm_peak"),
                                      row.state != State::kSimulated ? "-"
                                      : row.fits()                   ? "yes"
                                                                     : "no",
                                      value_text(row, "exposed"),
                                      value_text(row, "sent_bytes")};
    if (knows_tokens(search)) cells.push_back(rate_text_of(row));
    cells.push_back(row.note);
    table.add(std::move(cells));
    if (const std::string how = cuts_of(row); !how.empty()) cuts += fmt::format("{:>4}  {}\n", i + 1, how);
  }
  std::string text = table.text("");
  if (rows.size() > shown) text += fmt::format("and {} more (--top=0 shows all)\n", rows.size() - shown);
  if (!cuts.empty())
    text += fmt::format("\n{}\n{}", options.paint.strong("How parameters are sharded"), cuts);
  text += front_text(search, options.paint);
  text += fmt::format("\n{}; * nothing simulated is faster with less memory\n", counts_text(search));
  if (!search.best) text += "nothing fits into the device's memory\n";
  return printable(text, options.paint.on);
}

std::string mesh_json(const MeshSearch& search) {
  Json rows = Json::array();
  for (const MeshRow& row : search.rows) {
    Json json = {{"mesh", axes_of(row)},
                 {"request", row.text},
                 {"state", std::string(to_text(row.state))},
                 {"bound_ps", row.bound.count()},
                 {"tokens", row.tokens > 0 ? Json(row.tokens) : Json(nullptr)},
                 {"front", row.is_front},
                 {"note", row.note.empty() ? Json(nullptr) : Json(row.note)}};
    if (row.state == State::kSimulated) {
      Json values = Json::object();
      const std::span<const SweepMetric> metrics = sweep_metrics();
      for (size_t i = 0; i < metrics.size(); ++i) values[std::string(metrics[i].name)] = row.result.values[i];
      json["values"] = std::move(values);
    }
    rows.push_back(std::move(json));
  }
  const Json best = search.best ? Json(search.rows[*search.best].text) : Json(nullptr);
  return Json{{"best", best}, {"rows", std::move(rows)}}.dump(1) + "\n";
}

std::string mesh_svg(const MeshSearch& search, const Experiment& experiment) {
  if (knows_tokens(search)) return cost_svg(search);
  Experiment shown = experiment;
  SweepAxis meshes{SweepAxis::Kind::kKnob, "mesh", {}};
  std::vector<SweepResult> results;
  std::vector<bool> front;
  for (const MeshRow& row : search.rows) {
    if (row.state != State::kSimulated) continue;
    meshes.values.push_back(axes_of(row));
    results.push_back(row.result);
    front.push_back(row.is_front);
  }
  shown.axes = {std::move(meshes)};
  shown.plot = {"hbm_peak", "time", "mesh"};
  return sweep_svg({shown, results, front});
}

}  // namespace hlosim
