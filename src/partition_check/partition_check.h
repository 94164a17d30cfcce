// Does a partitioned module compute what the module computes? Both run on the same random global inputs; what
// lies beyond the arrays is NaN.
//
//   const Result<PartitionCheck> check = check_partition(module, op_table(), {.devices = 8}, {.seed = 1});
//   check->agrees(), check->outputs[0].comparison.max_abs
#pragma once

#include <string>
#include <vector>

#include "array/compare.h"
#include "partition/partition.h"

namespace hlosim {

struct PartitionCheckOptions {
  uint64_t seed = 1;
  /// The most that arrays of one run may take.
  int64_t max_bytes = int64_t{4} << 30;
};

struct CheckedOutput {
  std::string shape;
  Comparison comparison;  // of the device that is farthest off
  int64_t device = 0;
};

struct PartitionCheck {
  std::vector<CheckedOutput> outputs;
  int64_t devices = 1;
  bool agrees() const;
};

/// Errors: the module can't be partitioned or run, or takes too much memory.
Result<PartitionCheck> check_partition(const Module& module, const OpTable& table,
                                       const PartitionOptions& options, const PartitionCheckOptions& check);

}  // namespace hlosim
