// What an estimate shows its reader: time and what bounds it, traffic and occupancy per memory space,
// instructions, transfers, padding, and what the numbers rest on.
//
//   Result<Estimate> run = estimate(module, op_table(), device, options);
//   const Report report = make_report(module, op_table(), device, *run);
//   std::cout << to_text(report, {});               // report_text.h; JSON and CSV: report_json.h
//
// Unknown numbers are std::nullopt, never 0. Amounts of an instruction are those of all its
// executions. Meaning of each number: docs/report.md.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "estimate/energy_use.h"
#include "estimate/flags_not_given.h"
#include "estimate/time_range.h"
#include "estimate/unused_keys.h"
#include "layout/sizes.h"
#include "memory/memory_classes.h"
#include "report/spread_report.h"

namespace hlosim {

inline constexpr int kReportSchemaVersion = 1;

/// By index_of(Unit), overhead and waiting included.
using BoundTimes = std::array<Picoseconds, static_cast<size_t>(Unit::kNone) + 1>;

/// An array that lives in a memory space at its peak.
struct ReportBuffer {
  std::string_view name;
  std::string shape;
  Bytes size{};
  MemoryClass kind{};
};

/// One memory space of the device, or an S(n) that it doesn't know.
struct ReportSpace {
  int64_t number = 0;               // n of S(n); the smallest where there are several
  std::string name;                 // "vmem"; "S(9)" when unknown to the device
  Bytes read{}, written{};          // by one run of the module
  bool is_used = false;             // something lives there: the rest means something
  std::optional<Bytes> capacity{};  // that programs may take; unknown when the device file doesn't say
  std::optional<Bytes> runtime{};   // of the device beside it: what the runtime keeps
  Bytes peak{};
  Bytes mean{};           // over the time of the run
  int32_t peak_step = 0;  // of the flattened schedule
  std::string_view peak_instruction{};
  std::optional<Bytes> reserved{};      // scratch of single instructions, not in `peak`
  std::vector<ReportBuffer> largest{};  // at the peak, at most kLargestBuffers
  BytesByClass by_class{};              // at the peak: they add up to it
  bool overflows() const { return is_used && capacity && peak > *capacity; }
};

/// A record of Report::simulation, with the names that a reader knows it by.
template <class Record>
struct ReportRow {
  const Record* record = nullptr;
  const Record* operator->() const { return record; }
};

struct ReportInstruction : ReportRow<InstructionRecord> {
  std::string_view name{}, opcode{}, computation_name{};
  std::string_view op_name{};          // from the metadata; may be empty
  std::string_view source_file{};      // of the program, from the metadata; may be empty
  int64_t source_line = 0;             // 0: unknown
  int64_t line = 0;                    // in the module's text; 0: it has none
  std::string_view waited_for_name{};  // start instruction of what `exposed` waited for
};

/// The work of all executions of an instruction together.
struct InstructionWork {
  std::optional<int64_t> flops, vector_operations, transcendentals;  // none: nobody knows what it computes
  SpaceTraffic traffic;
  Bytes logical_bytes{}, padded_bytes{};
};

struct ReportTransfer : ReportRow<TransferRecord> {
  std::string_view start_name{}, done_name{};  // the same when it is synchronous; done empty: nothing waits
  int64_t line = 0;
  std::string_view ahead_name{};                   // start of the last one that it had to queue for
  std::string from_space_name{}, to_space_name{};  // copies
};

struct ReportLoop : ReportRow<LoopRecord> {
  std::string_view name{};
  int64_t line = 0;
};

/// One array that takes more memory than its elements need.
struct ReportPadding {
  std::string_view name, opcode, op_name;
  std::string shape;
  std::string_view allocation;  // "parameter", "output", "constant", "HLO temp"
  std::string space;
  Padding padding;
};

/// What one memory space lets matrix products reach, at the FLOPs per byte that the module has of it.
struct ReportRoofline {
  std::string space;
  Bytes bytes{};
  BytesPerSecond rate{};        // for this mix of reads and writes
  double intensity = 0;         // FLOP per byte
  double ridge = 0;             // from this intensity on, the matrix units are the limit
  FlopsPerSecond attainable{};  // the lower of peak and intensity x rate
};

/// What one unit or memory space switches, by a figure of the device file.
struct ReportEnergy {
  EnergyPart part;
  std::string source;  // of the figure
};

struct ReportAssumption {
  std::string text;
  int64_t count = 0;
  std::string_view example;  // an instruction; may be empty
};

struct Report {
  // The device.
  std::string device_name, device_file, device_fingerprint;
  Hertz clock{};
  std::string slice;  // "2x2x1 (no wrap-around)"
  int64_t slice_devices = 1;
  std::optional<FlopsPerSecond> peak_flops;  // bf16 products
  std::optional<BytesPerSecond> peak_hbm_bandwidth;
  std::vector<std::string> unit_names;     // by index_of(Unit)
  std::vector<std::string> traffic_names;  // by index in a SpaceTraffic: "hbm", …, "unknown"
  // The module.
  std::shared_ptr<const Module> module;  // what ran: names are views into it
  bool is_lowered = false;               // it is another one than the one given
  std::string module_name, module_file, module_fingerprint;
  int64_t instruction_count = 0, computation_count = 0;
  int64_t replicas = 1, partitions = 1;
  bool scheduled = false;  // by the module itself
  // The run.
  std::shared_ptr<const Simulation> simulation;  // that it is a view of; never null
  std::optional<TimeRange> time_range{};         // of the makespan, in kRangeShare of like programs
  size_t hbm = 0;                                // index of HBM in Totals::traffic
  /// The device's key whose rate limits the unit that bounds the time, and its value: "dma.bandwidth", "737
  /// GB/s". Empty: no memory space bounds it, or no rate does.
  std::string limiting_key, limiting_rate;
  BoundTimes bound_time{};  // the makespan by what bounds the instruction that runs; adds up to it
  std::vector<ReportSpace> spaces;
  std::vector<ReportRoofline> roofline;    // spaces with traffic and a rate; empty without a peak
  std::vector<ReportEnergy> energy;        // parts of which the device file has figures
  Picoseconds custom_calls_by_bytes{};     // time of custom calls of which nothing but their bytes is known
  Picoseconds custom_calls_by_blocks{};    // … of known kernels
  Picoseconds custom_calls_by_estimate{};  // … of which their authors say what they compute and move
  int64_t unknown_work = 0;  // instructions whose operations aren't counted: Totals' are lower bounds
  std::vector<ReportInstruction> instructions;  // in order of first execution
  std::vector<ReportTransfer> transfers;        // in order of start
  std::vector<ReportLoop> loops;
  Padding padding_total;               // over all arrays that need memory
  int64_t padded_arrays = 0;           // of them, with padding
  std::vector<ReportPadding> padding;  // the dearest first, at most kMaxPaddingRows
  std::vector<ReportAssumption> assumptions;
  UnusedKeys unused_keys;
  std::vector<FlagNotGiven> flags_not_given;
  std::optional<SpreadReport> spread{};  // if it was to be spread over a mesh
  std::string timeline;                  // drawn in text, if asked for

