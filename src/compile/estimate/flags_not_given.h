// How much of a time hangs on compiler flags that nobody gave: the module is run once more with each at its
// other end.
//
//   for (const FlagNotGiven& flag : flags_not_given(module, op_table(), device, options, estimate))
//     … flag.name, flag.other, flag.time            // "xla_tpu_scoped_vmem_limit_kib", "98304", 4.2 s
//
// A module's text shows most of what flags decided. Those that it doesn't show and that become values of the
// device are tried: the share of VMEM that kernels may use, the clock, the tiles of packed types.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimate.h"

namespace hlosim {

/// A flag that is neither given nor replaced by a value of the device that the user set.
struct FlagNotGiven {
  std::string_view name;            // without dashes, as find_xla_flag() knows it
  std::string_view key;             // of the device: "vmem.scoped_limit"
  std::string value;                // what was taken, as the flag would say it: "32768"
  std::string other;                // its other end: the farthest value that the device and the module allow
  std::optional<Picoseconds> time;  // with the other end; absent: not tried, the module is too large
};

/// The largest limit of scoped VMEM that a kernel may have beside the module's own arrays at their peak, in
/// whole KiB, per core. Nullopt: the device has no VMEM of known size, or nothing is left of it.
std::optional<Bytes> largest_vmem_limit(const Device& device, const Estimate& estimate);

/// Larger modules aren't run again: it would double the time of a report.
inline constexpr size_t kMostInstructionsForFlags = 20'000;

/// Only flags that have another end on this device. The other end of the VMEM limit is what the module's own
/// arrays leave of VMEM at their peak, in whole KiB.
std::vector<FlagNotGiven> flags_not_given(const Module& module, const OpTable& table, const Device& device,
                                          const EstimateOptions& options, const Estimate& estimate);

}  // namespace hlosim
