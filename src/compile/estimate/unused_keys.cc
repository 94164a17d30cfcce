#include "estimate/unused_keys.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"
#include "estimate/energy_use.h"
#include "estimate/time_range.h"

namespace hlosim {
namespace {

class Hash {
 public:
  void add(int64_t value) { hash_.add_word(static_cast<uint64_t>(value)); }
  void add(double value) { add(std::bit_cast<int64_t>(value)); }
  void add(Picoseconds time) { add(int64_t{time.count()}); }
  void add(Bytes bytes) { add(bytes.count()); }
  void add(const SpaceTraffic& traffic) {
    for (const Traffic& part : traffic) add(part.read), add(part.written);
  }
  template <size_t n>
  void add(const std::array<Picoseconds, n>& times) {
    for (const Picoseconds time : times) add(time);
  }
  uint64_t value() const { return hash_.value(); }

 private:
  Fnv1a hash_;
};

void add_totals(Hash& hash, const Totals& totals) {
  hash.add(totals.makespan);
  hash.add(totals.cycles.count());
  hash.add(totals.lower_bound);
  hash.add(totals.busy);
  hash.add(totals.traffic);
  hash.add(totals.sent);
  hash.add(totals.padded_bytes);
}

void add_occupancy(Hash& hash, const Occupancy& occupancy) {
  for (const SpaceOccupancy& space : occupancy.spaces) {
    hash.add(space.number);
    hash.add(space.peak);
    hash.add(int64_t{space.peak_step});
    hash.add(space.capacity.value_or(Bytes(-1)));
    hash.add(space.reserved.value_or(Bytes(-1)));
  }
}

}  // namespace

// The peak rate of HBM by itself is a line of the report's heading and no result: another rate may limit it.
uint64_t result_fingerprint(const Estimate& estimate, const DeviceConfig& device) {
  Hash hash;
  hash.add(device.clock.count());
  hash.add(peak_flops(device, ElementType::kBF16).count());
  add_totals(hash, estimate.simulation.totals);
  add_occupancy(hash, estimate.occupancy);
  if (const auto range = time_range(device.errors, kinds_of(estimate.simulation.totals)))
    hash.add(range->low), hash.add(range->high);
  for (const EnergyPart& part : energy_of(device, estimate.simulation.totals)) hash.add(part.energy.count());
  for (const InstructionRecord& record : estimate.simulation.instructions) {
    hash.add(record.time);
    hash.add(record.exposed);
    hash.add(static_cast<int64_t>(record.bound_by));
    hash.add(record.cost.busy);
    hash.add(record.cost.fixed);
    hash.add(record.cost.traffic);
  }
  for (const TransferRecord& transfer : estimate.simulation.transfers) {
    hash.add(transfer.start);
    hash.add(transfer.begin);
    hash.add(transfer.end);
    hash.add(transfer.exposed);
    if (transfer.collective) hash.add(transfer.collective->network);
  }
  return hash.value();
}

UnusedKeys keys_without_effect(const Module& module, const OpTable& table, const Device& device,
                               const EstimateOptions& options, const Estimate& estimate, size_t most) {
  const size_t instructions = std::max<size_t>(module.instructions.size(), 1);
  const uint64_t with_all = result_fingerprint(estimate, device.config);
  EstimateOptions bare = options;
  bare.simulate.keep_timeline = false;
  UnusedKeys unused;
  size_t runs = 0;
  for (size_t i = 0; i < device.changes.size(); ++i) {
    const DeviceChange& change = device.changes[i];
    const DeviceValue* value = device.value(change.path);
    if (is_name(change.path) || (value && !value->has_source)) continue;
    const std::optional<Device> other = device.without_change(i);
    if (!other) continue;
    if (++runs * instructions > most) {
      ++unused.unchecked;
      continue;
    }
    const Result<Estimate> rerun = hlosim::estimate(module, table, *other, bare);
    if (rerun && result_fingerprint(*rerun, other->config) == with_all)
      unused.keys.push_back({change.path, change.text, change.previous, change.from_set});
  }
  return unused;
}

}  // namespace hlosim
