// Perfetto's trace format: a stream of TracePackets.
#include <algorithm>

#include "base/check.h"
#include "report/trace/perfetto.pb.h"
#include "report/trace/trace.h"

namespace hlosim {
namespace {

using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

uint64_t perfetto_nanoseconds(Picoseconds time) { return static_cast<uint64_t>(time.count()) / 1000; }

/// One event and where it stands: packets are written in the order of time, those of one track as they nest.
struct Event {
  uint64_t time = 0;
  int64_t slice = -1;  // begin of it, or end
  bool ends = false;
  size_t counter = 0, point = 0;
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(const TextSink& sink) : sink_(sink) {}

  void write(std::span<const Trace> traces) {
    for (size_t i = 0; i < traces.size(); ++i) {
      pid_ = i + 1;
      describe(traces[i]);
      for (const Event& event : events_of(traces[i])) emit(traces[i], event);
    }
    sink_(out_);
  }

 private:
  uint64_t uuid(size_t track) const { return pid_ << 32 | track; }
  uint64_t flow(uint64_t id) const { return pid_ << 48 | id; }

  /// Appends one packet, which `fill` has something to say in. A file is its packets one after the other.
  template <class F>
  void packet(F&& fill) {
    file_.Clear();
    perfetto::TracePacket& made = *file_.add_packet();
    made.set_trusted_packet_sequence_id(1);
    fill(made);
    HLOSIM_CHECK(file_.AppendToString(&out_), "a packet of {} bytes", file_.ByteSizeLong());
    constexpr size_t kPart = 1 << 16;
    if (out_.size() >= kPart) sink_(out_), out_.clear();
  }

  void describe(const Trace& trace) {
    packet([&](perfetto::TracePacket& made) {
      if (pid_ == 1) made.set_sequence_flags(perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
      TrackDescriptor& track = *made.mutable_track_descriptor();
      track.set_uuid(uuid(0));
      track.set_name(trace.name);
      track.set_child_ordering(TrackDescriptor::EXPLICIT);
      track.mutable_process()->set_pid(static_cast<int32_t>(pid_));
      track.mutable_process()->set_process_name(trace.name);
    });
    for (size_t i = 0; i < trace.tracks.size(); ++i) child(i + 1, trace.tracks[i], false);
    for (size_t i = 0; i < trace.counters.size(); ++i)
      child(trace.tracks.size() + i + 1, trace.counters[i].name, true);
  }

  void child(size_t number, std::string_view name, bool counts) {
    packet([&](perfetto::TracePacket& made) {
      TrackDescriptor& track = *made.mutable_track_descriptor();
      track.set_uuid(uuid(number));
      track.set_parent_uuid(uuid(0));
      track.set_name(std::string(name));
      if (counts) track.mutable_counter()->set_unit(perfetto::CounterDescriptor::UNIT_SIZE_BYTES);
      track.set_sibling_order_rank(static_cast<int32_t>(number));
    });
  }

  /// Begins and ends in the order of time; at the same time as they nest.
  static std::vector<Event> events_of(const Trace& trace) {
    std::vector<Event> events;
    events.reserve(2 * trace.slices.size());
    std::vector<int64_t> open;
    const auto close = [&](bool all, uint32_t track, Picoseconds until) {
      while (!open.empty()) {
        const TraceSlice& top = trace.slices[static_cast<size_t>(open.back())];
        if (!all && top.track == track && top.end > until) return;
        events.push_back({perfetto_nanoseconds(top.end), open.back(), true, 0, 0});
        open.pop_back();
      }
    };
    for (size_t i = 0; i < trace.slices.size(); ++i) {
      const TraceSlice& slice = trace.slices[i];
      close(false, slice.track, slice.start);
      events.push_back({perfetto_nanoseconds(slice.start), static_cast<int64_t>(i), false, 0, 0});
      open.push_back(static_cast<int64_t>(i));
    }
    close(true, 0, {});
    for (size_t i = 0; i < trace.counters.size(); ++i)
      for (size_t point = 0; point < trace.counters[i].points.size(); ++point)
        events.push_back({perfetto_nanoseconds(trace.counters[i].points[point].time), -1, false, i, point});
    // At one time, tracks where flows end come last: no flow ends before its transfer begins.
    std::vector<bool> ends_flows(trace.tracks.size());
    for (const TraceSlice& slice : trace.slices)
      if (slice.role == FlowRole::kEnd) ends_flows[slice.track] = true;
    const auto place = [&](const Event& event) {
      return std::pair(event.time,
                       event.slice >= 0 && ends_flows[trace.slices[static_cast<size_t>(event.slice)].track]);
    };
    std::stable_sort(events.begin(), events.end(),
                     [&](const Event& a, const Event& b) { return place(a) < place(b); });
    return events;
  }

  void emit(const Trace& trace, const Event& at) {
    packet([&](perfetto::TracePacket& made) {
      made.set_timestamp(at.time);
      TrackEvent& event = *made.mutable_track_event();
      if (at.slice < 0) {
        event.set_type(TrackEvent::TYPE_COUNTER);
        event.set_track_uuid(uuid(trace.tracks.size() + at.counter + 1));
        event.set_counter_value(trace.counters[at.counter].points[at.point].value.count());
        return;
      }
      const TraceSlice& slice = trace.slices[static_cast<size_t>(at.slice)];
      event.set_type(at.ends ? TrackEvent::TYPE_SLICE_END : TrackEvent::TYPE_SLICE_BEGIN);
      event.set_track_uuid(uuid(slice.track + 1));
      if (!at.ends) begin(trace, slice, event);
      // A done may wait before its transfer begins, but never ends before it does.
      if (at.ends && slice.role == FlowRole::kEnd) event.add_terminating_flow_ids(flow(slice.flow));
    });
  }

  void begin(const Trace& trace, const TraceSlice& slice, TrackEvent& event) const {
    const TraceInstruction& instruction = trace.instructions[static_cast<size_t>(slice.instruction)];
    event.add_categories(slice.waiting ? "wait" : std::string(instruction.category));
    event.set_name(slice_name(trace, slice));
    if (slice.role == FlowRole::kStart || slice.role == FlowRole::kStep) event.add_flow_ids(flow(slice.flow));
    const auto detail = [&](std::string name) -> perfetto::DebugAnnotation& {
      perfetto::DebugAnnotation& added = *event.add_debug_annotations();
      added.set_name(std::move(name));
      return added;
    };
    detail("start_ps").set_int_value(slice.start.count());
    detail("duration_ps").set_int_value((slice.end - slice.start).count());
    if (slice.track != 0) return;
    for (const TraceDetail& given : instruction.details) {
      std::string name(given.key);
      if (!given.number)
        detail(std::move(name)).set_string_value(given.text);
      else
        detail(given.text.empty() ? name : name + " " + given.text).set_int_value(*given.number);
    }
  }

  const TextSink& sink_;
  perfetto::Trace file_;  // of one packet at a time
  std::string out_;       // what the sink doesn't have yet
  uint64_t pid_ = 1;
};

}  // namespace

void write_perfetto_trace(std::span<const Trace> traces, const TextSink& out) {
  PerfettoWriter(out).write(traces);
}

std::string perfetto_trace(std::span<const Trace> traces) {
  std::string bytes;
  write_perfetto_trace(traces, [&](std::string_view part) { bytes += part; });
  return bytes;
}

}  // namespace hlosim
