// How long a module takes under a plan: the objective of the tuner, again and again after small changes.
//
// Steps run one after the other. Copies wait in two queues, one per direction; while HBM has nothing else to
// do, the heads of both go on, at half the rate each when both are there. A wait for a copy takes as long as
// what stands before it in its queue, itself included, still needs. docs/prefetch.md has the rules.
//
// A change is simulated from the first gap that it touches up to where everything is as it was.
//
//   PrefetchSimulator simulator(problem);
//   simulator.set(0, plan);                        // of the first value
//   simulator.time()                               // picoseconds, with what is on the chip now
#pragma once

#include <vector>

#include "prefetch/prefetch_problem.h"

namespace hlosim {

class PrefetchSimulator {
 public:
  /// All values in HBM.
  explicit PrefetchSimulator(const PrefetchProblem& problem);

  /// Changes the plan of one value. Requires: complete() made it.
  void set(int32_t value, const ValuePlan& plan);
  /// As if all sites of a value were on the chip, for nothing: what no plan of it can beat. Requires: its
  /// plan is empty.
  void assume_on_chip(int32_t value, bool all);

  /// For changes of the problem itself, the order of steps: remove_plan() the values concerned, change it,
  /// touch() the steps, add_plan() again, update(). Times are right only then.
  void remove_plan(int32_t value);
  /// Requires: its plan is empty.
  void add_plan(int32_t value, const ValuePlan& plan);
  void touch(int32_t region, int32_t position);
  void update();

  const ValuePlan& plan(int32_t value) const { return plans_[static_cast<size_t>(value)]; }
  const std::vector<ValuePlan>& plans() const { return plans_; }

  double time() const { return regions_.back().total; }
  /// Time that HBM is taken, all of the run.
  double hbm() const { return regions_.back().hbm; }
  /// Of the entry and what it calls: time waited for copies.
  double waited() const;
  /// Time of a step in which HBM is free for copies; all of its time.
  double idle_of(int32_t region, int32_t position) const;
  double time_of(int32_t region, int32_t position) const;
  /// Waiting before a step.
  double waited_at(int32_t region, int32_t gap) const {
    return regions_[static_cast<size_t>(region)].waited[static_cast<size_t>(gap)];
  }

 private:
  struct Copy {
    int32_t start = 0, done = 0;  // gaps
    double length = 0, hbm = 0;
    double behind = 0;  // amount enqueued up to its end
    bool out = false;
  };
  struct Queue {
    double enqueued = 0, moved = 0;
    int32_t from = 0;  // what was started in gaps before this one is over
    double left() const { return enqueued - moved; }
    bool operator==(const Queue&) const = default;
  };
  struct Queues {
    Queue in, out;
    bool operator==(const Queues&) const = default;
  };
  struct Region {
    std::vector<uint32_t> masks;                      // by position
    std::vector<std::vector<int32_t>> starts, dones;  // copies by gap
    std::vector<Queues> before;                       // by gap
    std::vector<double> waited, spent;                // by gap; by position, waiting and starts included
    std::vector<double> traffic;                      // by position: HBM of the step and what it calls
    double total = 0, step_hbm = 0, copies = 0, hbm = 0;
    bool is_new = true;            // no step has been simulated
    std::vector<int32_t> touched;  // a heap, the first one on top: positions that were changed
    bool is_touched(int32_t position) const {
      return is_new || (!touched.empty() && touched.front() == position);
    }
    void touch(int32_t position);
    /// Those up to `position` are as they should be.
    void settle(int32_t position);
  };

  void place(int32_t value, const ValuePlan& plan, bool there);
  void toggle_copy(int32_t region, Copy copy, bool there);
  void resimulate(int32_t region);
  void pass_step(int32_t region, int32_t position, Queues& queues, StepCost& more);
  StepCost cost_of(int32_t region, int32_t position) const;
  double pass_gap(Region& region, int32_t gap, Queues& queues);
  double run(Queues& queues, const StepCost& cost) const;
  double run_fair(Queues& queues, const StepCost& cost) const;
  static void move(Queues& queues, double time);
  static double drain(Queues& queues, bool out, double amount);

  const PrefetchProblem& problem_;
  std::vector<ValuePlan> plans_;
  std::vector<Region> regions_;
  std::vector<Copy> copies_;
  std::vector<int32_t> free_copies_;
  std::vector<int32_t> open_;  // a heap, the first one on top: regions that were touched
};

}  // namespace hlosim
