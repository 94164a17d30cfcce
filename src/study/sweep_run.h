// Runs what of an experiment hasn't run yet, on all processors of all ranks.
//
//   SweepProgress progress;
//   const Result<SweepRun> run = run_sweep(experiment, {.journal = "a.journal"}, ranks, progress);
//   run->results[0].values                         // of the first point, by metric
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/stop.h"
#include "dist/ranks.h"
#include "study/sweep_journal.h"

namespace hlosim {

struct SweepOptions {
  std::string journal;  // empty: none. Ranks above 0 write to `journal`.N; all on one file system
  std::string version;  // results of another one are not taken from the journal
};

/// For watchers, while it runs.
struct SweepProgress {
  std::atomic<int64_t> done{0}, total{0};  // points of this rank that have run; that have to
  const Stop* stop = nullptr;              // asked: no further point begins, and the sweep is an error
};

struct SweepRun {
  std::vector<SweepResult> results;  // by point; of rank 0 only, empty for the others
  int64_t resumed = 0;               // points whose result the journal had
  int64_t damaged = 0;               // lines of the journal that were left out
};

/// Points that fail are results with an error. Errors: a journal that can't be read or written, ranks that
/// lose each other.
Result<SweepRun> run_sweep(const Experiment& experiment, const SweepOptions& options, Ranks& ranks,
                           SweepProgress& progress);

}  // namespace hlosim
