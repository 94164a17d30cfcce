#include "hlo/module_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "hlo/free_name.h"

namespace hlosim {
namespace {

constexpr AttrSpec kCommonAttrs[] = {
    {AttrKey::kBackendConfig, AttrSyntax::kConfig},
    {AttrKey::kControlPredecessors, AttrSyntax::kInstructions},
    {AttrKey::kFrontendAttributes, AttrSyntax::kFrontend},
    {AttrKey::kMetadata, AttrSyntax::kMetadata},
    {AttrKey::kOrigin, AttrSyntax::kBraces},
    {AttrKey::kParameterReplication, AttrSyntax::kBools},
    {AttrKey::kSharding, AttrSyntax::kSharding},
    {AttrKey::kStatistics, AttrSyntax::kBraces},
};

constexpr AttrSpec kHeaderAttrs[] = {
    {AttrKey::kIsScheduled, AttrSyntax::kBool},
    {AttrKey::kInputOutputAlias, AttrSyntax::kAliases},
    {AttrKey::kBufferDonor, AttrSyntax::kDonors},
    {AttrKey::kAliasPassthroughParams, AttrSyntax::kBool},
    {AttrKey::kEntryComputationLayout, AttrSyntax::kEntryLayout},
    {AttrKey::kAllowSpmdShardingPropagationToParameters, AttrSyntax::kBoolOrBools},
    {AttrKey::kAllowSpmdShardingPropagationToOutput, AttrSyntax::kBoolOrBools},
    {AttrKey::kReplicaCount, AttrSyntax::kInt},
    {AttrKey::kNumPartitions, AttrSyntax::kInt},
    {AttrKey::kFrontendAttributes, AttrSyntax::kFrontend},
    {AttrKey::kOriginRecoveryTable, AttrSyntax::kBraces},
    {AttrKey::kDebugAttributes, AttrSyntax::kBraces},
};

}  // namespace

std::span<const AttrSpec> common_attrs() { return kCommonAttrs; }

AttrIndex::AttrIndex(const OpTable& table) {
  for (int opcode = 0; opcode < kOpcodeCount; ++opcode) {
    auto& row = index_[static_cast<size_t>(opcode)];
    for (const AttrSpec& spec : kCommonAttrs) row[static_cast<size_t>(spec.key)] = &spec;
    for (const AttrSpec& spec : table[static_cast<Opcode>(opcode)].attrs)
      row[static_cast<size_t>(spec.key)] = &spec;
  }
}

ModuleReader::ModuleReader(const SourcePtr& source, size_t begin, size_t end, const OpTable& table,
                           const AttrIndex& attrs, DiagnosticList& diagnostics, const Limits& limits)
    : source_(source),
      in_(source->text(), begin, end),
      table_(table),
      attr_index_(attrs),
      diagnostics_(diagnostics),
      shapes_(module_.shapes(), source->text().substr(0, end), limits.rank),
      values_(in_, module_, shapes_, *this) {
  module_.source = source;
}

void ModuleReader::report() {
  if (in_.failed()) {
    Diagnostic diagnostic;
    diagnostic.message = in_.error_message();
    diagnostic.hint = in_.error_hint();
    diagnostic.source = source_;
    diagnostic.offset = static_cast<uint32_t>(in_.error_offset());
    diagnostics_.add(std::move(diagnostic));
    in_.clear_error();
  }
}

bool ModuleReader::read() {
  const size_t errors_before = diagnostics_.error_count();
  const bool ok = in_.peek_word() == "HloModule" ? read_header() && read_module_body()
                  : starts_single_instruction()  ? read_single_instruction()
                                                 : read_module_body();
  report();
  return ok && diagnostics_.error_count() == errors_before;
}

// ── Header ────────────────────────────────────────────────────────────────────────────────────

bool ModuleReader::read_header() {
  in_.word();  // HloModule
  if (!read_name(module_.name, "module name")) return false;
  return read_header_attributes() && read_stack_frames();
}

bool ModuleReader::read_header_attributes() {
  std::vector<Attr> attrs;
  while (in_.eat(',')) {
    in_.skip();
    const size_t start = in_.offset();
    const std::string_view word = in_.word();
    if (word.empty() || in_.raw() != '=')
      return in_.fail(fmt::format("expects an attribute of the module, but sees {}", in_.here()));
    in_.seek(in_.offset() + 1);
    AttrKey key{};
    const auto* spec = parse_attr_key(word, key)
                           ? std::find_if(std::begin(kHeaderAttrs), std::end(kHeaderAttrs),
                                          [&](const AttrSpec& s) { return s.key == key; })
                           : std::end(kHeaderAttrs);
    if (spec == std::end(kHeaderAttrs)) {
      std::vector<std::string_view> known;
      for (const AttrSpec& s : kHeaderAttrs) known.push_back(to_text(s.key));
      return in_.fail_at(start, fmt::format("unexpected attribute \"{}\" of a module", shown(word)),
                         did_you_mean(word, known));
    }
    if (std::any_of(attrs.begin(), attrs.end(), [&](const Attr& a) { return a.key == key; }))
      return in_.fail_at(start, fmt::format("attribute {} already exists", word));
    if (!values_.read(key, spec->syntax, attrs.emplace_back())) return false;
  }
  module_.attrs = module_.arena().copy(attrs);
  return true;
}

bool ModuleReader::read_stack_frames() {
  if (in_.peek_word() != "FileNames") return true;
  in_.skip();
  const size_t start = in_.offset();
  std::string_view ignored;
  static constexpr std::string_view kTables[] = {"FileNames", "FunctionNames", "FileLocations",
                                                 "StackFrames"};
  for (const std::string_view table : kTables) {
    if (in_.word() != table)
      return in_.fail(fmt::format("expects the table {}, but sees {}", table, in_.here()));
    module_.stack_frames = in_.since(start);
    const bool strings = table == "FileNames" || table == "FunctionNames";
    while (Cursor::is_digit(in_.peek())) {
      int64_t number = 0;
      if (!in_.integer(number)) return false;
      if (strings ? !in_.string(ignored) : !in_.braces(ignored)) return false;
      module_.stack_frames = in_.since(start);  // without the blanks that follow
    }
  }
  return true;
}

// ── Computations ──────────────────────────────────────────────────────────────────────────────

/// Text that is neither a header nor a computation is one lone instruction.
bool ModuleReader::starts_single_instruction() {
  in_.skip();
  const size_t start = in_.offset();
  bool computation = in_.peek_word() == "ENTRY" && in_.word().size() == 5 && in_.raw() != '=';
  if (!computation) {
    in_.seek(start);
    in_.eat('%');
    computation = !in_.word().empty() && in_.peek() == '{';
  }
  in_.seek(start);
  return !computation;
}

ModuleReader::Scope& ModuleReader::push_scope() {
  if (depth_ == scopes_.size()) scopes_.emplace_back();
  Scope& scope = scopes_[depth_++];
  scope.names.clear();
  scope.made_up_names.clear();
  if (!scope.next_numbers.empty()) scope.next_numbers = {};
  scope.made_up.clear();
  scope.instructions.clear();
  scope.parameters.clear();
  scope.root = {};
  scope.has_root = scope.invents_parameters = scope.broken = false;
  return scope;
}

ComputationId ModuleReader::begin_computation(std::string_view name, size_t offset) {
  Computation computation;
  computation.name = name;
  computation.offset = static_cast<uint32_t>(offset);
  return module_.computations.add(std::move(computation));
}

bool ModuleReader::read_module_body() {
  ComputationId entry, last;
  do {
    bool is_entry = false;
    ComputationId id;
    in_.skip();
    const size_t start = in_.offset();
    if (!read_computation(is_entry, id)) return false;
    last = id;
    if (is_entry && entry.valid()) return in_.fail_at(start, "expects only one ENTRY");
    if (is_entry) entry = id;
  } while (!in_.at_end() && in_.peek_word() != "HloModule");
  return finish_module(entry, last);
}

bool ModuleReader::finish_module(ComputationId declared_entry, ComputationId last) {
  rename_made_up_computations();
  module_.entry = declared_entry.valid() ? declared_entry : last;
  if (module_.name.empty())
    module_.name =
        module_.arena().copy(std::string_view("module_" + std::string(module_.entry_computation().name)));
  return true;
}

bool ModuleReader::read_signature(std::vector<ShapeRef>& parameters, ShapeRef& result) {
  in_.eat('(');
  while (in_.peek() != ')') {
    in_.eat('%');
    if (in_.word().empty()) return in_.fail(fmt::format("expects a parameter name, but sees {}", in_.here()));
    if (in_.raw() == ':') in_.eat(':');  // readers of HLO do without it
    if (!values_.read_shape(parameters.emplace_back())) return false;
    if (in_.peek() != ')' && !in_.need(',', "between parameters")) return false;
  }
  in_.eat(')');
  if (!in_.eat("->"))
    return in_.fail(fmt::format("expects '->' before the result shape, but sees {}", in_.here()));
  return values_.read_shape(result);
}

bool ModuleReader::read_computation(bool& is_entry, ComputationId& id) {
  if (in_.peek_word() == "ENTRY") {
    in_.word();
    is_entry = true;
  }
  in_.skip();
  const size_t start = in_.offset();
  std::string_view name;
  if (!read_name(name, "computation name")) return false;
  std::vector<ShapeRef> parameters;
  ShapeRef result = nullptr;
  if (in_.peek() == '(' && !read_signature(parameters, result)) return false;
  id = begin_computation(name, start);
  Scope& scope = push_scope();
  scope.id = id;
  const bool ok = read_body(scope);
  pop_scope();
  if (!ok) return false;
  Computation& computation = module_.computations[id];
  if (result && !scope.broken && !compatible(result, module_.root(id).shape)) {
    in_.fail_at(
        start,
        fmt::format("shape of computation {}, {}, is not compatible with that of its root instruction {}, {}",
                    name, to_text(result), module_.root(id).name, to_text(module_.root(id).shape)));
    report();
  }
  if (in_.eat(',')) {
    in_.skip();
    const size_t at = in_.offset();
    std::string_view thread;
    if (in_.word() != "execution_thread" || in_.raw() != '=')
      return in_.fail_at(at, "expects execution_thread= after a computation");
    in_.eat('=');
    if (!in_.string(thread)) return false;
    computation.execution_thread = thread.substr(1, thread.size() - 2);
  }
  if (!computation_names_.add(name, scope.broken ? kPoisoned : id.index)) {
    in_.fail_at(start, fmt::format("computation {} already exists", name));
    report();
  }
  return true;
}

bool ModuleReader::read_body(Scope& scope) {
  if (!in_.need('{', "at the beginning of the instructions")) return false;
  do {
    const size_t operands = operand_stack_.size(), attrs = attr_stack_.size(), depth = depth_;
    const int nesting = nesting_;
    in_.skip();
    const size_t start = in_.offset();
    if (!read_instruction(scope)) {
      scope.broken = true;
      operand_stack_.resize(operands);
      attr_stack_.resize(attrs);
      depth_ = depth;
      nesting_ = nesting;
      // Inside an inline computation the outer instruction is broken too; it recovers.
      if (depth_ > 1) return false;
      report();
      if (diagnostics_.full()) return false;
      recover(start);
      if (in_.at_end()) return false;  // what is missing there is missing because of this error
    }
  } while (in_.peek() != '}' && !in_.at_end());
  const size_t end = in_.offset();
  if (!in_.need('}', "at the end of the instructions")) return false;
  return finish_computation(scope, end);
}

bool ModuleReader::finish_computation(Scope& scope, size_t end_offset) {
  rename_made_up_instructions(scope);
  Computation& computation = module_.computations[scope.id];
  computation.instructions.assign(scope.instructions.begin(), scope.instructions.end());
  computation.parameters.assign(scope.parameters.begin(), scope.parameters.end());
  if (scope.instructions.empty())
    return scope.broken || in_.fail_at(end_offset, "a computation needs an instruction");
  computation.root = scope.has_root ? scope.root : scope.instructions.back();
  for (size_t i = 0; !scope.broken && i < scope.parameters.size(); ++i)
    if (!scope.parameters[i].valid())
      return in_.fail_at(
          computation.offset,
          fmt::format("parameter {} of computation {} is missing: parameter numbers must be dense from 0", i,
                      computation.name.empty() ? "(inline)" : computation.name));
  return true;
}

bool ModuleReader::at_instruction_start() {
  const size_t start = in_.offset();
  if (in_.peek_word() == "ROOT") in_.word();
  in_.eat('%');
  const bool named = !in_.word().empty() && in_.raw() != '=' && in_.peek() == '=';
  in_.seek(start);
  return named;
}

/// Moves to the next line that can be read on at: an instruction, or the end of the body. `start`: where the
/// broken instruction began.
void ModuleReader::recover(size_t start) {
  const std::string_view text = in_.text();
  // The fault may have been seen at the beginning of such a line only.
  in_.skip();
  const size_t line_begin = text.rfind('\n', in_.offset()) + 1;
  const bool begins_line =
      text.substr(line_begin, in_.offset() - line_begin).find_first_not_of(" \t\r") == std::string_view::npos;
  if (begins_line && (in_.raw() == '}' || (in_.offset() > start && at_instruction_start()))) {
    in_.clear_error();
    return;
  }
  in_.clear_error();
  for (;;) {
    const size_t line_end = text.find('\n', in_.offset());
    if (line_end == std::string_view::npos) {
      in_.seek(text.size());
      return;
    }
    in_.seek(line_end + 1);
    while (in_.raw() == ' ' || in_.raw() == '\t' || in_.raw() == '\r') in_.seek(in_.offset() + 1);
    if (in_.raw() == '}' || at_instruction_start()) {
      in_.clear_error();
      return;
    }
    in_.clear_error();
  }
}

/// `base` outlives the reader.
ComputationId ModuleReader::make_up_computation(std::string_view base, Computation computation) {
  const std::string name =
      free_name(base, next_computation_numbers_[base],
                [&](const std::string& candidate) { return computation_names_.find(candidate); });
  computation.name = module_.arena().copy(std::string_view(name));
  const ComputationId id = module_.computations.add(std::move(computation));
  made_up_computations_.push_back({id, base});
  return id;
}

/// Where the text goes on to give a made-up name to a computation of its own, all that are made up get
/// others.
void ModuleReader::rename_made_up_computations() {
  const auto is_given = [&](const std::string_view name) { return computation_names_.find(name) != nullptr; };
  if (std::none_of(made_up_computations_.begin(), made_up_computations_.end(),
                   [&](const MadeUp& one) { return is_given(module_[one.id].name); }))
    return;
  next_computation_numbers_.clear();
  for (const auto& [id, base] : made_up_computations_) {
    const std::string name = free_name(base, next_computation_numbers_[base], is_given);
    module_.computations[id].name = module_.arena().copy(std::string_view(name));
  }
}

bool ModuleReader::read_single_instruction() {
  Scope& scope = push_scope();
  scope.invents_parameters = true;
  scope.id = begin_computation("entry", in_.offset());
  Draft draft;
  in_.skip();
  draft.instruction.offset = static_cast<uint32_t>(in_.offset());
  if (!looks_like_shape(in_.text(), in_.offset())) {
    if (!read_name(draft.instruction.name, "a module, a computation or an instruction")) return false;
    if (in_.peek() == '(')
      return in_.fail("a computation without a module",
                      "begin with a line 'HloModule NAME', or read pieces of modules with --partial");
    if (!in_.need('=', "after the instruction's name")) return false;
  }
  if (!read_right_side(scope, draft, true)) return false;
  if (!in_.at_end())
    return in_.fail(
        fmt::format("expects the end of the text after a single instruction, but sees {}", in_.here()));
  if (draft.instruction.name.empty())
    draft.instruction.name = made_up_name(scope, to_text(draft.instruction.opcode));
  if (!finish_instruction(scope, draft)) return false;
  scope.root = scope.instructions.back();
  scope.has_root = true;
  module_.name = "single_instruction";
  if (!finish_computation(scope, in_.offset())) return false;
  pop_scope();
  return finish_module(scope.id, scope.id);
}

}  // namespace hlosim
