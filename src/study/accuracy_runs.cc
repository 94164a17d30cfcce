#include "study/accuracy_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/number_text.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

/// Indices of the runs whose peak time is known.
using Cases = std::vector<size_t>;

/// Measured over peak time of the generation's other runs, the median; 0 where there is no other.
double share_of_others(const Accuracy& accuracy, const Cases& runs, size_t which) {
  std::vector<double> ratios;
  for (const size_t i : runs)
    if (i != which && accuracy.predictions[i].generation == accuracy.predictions[which].generation)
      ratios.push_back(accuracy.cases[i].time_us / *accuracy.predictions[i].roofline_us);
  return quantile(std::move(ratios), 0.5);
}

RunErrorRow row_of(const Accuracy& accuracy, const Cases& runs, std::string generation, std::string family) {
  RunErrorRow row{std::move(generation), std::move(family), 0, {}, {}, {}};
  std::vector<double> model, model_measured, peak, peak_measured, share, share_measured;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const MeasuredCase& one = accuracy.cases[i];
    const Prediction& prediction = accuracy.predictions[i];
    if (!one.run || (row.generation != "all" && prediction.generation != row.generation) ||
        (row.family != "all" && one.kind != row.family))
      continue;
    ++row.cases;
    if (prediction.us) model.push_back(*prediction.us), model_measured.push_back(one.time_us);
    if (!prediction.roofline_us) continue;
    peak.push_back(*prediction.roofline_us), peak_measured.push_back(one.time_us);
    const double factor = share_of_others(accuracy, runs, i);
    if (factor > 0) share.push_back(*prediction.roofline_us * factor), share_measured.push_back(one.time_us);
  }
  row.model = summarize_errors(model, model_measured);
  row.peak = summarize_errors(peak, peak_measured);
  row.share = summarize_errors(share, share_measured);
  return row;
}

std::vector<RunSourceRow> source_rows(const Accuracy& accuracy) {
  std::map<std::string, bool> names;
  for (const MeasuredCase& one : accuracy.cases)
    if (one.run && !one.run->source.empty()) names[one.run->source] = true;
  std::vector<RunSourceRow> rows;
  for (const auto& [name, there] : names) {
    std::vector<double> own, own_measured, others, others_measured;
    for (size_t i = 0; i < accuracy.cases.size(); ++i) {
      const MeasuredCase& one = accuracy.cases[i];
      if (!one.run || !accuracy.predictions[i].us) continue;
      const bool is_own = one.run->source == name;
      (is_own ? own : others).push_back(*accuracy.predictions[i].us);
      (is_own ? own_measured : others_measured).push_back(one.time_us);
    }
    rows.push_back({name, summarize_errors(own, own_measured), summarize_errors(others, others_measured)});
  }
  return rows;
}

void add(std::vector<std::pair<std::string, double>>& into, std::string_view name, double seconds) {
  for (auto& [known, sum] : into)
    if (known == name) {
      sum += seconds;
      return;
    }
  into.emplace_back(name, seconds);
}

const std::vector<std::string> kTitles = {"generation", "family",      "n",   "median",       "p90",
                                          "bias",       "peak median", "p90", "share median", "p90"};

std::vector<std::string> cells(const RunErrorRow& row) {
  std::vector<std::string> out = {row.generation, row.family,
                                  row.model.count == row.cases
                                      ? std::to_string(row.cases)
                                      : fmt::format("{} of {}", row.model.count, row.cases)};
  const auto summary = [&](const ErrorSummary& one, bool with_bias) {
    out.push_back(one.count > 0 ? percent_text(one.median) : "-");
    out.push_back(one.count > 0 ? percent_text(one.p90) : "-");
    if (with_bias) out.push_back(one.count > 0 ? percent_text(one.bias) : "-");
  };
  summary(row.model, true);
  summary(row.peak, false);
  summary(row.share, false);
  return out;
}

std::vector<std::string> cells(const RunSourceRow& row) {
  std::vector<std::string> out = {row.source, std::to_string(row.model.count)};
  for (const ErrorSummary* one : {&row.model, &row.others})
    for (const double value : {one->median, one->p90, one->bias})
      out.push_back(one->count > 0 ? percent_text(value) : "-");
  return out;
}

const std::vector<std::string> kSourceTitles = {"source", "n",          "median", "p90",
                                                "bias",   "all others", "p90",    "bias"};

