// Which values live in on-chip memory when, and which copies bring them there: the tuner.
//
//   Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
//   to_text(result->module, op_table());
//
// docs/prefetch.md explains how it decides.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "prefetch/prefetch_knobs.h"
#include "sim/simulate.h"

namespace hlosim {

enum class PrefetchAlgorithm : uint8_t {
  kStrip,   // everything back to HBM
  kXla,     // XLA's assigner with its knobs
  kGreedy,  // values in the order of their gain per byte and step
  kStrong,  // greedy, then annealing; never slower than the module as given, stripped, or by XLA's assigner
};
/// "strip", "xla", "greedy", "strong"
std::string_view to_text(PrefetchAlgorithm algorithm);

/// What kStrong looks for.
enum class PrefetchObjective : uint8_t {
  kTime,   // least time; among equals least traffic
  kBytes,  // least HBM traffic of plans no slower than the module as given; among equals least time
};

struct PrefetchOptions {
  PrefetchAlgorithm algorithm = PrefetchAlgorithm::kStrong;
  PrefetchObjective objective = PrefetchObjective::kTime;  // of kStrong
  XlaKnobs knobs;
  uint64_t seed = 1;
  std::optional<int64_t> moves;  // tried by annealing; absent: 400 per site, from 2,000 to 200,000
  /// Seconds, 0: any time. What is found when they end the search depends on the machine.
  double budget = 10;
  std::function<double()> clock;  // tells seconds; absent: that of the machine
  int64_t most_exact_sites = 12;  // problems that are solved by exhaustion too
  SimulateOptions simulate;
  bool keep_order = false;  // of instructions: else kStrong may change it
};

/// A value on the chip, from one step to another.
struct PrefetchRow {
  std::string value, computation;
  int64_t offset = 0, size = 0;
  int32_t first = 0, last = 0;  // steps, both included
  std::string from, to;         // their names
  std::string reason;
};

struct PrefetchTimes {
  Picoseconds time{}, exposed{};  // simulated; of it, waiting for copies
  Picoseconds time_prefetched{};  // where copies that belong to the run before cost nothing
  int64_t hbm_bytes = 0;
};

/// Something that was simulated.
struct PrefetchCandidate {
  std::string name;  // "input", "stripped", "xla", "greedy", "annealed", "exact", …
  PrefetchTimes times;
  double objective = 0;  // the tuner's own simulation, in picoseconds; 0: none
};

struct PrefetchResult {
  Module module;  // scheduled
  std::string chosen;
  PrefetchTimes input, stripped, tuned;
  std::vector<PrefetchCandidate> candidates;
  std::vector<PrefetchRow> rows;  // in order of steps
  std::vector<std::string> steps;
  std::vector<int64_t> on_chip;  // bytes, by step
  int64_t capacity = 0, peak = 0, packed = 0;
  Picoseconds bound{};  // no choice of copies and places is faster
  bool proven = false;  // no plan is better by the tuner's own simulation
  int64_t evaluations = 0, sites = 0, values = 0, removed_copies = 0;
  bool cut = false;      // the budget ended the search
  bool lowered = false;  // for the report: the module was made by the lowering
  std::vector<std::string> assumptions;
};

/// Requires: a verified module. Errors: a device without on-chip memory; those of simulate().
Result<PrefetchResult> tune_prefetch(const Module& module, const OpTable& table, const Device& device,
                                     const PrefetchOptions& options);

}  // namespace hlosim
