// What part an instruction can take in a fusion.
//
//   fusion_role(table, add)                        // FusionRole::kElement
//   fusion_end(scatter)->first                     // operands from there on may be computed inside
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

enum class FusionRole : uint8_t {
  kNone,     // runs on its own
  kElement,  // element i of the result depends on elements i of the operands
  kFill,     // makes its elements from few or none: broadcast, iota, scalar constant
  kReindex,  // operand 0's elements in row-major order under other dimensions: reshape
  kPart,     // a part or an arrangement of its operands: slice, pad, transpose, concatenate, …
  kCopy,     // the same array in another layout or place
  kReduce,
  kProduct,  // dot, convolution
};

FusionRole fusion_role(const OpTable& table, const Instruction& instruction);

/// Whether a slice, pad or concatenate has fewer (-1) or more (1) elements along the fastest dimension than
/// an operand, and not in whole registers of `lanes`; 0: neither.
int lane_change_of(const Module& module, const Instruction& part, int64_t lanes);

/// dynamic-update-slice, scatter, sort, ragged-dot: of role kNone, but they can be the end of a fusion that
/// computes what they take.
struct FusionEnd {
  size_t first = 0;          // operand that may be computed inside; those before are changed in place
  bool slices_only = false;  // a product with a kernel of its own: it reads slices of arrays where they lie
};
std::optional<FusionEnd> fusion_end(const Instruction& instruction);

}  // namespace hlosim
