// Offsets for what a plan keeps on the chip.
//
//   const PackedPlans packed = pack_plans(model, best.plans);
//   packed.offsets[0]                              // where the stays of the first value lie, in bytes
#pragma once

#include <functional>
#include <vector>

#include "prefetch/prefetch_model.h"

namespace hlosim {

struct PackedPlans {
  std::vector<ValuePlan> plans;
  std::vector<std::vector<int64_t>> offsets;  // by value, as stays() lists them
  int64_t size = 0;
  int64_t dropped = 0;  // stays for which there was no gap
  bool cut = false;     // by out_of_time: more may have been dropped than had to be
};

/// Best fit; where that needs more than there is, `offsets` if there are any, else plans of few gains per
/// byte are given up. Requires of `offsets`: places on the chip as in PackedPlans, disjoint where nothing
/// else is there. Once `out_of_time` returns true, all that lies above the edge is given up at once.
PackedPlans pack_plans(const PrefetchModel& model, std::vector<ValuePlan> plans,
                       std::vector<std::vector<int64_t>> offsets = {},
                       const std::function<bool()>& out_of_time = {});

}  // namespace hlosim
