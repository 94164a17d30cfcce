// The words that word-valued attributes take.
#include <algorithm>

#include "hlo/attr.h"

namespace hlosim {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::string_view kAlgorithms[] = {"dot_any_f8_any_f8_f32",
                                            "dot_any_f8_any_f8_f32_fast_accum",
                                            "dot_bf16_bf16_bf16",
                                            "dot_bf16_bf16_f32",
                                            "dot_bf16_bf16_f32_x3",
                                            "dot_bf16_bf16_f32_x6",
                                            "dot_bf16_bf16_f32_x9",
                                            "dot_f16_f16_f16",
                                            "dot_f16_f16_f32",
                                            "dot_f32_f32_f32",
                                            "dot_f64_f64_f64",
                                            "dot_tf32_tf32_f32",
                                            "dot_tf32_tf32_f32_x3",
                                            "rng_default",
                                            "rng_philox",
                                            "rng_three_fry",
                                            "unset"};
constexpr std::string_view kApiVersions[] = {"API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                                             "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr std::string_view kConvolutionKinds[] = {"dgrad", "fprop", "unset", "wgrad"};
constexpr std::string_view kDirections[] = {"EQ", "GE", "GT", "LE", "LT", "NE"};
constexpr std::string_view kDistributions[] = {"rng_invalid", "rng_normal", "rng_uniform"};
constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "IRFFT", "RFFT"};
constexpr std::string_view kFusionKinds[] = {"kCustom", "kInput", "kLoop", "kOutput"};
constexpr std::string_view kModes[] = {"cross_partition", "cross_replica", "cross_replica_and_partition",
                                       "flattened_id"};
constexpr std::string_view kPaddingTypes[] = {"PADDING_INVALID", "PADDING_SAME", "PADDING_VALID"};
constexpr std::string_view kPrecisions[] = {"default", "high", "highest", "packed_nibble"};
constexpr std::string_view kSchedules[] = {"SCHEDULE_EARLIEST", "SCHEDULE_LATEST", "SCHEDULE_NONE"};
constexpr std::string_view kTransposes[] = {"ADJOINT", "NO_TRANSPOSE", "TRANSPOSE", "TRANSPOSE_INVALID"};
constexpr std::string_view kComparisonTypes[] = {"FLOAT", "SIGNED", "TOTALORDER", "UNSIGNED"};

struct Row {
  AttrKey key;
  Words words;
};
constexpr Row kRows[] = {
    {AttrKey::kAlgorithm, kAlgorithms},
    {AttrKey::kApiVersion, kApiVersions},
    {AttrKey::kConvolutionKind, kConvolutionKinds},
    {AttrKey::kDirection, kDirections},
    {AttrKey::kDistribution, kDistributions},
    {AttrKey::kFftType, kFftTypes},
    {AttrKey::kKind, kFusionKinds},
    {AttrKey::kMode, kModes},
    {AttrKey::kPaddingType, kPaddingTypes},
    {AttrKey::kOperandPrecision, kPrecisions},
    {AttrKey::kSchedule, kSchedules},
    {AttrKey::kTransposeA, kTransposes},
    {AttrKey::kType, kComparisonTypes},
};

}  // namespace

Words attr_words(AttrKey key) {
  const Row* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.key == key; });
  return row == std::end(kRows) ? Words() : row->words;
}

}  // namespace hlosim
