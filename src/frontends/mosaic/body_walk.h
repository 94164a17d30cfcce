// Goes through a function of a kernel's module for one step of its grid.
//
//   BodyWalk walk(functions, inputs);
//   const std::vector<Scalar> block = walk.run(transform, arguments);   // what the function returns
//   walk.counts()[op]                                                   // how often each operation ran
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mosaic/kernel_body.h"
#include "mosaic/scalars.h"

namespace hlosim::mosaic {

/// A loop of which one round was gone through, as its trip count depends on data that isn't known.
struct UnknownLoop {
  const mlir::Operation* op = nullptr;
  double entries = 0;                                         // in the step that it was counted in
  std::unordered_map<const mlir::Operation*, double> counts;  // of its rounds in all entries
};

class BodyWalk {
 public:
  BodyWalk(const std::map<std::string_view, const mlir::Operation*>& functions, const KernelInputs& inputs)
      : functions_(functions), inputs_(inputs) {}

  /// `first_prefetched`: which argument is the first of the scalar operands.
  std::vector<Scalar> run(const mlir::Operation& function, std::span<const Scalar> arguments,
                          size_t first_prefetched);

  /// `unknown_met`: what conditions on data that isn't known are in this step, until one says otherwise.
  /// Without `counts`, only what decides the way is gone through.
  void begin_step(bool unknown_met, bool counts);
  /// Since begin_step(): the way that was taken through conditions and loops, and how often operations ran.
  uint64_t path() const { return path_; }
  const std::unordered_map<const mlir::Operation*, double>& counts() const { return counts_; }

  /// Did anything depend on data that isn't known?
  const std::set<std::string>& assumptions() const { return assumptions_; }
  bool has_unknown_conditions() const { return has_unknown_conditions_; }
  /// The outermost ones, in the order met, each of the first step that counted it.
  const std::vector<UnknownLoop>& unknown_loops() const { return unknown_loops_; }
  /// Scalar operands whose values were asked for and aren't known.
  const std::set<size_t>& missing_operands() const { return missing_operands_; }
  /// Operations gone through so far.
  size_t visited() const { return visited_; }
  /// Was the budget for loops used up?
  bool is_cut() const { return is_cut_; }

 private:
  std::vector<Scalar> run_region(const mlir::Region& region, double times);
  std::vector<Scalar> run_operation(const mlir::Operation& op, double times);
  std::vector<Scalar> run_if(const mlir::Operation& op, double times);
  std::vector<Scalar> run_for(const mlir::Operation& op, double times);
  std::vector<Scalar> run_while(const mlir::Operation& op, double times);
  std::vector<Scalar> run_call(const mlir::Operation& op, double times);
  std::vector<Scalar> run_round_of_unknown(const mlir::Operation& op, const mlir::Region& region,
                                           double times);
  std::span<const mlir::Operation* const> operations_of(const mlir::Block& block);
  bool is_met(const Scalar& condition);
  std::optional<bool> decided(const Scalar& condition, int depth) const;
  void decide(const Scalar& condition, bool value, int depth);
  void bind(std::span<const mlir::Value* const> values, std::span<const Scalar> scalars);
  Scalar value_of(const mlir::Value* value) const;
  std::vector<Scalar> operands_of(const mlir::Operation& op) const;
  Scalar load(const mlir::Operation& op, std::span<const Scalar> operands) const;

  const std::map<std::string_view, const mlir::Operation*>& functions_;
  const KernelInputs& inputs_;
  std::unordered_map<const mlir::Value*, Scalar> values_;
  std::unordered_map<const mlir::Value*, size_t> prefetched_;  // argument → scalar operand
  std::unordered_map<const mlir::Operation*, double> counts_;
  std::unordered_map<const mlir::Block*, std::vector<const mlir::Operation*>> deciding_;
  bool is_counting_ = false;
  std::vector<UnknownLoop> unknown_loops_;
  mutable std::set<size_t> missing_operands_;
  int unknown_depth_ = 0;                          // loops of unknown trip count around
  std::set<const mlir::Operation*> of_this_step_;  // unknown loops that are counted in this step
  std::set<std::string> assumptions_;
  uint64_t path_ = 0;
  std::unordered_map<uint64_t, bool> taken_;  // unknown truth values, as assumed in this step
  std::unordered_map<uint64_t, std::pair<Scalar, Scalar>> both_;  // those that are two others together
  bool unknown_met_ = true;
  size_t visited_ = 0;
  size_t step_visited_ = 0;
  int depth_ = 0;
  bool is_cut_ = false;
  bool has_unknown_conditions_ = false;
};

}  // namespace hlosim::mosaic
