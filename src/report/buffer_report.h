// What `hlosim buffers` says of a module's memory.
//
//   BufferReportOptions options;
//   options.capacities = {{1, 64 << 20}};          // S(1) holds 64 MiB
//   std::cout << to_text(buffer_report(*analysis, options));
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "buffers/space_use.h"
#include "model/device.h"
#include "xla_dump/dump.h"

namespace hlosim {

/// Space S(n) -> bytes that it holds.
using Capacities = std::map<int64_t, int64_t>;

/// `S1=64MiB`. Errors: what is wrong with it.
Result<std::pair<int64_t, int64_t>> parse_capacity(std::string_view text);
/// What `device` has.
Capacities capacities_of(const DeviceConfig& device);

struct BufferLine {
  std::string name;       // fusion{0}
  std::string operation;  // fusion
  std::string op_name;    // of the metadata, where there is any
  std::string shape;
  int64_t allocation = -1, offset = 0, size = 0, dense = 0, padded = 0;
  int32_t start = 0, end = 0;
  int64_t parameter = -1;
};

struct SpaceLine {
  SpaceUse use;
  std::string name;  // VMEM, or S(1) where no device is known
  std::optional<int64_t> capacity;
  int64_t parameters = 0, outputs = 0, constants = 0, temporary = 0;  // bytes of allocations, by kind
  int64_t aliased = 0;                                                // of parameters: results lie in them
  std::vector<BufferLine> largest;                                    // of what lives at the peak
};

struct BufferReport {
  std::string module, scheduled_by;
  int32_t steps = 0;
  int64_t alignment = 0, total = 0, allocations = 0, least = 0;
  std::vector<SpaceLine> spaces;
  std::optional<int32_t> at;     // --at
  std::vector<BufferLine> live;  // then
  std::vector<std::string> overflows;
};

struct BufferReportOptions {
  const DeviceConfig* device = nullptr;
  Capacities capacities;
  std::optional<int32_t> at;
  size_t top = 15;
  int64_t alignment = 64;
};

/// Requires: `at` is a step.
BufferReport buffer_report(const BufferAnalysis& analysis, const BufferReportOptions& options);

std::string to_text(const BufferReport& report);
std::string to_json(const BufferReport& report);
/// buffer_id,buffer_name,offset,size,definition_time,end_time,num_uses,use_times,use_names: one row per value
/// that has an allocation; offsets count from the start of its allocation.
std::string to_csv(const BufferAnalysis& analysis);
/// XLA's memory-usage report of a dump: by memory space, or in the form of 2022 for one of that time.
std::string usage_report(const BufferDump& dump);

struct DumpSummaryOptions {
  std::optional<int64_t> at;  // what lives at this step
  size_t top = 15;            // largest values
};
/// What a dump alone shows: allocations by kind, the peak, the largest values. Requires: `at` is a step.
std::string dump_summary(const BufferDump& dump, const DumpSummaryOptions& options);
/// A line for each space whose allocations, those of thread-local computations left out, don't fit.
std::vector<std::string> dump_overflows(const BufferDump& dump, const Capacities& capacities);

}  // namespace hlosim
