// Traces: what is in them, and that the written files are what the formats say.
#include "report/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "support/module_files.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

struct Traced {
  Module module;
  Trace trace;
};

Traced traced(const std::string& text, const std::string& device, const TraceOptions& options = {}) {
  Traced result{test::module_or_fail(text), {}};
  const Device loaded = test::device_or_fail(device);
  const Result<Estimate> estimate =
      hlosim::estimate(result.module, op_table(), loaded, {{}, Lowering::kNever});
  EXPECT_TRUE(estimate) << (estimate ? "" : render(estimate.error()));
  if (estimate) result.trace = make_trace(op_table(), loaded, *estimate, options);
  return result;
}

constexpr const char* kLoop = R"(HloModule m, is_scheduled=true
body {
  s = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,128]{1,0:T(8,128)} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  c = (f32[8,128]{1,0:T(8,128)S(1)}, f32[8,128]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(x)
  y = f32[8,128]{1,0:T(8,128)} negate(x)
  d = f32[8,128]{1,0:T(8,128)S(1)} copy-done(c)
  ROOT r = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(j, y)
}
condition {
  s = (s32[], f32[8,128]{1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(50)
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[8,128]{1,0:T(8,128)} parameter(0)
  z = s32[] constant(0)
  t = (s32[], f32[8,128]{1,0:T(8,128)}) tuple(z, p)
  l = (s32[], f32[8,128]{1,0:T(8,128)}) while(t), condition=condition, body=body
  ROOT r = f32[8,128]{1,0:T(8,128)} get-tuple-element(l), index=1
}
)";

std::string seed() { return test::shared_text("seeds/003_54e5854892ee064a.txt"); }

int64_t count_of(const Trace& trace, std::string_view name, std::string_view track) {
  int64_t count = 0;
  for (const TraceSlice& slice : trace.slices)
    count += trace.instructions[static_cast<size_t>(slice.instruction)].name == name &&
             trace.tracks[slice.track] == track && slice.first_hidden == 0;
  return count;
}

/// Slices of one track either nest or follow each other; they lie within the run.
void expect_nested(const Trace& trace) {
  std::vector<const TraceSlice*> open;
  for (const TraceSlice& slice : trace.slices) {
    EXPECT_LE(slice.start, slice.end);
    EXPECT_LE(slice.end, trace.makespan);
    while (!open.empty() && (open.back()->track != slice.track || open.back()->end <= slice.start))
      open.pop_back();
    if (!open.empty()) {
      EXPECT_LE(slice.end, open.back()->end)
          << slice_name(trace, slice) << " in " << slice_name(trace, *open.back());
    }
    open.push_back(&slice);
  }
}

/// Each flow leads from one start over one transfer to one done, in the order of time.
void expect_flows(const Trace& trace) {
  std::map<uint64_t, std::map<FlowRole, const TraceSlice*>> flows;
  for (const TraceSlice& slice : trace.slices)
    if (slice.role != FlowRole::kNone) {
      EXPECT_FALSE(flows[slice.flow][slice.role]) << slice.flow;
      flows[slice.flow][slice.role] = &slice;
    }
  for (const auto& [id, roles] : flows) {
    ASSERT_TRUE(roles.count(FlowRole::kStart)) << id;
    ASSERT_TRUE(roles.count(FlowRole::kEnd)) << id;
    const TraceSlice &start = *roles.at(FlowRole::kStart), &end = *roles.at(FlowRole::kEnd);
    EXPECT_LE(start.end, end.end);
    if (!roles.count(FlowRole::kStep)) continue;  // took no time
    const TraceSlice& step = *roles.at(FlowRole::kStep);
    EXPECT_NE(step.track, start.track);
    EXPECT_LE(start.end, step.start);
    EXPECT_LE(step.end, end.end);
  }
}

TEST(Trace, LoopsShowEachIteration) {
  const Traced all = traced(kLoop, "unit");
  EXPECT_EQ(all.trace.shown_iterations, 0);
  EXPECT_EQ(count_of(all.trace, "y", "TensorCore"), 50);
  EXPECT_EQ(count_of(all.trace, "c", "DMA in"), 50);
  EXPECT_EQ(count_of(all.trace, "l", "TensorCore"), 1);
  EXPECT_GE(count_of(all.trace, "y", "HBM"), 50);
  expect_nested(all.trace);
  expect_flows(all.trace);
  uint64_t flows = 0;
  for (const TraceSlice& slice : all.trace.slices) flows = std::max(flows, slice.flow);
  EXPECT_EQ(flows, 50u);
}

TEST(Trace, LoopsAreCutWhereThereWouldBeTooMuch) {
  const Traced some = traced(kLoop, "unit", {.max_events = 200});
  const int64_t shown = some.trace.shown_iterations;
  ASSERT_GT(shown, 0);
  EXPECT_LE(some.trace.slices.size(), 201u);
  EXPECT_EQ(count_of(some.trace, "y", "TensorCore"), shown);
  bool rest = false;
  for (const TraceSlice& slice : some.trace.slices)
    if (slice.first_hidden > 0) {
      rest = true;
      EXPECT_EQ(slice_name(some.trace, slice).substr(0, slice_name(some.trace, slice).find(',')),
                "l: iterations from " + std::to_string(shown + 1) + " on");
      EXPECT_EQ(slice.end, some.trace.makespan);
    }
  EXPECT_TRUE(rest);
  expect_nested(some.trace);
  expect_flows(some.trace);
  // One iteration is there in any case.
  EXPECT_EQ(traced(kLoop, "unit", {.max_events = 1}).trace.shown_iterations, 1);
}

/// How long each track is busy: what nests counts once, of a loop's rest the busy part.
std::map<std::string, int64_t> busy_of(const Trace& trace) {
  std::map<std::string, int64_t> busy;
  for (const TraceSlice& slice : trace.slices)
    if (slice.track != 0)
      busy[trace.tracks[slice.track]] +=
          slice.first_hidden > 0 ? slice.busy.count() : (slice.end - slice.start).count();
  return busy;
}

// However few iterations are shown, the tracks of units have all of them.
TEST(Trace, UnitsAreBusyInIterationsThatAreNotShown) {
  for (const std::string& text : {std::string(kLoop), test::own_module("tpu_block"), seed()}) {
    if (text.empty()) continue;
    for (const char* device : {"unit", "v5e"}) {
      const std::map<std::string, int64_t> all = busy_of(traced(text, device).trace);
      for (const int64_t most : {1, 100, 200}) {
        const Traced some = traced(text, device, {.max_events = most});
        EXPECT_EQ(busy_of(some.trace), all) << device << ", " << most;
        expect_nested(some.trace);
      }
    }
  }
  EXPECT_EQ(timeline_text(traced(kLoop, "unit", {.max_events = 1}).trace, 20).find("HBM        |#"),
            timeline_text(traced(kLoop, "unit").trace, 20).find("HBM        |#"));
}

void expect_vmem(const std::string& text, Bytes expected_peak) {
  const Traced one = traced(text, "v5e");
  ASSERT_GE(one.trace.counters.size(), 2u);
  const TraceCounter& vmem = one.trace.counters[1];
  EXPECT_EQ(vmem.name, "vmem S(1)");
  Bytes peak{};
  Picoseconds last{-1};
  for (const CurvePoint& point : vmem.points) {
    peak = std::max(peak, point.value);
    EXPECT_LE(last, point.time);
    last = point.time;
  }
  EXPECT_EQ(peak, expected_peak);
  EXPECT_LE(last, one.trace.makespan);
  EXPECT_THAT(one.trace.tracks,
              testing::IsSupersetOf({"TensorCore", "DMA in", "ICI", "MXU", "VPU", "HBM", "VMEM"}));
  expect_nested(one.trace);
  expect_flows(one.trace);
}

TEST(Trace, MemoryOfScheduledTpuModules) {
  expect_vmem(test::own_module("tpu_block"), Bytes(20 << 20));
  if (!seed().empty()) expect_vmem(seed(), Bytes(90'177'536));
}

// ── Chrome's format ──

TEST(Trace, ChromeJson) {
  for (const std::string& text : {std::string(kLoop), test::own_module("tpu_block"), seed()}) {
    if (text.empty()) continue;
    const Traced one = traced(text, "v4");
    const std::string written = chrome_json({&one.trace, 1});
    EXPECT_EQ(written, chrome_json({&one.trace, 1}));
    const nlohmann::json json = nlohmann::json::parse(written);
    size_t slices = 0, points = 0;
    std::map<std::string, std::string> flows;  // phases of an id, in the order of the file
    std::set<int> named, used;
    for (const auto& event : json.at("traceEvents")) {
      const std::string phase = event.at("ph");
      EXPECT_EQ(event.at("pid"), 1);
      if (phase == "M") {
        if (event.at("name") == "thread_name") named.insert(event.at("tid").get<int>());
        continue;
      }
      EXPECT_GE(event.at("ts").get<double>(), 0);
      if (phase == "X") {
        const TraceSlice& slice = one.trace.slices[slices++];
        EXPECT_NEAR(event.at("ts").get<double>(), static_cast<double>(slice.start.count()) * 1e-6, 1e-7);
        EXPECT_NEAR(event.at("dur").get<double>(),
                    static_cast<double>((slice.end - slice.start).count()) * 1e-6, 1e-7);
        EXPECT_EQ(event.at("name"), slice_name(one.trace, slice));
        EXPECT_FALSE(event.at("cat").get<std::string>().empty());
        used.insert(event.at("tid").get<int>());
      } else if (phase == "C") {
        ++points;
        EXPECT_TRUE(event.at("args").at("bytes").is_number_integer());
      } else {
        flows[event.at("id")] += phase;
      }
    }
    EXPECT_EQ(slices, one.trace.slices.size());
    EXPECT_EQ(named, used);
    size_t expected = 0;
    for (const TraceCounter& counter : one.trace.counters) expected += counter.points.size();
    EXPECT_EQ(points, expected);
    EXPECT_FALSE(flows.empty());
    for (auto& [id, phases] : flows) {
      std::sort(phases.begin(), phases.end());
      EXPECT_THAT(phases, testing::AnyOf("fst", "fs")) << id;
    }
  }
}

TEST(Trace, GzipGivesTheTextBack) {
  std::string text;
  for (int i = 0; i < 50000; ++i) text += std::to_string(i * 7919) + ",";
  for (const std::string& whole : {text, std::string(), std::string("a")}) {
    const std::string packed = gzip(whole);
    EXPECT_EQ(packed, gzip(whole));
    std::string of_parts;
    write_gzip(
        [&](const TextSink& out) {
          for (size_t i = 0; i < whole.size(); i += 777) out(std::string_view(whole).substr(i, 777));
        },
        [&](std::string_view part) { of_parts += part; });
    EXPECT_EQ(of_parts, packed);
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    std::string back(whole.size() + 1, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(back.data());
    stream.avail_out = static_cast<uInt>(back.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    back.resize(back.size() - stream.avail_out);
    inflateEnd(&stream);
    EXPECT_EQ(back, whole);
  }
}

// ── Perfetto's format ──

/// A protobuf message taken apart by the wire format alone.
struct Field {
  uint64_t number = 0;     // of varint and 64-bit fields
  std::string_view bytes;  // of length-delimited ones
  int wire = 0;
};
using Fields = std::multimap<uint32_t, Field>;

uint64_t varint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; !bytes.empty() && shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  ADD_FAILURE() << "a varint without end";
  return value;
}

Fields decoded(std::string_view bytes) {
  Fields fields;
  while (!bytes.empty()) {
    const uint64_t tag = varint(bytes);
    Field field;
    field.wire = static_cast<int>(tag & 7);
    if (field.wire == 0) {
      field.number = varint(bytes);
    } else if (field.wire == 1 && bytes.size() >= 8) {
      for (size_t i = 0; i < 8; ++i)
        field.number |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
      bytes.remove_prefix(8);
    } else if (field.wire == 2) {
      const uint64_t size = varint(bytes);
      if (size > bytes.size()) {
        ADD_FAILURE() << size << " bytes of " << bytes.size();
        return fields;
      }
      field.bytes = bytes.substr(0, size);
      bytes.remove_prefix(size);
    } else {
      ADD_FAILURE() << "wire type " << field.wire;
      return fields;
    }
    fields.emplace(static_cast<uint32_t>(tag >> 3), field);
  }
  return fields;
}

/// The only field of that number and wire type.
Field only(const Fields& fields, uint32_t number, int wire) {
  EXPECT_EQ(fields.count(number), 1u) << number;
  if (fields.count(number) != 1) return {};
  EXPECT_EQ(fields.find(number)->second.wire, wire) << number;
  return fields.find(number)->second;
}

/// Perfetto's times are nanoseconds, rounded down: each change of level is less than one early.
void expect_means(const Trace& trace, const std::map<std::string, MemoryCurve>& curves) {
  ASSERT_EQ(curves.size(), trace.counters.size());
  for (const TraceCounter& counter : trace.counters) {
    const MemoryCurve& curve = curves.at(counter.name);
    ASSERT_EQ(curve.size(), counter.points.size());
    double changed = 0;
    for (size_t i = 1; i < curve.size(); ++i)
      changed += std::abs(static_cast<double>((curve[i].value - curve[i - 1].value).count()));
    EXPECT_NEAR(static_cast<double>(mean_of(curve, trace.makespan).count()),
                static_cast<double>(mean_of(counter.points, trace.makespan).count()),
                1 + changed * 1000 / static_cast<double>(trace.makespan.count()));
  }
}

void check_perfetto(const Trace& trace) {
  const std::string written = perfetto_trace({&trace, 1});
  EXPECT_EQ(written, perfetto_trace({&trace, 1}));
  std::map<uint64_t, std::string> tracks;  // by uuid
  std::set<uint64_t> counters;
  std::map<uint64_t, std::vector<std::string>> open;
  std::map<uint64_t, int> flow_steps;
  std::set<uint64_t> ended_flows;
  std::map<std::string, MemoryCurve> curves;
  uint64_t last = 0, process = 0;
  size_t slices = 0, points = 0, packets = 0;
  const Fields file = decoded(written);
  for (const auto& [number, packet_bytes] : file) {
    ASSERT_EQ(number, 1u);  // Trace.packet
    const Fields packet = decoded(packet_bytes.bytes);
    EXPECT_EQ(only(packet, 10, 0).number, 1u);              // trusted_packet_sequence_id
    EXPECT_EQ(packet.count(13), packets++ == 0 ? 1u : 0u);  // sequence_flags: state cleared at the beginning
    if (packet.count(60)) {                                 // track_descriptor
      const Fields track = decoded(only(packet, 60, 2).bytes);
      const uint64_t uuid = only(track, 1, 0).number;
      EXPECT_TRUE(tracks.emplace(uuid, std::string(only(track, 2, 2).bytes)).second);
      if (track.count(3)) {  // process
        process = uuid;
        EXPECT_EQ(only(decoded(only(track, 3, 2).bytes), 1, 0).number, 1u);
        EXPECT_EQ(only(decoded(only(track, 3, 2).bytes), 6, 2).bytes, trace.name);
      } else {
        EXPECT_EQ(only(track, 5, 0).number, process);  // parent_uuid
      }
      if (track.count(8)) {
        counters.insert(uuid);
        EXPECT_EQ(only(decoded(only(track, 8, 2).bytes), 3, 0).number, 3u);  // UNIT_SIZE_BYTES
      }
      continue;
    }
    const uint64_t time = only(packet, 8, 0).number;
    EXPECT_GE(time, last);
    last = time;
    const Fields event = decoded(only(packet, 11, 2).bytes);
    const uint64_t type = only(event, 9, 0).number, track = only(event, 11, 0).number;
    ASSERT_TRUE(tracks.count(track)) << "an event of a track without a description";
    EXPECT_EQ(counters.count(track), type == 4 ? 1u : 0u);
    if (type == 1) {  // begin
      ++slices;
      open[track].emplace_back(only(event, 23, 2).bytes);
      EXPECT_EQ(event.count(22), 1u);
      for (auto [at, end] = event.equal_range(47); at != end; ++at) {
        EXPECT_EQ(at->second.wire, 1);
        EXPECT_FALSE(ended_flows.count(at->second.number));
        ++flow_steps[at->second.number];
      }
      EXPECT_EQ(event.count(48), 0u);
      for (auto [at, end] = event.equal_range(4); at != end; ++at) {
        const Fields detail = decoded(at->second.bytes);
        EXPECT_FALSE(only(detail, 10, 2).bytes.empty());
        EXPECT_EQ(detail.count(4) + detail.count(6), 1u);
      }
    } else if (type == 2) {  // end
      ASSERT_FALSE(open[track].empty());
      open[track].pop_back();
      for (auto [at, end] = event.equal_range(48); at != end; ++at) {
        EXPECT_GE(flow_steps[at->second.number], 1);
        EXPECT_TRUE(ended_flows.insert(at->second.number).second);
      }
    } else {
      ASSERT_EQ(type, 4u);
      ++points;
      const auto bytes = static_cast<int64_t>(only(event, 30, 0).number);
      curves[tracks[track]].push_back({Picoseconds(static_cast<int64_t>(time) * 1000), Bytes(bytes)});
    }
  }
  EXPECT_EQ(slices, trace.slices.size());
  for (const auto& [track, names] : open) EXPECT_TRUE(names.empty()) << names.back();
  for (const auto& [flow, steps] : flow_steps) EXPECT_TRUE(ended_flows.count(flow)) << flow;
  EXPECT_FALSE(flow_steps.empty());
  expect_means(trace, curves);
  EXPECT_EQ(tracks.size(), 1 + trace.tracks.size() + trace.counters.size());
  size_t expected = 0;
  for (const TraceCounter& counter : trace.counters) expected += counter.points.size();
  EXPECT_EQ(points, expected);
}

TEST(Trace, PerfettoProtobuf) {
  for (const std::string& text : {std::string(kLoop), test::own_module("tpu_block"), seed()}) {
    if (text.empty()) continue;
    for (const char* device : {"unit", "v4", "v5e"}) check_perfetto(traced(text, device).trace);
  }
}

// ── pictures ──

TEST(Trace, TextTimeline) {
  const Traced one = traced(kLoop, "unit");
  const std::string text = timeline_text(one.trace, 20);
  EXPECT_THAT(text, testing::HasSubstr("in 20 columns of"));
  EXPECT_THAT(text, testing::ContainsRegex("TensorCore +\\|[#+.w]{20}\\|"));
  EXPECT_THAT(text, testing::ContainsRegex("hbm S\\(0\\) +\\|[0-9]{20}\\|"));
  EXPECT_EQ(
      timeline_text(traced("HloModule m\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n", "unit").trace),
      "Timeline: nothing takes time\n");
}

TEST(Trace, Picture) {
  const Traced one = traced(kLoop, "unit");
  const std::string picture = timeline_svg(one.trace);
  EXPECT_EQ(picture, timeline_svg(one.trace));
  EXPECT_THAT(picture, testing::StartsWith("<svg "));
  EXPECT_THAT(picture, testing::HasSubstr(">DMA in</text>"));
  EXPECT_THAT(picture, testing::EndsWith("</svg>\n"));
}

}  // namespace
}  // namespace hlosim
