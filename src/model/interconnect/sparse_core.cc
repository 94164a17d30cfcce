#include "interconnect/sparse_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "ops/work.h"

namespace hlosim {
namespace {

bool names_sparse_core(std::string_view text) {
  constexpr std::string_view kWord = "sparsecore";
  return std::search(text.begin(), text.end(), kWord.begin(), kWord.end(), [](char c, char wanted) {
           return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == wanted;
         }) != text.end();
}

bool names_sparse_core(const Instruction& instruction) {
  for (const AttrKey key :
       {AttrKey::kAsyncExecutionThread, AttrKey::kFrontendAttributes, AttrKey::kBackendConfig})
    if (const Attr* attr = instruction.find(key); attr && names_sparse_core(attr->text())) return true;
  return false;
}

/// How many take part: one where the module says so, else all of the device.
int64_t sparse_cores(const Instruction& collective, const DeviceConfig& device) {
  const Attr* config = collective.find(AttrKey::kBackendConfig);
  const bool single =
      config && config->text().find("\"use_single_sparse_core\":true") != std::string_view::npos;
  return single ? 1 : device.sparsecore->count * device.cores;
}

/// Additions of reductions: each member adds up its part of all others' arrays.
double folded_bytes(const CollectiveCost& cost) {
  if (cost.kind != CollectiveKind::kAllReduce && cost.kind != CollectiveKind::kReduceScatter) return 0;
  const auto members = static_cast<double>(cost.group_size);
  return static_cast<double>((cost.payload + cost.scalar_payload).count()) * (members - 1) / members;
}

}  // namespace

SparseCoreWork::SparseCoreWork(const Module& module, const OpTable& table)
    : module_(module), given_(module.computations.size()) {
  std::vector<ComputationId> found;
  const auto give = [&](ComputationId id) {
    if (!given_[id]) found.push_back(id);
    given_[id] = 1;
  };
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const ComputationId id{static_cast<int32_t>(c)};
    if (names_sparse_core(module[id].execution_thread)) give(id);
    for (const InstructionId i : module[id].instructions)
      if (table[module[i].opcode].has(kAsyncStart) && names_sparse_core(module[i]))
        for_each_called(module[i], give);
  }
  while (!found.empty()) {
    const ComputationId id = found.back();
    found.pop_back();
    for (const InstructionId i : module[id].instructions) for_each_called(module[i], give);
  }
}

bool SparseCoreWork::has(InstructionId id) const {
  return given_[module_[id].parent] || names_sparse_core(module_[id]);
}

void drive_by_sparse_cores(CollectiveCost& cost, const Instruction& collective, const DeviceConfig& device,
                           AssumptionList& assumptions) {
  if (cost.network.count() == 0) return;  // nothing is sent
  if (!device.sparsecore) {
    assumptions.add(
        "the device has no SparseCores: collectives that the module hands to them are the TensorCore's");
    return;
  }
  const SparseCoreConfig& core = *device.sparsecore;
  const int64_t cores = sparse_cores(collective, device);
  const double lanes = static_cast<double>(cores * core.subcores * core.lanes);
  const double cycles = folded_bytes(cost) / 4 / lanes * static_cast<double>(core.cadence.count());
  cost.driver = Unit::kSparseCore;
  cost.driving = std::max(cost.network, ceil_picoseconds(cycles * 1e12 / device.clock.count()));
  cost.launch = core.launch;
  cost.algorithm += fmt::format("; driven by {} SparseCore{}", cores, cores == 1 ? "" : "s");
}

}  // namespace hlosim
