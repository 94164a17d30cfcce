// Chrome's trace event format: "Trace Event Format" (Google, 2016), JSON object form.
#include <array>

#include "report/trace/trace.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

/// Microseconds, to the picosecond.
std::string microseconds(Picoseconds time) {
  const int64_t ps = time.count();
  return fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000);
}

class Writer {
 public:
  explicit Writer(const TextSink& sink) : sink_(sink) {}

  void write(std::span<const Trace> traces) {
    out_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    for (size_t i = 0; i < traces.size(); ++i) process(traces[i], i + 1);
    out_ += "\n]}\n";
    sink_(out_);
  }

 private:
  void begin() {
    constexpr size_t kPart = 1 << 16;
    if (out_.size() >= kPart) sink_(out_), out_.clear();
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
  }

  void metadata(std::string_view what, size_t pid, size_t tid, const std::string& arguments) {
    begin();
    print_("{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{{}}}}}", what, pid, tid,
           arguments);
  }

  void process(const Trace& trace, size_t pid) {
    metadata("process_name", pid, 0, "\"name\":" + json_text(trace.name));
    for (size_t track = 0; track < trace.tracks.size(); ++track) {
      metadata("thread_name", pid, track + 1, "\"name\":" + json_text(trace.tracks[track]));
      metadata("thread_sort_index", pid, track + 1, fmt::format("\"sort_index\":{}", track));
    }
    std::vector<std::string> details;
    for (const TraceInstruction& instruction : trace.instructions) details.push_back(details_of(instruction));
    for (const TraceSlice& slice : trace.slices) {
      const auto instruction = static_cast<size_t>(slice.instruction);
      begin();
      print_("{{\"ph\":\"X\",\"name\":{},\"cat\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{},\"dur\":{}",
             json_text(slice_name(trace, slice)), category(trace, slice), pid, slice.track + 1,
             microseconds(slice.start), microseconds(slice.end - slice.start));
      if (slice.track == 0) print_(",\"args\":{{{}}}", details[instruction]);
      out_ += '}';
      if (slice.role != FlowRole::kNone) flow(slice, pid);
    }
    for (const TraceCounter& counter : trace.counters)
      for (const CurvePoint& point : counter.points) {
        begin();
        print_("{{\"ph\":\"C\",\"name\":{},\"pid\":{},\"ts\":{},\"args\":{{\"bytes\":{}}}}}",
               json_text(counter.name), pid, microseconds(point.time), point.value.count());
      }
  }

  static std::string_view category(const Trace& trace, const TraceSlice& slice) {
    return slice.waiting ? "wait" : trace.instructions[static_cast<size_t>(slice.instruction)].category;
  }

  static std::string details_of(const TraceInstruction& instruction) {
    std::string text;
    for (const TraceDetail& detail : instruction.details) {
      if (!text.empty()) text += ',';
      std::string key(detail.key);
      if (detail.number && !detail.text.empty()) key += " " + detail.text;
      text +=
          json_text(key) + ":" + (detail.number ? std::to_string(*detail.number) : json_text(detail.text));
    }
    return text;
  }

  /// From the start over the transfer to the done.
  void flow(const TraceSlice& slice, size_t pid) {
    constexpr std::array<std::string_view, 4> kPhases = {"", "s", "t", "f"};
    begin();
    print_(
        "{{\"ph\":\"{}\",\"name\":\"transfer\",\"cat\":\"flow\",\"id\":\"{}.{}\",\"pid\":{},\"tid\":{},"
        "\"ts\":{}{}}}",
        kPhases[static_cast<size_t>(slice.role)], pid, slice.flow, pid, slice.track + 1,
        microseconds(slice.role == FlowRole::kEnd ? slice.end : slice.start),
        slice.role == FlowRole::kEnd ? ",\"bp\":\"e\"" : "");
  }

  const TextSink& sink_;
  std::string out_;  // what the sink doesn't have yet
  TextBuilder print_{out_};
  bool first_ = true;
};

}  // namespace

void write_chrome_json(std::span<const Trace> traces, const TextSink& out) { Writer(out).write(traces); }

std::string chrome_json(std::span<const Trace> traces) {
  std::string text;
  write_chrome_json(traces, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace hlosim
