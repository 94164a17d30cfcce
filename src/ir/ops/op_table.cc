#include "ops/op_table.h"

namespace hlosim {

const OpTable& op_table() {
  static constexpr OpTable kTable = {{
#define HLOSIM_OPCODE(Name, text) &k##Name##Op,
#include "hlo/opcodes.def"
#undef HLOSIM_OPCODE
  }};
  return kTable;
}

}  // namespace hlosim
