// Arguments that the program only rearranges or casts before it uses them: whoever makes them can do that
// once.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "hlo/user_index.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

constexpr size_t kMostArgumentsAhead = 8;
constexpr int64_t kLeastArgumentBytes = int64_t{1} << 16;

/// Moves or casts elements and does nothing else: transposes, copies, reshapes, converts, and fusions of
/// these.
bool only_rearranges(const Module& module, const OpTable& table, const Instruction& instruction) {
  if (!instruction.shape->is_array() || instruction.operands.size() != 1) return false;
  const OpDef& def = table[instruction.opcode];
  if (def.has(kFusion)) {
    const Computation& body = module[instruction.find(AttrKey::kCalls)->computations()[0]];
    return std::ranges::all_of(body.instructions, [&](InstructionId id) {
      return module[id].parameter_number >= 0 || only_rearranges(module, table, module[id]);
    });
  }
  const FusionRole role = fusion_role(table, instruction);
  return table[instruction.opcode].rules.identity == Identity::kKeepsUnits || role == FusionRole::kReindex ||
         role == FusionRole::kCopy;
}

/// The module that makes the new argument: the parameter, and `id`.
Module maker_of(const Module& module, const OpTable& table, InstructionId parameter, InstructionId id) {
  Module maker = module.copy();
  for (const AttrKey key :
       {AttrKey::kEntryComputationLayout, AttrKey::kInputOutputAlias, AttrKey::kBufferDonor,
        AttrKey::kNumPartitions, AttrKey::kReplicaCount, AttrKey::kIsScheduled, AttrKey::kFrontendAttributes})
    drop_header(maker, key);
  Computation& entry = maker.computations[maker.entry];
  entry.instructions = {parameter, id};
  entry.parameters = {parameter};
  entry.root = id;
  maker.instructions[parameter].parameter_number = 0;
  drop_unreachable(maker);
  return compacted(std::move(maker), table);
}

Result<void> take_prepared(ModuleEditor& editor, TrialSetup& setup, const OpTable& table,
                           const std::string& parameter_name, const std::string& name) {
  Module& module = editor.module();
  const Result<InstructionId> parameter = named(module, parameter_name), id = named(module, name);
  if (!parameter) return tl::unexpected(parameter.error());
  if (!id) return tl::unexpected(id.error());
  Module maker = maker_of(module, table, *parameter, *id);
  setup.prepared_arguments[module[*parameter].parameter_number] =
      std::make_shared<const Module>(std::move(maker));
  module.instructions[*parameter].shape = module[*id].shape;
  editor.replace_everywhere(module.entry, *id, *parameter);
  std::erase(module.computations[module.entry].instructions, *id);
  forget_entry_layout(module);
  return {};
}

}  // namespace

std::vector<Proposal> find_weights_ahead(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (subject.setup.model) return found;
  const Module& module = *subject.setup.module;
  const UserIndex users(module);
  const std::set<int64_t> aliased = aliased_parameters(module);
  const AdvicePlaces places(module);
  std::vector<std::pair<InstructionId, InstructionId>> pairs;
  for (const InstructionId parameter : module.entry_computation().parameters) {
    const auto own = users.users(parameter);
    if (own.size() != 1 || aliased.contains(module[parameter].parameter_number)) continue;
    const Instruction& user = module[own[0]];
    const bool is_sharded = module[parameter].find(AttrKey::kSharding) != nullptr;
    if (!only_rearranges(module, subject.table, user) || logical_bytes(user.shape) < kLeastArgumentBytes)
      continue;
    if (is_sharded && !std::ranges::equal(user.shape->dimensions, module[parameter].shape->dimensions))
      continue;
    if (module.entry_computation().root != own[0]) pairs.emplace_back(parameter, own[0]);
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(),
                           [&](const auto& pair) { return logical_bytes(module[pair.second].shape); });
  pairs.resize(std::min(pairs.size(), kMostArgumentsAhead));
  for (const auto& [parameter, id] : pairs) {
    const std::string from(module[parameter].name), name(module[id].name);
    Proposal& one = found.emplace_back();
    one.edit = edit_of_module(subject.table,
                              [&table = subject.table, from, name](ModuleEditor& editor, TrialSetup& setup) {
                                return take_prepared(editor, setup, table, from, name);
                              });
    one.name = name;
    one.problem = fmt::format("{} makes {} of the argument {}, {}, in every run", name,
                              to_text_without_layout(module[id].shape), from,
                              to_text_without_layout(module[parameter].shape));
    one.change = fmt::format(
        "keep {} as {}: apply the transpose or cast once when it is loaded, and pass the result "
        "(a kernel: take the other order in its BlockSpec's index_map)",
        from, to_text_without_layout(module[id].shape));
    one.reason = "the rearranged copy need not be written and read again in every run";
    one.place = places.of(module[id]);
  }
  return found;
}

}  // namespace hlosim
