// Advice for people and for programs.
//
//   streams.out << advice_text(report, {.top = 20, .command = "hlosim advise step.hlo --device=v6e"});
#pragma once

#include <cstddef>
#include <string>

#include "advise/advise.h"
#include "base/paint.h"

namespace hlosim {

struct AdviceTextOptions {
  size_t top = 20;  // pieces of advice; 0: all
  Paint paint{};
};

std::string advice_text(const AdviceReport& report, const AdviceTextOptions& options);
/// Everything, in base units.
std::string advice_json(const AdviceReport& report);

/// "saves 215 ms (5.1 %): …", for the head of a report; empty without advice.
std::string advice_headline(const AdviceReport& report);

}  // namespace hlosim
