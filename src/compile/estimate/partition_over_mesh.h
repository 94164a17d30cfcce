// A program for all devices from one that is written as for one: shardings filled in, and partitioned.
//
//   const MeshRequest request = *read_mesh_request("fsdp=16,tensor=4", {"wi=[fsdp,tensor]"}, "");
//   Result<PartitionedProgram> spread = partition_over_mesh(module, op_table(), device, options, request);
//   spread->module                                 // what each device runs
//   spread->reshardings[0].asked_by                // whose shardings a collective is for
//
// A module that is partitioned already stays as it is: the mesh gives the axes of its collectives their
// names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "flags/compiler_choices.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/assumptions.h"
#include "model/device.h"
#include "sharding/mesh.h"
#include "sharding/statements.h"
#include "sim/simulate.h"

namespace hlosim {

/// "fsdp=16,tensor=4"
std::string to_text(const Mesh& mesh);

/// Products of gathered operands as rings (partition/windowed_products.h): whichever takes less time, for
/// auto; by XLA's conditions, for threshold. Unset: as the compiler's flags say.
enum class WindowedProducts : uint8_t { kUnset, kNever, kAlways, kAuto, kThreshold };

/// How a module is to be spread over devices.
struct MeshRequest {
  Mesh mesh;                         // no axes: the shardings of the module say everything
  Mesh written_for{};                // its shardings are taken by the names of the axes of this mesh; or none
  int64_t partitions = 0;            // where there are no axes; 0: as many as the shardings name
  std::vector<ShardStatement> said;  // of the entry's parameters
  std::string order;                 // of the devices; empty: in order, "auto": as the torus suggests
  WindowedProducts windowed = WindowedProducts::kUnset;
  std::optional<int64_t> windowed_mib;  // of kThreshold; none: XLA's default
  bool is_default = false;              // nobody asked for it: the module is sharded (unpartitioned.h)

  int64_t devices() const { return mesh.axes.empty() ? partitions : mesh.devices(); }
  /// As the line of parse_mesh_request() says it.
  std::string text() const;
};

/// What --mesh, --shard, --mesh-order and --written-for say.
Result<MeshRequest> read_mesh_request(std::string_view mesh, const std::vector<std::string>& statements,
                                      std::string_view order, std::string_view written_for = {});
/// Errors: more devices than the limits allow programs to run on (--max-devices).
Result<void> check_devices(const MeshRequest& request, const Limits& limits);
/// "never", "always", "auto", "threshold".
Result<WindowedProducts> parse_windowed_products(std::string_view text);
/// All in one: `fsdp=16,tensor=4; wi=[fsdp,tensor]; order=auto; from fsdp=2,tensor=2; windowed=auto`.
Result<MeshRequest> parse_mesh_request(std::string_view text);

/// A collective that partitioning put in, and who asked for it. Its channel outlasts rewrites of the module,
/// its name doesn't.
struct AskedCollective {
  std::string collective;  // its name
  std::string asked_by;    // the instruction of the given module
  std::string what;        // the one whose value moves
  std::string from, to;    // its shardings
  std::string kind;        // "all-gather"
  int64_t bytes = 0;       // that a device sends each time
  int64_t channel = 0;     // 0: it has none
};

/// An instruction of the given module that every device does as a whole.
struct ReplicatedWork {
  std::string name;
  uint32_t offset = 0;  // in the given module's text, as of what it became
  std::string reason;
  int64_t bytes = 0;  // that gathering its operands sends
};

/// What is known of a program because it was partitioned here.
struct PartitionNotes {
  Mesh mesh;                     // with the order of its devices; no axes: they have no names
  bool was_partitioned = false;  // the module runs as it was given
  bool has_rings = false;        // products of gathered operands, or with scattered sums, go round
  std::vector<AskedCollective> asked;
  std::vector<ReplicatedWork> replicated;
};

struct PartitionedProgram {
  Module module;
  PartitionNotes notes;
  AssumptionList assumptions;
};

/// What --xla_jf_spmd_threshold_for_windowed_einsum_mib says, where the request says nothing or `threshold`.
MeshRequest by_flags(MeshRequest request, const CompilerChoices& compiler);

/// `module` stays as it is. WindowedProducts::kAuto is as kNever here. Errors: a mesh that doesn't fit the
/// module's or the slice's number of devices, shardings that can't be read or partitioned, statements about
/// nothing, statements about a module that is partitioned already.
Result<PartitionedProgram> partition_over_mesh(const Module& module, const OpTable& table,
                                               const Device& device, const SimulateOptions& options,
                                               const MeshRequest& request);
/// Over devices that aren't known: no collective moves out of a loop. Requires: no order of the mesh.
Result<PartitionedProgram> partition_over_mesh(const Module& module, const OpTable& table,
                                               const MeshRequest& request);

}  // namespace hlosim
