#include "model/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/hash.h"
#include "layout/native_tiling.h"
#include "ops/work.h"

namespace hlosim {

const MemorySpace* DeviceConfig::memory_space(int64_t number) const {
  for (const MemorySpace& space : memory)
    if (std::find(space.numbers.begin(), space.numbers.end(), number) != space.numbers.end()) return &space;
  return nullptr;
}

const MemorySpace* DeviceConfig::memory_space(std::string_view space_name) const {
  for (const MemorySpace& space : memory)
    if (space.name == space_name) return &space;
  return nullptr;
}

namespace {

struct Carrier {
  const MxuType* type = nullptr;
  int64_t passes = 1;
  double convert = 0;
};

const MxuType* find_type(const MxuConfig& mxu, ElementType type) {
  for (const MxuType& row : mxu.types)
    if (row.type == type) return &row;
  return nullptr;
}

/// As what, and how many times over, operands of `type` enter the arrays.
Carrier carrier_of(const MxuConfig& mxu, ElementType type) {
  if (const MxuType* row = find_type(mxu, type)) return {row, 1, 0};
  for (const MxuEmulation& row : mxu.emulated)
    if (row.type == type) return {find_type(mxu, row.as), row.passes, row.convert};
  return {};
}

int64_t passes_at(const MxuType& type, MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::kDefault:
      return type.passes;
    case MatmulPrecision::kHigh:
      return type.passes_high;
    case MatmulPrecision::kHighest:
      return type.passes_highest;
  }
  return type.passes;
}

}  // namespace

std::optional<MatmulRate> matmul_rate(const MxuConfig& mxu, ElementType lhs, ElementType rhs,
                                      MatmulPrecision precision) {
  const Carrier left = carrier_of(mxu, lhs);
  const Carrier right = carrier_of(mxu, rhs);
  if (!left.type || !right.type) return std::nullopt;
  MatmulRate rate;
  rate.rows = left.type->rows;
  rate.cadence = left.type->cadence;
  rate.latch_rows = right.type->latch_rows;
  rate.latch_cadence = right.type->latch_cadence;
  rate.latency = std::max(left.type->latency, right.type->latency);
  // The parts of one operand meet those of the other in as many passes as the finer split asks for.
  rate.passes = std::max(left.passes * passes_at(*left.type, precision),
                         right.passes * passes_at(*right.type, precision));
  rate.lhs_convert = left.convert;
  rate.rhs_convert = right.convert;
  rate.lhs = left.type->type;
  rate.rhs = right.type->type;
  rate.emulated = rate.lhs != lhs || rate.rhs != rhs;
  return rate;
}

FlopsPerSecond peak_flops(const DeviceConfig& config, ElementType type, MatmulPrecision precision) {
  const auto rate = matmul_rate(config.mxu, type, type, precision);
  if (!rate) return FlopsPerSecond(0);
  const MxuConfig& mxu = config.mxu;
  const double per_row = 2.0 * static_cast<double>(mxu.rows) * static_cast<double>(mxu.columns);
  const double rows_per_cycle = static_cast<double>(rate->rows) / static_cast<double>(rate->cadence.count());
  return FlopsPerSecond(per_row * rows_per_cycle * static_cast<double>(mxu.count * config.cores) *
                        config.clock.count() / static_cast<double>(rate->passes));
}

FlopsPerSecond peak_vector_flops(const DeviceConfig& config) {
  const VpuConfig& vpu = config.vpu;
  return FlopsPerSecond(static_cast<double>(vpu.lanes * vpu.sublanes * vpu.alus * config.cores) *
                        config.clock.count());
}

const VectorOpCost& op_cost(const VpuConfig& vpu, VectorOp op) {
  switch (op) {
    case VectorOp::kSimple:
      return vpu.ops.simple;
    case VectorOp::kDivide:
      return vpu.ops.divide;
    case VectorOp::kTranscendental:
      return vpu.ops.transcendental;
    case VectorOp::kExpensive:
      return vpu.ops.expensive;
    case VectorOp::kCrossLane:
      return vpu.ops.cross_lane;
    case VectorOp::kCrossSublane:
      return vpu.ops.cross_sublane;
    case VectorOp::kTranspose:
      return vpu.ops.transpose;
    case VectorOp::kLaneStride:
      return vpu.ops.lane_stride;
    case VectorOp::kGroupStore:
      return vpu.ops.group_store;
    case VectorOp::kGroupTurn:
      return vpu.ops.group_turn;
  }
  HLOSIM_CHECK(false, "vector operation class {}", static_cast<int>(op));
}

