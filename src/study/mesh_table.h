// The result of a search for meshes as tables and as a picture.
//
//   streams.out << mesh_text(search, {.top = 20});
#pragma once

#include <cstddef>
#include <string>

#include "base/paint.h"
#include "study/mesh_search.h"

namespace hlosim {

struct MeshTextOptions {
  size_t top = 20;  // rows; 0: all
  Paint paint{};
};

/// For people. Rows on the front of time and memory have a star.
std::string mesh_text(const MeshSearch& search, const MeshTextOptions& options);
/// Everything, in base units.
std::string mesh_json(const MeshSearch& search);
/// Time (of a token, where their number is known) against memory of what was simulated, a ring around what is
/// on the front.
std::string mesh_svg(const MeshSearch& search, const Experiment& experiment);

}  // namespace hlosim
