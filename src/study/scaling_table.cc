// A scaling plan as text, JSON and CSV.
#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/units.h"
#include "study/scaling.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/scatter_svg.h"
#include "text/table.h"

namespace hlosim {
namespace {

/// Three digits and a unit of thousands: 15.0T, 820k.
std::string short_number(double value) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [size, unit] : kUnits)
    if (value >= size) return fmt::format("{:.3g}{}", value / size, unit);
  return fmt::format("{:.3g}", value);
}

std::string seconds_text(double seconds) { return to_text(ceil_picoseconds(seconds * 1e12)); }

std::string lost_text(const ScaleRow& row, const ScalePlan& plan) {
  constexpr double kLeastShown = 0.005;
  if (!row.lost_to || row.lost < kLeastShown) return "";
  return fmt::format("{} {}", plan.causes[*row.lost_to], percent_text(row.lost));
}

std::string mesh_text_of(const ScalePoint& point) {
  return point.note.empty() ? point.mesh : fmt::format("{} {}", point.mesh, point.note);
}

std::string table_text(const ScalePlan& plan) {
  const bool asks_days = plan.question.tokens > 0, asks_cost = asks_days && plan.question.price > 0;
  const bool has_slices =
      std::ranges::any_of(plan.rows, [](const ScaleRow& row) { return row.point.slices > 1; });
  std::vector<Column> columns = {{"chips"}};
  if (has_slices) columns.push_back({"slices"});
  columns.insert(columns.end(), {{"mesh", Align::kLeft, 44},
                                 {"batch"},
                                 {"step"},
                                 {"tokens/s"},
                                 {"per chip"},
                                 {"MFU"},
                                 {"HW"},
                                 {"HBM peak"},
                                 {"efficiency"},
                                 {"marginal"},
                                 {"lost to", Align::kLeft}});
  if (asks_days) columns.insert(columns.end(), {{"days"}, {"chip-hours"}});
  if (asks_cost) columns.push_back({"cost"});
  columns.push_back({"", Align::kLeft, 70});
  Table table(columns);
  for (const ScaleRow& row : plan.rows) {
    const ScalePoint& point = row.point;
    std::vector<std::string> cells = {std::to_string(point.chips)};
    if (has_slices) cells.push_back(std::to_string(point.slices));
    cells.insert(cells.end(), {mesh_text_of(point), std::to_string(point.batch)});
    if (point.ran()) {
      const bool fits = point.fits();
      cells.insert(cells.end(), {seconds_text(point.seconds), short_number(point.tokens_per_second()),
                                 short_number(point.tokens_per_chip()), percent_text(point.mfu()),
                                 percent_text(point.hardware_utilization()), to_text(point.hbm_peak),
                                 fits ? percent_text(row.efficiency) : "-",
                                 row.marginal ? percent_text(*row.marginal) : "-", lost_text(row, plan)});
      if (asks_days)
        cells.insert(cells.end(), {fits ? fmt::format("{:.1f}", row.days) : "-",
                                   fits ? short_number(row.chip_hours) : "-"});
      if (asks_cost) cells.push_back(fits ? short_number(row.cost) : "-");
    }
    cells.resize(columns.size() - 1, "-");
    cells.push_back(point.problem);
    table.add(std::move(cells));
  }
  return table.text("  ");
}

std::string payoff_text(const ScalePlan& plan) {
  if (plan.rows.size() < 2) return "";
  const std::string threshold = percent_text(plan.question.worth);
  if (plan.last_that_pays) {
    size_t next = *plan.last_that_pays + 1;
    while (!plan.rows[next].marginal) ++next;
    return fmt::format(
        "more chips stop paying at {}: from {} to {} additional chips give {} of proportional throughput, "
        "less "
        "than {}\n",
        plan.rows[*plan.last_that_pays].point.chips, plan.rows[*plan.last_that_pays].point.chips,
        plan.rows[next].point.chips, percent_text(*plan.rows[next].marginal), threshold);
  }
  bool has_marginal = false;
  for (const ScaleRow& row : plan.rows) has_marginal |= row.marginal.has_value();
  return has_marginal
             ? fmt::format("every row pays: additional chips give at least {} of proportional throughput\n",
                           threshold)
             : std::string();
}

Json json_of(const ScaleRow& row, const ScalePlan& plan) {
  const ScaleQuestion& question = plan.question;
  const ScalePoint& point = row.point;
  Json json = {{"chips", point.chips},
               {"devices", point.devices},
               {"slices", point.slices},
               {"mesh", point.mesh},
               {"note", point.note.empty() ? Json(nullptr) : Json(point.note)},
               {"batch", point.batch},
               {"tokens_per_step", point.tokens},
               {"problem", point.problem.empty() ? Json(nullptr) : Json(point.problem)}};
  if (!point.ran()) return json;
  json["step_seconds"] = point.seconds;
  json["tokens_per_second"] = point.tokens_per_second();
  json["tokens_per_second_per_chip"] = point.tokens_per_chip();
  json["model_flops"] = point.model_flops;
  json["mfu"] = point.mfu();
  json["hardware_flops_utilization"] = point.hardware_utilization();
  json["exposed_share"] = point.exposed;
  json["hbm_peak_bytes"] = point.hbm_peak.count();
  if (!point.fits()) return json;
  json["efficiency"] = row.efficiency;
  json["marginal_efficiency"] = row.marginal ? Json(*row.marginal) : Json(nullptr);
  json["lost_to"] = row.lost_to ? Json(plan.causes[*row.lost_to]) : Json(nullptr);
  json["lost_share"] = row.lost;
  if (question.tokens > 0) json["days"] = row.days, json["chip_hours"] = row.chip_hours;
  if (question.tokens > 0 && question.price > 0) json["cost"] = row.cost;
  return json;
}

}  // namespace

