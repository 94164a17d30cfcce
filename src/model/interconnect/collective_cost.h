// What collectives cost on the torus of a slice: bytes sent, time on the links.
// The formulas and their sources: docs/timing_model.md.
//
//   const Result<CollectiveCost> cost = cost_collective(op, device.config, slice, grid, assumptions);
//   cost->time()                                   // launch and network
//   cost->algorithm                                // "reduce-scatter and all-gather: ring of 4 along x"
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "hlo/op_def.h"
#include "interconnect/slice.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "model/unit.h"

namespace hlosim {

enum class CollectiveKind : uint8_t;  // ops/work.h
struct DeviceGrid;                    // ops/collective_groups.h
class LinkSet;                        // interconnect/interconnect.h

struct CollectiveCost {
  InstructionId instruction;  // of a module's run; else invalid
  CollectiveKind kind{};
  int64_t group_size = 1;
  int64_t group_count = 1;
  Bytes payload{};          // one member's arrays, padded
  Bytes scalar_payload{};   // its scalars, 4 bytes each for f32[]
  Bytes logical_payload{};  // one member's arrays without padding
  Bytes sent{};             // what one member sends for the arrays, bandwidth-optimal, without padding
  Bytes scalar_sent{};      // and for the scalars
  Picoseconds launch{};     // start and synchronisation
  Picoseconds network{};    // on the links: by_bytes + by_hops
  Picoseconds by_bytes{}, by_hops{};
  int64_t hops = 0;       // that some data take, one after the other
  BytesPerSecond link{};  // one way over one link, the group's share of it; 0: nothing is sent
  Bytes volume{};         // V of the equation: the array that a group works on, scalars included
  Picoseconds bound{};    // of the network: no schedule on these links is faster; 0 where none is known
  bool latency_bound = false;
  Unit driver = Unit::kNone;  // what drives it beside the TensorCore (interconnect/offload.h)
  Picoseconds driving{};      // that unit is busy: sending and reducing
  std::string algorithm;      // "reduce-scatter and all-gather: ring of 4 along x"
  std::string equation;       // of by_bytes: "2 x (4 - 1) / 4 x V / 2w"
  /// Of a permute, the links that it takes: another one beside it takes others. Null: all.
  std::shared_ptr<const LinkSet> links;

  Picoseconds stream() const { return network > driving ? network : driving; }
  Picoseconds time() const { return launch + stream(); }
  /// Of the links, beside other work: two permutes go at a time.
  Picoseconds busy() const { return links ? Picoseconds(network.count() / 2) : network; }
};

/// How a group of several axes of the torus is worked off.
enum class AxisOrder : uint8_t {
  kRotation,  // all links at once: each part of the data takes the axes in another order
  kInTurn,    // one axis after the other, each link at ici.core_bandwidth; where there is none, as above
};

/// Errors: groups that name devices outside of the grid or of the slice.
Result<CollectiveCost> cost_collective(const OpContext& op, const DeviceConfig& device, const Slice& slice,
                                       const DeviceGrid& grid, AssumptionList& assumptions,
                                       AxisOrder order = AxisOrder::kRotation);

/// As opcodes are called: "all-reduce".
std::string_view to_text(CollectiveKind kind);

/// Several that run one after the other as one: amounts and times add up, algorithms stand in a row. Group
/// sizes and counts are 0 where they differ, the driver is kNone. Requires: at least one.
CollectiveCost together(std::span<const CollectiveCost> costs);

}  // namespace hlosim
