#include "mlir_bytecode/properties.h"

#include <algorithm>
#include <utility>

namespace hlosim::mlir {
namespace {

/// In alphabetical order; a question mark: it may be absent.
constexpr std::pair<std::string_view, std::string_view> kProperties[] = {
    {"builtin.module", "sym_name? sym_visibility?"},
    {"func.func", "arg_attrs? function_type no_inline? res_attrs? sym_name sym_visibility?"},
    {"func.call", "arg_attrs? callee no_inline? res_attrs?"},
    {"func.return", ""},
    {"sdy.all_gather", "gathering_axes out_sharding"},
    {"sdy.all_reduce", "out_sharding reduction_axes"},
    {"sdy.all_slice", "out_sharding slicing_axes"},
    {"sdy.all_to_all", "out_sharding params"},
    {"sdy.collective_permute", "out_sharding"},
    {"sdy.constant", "value"},
    {"sdy.manual_computation", "in_shardings manual_axes out_shardings"},
    {"sdy.mesh", "mesh sym_name"},
    {"sdy.named_computation", "in_shardings? name out_shardings?"},
    {"sdy.propagation_barrier", "allowed_direction"},
    {"sdy.reshard", "sharding"},
    {"sdy.return", ""},
    {"sdy.sharding_constraint", "sharding"},
    {"sdy.sharding_group", "group_id"},
};

}  // namespace

std::optional<PropertyNames> property_names(std::string_view operation) {
  for (const auto& [known, names] : kProperties) {
    if (known != operation) continue;
    PropertyNames made;
    for (std::string_view rest = names; !rest.empty();) {
      const size_t end = std::min(rest.find(' '), rest.size());
      const bool is_optional = rest[end - 1] == '?';
      made.push_back({rest.substr(0, end - is_optional), is_optional});
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return made;
  }
  return std::nullopt;
}

}  // namespace hlosim::mlir
