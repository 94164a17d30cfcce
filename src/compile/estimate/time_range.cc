#include "estimate/time_range.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/enum_rows.h"
#include "base/saturating.h"

namespace hlosim {
namespace {

/// A kind of work by its key in device files.
struct Row {
  CostCategory category;
  std::string_view key;
  std::optional<ErrorConfig> ErrorsConfig::*error;
};
constexpr Row kRows[] = {
    {CostCategory::kMatmul, "matmul", &ErrorsConfig::matmul},
    {CostCategory::kVector, "vector", &ErrorsConfig::vector},
    {CostCategory::kData, "data", &ErrorsConfig::data},
    {CostCategory::kCollective, "collective", &ErrorsConfig::collective},
    {CostCategory::kHost, "host", &ErrorsConfig::host},
    {CostCategory::kCustomCall, "custom_call", &ErrorsConfig::custom_call},
    {CostCategory::kControl, "control", &ErrorsConfig::control},
};
static_assert(rows_follow(kRows, &Row::category) && std::size(kRows) == kCostCategoryCount);

const Row& row_of(CostCategory category) { return kRows[static_cast<size_t>(category)]; }

/// Times of absurd sizes end where picoseconds do.
TimeRange range_around(double time, double below, double above) {
  const auto rounded = [](double value) { return std::min(ceil_picoseconds(std::round(value)), kForever); };
  return {rounded(std::max(time - below, 0.0)), rounded(time + above)};
}

}  // namespace

std::string_view error_key(CostCategory category) { return row_of(category).key; }

std::optional<ErrorConfig>& error_of(ErrorsConfig& errors, CostCategory category) {
  return errors.*row_of(category).error;
}

const std::optional<ErrorConfig>& error_of(const ErrorsConfig& errors, CostCategory category) {
  return errors.*row_of(category).error;
}

TimeByKind kinds_of(const Totals& totals) {
  TimeByKind kinds = totals.by_category;
  const Picoseconds collectives = std::min(totals.idle, totals.exposed_collectives);
  kinds[static_cast<size_t>(CostCategory::kCollective)] += collectives;
  kinds[static_cast<size_t>(CostCategory::kData)] += totals.idle - collectives;
  return kinds;
}

std::optional<TimeRange> time_range(const std::optional<ErrorsConfig>& errors, const TimeByKind& kinds) {
  Picoseconds all{};
  for (const Picoseconds time : kinds) all = Picoseconds(saturating_add(all.count(), time.count()));
  if (all.count() <= 0 || !errors) return std::nullopt;
  double below = 0, above = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::optional<ErrorConfig>& error = error_of(*errors, static_cast<CostCategory>(i));
    if (!error) continue;
    const double time = static_cast<double>(kinds[i].count());
    below += time * std::max(1 - error->low, 0.0);
    above += time * std::max(error->high - 1, 0.0);
  }
  return range_around(static_cast<double>(all.count()), below, above);
}

bool is_step(const Simulation& simulation) {
  const auto time = [&](CostCategory kind) {
    return simulation.totals.by_category[static_cast<size_t>(kind)].count();
  };
  return simulation.slice.devices() > 1 && simulation.totals.sent.count() > 0 &&
         time(CostCategory::kMatmul) + time(CostCategory::kCustomCall) > 0;
}

std::optional<TimeRange> time_range(const std::optional<ErrorsConfig>& errors, const Simulation& simulation) {
  if (!errors || !errors->step || !is_step(simulation))
    return time_range(errors, kinds_of(simulation.totals));
  const double time = static_cast<double>(simulation.totals.makespan.count());
  if (time <= 0) return std::nullopt;
  return range_around(time, time * std::max(1 - errors->step->low, 0.0),
                      time * std::max(errors->step->high - 1, 0.0));
}

}  // namespace hlosim
