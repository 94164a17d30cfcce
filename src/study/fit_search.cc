#include "study/fit_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hlosim {
namespace {

class Fitting {
 public:
  Fitting(const FitQuestion& question, const MakeProgram& make, const OpTable& table, const Device& device,
          const EstimateOptions& options)
      : question_(question), make_(make), table_(table), device_(device), options_(options) {}

  Result<FitSearch> run() {
    // In units: `below` fits (0: nothing needs no memory), `above` doesn't or is beyond the limit.
    const int64_t most = question_.most / question_.unit;
    int64_t below = 0, above = most + 1;
    while (above - below > 1) {
      const bool is_bounded = above <= most;
      const int64_t next =
          is_bounded ? below + (above - below) / 2 : std::min(std::max<int64_t>(2 * below, 1), most);
      const Result<bool> fits = try_size(next * question_.unit);
      if (!fits) return tl::unexpected(fits.error());
      (*fits ? below : above) = next;
    }
    found_.largest = below * question_.unit;
    found_.is_limited = below == most;
    std::ranges::sort(found_.trials, {}, &FitTrial::size);
    return std::move(found_);
  }

 private:
  Result<bool> try_size(int64_t size) {
    const auto at_size = [&](Diagnostic fault) {
      fault.message = fmt::format("at size {}: {}", size, fault.message);
      return tl::unexpected(std::move(fault));
    };
    const Result<Module> module = make_(size);
    if (!module) return at_size(module.error());
    const Result<Estimate> made = estimate(*module, table_, device_, options_);
    if (!made) return at_size(made.error());
    if (!made->occupancy.unknown.empty()) return at_size(failure(made->occupancy.unknown).value());
    FitTrial trial;
    trial.size = size;
    trial.time = made->simulation->totals.makespan;
    for (const SpaceOccupancy& space : made->occupancy.spaces)
      if (space.space == &device_.config.hbm()) trial.peak = space.peak;
    for (const Diagnostic& finding : made->occupancy.findings)
      if (finding.severity == Severity::kError && trial.problem.empty()) trial.problem = finding.message;
    found_.trials.push_back(std::move(trial));
    return found_.trials.back().fits();
  }

  const FitQuestion& question_;
  const MakeProgram& make_;
  const OpTable& table_;
  const Device& device_;
  const EstimateOptions& options_;
  FitSearch found_;
};

}  // namespace

Result<FitSearch> largest_that_fits(const FitQuestion& question, const MakeProgram& make,
                                    const OpTable& table, const Device& device,
                                    const EstimateOptions& options) {
  return Fitting(question, make, table, device, options).run();
}

}  // namespace hlosim
