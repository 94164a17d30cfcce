// N:M structured sparsity of a convolution's operands:
//   sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1 idx=2} rhs={...}}
// of each M elements along `dimension` only N are stored; operand `idx` says which.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/source.h"

namespace hlosim {

struct OperandSparsity {
  bool present = false;
  int64_t kept = 1, of = 1;  // N, M
  int64_t dimension = 0, stride = 1;
  int64_t metadata_operand = 0;  // idx
};

/// Of lhs and rhs. Error (without a place): text that does not follow the form above.
Result<std::array<OperandSparsity, 2>> parse_sparsity(std::string_view text);

}  // namespace hlosim
