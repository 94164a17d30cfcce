#include "interconnect/collective_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/check.h"
#include "interconnect/collective_costs.h"
#include "interconnect/collective_driver.h"
#include "interconnect/collective_model.h"
#include "layout/sizes.h"
#include "model/instruction_cost.h"
#include "ops/collective_groups.h"
#include "ops/infer.h"
#include "ops/work.h"

namespace hlosim {
namespace {

std::string axes_text(const GroupPlace& place, bool in_turn, bool one_way) {
  std::vector<std::string> parts;
  for (const TorusAxis& axis : place.axes)
    parts.push_back(fmt::format(
        "{} of {} along {}{}",
        !axis.ring ? "line"
        : one_way  ? "one-way ring"
                   : "ring",
        axis.length, axis.axis < 3 ? std::string(1, "xyz"[axis.axis]) : fmt::format("axis {}", axis.axis),
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
std::string_view equation_of_axes(CollectiveKind kind, bool one_way) {
  switch (kind) {
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kRaggedAllToAll:
      return "S x n / 4w (a ring: 8w) of the longest axis of n chips";
    case CollectiveKind::kBroadcast:
      return "V / (w of each line + 2w of each ring)";
    default:
      return one_way ? "sum over the axes of the slowest part: (n - 1) x part / w; a part grows n-fold"
                     : "sum over the axes of the slowest part: (n - 1) x part / w (a ring: 2w); a part grows "
                       "n-fold";
  }
}

/// Of LinkSeconds::by_bytes of a group that fills a box.
std::string equation_of(CollectiveKind kind, const GroupPlace& place, bool in_turn, bool one_way) {
  const bool gathers = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
                       kind == CollectiveKind::kAllReduce;
  const bool one_axis = place.axes.size() == 1;
  std::string text;
  if (place.is_twisted)
    text = !gathers  ? "bytes of the busiest link / w"
           : in_turn ? "(N - 1) / N x V / 2w"
           : one_way ? "(N - 1) / N x V / (w x axes)"
                     : "(N - 1) / N x V / (2w x axes)";
  else if (gathers && one_axis)
    text = fmt::format("({0} - 1) / {0} x V / {1}{2}", place.axes[0].length,
                       place.axes[0].ring && !one_way ? "2w" : "w",
                       place.axes[0].stride > 1 ? fmt::format(" x {}", place.axes[0].stride) : "");
  else if (!place.axes.empty())
    text = equation_of_axes(kind, one_way);
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
  int64_t members_per_host = 1;          // known where a group has members in several slices
  std::optional<LinkUse> ring;           // known once it was asked
  std::shared_ptr<const LinkSet> links;  // of pairs, too
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
LinkSeconds seconds_of_boxes(const CollectiveModel& model, std::span<const GroupPlace> boxes,
                             int64_t members_per_host, double volume, double bytes, CollectiveCost& cost) {
  LinkSeconds seconds;
  bool first = true;
  for (const GroupPlace& place : boxes) {
    LinkSeconds here = model.on_box(cost.kind, place, volume, bytes);
    if (place.slices > 1)
      here.by_bytes += model.between_slices(cost.kind, place, volume, bytes, members_per_host);
    if (first || here.total() > seconds.total()) {
      const LinkSeconds bound = model.bound(cost.kind, place, volume, bytes);
      cost.bound = ceil_picoseconds(std::max(bound.by_bytes, bound.by_hops) * 1e12);
      seconds = here;
      const bool in_turn = model.in_turn(), one_way = model.one_way(cost.kind);
      cost.algorithm = fmt::format("{}: {}", kind_text(cost.kind), axes_text(place, in_turn, one_way));
      cost.equation = equation_of(cost.kind, place, in_turn, one_way);
      const bool within_chip = place.chips == 1 && place.slices == 1;
      cost.link = BytesPerSecond(within_chip ? 0 : model.link_rate(place.members_per_chip));
    }
    first = false;
  }
  return seconds;
}

/// The same where some groups fill no box: all of them as rings, if that is slower.
void use_rings(const CollectiveModel& model, const Slice& slice, const LinkUse& ring, double volume,
               double bytes, CollectiveCost& cost, LinkSeconds& seconds) {
  const LinkSeconds rings = model.on_links(cost.kind, ring, cost.group_size, volume, bytes);
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
  if (cost.kind == CollectiveKind::kRaggedAllToAll && cost.group_size > 1)
    assumptions.add(
        "sizes of ragged all-to-alls are data: every member is assumed to send an equal part to each, and as "
        "many rows as the smaller of input and output has");
  // Scalars travel with the arrays, padding too.
  const Bytes payload = cost.payload + cost.scalar_payload;
  cost.volume = collective_volume(cost.kind, cost.group_size, payload);
  const auto volume = static_cast<double>(cost.volume.count());
  const auto bytes = static_cast<double>(payload.count());
  LinkSeconds seconds;
  if (cost.group_size == 1 && pairs.empty()) {
    cost.algorithm = "one member: nothing is sent";
    return cost;
  }
  if (!pairs.empty()) {
    seconds = model.permute(pairs, bytes);
    if (!placed.links) placed.links = model.permute_links(pairs);
    cost.links = placed.links;
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
    for (Bytes CollectiveCost::*const bytes :
         {&CollectiveCost::payload, &CollectiveCost::scalar_payload, &CollectiveCost::logical_payload,
          &CollectiveCost::sent, &CollectiveCost::scalar_sent, &CollectiveCost::volume})
      add_bytes(all.*bytes, one.*bytes);
    for (Picoseconds CollectiveCost::*const time :
         {&CollectiveCost::launch, &CollectiveCost::driving, &CollectiveCost::network,
          &CollectiveCost::by_bytes, &CollectiveCost::by_hops, &CollectiveCost::bound})
      all.*time = later(all.*time, one.*time);
    all.links.reset();
    all.hops += one.hops;
    all.latency_bound |= one.latency_bound;
    if (!one.algorithm.empty()) all.algorithm += (all.algorithm.empty() ? "" : "; then ") + one.algorithm;
    all.equation.clear();
  }
  return all;
}

}  // namespace hlosim
