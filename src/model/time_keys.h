// The device keys that times are calculated from; the recorded terms of a time name them (terms/terms.h).
//
//   TimeKeySet keys = unit_keys(device.config, Unit::kEup);
//   for_each_key(device.config, keys, [&](std::string_view name, const std::string& path) { … });
//   // "cadence" "eup.cadence", "count" "eup.count", …
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/core.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"

namespace hlosim {

struct FixedTime;  // model/cost_details.h

/// Keys that every device has; those of memory spaces follow.
enum class TimeKey : uint8_t {
  kCores,
  kClock,
  kMxuCount,
  kMxuRows,
  kMxuColumns,
  kLanes,
  kSublanes,
  kAlus,
  kEupCadence,
  kEupCount,
  kXluCadence,
  kXluCount,
  kScalarCadence,
  kScalarCount,
  kDmaBandwidth,
  kReadLatency,
  kWriteLatency,
  kFullRateRun,
  kShortRun,
  kShortRunRow,
  kOutstanding,
  kIssue,
  kTileMove,
  kPcieBandwidth,
  kPcieLatency,
  kInstruction,
  kSmallestFusion,
  kSmallestWrite,
  kLoadedMemory,
  kFusedDone,
  kLoopIteration,
  kSpaces,  // bandwidth, read and write of each memory space
};
inline constexpr size_t kTimeKeys = static_cast<size_t>(TimeKey::kSpaces) + 3 * kMaxMemorySpaces;
static_assert(kTimeKeys <= 64);

/// A set of TimeKeys.
class TimeKeySet {
 public:
  constexpr TimeKeySet() = default;
  constexpr TimeKeySet(std::initializer_list<TimeKey> keys) {
    for (const TimeKey key : keys) add(key);
  }
  constexpr void add(TimeKey key) { bits_ |= uint64_t{1} << static_cast<unsigned>(key); }
  constexpr void add(TimeKeySet keys) { bits_ |= keys.bits_; }
  /// f(index of a key), in their order.
  template <class F>
  constexpr void for_each(F&& f) const {
    for (uint64_t left = bits_; left != 0; left &= left - 1) f(static_cast<size_t>(std::countr_zero(left)));
  }

 private:
  uint64_t bits_ = 0;
};

/// Rates and counts of a unit of the TensorCore or a memory space, whatever its work.
TimeKeySet unit_keys(const DeviceConfig& device, Unit unit);
/// Further ones of a memory space or the scalar unit, for accesses and moves of `compute`. `hbm`: traffic of
/// the instruction with HBM.
TimeKeySet access_keys(const MemorySpace* space, const DeviceConfig& device, const ComputeSummary& compute,
                       const Traffic& hbm);
/// Keys of the parts of `fixed` that are not zero.
TimeKeySet fixed_keys(const FixedTime& fixed, const Traffic& hbm, CostCategory category);

/// The key's name in equations, and its path: "DMA", "dma.bandwidth". `index` < kTimeKeys.
std::pair<std::string_view, std::string> name_and_path(const DeviceConfig& device, size_t index);

template <class F>
void for_each_key(const DeviceConfig& device, TimeKeySet keys, F&& f) {
  keys.for_each([&](size_t index) {
    const auto [name, path] = name_and_path(device, index);
    f(name, path);
  });
}

// ── keys by element type and class of operations ──

/// One operand of a product: the row of mxu.types that it enters the arrays as, and that of mxu.emulated.
std::vector<std::pair<std::string_view, std::string>> operand_keys(const DeviceConfig& device,
                                                                   ElementType type,
                                                                   MatmulPrecision precision, bool is_rhs);
/// vpu.ops of the classes and vpu.convert of the types in ComputeSummary::costs that take operations of
/// `unit` (VPU, EUP or XLU).
std::vector<std::pair<std::string_view, std::string>> cost_keys(const DeviceConfig& device, Unit unit,
                                                                uint64_t costs);

}  // namespace hlosim
