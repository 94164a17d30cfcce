// Ways to lay a program over a number of devices: meshes of all sizes, and along which of their axes each
// dimension of the parameters is cut.
//
//   const MeshQuestion question{.devices = 64, .axes = {"data", "model"}};
//   for (const MeshChoice& choice : mesh_choices(module, op_table(), question)->list)
//     std::cout << choice.text;                    // "data=16,model=4; (x)=[data,_]; (w1|w3)=[_,model]"
//
// Dimensions that the program makes the same size (dimensions of parameters that meet in a product, in a sum)
// are cut alike, and so are those of parameters whose names differ in numbers only. No axis cuts two
// dimensions of one parameter, so that dimensions of one that would be cut alike stay whole; none is cut that
// a loop takes its layers from, all parts are equal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/units.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

struct MeshQuestion {
  int64_t devices = 1;
  std::vector<std::string> axes;          // their names
  std::vector<std::string> statements{};  // as for --shard; not empty: nothing else is cut
  std::string order{};                    // as for --mesh-order
  std::string written_for{};  // as for --written-for; not empty: the module says how arrays are cut
};

struct MeshChoice {
  std::string text;       // as parse_mesh_request() takes it
  double flop_share = 1;  // of the program's products, what a device has to do at least
};

struct MeshChoices {
  std::vector<MeshChoice> list;       // each once, those with the least to do first
  std::vector<std::string> left_out;  // what is cut on no mesh, with the reason; each once
};

inline constexpr int64_t kMostMeshChoices = 1'000'000;

/// `parts` factors of `n`, in order, each at least 1: 4 in two parts are 1 x 4, 2 x 2, 4 x 1.
std::vector<std::vector<int64_t>> factorizations(int64_t n, size_t parts);

/// `trip_count`: of loops that don't say theirs. Errors: a module with shardings of its own and no
/// statements, more than kMostMeshChoices.
Result<MeshChoices> mesh_choices(const Module& module, const OpTable& table, const MeshQuestion& question,
                                 int64_t trip_count = 1);

}  // namespace hlosim
