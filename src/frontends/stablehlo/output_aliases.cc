#include "stablehlo/output_aliases.h"

#include <vector>

namespace hlosim::stablehlo {

std::optional<Attr> output_aliases(OpLowering& op, std::string_view attribute) {
  const mlir::Attribute* given = op.find(attribute);
  if (!given || given->items.empty()) return std::nullopt;
  std::vector<Alias> aliases;
  for (const mlir::Attribute* item : given->items) {
    Alias alias;
    alias.output_index = op.arena().copy(op.list_in(*item, "output_tuple_indices"));
    alias.parameter = op.integer_in(*item, "operand_index", 0);
    alias.parameter_index = op.arena().copy(op.list_in(*item, "operand_tuple_indices"));
    aliases.push_back(alias);
  }
  return Attr::make_list<Alias>(AttrKey::kOutputToOperandAliasing, AttrSyntax::kAliases,
                                op.arena().copy(aliases));
}

}  // namespace hlosim::stablehlo
