// Tiles of the kernel that multiplies the rows of each expert.
#include <fmt/format.h>

#include <algorithm>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "layout/element_type.h"
#include "model/pallas/grouped_product.h"
#include "workloads/step_options.h"

namespace hlosim {
namespace {

// Published runs of one model with five tiles are predicted at 0.89 to 1.07 of their times: the order of
// tiles that differ by less than a tenth is not known (docs/accuracy.md, tiles of grouped products).
constexpr double kLeastOfTiles = 0.1;

/// The kernel of these tiles has room in VMEM; also false for types that no product has.
bool fits(const GroupedTile& tiles, ElementType type, const DeviceConfig& device) {
  const GroupedProblem one_tile{.rows = tiles.rows,
                                .depth = tiles.depth,
                                .columns = tiles.columns,
                                .groups = 1,
                                .lhs = type,
                                .rhs = type,
                                .result = type};
  const Result<KernelCost> cost =
      grouped_product_cost(device, one_tile, {.m = tiles.rows, .k = tiles.depth, .n = tiles.columns});
  return cost && cost->fits();
}

}  // namespace

std::vector<Proposal> find_grouped_tiles(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const auto& model = subject.setup.model;
  // The kernel of a module's ragged-dot is unknown; servers' kernels choose tiles for small groups.
  if (!model || !model->config->moe || model->step.kind == StepKind::kDecode) return found;
  const MoeConfig& moe = *model->config->moe;
  if (moe.dispatch != MoeConfig::Dispatch::kDropless) return found;
  const DeviceConfig& device = subject.setup.device.config;
  const GroupedTile given = model->step.expert_tiles.in.forward;
  const GroupedTile now = given.rows > 0 ? given
                                         : GroupedTile{device.kernel.ragged_rows, device.kernel.ragged_depth,
                                                       device.kernel.ragged_columns};
  const int64_t most = std::max(model->config->d_model, moe.d_ff);
  for (const int64_t side : {2048, 1024, 512})
    for (const int64_t rows : {512, 256, 1024}) {
      const GroupedTile tiles{rows, std::min(side, most), std::min(side, most), given.one_core};
      if (tiles == now || !fits(tiles, model->step.compute_type, device)) continue;
      Proposal& one = found.emplace_back();
      one.stage = EditStage::kModel;
      one.edit = edit_of_step([tiles](StepOptions& step) { step.expert_tiles = same_tiles(tiles); });
      one.name = fmt::format("tiles={}x{}x{}", tiles.rows, tiles.depth, tiles.columns);
      one.problem = fmt::format("experts' matmuls run in tiles of {} rows, {} deep, {} columns", now.rows,
                                now.depth, now.columns);
      one.change = fmt::format(
          "MaxText: tile_batch_seq={0} tile_embed_dim={1} tile_mlp_dim={2}; megablox: gmm(tiling=({0}, {1}, "
          "{2})); "
          "tokamax_ragged_dot_tile=[{0},{1},{2}]; hlosim model --expert-tiles={0}x{1}x{2}",
          tiles.rows, tiles.depth, tiles.columns);
      one.reason = "larger tiles take fewer grid steps, and read rows and weights fewer times";
      one.proof = ProofKind::kSameProgram;
      one.least_share = kLeastOfTiles;
    }
  return found;
}

}  // namespace hlosim
