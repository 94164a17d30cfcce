// Has a module been partitioned? A sharded one that hasn't has the global shapes: as it is, no device runs
// it.
//
//   unpartitioned_devices(module, op_table())  // 8: sharded over 8 devices, unpartitioned; 0: runs as it is
//   is_partitioned(module, op_table())         // true: its shapes are those of one device's parts
#pragma once

#include <cstdint>
#include <optional>

#include "estimate/partition_over_mesh.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Each device has its part of the program already: there is more than one, and the module exchanges data
/// between them, has been scheduled, carries tiles, or was partitioned by partition().
bool is_partitioned(const Module& module, const OpTable& table);

/// The devices that a module has to be partitioned over before it runs: those of its header
/// (num_partitions), else those that its shardings name. 0: none, because no compiler's partitioner has still
/// to see it (it is compiled, partitioned, or exchanges data between devices outside of manual regions) or
/// because no sharding cuts an array. A module without collectives, order and tiles whose parameters are
/// sharded counts as not partitioned: nothing in XLA's text shows it otherwise.
int64_t unpartitioned_devices(const Module& module, const OpTable& table);

/// How a module is spread that nobody asks to be spread. Nullopt: it runs as it is.
std::optional<MeshRequest> default_request(const Module& module, const OpTable& table);

}  // namespace hlosim
