// What happens when in one run, as a profile shows it: a track for each unit, nested slices on it, flows from
// a start over its transfer to its done, and what each memory space holds.
//
//   Trace trace = make_trace(op_table(), device, *estimate);       // needs SimulateOptions::keep_timeline
//   write_file("t.json.gz", [&](const TextSink& out) {
//     write_gzip([&](const TextSink& text) { write_chrome_json({&trace, 1}, text); }, out);
//   });
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/staged_files.h"
#include "estimate/estimate.h"
#include "sim/memory_curve.h"

namespace hlosim {

struct TraceOptions {
  /// Slices at most: where all iterations of all loops would be more, loops show their first few only.
  int64_t max_events = 1'000'000;
  /// Points of a memory space's curve at most, or as many as the module has steps if these are more.
  int64_t max_points = 10'000;
};

/// A detail of an instruction: a text, or a number if it has one.
struct TraceDetail {
  std::string_view key;
  std::string text;
  std::optional<int64_t> number;
};

/// What slices of one instruction have in common.
struct TraceInstruction {
  std::string_view name, category;  // category: that of its cost
  std::vector<TraceDetail> details;
};

enum class FlowRole : uint8_t { kNone, kStart, kStep, kEnd };

struct TraceSlice {
  uint32_t track = 0;
  int32_t instruction = 0;  // index into Trace::instructions
  Picoseconds start{}, end{};
  bool waiting = false;
  FlowRole role = FlowRole::kNone;
  uint64_t flow = 0;         // of its role, from 1
  int64_t first_hidden = 0;  // a loop's rest: iterations from this one on (from 1) are not shown; else 0
  Picoseconds busy{};        // of a rest on another track than the TensorCore's: how much of it is busy

  /// A part of its time, (0, 1]; less than 1 of a loop's rest.
  double share() const;
};

struct TraceCounter {
  std::string name;   // "hbm S(0)"
  int64_t space = 0;  // S(n)
  MemoryCurve points;
};

struct Trace {
  std::string name;  // "module on TPU v4"
  Picoseconds makespan{};
  std::vector<std::string> tracks;  // "TensorCore", "MXU", …: those with slices
  std::vector<TraceSlice> slices;   // by track, then time, outer ones first; slices of one track nest
  std::vector<TraceInstruction> instructions;
  std::vector<TraceCounter> counters;
  int64_t shown_iterations = 0;          // of each loop at most; 0: all
  std::shared_ptr<const Module> module;  // that names are views into
};

/// Requires: an estimate with keep_timeline.
Trace make_trace(const OpTable& table, const Device& device, const Estimate& estimate,
                 const TraceOptions& options = {});

/// "copy-start.3", "while: iterations from 5 on", "while: iterations from 5 on, 40 % busy"
std::string slice_name(const Trace& trace, const TraceSlice& slice);

/// Chrome's trace event format (JSON object form): complete events, counters, flows; times in microseconds.
/// Each trace is a process. Part by part.
void write_chrome_json(std::span<const Trace> traces, const TextSink& out);
std::string chrome_json(std::span<const Trace> traces);
/// Perfetto's protobuf format: track descriptors and track events in nanoseconds (exact times among the
/// details). Part by part.
void write_perfetto_trace(std::span<const Trace> traces, const TextSink& out);
std::string perfetto_trace(std::span<const Trace> traces);
/// A picture: one row per track, memory spaces below.
std::string timeline_svg(const Trace& trace);
/// The same for a terminal, `width` columns of time.
std::string timeline_text(const Trace& trace, size_t width = 100);

/// A gzip member without name and time: the same bytes for the same text, whatever its parts.
void write_gzip(const TextSource& text, const TextSink& out);
std::string gzip(std::string_view bytes);

}  // namespace hlosim
