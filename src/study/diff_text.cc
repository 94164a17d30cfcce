#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "study/diff.h"
#include "text/escape.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr size_t kNameWidth = 44, kReasonWidth = 100;

/// One line of a list of contributions.
struct Line {
  int64_t amount = 0;
  std::string change, kind, name, reason;
};

/// The largest contributions to a metric, what the others come to, and the rest: together the change.
std::vector<Line> lines_of(const Diff& diff, size_t metric, size_t top) {
  const MetricDiff& total = diff.metrics[metric];
  const MetricUnit unit = total.metric.unit;
  const std::vector<const InstructionDiff*> rows = diff.contributions(metric);
  const size_t shown = top == 0 ? rows.size() : std::min(top, rows.size());
  std::vector<Line> lines;
  for (size_t i = 0; i < shown; ++i)
    lines.push_back({rows[i]->change[metric], change_text(unit, rows[i]->change[metric]),
                     kind_text(diff, *rows[i]), name_text(diff, *rows[i]),
                     reason_text(diff, *rows[i], metric)});
  if (shown < rows.size()) {
    uint64_t others = 0;
    for (size_t i = shown; i < rows.size(); ++i) others += static_cast<uint64_t>(rows[i]->change[metric]);
    lines.push_back(
        {static_cast<int64_t>(others), change_text(unit, static_cast<int64_t>(others)), "",
         fmt::format("{} more (--top=0 shows all)", grouped(static_cast<int64_t>(rows.size() - shown))), ""});
  }
  if (total.rest != 0)
    lines.push_back({total.rest, change_text(unit, total.rest), "", rest_text(total.metric), ""});
  return lines;
}

/// Of metrics but time, only what changed as a whole is taken apart.
bool has_contributions(const Diff& diff, size_t metric) {
  const MetricDiff& total = diff.metrics[metric];
  if (total.change() != 0 || total.metric.name != "time") return total.change() != 0;
  return total.rest != 0 || std::any_of(diff.instructions.begin(), diff.instructions.end(),
                                        [&](const InstructionDiff& row) { return row.change[metric] != 0; });
}

std::string counts(const Diff& diff) {
  size_t added = 0, removed = 0, renamed = 0, moved = 0, edited = 0, same = 0;
  for (const InstructionDiff& row : diff.instructions) {
    if (row.before < 0)
      ++added;
    else if (row.after < 0)
      ++removed;
    else {
      renamed += row.renamed;
      moved += row.moved;
      edited += row.edited;
      same += !row.renamed && !row.moved && !row.edited;
    }
  }
  return fmt::format("{} the same, {} changed, {} moved, {} renamed, {} added, {} removed", same, edited,
                     moved, renamed, added, removed);
}

std::string titles(const Metrics& figures) {
  return one_line(figures.module_file.empty()
                      ? figures.module_name
                      : fmt::format("{} ({})", figures.module_name, figures.module_file));
}

std::vector<std::string> notes(const Diff& diff) {
  std::vector<std::string> notes;
  if (!diff.same_device)
    notes.push_back(fmt::format("not the same device: {} ({}) and {} ({})", diff.before->device_name,
                                diff.before->device_fingerprint, diff.after->device_name,
                                diff.after->device_fingerprint));
  if (!diff.same_model)
    notes.push_back(fmt::format("not the same model: version {} and {}",
                                diff.before->model_version.value_or(0),
                                diff.after->model_version.value_or(0)));
  return notes;
}

/// Of every metric less is better.
std::string painted(const Paint& paint, int64_t change, std::string_view text) {
  return change > 0 ? paint.bad(text) : change < 0 ? paint.good(text) : std::string(text);
}

}  // namespace

std::string to_text(const Diff& diff, const DiffTextOptions& options) {
  std::string out;
  const TextBuilder print{out};
  const Paint& paint = options.paint;
  print("{}\n", paint.strong(fmt::format("{} → {} on {}", titles(*diff.before), titles(*diff.after),
                                         one_line(diff.after->device_name))));
  for (const std::string& note : notes(diff)) print("{}\n", paint.warning(one_line(note)));
  Table totals({{"metric", Align::kLeft}, {"before"}, {"after"}, {"change"}, {""}});
  for (const MetricDiff& metric : diff.metrics) {
    if (metric.before == 0 && metric.after == 0) continue;
    const MetricUnit unit = metric.metric.unit;
    totals.add_painted(
        {metric.metric.name, amount_text(unit, metric.before), amount_text(unit, metric.after),
         metric.change() == 0 ? "same" : painted(paint, metric.change(), change_text(unit, metric.change())),
         metric.change() == 0 ? ""
                              : painted(paint, metric.change(), percent_text(metric.before, metric.after))});
  }
  print("\n{}\n  instructions  {}\n", totals.text("  "), counts(diff));
  bool any = false;
  for (size_t m = 0; m < diff.metrics.size(); ++m) {
    if (!has_contributions(diff, m)) continue;
    any = true;
    const MetricDiff& metric = diff.metrics[m];
    print("\n{}: {}\n", metric.metric.name,
          metric.change() == 0 ? "the sum stays"
                               : "adds up to " + painted(paint, metric.change(),
                                                         change_text(metric.metric.unit, metric.change())));
    Table rows({{"change"},
                {"kind", Align::kLeft},
                {"instruction", Align::kLeft, kNameWidth},
                {"why", Align::kLeft, kReasonWidth}});
    for (Line& line : lines_of(diff, m, options.top))
      rows.add_painted({painted(paint, line.amount, line.change), line.kind,
                        shown(line.name, line.name.size()), shown(line.reason, line.reason.size())});
    print("{}", rows.text("  "));
  }
  if (!any) print("\nNothing that is counted changed.\n");
  return printable(std::move(out), paint.on);
}

std::string to_markdown(const Diff& diff, const DiffTextOptions& options) {
  std::string out;
  const TextBuilder print{out};
  print("### {} → {} on {}\n\n", markdown_cell(titles(*diff.before)), markdown_cell(titles(*diff.after)),
        markdown_cell(diff.after->device_name));
  for (const std::string& note : notes(diff)) print("**{}**\n\n", markdown_cell(note));
  print("| metric | before | after | change | |\n| --- | ---: | ---: | ---: | ---: |\n");
  for (const MetricDiff& metric : diff.metrics) {
    if (metric.before == 0 && metric.after == 0) continue;
    const MetricUnit unit = metric.metric.unit;
    print("| {} | {} | {} | {} | {} |\n", markdown_cell(metric.metric.name), amount_text(unit, metric.before),
          amount_text(unit, metric.after), metric.change() == 0 ? "same" : change_text(unit, metric.change()),
          metric.change() == 0 ? "" : percent_text(metric.before, metric.after));
  }
  print("\nInstructions: {}.\n", counts(diff));
  for (size_t m = 0; m < diff.metrics.size(); ++m) {
    if (!has_contributions(diff, m)) continue;
    const MetricDiff& metric = diff.metrics[m];
    print(
        "\n<details{}><summary>{}: {}</summary>\n\n| change | kind | instruction | why |\n| ---: | --- | --- "
        "| --- |\n",
        m == 0 ? " open" : "", markdown_cell(metric.metric.name),
        change_text(metric.metric.unit, metric.change()));
    for (Line& line : lines_of(diff, m, options.top))
      print("| {} | {} | {} | {} |\n", line.change, line.kind,
            line.kind.empty() ? markdown_cell(line.name) : markdown_code(line.name),
            markdown_cell(line.reason));
    print("\n</details>\n");
  }
  return out;
}

}  // namespace hlosim
