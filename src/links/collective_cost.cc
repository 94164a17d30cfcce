#include "links/collective_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "layout/sizes.h"
#include "links/collective_costs.h"
#include "links/collective_driver.h"
#include "links/interconnect.h"
#include "links/torus.h"
#include "model/instruction_cost.h"
#include "ops/collective_groups.h"
#include "ops/infer.h"
#include "ops/work.h"

namespace hlosim {
namespace {

/// A chip passes on what it has received in full, so that bytes and hops add up.
struct Seconds {
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

/// Coordinates of a group along one axis.
struct AxisSpan {
  int64_t length = 0, stride = 1;
  bool is_even = true;  // each is `stride` behind the one before
};
AxisSpan span_of(std::vector<int64_t> at) {
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  AxisSpan span{static_cast<int64_t>(at.size())};
  if (at.size() > 1) span.stride = at[1] - at[0];
  for (size_t i = 1; i < at.size(); ++i) span.is_even &= at[i] - at[i - 1] == span.stride;
  return span;
}

class CollectiveModel {
 public:
  CollectiveModel(const DeviceConfig& device, const Slice& slice, const DeviceGrid& grid,
                  AssumptionList& assumptions, AxisOrder order)
      : device_(device),
        slice_(slice),
        grid_(grid),
        assumptions_(assumptions),
        network_(slice),
        in_turn_(order == AxisOrder::kInTurn && device.ici.core_bandwidth) {}

  /// Chip of a member, over all slices: XLA's default assignment numbers partitions first.
  int64_t chip_of(int64_t flattened) const {
    const int64_t replica = flattened / grid_.partitions, partition = flattened % grid_.partitions;
    return (partition * grid_.replicas + replica) / slice_.devices_per_chip;
  }
  int64_t slice_of(int64_t chip) const { return chip / network_.chips(); }
  int64_t host_of(int64_t chip) const { return chip / std::max<int64_t>(1, device_.host.chips); }

  GroupPlace place(std::span<const int64_t> group) const {
    std::map<int64_t, std::map<int64_t, int64_t>> members;  // slice, chip
    for (const int64_t member : group) {
      const int64_t chip = chip_of(member);
      ++members[slice_of(chip)][chip % network_.chips()];
    }
    std::optional<GroupPlace> place;
    for (const auto& [slice, chips] : members) {
      const GroupPlace here = place_in_slice(chips);
      if (!place) place = here;
      place->is_box &= here.is_box && here == *place;
    }
    if (!place) return {};
    place->slices = static_cast<int64_t>(members.size());
    return *place;
  }

  /// Rate of one link in one direction, as one group sees it: the devices of a chip share its links.
  double link_rate(int64_t members_per_chip) const {
    const double axes = 2.0 * static_cast<double>(std::max<size_t>(device_.ici.pod.sides.size(), 1));
    const double share = static_cast<double>(members_per_chip) / static_cast<double>(slice_.devices_per_chip);
    const BytesPerSecond rate = in_turn_ ? *device_.ici.core_bandwidth : device_.ici.bandwidth;
    return rate.count() * static_cast<double>(device_.ici.links) / axes * std::min(share, 1.0);
  }

  double die_rate() const {
    if (device_.ici.die_to_die) return device_.ici.die_to_die->count();
    assumptions_.add("the device file has no rate between the devices of one chip: taken as that of a link");
    return device_.ici.bandwidth.count();
  }

  double hop_seconds() const { return static_cast<double>(device_.ici.hop_latency.count()) * 1e-12; }

  int64_t hops(const GroupPlace& place) const {
    if (!place.is_twisted) return diameter(place.axes);
    int64_t farthest = 0;
    for (int64_t chip = 1; chip < network_.chips(); ++chip) {
      int64_t steps = 0;
      network_.walk(0, network_.ways(0, chip).front(), [&](size_t) { ++steps; });
      farthest = std::max(farthest, steps);
    }
    return farthest;
  }

