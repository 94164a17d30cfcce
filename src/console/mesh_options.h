// Over which devices a module is to be spread, and how: the options that commands have for it.
//
//   declare_mesh(line, options->mesh);
//   const Result<std::optional<MeshRequest>> mesh = mesh_request(options->mesh);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/spread.h"

namespace hlosim {

class CommandLine;

/// As the line gives them.
struct MeshOptions {
  std::string mesh;
  std::optional<int64_t> partitions;
  std::vector<std::string> statements;
  std::string order;
  std::string written_for;
  std::string windowed = "never";
  std::string all_in_one;  // as parse_mesh_request() takes it: a configuration's, in place of the others
};

/// --mesh, --partitions, --shard, --mesh-order, --written-for, --windowed-products.
void declare_mesh(CommandLine& line, MeshOptions& options);

/// Nullopt: none of them was given. Errors: what read_mesh_request() says; options that need others.
Result<std::optional<MeshRequest>> mesh_request(const MeshOptions& options);

}  // namespace hlosim
