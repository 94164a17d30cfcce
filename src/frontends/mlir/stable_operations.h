// StableHLO's operations and those of CHLO, MHLO and func that mean one HLO instruction: the one table of
// names, HLO opcodes, versions in portable artifacts, and attributes. The writer of StableHLO, the reader of
// bytecode and the lowering to HLO look operations up here. How text is read is next to each form
// (mlir/pretty_forms.h), how an operation becomes HLO in the rows of stablehlo/rows_*.cc.
//
//   stable_operation("stablehlo.exponential_minus_one")->opcode           // Opcode::kExpm1
//   stable_operation(Opcode::kExpm1)->name                                // as it is written
//   stable_operation("stablehlo.dot_general")->vhlo_attributes(1)         // of vhlo.dot_general_v1
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hlo/opcode.h"

namespace hlosim::mlir {

/// What hlosim's writer puts besides operands and types.
enum class StableForm : uint8_t {
  kNone,      // it writes no instruction as this operation
  kPlain,     // nothing; `: T` where all types are one
  kOperands,  // nothing; all types in full
  kBits,      // the same, of bits that are seen as another type
  kCompare,
  kConstant,
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

struct StableOperation {
  std::string_view name;         // with its dialect
  std::optional<Opcode> opcode;  // the HLO instruction that does the same
  StableForm form;               // how an instruction of `opcode` is written
  int newest = 0;                // version in VHLO, the dialect of portable artifacts; 0: it has none
  /// VHLO's, in alphabetical order, each followed by a blank but for the last. `name@2` is there from version
  /// 2 on, `name<2` up to the one before.
  std::string_view attributes{};

  /// In alphabetical order, in which artifacts have their values.
  std::vector<std::string_view> vhlo_attributes(int version) const;
};

/// All, by name.
std::span<const StableOperation> stable_operations();
/// With its dialect; null: it isn't in the table.
const StableOperation* stable_operation(std::string_view name);
/// The one that an instruction is written as; null: nothing in StableHLO or CHLO means the same, or the
/// writer doesn't know it.
const StableOperation* stable_operation(Opcode opcode);

}  // namespace hlosim::mlir
