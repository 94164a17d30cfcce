#include "profile/xspace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/text.h"
#include "profile/line_events.h"
#include "profile/profile_builder.h"
#include "profile/tpu_core.h"
#include "profile/wire.h"
#include "profile/xplane.pb.h"

namespace hlosim {
namespace {

/// Field numbers of xplane.proto, for what is read piece by piece.
enum : uint32_t { kSpacePlane = 1, kSpaceError = 2, kSpaceWarning = 3, kSpaceHost = 4 };
enum : uint32_t { kPlaneName = 2, kPlaneLine = 3, kPlaneEvents = 4, kPlaneStats = 5, kPlaneStat = 6 };
enum : uint32_t { kLineName = 2, kLineTimestamp = 3, kLineEvent = 4 };

struct Piece {
  std::string_view bytes;
  size_t offset = 0;
};

/// A plane's own parts, before they are looked into.
struct PlaneParts {
  std::string name;
  std::vector<Piece> lines, events, stats, own_stats;
};

/// What an event is: its metadata, with texts looked up.
struct EventKind {
  ProfiledOperation operation;
  std::optional<uint64_t> program;
  std::string name;  // as it stands
};

class SpaceReader {
 public:
  SpaceReader(std::string_view bytes, const std::string& name)
      : bytes_(bytes), file_(name), builder_(name, "XSpace") {}

  Result<Profile> read() {
    WireReader fields(bytes_, 0);
    int64_t planes = 0;
    while (const WireField* field = fields.next()) {
      if (field->type != WireType::kBytes) continue;
      const Piece piece{field->bytes, field->offset};
      if (field->number == kSpacePlane && (++planes, !read_plane(piece))) return failed();
      if (field->number == kSpaceError || field->number == kSpaceWarning)
        builder_.note(fmt::format("the profiler reports: {}", shown(piece.bytes, 200)));
      if (field->number == kSpaceHost && builder_.profile().host.empty())
        builder_.profile().host = std::string(piece.bytes);
    }
    if (fields.damaged()) return wrong(fields.offset(), "a field of XSpace"), failed();
    if (planes == 0) return wrong(0, "a plane"), failed();
    // What runs beside a TensorCore belongs to what runs on it then.
    for (const auto& [core, plane] : other_planes_) {
      core_ = core;
      if (!read_stat_names(plane) || !read_kinds(plane) || !read_lines(plane)) return failed();
    }
    return builder_.take();
  }

 private:
  tl::unexpected<Diagnostic> failed() const {
    return failure(problem_, "XSpace, as *.xplane.pb files have it");
  }

  bool wrong(size_t offset, std::string_view expected) {
    if (problem_.empty())
      problem_ = fmt::format("cannot read '{}': damaged at byte {}, expected {}", file_, offset, expected);
    return false;
  }

  /// A whole small message.
  template <class Message>
  bool parse(Message& message, const Piece& piece, std::string_view what) {
    return message.ParseFromArray(piece.bytes.data(), static_cast<int>(piece.bytes.size())) ||
           wrong(piece.offset, what);
  }

  // ── planes ──

  bool read_plane(const Piece& plane) {
    PlaneParts parts;
    WireReader fields(plane.bytes, plane.offset);
    while (const WireField* field = fields.next()) {
      if (field->type != WireType::kBytes) continue;
      const Piece piece{field->bytes, field->offset};
      if (field->number == kPlaneName) parts.name = std::string(piece.bytes);
      if (field->number == kPlaneLine) parts.lines.push_back(piece);
      if (field->number == kPlaneEvents) parts.events.push_back(piece);
      if (field->number == kPlaneStats) parts.stats.push_back(piece);
      if (field->number == kPlaneStat) parts.own_stats.push_back(piece);
    }
    if (fields.damaged()) return wrong(fields.offset(), "a field of XPlane");
    if (parts.name == "/host:metadata") return read_stat_names(parts) && read_modules(parts);
    const std::optional<TpuCore> core = parse_tpu_core(parts.name);
    if (!core) {
      if (parts.name.starts_with("/device:") && !parts.lines.empty())
        builder_.note(fmt::format("plane '{}' is not read", shown(parts.name)));
      return true;
    }
    core_ = *core;
    if (core->is_beside) {
      other_planes_.emplace_back(*core, std::move(parts));
      return true;
    }
    return read_stat_names(parts) && read_device(parts) && read_kinds(parts) && read_lines(parts);
  }

