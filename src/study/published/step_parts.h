// How long the pieces of a step take at best, each by itself: a lower bound, and what of a simulated step is
// held against.
//
//   const Result<StepParts> parts = step_parts(step_work(run.model, run.options), run, device.config, slice);
//   parts->seconds(StepCategory::kProducts)
//   parts->least()                                 // seconds: no schedule is faster by this count
#pragma once

#include <array>
#include <vector>

#include "base/source.h"
#include "interconnect/slice.h"
#include "model/device.h"
#include "published/published_run.h"
#include "published/step_work.h"

namespace hlosim {

/// One part of the step, in seconds: what the core does, and what could go on beside.
struct PartSeconds {
  double work = 0;      // products, kernels, vector work
  double blocking = 0;  // collectives that what follows waits for
  double links = 0;     // other collectives
  double host = 0;

  double least() const;  // whatever goes on beside what
};

struct StepParts {
  std::vector<double> pieces;  // seconds of each piece of the work, all times
  std::array<double, kStepCategories> by_category{};
  std::array<PartSeconds, kStepStages> by_part{};

  double seconds(StepCategory category) const { return by_category[static_cast<size_t>(category)]; }
  double least() const;  // no schedule is faster by this count
};

/// Products by the MXU's cycles or their bytes, whatever is longer; attention by its kernel; vector work and
/// optimizer by their bytes; collectives by the links of their axes in both directions, or the hosts'
/// network. Errors: a mesh that doesn't fit the slice, a kernel that can't be costed, a type the MXU doesn't
/// know.
Result<StepParts> step_parts(const StepWork& work, const PublishedRun& run, const DeviceConfig& device,
                             const Slice& slice);

}  // namespace hlosim
