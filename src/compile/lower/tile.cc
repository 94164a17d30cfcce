#include "lower/tile.h"

#include "model/native_layouts.h"
#include "modules/edit.h"

namespace hlosim {

void tile(Module& module, const TilingPolicy& policy) {
  spell_out_bitcasts_that_move(module, policy);
  ShapeRef before = nullptr, now = nullptr;  // the last one's: neighbours are often alike
  for (Instruction& instruction : module.instructions) {
    if (instruction.shape != before)
      before = instruction.shape, now = with_native_tiling(module.shapes(), before, policy);
    instruction.shape = now;
  }
  drop_header(module, AttrKey::kEntryComputationLayout);
}

}  // namespace hlosim
