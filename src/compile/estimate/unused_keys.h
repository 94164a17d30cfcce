// What a user set on a device that makes no difference to the result.
//
//   const UnusedKeys unused = keys_without_effect(module, op_table(), device, options, estimate);
//   for (const UnusedKey& key : unused.keys) warn(key.path);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"

namespace hlosim {

/// Two runs that look the same in a report have equal ones: times, bytes and occupancy of the
/// whole and of every instruction and transfer.
uint64_t result_fingerprint(const Estimate& estimate, const DeviceConfig& device);

/// What the user gave that made no difference.
struct UnusedKey {
  std::string path;
  std::string text;                     // its value
  std::optional<std::string> previous;  // with which the result is the same
  bool from_set = false;
};

struct UnusedKeys {
  std::vector<UnusedKey> keys;
  size_t unchecked = 0;  // changes left out: the module is too large to run once more for each
};

inline constexpr size_t kMostInstructionRuns = 1'000'000;

/// Runs the module once for each of `device.changes`, without that change, and compares with `estimate`.
/// Names and descriptions are left out, and so is what doesn't fit into `most` runs of an instruction.
UnusedKeys keys_without_effect(const Module& module, const OpTable& table, const Device& device,
                               const EstimateOptions& options, const Estimate& estimate,
                               size_t most = kMostInstructionRuns);

}  // namespace hlosim
