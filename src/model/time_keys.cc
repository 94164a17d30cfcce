#include "model/time_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/enum_rows.h"
#include "model/cost_details.h"

namespace hlosim {
namespace {

struct KeyRow {
  std::string_view name, path;
};
struct TimeKeyRow {
  TimeKey key;
  std::string_view name, path;
};
constexpr TimeKeyRow kKeyRows[] = {
    {TimeKey::kCores, "cores", "cores"},
    {TimeKey::kClock, "clock", "clock"},
    {TimeKey::kMxuCount, "count", "mxu.count"},
    {TimeKey::kMxuRows, "depth", "mxu.rows"},
    {TimeKey::kMxuColumns, "width", "mxu.columns"},
    {TimeKey::kLanes, "lanes", "vpu.lanes"},
    {TimeKey::kSublanes, "sublanes", "vpu.sublanes"},
    {TimeKey::kAlus, "alus", "vpu.alus"},
    {TimeKey::kEupCadence, "cadence", "eup.cadence"},
    {TimeKey::kEupCount, "count", "eup.count"},
    {TimeKey::kXluCadence, "cadence", "xlu.cadence"},
    {TimeKey::kXluCount, "count", "xlu.count"},
    {TimeKey::kScalarCadence, "cadence", "scalar.cadence"},
    {TimeKey::kScalarCount, "count", "scalar.count"},
    {TimeKey::kDmaBandwidth, "DMA", "dma.bandwidth"},
    {TimeKey::kReadLatency, "read latency", "dma.read_latency"},
    {TimeKey::kWriteLatency, "write latency", "dma.write_latency"},
    {TimeKey::kFullRateRun, "least per access", "dma.full_rate_run"},
    {TimeKey::kShortRun, "short run", "dma.short_run"},
    {TimeKey::kShortRunRow, "row", "dma.short_run_row"},
    {TimeKey::kOutstanding, "outstanding", "dma.outstanding"},
    {TimeKey::kIssue, "issue", "dma.issue"},
    {TimeKey::kTileMove, "tile move", "vmem.tile_move"},
    {TimeKey::kPcieBandwidth, "PCIe", "host.pcie.bandwidth"},
    {TimeKey::kPcieLatency, "PCIe latency", "host.pcie.latency"},
    {TimeKey::kInstruction, "instruction", "overhead.instruction"},
    {TimeKey::kSmallestFusion, "smallest", "overhead.smallest_fusion"},
    {TimeKey::kSmallestWrite, "smallest", "overhead.smallest_write"},
    {TimeKey::kLoadedMemory, "loaded memory", "overhead.loaded_memory"},
    {TimeKey::kFusedDone, "end of the collective", "ici.fused_done"},
    {TimeKey::kLoopIteration, "iteration", "overhead.loop_iteration"},
};
constexpr auto kFixedKeys = static_cast<size_t>(TimeKey::kSpaces);
static_assert(rows_follow(kKeyRows, &TimeKeyRow::key) && std::size(kKeyRows) == kFixedKeys);

constexpr KeyRow kSpaceRows[] = {{"bandwidth", "bandwidth"}, {"read rate", "read"}, {"write rate", "write"}};

TimeKey space_key(size_t space, size_t row) { return static_cast<TimeKey>(kFixedKeys + 3 * space + row); }

/// HBM's bandwidth and that of the DMA in front of it count where they give a rate (Core::hbm_bus).
void add_bus_keys(const DeviceConfig& device, size_t at, TimeKeySet& keys) {
  const MemorySpace& hbm = device.hbm();
  const BusRate bus = Core(device).hbm_bus();
  const double alone = 1e12 / device_rates(device, hbm).total.count();
  const bool is_limit =
      bus.total <= alone || (hbm.read && bus.read <= alone) || (hbm.write && bus.write <= alone);
  if (is_limit) keys.add(space_key(at, 0));
  if (bus.total > alone) keys.add(TimeKey::kDmaBandwidth);
}

TimeKeySet memory_keys(const DeviceConfig& device, size_t at) {
  const MemorySpace& space = device.memory[at];
  TimeKeySet keys;
  if (&space == &device.hbm())
    add_bus_keys(device, at, keys);
  else if (space.bandwidth)
    keys.add(space_key(at, 0));
  if (space.read) keys.add(space_key(at, 1));
  if (space.write) keys.add(space_key(at, 2));
  if (space.scope == MemoryScope::kHost && !space.bandwidth && !space.read && !space.write)
    keys.add(TimeKey::kPcieBandwidth);
  if (device.cores > 1) keys.add(TimeKey::kCores);
  return keys;
}

}  // namespace

TimeKeySet unit_keys(const DeviceConfig& device, Unit unit) {
  using enum TimeKey;
  TimeKeySet keys;
  if (device.cores > 1) keys.add(kCores);
  switch (unit) {
    case Unit::kMxu:
      keys.add({kClock, kMxuCount, kMxuRows, kMxuColumns});
      return keys;
    case Unit::kVpu:
      keys.add({kClock, kLanes, kSublanes, kAlus});
      return keys;
    case Unit::kEup:
      keys.add({kClock, kLanes, kSublanes, kEupCadence, kEupCount});
      return keys;
    case Unit::kXlu:
      keys.add({kClock, kLanes, kSublanes, kXluCadence, kXluCount});
      return keys;
    case Unit::kScalar:
      keys.add({kClock, kScalarCadence, kScalarCount});
      return keys;
    case Unit::kHost:
      return {kPcieBandwidth};
    default:
      break;
  }
  const size_t space = index_of(unit) - index_of(Unit::kMemory);
  return unit >= Unit::kMemory && space < device.memory.size() ? memory_keys(device, space) : TimeKeySet{};
}

TimeKeySet access_keys(const MemorySpace* space, const DeviceConfig& device, const ComputeSummary& compute,
                       const Traffic& hbm) {
  TimeKeySet keys;
  if (!space) {  // the scalar unit
    if (compute.scattered_accesses > 0) keys.add(TimeKey::kIssue);
  } else if (space == &device.hbm()) {
    if (compute.hbm_reads.runs + compute.hbm_writes.runs > 0)
      keys.add({TimeKey::kShortRun, TimeKey::kShortRunRow});
    if (compute.scattered_accesses > 0) keys.add(TimeKey::kFullRateRun);
  } else if (space == &device.vmem_space()) {
    const double tiles = hbm.total().count() == 0 ? compute.moved_tiles : compute.regrouped_tiles;
    if (tiles > 0) keys.add({TimeKey::kClock, TimeKey::kTileMove});
  }
  return keys;
}

TimeKeySet fixed_keys(const FixedTime& fixed, const Traffic& hbm, CostCategory category) {
  using enum TimeKey;
  TimeKeySet keys;
  const bool waits = fixed.latency.count() > 0, blocks = fixed.kernel > fixed.longest;
  if (fixed.instruction.count() > 0) keys.add(kInstruction);
  if ((waits || blocks) && hbm.read.count() > 0) keys.add(kReadLatency);
  if ((waits || blocks) && hbm.written.count() > 0) keys.add(kWriteLatency);
  if (waits && fixed.is_scattered) keys.add(kOutstanding);
  if (waits && category == CostCategory::kHost) keys.add(kPcieLatency);
  if (fixed.fused_done.count() > 0) keys.add(kFusedDone);
  if (fixed.unloaded_latency_credit.count() > 0) keys.add(kLoadedMemory);
  if (fixed.smallest.count() > 0) keys.add(hbm.read.count() > 0 ? kSmallestFusion : kSmallestWrite);
  return keys;
}

std::pair<std::string_view, std::string> name_and_path(const DeviceConfig& device, size_t index) {
  if (index < kFixedKeys) return {kKeyRows[index].name, std::string(kKeyRows[index].path)};
  const size_t space = (index - kFixedKeys) / 3;
  const KeyRow& row = kSpaceRows[(index - kFixedKeys) % 3];
  return {row.name, fmt::format("memory.{}.{}", device.memory[space].name, row.path)};
}

std::vector<std::pair<std::string_view, std::string>> operand_keys(const DeviceConfig& device,
                                                                   ElementType type,
                                                                   MatmulPrecision precision, bool is_rhs) {
  std::vector<std::pair<std::string_view, std::string>> keys;
  ElementType enters = type;
  const auto is_type = [&](const auto& row) { return row.type == type; };
  if (std::ranges::none_of(device.mxu.types, is_type)) {
    const auto row = std::ranges::find_if(device.mxu.emulated, is_type);
    if (row == device.mxu.emulated.end()) return keys;
    enters = row->as;
    for (const std::string_view name : {"as", "passes", "convert"})
      keys.emplace_back(name, fmt::format("mxu.emulated.{}.{}", to_text(type), name));
  }
  const std::string path = fmt::format("mxu.types.{}.", to_text(enters));
  constexpr KeyRow kLhs[] = {{"cadence", "cadence"}, {"rows", "rows"}};
  constexpr KeyRow kRhs[] = {{"latch rows", "latch_rows"}, {"latch cadence", "latch_cadence"}};
  for (const KeyRow& row : is_rhs ? kRhs : kLhs) keys.emplace_back(row.name, path + std::string(row.path));
  constexpr std::string_view kPasses[] = {"passes", "passes_high", "passes_highest"};
  for (const std::string_view name : {std::string_view("latency"), kPasses[static_cast<size_t>(precision)]})
    keys.emplace_back(name, path + std::string(name));
  return keys;
}

std::vector<std::pair<std::string_view, std::string>> cost_keys(const DeviceConfig& device, Unit unit,
                                                                uint64_t costs) {
  constexpr std::string_view kClasses[kVectorOps] = {
      "simple",        "divide",    "transcendental", "expensive",   "cross_lane",
      "cross_sublane", "transpose", "lane_stride",    "group_store", "group_turn"};
  std::vector<std::pair<std::string_view, std::string>> keys;
  for (size_t i = 0; i < kVectorOps; ++i) {
    const auto op = static_cast<VectorOp>(i);
    if ((costs & cost_bit(op)) == 0) continue;
    const VectorOpCost& cost = op_cost(device.vpu, op);
    const auto [name, amount] = unit == Unit::kVpu   ? std::pair("alu", cost.alu)
                                : unit == Unit::kEup ? std::pair("eup", cost.eup)
                                                     : std::pair("xlu", cost.xlu);
    if (amount > 0) keys.emplace_back(kClasses[i], fmt::format("vpu.ops.{}.{}", kClasses[i], name));
  }
  if (unit != Unit::kVpu) return keys;
  for (const VectorConversion& row : device.vpu.convert) {
    bool is_read = (costs & cost_bit(row.type)) != 0;
    // Types without a row of their own take that of their width, else the largest.
    for (uint64_t left = costs >> kVectorOps; left != 0 && !is_read; left &= left - 1) {
      const auto type = static_cast<ElementType>(std::countr_zero(left));
      const bool is_listed = std::ranges::any_of(
          device.vpu.convert, [&](const VectorConversion& other) { return other.type == type; });
      is_read = !is_listed && conversion_slots(device.vpu, type) == row.alu;
    }
    if (is_read) keys.emplace_back("conversion", fmt::format("vpu.convert.{}.alu", to_text(row.type)));
  }
  return keys;
}

}  // namespace hlosim
