#include "tune/lower.h"

#include <algorithm>

#include "layout/bitcast.h"
#include "layout/native_tiling.h"
#include "tune/assign_layouts.h"
#include "tune/edit.h"
#include "tune/fuse.h"
#include "tune/place.h"
#include "tune/simplify.h"

namespace hlosim {
namespace {

/// What the header says of layouts is no longer true.
void drop_entry_layout(Module& module) {
  std::vector<Attr> attrs;
  for (const Attr& attr : module.attrs)
    if (attr.key != AttrKey::kEntryComputationLayout) attrs.push_back(attr);
  module.attrs = module.arena().copy(attrs);
}

void tile(Module& module, const TilingPolicy& policy) {
  for (Instruction& instruction : module.instructions)
    instruction.shape = with_native_tiling(module.shapes(), instruction.shape, policy);
}

}  // namespace

bool is_plain(const Module& module) {
  if (module.is_scheduled()) return false;
  return std::none_of(module.instructions.begin(), module.instructions.end(), [](const Instruction& instruction) {
    return carries_tiles(instruction.shape) || instruction.opcode == Opcode::kBitcast;
  });
}

Result<Module> lower(const Module& module, const OpTable& table, const DeviceConfig& device) {
  Result<Module> copy = read_again(module, table);
  if (!copy) return copy;
  const TilingPolicy policy = tiling_policy(device);
  {
    ModuleEditor editor(*copy);
    drop_entry_layout(*copy);
    simplify(editor, table);
    assign_layouts(editor, table, policy);
    tile(*copy, policy);
    fuse(editor, table);
    place_values(editor, table, device);
  }
  return read_again(*copy, table);
}

}  // namespace hlosim
