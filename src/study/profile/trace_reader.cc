#include "profile/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "base/value.h"
#include "profile/decimal_time.h"
#include "profile/json_scanner.h"
#include "profile/line_events.h"
#include "profile/profile_builder.h"
#include "profile/tpu_core.h"

namespace hlosim {
namespace {

/// XProf stops at about this many events.
constexpr int64_t kMostEvents = 1'000'000;

/// The members of one event that are looked at; emptied and filled again for each.
struct RawEvent {
  std::string phase, name, process, thread, start, duration;
  std::string given_name;  // of a process or thread
  std::string long_name, category, op_name, source, flops, model_flops, bytes, device_start, device_duration;
};

struct Thread {
  std::string name;
  std::vector<LineEvent> events;     // by the trace's clock
  std::vector<LineEvent> by_device;  // by the device's own; as many where all have it
};

struct Process {
  std::string name;
  std::map<std::string, Thread> threads;
};

class TraceReader {
 public:
  explicit TraceReader(const SourcePtr& source)
      : source_(source), scan_(source->text()), builder_(source->name(), "trace") {}

  Result<Profile> read() {
    if (scan_.kind() == '[')
      read_events();
    else
      scan_.object([&](std::string_view key) {
        if (key == "traceEvents")
          read_events();
        else
          scan_.skip();
      });
    if (!scan_.failed() && !scan_.at_end()) scan_.fail("the end of the trace");
    if (!scan_.failed() && !has_events_) scan_.fail("an object with \"traceEvents\"");
    if (scan_.failed())
      return tl::unexpected(error_at(source_, static_cast<uint32_t>(scan_.offset()),
                                     fmt::format("damaged trace: expected {}", scan_.expected())));
    if (count_ >= kMostEvents)
      builder_.note(
          fmt::format("{} events: longer traces are truncated, so that times may be missing", count_));
    // What runs beside a TensorCore belongs to what runs on it then.
    for (const bool other : {false, true})
      for (auto& [pid, process] : processes_) take_process(process, other);
    return builder_.take();
  }

 private:
  void read_events() {
    has_events_ = true;
    scan_.array([&] {
      if (scan_.kind() != '{') return scan_.fail("an event, {…}");
      ++count_;
      read_event();
    });
  }

  void read_event() {
    event_ = {};
    const size_t begin = scan_.offset();
    scan_.object([&](std::string_view key) {
      if (key == "args" && scan_.kind() == '{')
        read_arguments();
      else if (std::string* member = member_of(key))
        scan_.scalar(*member);
      else
        scan_.skip();
    });
    if (scan_.failed()) return;
    if (event_.phase == "M") return name_track();
    if (event_.phase == "X") add_event(begin);
  }

  std::string* member_of(std::string_view key) {
    if (key == "ph") return &event_.phase;
    if (key == "name") return &event_.name;
    if (key == "pid") return &event_.process;
    if (key == "tid") return &event_.thread;
    if (key == "ts") return &event_.start;
    if (key == "dur") return &event_.duration;
    return nullptr;
  }

  std::string* argument_of(std::string_view key) {
    if (key == "name") return &event_.given_name;
    if (key == "long_name") return &event_.long_name;
    if (key == "hlo_category") return &event_.category;
    if (key == "tf_op") return &event_.op_name;
    if (key == "source") return &event_.source;
    if (key == "flops") return &event_.flops;
    if (key == "model_flops") return &event_.model_flops;
    if (key == "bytes_accessed") return &event_.bytes;
    if (key == "device_offset_ps") return &event_.device_start;
    if (key == "device_duration_ps") return &event_.device_duration;
    return nullptr;
  }

  void read_arguments() {
    scan_.object([&](std::string_view key) {
      std::string* member = argument_of(key);
      const char kind = scan_.kind();
      if (member && kind != '{' && kind != '[')
        scan_.scalar(*member);
      else
        scan_.skip();
    });
  }

  void name_track() {
    Process& process = processes_[event_.process];
    if (event_.name == "process_name") process.name = event_.given_name;
    if (event_.name == "thread_name") process.threads[event_.thread].name = event_.given_name;
  }

  void add_event(size_t begin) {
    Process& process = processes_[event_.process];
    if (!process.name.empty() && !parse_tpu_core(process.name)) return;
    const std::optional<int64_t> start = picoseconds_of(event_.start, kMicroseconds);
    const std::optional<int64_t> duration =
        event_.duration.empty() ? 0 : picoseconds_of(event_.duration, kMicroseconds);
    if (!start || !duration) {
      return scan_.fail_at(begin, "an event with \"ts\" and \"dur\" in microseconds from 0 on");
    }
    Thread& thread = process.threads[event_.thread];
    thread.events.push_back({*start, *duration, kind_of_event()});
    const std::optional<int64_t> device_start = whole_amount(event_.device_start),
                                 device_duration = whole_amount(event_.device_duration);
    if (device_start && device_duration)
      thread.by_device.push_back({*device_start, *device_duration, thread.events.back().what});
  }