  /// No schedule on the links is faster: what the member with the fewest links receives or sends, the busiest
  /// cut, the farthest hop.
  Seconds bound(CollectiveKind kind, const GroupPlace& place, double volume, double payload) const {
    const double link = link_rate(place.members_per_chip);
    double capacity = 0;
    for (const TorusAxis& axis : place.axes) capacity += place.is_twisted ? 2 * link : axis.capacity(link);
    const double others = 1 - 1 / static_cast<double>(std::max<int64_t>(place.chips, 1));
    const double far = static_cast<double>(hops(place)) * hop_seconds();
    if (capacity == 0) return {};
    switch (kind) {
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter:
        return {volume * others / capacity, far, 0};
      case CollectiveKind::kAllReduce:
        return {2 * volume * others / capacity, 2 * far, 0};
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kRaggedAllToAll:
        return {payload * static_cast<double>(place.members_per_chip) / static_cast<double>(place.slices) *
                    others / capacity,
                far, 0};
      case CollectiveKind::kBroadcast:
        return {payload / capacity, far, 0};
      case CollectiveKind::kPermute:
        break;
    }
    return {};
  }

  /// Every device of a slice gets all of `bytes` (the other way round: those of all are reduced to parts).
  Seconds gather(const GroupPlace& place, double bytes) const {
    Seconds seconds;
    const double link = link_rate(place.members_per_chip);
    // A twisted torus looks the same along all axes: all links in use carry the same.
    const double others = 1 - 1 / static_cast<double>(std::max<int64_t>(place.chips, 1));
    seconds.by_bytes = place.is_twisted && in_turn_ ? bytes * others / (2 * link)
                       : place.is_twisted ? bound(CollectiveKind::kAllGather, place, bytes, 0).by_bytes
                       : in_turn_         ? gather_seconds_in_turn(place.axes, bytes, link)
                                          : gather_seconds(place.axes, bytes, link);
    add_hops(place, seconds);
    on_chip(place, bytes, seconds);
    return seconds;
  }

  void add_hops(const GroupPlace& place, Seconds& seconds) const {
    seconds.hops = hops(place);
    seconds.by_hops = static_cast<double>(seconds.hops) * hop_seconds();
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
        return {2 * seconds.by_bytes, 2 * seconds.by_hops, 2 * seconds.hops};
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kRaggedAllToAll: {
        const double chip = payload * static_cast<double>(place.members_per_chip);
        seconds.by_bytes =
            place.is_twisted
                ? all_to_all_load(network_, chip / static_cast<double>(place.chips * place.slices)) / link
                : all_to_all_seconds(place.axes, chip / static_cast<double>(place.slices), link);
        break;
      }
      case CollectiveKind::kBroadcast:
        seconds.by_bytes = broadcast_seconds(place.axes, payload, link);
        break;
      case CollectiveKind::kPermute:
        break;
    }
    add_hops(place, seconds);
    on_chip(place, payload, seconds);
    return seconds;
  }

  /// What a group of several slices sends over the hosts' network, each slice's chips their parts of it:
  /// before, after or between what goes over the links. The members on one host share its rate.
  double between_slices(CollectiveKind kind, const GroupPlace& place, double volume, double payload,
                        int64_t members_per_host) const {
    const auto slices = static_cast<double>(place.slices);
    const auto members = static_cast<double>(place.chips * place.members_per_chip);
    const double others = (slices - 1) / slices;
    double bytes = 0, rounds = 1;  // bytes of one member, one way
    switch (kind) {
      case CollectiveKind::kAllGather:
      case CollectiveKind::kReduceScatter:
        bytes = volume * others / members;
        break;
      case CollectiveKind::kAllReduce:
        bytes = 2 * volume * others / members;
        rounds = 2;
        break;
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kRaggedAllToAll:
        bytes = payload * others;
        break;
      case CollectiveKind::kBroadcast:
        bytes = payload / members;
        break;
      case CollectiveKind::kPermute:
        break;
    }
    return bytes * static_cast<double>(members_per_host) / device_.host.dcn.bandwidth.count() +
           rounds * static_cast<double>(device_.host.dcn.latency.count()) * 1e-12;
  }

