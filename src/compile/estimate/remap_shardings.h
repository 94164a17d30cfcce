// Shardings that were written for a mesh, on another one with axes of the same names.
//
//   const Mesh from = *parse_mesh("data=2,model=2"), to = *parse_mesh("data=16,model=4");
//   remap_shardings_to_mesh(module, from, to)  // {devices=[2,2]<=[4]} becomes {devices=[16,4]<=[64]}
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "sharding/mesh.h"

namespace hlosim {

/// A copy of the module with all its shardings by the names of the axes that they cut along; axes that `to`
/// hasn't are of size 1 there. Errors, with the place of the instruction: devices cut along no axes of
/// `from`, or along parts of one; manual regions, whose shapes are those of `from`. Requires: axes of `from`
/// longer than 1, for names are told by that.
Result<Module> remap_shardings_to_mesh(const Module& module, const Mesh& from, const Mesh& to);

}  // namespace hlosim
