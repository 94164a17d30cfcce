#include "tune/tile.h"

#include "tune/edit.h"

namespace hlosim {

void tile(Module& module, const TilingPolicy& policy) {
  for (Instruction& instruction : module.instructions)
    instruction.shape = with_native_tiling(module.shapes(), instruction.shape, policy);
  drop_header(module, AttrKey::kEntryComputationLayout);
}

}  // namespace hlosim
