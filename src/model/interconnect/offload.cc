#include "interconnect/offload.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "layout/sizes.h"
#include "layout/window_runs.h"

namespace hlosim {
namespace {

constexpr std::string_view kThread = "sparsecore";
constexpr double kWordBytes = 4;

bool names_core(std::string_view text) {
  return std::search(text.begin(), text.end(), kThread.begin(), kThread.end(), [](char c, char wanted) {
           return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == wanted;
         }) != text.end();
}

bool names_core(const Instruction& instruction) {
  for (const AttrKey key :
       {AttrKey::kAsyncExecutionThread, AttrKey::kFrontendAttributes, AttrKey::kBackendConfig})
    if (const Attr* attr = instruction.find(key); attr && names_core(attr->text())) return true;
  return false;
}

bool is_hbm_table(ShapeRef table, const DeviceConfig& device) {
  return table->is_array() && !table->is_unbounded() &&
         device.memory_space(table->memory_space()) == &device.hbm();
}

/// Index vectors of a gather.
double row_count(const Module& module, const Instruction& gather) {
  const ShapeRef indices = module[gather.operands[1]].shape;
  const Attr* vector = gather.find(AttrKey::kIndexVectorDim);
  double count = 1;
  for (int64_t i = 0; i < indices->rank(); ++i)
    if (!vector || i != vector->integer()) count *= static_cast<double>(indices->dim(i));
  return count;
}

}  // namespace

// ── the cores ──

std::optional<OffloadCore> OffloadCore::of(const DeviceConfig& device) {
  if (!device.sparsecore) return std::nullopt;
  const SparseCoreConfig& config = *device.sparsecore;
  OffloadCore core;
  core.unit_ = Unit::kSparseCore;
  core.count_ = config.count * device.cores, core.subcores_ = config.subcores;
  core.vector_bytes_ = kWordBytes * static_cast<double>(config.lanes);
  core.vector_cycles_ = static_cast<double>(config.cadence.count());
  core.launch_ = config.launch, core.clock_ = device.clock;
  return core;
}

std::span<const std::string_view> OffloadCore::keys() const {
  static constexpr std::string_view kKeys[] = {"count", "subcores", "lanes", "cadence", "launch"};
  return kKeys;
}

Unit OffloadCore::unit() const { return unit_; }

int64_t OffloadCore::count() const { return count_; }

int64_t OffloadCore::count_for(const Instruction& instruction) const {
  const Attr* config = instruction.find(AttrKey::kBackendConfig);
  const bool single =
      config && config->text().find("\"use_single_sparse_core\":true") != std::string_view::npos;
  return single ? 1 : count();
}

Picoseconds OffloadCore::launch() const { return launch_; }

double OffloadCore::vector_bytes() const { return vector_bytes_; }

Picoseconds OffloadCore::vectors_time(double bytes, int64_t cores) const {
  const auto subcores = static_cast<double>(cores * subcores_);
  const double cycles = bytes / vector_bytes() * vector_cycles_ / std::max(subcores, 1.0);
  return ceil_picoseconds(cycles * 1e12 / clock_.count());
}

// ── what is given to them ──

Offloads::Offloads(const Module& module, const OpTable& table)
    : module_(module), given_(module.computations.size()) {
  std::vector<ComputationId> found;
  const auto give = [&](ComputationId id) {
    if (!given_[id]) found.push_back(id);
    given_[id] = 1;
  };
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const ComputationId id{static_cast<int32_t>(c)};
    if (names_core(module[id].execution_thread)) give(id);
    for (const InstructionId i : module[id].instructions)
      if (table[module[i].opcode].has(kAsyncStart) && names_core(module[i])) for_each_called(module[i], give);
  }
  while (!found.empty()) {
    const ComputationId id = found.back();
    found.pop_back();
    for (const InstructionId i : module[id].instructions) for_each_called(module[i], give);
  }
}

bool Offloads::has(InstructionId id) const { return given_[module_[id].parent] || names_core(module_[id]); }

std::string_view offload_thread() { return kThread; }

bool offloads_reduce_scatters(const DeviceConfig& device) {
  return device.sparsecore && device.sparsecore->offload_reduce_scatters;
}

bool offloads_gather(const Module& module, InstructionId id, const DeviceConfig& device) {
  const Instruction& gather = module[id];
  if (!device.sparsecore || !device.sparsecore->offload_gathers || gather.opcode != Opcode::kGather)
    return false;
  const ShapeRef table = module[gather.operands[0]].shape;
  const MemorySpace* vmem = device.memory_space(int64_t{1});
  return is_hbm_table(table, device) && vmem && vmem->capacity && array_size(table) > *vmem->capacity;
}

// ── gathers ──

std::optional<OffloadedGather> offloaded_gather(const Module& module, InstructionId id,
                                                const DeviceConfig& device) {
  const Instruction& gather = module[id];
  const std::optional<OffloadCore> core = OffloadCore::of(device);
  if (!core || gather.opcode != Opcode::kGather) return std::nullopt;
  const ShapeRef table = module[gather.operands[0]].shape;
  if (!is_hbm_table(table, device) || !gather.shape->is_array()) return std::nullopt;
  constexpr double kMost = 4e18;
  const double granule = core->vector_bytes();
  const auto granules = [&](double bytes) { return std::ceil(bytes / granule) * granule; };
  const WindowRuns row = window_runs(table, gather.find(AttrKey::kSliceSizes)->ints());
  const double read = row_count(module, gather) * row.runs * granules(row.run_bytes);
  const auto written = static_cast<double>(array_size(gather.shape).count());
  return OffloadedGather{core->unit(), Bytes(static_cast<int64_t>(std::min(read, kMost))),
                         Bytes(static_cast<int64_t>(std::min(written, kMost))), core->launch(),
                         core->vectors_time(read + written, core->count())};
}

// ── assumptions ──

std::string_view offloaded_gather_assumption() {
  return "SparseCores gather rows of tables in HBM: a vector a cycle and subcore, whole 32-bit words";
}

std::string_view other_offload_assumption() {
  return "what SparseCores do apart from collectives and gathers takes as long as on the TensorCore";
}

std::string_view no_offload_core_assumption() {
  return "the device has no SparseCores: collectives that the module hands to them are the TensorCore's";
}

}  // namespace hlosim
