// The choice of layouts: descent from the layouts that the module has, with kicks; and branch and bound,
// which ends with the best choice there is.
//
//   LayoutSearch search(problem, costs, evaluate, true);
//   const LayoutSearchResult best = search.run(given, {.moves = 1000});
//   if (best.exact) …                              // no choice is better
#pragma once

#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "relayout/layout_cost.h"

namespace hlosim {

/// What a choice really comes to; nullopt: it doesn't fit into the device's memory.
using LayoutEvaluation = std::function<std::optional<LayoutScore>(const LayoutChoice&)>;

struct LayoutSearchOptions {
  uint64_t seed = 1;
  int64_t moves = 20000;  // choices that are looked at by estimate
  int64_t steps =
      20000;  // of branch and bound: choices of one layout each, evaluations count ten or more; 0: none
  std::function<bool()> out_of_time;  // asked now and then
};

struct LayoutSearchResult {
  LayoutChoice choice;
  LayoutScore score;   // evaluated
  LayoutScore bound;   // no choice is better
  bool exact = false;  // the choice is the best of all candidates
  int64_t moves = 0, steps = 0, evaluations = 0;
};

class LayoutSearch {
 public:
  /// All outlive the search. `additive`: the estimates of LayoutCosts
  /// are of the objective; else only evaluations count.
  LayoutSearch(LayoutProblem& problem, LayoutCosts& costs, LayoutEvaluation evaluate, bool additive);

  /// `given`: what the choice as given comes to.
  LayoutSearchResult run(LayoutScore given, const LayoutSearchOptions& options);

 private:
  /// Groups whose arrays are in one order where nothing is to move between them.
  struct Link {
    InstructionId id;
    size_t operand = 0;
    int32_t from = -1, to = -1;
    bool alike = false;  // through a fusion: arrays of the same dimensions
  };
  using Moves = std::vector<std::pair<int32_t, const Layout*>>;

  void find_links();
  const Layout* candidate_like(int32_t group, ShapeRef array);
  ShapeRef across(const Link& link, bool forward, const Layout* layout);
  /// What the group at the other end of a link wants then; null: nothing that it could have.
  const Layout* wanted(size_t link, bool forward, const Layout* layout);
  Moves spread(int32_t group, const Layout* layout);
  LayoutScore score_of_now() const;
  /// The change of the estimate; the choice stays as it was.
  LayoutScore difference(const Moves& moves);
  void make(const Moves& moves);
  bool improve(int32_t group);
  void descend(std::vector<int32_t> groups);
  void search_by_estimate();
  void search_by_evaluation();
  void simplify();
  std::optional<LayoutScore> evaluate(const LayoutChoice& choice);
  void offer(const LayoutChoice& choice);
  bool stop();
  bool out_of_time() const;
  void branch(size_t depth, std::vector<uint8_t>& decided, LayoutChoice& choice,
              std::vector<LayoutScore>& bounds, LayoutScore total);
  LayoutScore bound_of(size_t part, const LayoutChoice& choice, const std::vector<uint8_t>& decided);

  LayoutProblem& problem_;
  LayoutCosts& costs_;
  LayoutEvaluation evaluate_;
  bool additive_;
  LayoutSearchOptions options_;
  std::mt19937_64 random_;
  std::vector<Link> links_;
  std::vector<std::vector<size_t>> links_of_;  // by group
  /// wanted() of twice the link's number, and one more where it is asked forward.
  std::vector<std::vector<std::pair<const Layout*, const Layout*>>> wanted_;
  LayoutChoice now_;
  std::vector<LayoutScore> part_scores_;
  LayoutSearchResult best_;
  int64_t changes_ = 0;           // of the best choice
  std::vector<int64_t> kept_at_;  // by group: changes_ when taking it back was worse; -1: it wasn't tried
  std::vector<int32_t> order_;    // of branching
  bool complete_ = true;
};

}  // namespace hlosim
