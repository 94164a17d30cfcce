#include "cli/tune/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/number_text.h"
#include "base/text.h"

namespace hlosim {

Result<double> budget_seconds(const std::string& text, std::string_view option) {
  std::string number = text;
  double factor = 1;
  for (const auto& [unit, seconds] : {std::pair{"ms", 1e-3}, std::pair{"s", 1.0}, std::pair{"min", 60.0}})
    if (number.size() > std::string_view(unit).size() && number.ends_with(unit)) {
      number.erase(number.size() - std::string_view(unit).size());
      factor = seconds;
      break;
    }
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (is_number_beyond(number, 1e6))
    return failure(fmt::format("{}: '{}' is out of range: expected a time from 0 to 1e6{}", option,
                               shown(text), text.substr(number.size())));
  if (number.empty() || *end != '\0' || !(value >= 0))
    return failure(fmt::format("{}: '{}' is not a time", option, text), "as in 10s, 500ms or 2min");
  return value * factor;
}

double left_for_search(double budget, double passed) {
  constexpr double kLeast = 1e-9;
  if (budget <= 0) return 0;
  return std::max(budget - passed - std::min(passed, budget / 10), kLeast);
}

}  // namespace hlosim
