// How opcodes are spelt in StableHLO, for who writes it.
//
//   const StableSpelling* spelling = stable_spelling(Opcode::kExpm1);
//   spelling->name, spelling->form                 // "stablehlo.exponential_minus_one", StableForm::kPlain
#pragma once

#include <string_view>

#include "hlo/opcode.h"

namespace hlosim {

/// What stands besides operands and types.
enum class StableForm : uint8_t {
  kPlain,     // nothing; `: T` where all types are one
  kOperands,  // nothing; all types in full
  kBits,      // the same, of bits that are seen as another type
  kCompare,
  kConstant,
  kParameter,
  kIota,
  kBroadcast,
  kPermutation,
  kReverse,
  kConcatenate,
  kSlice,
  kDynamicSlice,
  kPad,
  kDot,
  kConvolution,
  kReduce,
  kReduceWindow,
  kSelectAndScatter,
  kGather,
  kScatter,
  kSort,
  kMap,
  kWhile,
  kConditional,
  kCall,
  kTuple,
  kElement,
  kBarrier,
  kCustomCall,
  kReducePrecision,
  kFft,
  kCholesky,
  kTriangularSolve,
  kDimensionSize,
  kRngBits,
  kTopK,
  kBatchNorm,
  kRng,
  kAllReduce,
  kAllToAll,
  kAllGather,
  kReduceScatter,
  kPermute,
  kCollectiveBroadcast,
};

struct StableSpelling {
  Opcode opcode;
  std::string_view name;  // of the operation
  StableForm form;
};

/// Null: StableHLO has nothing of this opcode's meaning, or nobody has spelt it here yet.
const StableSpelling* stable_spelling(Opcode opcode);

}  // namespace hlosim