  /// Spaces that overflow, the worst first.
  std::vector<const ReportSpace*> overflows() const;
  const Totals& totals() const { return simulation->totals; }
  /// Of one execution.
  const InstructionCost& cost(const ReportInstruction& row) const { return simulation->cost(*row.record); }
  InstructionWork work(const ReportInstruction& row) const;
  const Traffic& hbm_traffic() const { return totals().traffic[hbm]; }
  Picojoules total_energy() const;
  /// FLOP/s of matrix products over the peak, [0, 1]; unknown without a peak or a time.
  std::optional<double> flops_utilisation() const;
  /// HBM bytes over time and rate, [0, 1].
  std::optional<double> hbm_utilisation() const;
  const std::string& unit_name(Unit unit) const;
};

inline constexpr size_t kMaxPaddingRows = 1000;
inline constexpr size_t kLargestBuffers = 5;

/// The report's names are views into `module`, which has to outlive it, or into what ran instead.
Report make_report(const Module& module, const OpTable& table, const Device& device,
                   const Estimate& estimate);

/// The value of op_name="…" in the metadata as written; empty when there is none.
std::string_view op_name_of(const Instruction& instruction);

/// 16 hex digits over the module's canonical text without metadata: blanks, comments and the spelling of
/// the dialect don't matter.
std::string module_fingerprint(const Module& module, const OpTable& table);

/// "Ran out of memory in memory space vmem. Used 86.00M of 16.00M vmem. Exceeded vmem capacity by 70.00M."
/// Requires: space.overflows().
std::string overflow_message(const ReportSpace& space);
/// "does not fit: 12.30 GiB too much; parameters 3.20 GiB, activations 40.10 GiB"; classes by size. Requires:
/// space.overflows().
std::string misfit_text(const ReportSpace& space);
/// "parameters 3.20 GiB, activations 40.10 GiB": what isn't nothing, the largest first.
std::string classes_text(const BytesByClass& bytes);
/// As XLA's messages about memory print sizes: "512B", "86.00M", "31.00G" (binary).
std::string oom_size(Bytes bytes);

}  // namespace hlosim