  bool read_stat_names(const PlaneParts& parts) {
    stat_names_.clear();
    for (const Piece& piece : parts.stats) {
      xplane::StatMetadataEntry entry;
      if (!parse(entry, piece, "a map entry of XStatMetadata")) return false;
      stat_names_[entry.key()] = entry.value().name();
    }
    return true;
  }

  const std::string& stat_name(int64_t id) const {
    static const std::string kNone;
    const auto found = stat_names_.find(id);
    return found == stat_names_.end() ? kNone : found->second;
  }

  std::string text_of(const xplane::Stat& stat) const {
    switch (stat.value_case()) {
      case xplane::Stat::kStrValue:
        return stat.str_value();
      case xplane::Stat::kRefValue:
        return stat_name(static_cast<int64_t>(stat.ref_value()));
      default:
        return {};
    }
  }

  static std::optional<int64_t> whole_of(const xplane::Stat& stat) {
    switch (stat.value_case()) {
      case xplane::Stat::kInt64Value:
        return stat.int64_value();
      case xplane::Stat::kUint64Value:
        return static_cast<int64_t>(stat.uint64_value());
      default:
        return std::nullopt;
    }
  }

  static std::optional<int64_t> amount_of(const xplane::Stat& stat) {
    const std::optional<int64_t> value = whole_of(stat);
    return value && *value >= 0 ? value : std::nullopt;
  }

  // ── modules ──

  bool read_modules(const PlaneParts& parts) {
    for (const Piece& piece : parts.events) {
      xplane::EventMetadataEntry entry;
      if (!parse(entry, piece, "a map entry of XEventMetadata")) return false;
      for (xplane::Stat& stat : *entry.mutable_value()->mutable_stats())
        if (stat.value_case() == xplane::Stat::kBytesValue && stat_name(stat.metadata_id()) == "Hlo Proto") {
          ProgramName name = parse_program_name(entry.value().name());
          if (!name.id) name.id = static_cast<uint64_t>(entry.key());
          builder_.profile().programs[builder_.program(name)].hlo = std::move(*stat.mutable_bytes_value());
        }
    }
    return true;
  }

  // ── devices ──

  bool read_device(const PlaneParts& parts) {
    Profile& profile = builder_.profile();
    ++profile.devices;
    for (const Piece& piece : parts.own_stats) {
      xplane::Stat stat;
      if (!parse(stat, piece, "an XStat")) return false;
      const std::string& name = stat_name(stat.metadata_id());
      if (name == "device_type_string") profile.device_type = text_of(stat);
      if (stat.value_case() != xplane::Stat::kDoubleValue || !(stat.double_value() > 0)) continue;
      if (name == "peak_teraflops_per_second") profile.peak_flops = stat.double_value() * 1e12;
      if (name == "peak_hbm_bw_gigabytes_per_second") profile.peak_bandwidth = stat.double_value() * 1e9;
    }
    return true;
  }

  bool read_kinds(const PlaneParts& parts) {
    kinds_.clear();
    kind_of_.clear();
    for (const Piece& piece : parts.events) {
      xplane::EventMetadataEntry entry;
      if (!parse(entry, piece, "a map entry of XEventMetadata")) return false;
      kind_of_[entry.key()] = static_cast<uint32_t>(kinds_.size());
      kinds_.push_back(kind_of(entry.value()));
    }
    return true;
  }

