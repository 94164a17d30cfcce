// LeafArrays of the devices that `hlosim run` runs: who gets which inputs, and what they make together.
//
//   const Result<std::vector<GlobalLeaf>> leaves = global_parameters(module, grid);
//   const Array mine = part_of_global(whole, (*leaves)[0], partition, pool);
#pragma once

#include <span>
#include <vector>

#include "cli/execute/run_inputs.h"
#include "evaluate/devices/joint.h"
#include "sharding/held_parts.h"

namespace hlosim {

using LeafArrays = std::vector<Array>;  // one per leaf

/// A leaf of the entry's parameters or of its root on all partitions together.
struct GlobalLeaf {
  ShapeRef shape = nullptr;  // of one partition
  ShapeRef bound = nullptr;  // of all: the size of one times the number of tiles
  HeldParts sharding;
};

/// By the `sharding` of the parameters, or of the root; what has none is replicated. Errors: a sharding that
/// isn't understood, doesn't fit the array, or is for another number of partitions.
Result<std::vector<GlobalLeaf>> global_parameters(Module& module, const DeviceGrid& grid);
Result<std::vector<GlobalLeaf>> global_results(Module& module, const DeviceGrid& grid);

/// The same of a module for one device that has all of each array.
std::vector<GlobalLeaf> whole_parameters(const Module& module);
std::vector<GlobalLeaf> whole_results(const Module& module);
/// Where `whole` has arrays of which `parts` has the tiles, some of them really cut, the leaves take the
/// sizes of these arrays, which need not be multiples of the tiles'. False: it has others, and nothing
/// changes.
bool take_whole_sizes(const Module& whole, Module& parts, std::vector<GlobalLeaf>& parameters,
                      std::vector<GlobalLeaf>& results);

/// Global arrays from the inputs that `options` name; sizes may be smaller than the bound, as long as each
/// partition's part is as large as its parameter.
Result<LeafArrays> read_global_inputs(const InputOptions& options, std::span<const ParameterLeaf> names,
                                      std::span<const GlobalLeaf> leaves, ShapePool& shapes,
                                      MemoryPool& pool);

/// What the partition holds of `global`: a tile, zeros where it reaches beyond the array. Replicated arrays
/// are shared, not copied. Of partial sums the first device of each has all.
Array part_of_global(const Array& global, const GlobalLeaf& leaf, int64_t partition, MemoryPool& pool);

/// The global arrays that the outputs of one replica's partitions make; of what is replicated, partition 0's.
LeafArrays global_outputs(std::span<const LeafArrays> partitions, std::span<const GlobalLeaf> leaves,
                          MemoryPool& pool);

struct DeviceInputs {
  std::vector<LeafArrays> devices;
  bool shared = true;  // all are the same
};
/// The inputs of the devices of this rank. In the inputs' folder there may be one folder per device,
/// device-0, device-1, …; otherwise all get the same, and share it.
Result<DeviceInputs> read_device_inputs(const InputOptions& options, const LockstepRun& run,
                                        std::span<const ParameterLeaf> leaves, MemoryPool& pool);

/// The outputs of all devices, in order, on rank 0; nothing elsewhere. Tells the ranks' meeting by `number`.
Result<std::vector<LeafArrays>> gather_outputs(LockstepRun& run, std::vector<LeafArrays> local, int number,
                                               MemoryPool& pool);

}  // namespace hlosim
