#include "partition/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "base/resource_limits.h"
#include "hlo/module_editor.h"
#include "hlo/verifier.h"
#include "modules/async_forms.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "modules/module_rules.h"
#include "modules/synchronous.h"
#include "partition/combine_collectives.h"
#include "partition/hoist_gathers.h"
#include "partition/partition_mark.h"
#include "partition/partitioner.h"
#include "partition/windowed_products.h"

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

/// Collectives that nobody needs are no reshardings.
void drop_unlisted(Partitioned& made) {
  std::unordered_set<InstructionId> listed;
  for (const Computation& computation : made.module.computations)
    listed.insert(computation.instructions.begin(), computation.instructions.end());
  std::erase_if(made.reshardings, [&](const Resharding& one) { return !listed.contains(one.collective); });
}

/// The first fault; nullopt: there is none.
std::optional<Diagnostic> fault_of(Module& module, const OpTable& table) {
  Limits any;  // the module that was given kept to the limits
  any.rank = any.devices = std::numeric_limits<int64_t>::max();
  DiagnosticList problems(1);
  if (verify(module, table, problems, any) && check_module_rules(module, table, problems))
    return std::nullopt;
  return problems.items().front();
}

/// What was made has to be as right as what is read. If it isn't, that is no fault of the module's, unless
/// its own collectives are for another number of devices.
Result<void> check_made(const Module& given, Partitioned& made, const OpTable& table) {
  std::optional<Diagnostic> fault = fault_of(made.module, table);
  if (!fault) return {};
  Module there = given.copy();
  set_header(there, made.devices);
  if (std::optional<Diagnostic> own = fault_of(there, table)) {
    own->hint = fmt::format("the module is partitioned for {} devices", made.devices);
    return tl::unexpected(std::move(*own));
  }
  Diagnostic wrong = std::move(*fault);
  wrong.message = "internal error: partitioned, " + wrong.message;
  wrong.hint =
      fmt::format("a fault of hlosim, not of the module: please report it with {}", made.module.name);
  return tl::unexpected(std::move(wrong));
}

/// Without operations that go on while others run, but for those that can't be joined.
Result<Partitioned> partition_plain(const Module& module, const OpTable& table,
                                    const PartitionOptions& options) {
  Result<WantedShardings> stated = WantedShardings::read(module, options);
  if (!stated) return tl::unexpected(stated.error());
  Partitioned made;
  made.module = module.copy();
  made.devices = stated->axes().devices();
  Partitioner partitioner(module, table, options, *stated, made);
  if (!partitioner.run()) return tl::unexpected(*partitioner.fault());
  set_header(made.module, made.devices);
  drop_unreachable(made.module);
  drop_unlisted(made);
  hoist_gathers(made, table, options.hoist_bytes, options.choices);
  if (options.windowed.when != WindowedEinsum::When::kNever) window_products(made, table, options.windowed);
  combine_collectives(made, options);
  restore_names(made.module, partitioner.originals());
  std::vector<std::string_view> names;
  for (Resharding& one : made.reshardings) {
    one.what = made.module[one.moved].name;
    names.push_back(made.module[one.collective].name);
  }
  made.module = compacted(made.module, table);
  mark_partitioned(made.module, table);
  find_again(made, names);
  if (Result<void> right = check_made(module, made, table); !right) return tl::unexpected(right.error());
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
