#include "console/mesh_options.h"

#include "console/command_line.h"

namespace hlosim {

void declare_mesh(CommandLine& line, MeshOptions& options) {
  const Option mesh = line.add_option(
      "--mesh", options.mesh, "Partition modules over devices in a mesh of named axes: data=4,model=2");
  line.add_option("--partitions", options.partitions,
                  "Partition modules over so many devices, as their own shardings say")
      .from(1)
      .excludes(mesh);
  line.add_option("--shard", options.statements,
                  "REGEX=[axes]: how parameters of that name lie on the mesh; may be repeated")
      .one_value_each();
  line.add_option(
      "--mesh-order", options.order,
      "How the mesh lies on the torus: auto, or model=y,data=xz; without it devices stand in order");
  line.add_option("--written-for", options.written_for,
                  "The mesh that the module's own shardings were written for: they go by its axes' names");
  line.add_option("--windowed-products", options.windowed,
                  "Gathers before and scatters behind products as rings, part by part: auto takes the faster")
      .one_of({"never", "always", "auto"})
      .show_default();
}

namespace {

/// The request with what stands beside the mesh.
Result<std::optional<MeshRequest>> completed(MeshRequest request, const MeshOptions& options) {
  const Result<WindowedProducts> windowed = parse_windowed_products(options.windowed);
  if (!windowed) return tl::unexpected(windowed.error());
  request.windowed = *windowed;
  return std::optional(std::move(request));
}

}  // namespace

Result<std::optional<MeshRequest>> mesh_request(const MeshOptions& options) {
  if (!options.all_in_one.empty()) {
    Result<MeshRequest> request = parse_mesh_request(options.all_in_one);
    if (!request) return tl::unexpected(std::move(request.error()));
    return std::optional(std::move(*request));
  }
  if (options.mesh.empty()) {
    if (!options.statements.empty()) return failure("--shard needs --mesh");
    if (!options.written_for.empty()) return failure("--written-for needs --mesh");
    if (!options.order.empty()) return failure("--mesh-order needs --mesh");
    if (!options.partitions && options.windowed != "never")
      return failure("--windowed-products needs --mesh or --partitions");
    if (!options.partitions) return std::nullopt;
    MeshRequest request;
    request.partitions = *options.partitions;
    return completed(std::move(request), options);
  }
  Result<MeshRequest> request =
      read_mesh_request(options.mesh, options.statements, options.order, options.written_for);
  if (!request) return tl::unexpected(std::move(request.error()));
  return completed(std::move(*request), options);
}

}  // namespace hlosim
