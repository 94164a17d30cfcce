#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "report/report_json.h"
#include "text/escape.h"

namespace hlosim {
namespace {

std::string header(const Report& report) {
  std::string out =
      "module,instruction,opcode,computation,line,executions,start_ps,time_ps,self_time_ps,exposed_ps,bound_"
      "by,category,"
      "provenance,flops,vector_operations,transcendentals,logical_bytes,padded_bytes,op_name,source_file,"
      "source_line";
  for (const std::string& space : report.traffic_names)
    if (!space.empty()) fmt::format_to(std::back_inserter(out), ",{0}_read_bytes,{0}_written_bytes", space);
  return out + "\r\n";
}

std::string number(const std::optional<int64_t>& value) {
  return value ? fmt::format("{}", *value) : std::string();
}

void append_row(std::string& out, const Report& report, const ReportInstruction& row) {
  for (const std::string_view text :
       {std::string_view(report.module_name), row.name, row.opcode, row.computation_name}) {
    out += csv_field(text);
    out += ',';
  }
  const auto to = std::back_inserter(out);
  if (row.line > 0) fmt::format_to(to, "{}", row.line);
  fmt::format_to(to, ",{},{},{},{},{},", row.executions, row.start.count(), row.time.count(),
                 row.self_time.count(), row.exposed.count());
  out += csv_field(report.unit_name(row.bound_by));
  fmt::format_to(to, ",{},{},{},{},{},{},{}", to_text(row.cost.category), to_text(row.cost.provenance),
                 number(row.flops), number(row.vector_operations), number(row.transcendentals),
                 row.logical_bytes.count(), row.padded_bytes.count());
  for (const std::string_view text : {row.op_name, row.source_file}) {
    out += ',';
    out += csv_field(text);
  }
  out += ',';
  if (row.source_line > 0) fmt::format_to(to, "{}", row.source_line);
  for (size_t i = 0; i < row.traffic.size(); ++i)
    if (!report.traffic_names[i].empty())
      fmt::format_to(to, ",{},{}", row.traffic[i].read.count(), row.traffic[i].written.count());
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
  for (const Report& report : reports)
    for (const ReportInstruction& row : report.instructions) {
      if (has_files) out += csv_field(report.module_file) + ',';
      append_row(out, report, row);
    }
  return out;
}

}  // namespace hlosim
