#include "input/partial_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/text.h"
#include "hlo/reader.h"
#include "input/load_modules.h"
#include "input/log_lines.h"
#include "input/partial_lines.h"

namespace hlosim {
namespace {

/// Rounds of reading what was made and giving up what can't be right; each makes more of it custom calls.
constexpr int kMostRounds = 12;
constexpr size_t kManyErrors = 100'000;

class Completer {
 public:
  Completer(const SourcePtr& source, const OpTable& table, const Limits& limits)
      : source_(source),
        table_(table),
        limits_(limits),
        log_(without_comments(without_prefixes(source->text()))),
        lines_(parse_lines(log_.text)) {}

  PartialText run() {
    if (reads(source_)) return {source_, {}};
    if (log_.count > 0) {
      note(0, fmt::format("the logger's prefix of {} lines is removed", log_.count));
      const auto plain = std::make_shared<const SourceFile>(source_->name(), log_.text);
      if (reads(plain)) return {plain, std::move(missing_)};
    }
    if (std::ranges::all_of(lines_.computations, [](const PartialComputation& computation) {
          return computation.instructions.empty();
        }))
      return {source_, {nothing_found()}, true};
    drop_what_is_no_hlo();
    drop_unreadable_end();
    const std::vector<std::span<PartialComputation>> modules = lines_.modules();
    for (const std::span<PartialComputation> module : modules) complete_module(module, modules.size() > 1);
    note_empty_modules();
    return {give_up_what_is_wrong(), std::move(missing_)};
  }

 private:
  static LogLines without_comments(LogLines log) {
    blank_comments(log.text);
    return log;
  }

  bool reads(const SourcePtr& source) {
    DiagnosticList findings;
    const std::vector<Module> modules = load_modules(source, table_, findings, {limits_, {}, false});
    return !findings.has_errors() && !modules.empty();
  }

  void note(size_t line, std::string message) {
    Diagnostic diagnostic;
    diagnostic.severity = Severity::kNote;
    diagnostic.message = std::move(message);
    diagnostic.source = source_;
    diagnostic.offset = static_cast<uint32_t>(lines_.offsets[std::min(line, lines_.offsets.size() - 1)]);
    missing_.push_back(std::move(diagnostic));
  }

  Diagnostic nothing_found() const {
    return {
        Severity::kError, "no HLO instruction is found in this text",
        "--partial takes pieces of HLO text: at least one whole instruction, `%c = f32[8]{0} add(%a, %b)`",
        source_, 0};
  }

  void complete_module(std::span<PartialComputation> module, bool is_one_of_many) {
    // Instructions before the first header are the end of a computation whose beginning is missing.
    if (module.size() > 1)
      for (PartialComputation& computation : module)
        if (computation.is_bare)
          computation.is_entry = computation.is_bare = false, computation.closing.clear();
    for (PartialComputation& computation : module) complete_computation(computation);
    call_what_is_there(module);
    if (std::ranges::none_of(module, &PartialComputation::is_entry))
      make_entry(module, is_one_of_many ? module.front().line : 0);
  }

  void note_empty_modules() {
    std::set<size_t> used;
    for (const PartialComputation& computation : lines_.computations)
      if (computation.header) used.insert(*computation.header);
    for (const size_t header : lines_.headers)
      if (!used.contains(header))
        note(header, "a module of which nothing but its header is there is left out");
  }

  /// What an instruction looks like, understood or not: `[ROOT ]name = …`.
  static bool names_value(std::string_view text) {
    text = trimmed(text);
    const bool is_root = text.starts_with("ROOT ");
    if (is_root) text = trimmed(text.substr(5));
    const size_t equals = text.find(" = ");
    if (equals == std::string_view::npos) return false;
    return is_root || text.starts_with('%') ||
           trimmed(text.substr(0, equals)).find(' ') == std::string_view::npos;
  }

