#include "interconnect/collective_model.h"

#include <cmath>
#include <optional>

namespace hlosim {
namespace {

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

/// A ring that is used one way carries what a line does, over as many hops.
GroupPlace used_one_way(GroupPlace place) {
  for (TorusAxis& axis : place.axes) axis.ring = false;
  return place;
}

}  // namespace

bool CollectiveModel::one_way(CollectiveKind kind) const {
  return one_way_ && (kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
                      kind == CollectiveKind::kAllReduce);
}

/// Bytes on the links of all slices, and on the networks of their hosts.
class CollectiveModel::Traffic {
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

  /// Requires: nothing was sent between slices.
  LinkSet links() const {
    LinkSet links;
    const size_t each = model_.network_.links();
    for (size_t slice = 0; slice < links_.size(); ++slice)
      for (size_t link = 0; link < each; ++link)
        if (links_[slice].carries(link)) links.add(slice * each + link);
    return links;
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

int64_t CollectiveModel::chip_of(int64_t flattened) const {
  const int64_t replica = flattened / grid_.partitions, partition = flattened % grid_.partitions;
  return (partition * grid_.replicas + replica) / slice_.devices_per_chip;
}

GroupPlace CollectiveModel::place(std::span<const int64_t> group) const {
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

double CollectiveModel::link_rate(int64_t members_per_chip) const {
  const double axes = 2.0 * static_cast<double>(std::max<size_t>(device_.ici.pod.sides.size(), 1));
  const double share = static_cast<double>(members_per_chip) / static_cast<double>(slice_.devices_per_chip);
  const BytesPerSecond rate = in_turn_ ? *device_.ici.core_bandwidth : device_.ici.bandwidth;
  return rate.count() * static_cast<double>(device_.ici.links) / axes * std::min(share, 1.0);
}

double CollectiveModel::die_rate() const {
  if (device_.ici.die_to_die) return device_.ici.die_to_die->count();
  assumptions_.add("the device file has no rate between the devices of one chip: assumed equal to a link's");
  return device_.ici.bandwidth.count();
}

int64_t CollectiveModel::hops(const GroupPlace& place) const {
  if (!place.is_twisted) return diameter(place.axes);
  int64_t farthest = 0;
  for (int64_t chip = 1; chip < network_.chips(); ++chip) {
    int64_t steps = 0;
    network_.walk(0, network_.ways(0, chip).front(), [&](size_t) { ++steps; });
    farthest = std::max(farthest, steps);
  }
  return farthest;
}

LinkSeconds CollectiveModel::bound(CollectiveKind kind, const GroupPlace& place, double volume,
                                   double payload) const {
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

LinkSeconds CollectiveModel::gather(const GroupPlace& group, double bytes) const {
  const GroupPlace place = one_way_ ? used_one_way(group) : group;
  LinkSeconds seconds;
  const double link = link_rate(place.members_per_chip);
  // A twisted torus looks the same along all axes: all links in use carry the same.
  const double others = 1 - 1 / static_cast<double>(std::max<int64_t>(place.chips, 1));
  seconds.by_bytes = place.is_twisted && in_turn_ ? bytes * others / (2 * link)
                     : place.is_twisted
                         ? bound(CollectiveKind::kAllGather, place, bytes, 0).by_bytes * (one_way_ ? 2 : 1)
                     : in_turn_ ? gather_seconds_in_turn(place.axes, bytes, link)
                                : gather_seconds(place.axes, bytes, link);
  add_hops(place, seconds);
  on_chip(place, bytes, seconds);
  return seconds;
}

void CollectiveModel::add_hops(const GroupPlace& place, LinkSeconds& seconds) const {
  seconds.hops = hops(place);
  seconds.by_hops = static_cast<double>(seconds.hops) * hop_seconds();
}

LinkSeconds CollectiveModel::on_box(CollectiveKind kind, const GroupPlace& place, double volume,
                                    double payload) const {
  const double link = link_rate(place.members_per_chip);
  LinkSeconds seconds;
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

double CollectiveModel::between_slices(CollectiveKind kind, const GroupPlace& place, double volume,
                                       double payload, int64_t members_per_host) const {
  const auto slices = static_cast<double>(place.slices);
  const auto members = static_cast<double>(place.chips * place.members_per_chip);
  const double others = (slices - 1) / slices;
  double bytes = 0, steps = slices - 1;  // bytes of one member, one way; of a ring over the slices
  switch (kind) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      bytes = volume * others / members;
      break;
    case CollectiveKind::kAllReduce:
      bytes = 2 * volume * others / members;
      steps *= 2;
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
  // All hosts of a slice send at the same time. What they add up is there when the slowest of them has sent.
  const bool adds = kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
  const double slowest =
      adds ? std::pow(static_cast<double>(hosts_of_slice()), device_.host.slowest_flow) : 1;
  return bytes * static_cast<double>(members_per_host) / device_.host.dcn.bandwidth.count() +
         (steps - 1 + slowest) * static_cast<double>(device_.host.dcn.latency.count()) * 1e-12;
}

bool CollectiveModel::covers(const std::vector<std::vector<int64_t>>& groups) const {
  int64_t members = 0;
  bool is_even = true;
  for (const auto& group : groups) {
    members += static_cast<int64_t>(group.size());
    is_even &= group.size() == groups.front().size();
  }
  return is_even && members == slice_.devices();
}

int64_t CollectiveModel::members_per_host(const std::vector<std::vector<int64_t>>& groups) const {
  std::map<int64_t, int64_t> members;
  int64_t most = 1;
  for (const auto& group : groups)
    for (const int64_t member : group) most = std::max(most, ++members[host_of(chip_of(member))]);
  return most;
}

LinkUse CollectiveModel::ring_use(const std::vector<std::vector<int64_t>>& groups) const {
  Traffic loads(*this);
  for (const auto& group : groups)
    for (size_t i = 0; i < group.size(); ++i) {
      const int64_t here = chip_of(group[i]), next = chip_of(group[(i + 1) % group.size()]);
      loads.send(here, next, 0.5);
      loads.send(next, here, 0.5);
    }
  return loads.use();
}

LinkSeconds CollectiveModel::on_links(CollectiveKind kind, const LinkUse& ring, int64_t members,
                                      double volume, double payload) const {
  const auto n = static_cast<double>(members);
  const double rounds = kind == CollectiveKind::kAllReduce ? 2 * (n - 1) : n - 1;
  // An all-to-all sends each part as far as it has to go: a quarter of the way round on average, both ways.
  const double part =
      kind == CollectiveKind::kAllToAll || kind == CollectiveKind::kRaggedAllToAll ? payload / 4 : volume / n;
  // The use is that of both directions, half of the data each.
  const LinkSeconds step =
      seconds_of(ring, link_rate(slice_.devices_per_chip), one_way(kind) ? 2 * part : part);
  return {rounds * step.by_bytes, rounds * step.by_hops, static_cast<int64_t>(rounds) * step.hops};
}

LinkSeconds CollectiveModel::permute(const std::vector<std::array<int64_t, 2>>& pairs, double payload) const {
  Traffic loads(*this);
  bool within_chip = false;
  for (const auto& [source, target] : pairs) {
    loads.send(chip_of(source), chip_of(target), payload);
    within_chip |= source != target && chip_of(source) == chip_of(target);
  }
  LinkSeconds seconds = seconds_of(loads.use(), link_rate(slice_.devices_per_chip), 1);
  if (within_chip) {
    seconds.by_bytes = std::max(seconds.by_bytes, payload / die_rate());
    seconds.by_hops = std::max(seconds.by_hops, hop_seconds());
    seconds.hops = std::max<int64_t>(seconds.hops, 1);
  }
  return seconds;
}

std::shared_ptr<const LinkSet> CollectiveModel::permute_links(
    const std::vector<std::array<int64_t, 2>>& pairs) const {
  Traffic loads(*this);
  for (const auto& [source, target] : pairs) {
    const int64_t from = chip_of(source), to = chip_of(target);
    if (source == target) continue;
    if (from == to || slice_of(from) != slice_of(to)) return nullptr;
    loads.send(from, to, 1);
  }
  return std::make_shared<const LinkSet>(loads.links());
}

LinkSeconds CollectiveModel::seconds_of(const LinkUse& use, double link, double scale) const {
  LinkSeconds result{use.busiest * scale / link, static_cast<double>(use.hops) * hop_seconds(), use.hops};
  if (use.busiest_host == 0) return result;
  const LinkConfig& dcn = device_.host.dcn;
  result.by_bytes = std::max(result.by_bytes, use.busiest_host * scale / dcn.bandwidth.count());
  result.by_hops = std::max(result.by_hops, static_cast<double>(dcn.latency.count()) * 1e-12);
  return result;
}

GroupPlace CollectiveModel::place_in_slice(const std::map<int64_t, int64_t>& members) const {
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

bool CollectiveModel::closes_with_twist(size_t axis) const {
  return slice_.twisted && slice_.sides[axis] == *std::min_element(slice_.sides.begin(), slice_.sides.end());
}

void CollectiveModel::on_chip(const GroupPlace& place, double bytes, LinkSeconds& seconds) const {
  if (place.members_per_chip < 2) return;
  const double others = 1 - 1 / static_cast<double>(place.members_per_chip);
  seconds.by_bytes = std::max(seconds.by_bytes, bytes * others / die_rate());
  if (place.chips == 1) seconds.by_hops = hop_seconds(), seconds.hops = 1;
}

}  // namespace hlosim