  uint32_t kind_of_event() {
    const auto [at, is_new] =
        kind_of_.try_emplace(event_.name + '\n' + event_.long_name, static_cast<uint32_t>(kinds_.size()));
    if (!is_new) return at->second;
    ProfiledOperation kind;
    kind.name = instruction_name(event_.long_name);
    kind.text = event_.long_name;
    if (kind.name.empty()) kind.name = event_.name;
    kind.category = event_.category;
    kind.op_name = event_.op_name;
    kind.source = event_.source;
    kind.flops = whole_amount(event_.flops);
    kind.model_flops = whole_amount(event_.model_flops);
    kind.bytes = whole_amount(event_.bytes);
    names_.push_back(event_.name);
    kinds_.push_back(std::move(kind));
    return at->second;
  }

  // ── devices ──

  void take_process(Process& process, bool other) {
    const std::optional<TpuCore> core = parse_tpu_core(process.name);
    if (!core || core->is_beside != other) {
      if (!core && process.name.starts_with("/device:"))
        builder_.note(fmt::format("process '{}' is not read", shown(process.name)));
      return;
    }
    if (!other) take_runs(process, core->device);
    const auto programs = programs_.try_emplace(core->device, std::vector<LineEvent>()).first;
    for (auto& [tid, thread] : process.threads)
      if (thread.name == operations_line(other) || (!other && thread.name == kAsync))
        take_operations(thread, thread.name == kAsync, other, programs->second);
  }

  void take_runs(const Process& process, int64_t device) {
    bool any = false;
    std::vector<LineEvent> runs;
    for (const auto& [tid, thread] : process.threads) {
      any = any || !thread.events.empty();
      if (thread.name == "Steps")
        for (const LineEvent& event : thread.events)
          builder_.add_step(names_[event.what], Picoseconds(event.duration));
      if (thread.name != "XLA Modules") continue;
      for (LineEvent event : thread.events) {
        const uint32_t program = builder_.program(parse_program_name(names_[event.what]));
        builder_.add_run(program, Picoseconds(event.duration));
        event.what = program;
        runs.push_back(event);
      }
    }
    if (any) ++builder_.profile().devices;
    programs_.insert_or_assign(device, ProgramRuns(std::move(runs)));
  }

  /// Runs are known by the trace's clock, times better by the device's.
  void take_operations(Thread& thread, bool beside, bool other, const ProgramRuns& runs) {
    const bool by_device = thread.by_device.size() == thread.events.size();
    std::vector<LineEvent> events = by_device ? thread.by_device : thread.events;
    std::vector<uint32_t> kinds(events.size()), programs(events.size());
    for (size_t i = 0; i < events.size(); ++i) {
      kinds[i] = events[i].what;
      const int64_t ran = runs.at(thread.events[i].start);
      programs[i] = ran >= 0 ? static_cast<uint32_t>(ran) : builder_.lone_program();
      events[i].what = static_cast<uint32_t>(i);
    }
    std::unordered_map<uint64_t, size_t> places;  // by program and kind
    const auto add = [&](const LineEvent& event, Picoseconds self) {
      const uint32_t program = programs[event.what], kind = kinds[event.what];
      const auto [at, is_new] = places.try_emplace(uint64_t{program} << 32 | kind);
      if (is_new) {
        kinds_[kind].beside = beside || other;
        kinds_[kind].core = other ? kCoreBeside : std::string_view();
        at->second = builder_.operation(program, kinds_[kind]);
      }
      ProfileBuilder::add_time(builder_.profile().programs[program].operations[at->second],
                               Picoseconds(event.start), Picoseconds(event.duration), self, 1);
    };
    if (beside)
      for (const LineEvent& event : events) add(event, Picoseconds(event.duration));
    else
      for_each_self(events, add);
  }

  static constexpr int kMicroseconds = 6;
  static constexpr std::string_view kAsync = "Async XLA Ops";

  SourcePtr source_;
  JsonScanner scan_;
  ProfileBuilder builder_;
  RawEvent event_;
  bool has_events_ = false;
  int64_t count_ = 0;
  std::map<std::string, Process> processes_;
  std::map<int64_t, ProgramRuns> programs_;  // on the TensorCore of each device
  std::unordered_map<std::string, uint32_t> kind_of_;
  std::vector<ProfiledOperation> kinds_;
  std::vector<std::string> names_;  // by kind, as the trace has them
};

}  // namespace

bool looks_like_trace(std::string_view text) {
  JsonScanner scan(text.substr(0, size_t{1} << 20));
  if (scan.kind() == '{')
    return text.substr(0, size_t{1} << 20).find("\"traceEvents\"") != std::string_view::npos;
  return scan.kind() == '[' && text.substr(0, 4096).find("\"ph\"") != std::string_view::npos;
}

Result<Profile> read_trace(const SourcePtr& source) { return TraceReader(source).read(); }

}  // namespace hlosim
