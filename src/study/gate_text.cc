#include <fmt/format.h>

#include "base/text.h"
#include "report/report_members.h"
#include "study/gate.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string plural(size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string where(const GateModule& module) {
  return fmt::format("{} on {}", module.run->title(), module.run->device);
}

/// The same between other words: a name may not begin a line, which in a job's log may be a command.
std::string shown_where(const GateModule& module) { return one_line(where(module)); }

std::string headline(const GateResult& result) {
  size_t rows = 0;
  for (const GateModule& module : result.modules) rows += module.rows.size();
  std::string text = fmt::format("{}, {}: ", plural(result.modules.size(), "run"), plural(rows, "number"));
  bool first = true;
  for (const Verdict verdict :
       {Verdict::kRegressed, Verdict::kNotComparable, Verdict::kNew, Verdict::kImproved, Verdict::kPassed}) {
    const size_t count = result.count(verdict);
    if (count == 0 && verdict != Verdict::kPassed) continue;
    text += fmt::format("{}{} {}", first ? "" : ", ", count, to_text(verdict));
    first = false;
  }
  if (!result.gone.empty()) text += fmt::format("; {} gone", plural(result.gone.size(), "run"));
  if (!result.errors.empty()) text += fmt::format("; {}", plural(result.errors.size(), "error"));
  return text;
}

std::string verdict_of(const GateResult& result) {
  switch (result.exit_code()) {
    case 0:
      return "passed";
    case 1:
      return "failed";
  }
  return result.errors.empty() ? "failed: the baseline can't be compared with" : "failed: wrong input";
}

/// What the reader should do.
std::vector<std::string> advice(const GateResult& result) {
  std::vector<std::string> lines;
  if (!result.has_baseline)
    lines.emplace_back("there is no baseline yet: --update-baseline makes one");
  else if (result.count(Verdict::kNotComparable) + result.count(Verdict::kNew) + result.gone.size() > 0)
    lines.emplace_back("--update-baseline makes the present numbers the baseline");
  else if (result.count(Verdict::kImproved) > 0)
    lines.emplace_back("better than the baseline: --update-baseline keeps what was won");
  for (const GateModule& module : result.modules)
    if (module.verdict == Verdict::kRegressed && !module.advice) {
      lines.push_back(fmt::format("hlosim advise {} --device={} tries changes that may win it back",
                                  one_line(module.run->path), one_line(module.run->device)));
      break;
    }
  return lines;
}

std::string place_of(const Culprit& culprit) {
  std::string place = culprit.line > 0 ? fmt::format(" (line {})", culprit.line) : "";
  if (!culprit.source_file.empty())
    place += fmt::format(" {}:{}", one_line(culprit.source_file), culprit.source_line);
  return place;
}

Json culprit_json(const Culprit& culprit) {
  return {{"instruction", culprit.name},
          {"kind", culprit.kind},
          {"change", culprit.change},
          {"reason", culprit.reason},
          {"line", culprit.line > 0 ? Json(culprit.line) : Json(nullptr)},
          {"source_file", culprit.source_file.empty() ? Json(nullptr) : Json(culprit.source_file)},
          {"source_line", culprit.source_line > 0 ? Json(culprit.source_line) : Json(nullptr)}};
}

Json module_json(const GateModule& module) {
  Json rows = Json::array();
  for (const GateRow& row : module.rows) {
    Json culprits = Json::array();
    for (const Culprit& culprit : row.culprits) culprits.push_back(culprit_json(culprit));
    rows.push_back({{"metric", row.metric.name},
                    {"unit", std::string(to_text(row.metric.unit))},
                    {"before", row.before ? Json(*row.before) : Json(nullptr)},
                    {"after", row.after},
                    {"limit", row.limit},
                    {"verdict", std::string(to_text(row.verdict))},
                    {"note", row.note.empty() ? Json(nullptr) : Json(row.note)},
                    {"instructions", std::move(culprits)}});
  }
  Json advice = nullptr;
  if (module.advice) {
    advice = Json::array();
    for (const ReportAdvice& one : *module.advice) advice.push_back(JsonOf<ReportAdvice>::json(one));
  }
  return {{"file", module.run->path},
          {"module", module.run->figures.module_name},
          {"device", module.run->device},
          {"verdict", std::string(to_text(module.verdict))},
          {"reason", module.reason.empty() ? Json(nullptr) : Json(module.reason)},
          {"metrics", std::move(rows)},
          {"advice", std::move(advice)}};
}

