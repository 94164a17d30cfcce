// A ragged-dot's frontend attributes: the tile and the cores of its kernel, and the groups of its rows.
#pragma once

#include <string>

#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

struct RaggedNotes {
  RaggedTile tile{};      // ragged_dot_tiling, hlosim.one_core
  double row_groups = 0;  // hlosim.row_groups; 0: unspecified
  int constraint = 0;     // of ragged-dot's (contraction.cc): the one that `fault` breaks
  std::string fault{};    // what one of them is, and what was expected; empty: none
};
RaggedNotes ragged_notes(const Instruction& instruction);

}  // namespace hlosim
