#include "study/accuracy_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/number_text.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

void add(StepPart& part, double measured, double predicted) {
  ++part.cases;
  part.measured_us += measured, part.predicted_us += predicted;
  part.off_us += std::abs(predicted - measured);
}

void farthest_first(std::vector<StepPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const StepPart& a, const StepPart& b) { return a.off_us > b.off_us; });
}

std::string microseconds(double us) { return fmt::format("{:.4g} us", us); }
std::string change(double us) { return fmt::format("{:+.4g} us", us); }
using Cells = std::vector<std::string>;

/// From the measured sum to the predicted one.
std::vector<Cells> waterfall(const StepSum& step, size_t count) {
  const auto share = [&](const StepPart& part) {
    return percent_text(step.all.measured_us > 0 ? part.off_us / step.all.measured_us : 0);
  };
  std::vector<Cells> rows;
  rows.push_back(
      {"measured", std::to_string(step.all.cases), microseconds(step.all.measured_us), "", "", ""});
  for (const StepPart& kind : step.kinds)
    rows.push_back({kind.name, std::to_string(kind.cases), microseconds(kind.measured_us),
                    microseconds(kind.predicted_us), change(kind.change()), share(kind)});
  rows.push_back({"predicted", std::to_string(step.all.cases), "", microseconds(step.all.predicted_us), "",
                  share(step.all)});
  for (size_t i = 0; i < std::min(count, step.cases.size()); ++i) {
    const StepPart& one = step.cases[i];
    rows.push_back({one.name, "", microseconds(one.measured_us), microseconds(one.predicted_us),
                    change(one.change()), share(one)});
  }
  return rows;
}

const Cells kStepTitles = {"part", "cases", "measured", "predicted", "change", "off"};

std::string headline(const StepSum& step) {
  std::string text = fmt::format("{} on {}: error by time {}, sum predicted / measured {:.3f}", step.family,
                                 step.device, percent_text(step.error()), step.ratio());
  if (step.left_out > 0)
    text += fmt::format("; {} {} left out", step.left_out, step.left_out == 1 ? "case" : "cases");
  return text;
}

}  // namespace

std::vector<StepSum> step_sums(const Accuracy& accuracy) {
  std::map<std::pair<std::string, std::string>, StepSum> found;
  std::map<std::pair<std::string, std::string>, std::map<std::string, StepPart>> kinds;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const MeasuredCase& one = accuracy.cases[i];
    if (one.family.empty()) continue;
    const std::pair key(one.family, one.device);
    StepSum& step = found[key];
    step.family = one.family, step.device = one.device;
    const std::optional<double>& us = accuracy.predictions[i].us;
    if (!us || one.tier == "C") {
      ++step.left_out;
      continue;
    }
    const double measured = one.time_us * one.occurrences, predicted = *us * one.occurrences;
    add(step.all, measured, predicted);
    add(kinds[key][one.kind], measured, predicted);
    step.cases.push_back({one.id, 0, 0, 0, 0});
    add(step.cases.back(), measured, predicted);
  }
  std::vector<StepSum> steps;
  for (auto& [key, step] : found) {
    if (step.all.cases == 0) continue;
    for (auto& [name, part] : kinds[key]) {
      part.name = name;
      step.kinds.push_back(std::move(part));
    }
    farthest_first(step.kinds);
    farthest_first(step.cases);
    steps.push_back(std::move(step));
  }
  return steps;
}

std::string steps_text(const std::vector<StepSum>& steps, size_t count) {
  std::string text;
  const TextBuilder print{text};
  for (const StepSum& step : steps) {
    std::vector<Column> columns;
    for (const std::string& title : kStepTitles)
      columns.push_back({title, columns.empty() ? Align::kLeft : Align::kRight});
    Table table(columns);
    for (Cells& row : waterfall(step, count)) table.add(std::move(row));
    print("\n{}\n\n{}", headline(step), table.text("  "));
  }
  return text;
}

std::string steps_markdown(const std::vector<StepSum>& steps, size_t count) {
  std::string text;
  const TextBuilder print{text};
  const auto line = [&](const Cells& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) row += " " + markdown_cell(cell) + " |";
    print("{}\n", row);
  };
  for (const StepSum& step : steps) {
    print("\n### {}\n\n", headline(step));
    line(kStepTitles);
    print("| --- | ---: | ---: | ---: | ---: | ---: |\n");
    for (const Cells& row : waterfall(step, count)) line(row);
  }
  return text;
}

}  // namespace hlosim
