#include "model/collective_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "layout/sizes.h"
#include "model/instruction_cost.h"
#include "model/torus.h"
#include "ops/collective_groups.h"
#include "ops/infer.h"
#include "ops/work.h"

namespace hlosim {
namespace {

struct Seconds {
  double by_bytes = 0, by_hops = 0;
  double longest() const { return std::max(by_bytes, by_hops); }
};

/// How the members of one group lie in the slice.
struct GroupPlace {
  std::vector<TorusAxis> axes;  // of the box around them, sides longer than one
  int64_t chips = 1;
  int64_t members_per_chip = 1;
  bool is_box = true;  // every chip of the box has that many members
  bool operator==(const GroupPlace&) const = default;
};

class CollectiveModel {
 public:
  CollectiveModel(const DeviceConfig& device, const Slice& slice, const DeviceGrid& grid,
                  AssumptionList& assumptions)
      : device_(device), slice_(slice), grid_(grid), assumptions_(assumptions) {}

  /// Device of a member: XLA's default assignment numbers partitions first.
  int64_t chip_of(int64_t flattened) const {
    const int64_t replica = flattened / grid_.partitions, partition = flattened % grid_.partitions;
    return (partition * grid_.replicas + replica) / slice_.devices_per_chip;
  }

  GroupPlace place(std::span<const int64_t> group) const {
    GroupPlace place;
    std::set<int64_t> chips;
    for (const int64_t member : group) chips.insert(chip_of(member));
    place.chips = static_cast<int64_t>(chips.size());
    int64_t stride = 1, box = 1;
    for (size_t axis = 0; axis < slice_.sides.size(); ++axis) {
      int64_t low = slice_.sides[axis], high = -1;
      for (const int64_t chip : chips) {
        const int64_t at = chip / stride % slice_.sides[axis];
        low = std::min(low, at), high = std::max(high, at);
      }
      const int64_t length = high - low + 1;
      if (length > 1)
        place.axes.push_back(
            {static_cast<int64_t>(axis), length, slice_.wraps[axis] && length == slice_.sides[axis]});
      box *= std::max<int64_t>(length, 1);
      stride *= slice_.sides[axis];
    }
    const auto members = static_cast<int64_t>(group.size());
    place.members_per_chip = std::max<int64_t>(1, members / std::max<int64_t>(place.chips, 1));
    place.is_box = box == place.chips && members == place.chips * place.members_per_chip;
    return place;
  }

  /// Rate of one link in one direction, as one group sees it: the devices of a chip share its links.
  double link_rate(int64_t members_per_chip) const {
    const double axes = 2.0 * static_cast<double>(std::max<size_t>(device_.ici.pod.sides.size(), 1));
    const double share = static_cast<double>(members_per_chip) / static_cast<double>(slice_.devices_per_chip);
    return device_.ici.bandwidth.count() * static_cast<double>(device_.ici.links) / axes *
           std::min(share, 1.0);
  }

  double die_rate() const {
    if (device_.ici.die_to_die) return device_.ici.die_to_die->count();
    assumptions_.add("the device file has no rate between the devices of one chip: taken as that of a link");
    return device_.ici.bandwidth.count();
  }

  double hop_seconds() const { return static_cast<double>(device_.ici.hop_latency.count()) * 1e-12; }

  /// Everybody gets all of `bytes` (the other way round: everybody's is reduced to parts).
  Seconds gather(const GroupPlace& place, double bytes) const {
    Seconds seconds;
    seconds.by_bytes = gather_seconds(place.axes, bytes, link_rate(place.members_per_chip));
    seconds.by_hops = static_cast<double>(diameter(place.axes)) * hop_seconds();
    if (place.members_per_chip > 1) {
      const double others = 1 - 1 / static_cast<double>(place.members_per_chip);
      seconds.by_bytes = std::max(seconds.by_bytes, bytes * others / die_rate());
      if (place.chips == 1) seconds.by_hops = hop_seconds();
    }
    return seconds;
  }

  Seconds on_box(CollectiveKind kind, const GroupPlace& place, double volume, double payload) const {
    const double link = link_rate(place.members_per_chip);
    Seconds seconds;
    switch (kind) {
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter:
        return gather(place, volume);
      case CollectiveKind::kAllReduce:
        seconds = gather(place, volume);
        return {2 * seconds.by_bytes, 2 * seconds.by_hops};
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kRaggedAllToAll:
        seconds.by_bytes =
            all_to_all_seconds(place.axes, payload * static_cast<double>(place.members_per_chip), link);
        break;
      case CollectiveKind::kBroadcast:
        seconds.by_bytes = broadcast_seconds(place.axes, payload, link);
        break;
      case CollectiveKind::kPermute:
        break;
    }
    seconds.by_hops = static_cast<double>(diameter(place.axes)) * hop_seconds();
    if (place.members_per_chip > 1) {
      const double others = 1 - 1 / static_cast<double>(place.members_per_chip);
      seconds.by_bytes = std::max(seconds.by_bytes, payload * others / die_rate());
      if (place.chips == 1) seconds.by_hops = hop_seconds();
    }
    return seconds;
  }

  /// A ring through the members in the order of the text, all groups at the same time.
  Seconds on_links(CollectiveKind kind, const std::vector<std::vector<int64_t>>& groups, double volume,
                   double payload) const {
    LinkLoads loads(slice_.sides, slice_.wraps);
    int64_t hops = 0;
    size_t members = 1;
    for (const auto& group : groups) {
      members = std::max(members, group.size());
      for (size_t i = 0; i < group.size(); ++i)
        hops = std::max(hops, loads.send(chip_of(group[i]), chip_of(group[(i + 1) % group.size()]), 1));
    }
    const auto n = static_cast<double>(members);
    const double rounds = kind == CollectiveKind::kAllReduce ? 2 * (n - 1) : n - 1;
    // An all-to-all sends each part as far as it has to go: half way round on average, both ways.
    const double part = kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kRaggedAllToAll
                            ? payload / 4
                            : volume / n;
    return {rounds * part * loads.busiest() / link_rate(slice_.devices_per_chip),
            rounds * static_cast<double>(hops) * hop_seconds()};
  }