  /// Every device is in a group, and these are of one size.
  bool covers(const std::vector<std::vector<int64_t>>& groups) const {
    int64_t members = 0;
    bool is_even = true;
    for (const auto& group : groups) {
      members += static_cast<int64_t>(group.size());
      is_even &= group.size() == groups.front().size();
    }
    return is_even && members == slice_.devices();
  }

  bool in_turn() const { return in_turn_; }

  /// Of all groups together, on the host with most.
  int64_t members_per_host(const std::vector<std::vector<int64_t>>& groups) const {
    std::map<int64_t, int64_t> members;
    int64_t most = 1;
    for (const auto& group : groups)
      for (const int64_t member : group) most = std::max(most, ++members[host_of(chip_of(member))]);
    return most;
  }

  /// A ring through the members in the order of the text, both ways, all groups at the same time: half of
  /// what a member passes on.
  LinkUse ring_use(const std::vector<std::vector<int64_t>>& groups) const {
    Traffic loads(*this);
    for (const auto& group : groups)
      for (size_t i = 0; i < group.size(); ++i) {
        const int64_t here = chip_of(group[i]), next = chip_of(group[(i + 1) % group.size()]);
        loads.send(here, next, 0.5);
        loads.send(next, here, 0.5);
      }
    return loads.use();
  }

  /// On those rings, the longest of `members`.
  Seconds on_links(CollectiveKind kind, const LinkUse& ring, int64_t members, double volume,
                   double payload) const {
    const auto n = static_cast<double>(members);
    const double rounds = kind == CollectiveKind::kAllReduce ? 2 * (n - 1) : n - 1;
    // An all-to-all sends each part as far as it has to go: a quarter of the way round on average, both ways.
    const double part = kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kRaggedAllToAll
                            ? payload / 4
                            : volume / n;
    const Seconds step = seconds_of(ring, link_rate(slice_.devices_per_chip), part);
    return {rounds * step.by_bytes, rounds * step.by_hops, static_cast<int64_t>(rounds) * step.hops};
  }

  Seconds permute(const std::vector<std::array<int64_t, 2>>& pairs, double payload) const {
    Traffic loads(*this);
    bool within_chip = false;
    for (const auto& [source, target] : pairs) {
      loads.send(chip_of(source), chip_of(target), payload);
      within_chip |= source != target && chip_of(source) == chip_of(target);
    }
    Seconds seconds = seconds_of(loads.use(), link_rate(slice_.devices_per_chip), 1);
    if (within_chip) {
      seconds.by_bytes = std::max(seconds.by_bytes, payload / die_rate());
      seconds.by_hops = std::max(seconds.by_hops, hop_seconds());
      seconds.hops = std::max<int64_t>(seconds.hops, 1);
    }
    return seconds;
  }

 private:
  /// Bytes on the links of all slices, and on the networks of their hosts.
  class Traffic {
   public:
    explicit Traffic(const CollectiveModel& model)
        : model_(model), links_(static_cast<size_t>(model.slice_.count), LinkLoads(model.network_)) {}

    void send(int64_t from, int64_t to, double bytes) {
      const int64_t slice = model_.slice_of(from), chips = model_.network_.chips();
      if (slice == model_.slice_of(to)) {
        hops_ = std::max(hops_, links_[static_cast<size_t>(slice)].send(from % chips, to % chips, bytes));
        return;
      }
      busiest_host_ =
          std::max({busiest_host_, out_[model_.host_of(from)] += bytes, in_[model_.host_of(to)] += bytes});
    }

    LinkUse use() const {
      LinkUse use{0, busiest_host_, hops_};
      for (const LinkLoads& loads : links_) use.busiest = std::max(use.busiest, loads.busiest());
      return use;
    }

   private:
    const CollectiveModel& model_;
    std::vector<LinkLoads> links_;
    std::map<int64_t, double> out_, in_;  // by host
    double busiest_host_ = 0;
    int64_t hops_ = 0;
  };

