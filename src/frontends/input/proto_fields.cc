#include "input/proto_fields.h"

#include <algorithm>

namespace hlosim::internal {
namespace {

using Word = std::string_view;

// By number, as in xla_data.proto and hlo.proto.
constexpr Word kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr Word kDistributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};
constexpr Word kRngAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
constexpr Word kDotAlgorithms[] = {"unset",
                                   "dot_any_f8_any_f8_f32",
                                   "dot_any_f8_any_f8_f32_fast_accum",
                                   "dot_f16_f16_f16",
                                   "dot_f16_f16_f32",
                                   "dot_bf16_bf16_bf16",
                                   "dot_bf16_bf16_f32",
                                   "dot_bf16_bf16_f32_x3",
                                   "dot_bf16_bf16_f32_x6",
                                   "dot_tf32_tf32_f32",
                                   "dot_tf32_tf32_f32_x3",
                                   "dot_f32_f32_f32",
                                   "dot_f64_f64_f64",
                                   "dot_bf16_bf16_f32_x9"};
constexpr Word kPrecisions[] = {"default", "high", "highest", "packed_nibble"};
constexpr Word kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr Word kPaddingTypes[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
constexpr Word kSchedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
constexpr Word kApiVersions[] = {"", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                 "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr Word kConvolutionKinds[] = {"unset", "fprop", "dgrad", "wgrad"};
constexpr Word kTriState[] = {"", "true", "false"};

constexpr ProtoField kFields[] = {
    {AttrKey::kDimensions, "dimensions", {}, 0, true},
    {AttrKey::kIotaDimension, "dimensions"},
    {AttrKey::kInferredDimension, "dimensions"},
    {AttrKey::kIndex, "tuple_index"},
    {AttrKey::kDynamicSliceSizes, "dynamic_slice_sizes", {}, 0, true},
    {AttrKey::kExponentBits, "exponent_bits"},
    {AttrKey::kMantissaBits, "mantissa_bits"},
    {AttrKey::kOutfeedConfig, "outfeed_config"},
    {AttrKey::kInfeedConfig, "infeed_config"},
    {AttrKey::kDistribution, "distribution", kDistributions},
    {AttrKey::kFeatureIndex, "feature_index"},
    {AttrKey::kFftType, "fft_type", kFftTypes},
    {AttrKey::kFftLength, "fft_length", {}, 0, true},
    {AttrKey::kDirection, "comparison_direction"},
    {AttrKey::kType, "comparison_type"},
    {AttrKey::kKind, "fusion_kind"},
    {AttrKey::kLhsBatchDims,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions",
     {},
     0,
     false,
     AttrKey::kLhsRaggedDims},
    {AttrKey::kLhsContractingDims,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions",
     {},
     0,
     true,
     AttrKey::kLhsRaggedDims},
    {AttrKey::kRhsBatchDims,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions",
     {},
     0,
     false,
     AttrKey::kLhsRaggedDims},
    {AttrKey::kRhsContractingDims,
     "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions",
     {},
     0,
     true,
     AttrKey::kLhsRaggedDims},
    {AttrKey::kLhsRaggedDims, "ragged_dot_dimension_numbers.lhs_ragged_dimensions", {}, 0, true},
    {AttrKey::kRhsGroupDims, "ragged_dot_dimension_numbers.rhs_group_dimensions"},
    {AttrKey::kLhsBatchDims, "dot_dimension_numbers.lhs_batch_dimensions"},
    {AttrKey::kLhsContractingDims, "dot_dimension_numbers.lhs_contracting_dimensions", {}, 0, true},
    {AttrKey::kRhsBatchDims, "dot_dimension_numbers.rhs_batch_dimensions"},
    {AttrKey::kRhsContractingDims, "dot_dimension_numbers.rhs_contracting_dimensions", {}, 0, true},
    {AttrKey::kOffsetDims, "gather_dimension_numbers.offset_dims"},
    {AttrKey::kCollapsedSliceDims, "gather_dimension_numbers.collapsed_slice_dims"},
    {AttrKey::kStartIndexMap, "gather_dimension_numbers.start_index_map"},
    {AttrKey::kOperandBatchingDims, "gather_dimension_numbers.operand_batching_dims"},
    {AttrKey::kStartIndicesBatchingDims, "gather_dimension_numbers.start_indices_batching_dims"},
    {AttrKey::kUpdateWindowDims, "scatter_dimension_numbers.update_window_dims"},
    {AttrKey::kInsertedWindowDims, "scatter_dimension_numbers.inserted_window_dims"},
    {AttrKey::kScatterDimsToOperandDims, "scatter_dimension_numbers.scatter_dims_to_operand_dims"},
    {AttrKey::kInputBatchingDims, "scatter_dimension_numbers.input_batching_dims"},
    {AttrKey::kScatterIndicesBatchingDims, "scatter_dimension_numbers.scatter_indices_batching_dims"},
    {AttrKey::kIndexVectorDim,
     "scatter_dimension_numbers.index_vector_dim",
     {},
     0,
     false,
     AttrKey::kUpdateWindowDims},
    {AttrKey::kIndexVectorDim, "gather_dimension_numbers.index_vector_dim"},
    {AttrKey::kSliceSizes, "gather_slice_sizes", {}, 0, false, AttrKey::kOffsetDims},
    {AttrKey::kIndicesAreSorted, "indices_are_sorted"},
    {AttrKey::kUniqueIndices, "unique_indices"},
    {AttrKey::kFeatureGroupCount, "feature_group_count", {}, 1},
    {AttrKey::kBatchGroupCount, "batch_group_count", {}, 1},
    {AttrKey::kConvolutionKind, "conv_kind", kConvolutionKinds},
    {AttrKey::kOperandPrecision, "precision_config.operand_precision", kPrecisions},
    {AttrKey::kAlgorithm, "precision_config.algorithm", kDotAlgorithms, 0, false, AttrKey::kOperandPrecision},
    {AttrKey::kAlgorithm, "rng_algorithm", kRngAlgorithms},
    {AttrKey::kDelta, "delta"},
    {AttrKey::kChannelId, "channel_id"},
    {AttrKey::kConstrainLayout, "constrain_layout"},
    {AttrKey::kUseGlobalDeviceIds, "use_global_device_ids"},
    {AttrKey::kIsHostTransfer, "is_host_transfer"},
    {AttrKey::kIsStable, "is_stable"},
    {AttrKey::kLeftSide, "triangular_solve_options.left_side"},
    {AttrKey::kLower, "triangular_solve_options.lower", {}, 0, false, AttrKey::kLeftSide},
    {AttrKey::kUnitDiagonal, "triangular_solve_options.unit_diagonal"},
    {AttrKey::kTransposeA, "triangular_solve_options.transpose_a", kTransposes},
    {AttrKey::kLower, "cholesky_options.lower"},
    {AttrKey::kK, "k"},
    {AttrKey::kLargest, "largest", {}, 0, false, {}, true},
    {AttrKey::kIsComposite, "is_composite"},
    {AttrKey::kIsReverse, "is_reverse"},
    {AttrKey::kNumCarries, "num_carries"},
    {AttrKey::kIsAssociative, "is_associative", kTriState},
    {AttrKey::kCustomCallTarget, "custom_call_target"},
    {AttrKey::kCustomCallHasSideEffect, "custom_call_has_side_effect"},
    {AttrKey::kSchedule, "custom_call_schedule", kSchedules},
    {AttrKey::kApiVersion, "custom_call_api_version", kApiVersions, 1},
    {AttrKey::kPaddingType, "padding_type", kPaddingTypes},
    {AttrKey::kAsyncExecutionThread, "async_execution_thread"},
    {AttrKey::kCrossProgramPrefetchIndex, "cross_program_prefetch_index"},
    {AttrKey::kParameterReplication, "parameter_replication.replicated_at_leaf_buffers"},
};

constexpr AttrKey kCalling[] = {AttrKey::kToApply,
                                AttrKey::kCalls,
                                AttrKey::kBody,
                                AttrKey::kCondition,
                                AttrKey::kSelect,
                                AttrKey::kScatter,
                                AttrKey::kTrueComputation,
                                AttrKey::kFalseComputation,
                                AttrKey::kBranchComputations,
                                AttrKey::kCalledComputations};

struct TypeNumber {
  ElementType type;
  int32_t number;
};
using T = ElementType;
constexpr TypeNumber kTypes[] = {
    {T::kPred, 1},        {T::kS8, 2},          {T::kS16, 3},  {T::kS32, 4},       {T::kS64, 5},
    {T::kU8, 6},          {T::kU16, 7},         {T::kU32, 8},  {T::kU64, 9},       {T::kF16, 10},
    {T::kF32, 11},        {T::kF64, 12},        {T::kC64, 15}, {T::kBF16, 16},     {T::kC128, 18},
    {T::kF8E5M2, 19},     {T::kF8E4M3FN, 20},   {T::kS4, 21},  {T::kU4, 22},       {T::kF8E4M3B11FNUZ, 23},
    {T::kF8E5M2FNUZ, 24}, {T::kF8E4M3FNUZ, 25}, {T::kS2, 26},  {T::kU2, 27},       {T::kF8E4M3, 28},
    {T::kF8E3M4, 29},     {T::kS1, 30},         {T::kU1, 31},  {T::kF4E2M1FN, 32}, {T::kF8E8M0FNU, 33},
};

}  // namespace

std::span<const ProtoField> proto_fields() { return kFields; }

const AttrSpec* find_spec(const OpDef& def, AttrKey key) {
  const auto spec =
      std::find_if(def.attrs.begin(), def.attrs.end(), [&](const AttrSpec& s) { return s.key == key; });
  return spec == def.attrs.end() ? nullptr : &*spec;
}

const ProtoField* proto_field(const OpDef& def, AttrKey key) {
  for (const ProtoField& field : kFields)
    if (field.key == key && (!field.beside || find_spec(def, *field.beside))) return &field;
  return nullptr;
}

std::span<const AttrKey> calling_attributes() { return kCalling; }

int32_t proto_number(ElementType type) {
  for (const TypeNumber& row : kTypes)
    if (row.type == type) return row.number;
  return 0;
}

ElementType element_type_of(int32_t number) {
  for (const TypeNumber& row : kTypes)
    if (row.number == number) return row.type;
  return ElementType::kInvalid;
}

}  // namespace hlosim::internal
