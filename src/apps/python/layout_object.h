// A tiled layout as Python holds it.
//
//   auto layout = LayoutObject::make("bf16[256,256]{1,0:T(8,128)(2,1)}");
//   layout->map->offset(std::vector<int64_t>{9, 130})          // 3,077
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "layout/layout_map.h"
#include "layout/shape.h"

namespace hlosim::python {

/// The class _core.Layout.
void add_layout_object(pybind11::module_& core);

}  // namespace hlosim::python
