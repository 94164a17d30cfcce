#include "stablehlo/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "hlo/attr_reader.h"
#include "stablehlo/lowering.h"
#include "stablehlo/op_lowering.h"
#include "stablehlo/shardings.h"

namespace hlosim::stablehlo {
namespace {

void add_symbols(const mlir::Attribute& attribute, std::unordered_set<std::string_view>& names) {
  if (attribute.kind == mlir::AttributeKind::kSymbol) names.insert(attribute.text);
  for (const mlir::Attribute* item : attribute.items) add_symbols(*item, names);
}

/// Symbols that operations inside `op` name.
void add_used(const mlir::Operation& op, std::unordered_set<std::string_view>& names) {
  for (const mlir::Region& region : op.regions)
    for (const mlir::Block* block : region.blocks)
      for (const mlir::Operation* inner : block->operations) {
        for (const mlir::NamedAttribute& entry : inner->attributes) add_symbols(*entry.value, names);
        add_used(*inner, names);
      }
}

std::vector<const mlir::Operation*> entries_of(const Symbols& symbols) {
  const mlir::Operation* main = symbols.function("main");
  if (main && body_of(*main)) return {main};
  std::unordered_set<std::string_view> used;
  for (const mlir::Operation* function : symbols.functions) add_used(*function, used);
  std::vector<const mlir::Operation*> entries, bodies;
  for (const mlir::Operation* function : symbols.functions) {
    if (!body_of(*function)) continue;
    bodies.push_back(function);
    if (!used.contains(symbol_name(*function))) entries.push_back(function);
  }
  // Functions that all call each other: the first is as good as any, and its error says what is wrong.
  if (entries.empty() && !bodies.empty()) entries.push_back(bodies[0]);
  return entries;
}

/// Functions, and what is said beside them: flags for LLVM don't touch what a program computes.
bool is_known_in_module(std::string_view name) {
  return name == "func.func" || name == "sdy.mesh" || name == "llvm.module_flags";
}

class FileConverter {
 public:
  /// `exported` null: there is no file around it.
  FileConverter(const mlir::File& file, const mlir::Exported* exported, const OpTable& table,
                DiagnosticList& findings, const ConvertOptions& options)
      : file_(file), exported_(exported), table_(table), findings_(findings), options_(options) {}

  std::vector<Module> convert() {
    if (file_.top) module(*file_.top);
    if (!any_ && !findings_.has_errors()) complain(0, "no function with a body in the module");
    return std::move(modules_);
  }

 private:
  void module(const mlir::Operation& op) {
    if (op.regions.empty() || op.regions[0].blocks.empty()) return;
    const std::span<const mlir::Operation* const> parts = op.regions[0].blocks[0]->operations;
    for (const mlir::Operation* inner : parts)
      if (inner->name == "sdy.mesh" && !mesh(*inner)) return;
    const Symbols symbols = symbols_of(op);
    for (const mlir::Operation* function : entries_of(symbols)) entry(symbols, *function);
    for (const mlir::Operation* inner : parts) {
      if (inner->name == "builtin.module")
        module(*inner);
      else if (!is_known_in_module(inner->name))
        complain(inner->offset, fmt::format("'{}' in a module, expected functions", inner->name));
    }
  }

  /// False after a report.
  bool mesh(const mlir::Operation& op) {
    const mlir::Attribute* given = op.find("mesh");
    const Result<Mesh> read = given ? read_mesh(given->text) : failure("needs the attribute \"mesh\"");
    if (!read) complain(op.offset, fmt::format("sdy.mesh: {}", read.error().message));
    return read.has_value();
  }

  void entry(const Symbols& symbols, const mlir::Operation& function) {
    any_ = true;
    const bool is_main = symbol_name(function) == "main";
    ModuleBuilder builder(file_.source, table_, findings_);
    Lowering lowering(builder, symbols, options_);
    if (exported_) lowering.set_exported(*exported_);
    const ComputationId computation = lowering.entry(function);
    if (builder.failed()) return;
    std::vector<Attr> header = lowering.header();
    add_header(builder, *symbols.module, Lowering::result_names(function), header);
    const std::string_view name = is_main ? symbol_name(*symbols.module) : symbol_name(function);
    if (builder.failed()) return;
    modules_.push_back(builder.finish(name.empty() ? "main" : name, computation, header));
  }

  void add_header(ModuleBuilder& builder, const mlir::Operation& module, const std::string& result_names,
                  std::vector<Attr>& header) {
    for (const auto& [name, key] : {std::pair("mhlo.num_replicas", AttrKey::kReplicaCount),
                                    std::pair("mhlo.num_partitions", AttrKey::kNumPartitions)})
      if (const mlir::Attribute* count = module.find(name); count && count->integer != 1)
        header.push_back(Attr::make_int(key, count->integer));
    if (exported_ && exported_->devices > 1 && !module.find("mhlo.num_partitions") &&
        !module.find("mhlo.num_replicas"))
      header.push_back(Attr::make_int(AttrKey::kNumPartitions, exported_->devices));
    const mlir::Attribute* frontend = module.find("mhlo.frontend_attributes");
    std::string text = frontend ? frontend_text(*frontend) : std::string("{}");
    if (!result_names.empty())
      text = fmt::format("{}{}jax.result_info=\"{}\"}}", text.substr(0, text.size() - 1),
                         text.size() > 2 ? "," : "", escaped(result_names));
    if (text.size() <= 2) return;
    Cursor in(text, 0, text.size());
    if (!scan_frontend_attributes(in) || !in.at_end())
      return builder.fail(module.offset,
                          fmt::format("mhlo.frontend_attributes: {}",
                                      in.failed() ? in.error_message() : "more text follows it"));
    header.push_back(Attr::make_text(AttrKey::kFrontendAttributes, AttrSyntax::kFrontend,
                                     builder.module().arena().copy(std::string_view(text))));
  }

  void complain(uint32_t offset, std::string message) {
    Diagnostic diagnostic;
    diagnostic.message = std::move(message);
    diagnostic.source = file_.source;
    diagnostic.offset = offset;
    findings_.add(std::move(diagnostic));
  }

  const mlir::File& file_;
  const mlir::Exported* exported_;
  const OpTable& table_;
  DiagnosticList& findings_;
  const ConvertOptions& options_;
  std::vector<Module> modules_;
  bool any_ = false;
};

}  // namespace

std::vector<Module> convert(const mlir::File& file, const OpTable& table, DiagnosticList& findings,
                            const ConvertOptions& options) {
  return FileConverter(file, nullptr, table, findings, options).convert();
}

std::vector<Module> convert(const mlir::File& file, const mlir::Exported& exported, const OpTable& table,
                            DiagnosticList& findings, const ConvertOptions& options) {
  return FileConverter(file, &exported, table, findings, options).convert();
}

}  // namespace hlosim::stablehlo
