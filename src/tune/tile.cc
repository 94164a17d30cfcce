#include "tune/tile.h"

#include <vector>

namespace hlosim {

void tile(Module& module, const TilingPolicy& policy) {
  for (Instruction& instruction : module.instructions)
    instruction.shape = with_native_tiling(module.shapes(), instruction.shape, policy);
  std::vector<Attr> attrs;
  for (const Attr& attr : module.attrs)
    if (attr.key != AttrKey::kEntryComputationLayout) attrs.push_back(attr);
  module.attrs = module.arena().copy(attrs);
}

}  // namespace hlosim
