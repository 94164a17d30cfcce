#include "sharding/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/rounding.h"

namespace hlosim {
namespace {

/// Neighbours along it are `stride` places apart.
struct Piece {
  int64_t size, stride;
};

/// The pieces of each dimension and subgroup; nullopt: the sizes cut across each other.
std::optional<std::vector<std::vector<Piece>>> pieces_of(const TileAssignment& tiles) {
  std::vector<int64_t> strides(tiles.reshape.size(), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * tiles.reshape[i];
  std::vector<Piece> all;
  for (const int64_t i : tiles.order)
    all.push_back({tiles.reshape[static_cast<size_t>(i)], strides[static_cast<size_t>(i)]});
  std::vector<int64_t> sizes = tiles.dimensions;
  for (const TileAssignment::Subgroup& subgroup : tiles.subgroups) sizes.push_back(subgroup.size);
  std::vector<std::vector<Piece>> cuts;
  size_t next = 0;
  for (int64_t wanted : sizes) {
    std::vector<Piece>& cut = cuts.emplace_back();
    while (wanted > 1) {
      while (next < all.size() && all[next].size == 1) ++next;
      if (next == all.size()) return std::nullopt;
      Piece& piece = all[next];
      const int64_t common = std::min(piece.size, wanted);
      if (piece.size % common != 0 || wanted % common != 0) return std::nullopt;
      piece.size /= common;
      wanted /= common;
      cut.push_back({common, piece.stride * piece.size});
    }
  }
  return cuts;
}

/// The axes that these pieces are; nullopt: some piece isn't made of whole axes.
std::optional<std::vector<AxisList>> axes_of(const DeviceAxes& axes,
                                             const std::vector<std::vector<Piece>>& cuts) {
  std::vector<AxisList> lists;
  for (const std::vector<Piece>& cut : cuts) {
    AxisList& list = lists.emplace_back();
    for (const Piece& piece : cut) {
      const AxisList more = axes.axes_of(piece.stride, piece.size);
      if (more.empty()) return std::nullopt;
      list.insert(list.end(), more.begin(), more.end());
    }
  }
  return lists;
}

/// Any axes of these lengths, for devices that stand otherwise.
std::vector<AxisList> any_axes(const DeviceAxes& axes, const TileAssignment& tiles) {
  std::vector<int64_t> sizes = tiles.dimensions;
  for (const TileAssignment::Subgroup& subgroup : tiles.subgroups) sizes.push_back(subgroup.size);
  AxisSet used = 0;
  std::vector<AxisList> lists;
  for (int64_t rest : sizes) {
    AxisList& list = lists.emplace_back();
    for (int axis = 0; axis < axes.count() && rest > 1; ++axis) {
      if ((used >> axis & 1) != 0 || rest % axes.size(axis) != 0) continue;
      list.push_back(axis);
      used |= AxisSet{1} << axis;
      rest /= axes.size(axis);
    }
  }
  return lists;
}

Tiling from_lists(const TileAssignment& tiles, std::vector<AxisList> lists) {
  Tiling tiling;
  const size_t data = tiles.dimensions.size();
  for (size_t i = data; i < lists.size(); ++i) {
    const SubgroupType type = tiles.subgroups[i - data].type;
    if (type == SubgroupType::kManual) tiling.manual |= set_of(lists[i]);
    if (type == SubgroupType::kUnreduced) tiling.partial |= set_of(lists[i]);
  }
  tiling.partial_kind = tiles.partial;
  lists.resize(data);
  tiling.cuts = std::move(lists);
  return tiling;
}

bool same_order(const DeviceAxes& axes, const std::vector<int64_t>& list) {
  if (list.empty()) return axes.in_order();
  for (size_t i = 0; i < list.size(); ++i)
    if (axes.device_at(static_cast<int64_t>(i)) != list[i]) return false;
  return true;
}

/// Axes that stand next to each other in the array of devices, as one.
struct Run {
  int64_t size = 1;
  int first = 0, last = 0;  // axes
};
std::vector<Run> runs_of(const DeviceAxes& axes, const AxisList& list) {
  std::vector<Run> runs;
  for (const int axis : list) {
    if (!runs.empty() && runs.back().last + 1 == axis) {
      runs.back().last = axis;
      runs.back().size *= axes.size(axis);
    } else {
      runs.push_back({axes.size(axis), axis, axis});
    }
  }
  return runs;
}

/// <=[reshape]T(order) that lists the places by these axes, all of them.
void iota_of(const DeviceAxes& axes, const AxisList& list, std::vector<int64_t>& reshape,
             std::vector<int64_t>& order) {
  const std::vector<Run> runs = runs_of(axes, list);
  std::vector<size_t> sorted(runs.size());
  std::iota(sorted.begin(), sorted.end(), size_t{0});
  std::sort(sorted.begin(), sorted.end(), [&](size_t a, size_t b) { return runs[a].first < runs[b].first; });
  reshape.clear();
  order.assign(runs.size(), 0);
  for (size_t i = 0; i < sorted.size(); ++i) {
    reshape.push_back(runs[sorted[i]].size);
    order[sorted[i]] = static_cast<int64_t>(i);
  }
  if (reshape.empty()) {
    reshape = {1};
    order = {0};
  }
}

std::vector<int64_t> devices_by(const DeviceAxes& axes, const AxisList& list) {
  std::vector<int64_t> devices(static_cast<size_t>(axes.devices()));
  for (int64_t place = 0; place < axes.devices(); ++place)
    devices[static_cast<size_t>(axes.index(place, list))] = axes.device_at(place);
  return devices;
}

}  // namespace

AxisSet Tiling::cutting() const {
  AxisSet set = 0;
  for (const AxisList& list : cuts) set |= set_of(list);
  return set;
}

Result<PlacedTiling> tiling_of(const DeviceAxes& axes, const TileAssignment& tiles, int64_t rank) {
  using Kind = TileAssignment::Kind;
  PlacedTiling placed{Tiling(rank), {}};
  if (tiles.kind == Kind::kManual) placed.tiling.manual = axes.all();
  if (tiles.kind == Kind::kUnreduced) {
    placed.tiling.partial = axes.all();
    placed.tiling.partial_kind = tiles.partial;
  }
  if (tiles.kind == Kind::kMaximal && (tiles.device < 0 || tiles.device >= axes.devices()))
    return failure(fmt::format("device {} of {}", tiles.device, axes.devices()));
  if (!tiles.is_tiled()) return placed;
  if (tiles.devices() != axes.devices())
    return failure(fmt::format("the sharding is for {} device{}, the program for {}", tiles.devices(),
                               tiles.devices() == 1 ? "" : "s", axes.devices()));
  const auto pieces = pieces_of(tiles);
  const auto lists = pieces ? axes_of(axes, *pieces) : std::nullopt;
  const bool regular = lists && same_order(axes, tiles.device_list);
  std::vector<AxisList> cuts = lists ? *lists : any_axes(axes, tiles);
  AxisList all;
  for (const AxisList& list : cuts) all.insert(all.end(), list.begin(), list.end());
  placed.tiling = from_lists(tiles, std::move(cuts));
  if (placed.tiling.cutting() == 0 && placed.tiling.rank() != rank)
    placed.tiling.cuts.assign(static_cast<size_t>(rank), {});
  if (placed.tiling.rank() != rank)
    return failure(fmt::format("the sharding tiles {} dimension{}, the array has {}", placed.tiling.rank(),
                               placed.tiling.rank() == 1 ? "" : "s", rank));
  if (regular) return placed;
  const std::vector<int64_t> devices = list_devices(tiles);
  for (int axis = 0; axis < axes.count(); ++axis)
    if (std::find(all.begin(), all.end(), axis) == all.end()) all.push_back(axis);
  placed.device_at.resize(devices.size());
  for (int64_t place = 0; place < axes.devices(); ++place)
    placed.device_at[static_cast<size_t>(place)] = devices[static_cast<size_t>(axes.index(place, all))];
  return placed;
}

std::string to_text(const DeviceAxes& axes, const Tiling& tiling) {
  const AxisSet rest = axes.all() & ~tiling.used();
  if (tiling.manual == axes.all() && axes.count() > 0) return "{manual}";
  if (tiling.is_replicated()) return "{replicated}";
  if (tiling.partial == axes.all() && tiling.partial_kind == PartialKind::kSum) return "{unreduced}";
  AxisList all;
  std::vector<int64_t> sizes;
  std::vector<std::string_view> types;
  const auto add = [&](const AxisList& list) {
    all.insert(all.end(), list.begin(), list.end());
    sizes.push_back(axes.length(list));
  };
  for (const AxisList& list : tiling.cuts) add(list);
  if (tiling.manual != 0) add(list_of(tiling.manual)), types.emplace_back("manual");
  if (tiling.partial != 0) add(list_of(tiling.partial)), types.emplace_back("unreduced");
  if (rest != 0) add(list_of(rest)), types.emplace_back("replicated");
  std::string text = fmt::format("{{devices=[{}]", fmt::join(sizes, ","));
  std::vector<int64_t> reshape, order;
  iota_of(axes, all, reshape, order);
  if (!axes.in_order())
    text += fmt::format("{}", fmt::join(devices_by(axes, all), ","));
  else
    text += fmt::format("<=[{}]", fmt::join(reshape, ","));
  if (axes.in_order() && reshape.size() > 1) text += fmt::format("T({})", fmt::join(order, ","));
  if (types.size() == 1 && types[0] == "replicated")
    text += " last_tile_dim_replicate";
  else if (!types.empty())
    text += fmt::format(" last_tile_dims={{{}}}", fmt::join(types, ","));
  return text + "}";
}

int64_t shard_size(const DeviceAxes& axes, const AxisList& cut, int64_t size) {
  return cut.empty() ? size : ceil_div(size, axes.length(cut));
}

ShapeRef shard_shape(const DeviceAxes& axes, const Tiling& tiling, ShapeRef shape, ShapePool& pool) {
  if (!shape->is_array() || tiling.cutting() == 0) return shape;
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < shape->rank(); ++i) sizes.push_back(shard_size(axes, tiling.cut(i), shape->dim(i)));
  return pool.array(shape->element_type, sizes, shape->layout, shape->dynamic);
}

bool is_padded(const DeviceAxes& axes, const AxisList& cut, int64_t size) {
  return size % axes.length(cut) != 0;
}

bool refines(const DeviceAxes& axes, const AxisList& coarse, const AxisList& fine, int64_t size) {
  if (coarse.empty() || fine.size() == coarse.size()) return true;
  const int64_t parts = axes.length(fine) / axes.length(coarse);
  return shard_size(axes, coarse, size) == parts * shard_size(axes, fine, size);
}

bool extends(const AxisList& fine, const AxisList& coarse) {
  return fine.size() >= coarse.size() && std::equal(coarse.begin(), coarse.end(), fine.begin());
}

DeviceGroups device_groups(const DeviceAxes& axes, const AxisList& along) {
  DeviceGroups groups;
  AxisList all = list_of(axes.all() & ~set_of(along));
  all.insert(all.end(), along.begin(), along.end());
  groups.members = axes.length(along);
  groups.groups = axes.devices() / groups.members;
  if (axes.in_order()) {
    iota_of(axes, all, groups.reshape, groups.order);
    return groups;
  }
  const std::vector<int64_t> devices = devices_by(axes, all);
  for (int64_t group = 0; group < groups.groups; ++group) {
    const auto first = devices.begin() + group * groups.members;
    groups.lists.emplace_back(first, first + groups.members);
  }
  return groups;
}

}  // namespace hlosim
