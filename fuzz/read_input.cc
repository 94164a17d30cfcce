#include "read_input.h"

#include "base/check.h"
#include "input/load_modules.h"
#include "ops/op_table.h"

namespace hlosim::fuzz {

SourcePtr source_of(std::string text) { return std::make_shared<const SourceFile>("input", std::move(text)); }

void told(const Diagnostic& diagnostic) {
  HLOSIM_CHECK(!diagnostic.message.empty(), "an error that says nothing");
  HLOSIM_CHECK(render(diagnostic).ends_with("\n"));
}

bool told(const DiagnosticList& findings) {
  for (const Diagnostic& diagnostic : findings.items()) told(diagnostic);
  return !findings.has_errors();
}

std::optional<std::vector<Module>> read_right(const std::string& text) {
  DiagnosticList findings;
  std::vector<Module> modules = load_modules(source_of(text), op_table(), findings);
  if (!told(findings) || modules.empty()) return std::nullopt;
  return modules;
}

void require_right(const std::string& text, const char* maker) {
  DiagnosticList findings;
  load_modules(source_of(text), op_table(), findings);
  if (!findings.has_errors()) return;
  // The place of the text differs from one input to the next: the message alone tells findings apart.
  HLOSIM_CHECK(findings.items().empty(), "{} made a module that isn't right: {}\n{}\n{}", maker,
               findings.items().front().message, render(findings.items().front()), text);
}

}  // namespace hlosim::fuzz
