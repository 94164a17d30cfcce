// Which buffers an instruction's result lies in: made by itself, or those of its operands and of the
// computations that it calls. One row per opcode; src/memory follows the rules and names no opcode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// What the places {…} inside a result hold. "Makes": memory of the instruction's own.
enum class ValueRule : uint8_t {
  kMakesAll,
  kParameter,       // what the caller passes; everything where nobody passes anything
  kTuple,           // makes the table {}; {i…} is operand i
  kShallowCopy,     // makes {}; the rest is the operand's
  kForwards,        // all of operand 0
  kElement,         // an element of operand 0
  kLoop,            // the initial state or the body's result
  kConditional,     // the result of one of the branches
  kCall,            // the callee's result
  kCopyStart,       // makes {}, {0} and {2}; {1} is the operand
  kCopyDone,        // element {0} of the operand
  kAsyncStart,      // makes its tables and contexts; {0,i} is operand i, {1} the callee's result
  kAsyncUpdate,     // makes its tables and contexts; the rest is the operand's
  kAsyncDone,       // makes its tables; the rest is {1} of the operand
  kAllGatherStart,  // makes its tables and {1…}; {0…} are the operands
  kAllGatherDone,   // makes {} if that is a table; the rest is {1…} of the operand
  kPermuteStart,    // makes {}, {1…} and contexts; {0…} are the operands
  kPermuteDone,     // as kAllGatherDone
  kSend,            // makes {}, {1} and {2}; {0…} is the operand
  kRecvDone,        // makes {} and {1}; {0…} is {0…} of the operand
};

/// Which parts of an operand are read.
enum class UseRule : uint8_t { kAll, kTop, kNone };

/// How called computations run: as part of the caller's schedule, with memory of their own, or once per
/// element, as reducers and the bodies of fusions do.
enum class CallRule : uint8_t { kNone, kControlFlow, kEmbedded };

struct Dataflow {
  ValueRule value = ValueRule::kMakesAll;
  UseRule use = UseRule::kAll;
  CallRule call = CallRule::kNone;
  bool is_constant = false;
  bool is_fusion = false;  // its computation has no memory of its own
  bool is_copy = false;  // exists to have another buffer: never shares its operand's
};
const Dataflow& dataflow(Opcode opcode);


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
