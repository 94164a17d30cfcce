// A comparison of a profile with simulations, for its readers.
//
//   std::cout << to_text(comparison, {.top = 10});
#pragma once

#include <string>
#include <string_view>

#include "measured/comparison.h"

namespace hlosim {

struct ComparisonTextOptions {
  size_t top = 20;  // operations of each program; 0: all
};

std::string to_text(const ProfileComparison& comparison, const ComparisonTextOptions& options);
/// One JSON object, ends in '\n' (docs/profiles.md).
std::string to_json(const ProfileComparison& comparison, std::string_view tool_version);
/// A line per operation of every program.
std::string to_csv(const ProfileComparison& comparison);

}  // namespace hlosim
