// The text of one sharding as a value, devices listed only where the text lists them.
//
//   const auto tiles = read_tile_assignment("devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate");
//   tiles->dimensions                              // {2, 1}, tiles along each dimension
//   tiles->subgroups[0].size                       // 2 copies
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/shape.h"

namespace hlosim {

enum class SubgroupType : uint8_t { kReplicated, kManual, kUnreduced };
enum class PartialKind : uint8_t { kSum, kMax, kMin, kProduct, kAnd, kOr };

struct TileAssignment {
  enum class Kind : uint8_t { kReplicated, kTiled, kMaximal, kManual, kUnreduced, kUnknown };
  struct Subgroup {
    SubgroupType type;
    int64_t size;
  };
  Kind kind = Kind::kReplicated;
  int64_t device = 0;                       // kMaximal
  PartialKind partial = PartialKind::kSum;  // of what is unreduced
  std::vector<int64_t> dimensions;          // kTiled: tiles along each dimension
  std::vector<Subgroup> subgroups;          // kTiled: behind the dimensions
  /// kTiled: devices 0…N-1 as an array of sizes `reshape`, its dimensions in the order of `order`, are the
  /// tiles (dimensions and subgroups together) row-major.
  std::vector<int64_t> reshape, order;
  /// Not empty: device_list[i] stands where that says i.
  std::vector<int64_t> device_list;
  /// Named form: dimensions that the text leaves open for more axes (`?`). Empty: none.
  std::vector<bool> open;
  int64_t shard_group = -1;  // shard_as n, shard_like n
  bool shard_as = false;

  bool is_tiled() const { return kind == Kind::kTiled; }
  /// Product of all tile sizes; 0: any number.
  int64_t devices() const;
  bool operator==(const TileAssignment&) const = default;
};
inline bool operator==(const TileAssignment::Subgroup& a, const TileAssignment::Subgroup& b) {
  return a.type == b.type && a.size == b.size;
}

/// One sharding, without the braces around it. Errors (without a place): a text that is none, counts that do
/// not fit together.
Result<TileAssignment> read_tile_assignment(std::string_view text);

/// One per leaf, from the text of `sharding=`; one for all is repeated.
Result<std::vector<TileAssignment>> read_tile_assignments(std::string_view text, size_t leaves);

/// Devices in the order of the tiles.
std::vector<int64_t> list_devices(const TileAssignment& tiles);

}  // namespace hlosim
