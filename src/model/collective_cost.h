// What collectives cost on the torus of a slice: bytes sent, time on the links.
// The formulas and their sources: docs/timing_model.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "hlo/op_def.h"
#include "model/assumptions.h"
#include "model/device.h"

namespace hlosim {

enum class CollectiveKind : uint8_t;  // ops/work.h
struct DeviceGrid;                    // ops/collective_groups.h

/// A slice of chips: the sides of its mesh, and which of them close to a ring.
struct Slice {
  std::vector<int64_t> sides;    // chips, x first
  std::vector<bool> wraps;       // one per side
  int64_t devices_per_chip = 1;  // they share the chip's links

  int64_t chips() const;
  int64_t devices() const { return chips() * devices_per_chip; }
  /// "2x2x1 (no wrap-around)", "16x16 (torus)", "4x16 (wraps along y)"
  std::string text() const;
};

struct SliceRequest {
  std::optional<Topology> topology;  // --topology
  std::optional<int64_t> devices;    // --devices
};

/// The slice that `needed` devices run on: the requested topology; else the most compact shape of the
/// requested (or needed) number of devices that fits into the generation's pod.
/// Errors: more devices needed than the slice has; a topology of another rank or beyond the pod.
Result<Slice> choose_slice(const DeviceConfig& device, const SliceRequest& request, int64_t needed,
                           AssumptionList& assumptions);

struct CollectiveCost {
  CollectiveKind kind{};
  int64_t group_size = 1;
  int64_t group_count = 1;
  Bytes payload{};          // one member's arrays, padded
  Bytes scalar_payload{};   // its scalars, 4 bytes each for f32[]
  Bytes logical_payload{};  // one member's arrays without padding
  Bytes sent{};             // what one member sends for the arrays, bandwidth-optimal, without padding
  Bytes scalar_sent{};      // and for the scalars
  Picoseconds launch{};     // start and synchronisation
  Picoseconds network{};    // on the links; the larger of bytes and hops
  bool latency_bound = false;
  std::string algorithm;  // "all-reduce, bidirectional ring of 4 along x: max(2·3/4·V/2w, 2·2·α)"

  Picoseconds time() const { return launch + network; }
};

/// Errors: groups that name devices outside of the grid or of the slice.
Result<CollectiveCost> cost_collective(const OpContext& op, const DeviceConfig& device, const Slice& slice,
                                       const DeviceGrid& grid, AssumptionList& assumptions);

}  // namespace hlosim
