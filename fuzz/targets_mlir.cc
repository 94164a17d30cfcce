// Targets that read MLIR.
#include "base/check.h"
#include "hlo/printer.h"
#include "input/load_modules.h"
#include "mlir/read_text.h"
#include "mlir/write_text.h"
#include "mlir_bytecode/exported.h"
#include "mlir_bytecode/read_bytecode.h"
#include "mosaic/kernel_body.h"
#include "ops/op_table.h"
#include "read_input.h"
#include "stablehlo/read_stablehlo.h"
#include "targets.h"

namespace hlosim::fuzz {

/// What is read is written in generic form; reading that gives the same again.
bool read_mlir_text(const Bench&, const std::string& input, Random& choice) {
  DiagnosticList findings;
  mlir::is_mlir_text(input);
  const auto source = std::make_shared<const SourceFile>("input.mlir", input);
  const std::vector<mlir::File> files = mlir::read_text(source, findings);
  for (const Diagnostic& finding : findings.items()) HLOSIM_CHECK(!render(finding).empty());
  mlir::WriteOptions options;
  options.locations = choice.one_in(2);
  options.longest_list = choice.one_in(2) ? 64 : 2;
  for (const mlir::File& file : files) {
    const std::string text = mlir::write_text(file, options);
    // Resources of one name may be meant by several types: as bits and as bytes.
    if (text.find("dense_resource") != std::string::npos) continue;
    const auto written = std::make_shared<const SourceFile>("written.mlir", text);
    const std::vector<mlir::File> again = mlir::read_text(written, findings);
    HLOSIM_CHECK(again.size() == 1, "what was written isn't read again");
    HLOSIM_CHECK(mlir::write_text(again[0], options) == text, "what was written is read as something else");
  }
  return !files.empty();
}

/// Whatever the bytes are: a file that can be written and gone through as a kernel, or an error within it.
bool read_artifact(const Bench&, const std::string& input, Random&) {
  const auto source = std::make_shared<const SourceFile>("input.mlir.bc", input);
  if (mlir::is_exported(input)) {
    const Result<mlir::Exported> exported = mlir::read_exported(source);
    HLOSIM_CHECK(!exported || exported->begin + exported->size <= input.size());
  }
  if (!mlir::is_bytecode(input)) return false;
  const Result<mlir::File> file = mlir::read_bytecode(source);
  if (!file) {
    HLOSIM_CHECK(file.error().offset <= input.size(), "an error behind the end of the file");
    HLOSIM_CHECK(!render(file.error()).empty());
    return false;
  }
  HLOSIM_CHECK(!mlir::write_text(*file).empty());
  mosaic::kernel_body(*file, {});
  return true;
}

/// Programs become right modules, or are refused with a reason; what is printed of them reads again.
bool convert_program(const Bench&, const std::string& input, Random&) {
  if (!stablehlo::holds_mlir(input)) return false;
  DiagnosticList findings;
  const std::vector<Module> modules = load_modules(source_of(input), op_table(), findings);
  if (!told(findings)) return false;
  for (const Module& module : modules) require_right(to_text(module, op_table()), "the reader of StableHLO");
  return !modules.empty();
}

}  // namespace hlosim::fuzz
