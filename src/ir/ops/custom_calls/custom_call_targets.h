// Custom call targets whose meaning is public, and what they compute.
//
//   custom_call_target(op)                         // "__cublas$gemm"
//   library_call(instruction)                      // LibraryCall::kGemm
//   is_of_other_device(module)                     // it was compiled for a GPU or CPU
#pragma once

#include "hlo/op_def.h"
#include "ops/work.h"

namespace hlosim {

/// The target without its quotes; empty: it is no custom call.
std::string_view custom_call_target(const Instruction& instruction);
std::string_view custom_call_target(const OpContext& op);

/// Joins slices that lie side by side, as compilers write prefetches in several parts: no instruction runs.
bool is_concat_bitcast(const Instruction& instruction);

/// Work of a custom call: by its target where that is known, else the bytes of operands and result
/// under Work::unmodelled.
void custom_call_work(const OpContext& op, Work& work);

/// What runs a call of the target; kNone: what it computes isn't known here.
EvaluationKind custom_call_evaluation(const OpContext& op);

/// Calls of libraries that plain instructions can stand for (lower/library_calls.h).
enum class LibraryCall : uint8_t {
  kNone,
  kGemm,
  kConvolutionForward,
  kConvolutionFused,
  kConvolutionGraph,
  kConvolutionBackwardInput,
  kConvolutionBackwardFilter,
};
inline constexpr int kLibraryCallCount = static_cast<int>(LibraryCall::kConvolutionBackwardFilter) + 1;
/// kNone: another instruction, or a call that stays one.
LibraryCall library_call(const Instruction& instruction);

/// The compiler of a GPU or CPU has left its traces: calls of that device's libraries, or what its back end
/// notes (XLA calls these notes "…_backend_config").
bool is_of_other_device(const Module& module);

}  // namespace hlosim
