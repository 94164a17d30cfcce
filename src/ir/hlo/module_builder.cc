#include "hlo/module_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "hlo/attr_reader.h"
#include "hlo/module_reader.h"
#include "hlo/reserved_words.h"
#include "hlo/stored_values.h"

namespace hlosim {
namespace {

/// What names consist of; anything else becomes `_`.
std::string as_name(std::string_view text) {
  std::string name(text.empty() ? std::string_view("_") : text);
  for (char& c : name)
    if (!(Cursor::is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' ||
          c == '.'))
      c = '_';
  if (!Cursor::starts_word(name[0])) name.insert(0, 1, '_');
  while (name.starts_with("__") && !name.starts_with("__xla_")) name.erase(0, 1);
  return name;
}

/// Why the value of an attribute that is kept as written can't be read again; empty: it can.
std::string problem_of(const Attr& attr) {
  using enum AttrSyntax;
  const bool is_kept = attr.syntax == kString || attr.syntax == kConfig || attr.syntax == kSharding ||
                       attr.syntax == kFrontend || attr.syntax == kAccuracy || attr.syntax == kBraces;
  if (!is_kept) return {};
  const std::string_view text = attr.text();
  if (text.find('\0') != std::string_view::npos) return "it contains a NUL byte";
  Cursor in(text, 0, text.size());
  if (!scan_kept(in, attr.key, attr.syntax)) return in.error_message();
  return in.at_end() ? std::string() : fmt::format("expects its end, but sees {}", in.here());
}

/// The word that isn't one of those that the attribute takes; empty: there is none.
std::string_view unknown_word(const Attr& attr) {
  const auto known = attr_words(attr.key);
  const std::string_view one[] = {attr.syntax == AttrSyntax::kWord ? attr.text() : std::string_view()};
  const bool is_list = attr.syntax == AttrSyntax::kWords;
  if (known.empty() || (!is_list && attr.syntax != AttrSyntax::kWord)) return {};
  for (const std::string_view word : is_list ? attr.words() : std::span<const std::string_view>(one))
    if (std::find(known.begin(), known.end(), word) == known.end()) return word.empty() ? "nothing" : word;
  return {};
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (byte < 0x20 || byte == 0x7f)
      out += fmt::format("\\{:03o}", byte);
    else
      out += c;
  }
  return out;
}

ModuleBuilder::ModuleBuilder(SourcePtr source, const OpTable& table, DiagnosticList& diagnostics)
    : table_(table), diagnostics_(diagnostics), accepted_(std::make_unique<const AttrIndex>(table)) {
  module_.source = std::move(source);
  nothing_ = module_.shapes().tuple({});
}
ModuleBuilder::~ModuleBuilder() = default;

void ModuleBuilder::fail(uint32_t offset, std::string message, std::string hint) {
  if (failed_) return;
  failed_ = true;
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  diagnostic.source = module_.source;
  diagnostic.offset = offset;
  diagnostics_.add(std::move(diagnostic));
}

/// `base.1`, `base.2`, …; a base that itself looks like one of these may come again, and is asked again.
std::string_view ModuleBuilder::unique(std::string_view base) {
  for (;;) {
    const auto known = names_.find(base);
    int64_t& count = known != names_.end() ? known->second : names_[module_.arena().copy(base)];
    const std::string_view name = module_.arena().copy(std::string_view(fmt::format("{}.{}", base, ++count)));
    if (names_.try_emplace(name, 0).second) return name;
  }
}

InstructionId ModuleBuilder::append(Body& body, Instruction instruction, std::string_view name, Place place) {
  instruction.offset = instruction.opcode_offset = place.offset;
  instruction.name = unique(as_name(name));
  const InstructionId id = module_.instructions.add(instruction);
  body.instructions.push_back(id);
  return id;
}

InstructionId ModuleBuilder::parameter(Body& body, ShapeRef shape, std::string_view name, Place place,
                                       std::span<const Attr> attrs) {
  if (failed_) return {};
  Instruction instruction;
  instruction.opcode = Opcode::kParameter;
  instruction.shape = laid_out(shape);
  instruction.parameter_number = static_cast<int64_t>(body.parameters.size());
  std::vector<Attr> all(attrs.begin(), attrs.end());
  if (!place.metadata.empty())
    all.push_back(Attr::make_text(AttrKey::kMetadata, AttrSyntax::kMetadata, place.metadata));
  if (!accept(instruction, all)) return {};
  const InstructionId id = append(body, instruction, name, place);
  body.parameters.push_back(id);
  return id;
}

InstructionId ModuleBuilder::constant(Body& body, const Literal* literal, Place place,
                                      std::span<const Attr> attrs) {
  if (failed_) return {};
  Instruction instruction;
  instruction.opcode = Opcode::kConstant;
  instruction.shape = laid_out(literal->shape);
  instruction.literal = literal;
  std::vector<Attr> all(attrs.begin(), attrs.end());
  if (!place.metadata.empty())
    all.push_back(Attr::make_text(AttrKey::kMetadata, AttrSyntax::kMetadata, place.metadata));
  if (!accept(instruction, all)) return {};
  return append(body, instruction, "constant", place);
}

bool ModuleBuilder::accept_attributes(const Instruction& instruction, std::vector<Attr>& attrs) {
  const OpDef& def = table_[instruction.opcode];
  for (Attr& attr : attrs) {
    const AttrSpec* spec = accepted_->find(instruction.opcode, attr.key);
    HLOSIM_CHECK(spec, "{} takes no {}", def.name, to_text(attr.key));
    attr.syntax = spec->syntax;
    attr.offset = instruction.offset;
    if (const std::string_view word = unknown_word(attr); !word.empty()) {
      fail(instruction.offset, fmt::format("{}: {} can't be {}", def.name, to_text(attr.key), word),
           fmt::format("one of {}", fmt::join(attr_words(attr.key), ", ")));
      return false;
    }
    if (const std::string problem = problem_of(attr); !problem.empty()) {
      fail(instruction.offset, fmt::format("{}: {}: {}", def.name, to_text(attr.key), problem));
      return false;
    }
  }
  for (const AttrSpec& spec : def.attrs)
    HLOSIM_CHECK(!spec.required || std::any_of(attrs.begin(), attrs.end(),
                                               [&](const Attr& attr) { return attr.key == spec.key; }),
                 "{} of {} is missing", to_text(spec.key), def.name);
  return true;
}

/// What a reader of text demands of an instruction before anybody looks at its shape.
bool ModuleBuilder::accept(Instruction& instruction, std::vector<Attr>& attrs) {
  const OpDef& def = table_[instruction.opcode];
  const auto count = static_cast<int64_t>(instruction.operands.size());
  if (count < def.arity.min || (def.arity.max >= 0 && count > def.arity.max)) {
    fail(instruction.offset, fmt::format("{} expects {}{} operands, but has {}", def.name,
                                         def.arity.max < 0 ? "at least " : "", def.arity.min, count));
    return false;
  }
  if (!accept_attributes(instruction, attrs)) return false;
  instruction.attrs = module_.arena().copy(attrs);
  OpContext op(module_, instruction, table_, &diagnostics_);
  if (!instruction.shape) {
    if (!def.infer_shape || def.has(kNeedsShape)) {
      fail(instruction.offset, fmt::format("the shape of {} can't be inferred from its operands", def.name));
      return false;
    }
    instruction.shape = def.infer_shape(op);
    if (instruction.shape) instruction.shape = laid_out(instruction.shape);
  }
  if (instruction.shape && def.check_syntax) def.check_syntax(op);
  failed_ = !instruction.shape || op.failed();
  return !failed_;
}

InstructionId ModuleBuilder::add(Body& body, Opcode opcode, std::span<const InstructionId> operands,
                                 std::span<const Attr> attrs, ShapeRef shape, Place place) {
  if (failed_) return {};
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.offset = instruction.opcode_offset = place.offset;
  instruction.operands = module_.arena().copy(operands);
  if (shape) instruction.shape = laid_out(shape);
  std::vector<Attr> all(attrs.begin(), attrs.end());
  if (!place.metadata.empty())
    all.push_back(Attr::make_text(AttrKey::kMetadata, AttrSyntax::kMetadata, place.metadata));
  if (!accept(instruction, all)) return {};
  return append(body, instruction, to_text(opcode), place);
}

void ModuleBuilder::set_attr(InstructionId id, const Attr& attr) {
  if (failed_ || !id.valid()) return;
  std::vector<Attr> attrs;
  for (const Attr& other : module_[id].attrs)
    if (other.key != attr.key) attrs.push_back(other);
  attrs.push_back(attr);
  Instruction& instruction = module_.instructions[id];
  if (accept_attributes(instruction, attrs)) instruction.attrs = module_.arena().copy(attrs);
}

ComputationId ModuleBuilder::close(const Body& body, std::string_view name, InstructionId root,
                                   uint32_t offset) {
  if (failed_) return {};
  Computation computation;
  computation.name = unique(as_name(name));
  computation.offset = offset;
  computation.instructions = body.instructions;
  computation.parameters = body.parameters;
  computation.root = root;
  const ComputationId id = module_.computations.add(std::move(computation));
  for (const InstructionId instruction : body.instructions) module_.instructions[instruction].parent = id;
  return id;
}

Module ModuleBuilder::finish(std::string_view name, ComputationId entry, std::span<const Attr> attrs) {
  HLOSIM_CHECK(!failed_ && entry.valid(), "{} is not complete", name);
  std::string kept = as_name(name);
  if (is_reserved_word(kept)) kept += '_';
  module_.name = module_.arena().copy(std::string_view(kept));
  module_.entry = entry;
  module_.attrs = module_.arena().copy(attrs);
  return std::move(module_);
}

// ── Attributes ────────────────────────────────────────────────────────────────────────────────

Attr ModuleBuilder::ints(AttrKey key, std::span<const int64_t> values) {
  return ints_attr(module_, key, values);
}

Attr ModuleBuilder::lists(AttrKey key, const std::vector<std::vector<int64_t>>& lists) {
  return int_lists_attr(module_, key, AttrSyntax::kIntLists, lists);
}

Attr ModuleBuilder::text(AttrKey key, std::string_view text) {
  return Attr::make_text(key, AttrSyntax::kWord, module_.arena().copy(text));
}

Attr ModuleBuilder::quoted(AttrKey key, std::string_view text) {
  return this->text(key, fmt::format("\"{}\"", escaped(text)));
}

Attr ModuleBuilder::computations(AttrKey key, std::span<const ComputationId> ids) {
  return Attr::make_list<ComputationId>(key, AttrSyntax::kComputations, module_.arena().copy(ids));
}

Attr ModuleBuilder::words(AttrKey key, std::span<const std::string> words) {
  std::vector<std::string_view> kept;
  for (const std::string& word : words) kept.push_back(module_.arena().copy(std::string_view(word)));
  return Attr::make_list<std::string_view>(key, AttrSyntax::kWords, module_.arena().copy(kept));
}

}  // namespace hlosim