  EventKind kind_of(const xplane::EventMetadata& metadata) const {
    EventKind kind;
    kind.name = metadata.name();
    ProfiledOperation& operation = kind.operation;
    operation.name = instruction_name(metadata.name());
    if (!operation.name.empty())
      operation.text = metadata.name();
    else
      operation.name = metadata.display_name().empty() ? metadata.name() : metadata.display_name();
    for (const xplane::Stat& stat : metadata.stats()) {
      const std::string& name = stat_name(stat.metadata_id());
      if (name == "hlo_category") operation.category = text_of(stat);
      if (name == "tf_op") operation.op_name = text_of(stat);
      if (name == "source") operation.source = text_of(stat);
      if (name == "long_name" && operation.text.empty()) operation.text = text_of(stat);
      if (name == "flops") operation.flops = amount_of(stat);
      if (name == "model_flops") operation.model_flops = amount_of(stat);
      if (name == "bytes_accessed") operation.bytes = amount_of(stat);
      if (name == "program_id")
        if (const std::optional<int64_t> id = whole_of(stat)) kind.program = static_cast<uint64_t>(*id);
    }
    return kind;
  }

  // ── lines ──

  bool read_lines(const PlaneParts& parts) {
    std::vector<LineEvent> runs;
    std::vector<std::pair<std::vector<LineEvent>, bool>> operations;  // by line; beside
    for (const Piece& line : parts.lines) {
      const std::optional<std::string> name = line_name(line);
      if (!name) return false;
      const bool is_modules = *name == "XLA Modules", is_steps = *name == "Steps";
      const bool beside = *name == "Async XLA Ops";
      const bool is_operations = *name == operations_line(core_.is_beside);
      if (!is_operations && (core_.is_beside || (!is_modules && !is_steps && !beside))) continue;
      std::vector<LineEvent> events;
      if (!read_events(line, events)) return false;
      if (is_steps)
        for (const LineEvent& event : events)
          builder_.add_step(kinds_[event.what].name, Picoseconds(event.duration));
      else if (is_modules)
        take_runs(events, runs);
      else
        operations.emplace_back(std::move(events), beside);
    }
    if (!core_.is_beside) programs_.insert_or_assign(core_.device, ProgramRuns(std::move(runs)));
    const auto programs = programs_.try_emplace(core_.device, std::vector<LineEvent>()).first;
    for (auto& [events, beside] : operations) take_operations(events, beside, programs->second);
    return true;
  }

  /// Nothing when it is damaged.
  std::optional<std::string> line_name(const Piece& line) {
    std::string name;
    timestamp_ps_ = 0;
    WireReader fields(line.bytes, line.offset);
    while (const WireField* field = fields.next()) {
      if (field->number == kLineName && field->type == WireType::kBytes) name = std::string(field->bytes);
      if (field->number == kLineTimestamp && field->type == WireType::kVarint) {
        const auto ns = static_cast<int64_t>(field->value);
        if (ns < 0 || ns > INT64_MAX / 4000)
          return wrong(field->offset, "a time in nanoseconds"), std::nullopt;
        timestamp_ps_ = ns * 1000;
      }
    }
    if (fields.damaged()) return wrong(fields.offset(), "a field of XLine"), std::nullopt;
    return name;
  }

  bool read_events(const Piece& line, std::vector<LineEvent>& events) {
    xplane::Event event;
    std::vector<LineEvent> by_host;
    bool all_by_device = true;
    WireReader fields(line.bytes, line.offset);
    while (const WireField* field = fields.next()) {
      if (field->number != kLineEvent || field->type != WireType::kBytes) continue;
      if (!parse(event, {field->bytes, field->offset}, "an XEvent")) return false;
      const auto kind = kind_of_.find(event.metadata_id());
      if (kind == kind_of_.end()) return wrong(field->offset, "an XEvent with metadata of its plane");
      if (event.data_case() == xplane::Event::kNumOccurrences) {
        builder_.note("events that the profiler had added up already are left out");
        continue;
      }
      constexpr int64_t kLongest = INT64_MAX / 4;
      if (event.duration_ps() < 0 || event.offset_ps() < 0 || event.duration_ps() > kLongest ||
          event.offset_ps() > kLongest)
        return wrong(field->offset, "an XEvent with an offset and a duration from 0 on");
      by_host.push_back({timestamp_ps_ + event.offset_ps(), event.duration_ps(), kind->second});
      const std::optional<LineEvent> own = device_time(event, kind->second);
      all_by_device = all_by_device && own;
      events.push_back(own.value_or(by_host.back()));
    }
    // One line, one clock: the device's own is the better one where all events have it.
    if (!all_by_device) keep_places(events, by_host);
    return true;
  }

