#include "estimate/unpartitioned.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/saturating.h"
#include "lower/lower.h"
#include "ops/custom_calls/custom_call_targets.h"
#include "partition/partition_mark.h"
#include "sharding/tile_assignment.h"

namespace hlosim {
namespace {

/// What the shardings of a module's instructions name.
struct Signs {
  bool cuts = false;    // several tiles, or summands
  int64_t devices = 1;  // at most
};

void note_sharding(const TileAssignment& tiles, Signs& signs) {
  const auto is_cut = [](int64_t count) { return count > 1; };
  const auto sums = [](const TileAssignment::Subgroup& group) {
    return group.type == SubgroupType::kUnreduced && group.size > 1;
  };
  signs.cuts |= std::ranges::any_of(tiles.dimensions, is_cut) || std::ranges::any_of(tiles.subgroups, sums);
  const bool is_maximal = tiles.kind == TileAssignment::Kind::kMaximal;
  signs.devices = std::max(signs.devices, is_maximal ? saturating_add(tiles.device, 1) : tiles.devices());
}

Signs signs_of(const Module& module) {
  Signs signs;
  std::unordered_set<std::string_view> known;
  for (const Instruction& instruction : module.instructions) {
    const Attr* attr = instruction.find(AttrKey::kSharding);
    if (!attr || known.contains(attr->text())) continue;
    const auto read = read_tile_assignments(attr->text(), static_cast<size_t>(leaf_count(instruction.shape)));
    if (!read) continue;  // those of what is sent to the host speak of the operands
    known.insert(attr->text());
    for (const TileAssignment& tiles : *read) note_sharding(tiles, signs);
  }
  return signs;
}

}  // namespace

bool is_partitioned(const Module& module, const OpTable& table) {
  if (module.num_partitions() <= 1) return false;
  if (is_marked_partitioned(module)) return true;
  if (has_sharding_notes(module)) return false;
  return module.is_scheduled() || !is_plain(module) || exchanges_data(module, table);
}

int64_t unpartitioned_devices(const Module& module, const OpTable& table) {
  if (module.is_scheduled() || is_marked_partitioned(module)) return 0;
  const Signs signs = signs_of(module);
  const bool has_notes = has_sharding_notes(module);
  const int64_t declared = module.num_partitions();
  if (!signs.cuts && !(has_notes && declared > 1)) return 0;
  if (!has_notes && exchanges_data(module, table)) return 0;
  if (is_of_other_device(module) || !is_plain(module)) return 0;
  const int64_t devices = declared > 1 ? declared : signs.devices;
  return devices > 1 ? devices : 0;
}

std::optional<MeshRequest> default_request(const Module& module, const OpTable& table) {
  const int64_t devices = unpartitioned_devices(module, table);
  if (devices == 0) return std::nullopt;
  MeshRequest request;
  request.partitions = devices;
  request.is_default = true;
  return request;
}

}  // namespace hlosim
