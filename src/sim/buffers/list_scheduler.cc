#include "buffers/list_scheduler.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hlosim {
namespace {

bool is_effectively_scalar(ShapeRef shape) {
  return shape->is_array() && std::all_of(shape->dimensions.begin(), shape->dimensions.end(),
                                          [](int64_t size) { return size == 1; });
}

}  // namespace

ListScheduler::ListScheduler(const ModuleGraph& graph, const Places& places, const Values& values,
                             std::span<const int64_t> sizes, ComputationId computation,
                             std::span<int32_t> uses)
    : graph_(graph),
      module_(graph.module()),
      places_(places),
      values_(values),
      sizes_(sizes),
      computation_(computation),
      position_(graph.instructions(computation)),
      uses_(uses) {
  nodes_.reserve(graph.instructions(computation).size());
  for (const InstructionId id : graph.instructions(computation)) {
    position_[id] = nodes_.size();
    nodes_.emplace_back();
  }
  for (const InstructionId id : graph.instructions(computation)) {
    for (const InstructionId user : graph.users(id)) ++node(user).waits_for;
    if (const Attr* attr = module_[id].find(AttrKey::kControlPredecessors))
      for (const InstructionId before : attr->instructions()) {
        node(before).control_successors.push_back(id);
        ++node(id).waits_for;
      }
  }
  find_values();
}

/// Memory of parameters and constants is there anyway and doesn't count. What a call hands out counts as made
/// by the call.
void ListScheduler::find_values() {
  enum : int32_t { kNew, kGiven, kMade };
  std::vector<ValueIndex> known;
  for (const InstructionId id : graph_.post_order(computation_)) {
    Node& at = node(id);
    const bool is_given = module_[id].parameter_number >= 0 || dataflow(module_[id].opcode).is_constant;
    const Place top = places_.first(id);
    for (Place place = top; place < places_.end(top); ++place) {
      const ValueIndex value = values_.at(place);
      if (value == kNoValue || uses(value) != kNew) continue;
      known.push_back(value);
      uses(value) = is_given ? kGiven : kMade;
      if (!is_given) at.makes += sizes_[static_cast<size_t>(value)];
    }
    at.first_read = reads_.size();
    for (const InstructionId operand : module_[id].operands) {
      const Place from = places_.first(operand);
      for (Place place = from; place < places_.end(from); ++place)
        if (const ValueIndex value = values_.at(place); value != kNoValue && uses(value) != kGiven)
          reads_.push_back(value);
    }
    const auto first = reads_.begin() + static_cast<std::ptrdiff_t>(at.first_read);
    std::sort(first, reads_.end());
    reads_.erase(std::unique(first, reads_.end()), reads_.end());
    at.end_read = reads_.size();
  }
  for (const ValueIndex value : known) uses(value) = 0;
  for (const ValueIndex value : reads_) ++uses(value);
  // The root hands each of its values out once.
  known.clear();
  const Place root = places_.first(module_[computation_].root);
  for (Place place = root; place < places_.end(root); ++place)
    if (const ValueIndex value = values_.at(place); value != kNoValue) known.push_back(value);
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const ValueIndex value : known) ++uses(value);
  results_ = std::move(known);
}

ListScheduler::Priority ListScheduler::priority(InstructionId id) {
  constexpr int64_t kFirst = std::numeric_limits<int64_t>::max();
  if (is_effectively_scalar(module_[id].shape)) return {kFirst, kFirst};
  const Node& at = node(id);
  int64_t freed = -at.makes;
  for (const ValueIndex value : reads(at))
    if (uses(value) == 1) freed += sizes_[static_cast<size_t>(value)];
  return {freed, static_cast<int64_t>(graph_.users(id).size())};
}

void ListScheduler::make_ready(InstructionId id) {
  Node& at = node(id);
  at.queued = queue_.emplace(priority(id), id);
  at.is_ready = true;
}

void ListScheduler::release(InstructionId successor) {
  if (--node(successor).waits_for == 0) make_ready(successor);
}

/// The last reader of a value has become the one that frees it.
void ListScheduler::requeue_users_of_operands(InstructionId id) {
  for (const InstructionId operand : module_[id].operands)
    for (const InstructionId user : graph_.users(operand)) {
      Node& at = node(user);
      if (!at.is_ready) continue;
      const Priority now = priority(user);
      if (now == at.queued->first) continue;
      queue_.erase(at.queued);
      at.queued = queue_.emplace(now, user);
    }
}

std::vector<InstructionId> ListScheduler::run() {
  std::vector<InstructionId> order;
  order.reserve(nodes_.size());
  for (const InstructionId id : graph_.instructions(computation_))
    if (node(id).waits_for == 0) make_ready(id);
  while (!queue_.empty()) {
    const auto best = std::prev(queue_.end());
    const InstructionId id = best->second;
    queue_.erase(best);
    Node& at = node(id);
    at.is_ready = false;
    order.push_back(id);
    bool last_reader = false;
    for (const ValueIndex value : reads(at)) last_reader |= --uses(value) == 1;
    for (const InstructionId user : graph_.users(id)) release(user);
    for (const InstructionId successor : at.control_successors) release(successor);
    if (last_reader) requeue_users_of_operands(id);
  }
  for (const ValueIndex value : reads_) uses(value) = 0;
  for (const ValueIndex value : results_) uses(value) = 0;
  return order;
}

}  // namespace hlosim
