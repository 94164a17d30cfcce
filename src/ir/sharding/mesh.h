// Named axes over the devices, and shardings that are said by their names.
//
//   const Mesh mesh = *parse_mesh("data=4,model=2");
//   const AxisSharding rows = *parse_axes("[{data,model},_]", mesh);
//   sharding_text(mesh, rows)                                     // "{devices=[8,1]<=[8]}"
//   const auto axes = axes_of(mesh, "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}");
//   axis_names(mesh, *axes)                                       // "[model,_]"
//
// The devices stand in the mesh row-major: the last axis changes fastest. Which chip has which place is up to
// the device order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace hlosim {

struct MeshAxis {
  std::string name;
  int64_t size = 1;
};

struct Mesh {
  std::vector<MeshAxis> axes;
  std::vector<int64_t> device_order;  // the device at each place, row-major; empty: place i has device i

  int64_t devices() const;
  /// Places between neighbours along an axis.
  int64_t stride(size_t axis) const;
  int64_t device_at(int64_t place) const {
    return device_order.empty() ? place : device_order[static_cast<size_t>(place)];
  }
};

/// An axis or a part of one: of its coordinate, the digit of base `size` that `before` coarser steps precede.
/// A whole axis has before = 1 and size = the axis's.
struct AxisPart {
  size_t axis = 0;
  int64_t before = 1, size = 1;
  bool operator==(const AxisPart&) const = default;
};

/// How an array lies on a mesh: the axes that cut each dimension, major first. Devices that differ along
/// other axes have copies.
struct AxisSharding {
  std::vector<std::vector<AxisPart>> dimensions;
  std::vector<AxisPart> manual;     // the program is written for one device along these
  std::vector<AxisPart> unreduced;  // devices have summands along these
  bool operator==(const AxisSharding&) const = default;

  /// Parts that dimension `i` is cut into.
  int64_t tiles(size_t i) const;
};

/// `data=4,model=2`. Errors, placed in a text called `name`: no name, a name twice, a size that is no
/// positive number, more than 2^24 devices.
Result<Mesh> parse_mesh(std::string_view text, std::string name = "--mesh");

/// Does the mesh cover `devices` devices? The error says which sizes would.
Result<void> check_mesh(const Mesh& mesh, int64_t devices);

/// `[data,{model,expert},_]`: an axis, several of them, or none (`_`) for each dimension; `model:(1)2` is a
/// part of an axis, with what precedes it and its size. Errors, placed in a text called `name`: an axis that
/// the mesh hasn't (with the nearest that it has), one that is used twice, parts that don't divide the axis.
Result<AxisSharding> parse_axes(std::string_view text, const Mesh& mesh, std::string name = "--shard");

/// As HLO writes it, with the braces: `{devices=[4,1,2]<=[8] last_tile_dim_replicate}`, `{replicated}`.
std::string sharding_text(const Mesh& mesh, const AxisSharding& sharding);

/// The axes that one array's sharding in HLO's text (with its braces) uses along each dimension; nullopt: it
/// cuts the devices along no axes of this mesh, or isn't one of tiles. `{replicated}` and `{manual}` have no
/// dimensions.
std::optional<AxisSharding> axes_of(const Mesh& mesh, std::string_view text);

/// `[{data,model},_]`, and what is manual or unreduced behind: `[data,_] manual={model}`.
std::string axis_names(const Mesh& mesh, const AxisSharding& sharding);

}  // namespace hlosim
