#include "stablehlo/read_stablehlo.h"

#include "mlir/read_text.h"
#include "mlir_bytecode/read_bytecode.h"
#include "stablehlo/convert.h"

namespace hlosim::stablehlo {

namespace {

/// Text may have several pieces; what was wrong is in `findings`.
std::vector<mlir::File> read_files(const SourcePtr& source, DiagnosticList& findings) {
  if (!mlir::is_bytecode(source->text())) return mlir::read_text(source, findings);
  std::vector<mlir::File> files;
  Result<mlir::File> file = mlir::read_bytecode(source);
  if (file)
    files.push_back(std::move(*file));
  else
    findings.add(file.error());
  return files;
}

}  // namespace

bool holds_mlir(std::string_view content) {
  return mlir::is_bytecode(content) || mlir::is_mlir_text(content);
}

std::vector<Module> read_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const ConvertOptions& options) {
  std::vector<Module> modules;
  for (const mlir::File& file : read_files(source, findings))
    for (Module& module : convert(file, table, findings, options)) modules.push_back(std::move(module));
  return modules;
}

void parse_only(const SourcePtr& source, DiagnosticList& findings) { read_files(source, findings); }

}  // namespace hlosim::stablehlo
