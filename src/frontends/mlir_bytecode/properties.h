// Which attributes an operation has as properties, in the order in which its record names them.
//
//   const std::optional<PropertyNames> names = property_names("builtin.module");
//   (*names)[0].name, (*names)[0].is_optional              // "sym_name", true
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace hlosim::mlir {

struct PropertyName {
  std::string_view name;
  bool is_optional = false;
};
using PropertyNames = std::vector<PropertyName>;

/// Of operations other than VHLO's. None: how its record is written isn't known.
std::optional<PropertyNames> property_names(std::string_view operation);

}  // namespace hlosim::mlir
