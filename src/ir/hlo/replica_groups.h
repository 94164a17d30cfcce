// Who is in which replica group: the members of each of the three forms of `replica_groups=`.
//
//   {{0,1},{2,3}}                     as listed; {} is one group of all devices
//   [2,4]<=[4,2]T(1,0)                0..7 as a 4x2 array, transposed, cut into 2 rows of 4:
//                                     {0,2,4,6} {1,3,5,7}
//   mesh['x'=2,'y'=4] {'y':(2)2}      devices that differ along the named axes only. 'y':(2)2 is the
//                                     part of size 2 of axis y under a part of size 2, here its
//                                     minor half: {0,1} {2,3} {4,5} {6,7}
#pragma once

#include <cstdint>
#include <vector>

#include "base/source.h"
#include "hlo/attr.h"

namespace hlosim {

/// Groups in order, members in listed order. For {} one group of 0..`everybody`-1.
/// Errors (without a place): an iota whose sizes do not fit together, a transposition that is none,
/// text that is no mesh, unknown or overlapping axes, more than 2^24 devices.
Result<std::vector<std::vector<int64_t>>> list_replica_groups(const ReplicaGroups& groups, int64_t everybody);

/// What can be said of groups without listing their members.
struct ReplicaGroupCounts {
  int64_t groups = 0;   // 0 for {}
  int64_t members = 0;  // of the first group
  int64_t total = 0;    // of all groups
  bool uniform = true;  // every group as large as the first
};
/// Errors: as for list_replica_groups().
Result<ReplicaGroupCounts> count_replica_groups(const ReplicaGroups& groups);

}  // namespace hlosim
