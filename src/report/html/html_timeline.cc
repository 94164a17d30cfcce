#include <fmt/format.h>

#include "report/html/html_data.h"
#include "text/json.h"

namespace hlosim {
namespace {

std::string slices_table(const Trace& trace) {
  std::vector<int64_t> track, instruction, start, length, waiting, role, flow, first_hidden, busy;
  for (const TraceSlice& slice : trace.slices) {
    track.push_back(slice.track);
    instruction.push_back(slice.instruction);
    start.push_back(slice.start.count());
    length.push_back((slice.end - slice.start).count());
    waiting.push_back(slice.waiting ? 1 : 0);
    role.push_back(static_cast<int64_t>(slice.role));
    flow.push_back(static_cast<int64_t>(slice.flow));
    first_hidden.push_back(slice.first_hidden);
    busy.push_back(slice.busy.count());
  }
  ColumnWriter table(trace.slices.size());
  table.whole_numbers("track", track);
  table.whole_numbers("instruction", instruction);
  table.whole_numbers("start_ps", start);
  table.whole_numbers("length_ps", length);
  table.whole_numbers("waiting", waiting);
  table.whole_numbers("role", role);
  table.whole_numbers("flow", flow);
  table.whole_numbers("first_hidden", first_hidden);
  table.whole_numbers("busy_ps", busy);
  return table.take();
}

std::string counter_json(const TraceCounter& counter) {
  std::vector<int64_t> times, bytes;
  for (const CurvePoint& point : counter.points) {
    times.push_back(point.time.count());
    bytes.push_back(point.value.count());
  }
  ColumnWriter table(counter.points.size());
  table.whole_numbers("time_ps", times);
  table.whole_numbers("bytes", bytes);
  return fmt::format("{{\"name\":{},\"space\":{},\"points\":{}}}", json_text(counter.name), counter.space,
                     table.take());
}

}  // namespace

std::string timeline_data(const Trace& trace) {
  std::string out = "{\"total_ps\":" + std::to_string(trace.makespan.count()) +
                    ",\"shown_iterations\":" + std::to_string(trace.shown_iterations) + ",\"tracks\":[";
  for (const std::string& track : trace.tracks) {
    if (out.back() != '[') out += ',';
    out += json_text(track);
  }
  out += "],\"slices\":" + slices_table(trace) + ",\"counters\":[";
  for (const TraceCounter& counter : trace.counters) {
    if (out.back() != '[') out += ',';
    out += counter_json(counter);
  }
  return out + "]}";
}

}  // namespace hlosim
