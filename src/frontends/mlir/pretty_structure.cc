// builtin.module and func.*
#include "mlir/pretty_forms.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim::mlir {
namespace {

bool symbol_name(OperationReader& reader, Draft& draft) {
  if (reader.in().peek() != '@') return reader.in().expects("a symbol, as in @main");
  const Attribute* symbol = reader.attributes().attribute();
  if (symbol == nullptr) return false;
  draft.add("sym_name", reader.attributes().make_text(AttributeKind::kString, symbol->text, symbol->offset));
  return true;
}

bool keyword_attributes(OperationReader& reader, Draft& draft) {
  return !reader.in().eat_word("attributes") || reader.optional_attributes(draft);
}

bool read_module(OperationReader& reader, Draft& draft) {
  if (reader.in().peek() == '@' && !symbol_name(reader, draft)) return false;
  return keyword_attributes(reader, draft) && reader.region(draft, {}, {.isolated = true});
}

/// Arguments of a function, or its results: types, names where there are any, dictionaries.
struct Signature {
  std::vector<Argument> entries;
  std::vector<const Attribute*> dictionaries;

  bool has_attributes() const {
    return std::any_of(dictionaries.begin(), dictionaries.end(),
                       [](const Attribute* dictionary) { return !dictionary->entries.empty(); });
  }
  std::vector<const Type*> types() const {
    std::vector<const Type*> types;
    for (const Argument& entry : entries) types.push_back(entry.type);
    return types;
  }
};

/// `[%a:] T [{…}] [loc]`
bool read_entry(OperationReader& reader, Signature& signature) {
  Scanner& in = reader.in();
  Argument& entry = signature.entries.emplace_back();
  if (in.peek() == '%') {
    if (!reader.argument(entry)) return false;
  } else {
    entry.offset = in.offset();
    entry.type = reader.attributes().type();
    if (entry.type == nullptr) return false;
  }
  const uint32_t offset = in.offset();
  std::vector<NamedAttribute> entries;
  if (in.peek() == '{' && !reader.attributes().dictionary(entries)) return false;
  signature.dictionaries.push_back(
      reader.attributes().make_entries(AttributeKind::kDictionary, {}, entries, offset));
  return reader.optional_location(entry.location);
}

bool read_entries(OperationReader& reader, Signature& signature) {
  Scanner& in = reader.in();
  if (!in.need('(', "before arguments")) return false;
  if (in.eat(')')) return true;
  do {
    if (!read_entry(reader, signature)) return false;
  } while (in.eat(','));
  return in.need(')', "behind the arguments");
}

bool read_results(OperationReader& reader, Signature& results) {
  Scanner& in = reader.in();
  if (!in.eat("->")) return true;
  if (in.peek() == '(') return read_entries(reader, results);
  Argument& only = results.entries.emplace_back();
  only.type = reader.attributes().type();
  return only.type != nullptr;
}

bool read_function(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  AttributeReader& attributes = reader.attributes();
  const uint32_t offset = in.offset();
  std::string_view visibility;
  for (const std::string_view known : {"public", "private", "nested"})
    if (in.eat_word(known)) visibility = known;
  Signature arguments, results;
  if (!symbol_name(reader, draft) || !read_entries(reader, arguments) || !read_results(reader, results))
    return false;
  Attribute* function = attributes.make(AttributeKind::kType, offset);
  function->type = attributes.make_function(arguments.types(), results.types());
  draft.add("function_type", function);
  if (!visibility.empty())
    draft.add("sym_visibility", attributes.make_text(AttributeKind::kString, visibility, offset));
  if (arguments.has_attributes())
    draft.add("arg_attrs", attributes.make_list(arguments.dictionaries, offset));
  if (results.has_attributes()) draft.add("res_attrs", attributes.make_list(results.dictionaries, offset));
  if (!keyword_attributes(reader, draft)) return false;
  if (in.peek() != '{') {
    draft.regions.emplace_back();
    return !in.failed();
  }
  for (const Argument& argument : arguments.entries)
    if (argument.name.empty())
      return in.fail_at(argument.offset,
                        "expects the name of an argument, as in %arg0, of a function with a body");
  return reader.region(draft, arguments.entries, {.isolated = true});
}

bool read_call(OperationReader& reader, Draft& draft) {
  const Attribute* callee = reader.attributes().attribute();
  if (callee == nullptr) return false;
  if (callee->kind != AttributeKind::kSymbol)
    return reader.in().fail_at(callee->offset, "expects the symbol of a function");
  draft.add("callee", callee);
  return reader.operands_in_parentheses(draft) && read_end(reader, draft, TypeRule::kFunctionType);
}

/// `[%a, … : T, …]`
bool read_return(OperationReader& reader, Draft& draft) {
  if (!reader.optional_attributes(draft) || !reader.operands(draft)) return false;
  if (draft.operands.empty()) return reader.optional_attributes(draft);
  return read_end(reader, draft, TypeRule::kOperands);
}

bool types(OperationReader& reader, std::vector<const Type*>& list) {
  do {
    list.push_back(reader.attributes().type());
    if (list.back() == nullptr) return false;
  } while (reader.in().eat(','));
  return true;
}

/// `[%a, … : T, … to] U, …`
bool read_cast(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft)) return false;
  if (!draft.operands.empty() &&
      (!in.need(':', "before the types of operands") || !types(reader, draft.types)))
    return false;
  if (!in.eat_word("to")) return in.expects("'to' and the types of the results");
  if (draft.types.size() != draft.operands.size())
    return in.fail_at(draft.offset, fmt::format("has {} operands, but {} types for them",
                                                draft.operands.size(), draft.types.size()));
  return types(reader, draft.results) && reader.optional_attributes(draft);
}

/// `[#llvm.mlir.module_flag<…>, …]`
bool read_flags(OperationReader& reader, Draft& draft) {
  const Attribute* flags = reader.attributes().attribute();
  if (flags == nullptr) return false;
  draft.add("flags", flags);
  return reader.optional_attributes(draft);
}

constexpr PrettyForm kStructureForms[] = {
    {"builtin.module", read_module},   {"func.func", read_function},
    {"func.call", read_call},          {"func.return", read_return},
    {"stablehlo.return", read_return}, {"sdy.return", read_return},
    {"llvm.module_flags", read_flags}, {"builtin.unrealized_conversion_cast", read_cast},
};

}  // namespace

std::span<const PrettyForm> structure_forms() { return kStructureForms; }

}  // namespace hlosim::mlir
