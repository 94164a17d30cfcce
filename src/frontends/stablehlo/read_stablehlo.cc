#include "stablehlo/read_stablehlo.h"

#include <optional>

#include "mlir/read_text.h"
#include "mlir_bytecode/exported.h"
#include "mlir_bytecode/read_bytecode.h"
#include "stablehlo/convert.h"

namespace hlosim::stablehlo {

namespace {

struct Content {
  std::vector<mlir::File> files;
  std::optional<mlir::Exported> exported;  // of the only one of them

  void add(Result<mlir::File> file, DiagnosticList& findings) {
    if (file)
      files.push_back(std::move(*file));
    else
      findings.add(file.error());
  }
};

/// Text may have several pieces; what was wrong is in `findings`.
Content read_content(const SourcePtr& source, DiagnosticList& findings) {
  Content content;
  if (mlir::is_bytecode(source->text())) {
    content.add(mlir::read_bytecode(source), findings);
  } else if (mlir::is_exported(source->text())) {
    Result<mlir::Exported> exported = mlir::read_exported(source);
    if (!exported) {
      findings.add(exported.error());
      return content;
    }
    content.add(mlir::read_bytecode(source, exported->begin, exported->size), findings);
    content.exported = std::move(*exported);
  } else {
    content.files = mlir::read_text(source, findings);
  }
  return content;
}

}  // namespace

bool holds_mlir(std::string_view content) {
  return mlir::is_bytecode(content) || mlir::is_exported(content) || mlir::is_mlir_text(content);
}

std::vector<Module> read_modules(const SourcePtr& source, const OpTable& table, DiagnosticList& findings,
                                 const ConvertOptions& options) {
  std::vector<Module> modules;
  const Content content = read_content(source, findings);
  for (const mlir::File& file : content.files)
    for (Module& module : content.exported ? convert(file, *content.exported, table, findings, options)
                                           : convert(file, table, findings, options))
      modules.push_back(std::move(module));
  return modules;
}

void parse_only(const SourcePtr& source, DiagnosticList& findings) { read_content(source, findings); }

}  // namespace hlosim::stablehlo
