#include "model/native_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "layout/native_tiling.h"

namespace hlosim {

bool carries_tiles(const Module& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [](const Instruction& instruction) { return carries_tiles(instruction.shape); });
}

void give_native_layouts(Module& module, const DeviceConfig& device, AssumptionList& assumptions) {
  if (carries_tiles(module)) return;
  const TilingPolicy policy = tiling_policy(device);
  std::unordered_map<ShapeRef, ShapeRef> tiled;
  for (Instruction& instruction : module.instructions) {
    ShapeRef& shape = tiled[instruction.shape];
    if (!shape) shape = with_native_tiling(module.shapes(), instruction.shape, policy);
    instruction.shape = shape;
  }
  assumptions.add(fmt::format(
      "no array of the module has a tiled layout: all were given the native ones of {}", device.name));
}

}  // namespace hlosim
