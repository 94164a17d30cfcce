// What is there to decide when values are kept in on-chip memory, as plain numbers.
//
// A module is a number of regions: the entry, and bodies, conditions and branches that run as control flow.
// A region is a row of steps; gap p stands before its step p, the last gap behind all of them. In a gap first
// come waits for copies (dones), then starts. A value may be made on the chip, be read there by some of its
// uses, be copied there, and be written back:
//
//   ValuePlan plan;
//   plan.made_on_chip = true, plan.kept_until = 1;      // until its use 1; later ones read HBM
//   complete(problem, value, plan);                     // written back in time
//
// Times are picoseconds as doubles.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rounding.h"

namespace hlosim {

/// How long a step takes on its own, and how much of that HBM is taken. `fixed`: the beginning of it, in
/// which HBM serves copies alone.
struct StepCost {
  double time = 0, hbm = 0, fixed = 0;
};

/// Who HBM serves first.
enum class HbmSharing : uint8_t {
  kStepsFirst,  // copies get what steps leave (XLA's simulator)
  kFair,        // both alike, so that copies make steps longer (sim/overlap.h)
};

/// A computation that a step runs.
struct StepCall {
  int32_t region = 0;
  double times = 1;
  bool one_of_several = false;  // branches: only the longest of them counts
};

struct PrefetchStep {
  int32_t region = 0;
  int32_t position = 0;    // in the region
  int32_t sites = 0;       // places where a value may be on the chip: bits of a mask
  int32_t first_cost = 0;  // into PrefetchProblem::costs
  int32_t begin = 0;       // the first step that runs in it: its own number but for loops and calls
  std::vector<StepCall> calls;
  std::string_view name;
  int32_t number = 0;  // where the step stands in the given order; for PrefetchFreedom
};

/// Which steps may run in another order.
struct PrefetchFreedom {
  /// By number of the step: it may change places with its neighbour, if that one may, too. Empty: none may.
  /// What may not, has no other order to anything. Values are handed on only where such a step stands, or at
  /// the end of a region.
  std::vector<uint8_t> movable;
  std::vector<std::vector<int32_t>> after;  // by number: steps of the region that come first, ascending

  bool any() const { return !movable.empty(); }
  /// Neighbours, `first` before `second`, may change places.
  bool may_exchange(int32_t first, int32_t second) const;
};

/// Most sites of a step: further ones stay in HBM. Up to kTabledSites, every combination has its own cost.
inline constexpr int32_t kMostSites = 24;
inline constexpr int32_t kTabledSites = 5;

struct PrefetchUse {
  int32_t position = 0;  // of the step that uses it, or of the gap where it is handed on
  int32_t bit = -1;      // its site there; -1: always reads HBM
  int32_t number = 0;    // of the use in the given order of steps
};

struct PrefetchValue {
  std::string_view name;
  int64_t bytes = 0;
  int32_t region = 0;
  int32_t made_at = -1;              // position; -1: there when the region begins
  int32_t made_bit = -1;             // -1: always made in HBM
  std::vector<PrefetchUse> uses;     // by position, each position once
  double copy_in = 0, copy_out = 0;  // time that a copy takes on its own
  double hbm_in = 0, hbm_out = 0;    // of HBM alone
  /// A copy to the chip may take the place of the step that makes it, from this gap on; -1: none may.
  int32_t replace_from = -1;
  int32_t replaced_bit = -1;  // the step's site that says so: with it, the step takes no time
  bool is_parameter = false;  // of the entry
  bool looks_like_activation = false;

  /// Of a copy in two parts, whose bytes follow one another in memory.
  struct Half {
    int64_t bytes = 0;
    double copy_in = 0, hbm_in = 0;
  };
  std::array<Half, 2> halves;  // no bytes: it can't be cut

