#include "study/scaling.h"

#include <algorithm>

#include "model/unit.h"

namespace hlosim {
namespace {

/// Behind the units.
constexpr size_t kLatencies = kUnitCount, kCollectives = kUnitCount + 1, kCopies = kUnitCount + 2,
                 kOthers = kUnitCount + 3;

double seconds_of(Picoseconds time) { return static_cast<double>(time.count()) * 1e-12; }

/// The cause whose chip time per token grew most from `first` to `point`, with the growth as a share of the
/// time of `point`.
void find_loss(ScaleRow& row, const ScalePoint& first) {
  const ScalePoint& point = row.point;
  const auto of_chips = [](const ScalePoint& one) { return static_cast<double>(one.chips) / one.tokens; };
  for (size_t cause = 0; cause < kScaleCauses; ++cause) {
    const double growth = point.by_cause[cause] * of_chips(point) - first.by_cause[cause] * of_chips(first);
    const double share = growth / (point.seconds * of_chips(point));
    if (share <= row.lost) continue;
    row.lost = share;
    row.lost_to = cause;
  }
}

std::vector<std::string> cause_names(const DeviceConfig& device) {
  std::vector<std::string> names;
  for (size_t unit = 0; unit < kUnitCount; ++unit)
    names.push_back(unit_name(device, static_cast<Unit>(unit)));
  for (const char* name :
       {"latencies", "waiting for collectives", "waiting for copies", "waiting for the host"})
    names.emplace_back(name);
  return names;
}

}  // namespace

double ScalePoint::mfu() const {
  const double most = seconds * static_cast<double>(devices) * peak_flops;
  return most > 0 ? model_flops / most : 0;
}

double ScalePoint::hardware_utilization() const {
  return seconds > 0 && peak_flops > 0 ? hardware_flops / (seconds * peak_flops) : 0;
}

void simulate_point(ScalePoint& point, const Module& module, const OpTable& table, const Device& device,
                    const EstimateOptions& options) {
  const Result<Estimate> made = estimate(module, table, device, options);
  if (!made) {
    point.problem = made.error().message;
    return;
  }
  const Totals& totals = made->simulation->totals;
  point.seconds = seconds_of(totals.makespan);
  point.hardware_flops = static_cast<double>(totals.flops.count());
  point.peak_flops = peak_flops(device.config, ElementType::kBF16).count();
  point.exposed = point.seconds > 0 ? seconds_of(totals.exposed()) / point.seconds : 0;
  for (size_t unit = 0; unit < kUnitCount; ++unit) point.by_cause[unit] = seconds_of(totals.by_bound[unit]);
  point.by_cause[kLatencies] = seconds_of(totals.overhead);
  point.by_cause[kCollectives] = seconds_of(totals.exposed_collectives);
  point.by_cause[kCopies] = seconds_of(totals.exposed_copies);
  point.by_cause[kOthers] = seconds_of(totals.exposed_others);
  for (const SpaceOccupancy& space : made->occupancy.spaces)
    if (space.space == &device.config.hbm()) point.hbm_peak = space.peak;
  point.problem = made->occupancy.unknown;
  for (const Diagnostic& finding : made->occupancy.findings)
    if (finding.severity == Severity::kError && point.problem.empty()) point.problem = finding.message;
}

bool is_better(const ScalePoint& a, const ScalePoint& b) {
  if (a.fits() != b.fits()) return a.fits();
  return a.tokens_per_second() > b.tokens_per_second();
}

ScalePlan plan_of(std::vector<ScalePoint> points, const ScaleQuestion& question, const DeviceConfig& device) {
  ScalePlan plan;
  plan.question = question;
  plan.causes = cause_names(device);
  std::stable_sort(points.begin(), points.end(),
                   [](const ScalePoint& a, const ScalePoint& b) { return a.chips < b.chips; });
  const ScalePoint* first = nullptr;
  for (const ScalePoint& point : points)
    if (!first && point.fits()) first = &point;
  std::optional<size_t> before;  // the row with fewer chips that fits
  bool has_stopped = false;
  for (const ScalePoint& point : points) {
    ScaleRow row;
    row.point = point;
    if (point.fits()) {
      row.efficiency = point.tokens_per_chip() / first->tokens_per_chip();
      if (row.efficiency < 1) find_loss(row, *first);
      if (before) {
        const ScalePoint& fewer = plan.rows[*before].point;
        const double more_chips = static_cast<double>(point.chips) / static_cast<double>(fewer.chips) - 1;
        if (more_chips > 0)
          row.marginal = (point.tokens_per_second() / fewer.tokens_per_second() - 1) / more_chips;
        if (row.marginal && *row.marginal < question.worth && !has_stopped)
          plan.last_that_pays = *before, has_stopped = true;
      }
      const double seconds = question.tokens / point.tokens_per_second();
      row.days = seconds / 86400;
      row.chip_hours = seconds / 3600 * static_cast<double>(point.chips);
      row.cost = row.chip_hours * question.price;
      before = plan.rows.size();
    }
    plan.rows.push_back(std::move(row));
  }
  return plan;
}

}  // namespace hlosim
