#include "cli/input.h"

#include <fmt/format.h>

#include <istream>
#include <iterator>

#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"

namespace hlosim {

Result<SourcePtr> read_input(const std::string& path, std::istream& in) {
  if (path != "-") return read_source(path);
  std::string text(std::istreambuf_iterator<char>(in), {});
  return std::make_shared<const SourceFile>("<stdin>", std::move(text));
}

ModuleInput read_module_input(const std::string& path, bool parse_only, Streams streams) {
  ModuleInput input;
  const Result<SourcePtr> source = read_input(path, streams.in);
  if (!source) {
    streams.err << render(source.error());
    return input;
  }
  DiagnosticList diagnostics;
  input.modules = read_modules(*source, op_table(), diagnostics);
  if (!parse_only)
    for (Module& module : input.modules) verify(module, op_table(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.items()) streams.err << render(diagnostic);
  if (diagnostics.error_count() > diagnostics.items().size())
    streams.err << fmt::format("{}: {} more errors are not shown\n", (*source)->name(),
                               diagnostics.error_count() - diagnostics.items().size());
  input.ok = !diagnostics.has_errors();
  return input;
}

}  // namespace hlosim
