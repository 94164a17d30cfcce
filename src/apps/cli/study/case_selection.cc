#include "cli/study/case_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace hlosim {
namespace {

/// What --only accepts, and how a case answers.
struct Selector {
  std::string_view key;
  std::string (*of)(const MeasuredCase&);
};

constexpr Selector kSelectors[] = {
    {"device", [](const MeasuredCase& one) { return one.device; }},
    {"kind", [](const MeasuredCase& one) { return one.kind; }},
    {"scope", [](const MeasuredCase& one) { return one.scope; }},
    {"dtype_class", [](const MeasuredCase& one) { return one.dtype_class; }},
    {"family", [](const MeasuredCase& one) { return one.family; }},
    {"core", [](const MeasuredCase& one) { return std::string(one.core ? "true" : "false"); }},
    {"id", [](const MeasuredCase& one) { return one.id; }},
};

}  // namespace

Result<CaseSelection> CaseSelection::parse(const std::vector<std::string>& texts) {
  CaseSelection selection;
  selection.wanted_.resize(std::size(kSelectors));
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const auto found = std::find_if(std::begin(kSelectors), std::end(kSelectors),
                                    [&](const Selector& one) { return one.key == key; });
    std::vector<std::string_view> names;
    for (const Selector& one : kSelectors) names.push_back(one.key);
    if (equals == std::string::npos || found == std::end(kSelectors))
      return failure(
          fmt::format("--only: '{}' is not KEY=VALUE with a key of {}", shown(text), fmt::join(names, ", ")),
          did_you_mean(key, names));
    selection.wanted_[static_cast<size_t>(found - std::begin(kSelectors))].push_back(text.substr(equals + 1));
  }
  return selection;
}

bool CaseSelection::takes(const MeasuredCase& one) const {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const std::vector<std::string>& values = wanted_[i];
    if (!values.empty() && std::find(values.begin(), values.end(), kSelectors[i].of(one)) == values.end())
      return false;
  }
  return true;
}

}  // namespace hlosim