  /// Lines before and behind all HLO, and between where a logger writes, are somebody's words; not those that
  /// give a value a name: without it, what uses the value would be another program.
  void drop_what_is_no_hlo() {
    size_t count = 0, begin = 0;
    std::erase_if(lines_.others, [&](size_t line) {
      const bool is_outside = line < *lines_.first || line > *lines_.last;
      if (!is_outside && (log_.count == 0 || names_value(lines_.lines[line]))) return false;
      if (count++ == 0) begin = line;
      return true;
    });
    if (count > 0)
      note(begin, count == 1 ? std::string("a line that is not HLO is left out")
                             : fmt::format("{} lines that are not HLO are left out", count));
  }

  /// The last line may end anywhere.
  void drop_unreadable_end() {
    if (lines_.cut_line) note(*lines_.cut_line, "the text ends within this line, which is left out");
    std::erase_if(lines_.computations, [&](const PartialComputation& computation) {
      const bool empty = computation.instructions.empty();
      if (empty) note(computation.line, fmt::format("{} has no instructions", shown(computation.name)));
      return empty;
    });
  }

  void complete_computation(PartialComputation& computation) {
    if (computation.closing.empty() || computation.is_bare) {
      if (!computation.is_bare)
        note(computation.line, fmt::format("the end of {} is missing", shown(computation.name)));
      computation.is_whole = computation.is_bare;
      // Those that come later are missing; the others are counted from 0 again.
      for (PartialInstruction& instruction : computation.instructions)
        if (instruction.is_parameter()) instruction.becomes = PartialInstruction::kBecomesParameter;
    }
    std::set<std::string, std::less<>> defined;
    for (PartialInstruction& instruction : computation.instructions) {
      complete_operands(computation, instruction, defined);
      defined.insert(instruction.name);
    }
    if (std::ranges::none_of(computation.instructions, &PartialInstruction::is_root)) add_root(computation);
  }

  /// What nothing uses is the result, so that all of it is needed.
  void add_root(PartialComputation& computation) {
    std::set<std::string_view> used;
    for (const PartialInstruction& instruction : computation.instructions)
      if (instruction.becomes == PartialInstruction::kStays)
        for (const PartialOperand& operand : instruction.operands) used.insert(operand.name);
    std::string types, results;
    size_t count = 0;
    bool typed = true;
    for (const PartialInstruction& instruction : computation.instructions) {
      if (used.contains(instruction.name)) continue;
      typed = typed && !instruction.type.empty();
      types += fmt::format("{}{}", count ? ", " : "", instruction.type);
      results += fmt::format("{}%{}", count++ ? ", " : "", instruction.name);
    }
    if (count <= 1) {
      computation.instructions.back().is_root = true;
      return;
    }
    if (typed) computation.added_root_type = fmt::format("({})", types);
    computation.added_root = fmt::format("  ROOT %{}.results = {} tuple({})", computation.name,
                                         computation.added_root_type, results);
  }

  void complete_operands(PartialComputation& computation, PartialInstruction& instruction,
                         std::set<std::string, std::less<>>& defined) {
    if (instruction.is_parameter()) return;
    for (const PartialOperand& operand : instruction.operands) {
      if (operand.name.empty() || defined.contains(operand.name)) continue;
      computation.is_whole = computation.is_whole && computation.is_bare;
      if (!operand.type.empty()) {
        note(instruction.line, fmt::format("{} isn't there: a parameter", shown(operand.name)));
        computation.added.push_back({operand.name, operand.type, instruction.line});
        defined.insert(operand.name);
        continue;
      }
      note(instruction.line, fmt::format("{} isn't there, and its type isn't known: {} is a parameter",
                                         shown(operand.name), shown(instruction.name)));
      instruction.becomes = PartialInstruction::kBecomesParameter;
      return;
    }
  }

  /// Calls of computations that are missing or not whole are custom calls.
  void call_what_is_there(std::span<PartialComputation> module) {
    std::set<std::string, std::less<>> whole;
    for (const PartialComputation& computation : module)
      if (computation.is_whole) whole.insert(computation.name);
    for (PartialComputation& computation : module)
      for (PartialInstruction& instruction : computation.instructions)
        for (const std::string& called : instruction.called)
          if (!whole.contains(called) && instruction.becomes == PartialInstruction::kStays) {
            note(instruction.line, fmt::format("{} calls {}, which is missing: a custom call",
                                               shown(instruction.name), shown(called)));
            instruction.becomes = PartialInstruction::kBecomesCustomCall;
          }
  }

