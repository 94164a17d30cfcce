#include "mlir/stable_operations.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace hlosim::mlir {
namespace {

constexpr std::nullopt_t kNoOpcode = std::nullopt;

#define CONVOLUTION_NUMBERS                                                                                \
  "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension " \
  "kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension "         \
  "output_feature_dimension output_spatial_dimensions "

constexpr StableOperation kOperations[] = {
    {"chlo.acos", Opcode::kAcos, StableForm::kPlain},
    {"chlo.acosh", Opcode::kAcosh, StableForm::kPlain},
    {"chlo.asin", Opcode::kAsin, StableForm::kPlain},
    {"chlo.asinh", Opcode::kAsinh, StableForm::kPlain},
    {"chlo.atanh", Opcode::kAtanh, StableForm::kPlain},
    {"chlo.cosh", Opcode::kCosh, StableForm::kPlain},
    {"chlo.erf", Opcode::kErf, StableForm::kPlain},
    {"chlo.mulhi", Opcode::kMulhi, StableForm::kPlain},
    {"chlo.sinh", Opcode::kSinh, StableForm::kPlain},
    {"chlo.tan", Opcode::kTan, StableForm::kNone},
    {"chlo.top_k", Opcode::kTopK, StableForm::kTopK},
    {"func.call", Opcode::kCall, StableForm::kCall, 1, "callee"},
    {"func.func", kNoOpcode, StableForm::kNone, 1,
     "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"mhlo.add_dependency", Opcode::kAddDependency, StableForm::kNone},
    {"mhlo.stochastic_convert", Opcode::kStochasticConvert, StableForm::kNone},
    {"return", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.abs", Opcode::kAbs, StableForm::kPlain, 1},
    {"stablehlo.add", Opcode::kAdd, StableForm::kPlain, 1},
    {"stablehlo.after_all", Opcode::kAfterAll, StableForm::kPlain, 1},
    {"stablehlo.all_gather", Opcode::kAllGather, StableForm::kAllGather, 2,
     "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"stablehlo.all_reduce", Opcode::kAllReduce, StableForm::kAllReduce, 2,
     "channel_id replica_groups use_global_device_ids"},
    {"stablehlo.all_to_all", Opcode::kAllToAll, StableForm::kAllToAll, 2,
     "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"stablehlo.and", Opcode::kAnd, StableForm::kPlain, 1},
    {"stablehlo.async_done", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.async_start", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.atan2", Opcode::kAtan2, StableForm::kPlain, 1},
    {"stablehlo.batch_norm_grad", Opcode::kBatchNormGrad, StableForm::kBatchNorm, 1, "epsilon feature_index"},
    {"stablehlo.batch_norm_inference", Opcode::kBatchNormInference, StableForm::kBatchNorm, 1,
     "epsilon feature_index"},
    {"stablehlo.batch_norm_training", Opcode::kBatchNormTraining, StableForm::kBatchNorm, 1,
     "epsilon feature_index"},
    {"stablehlo.bitcast_convert", Opcode::kBitcastConvert, StableForm::kBits, 1},
    {"stablehlo.broadcast", kNoOpcode, StableForm::kNone, 1, "broadcast_sizes"},
    {"stablehlo.broadcast_in_dim", Opcode::kBroadcast, StableForm::kBroadcast, 1, "broadcast_dimensions"},
    {"stablehlo.case", Opcode::kConditional, StableForm::kConditional, 1},
    {"stablehlo.cbrt", Opcode::kCbrt, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.ceil", Opcode::kCeil, StableForm::kPlain, 1},
    {"stablehlo.cholesky", Opcode::kCholesky, StableForm::kCholesky, 1, "lower"},
    {"stablehlo.clamp", Opcode::kClamp, StableForm::kPlain, 1},
    {"stablehlo.collective_broadcast", Opcode::kCollectiveBroadcast, StableForm::kCollectiveBroadcast, 2,
     "channel_id has_dynamic_root@2 replica_groups"},
    {"stablehlo.collective_permute", Opcode::kCollectivePermute, StableForm::kPermute, 1,
     "channel_id source_target_pairs"},
    {"stablehlo.collective_reduce", kNoOpcode, StableForm::kNone, 1,
     "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"stablehlo.compare", Opcode::kCompare, StableForm::kCompare, 1, "compare_type comparison_direction"},
    {"stablehlo.complex", Opcode::kComplex, StableForm::kPlain, 1},
    {"stablehlo.composite", kNoOpcode, StableForm::kNone, 2,
     "composite_attributes decomposition name version"},
    {"stablehlo.concatenate", Opcode::kConcatenate, StableForm::kConcatenate, 1, "dimension"},
    {"stablehlo.constant", Opcode::kConstant, StableForm::kConstant, 1, "value"},
    {"stablehlo.convert", Opcode::kConvert, StableForm::kPlain, 1},
    {"stablehlo.convolution", Opcode::kConvolution, StableForm::kConvolution, 1,
     "batch_group_count feature_group_count " CONVOLUTION_NUMBERS
     "padding precision_config rhs_dilation window_reversal window_strides"},
    {"stablehlo.cosine", Opcode::kCos, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.count_leading_zeros", Opcode::kClz, StableForm::kPlain, 1},
    {"stablehlo.create_token", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.cross-replica-sum", kNoOpcode, StableForm::kNone, 1, "replica_groups"},
    {"stablehlo.custom_call", Opcode::kCustomCall, StableForm::kCustomCall, 2,
     "api_version backend_config call_target_name called_computations has_side_effect "
     "operand_layouts output_operand_aliases result_layouts result_tilings@2"},
    {"stablehlo.divide", Opcode::kDivide, StableForm::kPlain, 1},
    {"stablehlo.dot", kNoOpcode, StableForm::kNone, 1, "precision_config"},
    {"stablehlo.dot_general", Opcode::kDot, StableForm::kDot, 2,
     "accumulation_type@2 allow_imprecise_accumulation@2 lhs_batching_dimensions "
     "lhs_component_count@2 lhs_contracting_dimensions lhs_precision_type@2 "
     "num_primitive_operations@2 precision_config rhs_batching_dimensions rhs_component_count@2 "
     "rhs_contracting_dimensions rhs_precision_type@2"},
    {"stablehlo.dynamic_broadcast_in_dim", kNoOpcode, StableForm::kNone, 1,
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"stablehlo.dynamic_conv", kNoOpcode, StableForm::kNone, 2,
     "batch_group_count feature_group_count " CONVOLUTION_NUMBERS
     "padding<2 precision_config rhs_dilation window_reversal window_strides"},
    {"stablehlo.dynamic_gather", kNoOpcode, StableForm::kNone, 2,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 "
     "start_index_map start_indices_batching_dims@2"},
    {"stablehlo.dynamic_iota", kNoOpcode, StableForm::kNone, 1, "iota_dimension"},
    {"stablehlo.dynamic_pad", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.dynamic_reshape", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.dynamic_slice", Opcode::kDynamicSlice, StableForm::kDynamicSlice, 1, "slice_sizes"},
    {"stablehlo.dynamic_update_slice", Opcode::kDynamicUpdateSlice, StableForm::kOperands, 1},
    {"stablehlo.einsum", kNoOpcode, StableForm::kNone, 1, "einsum_config"},
    {"stablehlo.exponential", Opcode::kExp, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.exponential_minus_one", Opcode::kExpm1, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.fft", Opcode::kFft, StableForm::kFft, 1, "fft_length fft_type"},
    {"stablehlo.floor", Opcode::kFloor, StableForm::kPlain, 1},
    {"stablehlo.gather", Opcode::kGather, StableForm::kGather, 2,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 "
     "slice_sizes start_index_map start_indices_batching_dims@2"},
    {"stablehlo.get_dimension_size", Opcode::kGetDimensionSize, StableForm::kDimensionSize, 1, "dimension"},
    {"stablehlo.get_tuple_element", Opcode::kGetTupleElement, StableForm::kElement, 1, "index"},
    {"stablehlo.if", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.imag", Opcode::kImag, StableForm::kPlain, 1},
    {"stablehlo.infeed", kNoOpcode, StableForm::kNone, 1, "infeed_config layout"},
    {"stablehlo.iota", Opcode::kIota, StableForm::kIota, 1, "iota_dimension"},
    {"stablehlo.is_finite", Opcode::kIsFinite, StableForm::kPlain, 1},
    {"stablehlo.log", Opcode::kLog, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.log_plus_one", Opcode::kLog1p, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.logistic", Opcode::kLogistic, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.map", Opcode::kMap, StableForm::kMap, 1, "dimensions"},
    {"stablehlo.maximum", Opcode::kMaximum, StableForm::kPlain, 1},
    {"stablehlo.minimum", Opcode::kMinimum, StableForm::kPlain, 1},
    {"stablehlo.multiply", Opcode::kMultiply, StableForm::kPlain, 1},
    {"stablehlo.negate", Opcode::kNegate, StableForm::kPlain, 1},
    {"stablehlo.not", Opcode::kNot, StableForm::kPlain, 1},
    {"stablehlo.optimization_barrier", Opcode::kOptimizationBarrier, StableForm::kBarrier, 1},
    {"stablehlo.or", Opcode::kOr, StableForm::kPlain, 1},
    {"stablehlo.outfeed", kNoOpcode, StableForm::kNone, 1, "outfeed_config"},
    {"stablehlo.pad", Opcode::kPad, StableForm::kPad, 1,
     "edge_padding_high edge_padding_low interior_padding"},
    {"stablehlo.partition_id", Opcode::kPartitionId, StableForm::kPlain, 1},
    {"stablehlo.popcnt", Opcode::kPopulationCount, StableForm::kPlain, 1},
    {"stablehlo.power", Opcode::kPower, StableForm::kPlain, 1},
    {"stablehlo.real", Opcode::kReal, StableForm::kPlain, 1},
    {"stablehlo.real_dynamic_slice", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.recv", kNoOpcode, StableForm::kNone, 2,
     "channel_id channel_type is_host_transfer source_target_pairs@2"},
    {"stablehlo.reduce", Opcode::kReduce, StableForm::kReduce, 1, "dimensions"},
    {"stablehlo.reduce_precision", Opcode::kReducePrecision, StableForm::kReducePrecision, 1,
     "exponent_bits mantissa_bits"},
    {"stablehlo.reduce_scatter", Opcode::kReduceScatter, StableForm::kReduceScatter, 1,
     "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"stablehlo.reduce_window", Opcode::kReduceWindow, StableForm::kReduceWindow, 1,
     "base_dilations padding window_dilations window_dimensions window_strides"},
    {"stablehlo.remainder", Opcode::kRemainder, StableForm::kPlain, 1},
    {"stablehlo.replica_id", Opcode::kReplicaId, StableForm::kPlain, 1},
    {"stablehlo.reshape", Opcode::kReshape, StableForm::kOperands, 1},
    {"stablehlo.reverse", Opcode::kReverse, StableForm::kReverse, 1, "dimensions"},
    {"stablehlo.rng", Opcode::kRng, StableForm::kRng, 1, "rng_distribution"},
    {"stablehlo.rng_bit_generator", Opcode::kRngBitGenerator, StableForm::kRngBits, 1, "rng_algorithm"},
    {"stablehlo.round_nearest_afz", Opcode::kRoundNearestAfz, StableForm::kPlain, 1},
    {"stablehlo.round_nearest_even", Opcode::kRoundNearestEven, StableForm::kPlain, 1},
    {"stablehlo.rsqrt", Opcode::kRsqrt, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.scatter", Opcode::kScatter, StableForm::kScatter, 2,
     "index_vector_dim indices_are_sorted input_batching_dims@2 inserted_window_dims "
     "scatter_dims_to_operand_dims scatter_indices_batching_dims@2 unique_indices "
     "update_window_dims"},
    {"stablehlo.select", Opcode::kSelect, StableForm::kOperands, 1},
    {"stablehlo.select_and_scatter", Opcode::kSelectAndScatter, StableForm::kSelectAndScatter, 1,
     "padding window_dimensions window_strides"},
    {"stablehlo.send", kNoOpcode, StableForm::kNone, 2,
     "channel_id channel_type is_host_transfer source_target_pairs@2"},
    {"stablehlo.set_dimension_size", Opcode::kSetDimensionSize, StableForm::kDimensionSize, 1, "dimension"},
    {"stablehlo.shift_left", Opcode::kShiftLeft, StableForm::kPlain, 1},
    {"stablehlo.shift_right_arithmetic", Opcode::kShiftRightArithmetic, StableForm::kPlain, 1},
    {"stablehlo.shift_right_logical", Opcode::kShiftRightLogical, StableForm::kPlain, 1},
    {"stablehlo.sign", Opcode::kSign, StableForm::kPlain, 1},
    {"stablehlo.sine", Opcode::kSin, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.slice", Opcode::kSlice, StableForm::kSlice, 1, "limit_indices start_indices strides"},
    {"stablehlo.sort", Opcode::kSort, StableForm::kSort, 1, "dimension is_stable"},
    {"stablehlo.sqrt", Opcode::kSqrt, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.subtract", Opcode::kSubtract, StableForm::kPlain, 1},
    {"stablehlo.tan", Opcode::kTan, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.tanh", Opcode::kTanh, StableForm::kPlain, 2, "result_accuracy@2"},
    {"stablehlo.torch_index_select", kNoOpcode, StableForm::kNone, 1, "batch_dims dim"},
    {"stablehlo.transpose", Opcode::kTranspose, StableForm::kPermutation, 1, "permutation"},
    {"stablehlo.triangular_solve", Opcode::kTriangularSolve, StableForm::kTriangularSolve, 1,
     "left_side lower transpose_a unit_diagonal"},
    {"stablehlo.tuple", Opcode::kTuple, StableForm::kTuple, 1},
    {"stablehlo.unary_einsum", kNoOpcode, StableForm::kNone, 1, "einsum_config"},
    {"stablehlo.uniform_dequantize", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.uniform_quantize", kNoOpcode, StableForm::kNone, 1},
    {"stablehlo.while", Opcode::kWhile, StableForm::kWhile, 1},
    {"stablehlo.xor", Opcode::kXor, StableForm::kPlain, 1},
};
#undef CONVOLUTION_NUMBERS

std::array<const StableOperation*, kOpcodeCount> written_operations() {
  std::array<const StableOperation*, kOpcodeCount> table{};
  for (const StableOperation& operation : kOperations)
    if (operation.form != StableForm::kNone) table[static_cast<size_t>(*operation.opcode)] = &operation;
  return table;
}

}  // namespace

std::vector<std::string_view> StableOperation::vhlo_attributes(int version) const {
  std::vector<std::string_view> found;
  for (std::string_view left = attributes; !left.empty();) {
    const size_t end = std::min(left.find(' '), left.size());
    const std::string_view word = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    const size_t mark = word.find_first_of("@<");
    const bool is_limited = mark != std::string_view::npos;
    if (is_limited && (word[mark] == '@') != (version >= word[mark + 1] - '0')) continue;
    found.push_back(word.substr(0, mark));
  }
  return found;
}

std::span<const StableOperation> stable_operations() { return kOperations; }

const StableOperation* stable_operation(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(kOperations, name, {}, &StableOperation::name);
  return found != std::end(kOperations) && found->name == name ? found : nullptr;
}

const StableOperation* stable_operation(Opcode opcode) {
  static const std::array<const StableOperation*, kOpcodeCount> table = written_operations();
  return table[static_cast<size_t>(opcode)];
}

}  // namespace hlosim::mlir
