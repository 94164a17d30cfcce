#include <algorithm>
#include <map>

#include "base/number_text.h"
#include "base/text.h"
#include "study/accuracy.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string factor(double q) { return q < 100 ? fmt::format("{:.2f}", q) : fmt::format("{:.0f}", q); }

std::vector<std::string> titles(bool roofline) {
  std::vector<std::string> result = {"device", "kind", "scope", "types", "n",
                                     "median", "p90",  "bias",  "q",     "worst q"};
  if (roofline) result.insert(result.end(), {"roofline median", "p90", "q"});
  return result;
}

/// How many of them are names.
constexpr size_t kNames = 4;

std::vector<std::string> cells(const AccuracyRow& row, bool roofline) {
  const auto count = row.model.count == row.cases ? std::to_string(row.cases)
                                                  : fmt::format("{} of {}", row.model.count, row.cases);
  std::vector<std::string> result = {row.device, row.kind, row.scope, row.dtype_class, count};
  if (row.model.count > 0)
    result.insert(result.end(),
                  {percent_text(row.model.median), percent_text(row.model.p90), percent_text(row.model.bias),
                   factor(row.model.q), factor(row.model.worst_q)});
  else
    result.insert(result.end(), 5, "-");
  if (!roofline) return result;
  if (row.roofline.count > 0)
    result.insert(result.end(), {percent_text(row.roofline.median), percent_text(row.roofline.p90),
                                 factor(row.roofline.q)});
  else
    result.insert(result.end(), 3, "-");
  return result;
}

std::string text_table(const std::vector<AccuracyRow>& rows, bool roofline) {
  std::vector<Column> columns;
  for (const std::string& title : titles(roofline))
    columns.push_back({title, columns.size() < kNames ? Align::kLeft : Align::kRight});
  Table table(columns);
  for (const AccuracyRow& row : rows) table.add(cells(row, roofline));
  return table.text("  ");
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + markdown_cell(cell) + " |";
  return line + "\n";
}

std::string markdown_table(const std::vector<AccuracyRow>& rows, bool roofline) {
  const std::vector<std::string> head = titles(roofline);
  std::string text = markdown_line(head) + "|";
  for (size_t i = 0; i < head.size(); ++i) text += i < kNames ? " --- |" : " ---: |";
  text += "\n";
  for (const AccuracyRow& row : rows) text += markdown_line(cells(row, roofline));
  return text;
}

std::string time_text(double us) { return fmt::format("{:.4g} us", us); }

std::vector<std::string> case_cells(const Accuracy& accuracy, size_t i) {
  const MeasuredCase& one = accuracy.cases[i];
  const double predicted = *accuracy.predictions[i].us;
  return {one.id,
          one.scope,
          one.dtype_class,
          time_text(one.time_us),
          time_text(predicted),
          factor(predicted / one.time_us)};
}

constexpr const char* kCaseTitles[] = {"case", "scope", "types", "measured", "predicted", "ratio"};

/// Reasons why there is no prediction, with how often and for which case first.
std::vector<std::pair<std::string, std::pair<size_t, std::string>>> reasons(const Accuracy& accuracy) {
  std::map<std::string, std::pair<size_t, std::string>> found;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    if (accuracy.predictions[i].us) continue;
    auto& [count, example] = found[accuracy.predictions[i].reason];
    if (count++ == 0) example = accuracy.cases[i].id;
  }
  return {found.begin(), found.end()};
}

std::map<std::string, size_t> other_flags(const Accuracy& accuracy) {
  std::map<std::string, size_t> found;
  for (const MeasuredCase& one : accuracy.cases)
    for (const std::string& flag : one.other_flags) ++found[flag];
  return found;
}

}  // namespace

std::string to_text(const Accuracy& accuracy, const AccuracyOutput& output) {
  std::string text;
  const TextBuilder print{text};
  print("{} {}; errors relative to the measured time\n\n", accuracy.cases.size(),
        accuracy.cases.size() == 1 ? "case" : "cases");
  text += text_table(accuracy.headlines, output.roofline);
  print("\nby kind\n\n{}\nby device\n\n{}", text_table(accuracy.kinds, output.roofline),
        text_table(accuracy.rows, output.roofline));
  const std::vector<size_t> worst = worst_cases(accuracy, output.worst);
  if (!worst.empty()) {
    Table table({{kCaseTitles[0], Align::kLeft},
                 {kCaseTitles[1], Align::kLeft},
                 {kCaseTitles[2], Align::kLeft},
                 {kCaseTitles[3]},
                 {kCaseTitles[4]},
                 {kCaseTitles[5]}});
    for (const size_t i : worst) table.add(case_cells(accuracy, i));
    print("\nfarthest off\n\n{}", table.text("  "));
  }
  const auto failed = reasons(accuracy);
  if (!failed.empty()) print("\nwithout a prediction\n\n");
  for (const auto& [reason, where] : failed) print("  {} x {} ({})\n", where.first, reason, where.second);
  const auto flags = other_flags(accuracy);
  if (!flags.empty()) print("\nflags that change nothing here\n\n");
  for (const auto& [flag, count] : flags) print("  {} x {}\n", count, flag);
  text += output.steps + output.program;
  return printable(std::move(text));
}

std::string to_markdown(const Accuracy& accuracy, const AccuracyOutput& output) {
  std::string text;
  const TextBuilder print{text};
  print("# Simulated against measured times\n\n");
  print(
      "{}, {} cases, by {}. Errors are relative to the measured time; q = max(predicted / measured, "
      "measured / predicted), its median and its worst; bias is the median of predicted / measured - 1. The "
      "roofline is max(FLOPs / bf16 peak, bytes of arguments and results / HBM bandwidth).\n\n",
      output.date, accuracy.cases.size(), markdown_code(output.command));
  print("![predicted over measured](accuracy.svg)\n\n{}\n", markdown_table(accuracy.headlines, true));
  print("## By kind\n\n{}\n", markdown_table(accuracy.kinds, true));
  print("## By device\n\n{}\n", markdown_table(accuracy.rows, true));
  const std::vector<size_t> worst = worst_cases(accuracy, output.worst);
  if (!worst.empty()) {
    print("## Farthest off\n\n");
    text += markdown_line({std::begin(kCaseTitles), std::end(kCaseTitles)}) +
            "| --- | --- | --- | ---: | ---: | ---: |\n";
    for (const size_t i : worst) text += markdown_line(case_cells(accuracy, i));
  }
  const auto failed = reasons(accuracy);
  if (!failed.empty()) print("\n## Without a prediction\n\n");
  for (const auto& [reason, where] : failed)
    print("* {} × {} ({})\n", where.first, markdown_cell(reason), markdown_cell(where.second));
  if (!output.steps.empty()) print("\n## Steps and tables, by time\n{}", output.steps);
  text += output.program;
  const auto flags = other_flags(accuracy);
  if (!flags.empty()) print("\n## Flags that change nothing here\n\n");
  for (const auto& [flag, count] : flags) print("* {} × {}\n", count, markdown_code(flag));
  return text;
}

}  // namespace hlosim