  /// Of `scale` times the bytes that `use` was found with.
  Seconds seconds_of(const LinkUse& use, double link, double scale) const {
    Seconds result{use.busiest * scale / link, static_cast<double>(use.hops) * hop_seconds(), use.hops};
    if (use.busiest_host == 0) return result;
    const LinkConfig& dcn = device_.host.dcn;
    result.by_bytes = std::max(result.by_bytes, use.busiest_host * scale / dcn.bandwidth.count());
    result.by_hops = std::max(result.by_hops, static_cast<double>(dcn.latency.count()) * 1e-12);
    return result;
  }

  GroupPlace place_in_slice(const std::map<int64_t, int64_t>& members) const {
    GroupPlace place;
    place.chips = static_cast<int64_t>(members.size());
    place.members_per_chip = members.begin()->second;
    for (const auto& [chip, count] : members) place.is_box &= count == place.members_per_chip;
    int64_t stride = 1, box = 1;
    for (size_t axis = 0; axis < slice_.sides.size(); ++axis) {
      std::vector<int64_t> at;
      for (const auto& [chip, count] : members) at.push_back(chip / stride % slice_.sides[axis]);
      const AxisSpan span = span_of(std::move(at));
      const bool closes = slice_.wraps[axis] && !closes_with_twist(axis);
      if (span.length > 1)
        place.axes.push_back({static_cast<int64_t>(axis), span.length,
                              closes && span.length * span.stride == slice_.sides[axis], span.stride});
      place.is_box &= span.is_even && (span.stride == 1 || span.length * span.stride <= slice_.sides[axis]);
      box *= span.length;
      stride *= slice_.sides[axis];
    }
    place.is_box &= box == place.chips;
    place.is_twisted = slice_.twisted && place.is_box && place.chips == network_.chips();
    return place;
  }

  bool closes_with_twist(size_t axis) const {
    return slice_.twisted &&
           slice_.sides[axis] == *std::min_element(slice_.sides.begin(), slice_.sides.end());
  }

  /// The devices of a chip exchange their parts of `bytes` as well.
  void on_chip(const GroupPlace& place, double bytes, Seconds& seconds) const {
    if (place.members_per_chip < 2) return;
    const double others = 1 - 1 / static_cast<double>(place.members_per_chip);
    seconds.by_bytes = std::max(seconds.by_bytes, bytes * others / die_rate());
    if (place.chips == 1) seconds.by_hops = hop_seconds(), seconds.hops = 1;
  }

