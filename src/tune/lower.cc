#include "tune/lower.h"

#include <algorithm>

#include "layout/native_tiling.h"

namespace hlosim {

bool is_plain(const Module& module) {
  if (module.is_scheduled()) return false;
  return std::none_of(module.instructions.begin(), module.instructions.end(), [](const Instruction& instruction) {
    return carries_tiles(instruction.shape) || instruction.opcode == Opcode::kBitcast;
  });
}

Result<Module> lower(const Module& module, const OpTable& table, const Device& device) {
  return run_passes(module, default_passes(), {table, device});
}

}  // namespace hlosim
