// Over which devices a module is to be spread, and how: the options that commands have for it.
//
//   declare_mesh(line, options->mesh);
//   const Result<std::optional<MeshRequest>> mesh = mesh_request(options->mesh);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/resource_limits.h"
#include "console/streams.h"
#include "estimate/partition_over_mesh.h"
#include "hlo/module.h"

namespace hlosim {

class CommandLine;

/// As the line gives them.
struct MeshOptions {
  std::string mesh;
  std::optional<int64_t> partitions;
  std::vector<std::string> statements;
  std::string order;
  std::string written_for;
  std::string windowed;
  std::string all_in_one;  // as parse_mesh_request() takes it: a configuration's, in place of the others
  bool no_partition = false;
};

/// --mesh, --partitions, --shard, --mesh-order, --written-for, --windowed-products, --no-partition.
void declare_mesh(CommandLine& line, MeshOptions& options);
/// The last one alone.
void declare_no_partition(CommandLine& line, bool& no_partition);

/// Nullopt: nobody says how modules are to be spread. Errors: what read_mesh_request() says; options that
/// need or exclude others; more devices than the limits allow.
Result<std::optional<MeshRequest>> mesh_request(const MeshOptions& options, const Limits& limits);

/// A warning where --no-partition leaves a sharded module as it stands.
void warn_of_unpartitioned(const Module& module, bool no_partition, Streams streams);

/// For commands that don't estimate: the module spread as the request says or, without one, over the devices
/// of its shardings, which a note reports; as it stands where there is nothing to partition, and with a
/// warning where `no_partition`. `device`: null: it isn't known; a request needs one. Errors: of
/// partition_over_mesh().
Result<Module> partitioned_module(const Module& given, const Device* device, const SimulateOptions& options,
                                  const std::optional<MeshRequest>& request, bool no_partition,
                                  Streams streams, const CompilerChoices& compiler = {});

}  // namespace hlosim
