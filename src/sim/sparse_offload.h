// What compilers give to SparseCores unasked, and how long gathers of rows take there.
//
//   if (offloads_gather(module, id, device)) …                               // lower/sparse_gathers.h
//   if (const auto rows = gather_by_sparse_cores(module, gather, device)) …  // bytes, time
#pragma once

#include <optional>

#include "hlo/module.h"
#include "model/device.h"

namespace hlosim {

/// Rows that SparseCores fetch from a table in HBM and write down one after the other.
struct SparseCoreGather {
  Bytes read{}, written{};
  Picoseconds stream{};  // that their subcores need; HBM may need longer
};

/// Each row comes in runs as it lies in the table's tiles: 32-bit words, so that a row of a 16-bit type comes
/// with the one that it shares words with, in granules of one vector. A subcore moves a vector at a time, in
/// or out. Nothing for what is no gather from HBM, and for devices without SparseCores.
std::optional<SparseCoreGather> gather_by_sparse_cores(const Module& module, InstructionId gather,
                                                       const DeviceConfig& device);

/// Does the compiler give this gather to the SparseCores unasked? It does where it gives any
/// (`sparsecore.offload_gathers`), and the table is larger than VMEM.
bool offloads_gather(const Module& module, InstructionId gather, const DeviceConfig& device);

}  // namespace hlosim
