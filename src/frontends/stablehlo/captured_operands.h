// Regions over elements that use scalars from outside: HLO's computations see nothing outside, so that each
// such scalar becomes one more array of the operation, all of whose elements are alike.
//
//   CapturedOperands outside(op, RegionForm::kFold);        // of the reducer
//   inputs = outside.with_arrays(inputs), inits = outside.with_scalars(inits);
//   attrs.push_back(outside.region(AttrKey::kToApply, "region"));
//   outside.give(op.make(Opcode::kReduce, …, attrs));       // the operation's own results alone
#pragma once

#include <string_view>
#include <vector>

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// What a region is given of each array, and what it returns.
enum class RegionForm : uint8_t {
  kFold,   // what there is of all arrays, then what comes; returns one value for each array
  kPairs,  // two elements of the first array, two of the second, …; returns one value in all
  kOne,    // one element of each array; returns one value in all
};

class CapturedOperands {
 public:
  /// Of the first region. A report where what it uses is no scalar.
  CapturedOperands(OpLowering& op, RegionForm form);

  bool empty() const { return values_.empty(); }
  /// `arrays`, and an array like the first of them for each scalar.
  Values with_arrays(Values arrays);
  /// `scalars`, and the scalars from outside.
  Values with_scalars(Values scalars) const;
  Attr region(AttrKey key, std::string_view name);
  /// The operation's results are those of `made` but for the arrays added.
  void give(InstructionId made);

 private:
  ComputationId computation(std::string_view name);

  OpLowering& op_;
  RegionForm form_;
  std::vector<const mlir::Value*> captured_;
  Values values_;
};

}  // namespace hlosim::stablehlo
