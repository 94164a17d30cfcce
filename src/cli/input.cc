#include "cli/input.h"

#include <fmt/format.h>

#include <istream>
#include <iterator>

#include "base/text.h"
#include "cli/verbosity.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "input/hlo_file.h"
#include "input/load_modules.h"
#include "input/partial_text.h"
#include "ops/op_table.h"
#include "stablehlo/read_stablehlo.h"

namespace hlosim {

Result<SourcePtr> read_input(const std::string& path, Streams streams) {
  if (path != "-") return read_text_source(path);
  if (!streams.standard_input) {
    std::string text(std::istreambuf_iterator<char>(streams.in), {});
    Result<SourcePtr> source = as_text(std::make_shared<const SourceFile>("<stdin>", std::move(text)));
    if (!source) return source;
    streams.standard_input = std::move(*source);
  }
  return streams.standard_input;
}

std::string json_documents(const std::vector<std::string>& documents) {
  if (documents.size() == 1) return documents[0];
  std::string text = "[";
  for (const std::string& document : documents) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += document;
    while (!text.empty() && text.back() == '\n') text.pop_back();
  }
  return text + "\n]\n";
}

bool write_output(const std::string& path, std::string_view text, Streams streams) {
  if (path == "-") {
    streams.out << text;
    return true;
  }
  const Step step(fmt::format("wrote {}: {} bytes", path, text.size()), streams);
  const Result<void> written = write_file(path, text);
  if (!written) tell(written.error(), streams);
  return written.has_value();
}

ModuleInput read_module_input(const std::string& path, bool parse_only, Streams streams) {
  ModuleInput input;
  Step reading(fmt::format("read {}", path), streams);
  const Result<SourcePtr> source = read_input(path, streams);
  if (!source) {
    tell(source.error(), streams);
    return input;
  }
  DiagnosticList diagnostics;
  SourcePtr whole = *source;
  const bool is_mlir = stablehlo::holds_mlir(whole->text());
  if (streams.partial && !is_mlir) {
    PartialText completed = complete(whole, op_table(), streams.limits);
    for (Diagnostic& note : completed.missing) diagnostics.add(std::move(note));
    whole = completed.source;
  }
  const bool parse_mlir = parse_only && is_mlir;
  if (parse_mlir) stablehlo::parse_only(whole, diagnostics);
  input.modules = parse_mlir   ? std::vector<Module>()
                  : parse_only ? read_modules(whole, op_table(), diagnostics, streams.limits)
                               : load_modules(whole, op_table(), diagnostics, streams.limits, streams.mlir);
  size_t instructions = 0;
  for (const Module& module : input.modules) instructions += module.instructions.size();
  reading.add(fmt::format(": {} bytes, {} module{}, {} instructions", (*source)->text().size(),
                          input.modules.size(), input.modules.size() == 1 ? "" : "s", instructions));
  tell(diagnostics, streams);
  if (diagnostics.error_count() > diagnostics.items().size())
    streams.err << fmt::format("{}: {} more errors are not shown\n", (*source)->name(),
                               diagnostics.error_count() - diagnostics.items().size());
  input.ok = !diagnostics.has_errors();
  return input;
}

}  // namespace hlosim
