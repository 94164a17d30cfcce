// Which device of a torus has which place in a mesh.
//
//   mesh_order({{"data", 4}, {"model", 4}}, {4, 4}, "")              // data along y, model along x
//   mesh_order({{"data", 2}, {"model", 8}}, {4, 4}, "model=yx")      // model: y and half of x
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "sharding/mesh.h"

namespace hlosim {

/// The part of a torus dimension that an axis takes.
struct TorusPart {
  size_t dimension = 0;
  int64_t before = 1, size = 1;  // as in AxisPart: of the coordinate, major first
};

struct MeshOnTorus {
  std::vector<std::vector<TorusPart>> axes;  // of each mesh axis, major first
  std::vector<int64_t> device_order;         // the device at each place; empty: device i at place i
  /// Does the axis take whole dimensions only, so that it may go round?
  bool is_whole(size_t axis, const std::vector<int64_t>& topology) const;
};

/// The devices of a torus with `topology` chips along x, y, z, numbered with x fastest, each chip having
/// `cores` devices, which follow each other, as everywhere (interconnect/slice.h). `order` names torus
/// dimensions for some axes (`model=y,data=xz`); the others get what is left: whole dimensions where sizes
/// allow it, x to the last (fastest) axis first, else parts of as few dimensions as can be. Errors: the mesh
/// has another number
/// of devices; `order` names axes or dimensions that are not there, or too small ones.
Result<MeshOnTorus> mesh_order(const Mesh& mesh, const std::vector<int64_t>& topology, int64_t cores,
                               std::string_view order, std::string name = "--mesh-order");

}  // namespace hlosim
