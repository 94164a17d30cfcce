#include "report/report_advice.h"

#include <fmt/format.h>

namespace hlosim {

std::string advice_headline(const std::vector<ReportAdvice>& advice) {
  if (advice.empty()) return "no change that was tried pays";
  const ReportAdvice& first = advice.front();
  std::string text = fmt::format("{}: {}", first.saving, first.change);
  if (!first.place.empty()) text += fmt::format(" ({})", first.place);
  if (advice.size() > 1) text += fmt::format("; `hlosim advise` lists {} more", advice.size() - 1);
  return text;
}

}  // namespace hlosim
