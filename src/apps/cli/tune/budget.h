// Times that the line gives a search, each with its unit: --budget=500ms.
//
//   const Result<double> seconds = budget_seconds("2min");                 // 120
#pragma once

#include <string>
#include <string_view>

#include "base/source.h"

namespace hlosim {

/// ms, s or min; a number alone is seconds. 0: no limit. Errors, which name the `option`: what is no time
/// from 0 on.
Result<double> budget_seconds(const std::string& text, std::string_view option = "--budget");

/// What a search may take of `budget` seconds, 0 of no limit, when `passed` are over: reading the module, and
/// lowering it. The module that is made is written and read again, which takes about as long as that; at most
/// a tenth of the budget is kept for it. Always above 0 where there is a limit.
double left_for_search(double budget, double passed);

}  // namespace hlosim
