#include "study/accuracy_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/number_text.h"
#include "base/text.h"
#include "text/entry_fields.h"

namespace hlosim {
namespace {

/// "4 %", "4%" or "0.04".
std::optional<double> share(std::string_view text) {
  const bool percent_text = text.ends_with('%');
  if (percent_text) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0)) return std::nullopt;
  return percent_text ? value / 100 : value;
}

/// A section of the file: where its limits go, and the two keys that each has.
struct Section {
  std::string_view name;
  std::vector<AccuracyLimit> AccuracyLimits::*into;
  struct {
    std::string_view key;
    std::optional<double> AccuracyLimit::*into;
  } keys[2];
};
constexpr Section kSections[] = {
    {"rows", &AccuracyLimits::rows, {{"median", &AccuracyLimit::median}, {"p90", &AccuracyLimit::p90}}},
    {"steps", &AccuracyLimits::steps, {{"error", &AccuracyLimit::error}, {"sum", &AccuracyLimit::sum}}},
    {"ladders",
     &AccuracyLimits::ladders,
     {{"growth", &AccuracyLimit::growth}, {"fixed", &AccuracyLimit::fixed}}},
};

AccuracyLimit read_limit(const Value& value, const Section& section, DiagnosticList& problems) {
  AccuracyLimit limit;
  limit.name = value.key;
  EntryFields fields(
      value, fmt::format("\"{}\": {} or {}", shown(value.key), section.keys[0].key, section.keys[1].key),
      problems);
  for (const auto& [key, into] : section.keys) {
    const Value* item = fields.find(key);
    if (!item) continue;
    limit.*into = item->is_scalar() ? share(item->text) : std::nullopt;
    if (!(limit.*into))
      fields.wrong(key, fmt::format("\"{}\" is a share such as 4 % or 0.04, not {}", key, described(*item)));
  }
  fields.refuse_rest();
  return limit;
}

void hold(std::vector<std::string>& broken, const std::string& name, std::string_view what, double is,
          const std::optional<double>& limit) {
  if (limit && is > *limit)
    broken.push_back(
        fmt::format("{}: {} {}, the limit is {}", name, what, percent_text(is), percent_text(*limit)));
}

}  // namespace

std::optional<AccuracyLimits> read_accuracy_limits(const SourcePtr& source, DiagnosticList& problems) {
  const std::optional<Value> root = parse_yaml(source, problems);
  if (!root) return std::nullopt;
  AccuracyLimits limits;
  EntryFields fields(*root, "limits: rows, steps or ladders", problems);
  for (const Section& section : kSections)
    if (const Value* found = fields.object(section.name))
      for (const Value& one : found->items)
        (limits.*section.into).push_back(read_limit(one, section, problems));
  fields.refuse_rest();
  if (problems.has_errors()) return std::nullopt;
  return limits;
}

std::vector<std::string> broken_limits(const AccuracyLimits& limits, const Accuracy& accuracy,
                                       const std::vector<StepSum>& steps,
                                       const std::vector<Ladder>& ladders) {
  std::vector<std::string> broken;
  for (const AccuracyLimit& limit : limits.rows)
    for (const std::vector<AccuracyRow>* rows : {&accuracy.headlines, &accuracy.kinds, &accuracy.rows})
      for (const AccuracyRow& row : *rows) {
        if (fmt::format("{} {} {} {}", row.device, row.kind, row.scope, row.dtype_class) != limit.name)
          continue;
        hold(broken, limit.name, "median error", row.model.median, limit.median);
        hold(broken, limit.name, "90 % quantile", row.model.p90, limit.p90);
      }
  for (const AccuracyLimit& limit : limits.steps)
    for (const StepSum& step : steps) {
      if (fmt::format("{} {}", step.family, step.device) != limit.name) continue;
      hold(broken, limit.name, "error by time", step.error(), limit.error);
      hold(broken, limit.name, "sum off by", std::abs(step.ratio() - 1), limit.sum);
    }
  for (const AccuracyLimit& limit : limits.ladders)
    for (const Ladder& ladder : ladders) {
      if (fmt::format("{} {}", to_text(ladder.kind), ladder.generation) != limit.name) continue;
      const std::string name = fmt::format("ladder by {} from {}", to_text(ladder.kind), ladder.name);
      hold(broken, name, "growth off by", std::abs(ladder.growth_error()), limit.growth);
      hold(broken, name, "fixed part off by", std::abs(ladder.fixed_error()), limit.fixed);
    }
  return broken;
}

}  // namespace hlosim