  int32_t sites() const;
  bool has_halves() const { return halves[0].bytes > 0; }
};

struct PrefetchRegion {
  std::vector<int32_t> steps;    // in order
  std::vector<int32_t> callers;  // steps
  double times = 1;              // how often it runs in all
};

struct PrefetchProblem {
  std::vector<PrefetchStep> steps;      // of all regions as they run: what a step calls stands before it
  std::vector<PrefetchRegion> regions;  // callees first; the entry is the last one
  std::vector<PrefetchValue> values;
  std::vector<StepCost> costs;
  int64_t capacity = 0;
  int64_t alignment = 1024;
  std::vector<int64_t> taken;  // by step: bytes that are on the chip whatever is decided; empty: none
  HbmSharing sharing = HbmSharing::kStepsFirst;
  double demand_in = 1, demand_out = 1;             // part of HBM that a copy asks for
  double issue = 0;                                 // what a start costs
  double latency_in = 0, latency_out = 0;           // of a copy that waits for no other
  int32_t max_prefetches = -1, max_evictions = -1;  // under way at a time; -1: any number
  int32_t extra_prefetches = 0;                     // while one of them takes the place of a step
  PrefetchFreedom freedom;

  const PrefetchStep& step(int32_t region, int32_t position) const {
    return steps[static_cast<size_t>(
        regions[static_cast<size_t>(region)].steps[static_cast<size_t>(position)])];
  }
  int32_t size_of(int32_t region) const {
    return static_cast<int32_t>(regions[static_cast<size_t>(region)].steps.size());
  }
  /// Of step `step` when the sites of `mask` are on the chip, without what it calls.
  StepCost cost(const PrefetchStep& step, uint32_t mask) const;
  /// The least time of any choice, and the least HBM time.
  StepCost least_cost(const PrefetchStep& step) const;
  /// More on the chip never makes a step longer.
  bool costs_fall() const;
  bool may_replace_steps() const;
  int32_t sites() const;
};

/// Space for the costs of a step: of every combination, or of none, of each one alone and of all.
int32_t cost_entries(int32_t sites);
/// The mask of entry `entry`.
uint32_t mask_of_entry(int32_t sites, int32_t entry);

/// A copy to the chip, for uses `first` … `last`.
struct PlannedCopy {
  int32_t start = 0;  // gap; done in the gap before use `first`
  int32_t first = 0, last = 0;
  int32_t second = -1;  // gap where the second half starts, later than the first; -1: it comes in one piece
  bool operator==(const PlannedCopy&) const = default;
};

struct ValuePlan {
  bool made_on_chip = false;
  int32_t kept_until = -1;                    // uses 0 … that read where it was made
  int32_t evict_start = -1, evict_done = -1;  // gaps; -1: HBM has it already, or it isn't needed there
  std::vector<PlannedCopy> copies;            // in order, no use twice
  bool replaced = false;  // the one copy, for all uses, takes the place of the step that makes it
  bool empty() const { return !made_on_chip && copies.empty(); }
  bool operator==(const ValuePlan&) const = default;
};

/// Sets when the value is written back, where it has to be: begun as soon as it is made, waited for as late
/// as possible. False: the plan can't be.
bool complete(const PrefetchValue& value, const PrefetchProblem& problem, ValuePlan& plan);

/// Positions during which the value, or half of it, takes space on the chip, both included.
struct Stay {
  int32_t first = 0, last = 0;
  int64_t bytes = 0;
  int32_t copy = -1;  // of the plan; -1: as made
  int32_t half = -1;  // -1: all of it
};
/// Of the value as made, then of each copy, of its first half before the second.
std::vector<Stay> stays(const PrefetchValue& value, const ValuePlan& plan);
/// The same in steps of the whole problem.
Stay in_steps(const PrefetchProblem& problem, int32_t region, Stay stay);

/// The bytes on the chip at every step.
class ChipSpace {
 public:
  explicit ChipSpace(const PrefetchProblem& problem);
  bool fits(const PrefetchValue& value, const ValuePlan& plan) const;
  void add(const PrefetchValue& value, const ValuePlan& plan, int64_t sign = 1);
  const std::vector<int64_t>& used() const { return used_; }
  int64_t peak() const;
  int64_t size_of(int64_t bytes) const { return round_up(bytes, problem_.alignment); }

 private:
  const PrefetchProblem& problem_;
  std::vector<int64_t> used_;
};

/// What breaks the rules of a plan, as text; empty: it can be done.
std::string fault_of(const PrefetchProblem& problem, std::span<const ValuePlan> plans);

}  // namespace hlosim
