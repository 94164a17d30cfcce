// A predicted run as the profiler of XLA would have written it: an XSpace, so that XProf opens it.
//
//   const Trace trace = make_trace(op_table(), device, *estimate);              // report/trace/trace.h
//   const PredictedRun run{&*estimate, &trace};
//   const Result<std::string> bytes = xspace_of({&run, 1}, op_table(), device);
//   write_file(dir + "/plugins/profile/predicted/hlosim.xplane.pb", *bytes);
//
// One plane, /device:TPU:0, stands for all devices, which do the same at the same time; modules run one after
// the other, each as a step. docs/profiles.md says field by field what is written.
#pragma once

#include <span>
#include <string>

#include "base/source.h"
#include "estimate/estimate.h"
#include "hlo/op_def.h"
#include "model/device.h"
#include "report/trace/trace.h"

namespace hlosim {

struct PredictedRun {
  const Estimate* estimate = nullptr;
  const Trace* trace = nullptr;  // of it
};

/// Errors: attributes that XLA's protos have no field for.
Result<std::string> xspace_of(std::span<const PredictedRun> runs, const OpTable& table, const Device& device);

/// The profiler's number of a program: its fingerprint.
uint64_t program_id(const Module& module, const OpTable& table);

}  // namespace hlosim
