// Which buffers an instruction's result lies in: made by itself, or those of its operands and of the
// computations that it calls: src/sim/memory follows these rules and names no opcode.
//
//   const Dataflow flow = dataflow(Opcode::kBitcast);
//   flow.value                                    // ValueRule::kForwards: its result is its operand's memory
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

struct Dataflow {
  ValueRule value;
  UseRule use;
  CallRule call;
  bool is_constant;
  bool is_fusion;  // its computation has no memory of its own
  bool is_copy;    // exists to have another buffer: never shares its operand's
};
Dataflow dataflow(Opcode opcode);

/// Computations that `instruction` calls; a loop's condition before its body.
std::vector<ComputationId> called_in_order(const Instruction& instruction);
/// Requires: a loop.
ComputationId loop_body(const Instruction& loop);

/// Output `output_index` has to lie where `operand_index` of operand `operand` lies.
struct InPlacePair {
  int64_t operand = 0;
  std::vector<int64_t> operand_index, output_index;
};
/// What an instruction updates in place: dynamic-update-slice, scatter, fusions of such, whatever
/// output_to_operand_aliasing says. Compilers of 2022 give a scatter memory of its own (`scatters` false).
std::vector<InPlacePair> in_place_pairs(const Module& module, const Instruction& instruction,
                                        bool scatters = true);

}  // namespace hlosim
