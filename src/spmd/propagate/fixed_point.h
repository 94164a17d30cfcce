// The fixed point: shardings move along links, forwards before backwards, the most trusted links first.
#pragma once

#include "propagate/arrays.h"
#include "propagate/edges.h"

namespace hlosim {

/// At each level (loop_factors/sharding_trust.h) forwards in the order of instructions until nothing changes,
/// then backwards, and both again, with all links of this level and those below. Where cuts contradict each
/// other, what is there stays; what isn't yet takes the longest list of axes, of equal ones that of the
/// largest array. O(links · axes).
void to_fixed_point(const Links& links, Arrays& arrays);

}  // namespace hlosim
