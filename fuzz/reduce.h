// The smallest input that still shows a fault.
//
//   const auto fails = [&](const std::string& smaller) { return still_fails(smaller); };
//   const std::string small = reduced(text, fails);
#pragma once

#include <functional>
#include <string>

namespace hlosim::fuzz {

/// Leaves out computations, instructions, lines, tokens; makes operands and numbers simpler. `shows`: the
/// fault is still there. Stops after `most_tries` calls of it.
std::string reduced(std::string text, const std::function<bool(const std::string&)>& shows,
                    size_t most_tries);

}  // namespace hlosim::fuzz
