#include "console/mesh_options.h"

#include <fmt/format.h>

#include "console/command_line.h"
#include "console/verbosity.h"
#include "estimate/unpartitioned.h"
#include "ops/op_table.h"

namespace hlosim {

void declare_mesh(CommandLine& line, MeshOptions& options) {
  const Option mesh =
      line.add_option("--mesh", options.mesh, "Partition modules over a mesh of named axes: data=4,model=2")
          .group("Partitioning");
  line.add_option(
          "--partitions,--num-partitions", options.partitions,
          "Partition modules over N devices by their own shardings; default: as many as the shardings name")
      .from(1)
      .group("Partitioning")
      .excludes(mesh);
  line.add_option("--shard", options.statements,
                  "Sharding of the parameters whose name matches: 'w.*=[data,model]'; may be repeated")
      .one_value_each()
      .group("Partitioning");
  line.add_option("--mesh-order", options.order,
                  "Mapping of mesh axes to torus axes: auto, or model=y,data=xz; default: device-id order")
      .group("Partitioning");
  line.add_option("--written-for", options.written_for,
                  "Original mesh of the module's shardings; they are re-interpreted on --mesh by axis name")
      .group("Partitioning");
  line.add_option(
          "--windowed-products", options.windowed,
          "Collective matmul (windowed einsum): decompose all-gather + dot and dot + reduce-scatter "
          "into ring permutes; auto: the faster program; threshold: by XLA's conditions, from 256 MiB or "
          "--xla_jf_spmd_threshold_for_windowed_einsum_mib in --xla-flags; default: as threshold if that "
          "flag is given, else never")
      .group("Partitioning")
      .one_of({"never", "always", "auto", "threshold"});
  declare_no_partition(line, options.no_partition);
}

void declare_no_partition(CommandLine& line, bool& no_partition) {
  line.add_flag("--no-partition", no_partition,
                "Simulate a sharded module as is, as if one device ran all of it")
      .group("Partitioning");
}

namespace {

/// The request with what stands beside the mesh.
Result<std::optional<MeshRequest>> completed(MeshRequest request, const MeshOptions& options) {
  if (options.windowed.empty()) return std::optional(std::move(request));
  const Result<WindowedProducts> windowed = parse_windowed_products(options.windowed);
  if (!windowed) return tl::unexpected(windowed.error());
  request.windowed = *windowed;
  return std::optional(std::move(request));
}

Result<std::optional<MeshRequest>> request_of(const MeshOptions& options) {
  if (!options.all_in_one.empty()) {
    Result<MeshRequest> request = parse_mesh_request(options.all_in_one);
    if (!request) return tl::unexpected(std::move(request.error()));
    return std::optional(std::move(*request));
  }
  if (options.mesh.empty()) {
    if (!options.statements.empty()) return failure("--shard needs --mesh");
    if (!options.written_for.empty()) return failure("--written-for needs --mesh");
    if (!options.order.empty()) return failure("--mesh-order needs --mesh");
    if (!options.partitions && options.windowed.empty()) return std::nullopt;
    MeshRequest request;
    request.partitions = options.partitions.value_or(0);
    return completed(std::move(request), options);
  }
  Result<MeshRequest> request =
      read_mesh_request(options.mesh, options.statements, options.order, options.written_for);
  if (!request) return tl::unexpected(std::move(request.error()));
  return completed(std::move(*request), options);
}

}  // namespace

Result<std::optional<MeshRequest>> mesh_request(const MeshOptions& options, const Limits& limits) {
  Result<std::optional<MeshRequest>> request = request_of(options);
  if (!request || !*request) return request;
  if (options.no_partition)
    return failure("--no-partition excludes --mesh, --partitions and --windowed-products");
  if (Result<void> few = check_devices(**request, limits); !few)
    return tl::unexpected(std::move(few.error()));
  return request;
}

void warn_of_unpartitioned(const Module& module, bool no_partition, Streams streams) {
  if (!no_partition) return;
  const int64_t devices = unpartitioned_devices(module, op_table());
  if (devices == 0) return;
  warn(
      fmt::format("{} is sharded over {} devices and not partitioned: --no-partition lets one device run all "
                  "of it",
                  module.name, devices),
      streams);
}

Result<Module> partitioned_module(const Module& given, const Device* device, const SimulateOptions& options,
                                  const std::optional<MeshRequest>& request, bool no_partition,
                                  Streams streams, const CompilerChoices& compiler) {
  warn_of_unpartitioned(given, no_partition, streams);
  std::optional<MeshRequest> wanted = request || no_partition ? request : default_request(given, op_table());
  if (!wanted) return given.copy();
  wanted = by_flags(std::move(*wanted), compiler);
  Result<PartitionedProgram> spread = device
                                          ? partition_over_mesh(given, op_table(), *device, options, *wanted)
                                          : partition_over_mesh(given, op_table(), *wanted);
  if (!spread) return tl::unexpected(std::move(spread.error()));
  if (wanted->is_default)
    for (const Assumption& one : spread->assumptions.items()) note(one.text, streams);
  return std::move(spread->module);
}

}  // namespace hlosim
