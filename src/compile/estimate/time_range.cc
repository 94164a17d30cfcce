#include "estimate/time_range.h"

#include <algorithm>
#include <cmath>

#include "base/saturating.h"

namespace hlosim {
namespace {

constexpr MeasuredError kErrors[] = {
#define HLOSIM_MEASURED_ERROR(generation, category, cases, low, high) \
  {#generation, CostCategory::category, cases, low, high},
#include "estimate/measured_errors.def"
};

/// Generations that nothing, or too little, was measured on: what all others show holds for them.
constexpr std::string_view kLikeOthers[] = {"v2", "v3", "v5e"};

const MeasuredError* find(std::span<const MeasuredError> errors, std::string_view generation,
                          CostCategory category) {
  for (const MeasuredError& error : errors)
    if (error.generation == generation && error.category == category) return &error;
  return nullptr;
}

bool is_known(std::span<const MeasuredError> errors, std::string_view generation) {
  return std::ranges::find(errors, generation, &MeasuredError::generation) != errors.end() ||
         std::ranges::find(kLikeOthers, generation) != std::end(kLikeOthers);
}

}  // namespace

std::span<const MeasuredError> measured_errors() { return kErrors; }

TimeByKind kinds_of(const Totals& totals) {
  TimeByKind kinds = totals.by_category;
  const Picoseconds collectives = std::min(totals.idle, totals.exposed_collectives);
  kinds[static_cast<size_t>(CostCategory::kCollective)] += collectives;
  kinds[static_cast<size_t>(CostCategory::kData)] += totals.idle - collectives;
  return kinds;
}

std::optional<TimeRange> time_range(std::span<const MeasuredError> errors, std::string_view generation,
                                    const TimeByKind& kinds) {
  Picoseconds all{};
  for (const Picoseconds time : kinds) all = Picoseconds(saturating_add(all.count(), time.count()));
  if (all.count() <= 0 || !is_known(errors, generation)) return std::nullopt;
  double below = 0, above = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const auto category = static_cast<CostCategory>(i);
    const MeasuredError* error = find(errors, generation, category);
    if (!error) error = find(errors, "all", category);
    if (!error) continue;
    const double time = static_cast<double>(kinds[i].count());
    below += time * std::max(1 - error->low, 0.0);
    above += time * std::max(error->high - 1, 0.0);
  }
  const double time = static_cast<double>(all.count());
  // Times of absurd sizes end where picoseconds do.
  const auto rounded = [](double value) { return std::min(ceil_picoseconds(std::round(value)), kForever); };
  return TimeRange{rounded(std::max(time - below, 0.0)), rounded(time + above)};
}

}  // namespace hlosim
