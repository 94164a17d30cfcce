#include "sharding/held_parts.h"

#include <algorithm>

namespace hlosim {

HeldParts held_parts(const TileAssignment& tiles, int64_t devices, int64_t rank) {
  HeldParts made;
  made.partial = tiles.partial;
  if (tiles.kind == TileAssignment::Kind::kUnreduced) {
    made.tiles.assign(static_cast<size_t>(std::max<int64_t>(rank, 0)), 1);
    made.tile_of.assign(static_cast<size_t>(devices), 0);
    for (int64_t device = 0; device < devices; ++device) made.summand.push_back(device);
    return made;
  }
  if (!tiles.is_tiled()) return made;
  made.tiles = tiles.dimensions;
  const std::vector<int64_t> list = list_devices(tiles);
  int64_t copies = 1;
  bool has_summands = false;
  for (const TileAssignment::Subgroup& group : tiles.subgroups) {
    copies *= group.size;
    has_summands = has_summands || group.type == SubgroupType::kUnreduced;
  }
  made.tile_of.resize(list.size());
  if (has_summands) made.summand.resize(list.size());
  for (size_t place = 0; place < list.size(); ++place) {
    const auto device = static_cast<size_t>(list[place]);
    made.tile_of[device] = static_cast<int64_t>(place) / copies;
    int64_t rest = static_cast<int64_t>(place) % copies, weight = 1, summand = 0;
    for (size_t i = tiles.subgroups.size(); i-- > 0; rest /= tiles.subgroups[i].size) {
      if (tiles.subgroups[i].type != SubgroupType::kUnreduced) continue;
      summand += rest % tiles.subgroups[i].size * weight;
      weight *= tiles.subgroups[i].size;
    }
    if (has_summands) made.summand[device] = summand;
  }
  return made;
}

}  // namespace hlosim
