// Cores of a device as profiles name them: "/device:TPU:3" is a TensorCore, "/device:TPU:3 SparseCore 1" runs
// beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hlosim {

/// A core as planes and processes are called.
struct TpuCore {
  int64_t device = 0;
  bool is_beside = false;  // the TensorCore
};
/// Nothing of other names.
std::optional<TpuCore> parse_tpu_core(std::string_view name);

/// What ProfiledOperation::core says of operations beside the TensorCore, and tables of theirs.
inline constexpr std::string_view kCoreBeside = "SparseCore";

/// The line, or thread, of a core's operations.
std::string_view operations_line(bool is_beside);

}  // namespace hlosim
