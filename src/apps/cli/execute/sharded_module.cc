#include "cli/execute/sharded_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "console/command_line.h"
#include "console/verbosity.h"
#include "estimate/partition_over_mesh.h"
#include "hlo/printer.h"
#include "interconnect/slice.h"
#include "ops/op_table.h"
#include "sharding/mesh.h"
#include "sharding/mesh_order.h"
#include "sharding/statements.h"

namespace hlosim {
namespace {

/// Which device has which place of the mesh.
Result<void> lay(Mesh& mesh, const ShardingRequest& request) {
  if (request.order.empty() && request.topology.empty()) return {};
  if (request.order.empty() || request.topology.empty())
    return failure("--mesh-order and --topology go together", "as in --mesh-order=auto --topology=4x4x4");
  const Result<SliceRequest> slice = parse_topology(request.topology);
  if (!slice) return tl::unexpected(slice.error());
  const int64_t chips = std::max<int64_t>(slice->topology->chips(), 1);
  Result<MeshOnTorus> laid =
      mesh_order(mesh, slice->topology->sides, std::max<int64_t>(mesh.devices() / chips, 1),
                 request.order == "auto" ? "" : request.order);
  if (!laid) return tl::unexpected(laid.error());
  mesh.device_order = std::move(laid->device_order);
  return {};
}

Result<Module> with_statements(const Module& module, const ShardingRequest& request, int64_t& devices,
                               Streams streams) {
  if (request.mesh.empty()) {
    if (!request.statements.empty())
      return failure("--shard names axes of a mesh, and there is none", "give one: --mesh data=4,model=2");
    if (!request.order.empty()) return failure("--mesh-order needs --mesh");
    return module.copy();
  }
  Result<Mesh> mesh = parse_mesh(request.mesh);
  if (!mesh) return tl::unexpected(mesh.error());
  if (const Result<void> laid = lay(*mesh, request); !laid) return tl::unexpected(laid.error());
  if (devices != 0)
    if (Result<void> fits = check_mesh(*mesh, devices); !fits) return tl::unexpected(fits.error());
  devices = mesh->devices();
  std::vector<ShardStatement> statements;
  for (const std::string& text : request.statements) {
    Result<ShardStatement> statement = parse_statement(text, *mesh);
    if (!statement) return tl::unexpected(statement.error());
    statements.push_back(std::move(*statement));
  }
  Result<Stated> stated = state_shardings(module, *mesh, statements);
  if (!stated) return tl::unexpected(stated.error());
  for (const size_t i : stated->unused)
    warn(fmt::format("--shard '{}' matches no parameter", statements[i].text), streams);
  return std::move(stated->module);
}

std::string comment(const Propagated& propagated, InstructionId id) {
  const Decision& decision = propagated.decisions[id];
  const auto name = [&](InstructionId named) { return propagated.module[named].name; };
  if (decision.by == Decider::kUser || decision.by == Decider::kDefault)
    return fmt::format("  // {}", to_text(decision.by));
  std::string text = fmt::format("  // {}", to_text(decision.by));
  if (decision.from.valid() && decision.from != id) text += fmt::format(" from %{}", name(decision.from));
  if (decision.through.valid() && decision.through != decision.from && decision.through != id)
    text += fmt::format(" through %{}", name(decision.through));
  return text;
}

/// The name that a printed line defines; empty: it is no instruction.
std::string_view defined(std::string_view line) {
  if (!line.starts_with("  ")) return {};
  line.remove_prefix(2);
  if (line.starts_with("ROOT ")) line.remove_prefix(5);
  if (line.starts_with('%')) line.remove_prefix(1);
  const size_t end = line.find(" = ");
  return end == std::string_view::npos ? std::string_view() : line.substr(0, end);
}

/// The computation that a printed line begins; empty: it begins none.
std::string_view begun(std::string_view line) {
  if (line.starts_with(' ') || !line.ends_with('{')) return {};
  if (line.starts_with("ENTRY ")) line.remove_prefix(6);
  if (line.starts_with('%')) line.remove_prefix(1);
  return line.substr(0, line.find(' '));
}

}  // namespace

void declare_sharding(CommandLine& line, ShardingRequest& request) {
  line.add_option("--partitions,--num-partitions", request.partitions,
                  "Number of devices; 0: as many as the module names")
      .from(0)
      .show_default();
  line.add_option("--mesh", request.mesh, "Mesh of named axes: data=4,model=2");
  line.add_option("--shard", request.statements,
                  "Shardings of parameters by names or op_names that an expression matches: "
                  "'params.*kernel=[data,model]'; _: unsharded, {a,b}: two axes");
  line.add_option(
      "--mesh-order", request.order,
      "Mapping of mesh axes to axes of the torus of --topology: auto, or model=y,data=xz; default: "
      "device-id order");
  line.add_option("--topology", request.topology, "Slice topology, e.g. 4x4x4");
}

std::optional<Propagated> propagated_module(const Module& module, const ShardingRequest& request,
                                            Streams streams) {
  const auto fail = [&](const Diagnostic& diagnostic) -> std::optional<Propagated> {
    tell(diagnostic, streams);
    return std::nullopt;
  };
  int64_t devices = request.partitions;
  const Result<Module> stated = with_statements(module, request, devices, streams);
  if (!stated) return fail(stated.error());
  Result<Propagated> propagated =
      propagate(*stated, op_table(), {.devices = devices, .some_devices = request.some_devices});
  if (!propagated) return fail(propagated.error());
  MeshRequest all;
  all.partitions = propagated->devices;
  if (const auto few = check_devices(all, streams.limits); !few) return fail(few.error());
  for (const std::string& text : propagated->notes) note(text, streams);
  return std::move(*propagated);
}

std::string text_with_decisions(const Propagated& propagated) {
  const Module& module = propagated.module;
  std::unordered_map<std::string_view, ComputationId> computations;
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    computations.emplace(module[id].name, id);
  }
  const std::string plain = to_text(module, op_table());
  std::unordered_map<std::string_view, InstructionId> names;  // of the computation that is being printed
  std::string text;
  for (size_t at = 0; at < plain.size();) {
    const size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view line = std::string_view(plain).substr(at, end - at);
    if (const auto found = computations.find(begun(line)); found != computations.end()) {
      names.clear();
      for (const InstructionId id : module[found->second].instructions) names.emplace(module[id].name, id);
    }
    text += line;
    const auto found = names.find(defined(line));
    if (found != names.end() && module[found->second].find(AttrKey::kSharding))
      text += comment(propagated, found->second);
    text += '\n';
    at = end + 1;
  }
  return text;
}

}  // namespace hlosim
