// The scope of an operation: the part of the user's program that it belongs to, from JAX's op_name.
//
//   scope_of("jit(f)/jit(main)/transpose(jvp(layer_0/attention))/dot_general")
//       // {.phase = Phase::kBackward, .path = "layer_#/attention", .primitive = "dot_general"}
//
// Wrappers that JAX adds (jit, jvp, transpose, vmap, remat, while, body, …) are dropped; digits become '#',
// so that layers
// that are alike are one scope.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.h"

namespace hlosim {

enum class Phase : uint8_t { kForward, kBackward, kRecomputed, kOther };
/// "forward", "backward", "recomputed"; empty for kOther.
std::string_view to_text(Phase phase);

struct Scope {
  Phase phase = Phase::kOther;
  std::string path;       // may be empty
  std::string primitive;  // the last component
  friend bool operator==(const Scope&, const Scope&) = default;
};

/// `op_name`: of the metadata; an empty one gives an empty scope.
Scope scope_of(std::string_view op_name);

/// Time of the instructions of one scope.
struct ScopeTime {
  std::string name;  // "backward layer_#/attention"; "no op_name"
  Picoseconds time{};
  BoundTimes bound{};  // adds up to `time`
};

/// By scope, the longest first; they add up to the time of all instructions. Empty where no instruction has
/// an op_name.
std::vector<ScopeTime> times_by_scope(const Report& report);

/// "train_step.py:25 backward attention/dot_general": the source line, the phase and the end of the op_name;
/// what is unknown is left out, and the end of the op_name where all of it has more than `width` columns.
std::string place_of(const ReportInstruction& row, size_t width = std::string::npos);

}  // namespace hlosim
