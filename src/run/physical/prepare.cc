#include "physical/prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/effects.h"
#include "hlo/module_editor.h"
#include "memory/own_live_range.h"

namespace hlosim {
namespace {

ShapeRef without_splits(ShapePool& shapes, ShapeRef shape) {
  if (shape->is_tuple()) {
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : shape->elements) elements.push_back(without_splits(shapes, element));
    return shapes.tuple(elements);
  }
  if (!shape->is_array() || !shape->layout || shape->layout->splits.empty()) return shape;
  Layout whole = *shape->layout;
  whole.splits = {};
  return shapes.with_layout(shape, shapes.layout(whole));
}

/// There is one memory per space: the pieces of a split array lie in it as one.
void join_pieces(Module& module) {
  for (Instruction& instruction : module.instructions)
    instruction.shape = without_splits(module.shapes(), instruction.shape);
}

/// The native layouts of a device, where the text has none: bitcasts keep what they mean.
void give_tiling(Module& module, const TilingPolicy& policy) {
  ModuleEditor editor(module);
  for (size_t i = 0; i < module.instructions.size(); ++i)
    if (carries_tiles(module[InstructionId{static_cast<int32_t>(i)}].shape)) return;
  for (size_t i = 0; i < module.instructions.size(); ++i) editor.spell_out_bitcast({static_cast<int32_t>(i)});
  std::unordered_map<ShapeRef, ShapeRef> tiled;
  for (Instruction& instruction : module.instructions) {
    ShapeRef& shape = tiled[instruction.shape];
    if (!shape) shape = with_native_tiling(module.shapes(), instruction.shape, policy);
    instruction.shape = shape;
  }
}

}  // namespace

/// Something is written into a buffer while another value in it is still needed: whatever the order of the
/// ranges that follow one another, that can't go well.
std::optional<std::string> missing_copy(const BufferAnalysis& analysis) {
  const std::vector<LiveRange> ranges =
      own_live_ranges(analysis.graph, analysis.places, analysis.values, *analysis.buffers, analysis.schedule);
  const auto range = [&](ValueIndex value) -> const LiveRange& { return ranges[static_cast<size_t>(value)]; };
  const auto name = [&](ValueIndex value) { return analysis.graph.module()[analysis.definer(value)].name; };
  std::vector<ValueIndex> members;
  for (BufferIndex buffer = 0; buffer < analysis.buffers->size(); ++buffer) {
    members.clear();
    for (const ValueIndex value : analysis.buffers->values(buffer))
      if (range(value).known()) members.push_back(value);
    std::stable_sort(members.begin(), members.end(),
                     [&](ValueIndex a, ValueIndex b) { return range(a).start < range(b).start; });
    ValueIndex longest = kNoValue;  // of those that start earlier
    for (const ValueIndex value : members) {
      if (longest != kNoValue && !analysis.values[value].is_phi && range(longest).end > range(value).start)
        return fmt::format("{} is written where {} is needed until step {}", name(value), name(longest),
                           range(longest).end);
      if (longest == kNoValue || range(value).end > range(longest).end) longest = value;
    }
  }
  return std::nullopt;
}

void order_effects(Module& module, const OpTable& table) {
  ModuleEditor editor(module);
  const ModuleGraph graph(module);
  for (const ComputationId id : control_flow_of(graph)) {
    InstructionId last;
    for (const InstructionId instruction : module[id].instructions) {
      if (!uses_device_state(module, table, module[instruction])) continue;
      if (last.valid()) editor.add_control_predecessor(instruction, last);
      last = instruction;
    }
  }
}

Result<std::unique_ptr<BufferAnalysis>> prepare_and_place(Module& module, const OpTable& table,
                                                          const PreparationOptions& options) {
  join_pieces(module);
  if (Result<void> separated = separate_calls(module); !separated) return tl::unexpected(separated.error());
  const bool keeps_order = !options.random_order && options.schedule <= ScheduleSource::kText;
  if (!module.is_scheduled() || !keeps_order) {
    order_effects(module, table);
    insert_copies(module, table);
  } else if (const auto analysis = analyse_buffers(module, table, {}); analysis && missing_copy(**analysis)) {
    insert_copies(module, table);
  }
  if (options.native_tiling && !options.random_layouts) give_tiling(module, *options.native_tiling);
  if (options.random_layouts)
    if (Result<void> given = give_random_layouts(module, table, *options.random_layouts); !given)
      return tl::unexpected(given.error());
  BufferOptions buffers;
  buffers.alignment = options.alignment;
  buffers.padded = true;
  buffers.schedule = options.schedule;
  if (options.random_order) {
    give_random_order(module, *options.random_order);
    buffers.schedule = ScheduleSource::kText;
  }
  return analyse_buffers(module, table, buffers);
}

}  // namespace hlosim
