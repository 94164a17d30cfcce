// Times that the line gives a search, each with its unit: --budget=500ms.
//
//   const Result<double> seconds = budget_seconds("2min");                 // 120
#pragma once

#include <string>

#include "base/source.h"

namespace hlosim {

/// ms, s or min; a number alone is seconds. Errors: what is no time from 0 on.
Result<double> budget_seconds(const std::string& text);

}  // namespace hlosim
