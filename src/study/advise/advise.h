// Advice for a program on a device: changes that were tried by simulation, proven by execution and priced.
//
//   const Result<AdviceReport> found = advise(setup, op_table(), {.budget = 30});
//   for (const Advice& one : found->advice) std::cout << one.saved() << one.proposal.change;
//
// docs/advise.md says what is tried, how equality is shown and how savings are priced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "advise/advice_kind.h"
#include "advise/proof.h"
#include "advise/worth.h"
#include "base/stop.h"
#include "estimate/time_range.h"

namespace hlosim {

struct AdviceOptions {
  double budget = 30;              // seconds for everything; 0: no limit
  std::vector<std::string> kinds;  // names of the kinds to try; empty: all
  bool prove = true;
  size_t worth = 5;            // source lines whose worth is simulated; 0: none
  const Stop* stop = nullptr;  // asked: the search ends with an error
};

/// A change that pays, with its price.
struct Advice {
  const AdviceKind* kind = nullptr;
  Proposal proposal;
  Picoseconds before{}, after{};                     // of one step, or per work where the work differs
  std::optional<Picoseconds> saved_low, saved_high;  // 80 % interval of the saving
  Bytes peak_before{}, peak_after{};                 // of HBM, on one device
  bool fits_before = true, fits_after = true;
  Proof proof;

  Picoseconds saved() const { return before - after; }
  double share() const;  // saved() of `before`
};

/// A change that was tried and is no advice.
struct AdviceAttempt {
  enum class Outcome : uint8_t {
    kNoGain,
    kNotPossible,   // the change can't be made, or the changed program can't be simulated
    kDoesNotFit,    // it would need more memory than there is
    kOtherResults,  // executed, it computes something else
    kBetterOne,     // another proposal of its group saves as much or more
    kNoTime,        // the budget was over
  };
  const AdviceKind* kind = nullptr;
  std::string name;
  Outcome outcome = Outcome::kNoGain;
  Picoseconds before{}, after{};  // 0: not simulated
  std::string note;
};
std::string_view to_text(AdviceAttempt::Outcome outcome);

struct AdviceReport {
  std::string module_name, module_file, device_name;
  Picoseconds time{};
  std::optional<TimeRange> range;
  Bytes peak{};
  bool fits = true;
  std::vector<Advice> advice;           // what makes it fit first, then by saving
  std::vector<AdviceAttempt> attempts;  // the others, in the order of the table
  /// All advice together, where several can be combined.
  struct Together {
    std::vector<size_t> advice;  // by index
    Picoseconds after{};
  };
  std::optional<Together> together;
  std::vector<LineWorth> worth;  // largest first
  double seconds = 0;            // that it took
  bool cut = false;              // by the budget

  Picoseconds largest_saving() const;
};

/// Errors: as estimate() of the setup as it is; `options.stop` was asked.
Result<AdviceReport> advise(const TrialSetup& setup, const OpTable& table, const AdviceOptions& options);

/// The setup with the advice of these indices applied in the order of their stages. Errors: changes that
/// exclude each other, with the one that couldn't be applied.
Result<TrialSetup> with_advice(const TrialSetup& setup, const AdviceReport& report,
                               const std::vector<size_t>& advice);

}  // namespace hlosim
