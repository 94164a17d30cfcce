// Which part of an array each partition of an SPMD program holds: the text of `sharding=`.
//
//   {replicated}  {maximal device=1}  {manual}  {unknown}
//   {devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}    2 tiles along dimension 0, each on 2 partitions
//   {mesh['x'=2,'y'=4], [{'x'}, {}]}                          the same by named axes
//   {{…},{…}}                                                 one per leaf
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "layout/shape.h"

namespace hlosim {

struct Sharding {
  enum class Kind : uint8_t { kReplicated, kTiled, kMaximal, kManual, kUnknown };
  Kind kind = Kind::kReplicated;
  int64_t device = 0;            // kMaximal
  std::vector<int64_t> tiles;    // kTiled: number of tiles along each dimension
  std::vector<int64_t> tile_of;  // kTiled: the tile of each partition, counted row-major

  bool is_tiled() const { return kind == Kind::kTiled; }
};

/// One per leaf, when the text has one for all or one for each. Errors (without a place): a text that is none
/// of these, counts that do not fit together, tiles of partial sums.
Result<std::vector<Sharding>> read_sharding(std::string_view text, size_t leaves);

/// Why the sharding can't be one of `shape`; empty: it can. Either one for all leaves or one for each; tiles
/// cut each dimension of an array; device numbers are not negative, each stands once. How many devices there
/// are makes no difference.
std::string sharding_misfit(std::string_view text, ShapeRef shape);

}  // namespace hlosim