std::string printed(const Json& json) { return json.dump(1) + "\n"; }

}  // namespace

std::string row_text(const GateRow& row) {
  const MetricUnit unit = row.metric.unit;
  std::string text = row.metric.name + " ";
  if (row.before && *row.before != row.after) {
    const std::string percent = percent_text(*row.before, row.after);
    text += fmt::format("{} → {}, {}{}", amount_text(unit, *row.before), amount_text(unit, row.after),
                        change_text(unit, row.after - *row.before),
                        percent.empty() ? "" : fmt::format(" ({})", percent));
  } else {
    text += amount_text(unit, row.after);
  }
  text += fmt::format(", limit {}", row.limit);
  if (!row.note.empty()) text += "; " + row.note;
  return text;
}

std::string advice_text(const GateModule& module, const GateRow& row) {
  if (!module.advice || row.metric.name != "time" || row.verdict != Verdict::kRegressed) return {};
  return "to win it back: " + one_line(advice_headline(*module.advice));
}

std::string to_text(const GateResult& result, Paint paint) {
  std::string out;
  const TextBuilder print{out};
  for (const GateModule& module : result.modules) {
    for (const GateRow& row : module.rows) {
      if (row.verdict == Verdict::kRegressed) {
        print("{}       {}: {}\n", paint.bad("regressed"), shown_where(module), row_text(row));
        for (const Culprit& culprit : row.culprits)
          print("                  {} {}: {}{}{}\n", culprit.change, culprit.kind, culprit.name,
                place_of(culprit), culprit.reason.empty() ? "" : "; " + culprit.reason);
        if (const std::string advice = advice_text(module, row); !advice.empty())
          print("                  {}\n", advice);
      } else if (row.verdict == Verdict::kImproved) {
        print("{}        {}: {}\n", paint.good("improved"), shown_where(module), row_text(row));
      }
    }
    if (!module.reason.empty() && module.verdict != Verdict::kPassed)
      print("{} {}: {}\n", paint.warning(fmt::format("{:<15}", module.before ? "not comparable" : "new")),
            shown_where(module), one_line(module.reason));
  }
  const bool gone_fails = result.on_gone == GatePolicy::kFail;
  for (const GateGone& gone : result.gone)
    print(
        "{} {}: the baseline has it\n",
        gone_fails ? paint.bad(fmt::format("{:<15}", "gone")) : paint.warning(fmt::format("{:<15}", "gone")),
        one_line(gone.text()));
  for (const GateError& error : result.errors)
    print("{}           {}{}{}{}: {}\n", paint.bad("error"), one_line(error.file),
          error.line > 0 ? fmt::format(":{}", error.line) : "", error.device.empty() ? "" : " on ",
          one_line(error.device), one_line(error.message));
  const std::string verdict = verdict_of(result);
  print("{}: {}\n", result.exit_code() == 0 ? paint.good(verdict) : paint.bad(verdict), headline(result));
  for (const std::string& line : advice(result)) print("  hint: {}\n", line);
  return printable(std::move(out), paint.on);
}

