#include "input/load_modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "hlo/frontend.h"
#include "hlo/module_builder.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "input/log_lines.h"
#include "input/other_kinds.h"
#include "input/partial_text.h"
#include "modules/header_note.h"
#include "modules/module_rules.h"
#include "stablehlo/read_stablehlo.h"

namespace hlosim {

namespace {

constexpr size_t kMostNoted = 8;

/// The module's header says what was missing of its text, so that reports can.
void note_missing(Module& module, const std::vector<std::string>& missing) {
  const size_t count = std::min(missing.size(), kMostNoted);
  std::string note = fmt::format(
      "{}", fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(count), "; "));
  if (count < missing.size()) note += fmt::format("; and {} more", missing.size() - count);
  add_header_note(module, kMissingOfText, escaped(note));
}

/// Of a text that is made whole first.
std::vector<Module> read_partial(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const LoadOptions& options) {
  PartialText completed = complete(source, table, options.limits);
  std::vector<std::string> missing;
  for (Diagnostic& note : completed.missing) {
    missing.push_back(note.message);
    findings.add(std::move(note));
  }
  if (completed.is_empty) return {};
  const bool is_mlir = stablehlo::holds_mlir(completed.source->text());  // taken out of a log
  std::vector<Module> modules = is_mlir
                                    ? stablehlo::read_modules(completed.source, table, findings, options.mlir)
                                    : read_modules(completed.source, table, findings, options.limits);
  if (!missing.empty())
    for (Module& module : modules) note_missing(module, missing);
  return modules;
}

std::vector<Module> read_mlir(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                              const LoadOptions& options) {
  std::vector<Module> modules = stablehlo::read_modules(source, table, findings, options.mlir);
  if (options.partial && findings.has_errors())
    findings.add(
        {Severity::kNote, "--partial makes HLO text whole; MLIR has to be all there", "", source, 0});
  return modules;
}

/// Says so of a log: what its first line begins with tells nobody what to do.
bool is_log(const SourcePtr& source, DiagnosticList& findings) {
  const std::string_view text = source->text();
  size_t begin = 0;
  std::string_view line;
  for (; begin < text.size(); begin += line.size() + 1) {
    line = text.substr(begin, text.find('\n', begin) - begin);
    if (!trimmed(line).empty() && !trimmed(line).starts_with("//")) break;
  }
  if (log_prefix(line) == 0) return false;
  findings.add({Severity::kError, "this is a log, not HLO text",
                "--partial removes the logger's prefix of each line", source, static_cast<uint32_t>(begin)});
  return true;
}

}  // namespace

std::vector<Module> parse_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                  const LoadOptions& options) {
  if (stablehlo::holds_mlir(source->text())) {
    stablehlo::parse_only(source, findings);
    return {};
  }
  if (options.partial) return read_partial(source, table, findings, options);
  if (std::optional<Diagnostic> other = other_kind(source)) {
    findings.add(std::move(*other));
    return {};
  }
  if (is_log(source, findings)) return {};
  return read_modules(source, table, findings, options.limits);
}

std::vector<Module> load_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const LoadOptions& options) {
  std::vector<Module> modules = stablehlo::holds_mlir(source->text())
                                    ? read_mlir(source, table, findings, options)
                                    : parse_modules(source, table, findings, options);
  for (Module& module : modules)
    if (verify(module, table, findings, options.limits)) check_module_rules(module, table, findings);
  return modules;
}

}  // namespace hlosim
