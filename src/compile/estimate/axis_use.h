// Along which axes of a mesh a collective goes.
//
//   const AxisNames names(mesh, grid);
//   names.of(groups)  // "fsdp"; "fsdp,tensor"; "tensor:2" for pairs along an axis of 4
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/collective_groups.h"
#include "sharding/mesh.h"

namespace hlosim {

class AxisNames {
 public:
  /// A mesh without axes has no names to give.
  AxisNames(const Mesh& mesh, const DeviceGrid& grid);

  /// The axes in which members of a group differ, in the order of the mesh: `a`, or `a:n` where each group
  /// has n of its coordinates only; "replicas" where these differ; `a,b mixed` for groups that aren't all
  /// combinations of the coordinates that they have. "none" where nobody talks to anybody else.
  std::string of(const CollectiveGroups& groups) const;

 private:
  struct Span {
    std::vector<int64_t> distinct;  // coordinates by axis, the last one of the replicas
    bool is_box = true;
  };
  int64_t coordinate(int64_t member, size_t axis) const;
  Span span_of(const std::vector<int64_t>& group) const;
  std::string text(const Span& span) const;

  const Mesh& mesh_;
  DeviceGrid grid_;
  std::vector<int64_t> place_of_, strides_;  // by device, by axis
};

/// The groups of the collectives that an instruction is, wraps or has inside, in order. Requires: a module
/// that was simulated on `grid`.
std::vector<CollectiveGroups> groups_of(const Module& module, const OpTable& table,
                                        const Instruction& instruction, const DeviceGrid& grid);

}  // namespace hlosim
