#include "study/accuracy_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"

namespace hlosim {
namespace {

constexpr size_t kFewestOfGeneration = 30, kFewestOfAll = 10;
constexpr uint64_t kParts = 5;

/// Names of CostCategory as the rows of measured_errors.def have them.
constexpr std::string_view kCategories[] = {"kMatmul", "kVector",     "kData",   "kCollective",
                                            "kHost",   "kCustomCall", "kControl"};
static_assert(std::size(kCategories) == kCostCategoryCount);

using Ratios = std::map<std::pair<std::string_view, CostCategory>, std::vector<double>>;

uint64_t part_of(const MeasuredCase& one) { return Fnv1a().add_text(one.id).value() % kParts; }

/// The kind of work that takes most of a case's time.
CostCategory main_kind(const TimeByKind& kinds) {
  return static_cast<CostCategory>(std::ranges::max_element(kinds) - kinds.begin());
}

std::vector<MeasuredError> rows_of(Ratios ratios) {
  std::vector<MeasuredError> rows;
  for (auto& [key, values] : ratios) {
    if (values.size() < (key.first == "all" ? kFewestOfAll : kFewestOfGeneration)) continue;
    rows.push_back({key.first, key.second, static_cast<int64_t>(values.size()),
                    quantile(values, (1 - kRangeShare) / 2), quantile(values, (1 + kRangeShare) / 2)});
  }
  return rows;
}

/// Errors of all cases but those of `left_out`; of every case where that is kParts.
std::vector<MeasuredError> errors_without(const Accuracy& accuracy, uint64_t left_out) {
  Ratios ratios;
  for (size_t i = 0; i < accuracy.cases.size(); ++i) {
    const Prediction& predicted = accuracy.predictions[i];
    if (!predicted.us || !predicted.kinds || part_of(accuracy.cases[i]) == left_out) continue;
    const CostCategory kind = main_kind(*predicted.kinds);
    for (const std::string_view generation :
         {std::string_view(predicted.generation), std::string_view("all")})
      ratios[{generation, kind}].push_back(accuracy.cases[i].time_us / *predicted.us);
  }
  return rows_of(std::move(ratios));
}

bool holds(std::span<const MeasuredError> errors, const MeasuredCase& one, const Prediction& predicted) {
  const std::optional<TimeRange> range = time_range(errors, predicted.generation, *predicted.kinds);
  if (!range) return false;
  // A case's time may have the launch in it, which no kind of work has.
  double simulated = 0;
  for (const Picoseconds time : *predicted.kinds) simulated += static_cast<double>(time.count()) / 1e6;
  const double beside = *predicted.us - simulated;
  const auto end = [&](Picoseconds time) { return static_cast<double>(time.count()) / 1e6 + beside; };
  return end(range->low) <= one.time_us && one.time_us <= end(range->high);
}

}  // namespace

ErrorStudy study_errors(const Accuracy& accuracy) {
  ErrorStudy study;
  study.errors = errors_without(accuracy, kParts);
  std::map<std::string, std::pair<size_t, size_t>> counts;  // held, of
  for (uint64_t part = 0; part < kParts; ++part) {
    const std::vector<MeasuredError> errors = errors_without(accuracy, part);
    for (size_t i = 0; i < accuracy.cases.size(); ++i) {
      const Prediction& predicted = accuracy.predictions[i];
      if (!predicted.us || !predicted.kinds || part_of(accuracy.cases[i]) != part) continue;
      const bool held = holds(errors, accuracy.cases[i], predicted);
      for (const std::string& generation : {predicted.generation, std::string("all")})
        counts[generation].first += held, ++counts[generation].second;
    }
  }
  for (const auto& [generation, count] : counts)
    study.held.push_back(
        {generation, count.second, static_cast<double>(count.first) / static_cast<double>(count.second)});
  return study;
}

std::string to_text(const ErrorStudy& study) {
  std::string out;
  for (const HeldRanges& held : study.held)
    out += fmt::format("// {}: {:.1f} % of {} cases lie in the range that other cases gave\n",
                       held.generation, 100 * held.share, held.cases);
  for (const MeasuredError& error : study.errors)
    out += fmt::format("HLOSIM_MEASURED_ERROR({}, {}, {}, {:.3f}, {:.3f})\n", error.generation,
                       kCategories[static_cast<size_t>(error.category)], error.cases, error.low, error.high);
  return out;
}

}  // namespace hlosim
