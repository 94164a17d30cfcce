// origin={…}: the values of an earlier module that an instruction stands for, one per leaf of its shape.
#pragma once

#include <string_view>

#include "layout/shape.h"

namespace hlosim {

/// Is the tree in `text`, `{({"a"}, {"b" {0}})}`, nested as `shape` is? True for `{[synthetic_call]}` and for
/// texts of other forms.
bool original_value_fits(std::string_view text, ShapeRef shape);

}  // namespace hlosim