  Seconds permute(const std::vector<std::array<int64_t, 2>>& pairs, double payload) const {
    LinkLoads loads(slice_.sides, slice_.wraps);
    int64_t hops = 0;
    bool within_chip = false;
    for (const auto& [source, target] : pairs) {
      hops = std::max(hops, loads.send(chip_of(source), chip_of(target), payload));
      within_chip |= source != target && chip_of(source) == chip_of(target);
    }
    Seconds seconds{loads.busiest() / link_rate(slice_.devices_per_chip),
                    static_cast<double>(hops) * hop_seconds()};
    if (within_chip) {
      seconds.by_bytes = std::max(seconds.by_bytes, payload / die_rate());
      seconds.by_hops = std::max(seconds.by_hops, hop_seconds());
    }
    return seconds;
  }

 private:
  const DeviceConfig& device_;
  const Slice& slice_;
  const DeviceGrid& grid_;
  AssumptionList& assumptions_;
};

std::string axes_text(const GroupPlace& place) {
  if (place.axes.empty()) return "within one chip";
  std::vector<std::string> parts;
  for (const TorusAxis& axis : place.axes)
    parts.push_back(
        fmt::format("{} of {} along {}", axis.ring ? "ring" : "line", axis.length,
                    axis.axis < 3 ? std::string(1, "xyz"[axis.axis]) : fmt::format("axis {}", axis.axis)));
  return fmt::format("{}{}", fmt::join(parts, ", "), place.axes.size() > 1 ? ", axes in rotation" : "");
}

std::string_view kind_text(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {
      "reduce-scatter and all-gather",           "all-gather", "reduce-scatter", "all-to-all",
      "ragged all-to-all as one of equal parts", "permute",    "broadcast"};
  return kNames[static_cast<size_t>(kind)];
}

void add_payload(CollectiveCost& cost, std::span<const ShapeRef> payload) {
  for (const ShapeRef shape : payload)
    for_each_leaf(shape, [&](ShapeRef leaf) {
      if (!leaf->is_array()) return;
      if (leaf->rank() == 0) {
        add_bytes(cost.scalar_payload, dense_bytes(leaf));
      } else {
        add_bytes(cost.payload, array_size(leaf));
        add_bytes(cost.logical_payload, dense_bytes(leaf));
      }
    });
}

}  // namespace

Result<CollectiveCost> cost_collective(const OpContext& op, const DeviceConfig& device, const Slice& slice,
                                       const DeviceGrid& grid, AssumptionList& assumptions) {
  CollectiveCost cost;
  const Work work = work_of(op);
  if (!work.collective) return cost;
  const Result<CollectiveGroups> groups = collective_groups(op, grid);
  if (!groups) return tl::unexpected(groups.error());
  cost.kind = work.collective->kind;
  add_payload(cost, work.collective->payload);
  cost.group_count = static_cast<int64_t>(groups->groups.size());
  for (const auto& group : groups->groups)
    cost.group_size = std::max(cost.group_size, static_cast<int64_t>(group.size()));
  if (!groups->pairs.empty())
    cost.group_size = 2, cost.group_count = static_cast<int64_t>(groups->pairs.size());
  cost.sent = sent_per_member(cost.kind, cost.group_size, cost.logical_payload);
  cost.scalar_sent = sent_per_member(cost.kind, cost.group_size, cost.scalar_payload);
  const CollectiveModel model(device, slice, grid, assumptions);
  // Scalars travel with the arrays, padding too.
  const Bytes payload = cost.payload + cost.scalar_payload;
  const auto volume = static_cast<double>(collective_volume(cost.kind, cost.group_size, payload).count());
  const auto bytes = static_cast<double>(payload.count());
  Seconds seconds;
  if (cost.group_size == 1 && groups->pairs.empty()) {
    cost.algorithm = "one member: nothing is sent";
    return cost;
  }
  if (!groups->pairs.empty()) {
    seconds = model.permute(groups->pairs, bytes);
    cost.algorithm =
        fmt::format("permute of {} pairs by the shortest ways on {}", groups->pairs.size(), slice.text());
  } else {
    std::optional<GroupPlace> last;
    bool boxes = true;
    for (const auto& group : groups->groups) {
      const GroupPlace place = model.place(group);
      boxes &= place.is_box;
      if (!place.is_box || place == last) continue;
      const Seconds here = model.on_box(cost.kind, place, volume, bytes);
      if (!last || here.longest() > seconds.longest()) {
        seconds = here;
        cost.algorithm = fmt::format("{}: {}", kind_text(cost.kind), axes_text(place));
      }
      last = place;
    }
    if (!boxes) {
      const Seconds ring = model.on_links(cost.kind, groups->groups, volume, bytes);
      if (ring.longest() >= seconds.longest()) {
        seconds = ring;
        cost.algorithm = fmt::format("{}: ring in group order on {}", kind_text(cost.kind), slice.text());
      }
    }
  }
  cost.network = ceil_picoseconds(seconds.longest() * 1e12);
  cost.latency_bound = seconds.by_hops > seconds.by_bytes;
  cost.launch = device.ici.launch;
  return cost;
}

}  // namespace hlosim
