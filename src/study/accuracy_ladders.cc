#include "study/accuracy_ladders.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/number_text.h"
#include "text/escape.h"
#include "text/table.h"

namespace hlosim {
namespace {

std::string flags_text(const PublishedRun& run) {
  std::vector<std::string> texts;
  for (const XlaFlag& flag : run.flags) texts.push_back(fmt::format("{}={}", flag.name, flag.value));
  std::sort(texts.begin(), texts.end());
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string mesh_text(const Mesh& mesh) {
  std::string text;
  for (const MeshAxis& axis : mesh.axes) text += fmt::format("{}={},", axis.name, axis.size);
  return text;
}

/// What two runs of a ladder have in common; empty: the run is part of no such ladder.
std::string key_of(LadderKind kind, const PublishedRun& run) {
  if (run.program.empty()) return {};
  switch (kind) {
    case LadderKind::kBatch:
      return fmt::format("{}|{}|{}|{}|{}", run.program, mesh_text(run.ici), mesh_text(run.dcn), run.devices,
                         flags_text(run));
    case LadderKind::kSlices:
      return fmt::format("{}|{}|{}|{}", run.program, mesh_text(run.ici), run.slice_devices(),
                         run.sequences_per_device());
    case LadderKind::kChips:
      return run.slices == 1 ? run.program : std::string();
  }
  return {};
}

double x_of(LadderKind kind, const PublishedRun& run) {
  switch (kind) {
    case LadderKind::kBatch:
      return run.sequences_per_device();
    case LadderKind::kSlices:
      return static_cast<double>(run.slices);
    case LadderKind::kChips:
      return std::log2(static_cast<double>(run.devices));
  }
  return 0;
}

/// By least squares.
LadderLine line_through(LadderKind kind, const std::vector<double>& x, const std::vector<double>& y) {
  const auto count = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / count;
  const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / count;
  double products = 0, squares = 0;
  for (size_t i = 0; i < x.size(); ++i)
    products += (x[i] - mean_x) * (y[i] - mean_y), squares += (x[i] - mean_x) * (x[i] - mean_x);
  LadderLine line;
  line.slope = products / squares;
  const double origin = kind == LadderKind::kBatch ? 0 : x.front();
  line.fixed = mean_y + line.slope * (origin - mean_x);
  return line;
}

Ladder ladder_of(LadderKind kind, std::vector<size_t> runs, const Accuracy& accuracy) {
  const auto x = [&](size_t i) { return x_of(kind, *accuracy.cases[i].run); };
  std::stable_sort(runs.begin(), runs.end(), [&](size_t a, size_t b) { return x(a) < x(b); });
  Ladder ladder{
      kind, accuracy.cases[runs[0]].id, accuracy.predictions[runs[0]].generation, runs, {}, {}, {}, {}, {}};
  for (const size_t i : runs) {
    const double per = kind == LadderKind::kChips ? accuracy.cases[i].run->sequences_per_device() : 1;
    ladder.x.push_back(x(i));
    ladder.measured_y.push_back(accuracy.cases[i].time_us * 1e-6 / per);
    ladder.predicted_y.push_back(*accuracy.predictions[i].us * 1e-6 / per);
  }
  if (ladder.x.front() == ladder.x.back()) return ladder;
  ladder.measured = line_through(kind, ladder.x, ladder.measured_y);
  ladder.predicted = line_through(kind, ladder.x, ladder.predicted_y);
  return ladder;
}

double mean_measured(const Ladder& ladder) {
  return std::accumulate(ladder.measured_y.begin(), ladder.measured_y.end(), 0.0) /
         static_cast<double>(ladder.measured_y.size());
}

const std::vector<std::string> kLadderTitles = {"by",       "first run", "n",     "x",        "slope",
                                                "measured", "off",       "fixed", "measured", "off"};

std::vector<std::string> cells_of(const Ladder& ladder) {
  std::vector<std::string> places;
  for (const double x : ladder.x)
    places.push_back(ladder.kind == LadderKind::kChips ? fmt::format("{:.0f}", std::exp2(x))
                                                       : fmt::format("{:g}", x));
  const auto off = [](double is, double should) {
    return should == 0 ? std::string("-") : percent_text(is / should - 1);
  };
  const bool grows =
      std::abs(ladder.measured.slope) * (ladder.x.back() - ladder.x.front()) > 0.02 * mean_measured(ladder);
  return {std::string(to_text(ladder.kind)), ladder.name, std::to_string(ladder.runs.size()),
          fmt::format("{}", fmt::join(places, " ")), fmt::format("{:.4f} s", ladder.predicted.slope),
          fmt::format("{:.4f} s", ladder.measured.slope),
          // A line that is flat has a slope of chance: what counts is the growth over all of the ladder.
          grows ? off(ladder.predicted.slope, ladder.measured.slope)
                : fmt::format("{} of a step", percent_text(ladder.growth_error())),
          fmt::format("{:.3f} s", ladder.predicted.fixed), fmt::format("{:.3f} s", ladder.measured.fixed),
          fmt::format("{:+.3f} s", ladder.predicted.fixed - ladder.measured.fixed)};
}

}  // namespace

std::string_view to_text(LadderKind kind) {
  constexpr std::string_view kNames[] = {"batch", "slices", "chips"};
  return kNames[static_cast<size_t>(kind)];
}

double Ladder::growth_error() const {
  return (predicted.slope - measured.slope) * (x.back() - x.front()) / mean_measured(*this);
}

double Ladder::fixed_error() const { return (predicted.fixed - measured.fixed) / mean_measured(*this); }

std::vector<Ladder> run_ladders(const Accuracy& accuracy) {
  std::vector<Ladder> ladders;
  for (const LadderKind kind : {LadderKind::kBatch, LadderKind::kSlices, LadderKind::kChips}) {
    std::map<std::string, size_t> place_of;  // of a key, among `groups`
    std::vector<std::vector<size_t>> groups;
    for (size_t i = 0; i < accuracy.cases.size(); ++i) {
      const MeasuredCase& one = accuracy.cases[i];
      if (!one.run || !accuracy.predictions[i].us) continue;
      const std::string key = key_of(kind, *one.run);
      if (key.empty()) continue;
      const auto [found, is_new] = place_of.try_emplace(key, groups.size());
      if (is_new) groups.emplace_back();
      groups[found->second].push_back(i);
    }
    for (std::vector<size_t>& group : groups)
      if (Ladder ladder = ladder_of(kind, std::move(group), accuracy); ladder.x.front() != ladder.x.back())
        ladders.push_back(std::move(ladder));
  }
  return ladders;
}

std::string ladders_text(const std::vector<Ladder>& ladders) {
  if (ladders.empty()) return {};
  std::vector<Column> columns;
  for (const std::string& title : kLadderTitles)
    columns.push_back({title, columns.size() < 2 ? Align::kLeft : Align::kRight});
  Table table(columns);
  for (const Ladder& ladder : ladders) table.add(cells_of(ladder));
  return fmt::format(
      "\nladders: runs that differ in one number, as time = fixed + slope x. batch: sequences of a device; "
      "slices; chips: time per sequence of a device, for each doubling of the devices\n\n{}",
      table.text("  "));
}

std::string ladders_markdown(const std::vector<Ladder>& ladders) {
  if (ladders.empty()) return {};
  std::string text = "\n## Ladders\n\n";
  const auto line = [&](const std::vector<std::string>& words) {
    text += "|";
    for (const std::string& word : words) text += " " + markdown_cell(word) + " |";
    text += "\n";
  };
  line(kLadderTitles);
  text += "| --- | --- |";
  for (size_t i = 2; i < kLadderTitles.size(); ++i) text += " ---: |";
  text += "\n";
  for (const Ladder& ladder : ladders) line(cells_of(ladder));
  return text;
}

}  // namespace hlosim
