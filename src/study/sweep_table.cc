#include "study/sweep_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "text/escape.h"
#include "text/json.h"
#include "text/table.h"

namespace hlosim {
namespace {

/// Less is better.
std::vector<double> goals(const Experiment& experiment, const SweepPoint& point, const SweepResult& result) {
  std::vector<double> values;
  for (const Objective& objective : experiment.objectives) {
    const int metric = metric_index(objective.name);
    const double value = metric >= 0 ? result.values[static_cast<size_t>(metric)]
                                     : number_of(*setting(experiment, point, objective.name)).value_or(0);
    values.push_back(objective.maximise ? -value : value);
  }
  return values;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better |= a[i] < b[i];
  }
  return better;
}

/// Calls f(index, point, result) for the rows of a table.
template <class F>
void for_each_row(const SweepTable& table, F&& f) {
  for (size_t i = 0; i < table.results.size(); ++i)
    if (!table.only_front || table.front[i])
      f(i, point_at(table.experiment, static_cast<int64_t>(i)), table.results[i]);
}

/// Names of what isn't a metric: all of it, or what varies.
std::vector<std::string> settings_of(const Experiment& experiment, bool all) {
  std::vector<std::string> names;
  if (all || experiment.modules.size() > 1) names.emplace_back("module");
  if (all || experiment.devices.size() > 1) names.emplace_back("device");
  for (const SweepAxis& axis : experiment.axes)
    if (all || axis.values.size() > 1) names.push_back(axis.name);
  return names;
}

/// Titles, and the cells of each row, for people.
struct Cells {
  std::vector<std::string> titles;
  std::vector<std::vector<std::string>> rows;
  size_t settings = 0;  // columns that aren't metrics
};
Cells cells_of(const SweepTable& table) {
  const Experiment& experiment = table.experiment;
  Cells cells;
  cells.titles = settings_of(experiment, false);
  cells.settings = cells.titles.size();
  for (const std::string& column : experiment.columns) cells.titles.push_back(column);
  cells.titles.emplace_back("front");
  for_each_row(table, [&](size_t i, const SweepPoint& point, const SweepResult& result) {
    std::vector<std::string> row;
    for (size_t k = 0; k < cells.settings; ++k) row.push_back(*setting(experiment, point, cells.titles[k]));
    for (const std::string& column : experiment.columns) {
      const int metric = metric_index(column);
      row.push_back(result.ok() ? metric_text(metric, result.values[static_cast<size_t>(metric)]) : "-");
    }
    row.emplace_back(table.front[i] ? "*" : result.ok() ? "" : "error: " + result.error);
    cells.rows.push_back(std::move(row));
  });
  return cells;
}

bool is_whole(double value) { return std::floor(value) == value && std::abs(value) < 9e15; }
std::string number_text(double value) {
  return is_whole(value) ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
}

}  // namespace

std::vector<bool> pareto_front(const Experiment& experiment, const std::vector<SweepResult>& results) {
  std::vector<bool> front(results.size());
  std::vector<std::vector<double>> values(results.size());
  std::map<size_t, std::vector<size_t>> by_module;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) continue;
    const SweepPoint point = point_at(experiment, static_cast<int64_t>(i));
    values[i] = goals(experiment, point, results[i]);
    by_module[point.module].push_back(i);
  }
  for (auto& [module, points] : by_module) {
    // Whoever dominates a point stands before it.
    std::stable_sort(points.begin(), points.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    std::vector<size_t> best;
    for (const size_t i : points) {
      if (std::any_of(best.begin(), best.end(),
                      [&](size_t other) { return dominates(values[other], values[i]); }))
        continue;
      best.push_back(i);
      front[i] = true;
    }
  }
  return front;
}

std::string sweep_text(const SweepTable& table) {
  const Cells cells = cells_of(table);
  std::vector<Column> columns;
  for (size_t i = 0; i < cells.titles.size(); ++i)
    columns.push_back(
        {cells.titles[i], i < cells.settings || i + 1 == cells.titles.size() ? Align::kLeft : Align::kRight});
  Table text(std::move(columns));
  for (const std::vector<std::string>& row : cells.rows) text.add(row);
  return text.text("");
}

std::string sweep_markdown(const SweepTable& table) {
  const Cells cells = cells_of(table);
  std::string text = "|";
  for (const std::string& title : cells.titles) text += " " + markdown_cell(title) + " |";
  text += "\n|";
  for (size_t i = 0; i < cells.titles.size(); ++i)
    text += i < cells.settings || i + 1 == cells.titles.size() ? " --- |" : " ---: |";
  text += "\n";
  for (const std::vector<std::string>& row : cells.rows) {
    text += "|";
    for (const std::string& cell : row) text += " " + markdown_cell(cell) + " |";
    text += "\n";
  }
  return text;
}

namespace {

/// "time_ps"; names that say their unit stay.
std::string with_unit(const SweepMetric& metric) {
  if (metric.unit.empty() || metric.name.ends_with("_bytes")) return std::string(metric.name);
  return fmt::format("{}_{}", metric.name, metric.unit == "B" ? "bytes" : metric.unit);
}

}  // namespace

std::string sweep_csv(const SweepTable& table) {
  const std::vector<std::string> settings = settings_of(table.experiment, true);
  std::string text;
  for (const std::string& name : settings) text += csv_field(name) + ",";
  for (const SweepMetric& metric : sweep_metrics()) text += with_unit(metric) + ",";
  text += "front,error\n";
  for_each_row(table, [&](size_t i, const SweepPoint& point, const SweepResult& result) {
    for (const std::string& name : settings) text += csv_field(*setting(table.experiment, point, name)) + ",";
    for (size_t k = 0; k < sweep_metrics().size(); ++k)
      text += (result.ok() ? number_text(result.values[k]) : "") + ",";
    text += fmt::format("{},{}\n", table.front[i] ? 1 : 0, csv_field(result.error));
  });
  return text;
}

std::string sweep_json(const SweepTable& table) {
  const Experiment& experiment = table.experiment;
  Json json = {{"schema_version", 1}, {"experiment", experiment.name}};
  json["objectives"] = Json::array();
  for (const Objective& objective : experiment.objectives)
    json["objectives"].push_back({{"name", objective.name}, {"maximise", objective.maximise}});
  json["metrics"] = Json::array();
  for (const SweepMetric& metric : sweep_metrics())
    json["metrics"].push_back({{"name", metric.name}, {"unit", metric.unit}, {"meaning", metric.meaning}});
  json["points"] = Json::array();
  for_each_row(table, [&](size_t i, const SweepPoint& point, const SweepResult& result) {
    Json one = {{"module", experiment.modules[point.module].name},
                {"device", experiment.devices[point.device].name}};
    one["settings"] = Json::object();
    for (size_t k = 0; k < experiment.axes.size(); ++k)
      one["settings"][experiment.axes[k].name] = value_at(experiment, point, k);
    if (result.ok()) {
      one["metrics"] = Json::object();
      for (size_t k = 0; k < sweep_metrics().size(); ++k) {
        const double value = result.values[k];
        one["metrics"][std::string(sweep_metrics()[k].name)] =
            is_whole(value) ? Json(static_cast<int64_t>(value)) : Json(value);
      }
    } else {
      one["error"] = result.error;
    }
    one["front"] = static_cast<bool>(table.front[i]);
    json["points"].push_back(std::move(one));
  });
  return json.dump(2) + "\n";
}

}  // namespace hlosim
