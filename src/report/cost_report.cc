#include "report/cost_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/xla_cost.h"
#include "text/json.h"

namespace hlosim {
namespace {

CostRow row_of(std::string_view name, std::string_view opcode, const XlaCost& cost) {
  return {std::string(name), std::string(opcode), double{cost.flops}, double{cost.transcendentals},
          double{cost.bytes_accessed}};
}

bool is_whole(double value) { return std::floor(value) == value && std::abs(value) < 0x1p63; }

Json number(double value) { return is_whole(value) ? Json(static_cast<int64_t>(value)) : Json(value); }

std::string text_of(double value) {
  return is_whole(value) ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
}

void add_counters(Json& json, const CostRow& row) {
  json["flops"] = number(row.flops);
  json["transcendentals"] = number(row.transcendentals);
  json["bytes_accessed"] = number(row.bytes_accessed);
}

Json json_of(const CostReport& report) {
  Json json = {{"schema_version", 1}, {"module", report.module}, {"entry_computation", report.entry}};
  add_counters(json, report.total);
  json["operand_bytes_accessed"] = Json::array();
  for (const double bytes : report.operand_bytes) json["operand_bytes_accessed"].push_back(number(bytes));
  json["output_bytes_accessed"] = number(report.output_bytes);
  json["instructions"] = Json::array();
  for (const CostRow& row : report.instructions) {
    Json instruction = {{"name", row.name}, {"opcode", row.opcode}};
    add_counters(instruction, row);
    json["instructions"].push_back(std::move(instruction));
  }
  return json;
}

}  // namespace

CostReport cost_report(Module& module, const OpTable& table) {
  const XlaCostContext costs(module, table);
  const Computation& entry = module.entry_computation();
  CostReport report;
  report.module = module.name;
  report.entry = entry.name;
  report.total = row_of({}, {}, costs.of(module.entry));
  for (const InstructionId id : entry.instructions) {
    const XlaCost& cost = costs.of(id);
    if (report.operand_bytes.size() < cost.operand_bytes.size())
      report.operand_bytes.resize(cost.operand_bytes.size());
    for (size_t i = 0; i < cost.operand_bytes.size(); ++i)
      report.operand_bytes[i] += double{cost.operand_bytes[i]};
    report.output_bytes += double{cost.output_bytes};
    report.instructions.push_back(row_of(module[id].name, to_text(module[id].opcode), cost));
  }
  return report;
}

std::string to_text(const CostReport& report) {
  std::string text = fmt::format(
      "{}, entry computation {}, as XLA's HloCostAnalysis counts (loops once, -1: unknown)\n"
      "flops            {}\ntranscendentals  {}\nbytes accessed   {} bytes\n",
      report.module, report.entry, text_of(report.total.flops), text_of(report.total.transcendentals),
      text_of(report.total.bytes_accessed));
  size_t name = 11, opcode = 6;
  for (const CostRow& row : report.instructions) {
    name = std::max(name, row.name.size());
    opcode = std::max(opcode, row.opcode.size());
  }
  text += fmt::format("\n{:<{}}  {:<{}}  {:>20}  {:>20}  {:>20}\n", "instruction", name, "opcode", opcode,
                      "flops", "transcendentals", "bytes accessed");
  for (const CostRow& row : report.instructions)
    text += fmt::format("{:<{}}  {:<{}}  {:>20}  {:>20}  {:>20}\n", row.name, name, row.opcode, opcode,
                        text_of(row.flops), text_of(row.transcendentals), text_of(row.bytes_accessed));
  return text;
}

std::string to_json(std::span<const CostReport> reports) {
  if (reports.size() == 1) return json_of(reports[0]).dump(2) + "\n";
  Json all = Json::array();
  for (const CostReport& report : reports) all.push_back(json_of(report));
  return all.dump(2) + "\n";
}

}  // namespace hlosim