std::string to_text(const ScalePlan& plan, const ScaleWords& words) {
  std::string text = fmt::format("training {} on {}; {}\n", words.model, words.device, words.meshes);
  if (plan.question.tokens > 0)
    text +=
        fmt::format("{} tokens{}\n", short_number(plan.question.tokens),
                    plan.question.price > 0 ? fmt::format(", {:g} a chip-hour", plan.question.price) : "");
  text += "\n" + table_text(plan) + "\n" + payoff_text(plan);
  text +=
      "MFU: model FLOPs (causal, nothing computed twice) / (step x devices x bf16 peak); HW: all products "
      "that run\n"
      "efficiency: tokens/s per chip relative to the first row that fits; lost to: growth since then, of the "
      "step\n";
  for (const std::string& assumption : words.assumptions) text += fmt::format("assumption: {}\n", assumption);
  return text;
}

std::string to_json(const ScalePlan& plan, const ScaleWords& words) {
  Json rows = Json::array();
  for (const ScaleRow& row : plan.rows) rows.push_back(json_of(row, plan));
  const Json stops = plan.last_that_pays ? Json(plan.rows[*plan.last_that_pays].point.chips) : Json(nullptr);
  Json json = {{"schema_version", 1},
               {"model", words.model},
               {"device", words.device},
               {"meshes", words.meshes},
               {"worth", plan.question.worth},
               {"stops_paying_at_chips", stops},
               {"assumptions", words.assumptions},
               {"rows", std::move(rows)}};
  if (plan.question.tokens > 0) json["tokens"] = plan.question.tokens;
  if (plan.question.price > 0) json["price"] = plan.question.price;
  return json.dump(2) + "\n";
}

std::string to_csv(const ScalePlan& plan) {
  std::string text =
      "chips,devices,slices,mesh,note,batch,step_seconds,tokens_per_second,tokens_per_second_per_chip,mfu,"
      "hardware_flops_utilization,exposed_share,hbm_peak_bytes,efficiency,marginal_efficiency,lost_to,lost_"
      "share,"
      "days,chip_hours,cost,problem\n";
  const auto number = [](bool is_known, double value) {
    return is_known ? fmt::format("{:.6g}", value) : "";
  };
  for (const ScaleRow& row : plan.rows) {
    const ScalePoint& point = row.point;
    const bool ran = point.ran(), fits = point.fits();
    const bool days = fits && plan.question.tokens > 0;
    const std::string cells[] = {number(ran, point.seconds),
                                 number(ran, point.tokens_per_second()),
                                 number(ran, point.tokens_per_chip()),
                                 number(ran, point.mfu()),
                                 number(ran, point.hardware_utilization()),
                                 number(ran, point.exposed),
                                 ran ? std::to_string(point.hbm_peak.count()) : "",
                                 number(fits, row.efficiency),
                                 number(row.marginal.has_value(), row.marginal.value_or(0)),
                                 row.lost_to ? csv_field(plan.causes[*row.lost_to]) : "",
                                 number(row.lost_to.has_value(), row.lost),
                                 number(days, row.days),
                                 number(days, row.chip_hours),
                                 number(days && plan.question.price > 0, row.cost),
                                 csv_field(point.problem)};
    text += fmt::format("{},{},{},{},{},{},{}\n", point.chips, point.devices, point.slices,
                        csv_field(point.mesh), csv_field(point.note), point.batch, fmt::join(cells, ","));
  }
  return text;
}

std::string to_svg(const ScalePlan& plan) {
  enum Series : size_t { kSimulated, kProportional, kLast };
  ScatterPlot plot;
  plot.x = {.name = "chips", .text = {}};
  plot.y = {.name = "tokens/s", .text = short_number, .from_zero = true};
  plot.line = ScatterLine::kInOrder;
  plot.series = {"simulated", "proportional"};
  if (plan.last_that_pays) plot.series.push_back("last that pays");
  double first_per_chip = 0;
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const ScalePoint& point = plan.rows[i].point;
    if (!point.fits()) continue;
    if (first_per_chip == 0) first_per_chip = point.tokens_per_chip();
    const auto chips = static_cast<double>(point.chips);
    plot.x.labels[chips] = std::to_string(point.chips);
    const std::string title =
        fmt::format("{} chips, {}: {} tokens/s, MFU {}", point.chips, mesh_text_of(point),
                    short_number(point.tokens_per_second()), percent_text(point.mfu()));
    plot.marks.push_back({chips, first_per_chip * chips, kProportional});
    plot.marks.push_back({chips, point.tokens_per_second(), kSimulated, false, title});
    if (plan.last_that_pays == i)
      plot.marks.push_back({chips, point.tokens_per_second(), kLast, true, title});
  }
  return scatter_svg(std::move(plot));
}

}  // namespace hlosim
