#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "report/report_json.h"
#include "report/report_members.h"
#include "text/escape.h"

namespace hlosim {
namespace {

/// The columns after that of the module: members of an InstructionRow. One has another name.
constexpr std::string_view kColumns[] = {"name",
                                         "opcode",
                                         "computation",
                                         "line",
                                         "executions",
                                         "start_ps",
                                         "time_ps",
                                         "self_time_ps",
                                         "exposed_ps",
                                         "bound_by",
                                         "category",
                                         "provenance",
                                         "flops",
                                         "vector_operations",
                                         "transcendentals",
                                         "logical_bytes",
                                         "padded_bytes",
                                         "op_name",
                                         "source_file",
                                         "source_line"};

std::string header(const Report& report) {
  std::string out = "module";
  for (const std::string_view column : kColumns) (out += ',') += column == "name" ? "instruction" : column;
  for (const std::string& space : report.traffic_names)
    if (!space.empty()) fmt::format_to(std::back_inserter(out), ",{0}_read_bytes,{0}_written_bytes", space);
  return out + "\r\n";
}

std::vector<const JsonMember<InstructionRow>*> columns() {
  const std::span<const JsonMember<InstructionRow>> members =
      json_members(static_cast<const InstructionRow*>(nullptr));
  std::vector<const JsonMember<InstructionRow>*> found;
  for (const std::string_view column : kColumns) {
    const auto member = std::ranges::find(members, column, &JsonMember<InstructionRow>::name);
    HLOSIM_CHECK(member != members.end());
    found.push_back(&*member);
  }
  return found;
}

/// Nothing where a value is null.
std::string field(const Json& value) {
  if (value.is_null()) return {};
  return value.is_text() ? csv_field(value.text()) : value.dump();
}

void append_row(std::string& out, std::span<const JsonMember<InstructionRow>* const> columns,
                const InstructionRow& row) {
  out += csv_field(row.report.module_name);
  for (const JsonMember<InstructionRow>* column : columns)
    (out += ',') += field(column->value(row).value_or(nullptr));
  const SpaceTraffic traffic = row.work.traffic;
  for (size_t i = 0; i < traffic.size(); ++i)
    if (!row.report.traffic_names[i].empty())
      fmt::format_to(std::back_inserter(out), ",{},{}", traffic[i].read.count(), traffic[i].written.count());
  out += "\r\n";
}

}  // namespace

std::string to_csv(std::span<const Report> reports) {
  std::string out;
  if (reports.empty()) return out;
  // Modules of several files may have the same name.
  const bool has_files = std::any_of(reports.begin(), reports.end(), [&](const Report& report) {
    return report.module_file != reports.front().module_file;
  });
  out = (has_files ? "file," : "") + header(reports.front());
  const auto members = columns();
  for (const Report& report : reports)
    for (const ReportInstruction& row : report.instructions) {
      if (has_files) out += csv_field(report.module_file) + ',';
      append_row(out, members, {report, row});
    }
  return out;
}

}  // namespace hlosim
