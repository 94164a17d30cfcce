// Measured times: each with the module, kernel or model that was run, the device it ran on, and how.
//
// The file is a JSON array of objects. Their keys: docs/accuracy.md.
//
//   for (const MeasuredCase& one : read_measured_cases(source, problems))
//     std::cout << one.id << " took " << one.time_us << " us on " << one.device;
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "flags/xla_flags.h"
#include "model/device.h"
#include "published/published_run.h"
#include "report/kernel_request.h"
#include "serving/measured_server.h"

namespace hlosim {

struct MeasuredCase {
  std::string id, device, kind;
  std::string scope = "single", dtype_class = "native", family;
  bool core = false;
  std::string hlo;
  std::optional<Result<KernelRequest>> kernel;   // in place of a module; an error: why it can't be costed
  std::shared_ptr<const PublishedRun> run;       // in place of a module: the step of a whole model
  std::shared_ptr<const MeasuredServer> server;  // in place of a module: a server of a model
  std::string unreadable;  // a step or server that can't be predicted: what is wrong with it, with its place
  double time_us = 0;
  std::string time_of;  // opcode or name of the one instruction that was timed; empty: the module
  int64_t num_devices = 1;
  std::optional<Topology> topology;
  bool topology_in_cores = false;  // the sides count TensorCores, not chips
  std::optional<bool> optimized;   // true: as a TPU compiler left it
  double occurrences = 1;          // of the whole that `family` is: a step of a program, a table
  std::string tier;                // "C": the time depends on what ran beside it, so no sum has it
  // Flags.
  std::vector<XlaFlag> xla_flags;        // those that change something
  std::optional<int64_t> cores;          // of the device that took part, while others did something else
  double dispatch_us = 0;                // time_includes_dispatch_us
  std::vector<std::string> other_flags;  // names of flags that nothing here understands
};

/// Reads all cases. Errors, with their place: what parse_json() finds, missing keys, values of a wrong type,
/// times and counts that aren't positive, an id given twice. Keys that aren't known are left alone. What is
/// wrong with a step of a whole model or a server is no error but its `unreadable`: other entries have their
/// predictions.
std::vector<MeasuredCase> read_measured_cases(const SourcePtr& source, DiagnosticList& problems);

}  // namespace hlosim