std::string to_markdown(const GateResult& result) {
  std::string out;
  const TextBuilder print{out};
  print("### hlosim gate {}\n\n{}\n", verdict_of(result), headline(result));
  const auto table = [&](Verdict verdict, std::string_view title) {
    if (result.count(verdict) == 0) return;
    print(
        "\n#### {}\n\n| module | device | metric | baseline | now | change | limit | because of |\n"
        "| --- | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
        title);
    for (const GateModule& module : result.modules)
      for (const GateRow& row : module.rows) {
        if (row.verdict != verdict) continue;
        const MetricUnit unit = row.metric.unit;
        std::string because = markdown_cell(row.note);
        for (const Culprit& culprit : row.culprits)
          because += fmt::format("{}{} {}{}", because.empty() ? "" : "; ", markdown_code(culprit.name),
                                 culprit.change, markdown_cell(place_of(culprit)));
        if (const std::string advice = advice_text(module, row); !advice.empty())
          because += (because.empty() ? "" : "; ") + markdown_cell(advice);
        const std::string percent = row.before ? percent_text(*row.before, row.after) : "";
        print("| {} | {} | {} | {} | {} | {}{} | {} | {} |\n", markdown_cell(module.run->title()),
              markdown_cell(module.run->device), markdown_cell(row.metric.name),
              row.before ? amount_text(unit, *row.before) : "", amount_text(unit, row.after),
              row.before ? change_text(unit, row.after - *row.before) : "",
              percent.empty() ? "" : fmt::format(" ({})", percent), markdown_cell(row.limit), because);
      }
  };
  table(Verdict::kRegressed, "Regressions");
  table(Verdict::kImproved, "Improvements");
  bool first = true;
  const auto item = [&](const std::string& text) {
    print("{}- {}\n", first ? "\n" : "", markdown_cell(text));
    first = false;
  };
  for (const GateModule& module : result.modules)
    if (!module.reason.empty() && module.verdict != Verdict::kPassed)
      item(
          fmt::format("{} {}: {}", module.before ? "Not comparable:" : "New:", where(module), module.reason));
  for (const GateGone& gone : result.gone) item(fmt::format("Gone: {}", gone.text()));
  for (const GateError& error : result.errors) item(fmt::format("Error: {}: {}", error.file, error.message));
  for (const std::string& line : advice(result)) item(line);
  return out;
}

std::string to_json(const GateResult& result, std::string_view tool_version) {
  Json modules = Json::array(), gone = Json::array(), errors = Json::array();
  for (const GateGone& one : result.gone) gone.push_back(one.text());
  for (const GateModule& module : result.modules) modules.push_back(module_json(module));
  for (const GateError& error : result.errors)
    errors.push_back({{"file", error.file},
                      {"device", error.device.empty() ? Json(nullptr) : Json(error.device)},
                      {"line", error.line > 0 ? Json(error.line) : Json(nullptr)},
                      {"message", error.message}});
  return printed({{"schema_version", 1},
                  {"tool", {{"name", "hlosim"}, {"version", std::string(tool_version)}}},
                  {"exit_code", result.exit_code()},
                  {"modules", std::move(modules)},
                  {"gone", std::move(gone)},
                  {"errors", std::move(errors)}});
}

std::string to_benchmark_json(const GateResult& result) {
  Json rows = Json::array();
  for (const GateModule& module : result.modules)
    for (const GateRow& row : module.rows)
      rows.push_back(
          {{"name", fmt::format("{} / {}", where(module), row.metric.name)},
           {"unit", std::string(to_text(row.metric.unit))},
           {"value", row.after},
           {"extra", fmt::format("simulated; module {}, device {}", module.run->figures.module_fingerprint,
                                 module.run->figures.device_fingerprint)}});
  return printed(rows);
}

std::string to_bencher_json(const GateResult& result) {
  Json all = Json::object();
  for (const GateModule& module : result.modules) {
    Json& one = all[where(module)];
    one = Json::object();
    for (const GateRow& row : module.rows) {
      const bool is_time = row.metric.name == "time";
      std::string measure = is_time ? "latency" : row.metric.name;
      for (char& c : measure)
        if (c == '_' || c == '.') c = '-';
      if (is_time)
        one[measure] = {{"value", static_cast<double>(row.after) / 1000}};
      else
        one[measure] = {{"value", row.after}};
    }
  }
  return printed(all);
}

}  // namespace hlosim
