// Collectives run by a device that is alone in its group. Where a group has more members the module needs
// more devices than the one that runs it, which is an error that says how many.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evaluate/evaluate.h"

namespace hlosim {

/// Nothing comes in and nothing goes out: each result is its operand. all-reduce, all-gather, reduce-scatter,
/// all-to-all, collective-broadcast and all-reduce-start.
Evaluation evaluate_single_device(EvaluateContext& op);
/// (operands, results) of the same.
Evaluation evaluate_all_gather_start(EvaluateContext& op);
/// The operand for a pair {0,0}, zeros when no device sends. In place: the slices of the input in the output.
Evaluation evaluate_permute(EvaluateContext& op);
/// (operands, results, zeros for whatever context is declared).
Evaluation evaluate_permute_start(EvaluateContext& op);
/// The rows that the device sends to itself.
Evaluation evaluate_ragged_all_to_all(EvaluateContext& op);

/// Bytes of a row of its operands; nullopt: they don't fit together.
std::optional<int64_t> ragged_row_bytes(const OpContext& op);

}  // namespace hlosim
