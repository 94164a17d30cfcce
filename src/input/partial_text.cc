#include "input/partial_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "hlo/reader.h"
#include "input/load_modules.h"
#include "input/partial_lines.h"

namespace hlosim {
namespace {

/// Rounds of reading what was made and giving up what can't be right; each makes more of it custom calls.
constexpr int kMostRounds = 12;
constexpr size_t kManyErrors = 100'000;

class Completer {
 public:
  Completer(const SourcePtr& source, const OpTable& table, const Limits& limits)
      : source_(source), table_(table), limits_(limits), lines_(parse_lines(source->text())) {}

  PartialText run() {
    if (reads(source_)) return {source_, {}};
    drop_unreadable_end();
    // Instructions before the first header are the end of a computation whose beginning is missing.
    if (lines_.computations.size() > 1)
      for (PartialComputation& computation : lines_.computations)
        if (computation.is_bare)
          computation.is_entry = computation.is_bare = false, computation.closing.clear();
    for (PartialComputation& computation : lines_.computations) complete_computation(computation);
    call_what_is_there();
    if (!has_entry()) make_entry();
    return {give_up_what_is_wrong(), std::move(missing_)};
  }

 private:
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
    for (const PartialInstruction& instruction : computation.instructions) {
      if (used.contains(instruction.name)) continue;
      types += fmt::format("{}{}", count ? ", " : "", instruction.type);
      results += fmt::format("{}%{}", count++ ? ", " : "", instruction.name);
    }
    if (count <= 1) {
      computation.instructions.back().is_root = true;
      return;
    }
    computation.added_root_type = fmt::format("({})", types);
    computation.added_root =
        fmt::format("  ROOT %{}.results = ({}) tuple({})", computation.name, types, results);
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
  void call_what_is_there() {
    std::set<std::string, std::less<>> whole;
    for (const PartialComputation& computation : lines_.computations)
      if (computation.is_whole) whole.insert(computation.name);
    for (PartialComputation& computation : lines_.computations)
      for (PartialInstruction& instruction : computation.instructions)
        for (const std::string& called : instruction.called)
          if (!whole.contains(called) && instruction.becomes == PartialInstruction::kStays) {
            note(instruction.line, fmt::format("{} calls {}, which is missing: a custom call",
                                               shown(instruction.name), shown(called)));
            instruction.becomes = PartialInstruction::kBecomesCustomCall;
          }
  }

  bool has_entry() const { return std::ranges::any_of(lines_.computations, &PartialComputation::is_entry); }

  /// Runs what nobody calls, one after the other.
  void make_entry() {
    std::set<std::string, std::less<>> called;
    for (const PartialComputation& computation : lines_.computations)
      for (const PartialInstruction& instruction : computation.instructions)
        if (instruction.becomes == PartialInstruction::kStays)
          called.insert(instruction.called.begin(), instruction.called.end());
    size_t count = 0;
    std::string body, types, results;
    for (const PartialComputation& computation : lines_.computations) {
      if (called.contains(computation.name) || computation.is_of_scalars()) continue;
      call(computation, body);
      ++count;
      if (lines_.is_scheduled()) continue;
      types += fmt::format("{}{}", types.empty() ? "" : ", ", computation.result_type());
      results += fmt::format("{}%{}", results.empty() ? "" : ", ", computation.name);
    }
    note(0, fmt::format("the entry computation is missing: {} computations that nobody calls run once each",
                        count));
    lines_.made_entry = fmt::format("ENTRY %pieces {{\n{}  ROOT %pieces.results = ({}) tuple({})\n}}\n", body,
                                    types, results);
    lines_.entry_is_made = true;
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
    for (int round = 0;; ++round) {
      const auto made = std::make_shared<const SourceFile>(source_->name(), text_of(lines_));
      DiagnosticList findings(kManyErrors);
      load_modules(made, table_, findings, {limits_, {}, false});
      if (!findings.has_errors() || round == kMostRounds) return made;
      bool changed = false;
      for (const Diagnostic& finding : findings.items())
        if (finding.severity == Severity::kError) changed |= give_up(*made, finding);
      if (!changed) return made;
    }
  }

  bool give_up(const SourceFile& made, const Diagnostic& finding) {
    const auto line = static_cast<size_t>(made.locate(finding.offset).line - 1);
    PartialInstruction* instruction = lines_.instruction_at(line);
    if (!instruction || instruction->is_parameter() || instruction->becomes != PartialInstruction::kStays)
      return false;
    note(line, fmt::format("{}: {}: a custom call", shown(instruction->name), finding.message));
    instruction->becomes = PartialInstruction::kBecomesCustomCall;
    return true;
  }

  SourcePtr source_;
  const OpTable& table_;
  const Limits& limits_;
  PartialLines lines_;
  std::vector<Diagnostic> missing_;
  int64_t parameters_of_entry_ = 0;
};

}  // namespace

PartialText complete(const SourcePtr& source, const OpTable& table, const Limits& limits) {
  return Completer(source, table, limits).run();
}

}  // namespace hlosim
