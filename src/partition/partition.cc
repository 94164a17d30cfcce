#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "hlo/module_editor.h"
#include "modules/async_forms.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "modules/synchronous.h"
#include "partition/partitioner.h"

namespace hlosim {
namespace {

/// Names that the originals don't need any more.
void restore_names(Module& module, const std::vector<std::pair<InstructionId, std::string_view>>& originals) {
  std::unordered_set<std::string_view> taken;
  for (const Computation& computation : module.computations) {
    taken.insert(computation.name);
    for (const InstructionId id : computation.instructions) taken.insert(module[id].name);
  }
  for (const auto& [id, name] : originals)
    if (taken.insert(name).second) module.instructions[id].name = name;
}

void set_header(Module& module, int64_t devices) {
  for (const AttrKey key :
       {AttrKey::kEntryComputationLayout, AttrKey::kIsScheduled, AttrKey::kNumPartitions,
        AttrKey::kAllowSpmdShardingPropagationToOutput, AttrKey::kAllowSpmdShardingPropagationToParameters})
    drop_header(module, key);
  std::vector<Attr> attrs(module.attrs.begin(), module.attrs.end());
  if (devices > 1) attrs.push_back(Attr::make_int(AttrKey::kNumPartitions, devices));
  module.attrs = module.arena().copy(attrs);
}

/// Collectives have other ids in the compacted module; what nobody needs is gone.
void find_again(Partitioned& made, const std::vector<std::string_view>& names) {
  std::unordered_map<std::string_view, InstructionId> ids;
  for (const Computation& computation : made.module.computations)
    for (const InstructionId id : computation.instructions) ids[made.module[id].name] = id;
  std::vector<Resharding> kept;
  for (size_t i = 0; i < made.reshardings.size(); ++i) {
    const auto found = ids.find(names[i]);
    if (found == ids.end()) continue;
    kept.push_back(std::move(made.reshardings[i]));
    kept.back().collective = found->second;
  }
  made.reshardings = std::move(kept);
}

/// Without operations that go on while others run, but for those that can't be joined.
Result<Partitioned> partition_plain(const Module& module, const OpTable& table,
                                    const PartitionOptions& options) {
  if (options.windowed_products) return failure("products beside a ring of gathers are not written yet");
  Result<WantedShardings> stated = WantedShardings::read(module, options);
  if (!stated) return tl::unexpected(stated.error());
  Partitioned made;
  made.module = module.copy();
  made.devices = stated->axes().devices();
  Partitioner partitioner(module, table, options, *stated, made);
  if (!partitioner.run()) return tl::unexpected(*partitioner.fault());
  set_header(made.module, made.devices);
  drop_unreachable(made.module);
  restore_names(made.module, partitioner.originals());
  std::vector<std::string_view> names;
  for (Resharding& one : made.reshardings) {
    one.what = made.module[one.moved].name;
    names.push_back(made.module[one.collective].name);
  }
  made.module = compacted(made.module, table);
  find_again(made, names);
  return made;
}

}  // namespace

Result<Partitioned> partition(const Module& module, const OpTable& table, const PartitionOptions& options) {
  for (const Instruction& instruction : module.instructions)
    if (synchronous_form(instruction.opcode))
      return partition_plain(synchronous(module, table), table, options);
  return partition_plain(module, table, options);
}

}  // namespace hlosim
