// The frontend attributes of a ragged-dot: the tile of its kernel, and the groups that its rows are of.
#pragma once

#include <string>

#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

struct RaggedNotes {
  RaggedTile tile{};      // ragged_dot_tiling
  double row_groups = 0;  // hlosim.row_groups; 0: unspecified
  int constraint = 0;
  std::string fault{};  // which of both is no such list or number; empty: neither
};
RaggedNotes ragged_notes(const Instruction& instruction);

}  // namespace hlosim
