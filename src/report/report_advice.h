// Changes that were tried and pay, as a report shows them (`hlosim report --advise`; advise/advise.h finds
// them).
//
//   line("advice", "{}", advice_headline(advice));
#pragma once

#include <string>
#include <vector>

#include "base/units.h"

namespace hlosim {

/// One change.
struct ReportAdvice {
  std::string saving;   // "saves 215 ms (5.1 %)"
  std::string problem;  // "transpose.3 rearranges the weight w in every step"
  std::string change;   // in the words of JAX, Pallas, XLA flags
  std::string place;    // "attention.py:212, dot.3 (line 8)"; empty: the program as a whole
  Picoseconds saved{};
};

/// The first of them in one line, and how many others there are; of none, that nothing pays.
std::string advice_headline(const std::vector<ReportAdvice>& advice);

}  // namespace hlosim
