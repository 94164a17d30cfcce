#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/text.h"
#include "report/buffer_report.h"
#include "text/escape.h"
#include "text/json.h"
#include "text/table.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

std::string size(int64_t bytes) { return to_text(Bytes(bytes)); }

double percent(int64_t part, int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

void print_buffer(std::string& out, size_t number, const BufferLine& buffer) {
  const TextBuilder print{out};
  print("    Buffer {}:\n      Size: {}\n", number, size(buffer.size));
  if (!buffer.op_name.empty()) print("      Operator: op_name=\"{}\"\n", buffer.op_name);
  if (buffer.parameter >= 0)
    print("      Entry Parameter: {} ({})\n", buffer.parameter, buffer.name);
  else
    print("      XLA Label: {} ({})\n", buffer.operation, buffer.name);
  print("      Shape: {}\n", buffer.shape);
  if (buffer.padded > buffer.dense)
    print("      Unpadded size: {}\n      Extra memory due to padding: {} ({:.1f}x expansion)\n",
          size(buffer.dense), size(buffer.padded - buffer.dense),
          static_cast<double>(buffer.padded) / static_cast<double>(buffer.dense));
  print("      Live: steps {}-{}, allocation {} at offset {}\n", buffer.start, buffer.end, buffer.allocation,
        buffer.offset);
}

void print_space(std::string& out, const SpaceLine& space) {
  const TextBuilder print{out};
  const SpaceUse& use = space.use;
  print("\n{}: {} allocated", space.name, size(use.allocated));
  if (space.capacity)
    print(" of {} ({:.1f}%)", size(*space.capacity), percent(use.allocated, *space.capacity));
  print("\n  parameters {}, outputs {}, constants {}, temporary {}\n", size(space.parameters),
        size(space.outputs), size(space.constants), size(space.temporary));
  print("  peak           {} at step {}\n", size(use.peak), use.peak_step);
  print("  fragmentation  {} ({:.1f}%)\n", size(std::max<int64_t>(use.allocated - use.peak, 0)),
        percent(std::max<int64_t>(use.allocated - use.peak, 0), use.allocated));
  print("  padding        {} ({:.1f}% of the arrays at the peak)\n",
        size(std::max<int64_t>(use.padded - use.dense, 0)),
        percent(std::max<int64_t>(use.padded - use.dense, 0), use.padded));
  print("  Largest program allocations at the peak:\n");
  for (size_t i = 0; i < space.largest.size(); ++i) print_buffer(out, i + 1, space.largest[i]);
}

Json json_of(const BufferLine& b) {
  Json json = {{"name", b.name},
               {"opcode", b.operation},
               {"shape", b.shape},
               {"allocation", b.allocation},
               {"offset_bytes", b.offset},
               {"size_bytes", b.size},
               {"unpadded_bytes", b.dense},
               {"padded_bytes", b.padded},
               {"start_step", b.start},
               {"end_step", b.end}};
  if (!b.op_name.empty()) json["op_name"] = b.op_name;
  if (b.parameter >= 0) json["parameter"] = b.parameter;
  return json;
}

Json json_of(const std::vector<BufferLine>& buffers) {
  Json list = Json::array();
  for (const BufferLine& buffer : buffers) list.push_back(json_of(buffer));
  return list;
}

}  // namespace

std::string to_text(const BufferReport& report) {
  std::string out = fmt::format("Buffers of {}: {} allocations, {}\n", report.module, report.allocations,
                                size(report.total));
  fmt::format_to(std::back_inserter(out),
                 "  {} steps, scheduled by {}; alignment {}; at least {} are needed at one step\n",
                 report.steps, report.scheduled_by, report.alignment, size(report.least));
  for (const SpaceLine& space : report.spaces) print_space(out, space);
  if (report.at) {
    fmt::format_to(std::back_inserter(out), "\nLive at step {}:\n", *report.at);
    Table table({{"buffer", Align::kLeft, 40},
                 {"size"},
                 {"allocation"},
                 {"offset"},
                 {"from"},
                 {"to"},
                 {"shape", Align::kLeft, 60}});
    for (const BufferLine& b : report.live)
      table.add({b.name, size(b.size), fmt::to_string(b.allocation), fmt::to_string(b.offset),
                 fmt::to_string(b.start), fmt::to_string(b.end), b.shape});
    out += table.text("  ");
  }
  for (const std::string& overflow : report.overflows)
    out += "\nRan out of memory in memory space " + overflow + "\n";
  return printable(std::move(out));
}

std::string to_json(const BufferReport& report) {
  Json json = {{"schema_version", 1},
               {"module", report.module},
               {"scheduled_by", report.scheduled_by},
               {"steps", report.steps},
               {"alignment_bytes", report.alignment},
               {"allocations", report.allocations},
               {"total_bytes", report.total},
               {"least_bytes", report.least}};
  json["spaces"] = Json::array();
  for (const SpaceLine& space : report.spaces) {
    Json one = {{"space", space.use.space},
                {"name", space.name},
                {"allocated_bytes", space.use.allocated},
                {"peak_bytes", space.use.peak},
                {"peak_step", space.use.peak_step},
                {"fragmentation_bytes", std::max<int64_t>(space.use.allocated - space.use.peak, 0)},
                {"unpadded_bytes_at_peak", space.use.dense},
                {"padded_bytes_at_peak", space.use.padded},
                {"parameter_bytes", space.parameters},
                {"output_bytes", space.outputs},
                {"aliased_bytes", space.aliased},
                {"constant_bytes", space.constants},
                {"temporary_bytes", space.temporary}};
    one["capacity_bytes"] = space.capacity ? Json(*space.capacity) : Json(nullptr);
    one["bytes_at_step"] = space.use.at_step;
    one["largest_at_peak"] = json_of(space.largest);
    json["spaces"].push_back(std::move(one));
  }
  if (report.at) json["at"] = {{"step", *report.at}, {"live", json_of(report.live)}};
  json["overflows"] = report.overflows;
  return json.dump(2) + "\n";
}

std::string to_csv(const BufferAnalysis& analysis) {
  std::string out =
      "buffer_id,buffer_name,offset,size,definition_time,end_time,num_uses,use_times,use_names\n";
  for (const Allocation& allocation : analysis.assignment.allocations)
    for (const AssignedValue& at : allocation.values) {
      const LiveRange& range = analysis.ranges[static_cast<size_t>(at.value)];
      std::vector<int32_t> times;
      std::vector<std::string> names;
      analysis.values.for_each_use(analysis.graph, analysis.places, at.value, [&](const ValueUse& use) {
        times.push_back(analysis.schedule.step_of[use.user]);
        names.push_back(analysis.names[use.user]);
      });
      const std::string name = analysis.names[analysis.definer(at.value)] +
                               index_text(analysis.places.index(analysis.values[at.value].defined));
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{}\n",
                     analysis.values[at.value].number, csv_field(name), at.offset, at.size, range.start,
                     range.end, times.size(), fmt::join(times, ";"),
                     csv_field(fmt::format("{}", fmt::join(names, ";"))));
    }
  return out;
}

}  // namespace hlosim
