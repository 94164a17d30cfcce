// What is tuned: a module in an order of execution, with and without the prefetches that are there, each
// simulated once.
//
//   Result<PrefetchInput> input = prepare_prefetch(module, measure, true, clock);
//   input->stripped->simulation                    // and its modules, and times
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "prefetch/prefetch.h"
#include "prefetch/search_clock.h"

namespace hlosim {

/// A scheduled module and how it runs.
struct SimulatedModule {
  Module written, tiled;  // as in the text; with ids alike, as it is simulated
  Simulation simulation;
  PrefetchTimes times;
};

class PrefetchMeasure {
 public:
  /// All of them outlive the object.
  PrefetchMeasure(const OpTable& table, const Device& device, const SimulateOptions& options);

  /// The same, instruction by instruction, as it is simulated: a text without tiles stays one.
  Module with_tiles(const Module& written) const;
  Result<SimulatedModule> simulated(Module written) const;
  Result<PrefetchTimes> times(const Module& written) const;

  const OpTable& table() const { return table_; }
  const Device& device() const { return device_; }
  const SimulateOptions& options() const { return options_; }

 private:
  Result<PrefetchTimes> times(const Module& tiled, const Simulation& simulation) const;

  const OpTable& table_;
  const Device& device_;
  SimulateOptions options_;
};

struct PrefetchInput {
  std::shared_ptr<SimulatedModule> input;
  std::shared_ptr<SimulatedModule> stripped;  // the same object where nothing was taken out
  PrefetchTimes as_given;                     // of a module without a schedule: in the order of its text
  bool had_copies = false;
  int64_t removed_copies = 0;
  bool cut = false;  // by the clock: no other order than that of the text was looked at
  std::vector<std::string> assumptions;
};

/// `spell_bitcasts`: those that move something in tiles become the work that they are.
Result<PrefetchInput> prepare_prefetch(const Module& given, const PrefetchMeasure& measure,
                                       bool spell_bitcasts, SearchClock& clock);

}  // namespace hlosim
