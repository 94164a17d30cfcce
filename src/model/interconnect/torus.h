// Times of collectives on the links of a torus or mesh, as closed forms for groups that fill a box of chips.
// Loads of links for everything else: interconnect/interconnect.h. Sources: docs/timing_model.md.
//
// V is the array a collective works on (ops/collective_groups.h), w the rate of one link in one direction.
// A ring carries data both ways (2w), a line has one link that carries everything one way (w). Groups that
// take every s-th chip lie between each other: s of them share each link, so each has an s-th of it.
//
//   const TorusAxis axes[] = {{0, 4, true}, {1, 4, true}};                 // 4 x 4 chips, both axes rings
//   gather_seconds(axes, 1e9, 45e9)                // 1 GB to every chip, links of 45 GB/s
//   diameter(axes)                                 // 4
#pragma once

#include <cstdint>
#include <span>

namespace hlosim {

/// One side of the box that a group fills, more than one chip.
struct TorusAxis {
  int64_t axis = 0;    // 0 = x
  int64_t length = 1;  // chips of the group along it
  bool ring = false;   // it wraps around within the group
  int64_t stride = 1;  // from one of them to the next; the chips between are other groups'
  bool operator==(const TorusAxis&) const = default;

  double capacity(double link) const { return (ring ? 2 * link : link) / static_cast<double>(stride); }
  int64_t hops() const { return (ring ? length / 2 : length - 1) * stride; }
};

/// Seconds until every device has all of V, by bytes alone. The data are cut into as many parts as there are
/// axes, each part takes the axes in another order; or all data one axis after the other, if that is faster.
/// Between V(N-1)/N / (sum of capacities) and the axes one after the other.
double gather_seconds(std::span<const TorusAxis> axes, double bytes, double link);
/// The same with all data along one axis after the other, the better way round.
double gather_seconds_in_turn(std::span<const TorusAxis> axes, double bytes, double link);
/// Everybody sends another part of `bytes` to each member: the load of the busiest cut.
double all_to_all_seconds(std::span<const TorusAxis> axes, double bytes, double link);
/// One member's `bytes` to all others.
double broadcast_seconds(std::span<const TorusAxis> axes, double bytes, double link);
/// Hops that some data have to take.
int64_t diameter(std::span<const TorusAxis> axes);

}  // namespace hlosim
