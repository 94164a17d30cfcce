#include "interconnect/collective_driver.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "interconnect/offload.h"
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

/// Additions of reductions: each member adds up its part of all others' arrays.
double folded_bytes(const CollectiveCost& cost) {
  if (cost.kind != CollectiveKind::kAllReduce && cost.kind != CollectiveKind::kReduceScatter) return 0;
  const auto members = static_cast<double>(cost.group_size);
  return static_cast<double>((cost.payload + cost.scalar_payload).count()) * (members - 1) / members;
}

/// A core beside the TensorCore starts its collective, sends on what arrives and adds up what it reduces.
void drive_by_offload_cores(CollectiveCost& cost, const Instruction& collective, const OffloadCore& core) {
  if (cost.network.count() == 0) return;  // nothing is sent
  const int64_t cores = core.count_for(collective);
  cost.driver = core.unit();
  cost.links.reset();  // one core sends one after the other
  cost.driving = std::max(cost.network, core.vectors_time(folded_bytes(cost), cores));
  cost.launch = core.launch();
  cost.algorithm +=
      fmt::format("; driven by {} {}{}", cores, unit_row(core.unit()).name, cores == 1 ? "" : "s");
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
  return is_given && OffloadCore::of(device) ? AxisOrder::kRotation : AxisOrder::kInTurn;
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
    if (const std::optional<OffloadCore> core = OffloadCore::of(device))
      return drive_by_offload_cores(cost, collective, *core);
    if (cost.network.count() > 0) assumptions.add(no_offload_core_assumption());
  }
  drive_by_tensor_cores(cost, device);
}

}  // namespace hlosim
