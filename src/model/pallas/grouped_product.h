// Grouped matrix products: rows in groups, each group with weights of its own (ragged_dot, megablox gmm). The
// kernel goes through tiles of rows; a tile in which a group ends is visited once for each of its groups.
//
//   GroupedProblem problem{.rows = 4096, .depth = 4096, .columns = 1024, .sizes = {1000, 3096}};
//   problem.groups = 2;
//   grouped_product_cost(device.config, problem, {.m = 512, .k = 4096, .n = 1024})->kernel
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/source.h"
#include "layout/element_type.h"
#include "model/device.h"
#include "model/pallas/kernel_cost.h"
#include "ops/work.h"

namespace hlosim {

enum class GroupedForm : uint8_t {
  kForward,     // [rows, depth] x [groups, depth, columns] -> [rows, columns]
  kTransposed,  // [rows, depth] x [groups, columns, depth] -> [rows, columns]: gradient of the left operand
  kWeightGradient,  // [rows, depth] x [rows, columns] -> [groups, depth, columns]
};

struct GroupedProblem {
  GroupedForm form = GroupedForm::kForward;
  int64_t rows = 0, depth = 0, columns = 0, groups = 0;
  std::vector<int64_t> sizes{};  // rows of each group; empty: dealt at random with equal probability
  ElementType lhs = ElementType::kBF16, rhs = ElementType::kBF16, result = ElementType::kBF16;
  MatmulPrecision precision{};
  bool copied = false;  // the result is returned twice
  bool scaled = false;  // the result is multiplied by a scale of the weights, in the epilogue
};

/// Elements of rows, depth and columns. The weights' gradient has tiles of depth x columns in its result.
struct GroupedBlocks {
  int64_t m = 0, k = 0, n = 0;
  int64_t buffers = 2;  // of the left operand
  /// That share the tiles of columns, if these are a multiple of them; else one executes the kernel. Tiles of
  /// columns are the first dimension of megablox' grid, which is parallel (jax, pallas/ops/tpu/megablox/
  /// gmm.py). tokamax's kernel is one step of a grid with a pipeline inside (_src/mosaic_tpu.py): one core.
  int64_t cores = 1;
};

/// Visits of tiles of rows, for one column of tiles.
struct TileVisits {
  double all = 0;      // tiles of each group
  double tiles = 0;    // different ones
  double groups = 0;   // that have a tile
  double aligned = 0;  // groups after the first that begin with a tile of their own
};
/// Requires: tile > 0. `visits_empty`: groups without rows have one visit.
TileVisits tile_visits(const GroupedProblem& problem, int64_t tile, bool visits_empty);

/// Errors: sizes that aren't positive, more rows in groups than there are, types that the MXU doesn't know.
/// Blocks that need more VMEM than there is are costed as well: KernelCost::fits().
Result<KernelCost> grouped_product_cost(const DeviceConfig& device, const GroupedProblem& problem,
                                        const GroupedBlocks& blocks);

/// The same at a known rate. Requires: positive sizes.
KernelCost grouped_product_cost(const DeviceConfig& device, const GroupedProblem& problem,
                                const GroupedBlocks& blocks, const MatmulRate& rate);

/// What the compiler does around it: offsets of groups and the lists of tiles; a copy of the result.
std::vector<KernelPass> grouped_product_passes(const DeviceConfig& device, const GroupedProblem& problem);

/// Blocks to compare: powers of two of rows, whole and evenly divided depths and columns.
std::vector<GroupedBlocks> grouped_block_candidates(const DeviceConfig& device,
                                                    const GroupedProblem& problem);

}  // namespace hlosim
