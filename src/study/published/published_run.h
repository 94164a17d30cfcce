// A published run of a whole model: what ran, on what, and how long a step took.
//
//   const PublishedRun run = read_published_run(entry, problems);     // an object of a JSON file
//   make_step(run.model, run.options)                                 // workloads/step.h: what ran
//   run.slice_devices() * run.slices                                  // on so many devices
//
// Keys: docs/accuracy.md. Whatever of an entry changes nothing here is a line of `assumptions`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "base/value.h"
#include "flags/xla_flags.h"
#include "model/device.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

struct PublishedRun {
  std::string device;  // as --device takes it
  Topology topology;   // chips of one slice; no sides: the device's name says it, or the device count
  int64_t slices = 1;
  int64_t devices = 1;  // of all slices, as JAX counts them
  std::string family;   // "dense", "moe"; any word for grouping
  Mesh ici, dcn;        // inside a slice and between slices; axes of both may have one name
  ModelConfig model;
  StepOptions options;  // its mesh has the axes of both, slices first, numbered place by place
  std::vector<XlaFlag> flags;
  double step_seconds = 0;  // measured
  double model_flops = 0;   // per device and step, as the source counts them; 0: not said
  std::string source;       // the repository that published it; empty: not said
  std::string program;      // the same of two entries that differ in batch, mesh, slices and flags alone
  std::vector<std::string> assumptions;

  int64_t slice_devices() const { return devices / slices; }
  double sequences_per_device() const {
    return static_cast<double>(options.batch) / static_cast<double>(devices);
  }
  /// Tokens of a step.
  double tokens() const { return static_cast<double>(options.batch) * static_cast<double>(options.sequence); }
};

/// Reads one entry. Errors, with their place: keys that are missing or of a wrong type, words that stand for
/// nothing, sizes that don't go together.
PublishedRun read_published_run(const Value& entry, DiagnosticList& problems);

// ── parts of an entry ──

/// "model": dimensions, attention, experts. Adds what isn't modelled to `assumptions`.
ModelConfig read_published_model(const Value& model, DiagnosticList& problems,
                                 std::vector<std::string>& assumptions);
/// "cross_entropy" of "other_flags" names tokamax' loss that never has all logits.
bool has_chunked_loss(const Value& other_flags);
/// Precision, optimizer, what is kept for the backward pass, kernels, other settings; not mesh and sizes.
StepOptions read_published_options(const Value& entry, DiagnosticList& problems,
                                   std::vector<std::string>& assumptions);

}  // namespace hlosim
