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
  /// Inputs are whole numbers from -4 to 3, so that most sums are exact in any order.
  bool whole_numbers = false;
  /// The most that arrays of one run may take.
  int64_t max_bytes = int64_t{4} << 30;
  /// What takes more than these is compared at smaller sizes at which it is the same program, if there are
  /// such sizes.
  int64_t easy_bytes = int64_t{128} << 20;
  double easy_products = 1e9;  // multiplications of products and convolutions
};

struct CheckedOutput {
  std::string shape;
  Comparison comparison;  // of the device that is farthest off
  int64_t device = 0;
};

struct PartitionCheck {
  std::vector<CheckedOutput> outputs;
  int64_t devices = 1;
  std::vector<std::string> notes;  // what was compared, if not the module itself
  bool agrees() const;
};

/// Errors: the module can't be partitioned or run, or takes too much memory.
Result<PartitionCheck> check_partition(const Module& module, const OpTable& table,
                                       const PartitionOptions& options, const PartitionCheckOptions& check);

}  // namespace hlosim
