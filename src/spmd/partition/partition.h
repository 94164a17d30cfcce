// One program for all devices from a module whose instructions have shardings: each device runs it on its
// part of every array.
//
//   const Result<Partitioned> spmd = partition(module, op_table(), {.devices = 8});
//   to_text(spmd->module, op_table())              // num_partitions=8, shapes of one device's parts
//   spmd->reshardings[0].bytes                     // what a device sends, and which instruction asked
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "sharding/reshard_plan.h"

namespace hlosim {

/// What was decided by sizes, in channels of collectives.
struct PartitionChoices {
  std::set<int64_t> hoisted;
  std::vector<std::vector<int64_t>> combined;
};

/// Which gathers of a product's operand, and scatters of its sums, become rings of permutes beside parts of
/// the product (windowed_products.h).
struct WindowedEinsum {
  enum class When : uint8_t { kNever, kThreshold, kAlways };
  When when = When::kNever;
  /// With kThreshold: least size of the gathered operand, or of the summands, on a device. The default is
  /// XLA's (spmd_partitioner.h: threshold_for_windowed_einsum_mib).
  int64_t threshold_bytes = int64_t{256} << 20;
  /// With kThreshold: of products of that type, and both ways round a ring. Null, 0: no ring is ruled out
  /// because it would take as long as the collective and the product one after the other.
  std::function<double(ElementType)> flops_per_second;
  double ring_bytes_per_second = 0;
};

struct PartitionOptions {
  int64_t devices = 0;  // 0: as the module says, or its shardings
  /// All arrays are copies but those that the text cuts by hand (manual): the meaning of the module, for
  /// comparison.
  bool replicate_all = false;
  /// Outputs that the text leaves as summands are summed up.
  bool reduce_results = false;
  /// Collectives of what a loop hands on unchanged are done once before it, as long as what they make takes
  /// no more than this on a device, all loops together.
  int64_t hoist_bytes = int64_t{1} << 30;
  /// Independent collectives of one kind between the same devices are one as long as their arrays take no
  /// more than this together: all-reduces, and others.
  int64_t combine_reductions_bytes = int64_t{30} << 20;
  int64_t combine_moves_bytes = int64_t{1} << 20;
  WindowedEinsum windowed{};
  /// Those of the same module at other sizes, in place of the limits. Outlives the call.
  const PartitionChoices* choices = nullptr;
};

/// A collective that partitioning added.
struct Resharding {
  ReshardKind kind;
  InstructionId collective;  // of Partitioned::module
  std::string asked_by;      // the instruction of the original module
  uint32_t offset = 0;       // of its name, in the source
  InstructionId moved;       // what moves; while the module is made
  std::string what;          // its name
  std::string from, to;      // shardings
  int64_t bytes = 0;         // that a device sends, each time it runs
  bool in_loop = false;
  /// What a loop hands on unchanged: the bytes that a device has to hold while it runs for this to be done
  /// once before it. 0: it is needed anew each time. `hoisted`: it is done before.
  int64_t held = 0;
  bool hoisted = false;
  bool windowed = false;  // of a ring beside parts of a product
  int64_t together = 1;   // collectives that are one with it
  AxisList along;         // while the module is made: who takes part,
  int64_t dimension = 0;  // and the dimension that is gathered or scattered
};

/// An instruction that every device runs as a whole, for lack of a better rule.
struct ReplicatedInstruction {
  std::string name;
  uint32_t offset = 0;
  std::string reason;
  int64_t bytes = 0;  // that gathering its operands sends
};

/// How inputs and outputs lie on the devices, leaf by leaf.
struct PartitionLayout {
  DeviceAxes axes = DeviceAxes(1);
  std::vector<PlacedTiling> parameters, results;
};

/// Products with a gather of an operand, or with a scatter of their sums, by what became of the collective.
struct WindowedCounts {
  int64_t rings = 0;
  int64_t small = 0, shared = 0, longer = 0, unpaid = 0;  // below the threshold; an operand of several; …
};

struct Partitioned {
  Module module;
  int64_t devices = 1;
  std::vector<Resharding> reshardings;
  std::vector<ReplicatedInstruction> replicated;
  PartitionLayout layout;
  PartitionChoices choices;
  WindowedCounts windowed;
};

/// Instructions without a sharding take what is cheapest from their operands. Errors have the place of the
/// sharding or instruction that can't be partitioned.
Result<Partitioned> partition(const Module& module, const OpTable& table, const PartitionOptions& options);

}  // namespace hlosim
