#include "mosaic/body_walk.h"

#include <algorithm>
#include <cmath>

#include "mosaic/operation_cost.h"

namespace hlosim::mosaic {
namespace {

/// Operations that one step may go through; loops beyond are taken as their first round, times their number.
constexpr size_t kMostOfStep = 200'000;
constexpr int kDeepest = 100;
constexpr int kDeepestCondition = 8;

std::string_view callee_of(const mlir::Operation& op) {
  const mlir::Attribute* const callee = op.find("callee");
  return callee ? callee->text : std::string_view{};
}

}  // namespace

void BodyWalk::begin_step(bool unknown_met, bool counts) {
  unknown_met_ = unknown_met;
  is_counting_ = counts;
  path_ = 0;
  counts_.clear();
  taken_.clear();
  both_.clear();
  step_visited_ = 0;
  unknown_depth_ = 0;
  of_this_step_.clear();
}

std::vector<Scalar> BodyWalk::run(const mlir::Operation& function, std::span<const Scalar> arguments,
                                  size_t first_prefetched) {
  if (function.regions.empty() || function.regions[0].blocks.empty()) return {};
  const mlir::Block& body = *function.regions[0].blocks[0];
  for (size_t i = 0; i < body.arguments.size(); ++i) {
    if (i < arguments.size()) values_[body.arguments[i]] = arguments[i];
    // The same scalar operand has the same number in every function.
    if (i >= first_prefetched) prefetched_[body.arguments[i]] = i - first_prefetched;
  }
  return run_region(function.regions[0], 1);
}

void BodyWalk::bind(std::span<const mlir::Value* const> values, std::span<const Scalar> scalars) {
  for (size_t i = 0; i < values.size() && i < scalars.size(); ++i) values_[values[i]] = scalars[i];
}

Scalar BodyWalk::value_of(const mlir::Value* value) const {
  const auto at = values_.find(value);
  return at == values_.end() ? unknown(mixed(3, reinterpret_cast<uintptr_t>(value)) & ~uint64_t{1})
                             : at->second;
}

std::vector<Scalar> BodyWalk::operands_of(const mlir::Operation& op) const {
  std::vector<Scalar> scalars;
  scalars.reserve(op.operands.size());
  for (const mlir::Value* operand : op.operands) scalars.push_back(value_of(operand));
  return scalars;
}

/// All of them where they are counted; else those that scalars or regions come from. Constants are known
/// once.
std::span<const mlir::Operation* const> BodyWalk::operations_of(const mlir::Block& block) {
  if (is_counting_) return block.operations;
  const auto [at, is_new] = deciding_.try_emplace(&block);
  if (!is_new) return at->second;
  for (const mlir::Operation* op : block.operations) {
    const std::string_view name = plain_name(*op);
    const bool is_end = name.ends_with(".yield") || name.ends_with(".return") || name == "scf.condition";
    const bool is_scalar = op->results.size() == 1 && op->results[0]->type->kind == mlir::TypeKind::kElement;
    if (name == "arith.constant" && is_scalar)
      values_[op->results[0]] = evaluate_scalar(*op, {});
    else if (is_end || is_scalar || !op->regions.empty() || name == "func.call")
      at->second.push_back(op);
  }
  return at->second;
}

std::vector<Scalar> BodyWalk::run_region(const mlir::Region& region, double times) {
  if (region.blocks.empty() || depth_ >= kDeepest) return {};
  ++depth_;
  std::vector<Scalar> results;
  for (const mlir::Operation* op : operations_of(*region.blocks[0])) {
    const std::string_view name = plain_name(*op);
    if (name.ends_with(".yield") || name.ends_with(".return") || name == "scf.condition") {
      results = operands_of(*op);
      break;
    }
    bind(op->results, run_operation(*op, times));
  }
  --depth_;
  return results;
}

std::optional<bool> BodyWalk::decided(const Scalar& condition, int depth) const {
  if (condition.is_known) return condition.value != 0;
  if (const auto at = taken_.find(condition.unknown); at != taken_.end())
    return at->second != condition.is_negated;
  const auto both = both_.find(condition.unknown);
  if (both == both_.end() || depth > kDeepestCondition) return std::nullopt;
  const std::optional<bool> first = decided(both->second.first, depth + 1);
  const std::optional<bool> second = decided(both->second.second, depth + 1);
  if (first == false || second == false) return condition.is_negated;
  if (first && second) return !condition.is_negated;
  return std::nullopt;
}

/// From now on in this step; where two conditions hold together, each of them holds.
void BodyWalk::decide(const Scalar& condition, bool value, int depth) {
  if (condition.is_known) return;
  taken_.try_emplace(condition.unknown, value != condition.is_negated);
  const auto both = both_.find(condition.unknown);
  const bool holds = value != condition.is_negated;
  if (both == both_.end() || !holds || depth > kDeepestCondition) return;
  const auto [first, second] = both->second;
  decide(first, true, depth + 1);
  decide(second, true, depth + 1);
}

bool BodyWalk::is_met(const Scalar& condition) {
  if (condition.is_known) return condition.value != 0;
  has_unknown_conditions_ = true;
  if (const auto value = decided(condition, 0)) return *value;
  decide(condition, unknown_met_, 0);
  return unknown_met_;
}

Scalar BodyWalk::load(const mlir::Operation& op, std::span<const Scalar> operands) const {
  const auto at = prefetched_.find(op.operands[0]);
  uint64_t number = at == prefetched_.end() ? mixed(5, reinterpret_cast<uintptr_t>(op.operands[0]))
                                            : mixed(6, static_cast<uint64_t>(at->second));
  for (const Scalar& index : operands.subspan(1))
    number = mixed(number, index.is_known ? static_cast<uint64_t>(index.value) : index.unknown);
  const bool is_listed = at != prefetched_.end() && at->second < inputs_.prefetched.size() &&
                         operands.size() == 2 && operands[1].is_known;
  if (is_listed) {
    const std::vector<int64_t>& values = inputs_.prefetched[at->second];
    const int64_t index = operands[1].value;
    if (index >= 0 && static_cast<size_t>(index) < values.size())
      return known(values[static_cast<size_t>(index)]);
  }
  if (at != prefetched_.end()) missing_operands_.insert(at->second);
  return unknown(number & ~uint64_t{1});
}

std::vector<Scalar> BodyWalk::run_operation(const mlir::Operation& op, double times) {
  ++visited_;
  if (++step_visited_ > kMostOfStep) is_cut_ = true;
  const std::string_view name = plain_name(op);
  if (name == "scf.if") return run_if(op, times);
  if (name == "scf.for") return run_for(op, times);
  if (name == "scf.while") return run_while(op, times);
  if (name == "func.call") return run_call(op, times);
  if (is_counting_) counts_[&op] += times;
  if (!op.regions.empty()) {  // tpu.region, tpu.trace: what stands in them runs
    std::vector<Scalar> results;
    for (const mlir::Region& region : op.regions) results = run_region(region, times);
    return results;
  }
  if (op.results.size() != 1 || op.results[0]->type->kind != mlir::TypeKind::kElement) return {};
  const std::vector<Scalar> operands = operands_of(op);
  if (name == "memref.load" && !operands.empty()) return {load(op, operands)};
  const Scalar made = evaluate_scalar(op, operands);
  if (name == "arith.andi" && !made.is_known && (made.unknown & 1) != 0)
    both_.try_emplace(made.unknown, operands[0], operands[1]);
  return {made};
}

std::vector<Scalar> BodyWalk::run_if(const mlir::Operation& op, double times) {
  if (op.operands.empty() || op.regions.empty()) return {};
  const bool met = is_met(value_of(op.operands[0]));
  path_ = mixed(path_, met ? 17 : 19);
  if (!met && op.regions.size() < 2) return {};
  return run_region(op.regions[met ? 0 : 1], times);
}

std::vector<Scalar> BodyWalk::run_for(const mlir::Operation& op, double times) {
  if (op.operands.size() < 3 || op.regions.empty() || op.regions[0].blocks.empty()) return {};
  const std::vector<Scalar> operands = operands_of(op);
  std::vector<Scalar> carried(operands.begin() + 3, operands.end());
  const auto arguments = op.regions[0].blocks[0]->arguments;
  const Scalar &lower = operands[0], &upper = operands[1], &step = operands[2];
  const bool is_counted = lower.is_known && upper.is_known && step.is_known && step.value > 0;
  const double trips =
      !is_counted
          ? 1
          : std::max(0.0, std::ceil((static_cast<double>(upper.value) - static_cast<double>(lower.value)) /
                                    static_cast<double>(step.value)));
  path_ = mixed(path_, static_cast<uint64_t>(trips) + 23);
  for (double trip = 0; trip < trips && !arguments.empty(); ++trip) {
    // A loop that takes too long to follow: this round stands for all that are left.
    if (++step_visited_ > kMostOfStep) is_cut_ = true;
    const bool is_last = is_cut_;
    values_[arguments[0]] = is_counted ? known(lower.value + static_cast<int64_t>(trip) * step.value) : lower;
    bind(arguments.subspan(1), carried);
    carried = is_counted ? run_region(op.regions[0], is_last ? times * (trips - trip) : times)
                         : run_round_of_unknown(op, op.regions[0], times);
    if (is_last) break;
  }
  return carried;
}

std::vector<Scalar> BodyWalk::run_while(const mlir::Operation& op, double times) {
  if (op.regions.size() < 2 || op.regions[0].blocks.empty() || op.regions[1].blocks.empty()) return {};
  std::vector<Scalar> carried = operands_of(op);
  for (;;) {
    bind(op.regions[0].blocks[0]->arguments, carried);
    std::vector<Scalar> condition = run_region(op.regions[0], times);
    if (condition.empty()) return {};
    const Scalar again = condition.front();
    condition.erase(condition.begin());
    const bool goes_on = again.is_known ? again.value != 0 : true;
    path_ = mixed(path_, goes_on ? 29 : 31);
    if (!goes_on || is_cut_) return condition;
    bind(op.regions[1].blocks[0]->arguments, condition);
    carried =
        again.is_known ? run_region(op.regions[1], times) : run_round_of_unknown(op, op.regions[1], times);
    if (!again.is_known) return carried;
  }
}

/// What the round counts beyond what was counted before is the loop's.
std::vector<Scalar> BodyWalk::run_round_of_unknown(const mlir::Operation& op, const mlir::Region& region,
                                                   double times) {
  const bool is_outermost = is_counting_ && unknown_depth_ == 0;
  const auto before = is_outermost ? counts_ : decltype(counts_){};
  ++unknown_depth_;
  std::vector<Scalar> results = run_region(region, times);
  --unknown_depth_;
  if (!is_outermost) return results;
  auto loop = std::ranges::find(unknown_loops_, &op, &UnknownLoop::op);
  if (loop == unknown_loops_.end()) {
    loop = unknown_loops_.insert(unknown_loops_.end(), {&op, 0, {}});
    of_this_step_.insert(&op);
  }
  if (!of_this_step_.contains(&op)) return results;
  loop->entries += times;
  for (const auto& [inner, count] : counts_) {
    const auto at = before.find(inner);
    if (const double more = count - (at == before.end() ? 0 : at->second); more > 0)
      loop->counts[inner] += more;
  }
  return results;
}

std::vector<Scalar> BodyWalk::run_call(const mlir::Operation& op, double times) {
  const auto at = functions_.find(callee_of(op));
  if (is_cut_ || at == functions_.end() || at->second->regions.empty() ||
      at->second->regions[0].blocks.empty())
    return {};
  bind(at->second->regions[0].blocks[0]->arguments, operands_of(op));
  return run_region(at->second->regions[0], times);
}

}  // namespace hlosim::mosaic
