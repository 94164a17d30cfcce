#include "tune/lower.h"

#include <algorithm>

#include "layout/native_tiling.h"
#include "ops/custom_call_targets.h"
#include "tune/inline.h"

namespace hlosim {

bool is_plain(const Module& module) {
  if (module.is_scheduled() && !is_of_other_device(module)) return false;
  return std::ranges::none_of(module.instructions,
                              [](const Instruction& instruction) { return carries_tiles(instruction.shape); }) &&
         bitcasts_can_be_spelled_out(module);
}

Result<Module> lower(const Module& module, const OpTable& table, const Device& device) {
  return run_passes(module, default_passes(), {table, device});
}

}  // namespace hlosim
