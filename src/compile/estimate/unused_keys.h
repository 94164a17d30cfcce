// What a user set on a device that no result of a run reads.
//
//   const UnusedKeys unused = keys_without_effect(module, op_table(), device, options, estimate);
//   for (const UnusedKey& key : unused.keys) warn(key.path);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"

namespace hlosim {

/// Two runs that look the same in a report have equal ones: times, bytes and occupancy of the whole and of
/// every instruction and transfer.
uint64_t result_fingerprint(const Estimate& estimate, const DeviceConfig& device);

/// What the user gave that no term of the run names.
struct UnusedKey {
  std::string path;
  std::string text;                     // its value
  std::optional<std::string> previous;  // with which the result is the same
  bool from_set = false;
};

struct UnusedKeys {
  std::vector<UnusedKey> keys;
  size_t unchecked = 0;  // changes of a device whose module is too large
};

/// Instructions of a module whose terms are gone through, or of all that is run again.
inline constexpr size_t kMostInstructions = 4'000'000;
/// Programs that lowering a module runs, about: each counts.
inline constexpr size_t kRunsOfLowering = 4;

/// Those of `device.changes` that are neither named by the terms of the instructions and transfers that
/// ran (terms/read_keys.h) nor read for the whole run: memory, energy, layouts, the slice. Two cases are
/// estimated again without the change: lowered modules, since lowering reads more keys than the program
/// that it chooses, and the bandwidths of HBM and DMA, of which terms name the slower. Names and
/// descriptions are left out. `module`: the one that was given. What exceeds `most` instructions is left
/// unchecked. O(instructions) where something was changed, but for those estimates.
UnusedKeys keys_without_effect(const Module& module, const OpTable& table, const Device& device,
                               const EstimateOptions& options, const Estimate& estimate,
                               size_t most = kMostInstructions);

}  // namespace hlosim
