// MaxText's names of what a step does: one table for its configurations and for published runs of it.
//
//   EntryFields fields(config, "the configuration", problems);
//   read_maxtext_settings(fields, options);        // sa_block_q, num_vocab_tiling, weight_dtype, …
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sharding/mesh.h"
#include "text/entry_fields.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

/// Reads the settings of attention's kernel, of loss, embedding and experts, and the types of parameters and
/// of the first moment into `options`, where they are given. Errors, with their place: values of a wrong
/// type.
void read_maxtext_settings(EntryFields& fields, StepOptions& options);

/// float32 or bfloat16 under `key`.
void read_maxtext_type(EntryFields& fields, std::string_view key, ElementType& into);
std::optional<ElementType> maxtext_type(std::string_view name);

/// "quantization": text that begins with int8 or fp8.
void read_maxtext_quantization(EntryFields& fields, StepOptions& options);

/// A product of experts as MaxText's keys name it: "wi" or "wo", "fwd", "dlhs" or "drhs".
struct TiledProduct {
  std::string_view matrix, pass;
  ProductTiles ExpertTiles::*tiles;
  GroupedTile ProductTiles::*tile;
};
std::span<const TiledProduct> tiled_products();

/// Tiles of grouped products, in elements: of all of them (tile_batch_seq, tile_embed_dim and tile_mlp_dim,
/// the same in moe_tiles, tokamax_ragged_dot_tile), and those of single products (wi_tile_fwd_batch_seq, …),
/// which win. Sizes are rows, contracted terms and columns of the product that has the tile. megablox
/// (`is_megablox` where the fields don't say) has MaxText's tile where none is given; tokamax's is unknown
/// then. Keys of moe_tiles that aren't modelled are added to `left`. Errors, with their place: values that
/// are no whole numbers from 1 on.
void read_maxtext_expert_tiles(EntryFields& fields, bool is_megablox, ExpertTiles& tiles,
                               DiagnosticList& problems, std::vector<const Value*>& left);

/// For models without dropless experts: their settings change nothing.
void drop_settings_of_experts(const ModelConfig& model, StepOptions& options);

/// "adamw", "adam_pax" or "adam" with anything behind.
std::optional<OptimizerOptions::Kind> maxtext_optimizer(std::string_view name);

/// Rotary positions turn neighbors where model_name or rope_type begins with "llama3.1" (MaxText's
/// layers/attentions.py).
bool maxtext_turns_neighbors(std::string_view model_or_rope);

/// The axes of its meshes that the rules of shardings know, in its order: the last ones are neighbours.
std::span<const std::string_view> maxtext_axes();

/// Devices along an axis of a mesh over all slices, and of all its axes together.
inline constexpr int64_t kMostMeshDevices = 1 << 20;

/// Devices along an axis; 1: the mesh has none of this name.
int64_t axis_size(const Mesh& mesh, std::string_view name);

/// One mesh over all slices: an axis that both have goes over the slices first. Axes that
/// maxtext_axes() doesn't name come last. Places are numbered slice by slice, as devices are.
Mesh mesh_over_slices(const Mesh& ici, const Mesh& dcn);

}  // namespace hlosim
