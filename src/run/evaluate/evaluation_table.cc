#include "evaluate/evaluation_table.h"

#include <array>

#include "evaluate/batch_norm_evaluation.h"
#include "evaluate/control_flow_evaluation.h"
#include "evaluate/convolution_evaluation.h"
#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "evaluate/data_movement_evaluation.h"
#include "evaluate/devices/collective_evaluation.h"
#include "evaluate/devices/collective_exchange.h"
#include "evaluate/devices/host_transfer_evaluation.h"
#include "evaluate/dot_evaluation.h"
#include "evaluate/dynamic_evaluation.h"
#include "evaluate/indexing_evaluation.h"
#include "evaluate/linear_algebra_evaluation.h"
#include "evaluate/ordering_evaluation.h"
#include "evaluate/random_evaluation.h"
#include "evaluate/reduction_evaluation.h"
#include "evaluate/window_evaluation.h"

namespace hlosim {
namespace {

/// Functions that are there: a reference can't be null.
struct Given {
  constexpr Given(Evaluation (&evaluate)(EvaluateContext&),
                  JointEvaluation (*jointly)(EvaluateContext&) = nullptr)
      : functions{evaluate, jointly} {}
  EvaluationFunctions functions;
};

struct Row {
  constexpr explicit Row(EvaluationKind without) : kind(without) {}
  constexpr Row(EvaluationKind of, const Given& given)
      : kind(of), functions(given.functions), has_functions(true) {}
  EvaluationKind kind;
  EvaluationFunctions functions{};
  bool has_functions = false;
};

constexpr std::array kRows = {
    Row{EvaluationKind::kNone},
    Row{EvaluationKind::kCollective, {evaluate_single_device, evaluate_among}},
    Row{EvaluationKind::kAllGatherStart, {evaluate_all_gather_start, evaluate_among}},
    Row{EvaluationKind::kCollectivePermute, {evaluate_permute, evaluate_permute_among}},
    Row{EvaluationKind::kCollectivePermuteStart, {evaluate_permute_start, evaluate_permute_start_among}},
    Row{EvaluationKind::kRaggedAllToAll, {evaluate_ragged_all_to_all, evaluate_ragged_among}},
    Row{EvaluationKind::kDot, {evaluate_dot}},
    Row{EvaluationKind::kRaggedDot, {evaluate_ragged_dot}},
    Row{EvaluationKind::kScaledDot, {evaluate_scaled_dot}},
    Row{EvaluationKind::kCall, {evaluate_call, evaluate_call_jointly}},
    Row{EvaluationKind::kConditional, {evaluate_conditional, evaluate_conditional_jointly}},
    Row{EvaluationKind::kWhile, {evaluate_while, evaluate_while_jointly}},
    Row{EvaluationKind::kConvolution, {evaluate_convolution}},
    Row{EvaluationKind::kCustomCall, {evaluate_custom_call}},
    Row{EvaluationKind::kBitcast, {evaluate_bitcast}},
    Row{EvaluationKind::kBitcastConvert, {evaluate_bitcast_convert}},
    Row{EvaluationKind::kConverted, {evaluate_converted}},
    Row{EvaluationKind::kConcatenate, {evaluate_concatenate}},
    Row{EvaluationKind::kCopy, {evaluate_copy}},
    Row{EvaluationKind::kPad, {evaluate_pad}},
    Row{EvaluationKind::kDynamicReshape, {evaluate_dynamic_reshape}},
    Row{EvaluationKind::kDynamicSlice, {evaluate_dynamic_slice}},
    Row{EvaluationKind::kDynamicUpdateSlice, {evaluate_dynamic_update_slice}},
    Row{EvaluationKind::kGetDimensionSize, {evaluate_get_dimension_size}},
    Row{EvaluationKind::kSetDimensionSize, {evaluate_set_dimension_size}},
    Row{EvaluationKind::kInfeed, {evaluate_infeed}},
    Row{EvaluationKind::kOutfeed, {evaluate_outfeed}},
    Row{EvaluationKind::kRecv, {evaluate_recv}},
    Row{EvaluationKind::kRecvDone, {evaluate_recv_done}},
    Row{EvaluationKind::kSend, {evaluate_send, evaluate_send_jointly}},
    Row{EvaluationKind::kGather, {evaluate_gather}},
    Row{EvaluationKind::kScatter, {evaluate_scatter}},
    Row{EvaluationKind::kIota, {evaluate_iota}},
    Row{EvaluationKind::kPartitionId, {evaluate_partition_id}},
    Row{EvaluationKind::kReplicaId, {evaluate_replica_id}},
    Row{EvaluationKind::kRng, {evaluate_rng}},
    Row{EvaluationKind::kRngBitGenerator, {evaluate_rng_bit_generator}},
    Row{EvaluationKind::kRngGetAndUpdateState, {evaluate_rng_state}},
    Row{EvaluationKind::kCholesky, {evaluate_cholesky}},
    Row{EvaluationKind::kFft, {evaluate_fft}},
    Row{EvaluationKind::kTriangularSolve, {evaluate_triangular_solve}},
    Row{EvaluationKind::kBatchNormGrad, {evaluate_batch_norm_grad}},
    Row{EvaluationKind::kBatchNormInference, {evaluate_batch_norm_inference}},
    Row{EvaluationKind::kBatchNormTraining, {evaluate_batch_norm_training}},
    Row{EvaluationKind::kSort, {evaluate_sort}},
    Row{EvaluationKind::kTopk, {evaluate_topk}},
    Row{EvaluationKind::kMap, {evaluate_map}},
    Row{EvaluationKind::kReduce, {evaluate_reduce}},
    Row{EvaluationKind::kReduceWindow, {evaluate_reduce_window}},
    Row{EvaluationKind::kScan, {evaluate_scan}},
    Row{EvaluationKind::kSelectAndScatter, {evaluate_select_and_scatter}},
    Row{EvaluationKind::kIdentityCall, {evaluate_identity_call}},
    Row{EvaluationKind::kAllocateBufferCall, {evaluate_zeros_call}},
    Row{EvaluationKind::kConcatBitcastCall, {evaluate_concat_bitcast}},
    Row{EvaluationKind::kPadToStaticCall, {evaluate_pad_to_static}},
    Row{EvaluationKind::kSliceToDynamicCall, {evaluate_slice_to_dynamic}},
    Row{EvaluationKind::kRngSeedCall, {evaluate_rng_seed}},
    Row{EvaluationKind::kTopKCall, {evaluate_top_k_call}},
    Row{EvaluationKind::kGemmCall, {evaluate_gemm_call}},
    Row{EvaluationKind::kBuilderMathCall, {evaluate_builder_math}},
    Row{EvaluationKind::kCalledComputationCall, {evaluate_called_computation}},
    Row{EvaluationKind::kDequantizeCall, {evaluate_dequantize}},
    Row{EvaluationKind::kBlockScaledDotCall, {evaluate_block_scaled_dot}},
};

constexpr bool is_complete() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<size_t>(kRows[i].kind) != i || kRows[i].has_functions != (i > 0)) return false;
  return kRows.size() == kEvaluationKindCount;
}
static_assert(is_complete(), "a row for each EvaluationKind, in the order of hlo/evaluation_kind.h");

}  // namespace

const EvaluationFunctions& evaluation_functions(EvaluationKind kind) {
  return kRows[static_cast<size_t>(kind)].functions;
}

}  // namespace hlosim