  const DeviceConfig& device_;
  const Slice& slice_;
  const DeviceGrid& grid_;
  AssumptionList& assumptions_;
  Interconnect network_;
  bool in_turn_;
};

std::string axes_text(const GroupPlace& place, bool in_turn) {
  std::vector<std::string> parts;
  for (const TorusAxis& axis : place.axes)
    parts.push_back(
        fmt::format("{} of {} along {}{}", axis.ring ? "ring" : "line", axis.length,
                    axis.axis < 3 ? std::string(1, "xyz"[axis.axis]) : fmt::format("axis {}", axis.axis),
                    axis.stride > 1 ? fmt::format(", {} apart", axis.stride) : ""));
  std::string text = place.is_twisted     ? fmt::format("twisted torus of {} chips", place.chips)
                     : place.axes.empty() ? "within one chip"
                                          : fmt::format("{}", fmt::join(parts, ", "));
  if (place.axes.size() > 1 && (in_turn || !place.is_twisted))
    text += in_turn ? ", one axis after the other" : ", axes in rotation";
  if (place.slices > 1) text += fmt::format("; between {} slices over their hosts", place.slices);
  return text;
}

std::string_view kind_text(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {
      "reduce-scatter and all-gather",           "all-gather", "reduce-scatter", "all-to-all",
      "ragged all-to-all as one of equal parts", "permute",    "broadcast"};
  return kNames[static_cast<size_t>(kind)];
}

/// What each part takes along one axis after the other, of V or of a member's payload S.
std::string_view equation_of_axes(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kRaggedAllToAll:
      return "S x n / 4w (a ring: 8w) of the longest axis of n chips";
    case CollectiveKind::kBroadcast:
      return "V / (w of each line + 2w of each ring)";
    default:
      return "sum over the axes of the slowest part: (n - 1) x part / w (a ring: 2w); a part grows n-fold";
  }
}

/// Of Seconds::by_bytes of a group that fills a box.
std::string equation_of(CollectiveKind kind, const GroupPlace& place, bool in_turn) {
  const bool gathers = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
                       kind == CollectiveKind::kAllReduce;
  const bool one_axis = place.axes.size() == 1;
  std::string text;
  if (place.is_twisted)
    text = !gathers  ? "bytes of the busiest link / w"
           : in_turn ? "(N - 1) / N x V / 2w"
                     : "(N - 1) / N x V / (2w x axes)";
  else if (gathers && one_axis)
    text = fmt::format("({0} - 1) / {0} x V / {1}{2}", place.axes[0].length, place.axes[0].ring ? "2w" : "w",
                       place.axes[0].stride > 1 ? fmt::format(" x {}", place.axes[0].stride) : "");
  else if (!place.axes.empty())
    text = equation_of_axes(kind);
  if (place.members_per_chip > 1)
    text += fmt::format("{}({} - 1) / {} x {} / rate within a chip", text.empty() ? "" : ", at least ",
                        place.members_per_chip, place.members_per_chip, gathers ? "V" : "S");
  if (kind == CollectiveKind::kAllReduce) text = fmt::format("2 x [{}]", text);
  if (place.slices > 1) text += ", and the rest over the hosts' network";
  return text;
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

/// What the text has of the groups of a collective: the same for two of which collective_groups() says the
/// same.
std::string text_of_groups(const OpContext& op, GroupMode mode) {
  std::string text;
  const auto add = [&](int64_t number) {
    text.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const auto add_list = [&](std::span<const int64_t> list) {
    add(static_cast<int64_t>(list.size()));
    for (const int64_t number : list) add(number);
  };
  add(static_cast<int64_t>(mode));
  add(op.has(AttrKey::kSourceTargetPairs));
  if (op.has(AttrKey::kSourceTargetPairs)) {
    for (const auto pair : op.int_lists(AttrKey::kSourceTargetPairs)) add_list(pair);
    return text;
  }
  const Attr* attr = op.find(AttrKey::kReplicaGroups);
  const ReplicaGroups groups = attr ? attr->replica_groups() : ReplicaGroups{};
  add(static_cast<int64_t>(groups.form));
  add(static_cast<int64_t>(groups.groups.size()));
  for (const auto group : groups.groups) add_list(group);
  add_list(groups.iota_dimensions), add_list(groups.iota_reshape), add_list(groups.iota_transpose);
  return text.append(groups.text);
}

}  // namespace

struct CollectiveCosts::Placed {
  CollectiveGroups listed;
  int64_t group_size = 1, group_count = 1;
  std::vector<GroupPlace> boxes;  // of the groups that fill one, in order; of neighbours that are alike, one
  bool all_boxes = true;
  int64_t members_per_host = 1;  // known where a group has members in several slices
  std::optional<LinkUse> ring;   // known once it was asked
};

namespace {

/// Where the members of groups are, in the order of the groups.
void place_groups(const CollectiveModel& model, const std::vector<std::vector<int64_t>>& groups,
                  std::vector<GroupPlace>& boxes, bool& all_boxes) {
  const bool cover = model.covers(groups);
  for (const auto& group : groups) {
    GroupPlace place = model.place(group);
    // Each has its share of links only if nobody else uses them.
    place.is_box &= cover || !place.is_strided();
    all_boxes &= place.is_box;
    if (place.is_box && (boxes.empty() || boxes.back() != place)) boxes.push_back(std::move(place));
  }
}

/// The slowest of groups that fill boxes and go on at the same time; `cost` gets the algorithm and the bound.
Seconds seconds_of_boxes(const CollectiveModel& model, std::span<const GroupPlace> boxes,
                         int64_t members_per_host, double volume, double bytes, CollectiveCost& cost) {
  Seconds seconds;
  bool first = true;
  for (const GroupPlace& place : boxes) {
    Seconds here = model.on_box(cost.kind, place, volume, bytes);
    if (place.slices > 1)
      here.by_bytes += model.between_slices(cost.kind, place, volume, bytes, members_per_host);
    if (first || here.total() > seconds.total()) {
      const Seconds bound = model.bound(cost.kind, place, volume, bytes);
      cost.bound = ceil_picoseconds(std::max(bound.by_bytes, bound.by_hops) * 1e12);
      seconds = here;
      cost.algorithm = fmt::format("{}: {}", kind_text(cost.kind), axes_text(place, model.in_turn()));
      cost.equation = equation_of(cost.kind, place, model.in_turn());
      const bool within_chip = place.chips == 1 && place.slices == 1;
      cost.link = BytesPerSecond(within_chip ? 0 : model.link_rate(place.members_per_chip));
    }
    first = false;
  }
  return seconds;
}

/// The same where some groups fill no box: all of them as rings, if that is slower.
void use_rings(const CollectiveModel& model, const Slice& slice, const LinkUse& ring, double volume,
               double bytes, CollectiveCost& cost, Seconds& seconds) {
  const Seconds rings = model.on_links(cost.kind, ring, cost.group_size, volume, bytes);
  if (rings.total() < seconds.total()) return;
  seconds = rings;
  cost.algorithm = fmt::format("{}: ring in group order on {}", kind_text(cost.kind), slice.text());
  cost.equation = "rounds x bytes of the busiest link in a round / w";
  cost.link = BytesPerSecond(model.link_rate(slice.devices_per_chip));
  cost.bound = Picoseconds(0);
}

}  // namespace

CollectiveCosts::CollectiveCosts(const DeviceConfig& device, const Slice& slice, const DeviceGrid& grid)
    : device_(device), slice_(slice), grid_(grid) {}

CollectiveCosts::~CollectiveCosts() = default;

Result<CollectiveCost> CollectiveCosts::of(const OpContext& op, AssumptionList& assumptions, AxisOrder order,
                                           std::optional<CollectiveKind> kind) {
  CollectiveCost cost;
  const Work work = work_of(op);
  if (!work.collective) return cost;
  const Result<Placed*> placed = this->placed(op);
  if (!placed) return tl::unexpected(placed.error());
  cost.kind = kind.value_or(work.collective->kind);
  add_payload(cost, work.collective->payload);
  const Key key{*placed,
                cost.kind,
                order,
                cost.payload.count(),
                cost.scalar_payload.count(),
                cost.logical_payload.count()};
  const auto [found, is_new] = known_.try_emplace(key);
  Known& known = found->second;
  if (is_new) known.cost = price(**placed, std::move(cost), order, known.assumptions);
  assumptions.add_all(known.assumptions);
  return known.cost;
}

Result<CollectiveCosts::Placed*> CollectiveCosts::placed(const OpContext& op) {
  const Result<GroupMode> mode = group_mode(op);
  if (!mode) return tl::unexpected(mode.error());
  std::string text = text_of_groups(op, *mode);
  if (const auto found = placed_.find(text); found != placed_.end()) return found->second.get();
  Result<CollectiveGroups> listed = collective_groups(op, grid_);
  if (!listed) return tl::unexpected(listed.error());
  auto made = std::make_unique<Placed>();
  made->listed = std::move(*listed);
  const std::vector<std::vector<int64_t>>& groups = made->listed.groups;
  made->group_count = static_cast<int64_t>(groups.size());
  for (const auto& group : groups)
    made->group_size = std::max(made->group_size, static_cast<int64_t>(group.size()));
  if (!made->listed.pairs.empty())
    made->group_size = 2, made->group_count = static_cast<int64_t>(made->listed.pairs.size());
  AssumptionList none;  // places rest on none
  const CollectiveModel model(device_, slice_, grid_, none, AxisOrder::kRotation);
  if (made->group_size > 1 && made->listed.pairs.empty()) {
    place_groups(model, groups, made->boxes, made->all_boxes);
    if (std::ranges::any_of(made->boxes, [](const GroupPlace& place) { return place.slices > 1; }))
      made->members_per_host = model.members_per_host(groups);
  }
  return placed_.emplace(std::move(text), std::move(made)).first->second.get();
}

/// `cost` has the kind and the payload.
CollectiveCost CollectiveCosts::price(Placed& placed, CollectiveCost cost, AxisOrder order,
                                      AssumptionList& assumptions) {
  const auto& pairs = placed.listed.pairs;
  cost.group_size = placed.group_size, cost.group_count = placed.group_count;
  cost.sent = sent_per_member(cost.kind, cost.group_size, cost.logical_payload);
  cost.scalar_sent = sent_per_member(cost.kind, cost.group_size, cost.scalar_payload);
  const CollectiveModel model(device_, slice_, grid_, assumptions, order);
  // Scalars travel with the arrays, padding too.
  const Bytes payload = cost.payload + cost.scalar_payload;
  cost.volume = collective_volume(cost.kind, cost.group_size, payload);
  const auto volume = static_cast<double>(cost.volume.count());
  const auto bytes = static_cast<double>(payload.count());
  Seconds seconds;
  if (cost.group_size == 1 && pairs.empty()) {
    cost.algorithm = "one member: nothing is sent";
    return cost;
  }
  if (!pairs.empty()) {
    seconds = model.permute(pairs, bytes);
    cost.algorithm =
        fmt::format("permute of {} pairs by the shortest ways on {}", pairs.size(), slice_.text());
    cost.equation = "bytes of the busiest link / w";
    cost.link = BytesPerSecond(model.link_rate(slice_.devices_per_chip));
  } else {
    seconds = seconds_of_boxes(model, placed.boxes, placed.members_per_host, volume, bytes, cost);
    if (!placed.all_boxes) {
      if (!placed.ring) placed.ring = model.ring_use(placed.listed.groups);
      use_rings(model, slice_, *placed.ring, volume, bytes, cost, seconds);
    }
  }
  cost.network = ceil_picoseconds(seconds.total() * 1e12);
  cost.by_bytes = std::min(ceil_picoseconds(seconds.by_bytes * 1e12), cost.network);
  cost.by_hops = cost.network - cost.by_bytes;
  cost.hops = seconds.hops;
  cost.latency_bound = seconds.by_hops > seconds.by_bytes;
  cost.launch = device_.ici.launch;
  return cost;
}

Result<CollectiveCost> cost_collective(const OpContext& op, const DeviceConfig& device, const Slice& slice,
                                       const DeviceGrid& grid, AssumptionList& assumptions, AxisOrder order) {
  return CollectiveCosts(device, slice, grid).of(op, assumptions, order);
}

Result<CollectiveCost> cost_collective_as(std::optional<CollectiveKind> kind, const OpContext& op,
                                          const DeviceConfig& device, const Slice& slice,
                                          const DeviceGrid& grid, AssumptionList& assumptions,
                                          AxisOrder order) {
  return CollectiveCosts(device, slice, grid).of(op, assumptions, order, kind);
}

std::string_view to_text(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {"all-reduce", "all-gather",        "reduce-scatter",
                                         "all-to-all", "ragged-all-to-all", "collective-permute",
                                         "broadcast"};
  return kNames[static_cast<size_t>(kind)];
}

CollectiveCost together(std::span<const CollectiveCost> costs) {
  HLOSIM_CHECK(!costs.empty(), "no collective to add up");
  CollectiveCost all = costs[0];
  for (const CollectiveCost& one : costs.subspan(1)) {
    if (one.group_size != all.group_size) all.group_size = 0;
    if (one.group_count != all.group_count) all.group_count = 0;
    if (one.driver != all.driver) all.driver = Unit::kNone;
    if (one.link < all.link) all.link = one.link;
    all.payload += one.payload, all.scalar_payload += one.scalar_payload;
    all.logical_payload += one.logical_payload;
    all.sent += one.sent, all.scalar_sent += one.scalar_sent;
    all.launch += one.launch, all.driving += one.driving;
    all.network += one.network, all.by_bytes += one.by_bytes, all.by_hops += one.by_hops;
    all.hops += one.hops, all.volume += one.volume, all.bound += one.bound;
    all.latency_bound |= one.latency_bound;
    if (!one.algorithm.empty()) all.algorithm += (all.algorithm.empty() ? "" : "; then ") + one.algorithm;
    all.equation.clear();
  }
  return all;
}

}  // namespace hlosim
