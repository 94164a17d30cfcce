#include "mlir/operation_reader.h"

#include <fmt/format.h>

#include "base/text.h"
#include "mlir/pretty_forms.h"
#include "mlir/write_text.h"

namespace hlosim::mlir {

void Draft::clear() {
  names.clear();
  operands.clear();
  attributes.clear();
  regions.clear();
  types.clear();
  results.clear();
  has_arrow = false;
}

// ── values ──

bool OperationReader::define(std::string_view name, const Value* const* values, uint32_t count,
                             uint32_t offset) {
  Named& named = values_.at(name, scope_);
  if (named.values != nullptr)
    return in_.fail_at(offset, fmt::format("%{} is defined twice", shown(name)),
                       "a name can be defined once in its region");
  named = {values, count, offset};
  defined_.push_back(name);
  return true;
}

bool OperationReader::operand(Draft& draft) {
  const uint32_t offset = in_.offset();
  if (!in_.eat('%')) return in_.expects("a value, as in %0");
  const std::string_view name = in_.suffix();
  if (name.empty()) return in_.expects("the name of a value behind '%'");
  int64_t number = 0;
  const bool numbered = in_.peek() == '#' && in_.last_end() == in_.position();
  if (numbered) {
    in_.eat('#');
    if (!in_.integer(number, "the number of a result")) return false;
  }
  const Named* named = values_.find(name, scope_);
  if (named == nullptr || named->values == nullptr) {
    const bool elsewhere = named != nullptr;
    return in_.fail_at(offset, fmt::format("%{} isn't defined", shown(name)),
                       elsewhere ? "it is defined in a region that ended before" : "");
  }
  if (number < 0 || number >= named->count)
    return in_.fail_at(offset,
                       fmt::format("%{} has {} results; there is no #{}", shown(name), named->count, number));
  if (!numbered && named->count != 1)
    return in_.fail_at(offset, fmt::format("%{} has {} results: name one, as in %{}#0", shown(name),
                                           named->count, shown(name)));
  draft.operands.push_back({named->values[number], offset});
  return true;
}

bool OperationReader::operands(Draft& draft) {
  if (in_.peek() != '%') return !in_.failed();
  do {
    if (!operand(draft)) return false;
    if (in_.peek() != ',') return true;
    // Behind the comma there may stand what is no operand.
    size_t ahead = 1;
    while (in_.peek(ahead) == ' ' || in_.peek(ahead) == '\n' || in_.peek(ahead) == '\t' ||
           in_.peek(ahead) == '\r')
      ++ahead;
    if (in_.peek(ahead) != '%') return true;
  } while (in_.eat(','));
  return true;
}

bool OperationReader::operands_in_parentheses(Draft& draft) {
  if (!in_.need('(', "before the operands")) return false;
  if (in_.eat(')')) return true;
  do {
    if (!operand(draft)) return false;
  } while (in_.eat(','));
  return in_.need(')', "behind the operands");
}

// ── attributes and types ──

bool OperationReader::optional_attributes(Draft& draft) {
  if (in_.peek() != '{') return !in_.failed();
  const size_t before = draft.attributes.size();
  if (!attributes_.dictionary(draft.attributes)) return false;
  if (before == 0) return true;
  // What stands there replaces what the form said: it is moved to that place.
  size_t kept = before;
  for (size_t i = before; i < draft.attributes.size(); ++i) {
    bool replaced = false;
    for (size_t j = 0; j < before; ++j) {
      if (draft.attributes[j].name != draft.attributes[i].name) continue;
      draft.attributes[j].value = draft.attributes[i].value;
      replaced = true;
    }
    if (!replaced) draft.attributes[kept++] = draft.attributes[i];
  }
  draft.attributes.resize(kept);
  return true;
}

bool OperationReader::signature(Draft& draft, TypeRule rule) {
  if (!in_.need(':', "before the types")) return false;
  const bool parenthesized = in_.peek() == '(';
  if (parenthesized) {
    if (!attributes_.type_or_list(draft.types)) return false;
  } else {
    do {
      draft.types.push_back(attributes_.type());
      if (draft.types.back() == nullptr) return false;
    } while (in_.eat(','));
  }
  draft.has_arrow = in_.eat("->");
  if (draft.has_arrow && !attributes_.type_or_list(draft.results)) return false;
  if (parenthesized && !draft.has_arrow) return in_.need("->", "behind the types of the operands");
  return resolve(draft, rule);
}

bool OperationReader::resolve(Draft& draft, TypeRule rule) {
  std::vector<const Type*>& types = draft.types;
  const size_t operands = draft.operands.size();
  const auto wrong = [&](size_t expected, std::string_view of) {
    return in_.fail_at(draft.offset, fmt::format("expects {} type{} of {}, but sees {}", expected,
                                                 expected == 1 ? "" : "s", of, types.size()));
  };
  if (draft.has_arrow) return types.size() == operands || wrong(operands, "operands");
  switch (rule) {
    case TypeRule::kFunctionType:
      return in_.need("->", "behind the types of the operands");
    case TypeRule::kSame:
      if (types.size() != 1) return wrong(1, "operands and results");
      draft.results = types;
      types.resize(operands, types[0]);
      return true;
    case TypeRule::kSelect:
      if (types.size() != 2) return wrong(2, "operands and results");
      draft.results = {types[1]};
      types.resize(operands, types[1]);
      return true;
    case TypeRule::kEachOperand:
      if (types.size() == 1) types.resize(operands, types[0]);
      return types.size() == operands || wrong(operands, "operands");
    case TypeRule::kOperands:
      return types.size() == operands || wrong(operands, "operands");
    case TypeRule::kList:
      draft.results = types;
      return types.size() == operands || wrong(operands, "operands and results");
    case TypeRule::kTuple:
      if (types.size() != 1 || types[0]->kind != TypeKind::kTuple) return wrong(1, "tuples");
      draft.results = types;
      types.assign(draft.results[0]->members.begin(), draft.results[0]->members.end());
      return types.size() == operands || wrong(operands, "members");
    case TypeRule::kParts:
      if (types.size() != 1) return wrong(1, "results");
      draft.results = types;
      if (types[0]->kind == TypeKind::kTensor && types[0]->element->kind == TypeKind::kComplex)
        types[0] = attributes_.tensor(types[0]->dims, types[0]->element->members[0]->word);
      types.resize(operands, types[0]);
      return true;
  }
  return false;
}

bool OperationReader::check_operands(const Draft& draft) {
  for (size_t i = 0; i < draft.operands.size(); ++i) {
    const Operand& operand = draft.operands[i];
    if (operand.value->type == draft.types[i] || same(*operand.value->type, *draft.types[i])) continue;
    return in_.fail_at(operand.offset,
                       fmt::format("%{} is defined as {}, but used as {}", shown(operand.value->name),
                                   to_text(*operand.value->type), to_text(*draft.types[i])));
  }
  return true;
}

bool OperationReader::optional_location(const Location*& location) {
  if (!in_.eat_word("loc")) return !in_.failed();
  location = attributes_.location();
  return location != nullptr;
}

// ── operations ──

bool OperationReader::result_names(Draft& draft) {
  if (in_.peek() != '%') return true;
  do {
    Draft::Name name{{}, 1, in_.offset()};
    if (!in_.eat('%')) return in_.expects("the name of a result, as in %0");
    name.text = in_.suffix();
    if (name.text.empty()) return in_.expects("the name of a value behind '%'");
    if (in_.eat(':')) {
      int64_t count = 0;
      if (!in_.integer(count, "a number of results")) return false;
      if (count < 1 || count > (int64_t{1} << 24)) return in_.fail("expects a number of results");
      name.count = static_cast<uint32_t>(count);
    }
    draft.names.push_back(name);
  } while (in_.eat(','));
  return in_.need('=', "behind the names of results");
}

bool OperationReader::operation(std::vector<const Operation*>& into) {
  if (level_ == drafts_.size()) drafts_.emplace_back();
  Draft& draft = drafts_[level_++];
  draft.clear();
  bool read = result_names(draft);
  draft.offset = in_.offset();
  if (read) read = in_.peek() == '"' ? generic(draft) : pretty(draft);
  read = read && check_operands(draft) && finish(draft, into);
  --level_;
  return read;
}

bool OperationReader::generic(Draft& draft) {
  if (!in_.string(draft.name, arena_, "the name of an operation")) return false;
  if (!operands_in_parentheses(draft) || !successors()) return false;
  if (in_.eat('<')) {
    if (!attributes_.dictionary(draft.attributes) || !in_.need('>', "behind the properties")) return false;
  }
  if (in_.peek() == '(' && !generic_regions(draft)) return false;
  const bool has_properties = !draft.attributes.empty();
  if (in_.peek() == '{' && !attributes_.dictionary(draft.attributes)) return false;
  if (has_properties && !attributes_.names_differ(draft.attributes, draft.offset)) return false;
  return signature(draft, TypeRule::kFunctionType);
}

/// `[^bb1, ^bb2(%a : T)]`: blocks that follow aren't kept; several blocks in a region show that they are
/// there.
bool OperationReader::successors() {
  std::string_view skipped;
  return in_.peek() != '[' || in_.balanced(skipped);
}

bool OperationReader::generic_regions(Draft& draft) {
  const bool isolated = draft.name == "builtin.module" || draft.name == "func.func";
  in_.eat('(');
  do {
    if (!region(draft, {}, {.isolated = isolated, .pretty = false})) return false;
  } while (in_.eat(','));
  return in_.need(')', "behind the regions");
}

bool OperationReader::pretty(Draft& draft) {
  const char* start = in_.position();
  draft.name = in_.word();
  if (draft.name.empty()) return in_.expects("an operation");
  if (draft.name == "return") {
    const std::string_view dialect = parent().substr(0, parent().find('.'));
    draft.name = dialect == "sdy"                              ? "sdy.return"
                 : dialect == "stablehlo" || dialect == "chlo" ? "stablehlo.return"
                 : dialect == "mhlo"                           ? "mhlo.return"
                                                               : "func.return";
  } else if (draft.name == "call") {
    draft.name = "func.call";
  } else if (draft.name == "func" || draft.name == "builtin.func") {
    draft.name = "func.func";  // as it was written until 2022
  } else if (draft.name == "module") {
    draft.name = "builtin.module";
  }
  const PrettyForm* form = find_pretty_form(draft.name);
  if (form != nullptr) return form->read(*this, draft);
  if (draft.name.find('.') == std::string_view::npos)
    return in_.fail_at(start, fmt::format("expects an operation, but sees '{}'", shown(draft.name)));
  return in_.fail_at(
      start, fmt::format("{} is read in generic form only", shown(draft.name)),
      fmt::format("as in \"{}\"(%0) : (…) -> …; programs are of stablehlo, mhlo, chlo, sdy and func",
                  shown(draft.name)));
}

Operation* OperationReader::make_operation(std::string_view name, uint32_t offset,
                                           std::span<const Value* const> operands,
                                           std::span<const Type* const> results) {
  Operation* made = arena_.make<Operation>();
  made->name = name;
  made->offset = offset;
  made->operands = arena_.copy(operands);
  if (results.empty()) return made;
  const auto pointers = static_cast<const Value**>(
      arena_.allocate(results.size() * sizeof(const Value*), alignof(const Value*)));
  for (size_t i = 0; i < results.size(); ++i) {
    Value* value = arena_.make<Value>();
    value->type = results[i];
    value->owner = made;
    value->number = static_cast<uint32_t>(i);
    pointers[i] = value;
  }
  made->results = {pointers, results.size()};
  return made;
}

bool OperationReader::finish(Draft& draft, std::vector<const Operation*>& into) {
  if (!attributes_.names_differ(draft.attributes, draft.offset)) return false;
  const size_t operands = draft.operands.size();
  const auto values =
      static_cast<const Value**>(arena_.allocate(operands * sizeof(const Value*), alignof(const Value*)));
  for (size_t i = 0; i < operands; ++i) values[i] = draft.operands[i].value;
  Operation* made = make_operation(draft.name, draft.offset, {}, draft.results);
  made->operands = {values, operands};
  made->attributes = arena_.copy(draft.attributes);
  made->regions = arena_.copy(draft.regions);
  if (!optional_location(made->location)) return false;
  into.push_back(made);
  return define_results(draft, *made);
}

bool OperationReader::define_results(const Draft& draft, const Operation& operation) {
  if (draft.names.empty()) return true;
  size_t named = 0;
  for (const Draft::Name& name : draft.names) named += name.count;
  if (named != operation.results.size())
    return in_.fail_at(draft.names[0].offset, fmt::format("names {} results of {}, which has {}", named,
                                                          shown(operation.name), operation.results.size()));
  size_t at = 0;
  for (const Draft::Name& name : draft.names) {
    if (!define(name.text, &operation.results[at], name.count, name.offset)) return false;
    // What was just made may still be named.
    for (const size_t end = at + name.count; at < end; ++at)
      const_cast<Value*>(operation.results[at])->name = name.text;
  }
  return true;
}

// ── regions ──

bool OperationReader::argument(Argument& argument) {
  argument.offset = in_.offset();
  if (!in_.eat('%')) return in_.expects("an argument, as in %arg0");
  argument.name = in_.suffix();
  if (argument.name.empty()) return in_.expects("the name of a value behind '%'");
  if (!in_.need(':', "and the type of the argument")) return false;
  argument.type = attributes_.type();
  return argument.type != nullptr && optional_location(argument.location);
}

bool OperationReader::arguments(std::vector<Argument>& arguments) {
  if (!in_.need('(', "before the arguments")) return false;
  if (in_.eat(')')) return true;
  do {
    if (!argument(arguments.emplace_back())) return false;
  } while (in_.eat(','));
  return in_.need(')', "behind the arguments");
}

const Value* OperationReader::make_argument(const Argument& argument, uint32_t number) {
  Value* value = arena_.make<Value>();
  value->type = argument.type;
  value->name = argument.name;
  value->number = number;
  value->location = argument.location;
  return value;
}

bool OperationReader::region(Draft& draft, std::span<const Argument> arguments, RegionRule rule) {
  const Nesting nesting(in_);
  if (!nesting.entered() || !in_.need('{', "before a region")) return false;
  const uint32_t outer = scope_;
  const size_t mark = defined_.size();
  if (rule.isolated) scope_ = ++scopes_;
  parents_.push_back(draft.name);
  Region made;
  const bool read = blocks(arguments, rule, made) && in_.need('}', "at the end of the region");
  parents_.pop_back();
  if (!rule.isolated)
    for (size_t i = mark; i < defined_.size(); ++i) values_.find(defined_[i], scope_)->values = nullptr;
  defined_.resize(mark);
  scope_ = outer;
  draft.regions.push_back(made);
  return read;
}

bool OperationReader::blocks(std::span<const Argument> arguments, RegionRule rule, Region& region) {
  std::vector<const Block*> blocks;
  const bool first_is_given = rule.pretty || !arguments.empty();
  if (in_.peek() != '^' && (first_is_given || in_.peek() != '}')) {
    blocks.push_back(block(arguments));
    if (blocks.back() == nullptr) return false;
  } else if (!arguments.empty()) {
    return in_.fail("the arguments of this block are before its region");
  }
  while (in_.peek() == '^') {
    std::vector<Argument> own;
    if (!label(own)) return false;
    blocks.push_back(block(own));
    if (blocks.back() == nullptr) return false;
  }
  region.blocks = arena_.copy(blocks);
  return !in_.failed();
}

/// `^bb0(%a: T):`
bool OperationReader::label(std::vector<Argument>& arguments) {
  in_.eat('^');
  if (in_.suffix().empty()) return in_.expects("the name of a block behind '^'");
  if (in_.peek() == '(' && !this->arguments(arguments)) return false;
  return in_.need(':', "behind the label of a block");
}

const Block* OperationReader::block(std::span<const Argument> arguments) {
  const auto values = static_cast<const Value**>(
      arena_.allocate(arguments.size() * sizeof(const Value*), alignof(const Value*)));
  for (size_t i = 0; i < arguments.size(); ++i) {
    values[i] = make_argument(arguments[i], static_cast<uint32_t>(i));
    if (!arguments[i].name.empty() && !define(arguments[i].name, &values[i], 1, arguments[i].offset))
      return nullptr;
  }
  std::vector<const Operation*> operations;
  while (in_.peek() != '}' && in_.peek() != '^') {
    if (in_.at_end()) return in_.expects("an operation or '}'"), nullptr;
    if (!operation(operations)) return nullptr;
  }
  Block* made = arena_.make<Block>();
  made->arguments = {values, arguments.size()};
  made->operations = arena_.copy(operations);
  return made;
}

}  // namespace hlosim::mlir
