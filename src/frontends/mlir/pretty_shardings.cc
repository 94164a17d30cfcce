// Pretty forms of sdy. What shardings say is kept as text; who needs it reads it.
#include <fmt/format.h>

#include "mlir/pretty_forms.h"

namespace hlosim::mlir {
namespace {

/// Balanced brackets as an attribute; those that aren't `<…>` are put into such. `#sdy.mesh<…>` in full is
/// right too.
bool add_sharding(OperationReader& reader, Draft& draft, std::string_view attribute, std::string_view name,
                  char open) {
  Scanner& in = reader.in();
  const uint32_t offset = in.offset();
  std::string_view text;
  if (in.peek() == '#') {
    const Attribute* whole = reader.attributes().attribute();
    if (whole == nullptr) return false;
    draft.add(attribute, whole);
    return whole->kind == AttributeKind::kSharding ||
           in.fail_at(offset, fmt::format("expects an attribute of sdy for {}", attribute));
  }
  if (in.peek() != open) return in.expects(fmt::format("'{}' and {}", open, attribute));
  if (!in.balanced(text)) return false;
  if (open != '<') text = reader.arena().copy(std::string_view(fmt::format("<{}>", text)));
  draft.add(attribute, reader.attributes().make_named(AttributeKind::kSharding, name, text, offset));
  return true;
}

bool key(OperationReader& reader, std::string_view word) {
  if (!reader.in().eat_word(word)) return reader.in().expects(fmt::format("'{}='", word));
  return reader.in().eat('=') || reader.in().expects(fmt::format("'=' behind '{}'", word));
}

/// `@mesh = <["x"=2]>`
bool read_mesh(OperationReader& reader, Draft& draft) {
  const Attribute* symbol = reader.attributes().attribute();
  if (symbol == nullptr) return false;
  if (symbol->kind != AttributeKind::kSymbol)
    return reader.in().fail_at(symbol->offset, "expects the symbol of a mesh");
  draft.add("sym_name", reader.attributes().make_text(AttributeKind::kString, symbol->text, symbol->offset));
  return reader.in().need('=', "behind the symbol of a mesh") &&
         add_sharding(reader, draft, "mesh", "sdy.mesh", '<') && reader.optional_attributes(draft);
}

/// `%0 <@mesh, […]> : T`
bool read_constraint(OperationReader& reader, Draft& draft) {
  return reader.operand(draft) && add_sharding(reader, draft, "sharding", "sdy.sharding", '<') &&
         read_end(reader, draft, TypeRule::kSame);
}

bool read_out_sharding(OperationReader& reader, Draft& draft) {
  return key(reader, "out_sharding") && add_sharding(reader, draft, "out_sharding", "sdy.sharding", '<') &&
         read_end(reader, draft, TypeRule::kSame);
}

/// `[…] %0 out_sharding=<…> : T`
bool read_collective(OperationReader& reader, Draft& draft, std::string_view attribute, std::string_view name,
                     char open) {
  return add_sharding(reader, draft, attribute, name, open) && reader.operand(draft) &&
         read_out_sharding(reader, draft);
}

bool read_permute(OperationReader& reader, Draft& draft) {
  return reader.operand(draft) && read_out_sharding(reader, draft);
}

/// `(%a) in_shardings=[…] out_shardings=[…] manual_axes={…} (%b: T) {…} {…} : F`
bool read_manual_computation(OperationReader& reader, Draft& draft) {
  std::vector<Argument> arguments;
  return reader.operands_in_parentheses(draft) && key(reader, "in_shardings") &&
         add_sharding(reader, draft, "in_shardings", "sdy.sharding_per_value", '[') &&
         key(reader, "out_shardings") &&
         add_sharding(reader, draft, "out_shardings", "sdy.sharding_per_value", '[') &&
         key(reader, "manual_axes") && add_sharding(reader, draft, "manual_axes", "sdy.manual_axes", '{') &&
         reader.arguments(arguments) && reader.region(draft, arguments, {}) &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

/// `<"name">(%a) [in_shardings=[…]] [out_shardings=[…]] (%b: T) {…} {…} : F`
bool read_named_computation(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  const uint32_t offset = in.offset();
  std::string_view name;
  if (!in.need('<', "before the name of a computation") || !in.string(name, reader.arena()) ||
      !in.need('>', "behind the name of a computation"))
    return false;
  draft.add("name", reader.attributes().make_text(AttributeKind::kString, name, offset));
  if (!reader.operands_in_parentheses(draft)) return false;
  for (const std::string_view shardings : {"in_shardings", "out_shardings"}) {
    if (!in.sees_word(shardings)) continue;
    if (!key(reader, shardings) || !add_sharding(reader, draft, shardings, "sdy.sharding_per_value", '['))
      return false;
  }
  std::vector<Argument> arguments;
  return reader.arguments(arguments) && reader.region(draft, arguments, {}) &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

/// `%0 group_id=1 : T`
bool read_group(OperationReader& reader, Draft& draft) {
  if (!reader.operand(draft) || !key(reader, "group_id")) return false;
  const uint32_t offset = reader.in().offset();
  int64_t group = 0;
  if (!reader.in().integer(group)) return false;
  draft.add("group_id", reader.attributes().make_integer(group, "i64", offset));
  return read_end(reader, draft, TypeRule::kEachOperand);
}

/// `%0 allowed_direction=NONE : T`
bool read_barrier(OperationReader& reader, Draft& draft) {
  if (!reader.operand(draft) || !key(reader, "allowed_direction")) return false;
  const uint32_t offset = reader.in().offset();
  const std::string_view word = reader.in().word();
  if (word.empty()) return reader.in().expects("a direction");
  draft.add("allowed_direction",
            reader.attributes().make_named(AttributeKind::kEnum, "sdy.propagation_direction", word, offset));
  return read_end(reader, draft, TypeRule::kSame);
}

#define HLOSIM_COLLECTIVE_FORM(name, attribute, kind, open)         \
  {                                                                 \
    name, [](OperationReader& reader, Draft& draft) {               \
      return read_collective(reader, draft, attribute, kind, open); \
    }                                                               \
  }

constexpr PrettyForm kShardingsForms[] = {
    {"sdy.mesh", read_mesh},
    {"sdy.sharding_constraint", read_constraint},
    {"sdy.reshard", read_constraint},
    HLOSIM_COLLECTIVE_FORM("sdy.all_gather", "gathering_axes", "sdy.list_of_axis_ref_lists", '['),
    HLOSIM_COLLECTIVE_FORM("sdy.all_slice", "slicing_axes", "sdy.list_of_axis_ref_lists", '['),
    HLOSIM_COLLECTIVE_FORM("sdy.reduce_scatter", "reduce_scatter_axes", "sdy.list_of_axis_ref_lists", '['),
    HLOSIM_COLLECTIVE_FORM("sdy.all_to_all", "params", "sdy.all_to_all_param_list", '['),
    HLOSIM_COLLECTIVE_FORM("sdy.all_reduce", "reduction_axes", "sdy.axis_ref_list", '{'),
    {"sdy.collective_permute", read_permute},
    {"sdy.manual_computation", read_manual_computation},
    {"sdy.named_computation", read_named_computation},
    {"sdy.sharding_group", read_group},
    {"sdy.propagation_barrier", read_barrier},
};

}  // namespace

std::span<const PrettyForm> sharding_forms() { return kShardingsForms; }

}  // namespace hlosim::mlir
