#include "interconnect/collective_driver.h"

#include <algorithm>

#include "base/saturating.h"
#include "interconnect/sparse_core.h"
#include "model/instruction_cost.h"
#include "ops/collective_groups.h"
#include "ops/work.h"

namespace hlosim {
namespace {

bool exchanges(const CollectiveCost& cost) {
  return cost.kind == CollectiveKind::kAllToAll || cost.kind == CollectiveKind::kRaggedAllToAll;
}

/// Devices of one chip wait for each other before they write into each other's memory; those that exchange
/// parts wait a second time, as nobody knows when the others have read.
void wait_within_chip(CollectiveCost& cost, const DeviceConfig& device) {
  if (!device.ici.die_launch) return;
  cost.launch = *device.ici.die_launch;
  if (exchanges(cost)) cost.launch += *device.ici.die_launch + device.ici.hop_latency;
}

void send_one_stream(CollectiveCost& cost, BytesPerSecond rate) {
  const Bytes sent = sent_per_member(cost.kind, cost.group_size, cost.payload + cost.scalar_payload);
  const Picoseconds one_stream = duration(sent, rate);
  if (one_stream <= cost.by_bytes) return;
  cost.algorithm += "; driven by the TensorCores, one stream";
  cost.equation = "bytes sent / TensorCores' rate";
  cost.by_bytes = one_stream;
  cost.network = cost.by_bytes + cost.by_hops;
  cost.latency_bound = cost.by_hops > cost.by_bytes;
}

}  // namespace

bool is_within_chip(const CollectiveCost& cost) { return cost.network.count() > 0 && cost.link.count() == 0; }

void drive_by_tensor_cores(CollectiveCost& cost, const DeviceConfig& device) {
  if (cost.network.count() == 0) return;  // nothing is sent
  if (is_within_chip(cost)) return wait_within_chip(cost, device);
  if (!device.ici.core_bandwidth) return;
  if (exchanges(cost)) send_one_stream(cost, *device.ici.core_bandwidth);
  // The first parts travel while the others get ready.
  cost.launch -= std::min(cost.launch, cost.by_bytes);
}

AxisOrder axis_order(bool is_given, const DeviceConfig& device) {
  return is_given && device.sparsecore ? AxisOrder::kRotation : AxisOrder::kInTurn;
}

Picoseconds held_by_start(std::span<const CollectiveCost> costs, const DeviceConfig& device) {
  if (!device.ici.core_bandwidth) return {};
  Bytes own{};
  Picoseconds network{};
  for (const CollectiveCost& cost : costs) {
    if (cost.kind != CollectiveKind::kAllGather || cost.driver != Unit::kNone || cost.network.count() == 0 ||
        is_within_chip(cost))
      continue;
    add_bytes(own, Bytes(cost.volume.count() / cost.group_size));
    network = later(network, cost.network);
  }
  if (network.count() == 0) return {};
  return std::min(device.ici.launch + duration(own, *device.ici.core_bandwidth), network);
}

void drive_collective(CollectiveCost& cost, const Instruction& collective, bool is_given,
                      const DeviceConfig& device, AssumptionList& assumptions) {
  if (is_given) {
    drive_by_sparse_cores(cost, collective, device, assumptions);
    if (device.sparsecore) return;
  }
  drive_by_tensor_cores(cost, device);
}

}  // namespace hlosim
