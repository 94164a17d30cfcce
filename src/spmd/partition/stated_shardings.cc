#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "base/text.h"
#include "partition/partitioner.h"

namespace hlosim {
namespace {

constexpr int64_t kMostDevices = int64_t{1} << 24;

std::vector<int64_t> ranks_of(ShapeRef shape) {
  std::vector<int64_t> ranks;
  for_each_leaf(shape, [&](ShapeRef leaf) { ranks.push_back(leaf->is_array() ? leaf->rank() : -1); });
  return ranks;
}

bool has_arrays(ShapeRef shape) {
  bool found = false;
  for_each_leaf(shape, [&](ShapeRef leaf) { found = found || leaf->is_array(); });
  return found;
}

tl::unexpected<Diagnostic> at(const Module& module, const Instruction& instruction, const Attr& attr,
                              Diagnostic error) {
  error.message = fmt::format("{}: {}", instruction.name, error.message);
  error.source = module.source;
  error.offset = attr.offset;
  return tl::unexpected(std::move(error));
}

/// As the module and its shardings say, if nobody else does.
int64_t devices_of(const Module& module, const PartitionOptions& options, int64_t in_shardings) {
  if (options.devices > 0) return options.devices;
  return module.num_partitions() > 1 ? module.num_partitions() : std::max<int64_t>(1, in_shardings);
}

}  // namespace

Result<WantedShardings> WantedShardings::read(const Module& module, const PartitionOptions& options) {
  WantedShardings made;
  int64_t most = 0;
  std::vector<TileAssignment> all;
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Attr* attr = module[id].find(AttrKey::kSharding);
      if (!attr) continue;
      std::vector<int64_t> ranks = ranks_of(module[id].shape);
      const size_t leaves = ranks.size();
      const auto [found, is_new] = made.by_text_.try_emplace({attr->text(), std::move(ranks)});
      if (is_new) {
        auto read = read_tile_assignments(attr->text(), leaves);
        // Those of what is sent to the host speak of the operands.
        if (!read && !has_arrays(module[id].shape)) read = std::vector<TileAssignment>(leaves);
        if (!read) return at(module, module[id], *attr, read.error());
        found->second.tiles = std::move(*read);
      }
      for (const TileAssignment& tiles : found->second.tiles) {
        most = std::max({most, tiles.devices(),
                         tiles.kind == TileAssignment::Kind::kMaximal ? saturating_add(tiles.device, 1) : 0});
        if (tiles.is_tiled()) all.push_back(tiles);
      }
    }
  const int64_t devices = devices_of(module, options, most);
  if (devices < 1 || devices > kMostDevices)
    return failure(fmt::format("{} devices, expected 1 to {}", devices, kMostDevices));
  made.axes_ = std::make_unique<DeviceAxes>(devices, all);
  if (const auto placed = made.place(module); !placed) return tl::unexpected(placed.error());
  return made;
}

Result<void> WantedShardings::place(const Module& module) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      const Attr* attr = module[id].find(AttrKey::kSharding);
      if (!attr) continue;
      const std::vector<int64_t> ranks = ranks_of(module[id].shape);
      Stated& stated = by_text_.at({attr->text(), ranks});
      if (!stated.placed.empty()) continue;
      for (size_t i = 0; i < stated.tiles.size(); ++i) {
        Result<PlacedTiling> placed = tiling_of(*axes_, stated.tiles[i], std::max<int64_t>(0, ranks[i]));
        if (ranks[i] < 0) {  // tokens and the like
          placed = PlacedTiling();
          if (stated.tiles[i].kind == TileAssignment::Kind::kManual) placed->tiling.manual = axes_->all();
        }
        if (!placed) return at(module, module[id], *attr, placed.error());
        stated.placed.push_back(std::move(*placed));
      }
    }
  return {};
}

Wanted WantedShardings::of(const Instruction& instruction, bool by_hand_only,
                           std::vector<std::vector<int64_t>>* device_at) const {
  const std::vector<int64_t> ranks = ranks_of(instruction.shape);
  Wanted wanted(ranks.size());
  const Attr* attr = instruction.find(AttrKey::kSharding);
  if (!attr) return wanted;
  const Stated& stated = by_text_.at({attr->text(), ranks});
  for (size_t i = 0; i < stated.placed.size(); ++i) {
    if (device_at) device_at->push_back(stated.placed[i].device_at);
    if (stated.tiles[i].kind == TileAssignment::Kind::kUnknown) continue;
    wanted[i] = stated.placed[i].tiling;
    if (!by_hand_only) continue;
    for (AxisList& cut : wanted[i]->cuts) cut.clear();
    wanted[i]->partial = 0;
  }
  return wanted;
}

}  // namespace hlosim
