#include "workloads/maxtext_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/quantity_text.h"
#include "base/text.h"

namespace hlosim {
namespace {

struct NamedType {
  std::string_view name;
  ElementType type;
};
constexpr NamedType kTypes[] = {{"float32", ElementType::kF32},
                                {"bfloat16", ElementType::kBF16},
                                {"bf16", ElementType::kBF16},
                                {"f32", ElementType::kF32}};

/// A whole-number setting of the attention kernel.
struct TileSetting {
  std::string_view key;
  int64_t AttentionTiles::*size;
};
constexpr TileSetting kTiles[] = {{"sa_block_q", &AttentionTiles::q},
                                  {"sa_block_kv", &AttentionTiles::kv},
                                  {"sa_block_kv_compute", &AttentionTiles::kv_compute},
                                  {"sa_block_q_dkv", &AttentionTiles::q_dkv},
                                  {"sa_block_kv_dkv", &AttentionTiles::kv_dkv},
                                  {"sa_block_kv_dkv_compute", &AttentionTiles::kv_dkv_compute},
                                  {"sa_block_q_dq", &AttentionTiles::q_dq},
                                  {"sa_block_kv_dq", &AttentionTiles::kv_dq}};
struct LayoutSetting {
  std::string_view key;
  bool AttentionTiles::*sequence_minor;
};
constexpr LayoutSetting kTileLayouts[] = {{"sa_q_layout", &AttentionTiles::q_sequence_minor},
                                          {"sa_k_layout", &AttentionTiles::k_sequence_minor},
                                          {"sa_v_layout", &AttentionTiles::v_sequence_minor}};

constexpr std::array<std::string_view, 7> kAxisOrder = {"data",    "fsdp",   "fsdp_transpose", "sequence",
                                                        "context", "tensor", "expert"};

}  // namespace

std::optional<ElementType> maxtext_type(std::string_view name) {
  for (const NamedType& one : kTypes)
    if (one.name == name) return one.type;
  return std::nullopt;
}

void read_maxtext_type(EntryFields& fields, std::string_view key, ElementType& into) {
  std::string name;
  if (!fields.text(key, name)) return;
  if (const std::optional<ElementType> type = maxtext_type(name))
    into = *type;
  else
    fields.wrong(key, fmt::format("\"{}\" is not \"{}\"", key, shown(name)), "it is float32 or bfloat16");
}

void read_maxtext_quantization(EntryFields& fields, StepOptions& options) {
  std::string quantization;
  if (!fields.text("quantization", quantization)) return;
  if (quantization.starts_with("int8"))
    options.quantization = Quantization::kInt8;
  else if (quantization.starts_with("fp8"))
    options.quantization = Quantization::kFp8;
  else
    fields.wrong("quantization", fmt::format("\"quantization\" is not \"{}\"", shown(quantization)),
                 "it is null or begins with int8 or fp8");
}

std::optional<OptimizerOptions::Kind> maxtext_optimizer(std::string_view name) {
  using Kind = OptimizerOptions::Kind;
  if (name.starts_with("adamw")) return Kind::kAdamW;
  if (name.starts_with("adam_pax")) return Kind::kAdamPax;
  if (name.starts_with("adam")) return Kind::kAdam;
  return std::nullopt;
}

namespace {

/// Its grouped products (kernels/megablox/ops.py) gather quantized weights where all
/// of this is set: tokamax's kernel, a range of the weights that is known beforehand, experts cut along fsdp.
/// Requires: the quantization and `experts_on_fsdp` are read.
void read_quantized_gather(EntryFields& fields, StepOptions& options) {
  bool tokamax = false;
  std::string range;
  // Asked for only where they decide: elsewhere they are listed as what changes nothing.
  if (options.quantization == Quantization::kFp8 && options.experts_on_fsdp)
    fields.flag("use_tokamax_gmm", tokamax);
  if (tokamax && fields.text("weight_quantization_calibration_method", range))
    options.quantized_gather = range.starts_with("fixed");
  if (const Value* gather = fields.find("quantized_all_gather"))
    options.quantized_gather = gather->text != "false";
}

/// Negative: room for all that could arrive. A ring of experts has no such buffer here: it is listed there as
/// what changes nothing.
void read_exchange_buffer(EntryFields& fields, StepOptions& options) {
  constexpr std::string_view kKey = "ragged_buffer_factor";
  if (options.ring_of_experts) return;
  if (const Value* factor = fields.find(kKey); factor && !factor->text.starts_with('-'))
    fields.not_negative(kKey, options.ragged_buffer_factor);
}

}  // namespace

void read_maxtext_settings(EntryFields& fields, StepOptions& options) {
  AttentionTiles& tiles = options.tiles;
  for (const TileSetting& one : kTiles) fields.whole(one.key, tiles.*one.size, 1);
  for (const LayoutSetting& one : kTileLayouts) {
    std::string text;
    if (fields.text(one.key, text)) tiles.*one.sequence_minor = text == "SEQ_MINOR";
  }
  fields.flag("sa_use_fused_bwd_kernel", tiles.fused_backward);
  fields.flag("use_tokamax_splash", tiles.tokamax);
  fields.whole("dq_reduction_steps", tiles.dq_parts, 1);
  int64_t bound = 0;
  if (fields.whole("use_max_logit_estimate", bound, -1)) tiles.known_maximum = bound > 0;
  fields.whole("num_vocab_tiling", options.vocab_tiles, 1);
  for (const std::string_view key : {"fsdp_shard_on_exp", "shard_exp_on_fsdp"})
    fields.flag(key, options.experts_on_fsdp);
  read_quantized_gather(fields, options);
  fields.flag("use_ring_of_experts", options.ring_of_experts);
  read_exchange_buffer(fields, options);
  fields.flag("use_iota_embed", options.one_hot_embedding);
  read_maxtext_type(fields, "weight_dtype", options.param_type);
  read_maxtext_type(fields, "mu_dtype", options.optimizer.mu_type);
  fields.flag("scan_layers", options.scan_layers);
}

void drop_settings_of_experts(const ModelConfig& model, StepOptions& options) {
  if (has_dropless_experts(model)) return;
  options.expert_tiles = {};
  options.ring_of_experts = false, options.ragged_buffer_factor = 0;
}

namespace {

/// The tile of all grouped products.
void read_common_tile(EntryFields& fields, GroupedTile& tiles, DiagnosticList& problems,
                      std::vector<const Value*>& left) {
  fields.whole("tile_batch_seq", tiles.rows, 1);
  fields.whole("tile_embed_dim", tiles.depth, 1);
  fields.whole("tile_mlp_dim", tiles.columns, 1);
  if (const Value* moe = fields.object("moe_tiles")) {
    EntryFields of(*moe, "\"moe_tiles\"", problems);
    of.whole("batch_seq", tiles.rows, 1);
    of.whole("embed_dim", tiles.depth, 1);
    of.whole("mlp_dim", tiles.columns, 1);
    for (const Value* one : of.rest()) left.push_back(one);
  }
  constexpr std::string_view kTile = "tokamax_ragged_dot_tile";
  const Value* tile = fields.find(kTile);
  if (!tile) return;
  std::vector<int64_t> sizes;
  for (const Value& one : tile->items)
    if (const Result<int64_t> size = TextForm<int64_t>::read(one.text); one.is_scalar() && size && *size > 0)
      sizes.push_back(*size);
  if (sizes.size() != 3 || tile->items.size() != 3)
    return fields.wrong(
        kTile, fmt::format("\"{}\": expected rows, depth and columns, three whole numbers from 1 on", kTile));
  tiles = {sizes[0], sizes[1], sizes[2]};
}

constexpr TiledProduct kTiledProducts[] = {{"wi", "fwd", &ExpertTiles::in, &ProductTiles::forward},
                                           {"wi", "dlhs", &ExpertTiles::in, &ProductTiles::row_gradient},
                                           {"wi", "drhs", &ExpertTiles::in, &ProductTiles::weight_gradient},
                                           {"wo", "fwd", &ExpertTiles::out, &ProductTiles::forward},
                                           {"wo", "dlhs", &ExpertTiles::out, &ProductTiles::row_gradient},
                                           {"wo", "drhs", &ExpertTiles::out, &ProductTiles::weight_gradient}};
constexpr int64_t GroupedTile::*kTileSizes[] = {&GroupedTile::rows, &GroupedTile::depth,
                                                &GroupedTile::columns};
/// The keys of a tile's sizes, by product.
constexpr std::string_view kTileKeys[][3] = {
    {"wi_tile_fwd_batch_seq", "wi_tile_fwd_embed_dim", "wi_tile_fwd_mlp_dim"},
    {"wi_tile_dlhs_batch_seq", "wi_tile_dlhs_embed_dim", "wi_tile_dlhs_mlp_dim"},
    {"wi_tile_drhs_batch_seq", "wi_tile_drhs_embed_dim", "wi_tile_drhs_mlp_dim"},
    {"wo_tile_fwd_batch_seq", "wo_tile_fwd_embed_dim", "wo_tile_fwd_mlp_dim"},
    {"wo_tile_dlhs_batch_seq", "wo_tile_dlhs_embed_dim", "wo_tile_dlhs_mlp_dim"},
    {"wo_tile_drhs_batch_seq", "wo_tile_drhs_embed_dim", "wo_tile_drhs_mlp_dim"}};
static_assert(std::size(kTileKeys) == std::size(kTiledProducts));

}  // namespace

std::span<const TiledProduct> tiled_products() { return kTiledProducts; }

void read_maxtext_expert_tiles(EntryFields& fields, bool is_megablox, ExpertTiles& tiles,
                               DiagnosticList& problems, std::vector<const Value*>& left) {
  GroupedTile common;
  read_common_tile(fields, common, problems, left);
  tiles = same_tiles(common);
  bool is_given = common != GroupedTile(), is_tokamax = false;
  for (size_t i = 0; i < std::size(kTiledProducts); ++i)
    for (size_t k = 0; k < 3; ++k) {
      const std::string_view key = kTileKeys[i][k];
      is_given |= fields.find(key) != nullptr;
      fields.whole(key, tiles.*kTiledProducts[i].tiles.*kTiledProducts[i].tile.*kTileSizes[k], 1);
    }
  fields.flag("megablox", is_megablox), fields.flag("use_tokamax_gmm", is_tokamax);
  if ((!is_megablox || is_tokamax) && !is_given) return;
  for (const TiledProduct& one : kTiledProducts) {
    GroupedTile& tile = tiles.*one.tiles.*one.tile;
    const auto or_usual = [](int64_t& size, int64_t usual) { size = size > 0 ? size : usual; };
    or_usual(tile.rows, 512), or_usual(tile.depth, 1024), or_usual(tile.columns, 1024);
    tile.one_core = is_tokamax;
  }
}

bool maxtext_turns_neighbors(std::string_view model_or_rope) { return model_or_rope.starts_with("llama3.1"); }

std::span<const std::string_view> maxtext_axes() { return kAxisOrder; }

int64_t axis_size(const Mesh& mesh, std::string_view name) {
  const auto axis =
      std::ranges::find(mesh.axes, name, [](const MeshAxis& one) -> std::string_view { return one.name; });
  return axis == mesh.axes.end() ? 1 : axis->size;
}

Mesh mesh_over_slices(const Mesh& ici, const Mesh& dcn) {
  std::vector<std::string_view> names(kAxisOrder.begin(), kAxisOrder.end());
  for (const Mesh* one : {&ici, &dcn})
    for (const MeshAxis& axis : one->axes)
      if (std::ranges::find(names, axis.name) == names.end()) names.push_back(axis.name);
  Mesh mesh;
  for (const std::string_view name : names)
    if (const int64_t size = axis_size(dcn, name) * axis_size(ici, name); size > 1)
      mesh.axes.push_back({std::string(name), size});
  const int64_t in_slice = ici.devices();
  for (int64_t place = 0; place < mesh.devices(); ++place) {
    int64_t rest = place, slice = 0, inside = 0, slice_stride = 1, inside_stride = 1;
    for (size_t i = mesh.axes.size(); i-- > 0;) {
      const int64_t inner = axis_size(ici, mesh.axes[i].name), outer = axis_size(dcn, mesh.axes[i].name);
      const int64_t at = rest % mesh.axes[i].size;
      rest /= mesh.axes[i].size;
      inside += at % inner * inside_stride, slice += at / inner * slice_stride;
      inside_stride *= inner, slice_stride *= outer;
    }
    mesh.device_order.push_back(slice * in_slice + inside);
  }
  if (std::is_sorted(mesh.device_order.begin(), mesh.device_order.end())) mesh.device_order.clear();
  return mesh;
}

}  // namespace hlosim
