// Shardings by named axes of a mesh (the dialect sdy), and what HLO writes for them.
//
//   mesh <["a"=2, "b"=4, "c"=4]>
//   [{"c"}, {"a", "b"}]        {devices=[4,8]<=[8,4]T(1,0)}
//   [{}, {"a", "c"}]           {devices=[1,8,4]<=[2,4,4]T(0,2,1) last_tile_dim_replicate}
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/source.h"

namespace hlosim::stablehlo {

struct Mesh {
  std::vector<std::pair<std::string, int64_t>> axes;
  std::vector<int64_t> device_ids;  // empty: 0, 1, …
};

/// An axis, or the part of it of size `size` under a part of size `pre`.
struct AxisPart {
  std::string axis;
  int64_t pre = 1, size = 0;  // size 0: the whole axis
};

struct MeshSharding {
  Mesh mesh;
  std::vector<std::vector<AxisPart>> dimensions;
  std::vector<AxisPart> unreduced;
};

/// Finds a mesh by its symbol; nullopt: there is none.
using FindMesh = std::function<std::optional<Mesh>(std::string_view)>;

/// What is wrong with the sizes of a mesh; empty: nothing.
std::string mesh_problem(const Mesh& mesh);

/// `<["x"=2, "y"=4], device_ids=[…]>`
Result<Mesh> read_mesh(std::string_view text);
/// `<@mesh, [{"x"}, {}], replicated={"y"}>`
Result<MeshSharding> read_mesh_sharding(std::string_view text, const FindMesh& find);
/// `<[<@mesh, …>, …]>`
Result<std::vector<MeshSharding>> read_mesh_shardings(std::string_view text, const FindMesh& find);
/// `<{"x", "y"}>`
Result<std::vector<AxisPart>> read_axes(std::string_view text);

/// HLO's text. `manual`: axes along which the program is written for each device by itself.
Result<std::string> hlo_sharding(const MeshSharding& sharding, const std::vector<AxisPart>& manual = {});

/// HLO's text of an OpSharding protocol buffer; failures: it is none.
Result<std::string> hlo_sharding_of_proto(std::string_view bytes);

}  // namespace hlosim::stablehlo
