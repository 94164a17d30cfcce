#include "study/accuracy_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/number_text.h"
#include "base/text.h"
#include "base/value.h"

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

class Reader {
 public:
  explicit Reader(DiagnosticList& problems) : problems_(problems) {}

  /// What the limits of a section are called, and where they go.
  struct Keys {
    std::string_view first, second;
    std::optional<double> AccuracyLimit::*into_first;
    std::optional<double> AccuracyLimit::*into_second;
  };

  void section(const Value& value, const Keys& keys, std::vector<AccuracyLimit>& into) {
    if (!value.is_map())
      return wrong(value, fmt::format("'{}' is a section of limits, not {}", value.key, described(value)));
    for (const Value& one : value.items) {
      AccuracyLimit limit;
      limit.name = one.key;
      if (!one.is_map()) {
        wrong(one,
              fmt::format("the limits of '{}' are keys and shares, not {}", shown(one.key), described(one)));
        continue;
      }
      for (const Value& item : one.items)
        read(item, keys.first, limit.*keys.into_first, keys.second, limit.*keys.into_second);
      into.push_back(std::move(limit));
    }
  }

  void wrong(const Value& value, std::string message, std::string hint = {}) {
    problems_.add(error_at(value, std::move(message), std::move(hint)));
  }

 private:
  void read(const Value& item, std::string_view first, std::optional<double>& into, std::string_view second,
            std::optional<double>& into_second) {
    if (item.key != first && item.key != second) {
      problems_.add(error_at_key(
          item, fmt::format("'{}' is not a limit here: {} or {}", shown(item.key), first, second)));
      return;
    }
    const std::optional<double> value = item.is_scalar() ? share(item.text) : std::nullopt;
    if (!value)
      return wrong(
          item, fmt::format("'{}': expected a share such as 4 % or 0.04, not {}", item.key, described(item)));
    (item.key == first ? into : into_second) = value;
  }

  DiagnosticList& problems_;
};

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
  Reader reader(problems);
  if (!root->is_map())
    reader.wrong(*root,
                 fmt::format("limits are sections 'rows', 'steps' and 'ladders', not {}", described(*root)));
  for (const Value& section : root->items) {
    if (section.key == "rows")
      reader.section(section, {"median", "p90", &AccuracyLimit::median, &AccuracyLimit::p90}, limits.rows);
    else if (section.key == "steps")
      reader.section(section, {"error", "sum", &AccuracyLimit::error, &AccuracyLimit::sum}, limits.steps);
    else if (section.key == "ladders")
      reader.section(section, {"growth", "fixed", &AccuracyLimit::growth, &AccuracyLimit::fixed},
                     limits.ladders);
    else
      problems.add(error_at_key(
          section,
          fmt::format("'{}' is not a section of limits: rows, steps or ladders", shown(section.key))));
  }
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
