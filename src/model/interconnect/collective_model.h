// What collectives take on the links of a slice: where the members of a group lie, then seconds by closed
// forms for groups that fill a box of chips (interconnect/torus.h), by loads of links for all others
// (interconnect/interconnect.h). interconnect/collective_cost.h makes costs of it.
//
//   const CollectiveModel model(device, slice, grid, assumptions, AxisOrder::kRotation);
//   const GroupPlace place = model.place(group);
//   if (place.is_box) model.on_box(CollectiveKind::kAllReduce, place, 1e9, 1e9).total()
//   else model.on_links(kind, model.ring_use(groups), members, volume, payload).total()
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "interconnect/collective_cost.h"
#include "interconnect/interconnect.h"
#include "interconnect/offload.h"
#include "interconnect/slice.h"
#include "interconnect/torus.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "ops/collective_groups.h"
#include "ops/work.h"

namespace hlosim {

/// A chip passes on what it has received in full, so that bytes and hops add up.
struct LinkSeconds {
  double by_bytes = 0, by_hops = 0;
  int64_t hops = 0;
  double total() const { return by_bytes + by_hops; }
};

/// What messages put on the links of a slice and the network of its hosts.
struct LinkUse {
  double busiest = 0;       // bytes on the busiest link in one direction
  double busiest_host = 0;  // bytes that the busiest host sends or receives
  int64_t hops = 0;         // of the farthest message
};

/// How the members of one group lie in a slice, the same in each slice that they lie in.
struct GroupPlace {
  std::vector<TorusAxis> axes;  // of the box around them, sides longer than one
  int64_t slices = 1;
  int64_t chips = 1;  // of one slice
  int64_t members_per_chip = 1;
  bool is_box = true;       // every chip of the box, or every s-th along an axis, has that many members
  bool is_twisted = false;  // all of a twisted torus
  bool operator==(const GroupPlace&) const = default;

  bool is_strided() const {
    return std::any_of(axes.begin(), axes.end(), [](const TorusAxis& axis) { return axis.stride > 1; });
  }
};

/// Of one device's groups on one slice. All that it is made of outlives it.
class CollectiveModel {
 public:
  CollectiveModel(const DeviceConfig& device, const Slice& slice, const DeviceGrid& grid,
                  AssumptionList& assumptions, AxisOrder order)
      : device_(device),
        slice_(slice),
        grid_(grid),
        assumptions_(assumptions),
        network_(slice),
        in_turn_(order == AxisOrder::kInTurn && device.ici.core_bandwidth),
        one_way_(!in_turn_ && device.ici.one_way_rings) {}

  /// Chip of a member, over all slices: XLA's default assignment numbers partitions first.
  int64_t chip_of(int64_t flattened) const;
  int64_t slice_of(int64_t chip) const { return chip / network_.chips(); }
  int64_t hosts_of_slice() const {
    return (network_.chips() - 1) / std::max<int64_t>(1, device_.host.chips) + 1;
  }
  /// Over all slices; each slice has hosts of its own.
  int64_t host_of(int64_t chip) const {
    const int64_t inside = chip % network_.chips() / std::max<int64_t>(1, device_.host.chips);
    return slice_of(chip) * hosts_of_slice() + inside;
  }
  GroupPlace place(std::span<const int64_t> group) const;

  /// Rate of one link in one direction, as one group sees it: the devices of a chip share its links.
  double link_rate(int64_t members_per_chip) const;
  double die_rate() const;
  double hop_seconds() const { return static_cast<double>(device_.ici.hop_latency.count()) * 1e-12; }
  int64_t hops(const GroupPlace& place) const;

  /// No schedule on the links is faster: what the member with the fewest links receives or sends, the busiest
  /// cut, the farthest hop.
  LinkSeconds bound(CollectiveKind kind, const GroupPlace& place, double volume, double payload) const;

  /// Every device of a slice gets all of `bytes` (the other way round: those of all are reduced to parts).
  LinkSeconds gather(const GroupPlace& group, double bytes) const;
  void add_hops(const GroupPlace& place, LinkSeconds& seconds) const;
  LinkSeconds on_box(CollectiveKind kind, const GroupPlace& place, double volume, double payload) const;

  /// What a group of several slices sends over the hosts' network, each slice's chips their parts of it:
  /// before, after or between what goes over the links. The members on one host share its rate.
  double between_slices(CollectiveKind kind, const GroupPlace& place, double volume, double payload,
                        int64_t members_per_host) const;

  /// Every device is in a group, and these are of one size.
  bool covers(const std::vector<std::vector<int64_t>>& groups) const;
  bool in_turn() const { return in_turn_; }
  /// All-gathers, reduce-scatters and all-reduces go one way round each ring where the compiler gives them to
  /// the cores beside the TensorCores unasked. All-to-alls and broadcasts take the shortest way.
  bool one_way(CollectiveKind kind) const;

  /// Of all groups together, on the host with most.
  int64_t members_per_host(const std::vector<std::vector<int64_t>>& groups) const;

  /// A ring through the members in the order of the text, both ways, all groups at the same time: half of
  /// what a member passes on.
  LinkUse ring_use(const std::vector<std::vector<int64_t>>& groups) const;

  /// On those rings, the longest of `members`.
  LinkSeconds on_links(CollectiveKind kind, const LinkUse& ring, int64_t members, double volume,
                       double payload) const;
  LinkSeconds permute(const std::vector<std::array<int64_t, 2>>& pairs, double payload) const;
  /// The links that it takes; null where some bytes go another way: within a chip, between slices.
  std::shared_ptr<const LinkSet> permute_links(const std::vector<std::array<int64_t, 2>>& pairs) const;

 private:
  class Traffic;

  /// Of `scale` times the bytes that `use` was found with.
  LinkSeconds seconds_of(const LinkUse& use, double link, double scale) const;
  GroupPlace place_in_slice(const std::map<int64_t, int64_t>& members) const;
  bool closes_with_twist(size_t axis) const;

  /// The devices of a chip exchange their parts of `bytes` as well.
  void on_chip(const GroupPlace& place, double bytes, LinkSeconds& seconds) const;
  const DeviceConfig& device_;
  const Slice& slice_;
  const DeviceGrid& grid_;
  AssumptionList& assumptions_;
  Interconnect network_;
  bool in_turn_, one_way_;
};

}  // namespace hlosim
