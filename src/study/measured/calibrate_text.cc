#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "base/value.h"
#include "measured/calibrate.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr size_t kNamed = 12;

std::vector<std::string> error_cells(const char* name, const ErrorSummary& one) {
  return {name, percent_text(one.median), percent_text(one.p90), fmt::format("{:+.1f} %", one.bias * 100),
          fmt::format("{:.2f}", one.worst_q)};
}

std::string source_text(const Calibration& calibration, const CalibrationSource& source,
                        const FittedConstant& one) {
  return fmt::format(
      "calibrated: {} of {} cases of {}; was {}; +- {}; median error {}, {} before, {} cross-validated",
      one.cases, calibration.cases, source.data, one.constant.text(), percent_text(one.standard_error),
      percent_text(calibration.after.median), percent_text(calibration.before.median),
      percent_text(calibration.cross_validated.median));
}

/// Lines of one section and those below it; `fitted` in the order of their paths.
void append_section(std::string& out, std::vector<const FittedConstant*>::const_iterator begin,
                    std::vector<const FittedConstant*>::const_iterator end, size_t skip, size_t depth,
                    const Calibration& calibration, const CalibrationSource& source) {
  while (begin != end) {
    const std::string_view path = std::string_view((*begin)->constant.path).substr(skip);
    const size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    out.append(2 * depth, ' ');
    if (dot == std::string_view::npos) {
      out += fmt::format("{}: {{value: {}, source: {}}}\n", key, (*begin)->value_text(),
                         yaml_quoted(source_text(calibration, source, **begin)));
      ++begin;
      continue;
    }
    out += fmt::format("{}:\n", key);
    const auto next = std::find_if(begin, end, [&](const FittedConstant* one) {
      const std::string_view other = std::string_view(one->constant.path).substr(skip);
      return other.substr(0, other.find('.')) != key || other.find('.') == std::string_view::npos;
    });
    append_section(out, begin, next, skip + dot + 1, depth + 1, calibration, source);
    begin = next;
  }
}

}  // namespace

std::string to_text(const Calibration& calibration, const CalibrationSource& source) {
  std::string out;
  const TextBuilder print{out};
  print("{}: {} cases of {}\n", source.name, calibration.cases, source.data);
  if (!calibration.unpredicted.empty())
    print("{} more without a prediction, {} the first\n", calibration.unpredicted.size(),
          calibration.unpredicted.front());
  Table fitted({{"constant", Align::kLeft}, {"was"}, {"is"}, {"factor"}, {"+-"}, {"cases that it moves"}});
  for (const FittedConstant& one : calibration.fitted)
    fitted.add({one.constant.path, one.constant.text(), one.value_text(), fmt::format("{:.4f}", one.factor),
                percent_text(one.standard_error), fmt::format("{}", one.cases)});
  if (fitted.empty())
    print("\nno constant is determined by these cases: all stay as they are\n");
  else
    print("\n{}", fitted.text("  "));
  Table errors({{"", Align::kLeft}, {"median error"}, {"90 % of the cases"}, {"bias"}, {"worst q"}});
  errors.add(error_cells("before", calibration.before));
  errors.add(error_cells("after", calibration.after));
  errors.add(error_cells(fmt::format("cross-validated, {} folds", calibration.folds).c_str(),
                         calibration.cross_validated));
  print("\n{}", errors.text("  "));
  Table rest({{"stays as it is", Align::kLeft},
              {"value"},
              {"1 % of it moves a case by"},
              {"cases"},
              {"why", Align::kLeft}});
  std::vector<std::string> idle;
  for (const UndeterminedConstant& one : calibration.undetermined) {
    if (one.cases == 0)
      idle.push_back(one.constant.path);
    else
      rest.add({one.constant.path, one.constant.text(), fmt::format("{:.3f} %", one.sensitivity),
                fmt::format("{}", one.cases), one.reason});
  }
  if (!rest.empty()) print("\n{}", rest.text("  "));
  if (idle.empty()) return out;
  const size_t named = std::min(kNamed, idle.size());
  print("\n  move no case: {}{}\n",
        fmt::join(idle.begin(), idle.begin() + static_cast<std::ptrdiff_t>(named), ", "),
        named < idle.size() ? fmt::format(", and {} more", idle.size() - named) : "");
  return out;
}

std::string to_yaml(const Calibration& calibration, const CalibrationSource& source) {
  std::string out =
      fmt::format("# Fitted by `{}` to {} cases of {}.\n", source.command, calibration.cases, source.data);
  out += fmt::format(
      "# Median error {} before, {} after, {} on cases left out ({} folds); 90 % of the cases {}, {} and "
      "{}.\n",
      percent_text(calibration.before.median), percent_text(calibration.after.median),
      percent_text(calibration.cross_validated.median), calibration.folds,
      percent_text(calibration.before.p90), percent_text(calibration.after.p90),
      percent_text(calibration.cross_validated.p90));
  out += fmt::format("extends: {}\nname: {}\n", source.device, yaml_quoted(source.name + ", calibrated"));
  std::vector<const FittedConstant*> rows;
  for (const FittedConstant& one : calibration.fitted) rows.push_back(&one);
  std::sort(rows.begin(), rows.end(), [](const FittedConstant* a, const FittedConstant* b) {
    return a->constant.path < b->constant.path;
  });
  append_section(out, rows.begin(), rows.end(), 0, 0, calibration, source);
  return out;
}

}  // namespace hlosim
