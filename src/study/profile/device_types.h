// What a profiler calls devices: "TPU v6 Lite" is v6e here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hlosim {

/// The built-in device for a profiler's or runtime's name of a chip; empty: not known.
std::string device_of_type(std::string_view device_type);

/// A part of a device as planes and processes are called: "/device:TPU:3", "/device:TPU:3 SparseCore 1".
struct TpuCore {
  int64_t device = 0;
  bool is_sparse = false;  // beside the TensorCore
};
/// Nothing of other names.
std::optional<TpuCore> parse_tpu_core(std::string_view name);

/// What ProfiledOperation::core says of those beside the TensorCore.
inline constexpr std::string_view kSparseCore = "SparseCore";

/// The profiler's name for a generation; for others the device's own name.
std::string type_of_device(std::string_view generation, std::string_view name);

}  // namespace hlosim