  /// Runs what nobody calls, one after the other.
  void make_entry(std::span<PartialComputation> module, size_t line) {
    std::set<std::string, std::less<>> called;
    for (const PartialComputation& computation : module)
      for (const PartialInstruction& instruction : computation.instructions)
        if (instruction.becomes == PartialInstruction::kStays)
          called.insert(instruction.called.begin(), instruction.called.end());
    size_t count = 0;
    std::string body, types, results;
    bool typed = true;
    parameters_of_entry_ = 0;
    for (const PartialComputation& computation : module) {
      if (called.contains(computation.name) || computation.is_of_scalars()) continue;
      call(computation, body);
      ++count;
      if (lines_.is_scheduled(computation)) continue;
      typed = typed && !computation.result_type().empty();
      types += fmt::format("{}{}", types.empty() ? "" : ", ", computation.result_type());
      results += fmt::format("{}%{}", results.empty() ? "" : ", ", computation.name);
    }
    note(line, fmt::format("the entry computation is missing: {} computations without a caller run once each",
                           count));
    module.back().made_entry = fmt::format("ENTRY %pieces {{\n{}  ROOT %pieces.results = {} tuple({})\n}}\n",
                                           body, typed ? fmt::format("({})", types) : std::string(), results);
  }

  void call(const PartialComputation& computation, std::string& body) {
    std::string operands;
    for (const auto& [parameter, type] : computation.parameters()) {
      const std::string name = fmt::format("{}.{}", computation.name, parameter);
      body += fmt::format("  %{} = {} parameter({})\n", name, type, parameters_of_entry_++);
      operands += fmt::format("{}%{}", operands.empty() ? "" : ", ", name);
    }
    const std::string& type = computation.result_type();
    if (computation.is_fused())
      body += fmt::format("  %{0} = {1} fusion({2}), kind={3}, calls=%{0}\n", computation.name, type,
                          operands, computation.has_product() ? "kOutput" : "kLoop");
    else
      body += fmt::format("  %{0} = {1} call({2}), to_apply=%{0}\n", computation.name, type, operands);
  }

  /// Reads what was made; an instruction with an error becomes a custom call, until nothing is wrong or
  /// nothing changes.
  SourcePtr give_up_what_is_wrong() {
    const InstructionLines instructions(lines_);
    for (int round = 0;; ++round) {
      const auto made = std::make_shared<const SourceFile>(source_->name(), text_of(lines_));
      DiagnosticList findings(kManyErrors);
      load_modules(made, table_, findings, {limits_, {}, false});
      if (!findings.has_errors() || round == kMostRounds) return made;
      // Thousands of findings: the ends of lines are looked for once.
      const std::vector<size_t> ends = ends_of_lines(made->text());
      bool changed = false;
      for (const Diagnostic& finding : findings.items()) {
        if (finding.severity != Severity::kError) continue;
        const auto line = std::ranges::lower_bound(ends, finding.offset) - ends.begin();
        changed |= give_up(instructions, static_cast<size_t>(line), finding);
      }
      if (!changed) return made;
    }
  }

  static std::vector<size_t> ends_of_lines(std::string_view text) {
    std::vector<size_t> ends;
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      ends.push_back(at);
    return ends;
  }

  bool give_up(const InstructionLines& instructions, size_t line, const Diagnostic& finding) {
    PartialInstruction* instruction = instructions.at(line);
    if (!instruction || instruction->is_parameter() || instruction->becomes != PartialInstruction::kStays)
      return false;
    note(line, fmt::format("{}: {}: a custom call", shown(instruction->name), finding.message));
    instruction->becomes = PartialInstruction::kBecomesCustomCall;
    return true;
  }

  SourcePtr source_;
  const OpTable& table_;
  const Limits& limits_;
  LogLines log_;
  PartialLines lines_;  // of its text
  std::vector<Diagnostic> missing_;
  int64_t parameters_of_entry_ = 0;
};

}  // namespace

PartialText complete(const SourcePtr& source, const OpTable& table, const Limits& limits) {
  return Completer(source, table, limits).run();
}

}  // namespace hlosim
