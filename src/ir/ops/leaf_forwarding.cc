#include "ops/leaf_forwarding.h"

#include <algorithm>
#include <numeric>

#include "hlo/graph.h"
#include "ops/infer.h"

namespace hlosim {
namespace {

int64_t operand_leaf_count(const OpContext& op) {
  int64_t count = 0;
  for (int64_t i = 0; i < op.operand_count(); ++i) count += leaf_count(op.operand_shape(i));
  return count;
}

std::vector<int64_t> counting(int64_t from, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), from);
  return numbers;
}

// ── asynchronous chains ─────────────────────────────────────────
// The value of a start or update is ((operands bound …), results …, contexts …). Operands and results may be
// bound later, so the wrapped computation is run where both are complete for the first time: at the start as
// a rule, else at an update, else at the done, which has the results in any case.

struct AsyncState {
  int64_t operands = 0, results = 0;  // leaves bound
};

AsyncState bound(ShapeRef shape) { return {leaf_count(shape->elements[0]), leaf_count(shape->elements[1])}; }

// The computation that the chain of `op` wraps; null where the chain goes through anything but updates.
const ComputationId* wrapped(const OpContext& op) {
  if (const Attr* calls = op.find(AttrKey::kCalls)) return calls->computations().data();
  const Instruction* start = async_start_of(op.module(), op.instruction());
  const Attr* calls = start ? start->find(AttrKey::kCalls) : nullptr;
  return calls ? calls->computations().data() : nullptr;
}

bool complete(const OpContext& op, ComputationId called, AsyncState state) {
  int64_t parameters = 0;
  for (const InstructionId parameter : op.computation(called).parameters)
    parameters += leaf_count(op.module()[parameter].shape);
  return state.operands == parameters && state.results == leaf_count(op.module().root(called).shape);
}

// Is the chain's computation run at `op`, a start or update?
bool runs_here(const OpContext& op) {
  const ComputationId* called = wrapped(op);
  if (!called || !complete(op, *called, bound(op.shape()))) return false;
  return op.def().has(kAsyncStart) || !complete(op, *called, bound(op.operand_shape(0)));
}

bool done_runs(const OpContext& op) {
  return bound(op.operand_shape(0)).results != leaf_count(op.shape()) && wrapped(op);
}

// Operand leaves that are bound as operands of the wrapped computation after `op`.
std::vector<int64_t> bound_operands(const OpContext& op) {
  if (op.def().has(kAsyncStart)) return counting(0, operand_leaf_count(op));
  std::vector<int64_t> leaves = counting(0, bound(op.operand_shape(0)).operands);
  const int64_t first_new = leaf_count(op.operand_shape(0));
  for (const int64_t leaf : counting(first_new, operand_leaf_count(op) - first_new)) leaves.push_back(leaf);
  return leaves;
}

bool is_generic_async(const OpContext& op) {
  const auto forward = op.def().forward;
  return forward == forward_async_start || forward == forward_async_update || forward == forward_async_done;
}

void forward_results(int64_t count, int64_t (*leaf)(int64_t), std::vector<int64_t>& leaves) {
  for (int64_t k = 0; k < count; ++k) leaves.push_back(leaf(k));
}

int64_t nobody(int64_t) { return kNobody; }

}  // namespace

std::optional<OpenedCall> opened_call(const OpContext& op) {
  if (is_generic_async(op)) {
    const bool is_done = op.def().has(kAsyncDone);
    if (!(is_done ? done_runs(op) : runs_here(op))) return std::nullopt;
    return OpenedCall{*wrapped(op), bound_operands(op)};
  }
  if (!op.def().has(kFusion) && !op.def().has(kCallsInline)) return std::nullopt;
  for (const AttrKey key : {AttrKey::kCalls, AttrKey::kToApply})
    if (op.has(key)) return OpenedCall{op.called(key), counting(0, operand_leaf_count(op))};
  return std::nullopt;
}

bool loses_results(const OpContext& op) {
  if (!is_generic_async(op) || op.def().has(kAsyncStart)) return false;
  const int64_t before = bound(op.operand_shape(0)).results;
  if (op.def().has(kAsyncDone)) return before != leaf_count(op.shape()) && !wrapped(op);
  return before != bound(op.shape()).results && !wrapped(op);
}

void forward_in_order(const OpContext& op, std::vector<int64_t>& leaves) {
  leaves = counting(0, std::min(leaf_count(op.shape()), operand_leaf_count(op)));
  leaves.resize(static_cast<size_t>(leaf_count(op.shape())), kNobody);  // a domain may state another shape
}

void forward_nothing(const OpContext& op, std::vector<int64_t>& leaves) {
  leaves.assign(static_cast<size_t>(leaf_count(op.shape())), kNobody);
}

void forward_tuple_element(const OpContext& op, std::vector<int64_t>& leaves) {
  int64_t first = 0;
  const auto elements = op.operand_shape(0)->elements;
  const int64_t index = op.integer(AttrKey::kIndex);
  for (int64_t i = 0; i < index; ++i) first += leaf_count(elements[static_cast<size_t>(i)]);
  leaves = counting(first, leaf_count(op.shape()));
}

void forward_second_element(const OpContext& op, std::vector<int64_t>& leaves) {
  const auto& parts = op.operand_shape(0)->elements;
  const int64_t first = leaf_count(parts[0]);
  for (int64_t i = 0; i < leaf_count(parts[1]); ++i) leaves.push_back(first + i);
}

void forward_copy_start(const OpContext& op, std::vector<int64_t>& leaves) {
  const int64_t count = leaf_count(op.operand_shape(0));
  for (int twice = 0; twice < 2; ++twice)
    for (const int64_t leaf : counting(0, count)) leaves.push_back(leaf);
  while (static_cast<int64_t>(leaves.size()) < leaf_count(op.shape())) leaves.push_back(kNobody);
}

void forward_async_start(const OpContext& op, std::vector<int64_t>& leaves) {
  leaves = bound_operands(op);
  forward_results(bound(op.shape()).results, runs_here(op) ? opened_leaf : nobody, leaves);
  while (static_cast<int64_t>(leaves.size()) < leaf_count(op.shape())) leaves.push_back(kNobody);
}

void forward_async_update(const OpContext& op, std::vector<int64_t>& leaves) {
  leaves = bound_operands(op);
  const AsyncState before = bound(op.operand_shape(0)), now = bound(op.shape());
  if (runs_here(op))
    forward_results(now.results, opened_leaf, leaves);
  else if (before.results == now.results)
    for (const int64_t leaf : counting(before.operands, now.results)) leaves.push_back(leaf);
  else
    forward_results(now.results, nobody, leaves);
  while (static_cast<int64_t>(leaves.size()) < leaf_count(op.shape())) leaves.push_back(kNobody);
}

void forward_async_done(const OpContext& op, std::vector<int64_t>& leaves) {
  if (done_runs(op))
    forward_results(leaf_count(op.shape()), opened_leaf, leaves);
  else if (bound(op.operand_shape(0)).results != leaf_count(op.shape()))  // its start is unknown
    forward_nothing(op, leaves);
  else
    leaves = counting(bound(op.operand_shape(0)).operands, leaf_count(op.shape()));
}

}  // namespace hlosim
