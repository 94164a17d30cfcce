// The function of src/run/evaluate that executes an instruction, as a value: the rows of the opcode table
// need no kernels.
//
//   if (op.def().evaluation == EvaluationKind::kReduce) …
#pragma once

#include <cstdint>

namespace hlosim {

/// src/run/evaluate/evaluation_table.cc has the function of each; one without doesn't compile.
enum class EvaluationKind : uint8_t {
  kNone,  // nothing: it is a value already, is run in another way, or has no meaning on a device by itself

  // collectives
  kCollective,
  kAllGatherStart,
  kCollectivePermute,
  kCollectivePermuteStart,
  kRaggedAllToAll,

  // contraction
  kDot,
  kRaggedDot,
  kScaledDot,

  // control flow
  kCall,
  kConditional,
  kWhile,

  // convolutions
  kConvolution,

  // custom call
  kCustomCall,

  // data movement
  kBitcast,
  kBitcastConvert,
  kConverted,
  kConcatenate,
  kCopy,
  kPad,

  // dynamic
  kDynamicReshape,
  kDynamicSlice,
  kDynamicUpdateSlice,
  kGetDimensionSize,
  kSetDimensionSize,

  // host transfer
  kInfeed,
  kOutfeed,
  kRecv,
  kRecvDone,
  kSend,

  // indexing
  kGather,
  kScatter,

  // leaves
  kIota,
  kPartitionId,
  kReplicaId,
  kRng,
  kRngBitGenerator,
  kRngGetAndUpdateState,

  // linear algebra
  kCholesky,
  kFft,
  kTriangularSolve,

  // normalization
  kBatchNormGrad,
  kBatchNormInference,
  kBatchNormTraining,

  // ordering
  kSort,
  kTopk,

  // reduction
  kMap,
  kReduce,
  kReduceWindow,
  kScan,
  kSelectAndScatter,

  // custom calls
  kIdentityCall,
  kAllocateBufferCall,
  kConcatBitcastCall,
  kPadToStaticCall,
  kSliceToDynamicCall,
  kRngSeedCall,
  kTopKCall,
  kGemmCall,
  kBuilderMathCall,
  kCalledComputationCall,
  kDequantizeCall,
  kBlockScaledDotCall,
};
inline constexpr int kEvaluationKindCount = static_cast<int>(EvaluationKind::kBlockScaledDotCall) + 1;

}  // namespace hlosim