std::string parts_line(const std::vector<std::pair<std::string, double>>& parts, double measured) {
  std::string line;
  for (const auto& [name, seconds] : parts)
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, percent_text(seconds / measured));
  return line;
}

}  // namespace

RunErrors run_errors(const Accuracy& accuracy) {
  RunErrors errors;
  Cases runs;
  std::map<std::string, std::map<std::string, bool>> groups;  // generation, family
  std::map<std::string, bool> families;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    if (!accuracy.cases[i].run) continue;
    if (accuracy.predictions[i].roofline_us) runs.push_back(i);
    groups[accuracy.predictions[i].generation][accuracy.cases[i].kind] = true;
    families[accuracy.cases[i].kind] = true;
  }
  if (groups.empty()) return errors;
  errors.rows.push_back(row_of(accuracy, runs, "all", "all"));
  for (const auto& [family, there] : families) errors.rows.push_back(row_of(accuracy, runs, "all", family));
  for (const auto& [generation, of] : groups) {
    errors.rows.push_back(row_of(accuracy, runs, generation, "all"));
    if (of.size() > 1)
      for (const auto& [family, there] : of)
        errors.rows.push_back(row_of(accuracy, runs, generation, family));
    RunCategories categories{generation, 0, {}, {}};
    for (size_t i = 0; i < accuracy.cases.size(); ++i) {
      const Prediction& prediction = accuracy.predictions[i];
      if (!prediction.run || !prediction.us || prediction.generation != generation) continue;
      categories.measured += accuracy.cases[i].time_us * 1e-6;
      for (const auto& [name, seconds] : prediction.run->rows) add(categories.simulated, name, seconds);
      if (!prediction.run->parts) continue;
      const StepParts& parts = prediction.run->parts->second;
      for (size_t c = 0; c < kStepCategories; ++c)
        add(categories.counted, to_text(static_cast<StepCategory>(c)), parts.by_category[c]);
    }
    if (categories.measured > 0) errors.categories.push_back(std::move(categories));
  }
  errors.sources = source_rows(accuracy);
  return errors;
}

std::string runs_text(const RunErrors& errors) {
  if (errors.rows.empty()) return {};
  std::string text;
  const TextBuilder print{text};
  std::vector<Column> columns;
  for (const std::string& title : kTitles)
    columns.push_back({title, columns.size() < 2 ? Align::kLeft : Align::kRight});
  Table table(columns);
  for (const RunErrorRow& row : errors.rows) table.add(cells(row));
  print(
      "\nsteps of whole models; next to them FLOPs over the peak alone, and a share of the peak that the "
      "generation's other runs reach\n\n{}",
      table.text("  "));
  if (errors.sources.size() > 1) {
    std::vector<Column> titles;
    for (const std::string& title : kSourceTitles)
      titles.push_back({title, titles.empty() ? Align::kLeft : Align::kRight});
    Table by_source(titles);
    for (const RunSourceRow& row : errors.sources) by_source.add(cells(row));
    print("\nby source\n\n{}", by_source.text("  "));
  }
  for (const RunCategories& one : errors.categories)
    print("\n{}, of the measured time\n  simulated: {}\n  counted:   {}\n", one.generation,
          parts_line(one.simulated, one.measured), parts_line(one.counted, one.measured));
  return text;
}

std::string runs_markdown(const RunErrors& errors) {
  if (errors.rows.empty()) return {};
  std::string text = "\n## Steps of whole models\n\n";
  const auto line = [&](const std::vector<std::string>& words) {
    text += "|";
    for (const std::string& word : words) text += " " + markdown_cell(word) + " |";
    text += "\n";
  };
  line(kTitles);
  text += "| --- | --- |";
  for (size_t i = 2; i < kTitles.size(); ++i) text += " ---: |";
  text += "\n";
  for (const RunErrorRow& row : errors.rows) line(cells(row));
  if (errors.sources.size() > 1) {
    text += "\n";
    line(kSourceTitles);
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
    for (const RunSourceRow& row : errors.sources) line(cells(row));
  }
  text += "\n";
  for (const RunCategories& one : errors.categories)
    text +=
        fmt::format("* {}, of the measured time: simulated {}; counted {}\n", markdown_cell(one.generation),
                    parts_line(one.simulated, one.measured), parts_line(one.counted, one.measured));
  return text;
}

}  // namespace hlosim