TilingPolicy tiling_policy(const DeviceConfig& config) {
  TilingPolicy policy;
  policy.lanes = config.vpu.lanes;
  policy.sublanes = config.vpu.sublanes;
  policy.granule = config.tiling.rank1_granule;
  switch (config.tiling.compact_second_minor) {
    case SecondMinorCompaction::kOff:
      policy.compact_rows = CompactRows::kOff;
      break;
    case SecondMinorCompaction::kF32:
      policy.compact_rows = CompactRows::kF32Rule;
      break;
    case SecondMinorCompaction::kPacked:
      policy.compact_rows = CompactRows::kPackedRule;
      break;
  }
  policy.large_rows = config.tiling.large_second_minor;
  policy.packed_1d = config.tiling.packed_rank1;
  return policy;
}

double conversion_slots(const VpuConfig& vpu, ElementType type) {
  if (std::find(vpu.native_types.begin(), vpu.native_types.end(), type) != vpu.native_types.end()) return 0;
  double of_width = -1;
  double of_any = 0;
  for (const VectorConversion& row : vpu.convert) {
    if (row.type == type) return row.alu;
    if (bit_width(row.type) == bit_width(type)) of_width = std::max(of_width, row.alu);
    of_any = std::max(of_any, row.alu);
  }
  return of_width >= 0 ? of_width : of_any;
}

SpaceRates device_rates(const DeviceConfig& config, const MemorySpace& space) {
  const double times = space.scope == MemoryScope::kCore ? static_cast<double>(config.cores) : 1.0;
  const auto rate = [&](const std::optional<Bandwidth>& bandwidth) {
    return bandwidth ? bandwidth->at(config.clock) * times
                     : BytesPerSecond(std::numeric_limits<double>::infinity());
  };
  if (space.scope == MemoryScope::kHost && !space.read && !space.write && !space.bandwidth) {
    const BytesPerSecond pcie = config.host.pcie.bandwidth;  // each direction has its own lanes
    return {pcie, pcie, pcie * 2};
  }
  return {rate(space.read), rate(space.write), rate(space.bandwidth)};
}

namespace {

Bytes of_device(const DeviceConfig& config, const MemorySpace& space, Bytes bytes) {
  return bytes * (space.scope == MemoryScope::kCore ? config.cores : 1);
}

}  // namespace

std::optional<Bytes> device_capacity(const DeviceConfig& config, const MemorySpace& space) {
  // A capacity that the user sets below the built-in usable part bounds it.
  const std::optional<Bytes> bytes = space.usable && space.capacity ? std::min(*space.usable, *space.capacity)
                                     : space.usable                 ? space.usable
                                                                    : space.capacity;
  return bytes ? std::optional(of_device(config, space, *bytes)) : std::nullopt;
}

std::optional<Bytes> runtime_bytes(const DeviceConfig& config, const MemorySpace& space) {
  if (!space.usable || !space.capacity) return std::nullopt;
  return of_device(config, space, *space.capacity - *space.usable);
}

const DeviceValue* Device::value(std::string_view path) const {
  for (const DeviceValue& entry : values)
    if (entry.path == path) return &entry;
  return nullptr;
}

namespace {

/// Energies decide no time, these keys only that of some of the work that their section is about.
bool counts_where_named(std::string_view path) {
  constexpr std::string_view kOfSomeWork[] = {
      "mxu.vector_exposed", "mxu.vector_stalls",  "mxu.kernel_share",  "ici.core_bandwidth",
      "ici.die_launch",     "ici.fused_done",     "ici.slices",        "vmem.carried_share",
      "vpu.most_repeated",  "overhead.grid_step", "host.serving_step", "host.slowest_flow",
      "vmem.least_size",    "vmem.kept_back",     "kernel.cache_read", "memory.hbm.order_share",
      "host.sglang_step",   "vpu.divisor_repeats"};
  return path.ends_with(".energy") || path.find(".offload_") != std::string_view::npos ||
         std::find(std::begin(kOfSomeWork), std::end(kOfSomeWork), path) != std::end(kOfSomeWork);
}

}  // namespace

SourceClass Device::weakest_source(std::span<const std::string_view> paths) const {
  SourceClass weakest = SourceClass::kPublished;
  for (const DeviceValue& entry : values) {
    // Only what is weaker still can change the answer: few names are compared.
    if (!entry.has_source || entry.source_class <= weakest) continue;
    for (const std::string_view path : paths) {
      if (!entry.path.starts_with(path)) continue;
      const bool below = entry.path.size() > path.size() && entry.path[path.size()] == '.';
      if (entry.path == path || (below && !counts_where_named(entry.path))) {
        weakest = entry.source_class;
        break;
      }
    }
  }
  return weakest;
}

bool is_name(std::string_view path) { return path.starts_with("names.") || path == "ici.slices"; }

std::string Device::fingerprint() const {
  Fnv1a hash;
  for (const DeviceValue& entry : values) {
    if (is_name(entry.path) || entry.path.starts_with("errors.")) continue;
    for (const std::string_view text : {std::string_view(entry.path), std::string_view(entry.text)})
      hash.add_text(text).add_word(0xff);  // ends the text
  }
  return fmt::format("{:016x}", hash.value());
}

}  // namespace hlosim