  /// The device's clock for what it measured itself.
  std::optional<LineEvent> device_time(const xplane::Event& event, uint32_t kind) const {
    std::optional<int64_t> offset, duration;
    for (const xplane::Stat& stat : event.stats()) {
      const std::string& name = stat_name(stat.metadata_id());
      if (name == "device_offset_ps") offset = amount_of(stat);
      if (name == "device_duration_ps") duration = amount_of(stat);
    }
    if (!offset || !duration || *offset > INT64_MAX / 4 || *duration > INT64_MAX / 4) return std::nullopt;
    return LineEvent{*offset, *duration, kind};
  }

  static void keep_places(std::vector<LineEvent>& events, const std::vector<LineEvent>& by_host) {
    for (size_t i = 0; i < events.size(); ++i) events[i] = by_host[i];
  }

  void take_runs(const std::vector<LineEvent>& events, std::vector<LineEvent>& runs) {
    for (LineEvent event : events) {
      const uint32_t program = builder_.program(parse_program_name(kinds_[event.what].name));
      builder_.add_run(program, Picoseconds(event.duration));
      event.what = program;
      runs.push_back(event);
    }
  }

  void take_operations(std::vector<LineEvent>& events, bool beside, const ProgramRuns& runs) {
    std::unordered_map<uint64_t, size_t> places;  // by program and kind
    const auto add = [&](const LineEvent& event, Picoseconds self) {
      EventKind& kind = kinds_[event.what];
      const int64_t ran = kind.program ? -1 : runs.at(event.start);
      const uint32_t program = ran >= 0       ? static_cast<uint32_t>(ran)
                               : kind.program ? builder_.program({{}, kind.program})
                                              : builder_.lone_program();
      const auto [at, is_new] = places.try_emplace(uint64_t{program} << 32 | event.what);
      if (is_new) {
        kind.operation.beside = beside || core_.is_beside;
        if (core_.is_beside) kind.operation.core = kCoreBeside;
        at->second = builder_.operation(program, kind.operation);
      }
      ProfileBuilder::add_time(builder_.profile().programs[program].operations[at->second],
                               Picoseconds(event.start), Picoseconds(event.duration), self, 1);
    };
    if (beside)
      for (const LineEvent& event : events) add(event, Picoseconds(event.duration));
    else
      for_each_self(events, add);
  }

  std::string_view bytes_;
  const std::string& file_;
  ProfileBuilder builder_;
  std::string problem_;
  std::map<int64_t, ProgramRuns> programs_;  // on the TensorCore of each device
  std::vector<std::pair<TpuCore, PlaneParts>> other_planes_;
  // Of the plane that is read.
  std::unordered_map<int64_t, std::string> stat_names_;
  std::unordered_map<int64_t, uint32_t> kind_of_;
  std::vector<EventKind> kinds_;
  int64_t timestamp_ps_ = 0;
  TpuCore core_;
};

}  // namespace

// A module's proto begins with a message whose first field is a text; a plane's is a number. Hosts come last:
// what seems to begin with one is a text with a quote in front.
bool looks_like_xspace(std::string_view bytes) {
  WireReader fields(bytes, 0);
  const WireField* field = fields.next();
  if (!field || field->number >= kSpaceHost || field->type != WireType::kBytes) return false;
  if (field->number != kSpacePlane) return true;
  WireReader plane(field->bytes, field->offset);
  while (const WireField* part = plane.next()) {
    if (part->number == 1 && part->type != WireType::kVarint) return false;
    if (part->number == kPlaneName) return part->type == WireType::kBytes;
  }
  return false;
}

Result<Profile> read_xspace(std::string_view bytes, const std::string& name) {
  return SpaceReader(bytes, name).read();
}

}  // namespace hlosim
