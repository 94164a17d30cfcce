// How values get from operands to results where nothing is computed: tuples, copies, calls, asynchronous
// operations. The functions stand in the rows of these opcodes as `forward` (see hlo/op_def.h).
//
//   leaves = {0, 1};                     // result leaf k is operand leaf k: a tuple of two arrays
//   leaves = {opened_leaf(0)};           // the only result of the computation that is called
//   leaves = {kNobody};                  // a token
#pragma once

#include <optional>
#include <vector>

#include "hlo/op_def.h"

namespace hlosim {

/// In place of an operand leaf: a value that isn't there.
inline constexpr int64_t kNobody = -1;
/// In place of an operand leaf: leaf `k` of the result of the computation that opened_call() names.
constexpr int64_t opened_leaf(int64_t k) { return -2 - k; }
/// The k of opened_leaf(k), or -1.
constexpr int64_t opened_index(int64_t leaf) { return leaf <= -2 ? -2 - leaf : -1; }

/// A computation that is run as part of an instruction, and the operand leaves that are its arguments.
struct OpenedCall {
  ComputationId computation;
  std::vector<int64_t> arguments;
};

/// The call that an instruction stands for: that of a call, a fusion, or of the instruction of an
/// asynchronous chain at which all operands and results of the wrapped computation are there for the first
/// time. Nullopt for all others.
std::optional<OpenedCall> opened_call(const OpContext& op);

/// An update or done that should run what its chain wraps, where the chain can't be followed to the start: a
/// copy stands in between, or a parameter handed it in. Its results are nobody's and can't be had.
bool loses_results(const OpContext& op);

/// Result leaf k is operand leaf k: tuple, opt-barrier, copy, copy-done, …
void forward_in_order(const OpContext& op, std::vector<int64_t>& leaves);
/// after-all: a token holds nothing.
void forward_nothing(const OpContext& op, std::vector<int64_t>& leaves);
void forward_tuple_element(const OpContext& op, std::vector<int64_t>& leaves);
/// Done of a start that holds (operands, results, …).
void forward_second_element(const OpContext& op, std::vector<int64_t>& leaves);
void forward_copy_start(const OpContext& op, std::vector<int64_t>& leaves);
void forward_async_start(const OpContext& op, std::vector<int64_t>& leaves);
void forward_async_update(const OpContext& op, std::vector<int64_t>& leaves);
void forward_async_done(const OpContext& op, std::vector<int64_t>& leaves);

}  // namespace hlosim
