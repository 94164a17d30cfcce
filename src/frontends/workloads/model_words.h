// The words of a model file's enumerations, one table for all that read or write them.
//
//   word_of(kActivationWords, model.activation)          // "silu"
#pragma once

#include <optional>
#include <string_view>

#include "base/enum_rows.h"
#include "workloads/model_config.h"

namespace hlosim {

template <class Enum>
struct ModelWord {
  Enum value;
  std::string_view word;
};

inline constexpr ModelWord<Activation> kActivationWords[] = {{Activation::kSilu, "silu"},
                                                             {Activation::kGelu, "gelu"},
                                                             {Activation::kRelu, "relu"},
                                                             {Activation::kSigmoid, "sigmoid"}};
inline constexpr ModelWord<NormKind> kNormWords[] = {{NormKind::kRms, "rms"}, {NormKind::kLayer, "layer"}};
inline constexpr ModelWord<Position> kPositionWords[] = {
    {Position::kRotary, "rotary"}, {Position::kLearned, "learned"}, {Position::kNone, "none"}};
inline constexpr ModelWord<MoeConfig::Dispatch> kDispatchWords[] = {
    {MoeConfig::Dispatch::kDropless, "dropless"}, {MoeConfig::Dispatch::kCapacity, "capacity"}};
inline constexpr ModelWord<MoeConfig::Score> kScoreWords[] = {{MoeConfig::Score::kSoftmax, "softmax"},
                                                              {MoeConfig::Score::kSigmoid, "sigmoid"}};
static_assert(rows_follow(kActivationWords, &ModelWord<Activation>::value));
static_assert(rows_follow(kNormWords, &ModelWord<NormKind>::value));
static_assert(rows_follow(kPositionWords, &ModelWord<Position>::value));
static_assert(rows_follow(kDispatchWords, &ModelWord<MoeConfig::Dispatch>::value));
static_assert(rows_follow(kScoreWords, &ModelWord<MoeConfig::Score>::value));

template <class Enum, size_t n>
constexpr std::string_view word_of(const ModelWord<Enum> (&words)[n], Enum value) {
  return words[static_cast<size_t>(value)].word;
}

/// The activation of a model file's word, or of a framework's other name of it: "swish", "gelu_pytorch_tanh".
std::optional<Activation> parse_activation(std::string_view word);

}  // namespace hlosim
