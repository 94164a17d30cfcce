// Arguments that every device holds as a whole although the program runs on several.
#include <fmt/format.h>

#include <algorithm>

#include "advise/kinds/kinds.h"
#include "advise/module_edits.h"
#include "estimate/unpartitioned.h"
#include "sharding/statements.h"
#include "sharding/tile_assignment.h"

namespace hlosim {
namespace {

constexpr size_t kMostShardedArguments = 4;

/// A regular expression that matches this name alone.
std::string literal_pattern(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (std::string_view(".[](){}*+?|^$\\").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text;
}

bool is_whole_on_all(const Instruction& parameter) {
  const Attr* attr = parameter.find(AttrKey::kSharding);
  if (!attr) return true;
  const auto tiles = read_tile_assignments(attr->text(), 1);
  return tiles && !tiles->empty() && !(*tiles)[0].is_tiled();
}

std::vector<const Instruction*> largest_whole_arguments(const Module& module) {
  std::vector<const Instruction*> list;
  for (const InstructionId id : module.entry_computation().parameters) {
    const Instruction& parameter = module[id];
    if (parameter.shape->is_array() && parameter.shape->rank() > 0 && is_whole_on_all(parameter))
      list.push_back(&parameter);
  }
  std::ranges::stable_sort(list, std::ranges::greater(),
                           [](const Instruction* i) { return logical_bytes(i->shape); });
  list.resize(std::min(list.size(), kMostShardedArguments));
  return list;
}

/// Cut along one dimension by all devices, as attributes write it.
std::string sharding_along(int64_t rank, int64_t dimension, int64_t devices) {
  std::string tiles;
  for (int64_t i = 0; i < rank; ++i) tiles += fmt::format("{}{}", i ? "," : "", i == dimension ? devices : 1);
  return fmt::format("{{devices=[{}]<=[{}]}}", tiles, devices);
}

/// Those of the header, where shardings cut nothing.
int64_t devices_of_shardings(const Module& module, const OpTable& table) {
  const int64_t devices = unpartitioned_devices(module, table);
  return devices > 0 ? devices : module.num_partitions();
}

/// Without a mesh: the module's own sharding of the parameter.
Edit sharding_edit(const OpTable& table, const std::string& name, const std::string& sharding) {
  return edit_of_module(table, [name, sharding](ModuleEditor& editor, TrialSetup&) -> Result<void> {
    const Result<InstructionId> id = named(editor.module(), name);
    if (!id) return tl::unexpected(id.error());
    editor.set_attr(*id, Attr::make_text(AttrKey::kSharding, AttrSyntax::kSharding,
                                         editor.module().arena().copy(std::string_view(sharding))));
    return {};
  });
}

Edit statement_edit(const std::string& statement) {
  return [statement](TrialSetup& setup) -> Result<void> {
    if (!setup.options.mesh) return failure("the program has no mesh any more");
    Result<ShardStatement> said = parse_statement(statement, setup.options.mesh->mesh);
    if (!said) return tl::unexpected(said.error());
    setup.options.mesh->said.push_back(std::move(*said));
    return {};
  };
}

}  // namespace

std::vector<Proposal> find_shard_arguments(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  const TrialSetup& setup = subject.setup;
  const auto& mesh = setup.options.mesh;
  if (setup.model || subject.is_compiled || is_partitioned(*setup.module, subject.table)) return found;
  if (mesh && !mesh->written_for.axes.empty()) return found;
  const int64_t devices = mesh ? mesh->devices() : devices_of_shardings(*setup.module, subject.table);
  if (devices < 2) return found;
  const AdvicePlaces places(*setup.module);
  const auto propose = [&](const Instruction& parameter, int64_t dimension, int64_t parts,
                           const std::string& how, const std::string& words, Edit edit) {
    if (parameter.shape->dim(dimension) < parts) return;
    Proposal& one = found.emplace_back();
    one.edit = std::move(edit);
    one.name = fmt::format("{} {}", parameter.name, how);
    one.problem = fmt::format("{} {} is whole on each of {} devices, and so is the work on it",
                              parameter.name, to_text_without_layout(parameter.shape), devices);
    one.change =
        fmt::format("jax.device_put(x, NamedSharding(mesh, {0})) for it, or {0} in in_shardings", words);
    one.reason = "each device reads, computes and keeps one part";
    one.place = places.of(parameter);
    one.proof = ProofKind::kSameProgram;
  };
  for (const Instruction* parameter : largest_whole_arguments(*setup.module))
    for (int64_t dimension = 0; dimension < parameter->shape->rank(); ++dimension) {
      const auto rank = static_cast<size_t>(parameter->shape->rank());
      const auto spec = [&](std::string_view axis, std::string_view none) {
        std::vector<std::string> dims(rank, std::string(none));
        dims[static_cast<size_t>(dimension)] = axis;
        return dims;
      };
      if (!mesh || mesh->mesh.axes.empty()) {
        const std::string sharding = sharding_along(parameter->shape->rank(), dimension, devices);
        propose(*parameter, dimension, devices, sharding,
                fmt::format("P({})", fmt::join(spec("'devices'", "None"), ", ")),
                sharding_edit(subject.table, std::string(parameter->name), sharding));
        continue;
      }
      for (const MeshAxis& axis : mesh->mesh.axes) {
        const std::string how = fmt::format("[{}]", fmt::join(spec(axis.name, "_"), ","));
        propose(*parameter, dimension, axis.size, how,
                fmt::format("P({})", fmt::join(spec("'" + axis.name + "'", "None"), ", ")),
                statement_edit(fmt::format("{}={}", literal_pattern(parameter->name), how)));
      }
    }
  if (mesh && !mesh->mesh.axes.empty())
    for (Proposal& one : found) one.stage = EditStage::kSetting;
  return found;
}

}  // namespace hlosim
