#include <fmt/format.h>

#include <memory>
#include <ostream>

#include "cli/commands.h"
#include "cli/run.h"
#include "console/command_line.h"
#include "evaluate/evaluate.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

std::string arity_text(Arity arity) {
  if (arity.max == arity.min) return fmt::format("{}", arity.min);
  return arity.max < 0 ? fmt::format(">= {}", arity.min) : fmt::format("{}-{}", arity.min, arity.max);
}

std::string attrs_text(const OpDef& def) {
  std::string text;
  for (const AttrSpec& spec : def.attrs) {
    if (!text.empty()) text += ' ';
    text += to_text(spec.key);
    if (spec.required) text += '!';
  }
  return text;
}

int list_ops(const std::string& format, Streams streams) {
  const OpTable& table = op_table();
  if (format == "markdown") {
    streams.out << "| opcode | operands | attributes (! required) | shape inference | work model | runs "
                   "|\n|---|---|---|---|---|---|\n";
  } else {
    streams.out << "opcode,operands,attributes,shape_inference,work_model,runs\n";
  }
  const char* row = format == "markdown" ? "| {} | {} | {} | {} | {} | {} |\n" : "{},{},{},{},{},{}\n";
  for (const OpDef* def : table.rows)
    streams.out << fmt::format(fmt::runtime(row), def->name, arity_text(def->arity), attrs_text(*def),
                               def->has(kNeedsShape) ? "declared shape checked" : "yes",
                               def->has(kFree) ? "free"
                               : def->work     ? "yes"
                                               : "bytes only",
                               can_be_run(*def) ? "yes" : "no");
  return kExitSuccess;
}

}  // namespace

std::function<int()> declare_ops(CommandLine& line, Streams streams) {
  const auto format = std::make_shared<std::string>("markdown");
  line.add_option("--format", *format, "markdown or csv").one_of({"markdown", "csv"}).show_default();
  return [format, streams] { return list_ops(*format, streams); };
}

}  // namespace hlosim
