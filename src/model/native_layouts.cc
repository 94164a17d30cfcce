#include "model/native_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "hlo/finding.h"
#include "hlo/module_editor.h"
#include "layout/bitcast.h"
#include "layout/native_tiling.h"
#include "layout/sizes.h"

namespace hlosim {

bool carries_tiles(const Module& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [](const Instruction& instruction) { return carries_tiles(instruction.shape); });
}

size_t spell_out_bitcasts_that_move(Module& module, const TilingPolicy& policy) {
  if (carries_tiles(module)) return 0;
  std::vector<InstructionId> moving;
  ShapePool& shapes = module.shapes();
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const Instruction& instruction = module[id];
    if (instruction.opcode != Opcode::kBitcast) continue;
    const ShapeRef from = module[instruction.operands[0]].shape, to = instruction.shape;
    const auto in_tiles = [&](ShapeRef shape) { return with_native_tiling(shapes, shape, policy); };
    if (ModuleEditor::spelling_of(shapes, from, to) &&
        !classify_bitcast(in_tiles(from), in_tiles(to)).is_no_op())
      moving.push_back(id);
  }
  if (moving.empty()) return 0;
  ModuleEditor editor(module);
  for (const InstructionId id : moving) editor.spell_out_bitcast(id);
  return moving.size();
}

Result<void> check_native_sizes(const Module& module, const Device& device) {
  if (carries_tiles(module)) return {};
  // The 4 KiB of a tile for half a byte: smaller arrays can't become too large.
  constexpr Bytes kSmall{std::numeric_limits<int64_t>::max() / 8192};
  const TilingPolicy policy = tiling_policy(device.config);
  ShapeRef last = nullptr;
  for (const Instruction& instruction : module.instructions) {
    if (instruction.shape == last) continue;
    last = instruction.shape;
    std::optional<Diagnostic> wrong;
    for_each_leaf(last, [&](ShapeRef leaf) {
      if (wrong || !leaf->is_array() || array_size(leaf) < kSmall) return;
      ShapePool pool;
      const ShapeRef tiled = with_native_tiling(pool, pool.with_default_layouts(pool.import(leaf)), policy);
      if (array_size(tiled) == kTooLarge)
        wrong = error_at(module, instruction,
                         fmt::format("{} takes more than 2^63 - 1 bytes in the tiles of {}", to_text(tiled),
                                     device.config.name));
    });
    if (wrong) return tl::unexpected(std::move(*wrong));
  }
  return {};
}

LaidOut lay_out(const Module& module, const Device& device) {
  LaidOut result{module.copy(), {}};
  Module& made = result.module;
  const TilingPolicy policy = tiling_policy(device.config);
  const bool is_tiled = carries_tiles(module);
  if (!is_tiled) {
    spell_out_bitcasts_that_move(made, policy);
    result.assumptions.add(
        fmt::format("no array of the module has a tiled layout: all were given the native ones of {}",
                    device.config.name));
  }
  std::unordered_map<ShapeRef, ShapeRef> now;
  for (Instruction& instruction : made.instructions) {
    ShapeRef& shape = now[instruction.shape];
    if (!shape) {
      shape = made.shapes().with_default_layouts(instruction.shape);
      if (!is_tiled) shape = with_native_tiling(made.shapes(), shape, policy);
    }
    instruction.shape = shape;
  }
  return result;
}

}  // namespace hlosim
