// ModuleReader: instructions and their operands.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hlo/free_name.h"
#include "hlo/legacy.h"
#include "hlo/literal_reader.h"
#include "hlo/module_reader.h"
#include "hlo/reserved_words.h"

namespace hlosim {
namespace {

/// Cheap test that rules out nearly every name: all reserved words start with one of these.
bool may_be_reserved(std::string_view word) {
  switch (word[0]) {
    case 'p':
      return word == "pred";
    case 'f':
    case 's':
    case 'u':
    case 'b':
    case 'c':
      return word.size() <= 13 && is_reserved_word(word);
    default:
      return is_reserved_word(word);
  }
}

}  // namespace

ShapeRef ModuleReader::with_default_layouts(ShapeRef shape) {
  if (shape->is_array() && shape->layout) return shape;
  if (shape == last_shape_) return last_with_layouts_;
  const auto [at, added] = with_layouts_.try_emplace(shape, nullptr);
  if (added) at->second = module_.shapes().with_default_layouts(shape);
  last_shape_ = shape;
  last_with_layouts_ = at->second;
  return at->second;
}

bool ModuleReader::read_name(std::string_view& name, const char* what) {
  in_.skip();
  const size_t start = in_.offset();
  const bool percent = in_.raw() == '%';
  if (percent) in_.seek(start + 1);
  if (!Cursor::starts_word(in_.raw())) {
    in_.seek(start);
    return in_.fail(fmt::format("expects {}, but sees {}", what, in_.here()));
  }
  name = in_.word();
  if (percent ? parse_element_type(name) != ElementType::kInvalid : false)
    return in_.fail_at(start, fmt::format("'{}' is a primitive type and no name", name));
  if (!percent) {
    if (in_.raw() == '=')
      return in_.fail_at(start, fmt::format("expects {}, but sees the attribute '{}='", what, name),
                         "put a blank before '='");
    if (in_.raw() == ':')
      in_.seek(in_.offset() + 1);
    else if (may_be_reserved(name))
      return in_.fail_at(start, fmt::format("expects {}, but sees the reserved word '{}'", what, name));
  }
  if (name.starts_with("__") && !name.starts_with("__xla_"))
    return in_.fail_at(start, fmt::format("illegal name '{}': names do not begin with '__'", name));
  return true;
}

bool ModuleReader::read_instruction(Scope& scope) {
  Draft draft;
  if (in_.peek() == 'R' && in_.peek_word() == "ROOT") {
    in_.word();
    draft.is_root = true;
    if (scope.has_root) return in_.fail("one computation should have only one ROOT");
  }
  in_.skip();
  const size_t start = in_.offset();
  draft.instruction.offset = static_cast<uint32_t>(start);
  if (!read_name(draft.instruction.name, "instruction name")) return false;
  scope.names.expect(draft.instruction.name);
  if (!in_.need('=', "after the instruction's name")) return false;
  poisoned_use_ = false;
  draft.first_operand = operand_stack_.size();
  draft.first_attr = attr_stack_.size();
  const bool ok = read_right_side(scope, draft, true) && finish_instruction(scope, draft);
  if (!ok && !scope.names.find(draft.instruction.name)) scope.names.add(draft.instruction.name, kPoisoned);
  if (ok && draft.is_root) {
    scope.root = scope.instructions.back();
    scope.has_root = true;
  }
  return ok;
}

bool ModuleReader::read_right_side(Scope& scope, Draft& draft, bool with_attributes) {
  Instruction& instruction = draft.instruction;
  draft.first_operand = operand_stack_.size();
  draft.first_attr = attr_stack_.size();
  in_.skip();
  if (looks_like_shape(in_.text(), in_.offset())) {
    if (!values_.read_shape(instruction.shape)) return false;
    instruction.shape = with_default_layouts(instruction.shape);
  }
  if (!read_opcode(draft)) return false;
  const OpDef& def = table_[instruction.opcode];
  instruction.has_declared_shape = instruction.shape != nullptr;
  if (!instruction.shape && (def.has(kNeedsShape) || draft.sugared))
    return in_.fail_at(instruction.opcode_offset,
                       fmt::format("cannot infer shape for opcode: {}", to_text(instruction.opcode)),
                       "write the result shape before the opcode");
  if (instruction.opcode == Opcode::kParameter) {
    if (!read_parameter(scope, draft)) return false;
  } else if (instruction.opcode == Opcode::kConstant) {
    if (!read_constant(draft)) return false;
  } else if (!read_operands(scope, draft)) {
    return false;
  }
  if (!check_operand_count(draft)) return false;
  if (with_attributes) return read_attributes(scope, draft);
  const uint64_t none[2] = {};
  return check_required(draft, none);
}

bool ModuleReader::read_opcode(Draft& draft) {
  Instruction& instruction = draft.instruction;
  in_.skip();
  const size_t start = in_.offset();
  instruction.opcode_offset = static_cast<uint32_t>(start);
  const std::string_view word = in_.word();
  if (parse_opcode(word, instruction.opcode)) return true;
  if (const LegacyOpcode* legacy = find_legacy_opcode(word)) {
    instruction.opcode = legacy->opcode;
    draft.direction = legacy->direction;
    return true;
  }
  static constexpr struct {
    std::string_view suffix;
    Opcode opcode;
  } kSugar[] = {
      {"-start", Opcode::kAsyncStart}, {"-update", Opcode::kAsyncUpdate}, {"-done", Opcode::kAsyncDone}};
  for (const auto& sugar : kSugar) {
    if (!word.ends_with(sugar.suffix)) continue;
    if (!parse_opcode(word.substr(0, word.size() - sugar.suffix.size()), draft.wrapped)) break;
    if (table_[draft.wrapped].has(kNoAsyncSugar)) break;
    draft.sugared = true;
    instruction.opcode = sugar.opcode;
    return true;
  }
  if (word.empty()) {
    in_.seek(start);
    return in_.fail(fmt::format("expects an opcode, but sees {}", in_.here()));
  }
  if (in_.raw() == '[') {  // a shape, but of what?
    in_.seek(start);
    ShapeRef ignored = nullptr;
    return values_.read_shape(ignored) && in_.fail_at(start, "expects an opcode, but sees a shape");
  }
  return in_.fail_at(start, fmt::format("expects an opcode, but sees '{}'", shown(word)),
                     did_you_mean(word, kOpcodeNames));
}

bool ModuleReader::read_constant(Draft& draft) {
  Instruction& instruction = draft.instruction;
  if (!in_.need('(', "before the constant's value")) return false;
  instruction.literal = read_literal(in_, module_, instruction.shape);
  return instruction.literal && in_.need(')', "after the constant's value");
}

bool ModuleReader::read_parameter(Scope& scope, Draft& draft) {
  constexpr int64_t kMostParameters = 1 << 24;
  if (!in_.need('(', "before the parameter number")) return false;
  in_.skip();
  const size_t start = in_.offset();
  int64_t& number = draft.instruction.parameter_number;
  if (!in_.integer(number, "a parameter number")) return false;
  if (number < 0) return in_.fail_at(start, fmt::format("parameter number must be >= 0, but is {}", number));
  if (number >= kMostParameters)
    return in_.fail_at(start, fmt::format("parameter number {} is too large", number));
  if (!in_.need(')', "after the parameter number")) return false;
  if (static_cast<size_t>(number) < scope.parameters.size() &&
      scope.parameters[static_cast<size_t>(number)].valid())
    return in_.fail_at(start, fmt::format("duplicate parameter number {}", number));
  return true;
}

// ── Operands ──────────────────────────────────────────────────────────────────────────────────

bool ModuleReader::read_operands(Scope& scope, Draft& draft) {
  if (!in_.need('(', "at the beginning of the operands")) return false;
  if (!in_.eat(')')) {
    do {
      if (!read_operand(scope, draft)) return false;
    } while (in_.eat(','));
    if (!in_.need(')', "at the end of the operands")) return false;
  }
  const std::span<const InstructionId> operands(operand_stack_.data() + draft.first_operand,
                                                operand_stack_.size() - draft.first_operand);
  draft.instruction.operands = module_.arena().copy(operands);
  operand_stack_.resize(draft.first_operand);
  return true;
}

bool ModuleReader::read_operand(Scope& scope, Draft& draft) {
  in_.skip();
  const size_t start = in_.offset();
  ShapeRef declared = nullptr;
  if (in_.raw() != '%' && looks_like_shape(in_.text(), start)) {
    if (!values_.read_shape(declared)) return false;
    in_.skip();
  }
  // A name is followed by the end of the operand; anything else is a nested instruction.
  const size_t name_at = in_.offset();
  const bool percent = in_.raw() == '%';
  if (percent) in_.seek(name_at + 1);
  const std::string_view name = in_.word();
  if (!name.empty()) {
    if (in_.raw() == ':') in_.seek(in_.offset() + 1);
    const char next = in_.peek();
    if (next == ',' || next == ')' || next == '#') {
      in_.seek(name_at);
      return read_named_operand(scope, draft, declared, name_at);
    }
  }
  in_.seek(name_at);
  const char next = in_.peek();
  if (declared && name.empty() && (next == ',' || next == ')')) {
    if (scope.invents_parameters) return invent_parameter(scope, {}, declared);
    if (next == ',') return true;  // a shape alone before a comma is passed over
    return in_.fail(fmt::format("expects an operand's name after its shape, but sees {}", in_.here()));
  }
  if (percent || name.empty())
    return in_.fail(fmt::format("expects an operand's name, but sees {}", in_.here()));
  return read_nested_operand(scope, start);
}

// The line, from this one to the end of the computation, on which an instruction `name` is defined; 0: none.
int64_t ModuleReader::line_defining(std::string_view name) const {
  const std::string_view text = in_.text();
  const size_t line_begin = text.rfind('\n', in_.offset()) + 1;  // npos + 1 is 0
  const std::string_view rest = text.substr(line_begin, text.find("\n}", line_begin) - line_begin);
  for (size_t at = rest.find(name); at != std::string_view::npos; at = rest.find(name, at + 1)) {
    const size_t behind = rest.find_first_not_of(' ', at + name.size());
    const bool starts = at == 0 || rest[at - 1] == ' ' || rest[at - 1] == '%' || rest[at - 1] == '\n';
    if (starts && behind != std::string_view::npos && rest.substr(behind, 2) == "= ")
      return source_->locate(static_cast<uint32_t>(line_begin + at)).line;
  }
  return 0;
}

bool ModuleReader::read_named_operand(Scope& scope, Draft&, ShapeRef declared, size_t start) {
  std::string_view name;
  if (in_.raw() == '%') {
    in_.seek(in_.offset() + 1);
    name = in_.word();
  } else if (!read_name(name, "an operand's name")) {
    return false;
  }
  const int32_t* known = scope.names.find(name);
  if (!known) {
    if (scope.invents_parameters && declared) return invent_parameter(scope, name, declared);
    if (scope.invents_parameters)
      return in_.fail_at(start, fmt::format("operand {} had no shape in the text", name),
                         "a single instruction's operands carry their shapes");
    std::vector<std::string_view> names;
    for (const InstructionId id : scope.instructions) {
      names.push_back(module_.instructions[id].name);
      if (names.size() == 4096) break;  // a suggestion is not worth more
    }
    const int64_t line = line_defining(name);
    return in_.fail_at(start, fmt::format("instruction does not exist: {}", shown(name)),
                       line > 0
                           ? fmt::format("it is defined on line {}: operands come before their users", line)
                           : did_you_mean(name, names));
  }
  if (*known == kPoisoned) {
    poisoned_use_ = true;
    return false;
  }
  InstructionId id{*known};
  while (in_.peek() == '#')
    if (!select_element(scope, id, name, start)) return false;
  const ShapeRef shape = module_.instructions[id].shape;
  if (declared && !compatible(declared, shape))
    return in_.fail_at(start,
                       fmt::format("the declared operand shape {} is not compatible with the shape of {}, {}",
                                   to_text(declared), name, to_text(shape)));
  operand_stack_.push_back(id);
  return true;
}

/// `name#i`: the i-th element of a tuple, as a get-tuple-element made once per computation.
bool ModuleReader::select_element(Scope& scope, InstructionId& id, std::string_view name, size_t start) {
  in_.eat('#');
  int64_t index = 0;
  if (!in_.integer(index, "a tuple index")) return false;
  const ShapeRef shape = module_.instructions[id].shape;
  if (!shape->is_tuple())
    return in_.fail_at(start,
                       fmt::format("operand of '#' must be a tuple, but {} is {}", name, to_text(shape)));
  if (index < 0 || index >= static_cast<int64_t>(shape->elements.size()))
    return in_.fail_at(start, fmt::format("tuple index {} is out of bounds: {} has {} elements", index, name,
                                          shape->elements.size()));
  const std::string key = fmt::format("{}#{}", module_.instructions[id].name, index);
  if (const int32_t* known = scope.names.find(key)) {
    id = InstructionId{*known};
    return true;
  }
  Instruction element;
  element.opcode = Opcode::kGetTupleElement;
  element.offset = element.opcode_offset = static_cast<uint32_t>(start);
  element.name = made_up_name(scope, fmt::format("{}_{}", module_.instructions[id].name, index));
  element.shape = shape->elements[static_cast<size_t>(index)];
  element.operands = module_.arena().copy(std::span<const InstructionId>(&id, 1));
  const Attr attr = Attr::make_int(AttrKey::kIndex, index);
  element.attrs = module_.arena().copy(std::span<const Attr>(&attr, 1));
  id = add_instruction(scope, element, true);
  scope.names.add(module_.arena().copy(std::string_view(key)), id.index);
  return true;
}

bool ModuleReader::invent_parameter(Scope& scope, std::string_view name, ShapeRef shape) {
  Instruction parameter;
  parameter.opcode = Opcode::kParameter;
  parameter.offset = parameter.opcode_offset = static_cast<uint32_t>(in_.offset());
  parameter.parameter_number = static_cast<int64_t>(scope.parameters.size());
  parameter.name =
      name.empty() ? made_up_name(scope, fmt::format("param_{}", parameter.parameter_number)) : name;
  parameter.shape = with_default_layouts(shape);
  operand_stack_.push_back(add_instruction(scope, parameter, name.empty()));
  return true;
}

bool ModuleReader::read_nested_operand(Scope& scope, size_t start) {
  if (++nesting_ > kMaxDepth)
    return in_.fail("instructions nest too deeply", fmt::format("at most {} deep", kMaxDepth));
  in_.seek(start);
  Draft nested;
  nested.instruction.offset = static_cast<uint32_t>(start);
  const size_t operands = operand_stack_.size();
  if (!read_right_side(scope, nested, false)) return false;
  nested.made_up = true;
  nested.instruction.name = made_up_name(scope, fmt::format("{}.anon", to_text(nested.instruction.opcode)));
  if (!finish_instruction(scope, nested)) return false;
  operand_stack_.resize(operands);
  operand_stack_.push_back(scope.instructions.back());
  --nesting_;
  return true;
}

bool ModuleReader::has_operand_count(const Instruction& instruction) const {
  const Arity arity = table_[instruction.opcode].arity;
  const int64_t count = static_cast<int64_t>(instruction.operands.size());
  return count >= arity.min && (arity.max < 0 || count <= arity.max);
}

bool ModuleReader::check_operand_count(const Draft& draft) {
  if (has_operand_count(draft.instruction)) return true;
  const Arity arity = table_[draft.instruction.opcode].arity;
  const int64_t count = static_cast<int64_t>(draft.instruction.operands.size());
  return in_.fail_at(draft.instruction.opcode_offset,
                     fmt::format("{} expects {}{} operands, but has {}", to_text(draft.instruction.opcode),
                                 arity.max == arity.min ? ""
                                 : arity.max < 0        ? "at least "
                                                        : fmt::format("{} to ", arity.min),
                                 arity.max < 0 ? arity.min : arity.max, count));
}

// ── Finishing ─────────────────────────────────────────────────────────────────────────────────

std::string_view ModuleReader::made_up_name(Scope& scope, std::string_view base) {
  const std::string name =
      free_name(base, scope.next_numbers[std::string(base)], [&](const std::string& candidate) {
        return scope.names.find(candidate) || scope.made_up_names.find(candidate);
      });
  return module_.arena().copy(std::string_view(name));
}

/// Where the text went on to give a made-up name to an instruction of its own.
void ModuleReader::rename_made_up_instructions(Scope& scope) {
  for (const InstructionId id : scope.made_up) {
    std::string_view& name = module_.instructions[id].name;
    if (!scope.names.find(name)) continue;
    name = made_up_name(scope, name);
    scope.made_up_names.add(name, id.index);
  }
}

InstructionId ModuleReader::add_instruction(Scope& scope, const Instruction& instruction, bool made_up) {
  const InstructionId id = module_.instructions.add(instruction);
  module_.instructions[id].parent = scope.id;
  scope.instructions.push_back(id);
  (made_up ? scope.made_up_names : scope.names).add(instruction.name, id.index);
  if (made_up) scope.made_up.push_back(id);
  if (instruction.opcode == Opcode::kParameter) {
    const size_t number = static_cast<size_t>(instruction.parameter_number);
    if (number >= scope.parameters.size()) scope.parameters.resize(number + 1);
    scope.parameters[number] = id;
  }
  return id;
}

/// The inferred shape, unless the declared one (with its layouts) agrees.
bool ModuleReader::derive_shape(Draft& draft) {
  OpContext op(module_, draft.instruction, table_, &diagnostics_);
  const OpDef& def = table_[draft.instruction.opcode];
  HLOSIM_CHECK(def.infer_shape, "{} lacks shape inference", def.name);
  const ShapeRef inferred = def.infer_shape(op);
  if (!inferred) return false;  // reported by the opcode
  ShapeRef& shape = draft.instruction.shape;
  if (shape && compatible(shape, inferred)) return true;
  if (shape) {
    Diagnostic warning;
    warning.severity = Severity::kWarning;
    warning.message = fmt::format("{}: the declared shape {} is passed over for {}, which the operands give",
                                  def.name, to_text_without_layout(shape), to_text_without_layout(inferred));
    warning.source = source_;
    warning.offset = draft.instruction.opcode_offset;
    diagnostics_.add(std::move(warning));
  }
  shape = with_default_layouts(inferred);
  return true;
}

bool ModuleReader::finish_instruction(Scope& scope, Draft& draft) {
  Instruction& instruction = draft.instruction;
  if (draft.sugared && instruction.opcode == Opcode::kAsyncStart && !wrap_async_start(draft)) return false;
  if (!check_async(draft)) return false;
  if (draft.sugared && instruction.opcode != Opcode::kAsyncStart) {
    std::vector<Attr> kept;
    for (const Attr& attr : instruction.attrs)
      if (is_common_attr(attr.key) || is_async_sugar_attr(attr.key)) kept.push_back(attr);
    if (kept.size() != instruction.attrs.size()) instruction.attrs = module_.arena().copy(kept);
    bind_late(draft);
  }
  if ((!instruction.shape || table_[instruction.opcode].has(kDerivedShape)) && !derive_shape(draft))
    return false;
  if (const auto check = table_[instruction.opcode].check_syntax) {
    OpContext op(module_, instruction, table_, &diagnostics_);
    check(op);
    if (op.failed()) return false;
  }
  if (scope.names.find(instruction.name))
    return in_.fail_at(instruction.offset, fmt::format("instruction {} already exists", instruction.name));
  if (const Attr* replication = instruction.find(AttrKey::kParameterReplication);
      replication && static_cast<int64_t>(replication->ints().size()) != leaf_count(instruction.shape))
    return in_.fail_at(replication->offset,
                       fmt::format("parameter has {} leaf buffers, but parameter_replication has {} elements",
                                   leaf_count(instruction.shape), replication->ints().size()));
  add_instruction(scope, instruction, draft.made_up);
  return true;
}

// ── Names ─────────────────────────────────────────────────────────────────────────────────────

bool ModuleReader::read_computation(ComputationId& id) {
  if (in_.peek() == '{') {
    if (depth_ >= static_cast<size_t>(kMaxDepth)) return in_.fail("inline computations nest too deeply");
    Computation computation;
    computation.offset = static_cast<uint32_t>(in_.offset());
    id = make_up_computation("inline_computation", std::move(computation));
    Scope& scope = push_scope();
    scope.id = id;
    const bool outer_poison = poisoned_use_;
    const bool ok = read_body(scope);
    pop_scope();
    poisoned_use_ = outer_poison || (!ok && poisoned_use_);
    return ok;
  }
  in_.skip();
  const size_t start = in_.offset();
  std::string_view name;
  if (!read_name(name, "a computation's name")) return false;
  const int32_t* known = computation_names_.find(name);
  if (!known) {
    std::vector<std::string_view> names;
    for (const Computation& computation : module_.computations) {
      if (computation.name == name)
        return in_.fail_at(start, fmt::format("computation does not exist: {}", shown(name)),
                           "it is this one: computations come before their callers");
      if (!computation.name.empty() && names.size() < 4096) names.push_back(computation.name);
    }
    return in_.fail_at(start, fmt::format("computation does not exist: {}", shown(name)),
                       did_you_mean(name, names));
  }
  if (*known == kPoisoned) {
    poisoned_use_ = true;
    return false;
  }
  id = ComputationId{*known};
  return true;
}

bool ModuleReader::read_instruction(InstructionId& id) {
  in_.skip();
  const size_t start = in_.offset();
  std::string_view name;
  if (!read_name(name, "an instruction's name")) return false;
  const int32_t* known = scopes_[depth_ - 1].names.find(name);
  if (!known)
    return in_.fail_at(start, fmt::format("'{}' is not defined", shown(name)),
                       "it must be defined before its use");
  if (*known == kPoisoned) {
    poisoned_use_ = true;
    return false;
  }
  id = InstructionId{*known};
  return true;
}

}  // namespace hlosim
