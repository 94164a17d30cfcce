#include "memory/phi_graph.h"

#include <unordered_set>

namespace hlosim {

void PhiGraph::set(int32_t phi, std::vector<int32_t> inputs) {
  const auto [entry, is_new] = position_.try_emplace(phi, phis_.size());
  if (is_new) {
    phis_.push_back(phi);
    inputs_.emplace_back();
  }
  inputs_[entry->second] = std::move(inputs);
}

int32_t PhiGraph::replacement(int32_t value) const {
  for (auto found = replaced_.find(value); found != replaced_.end(); found = replaced_.find(value))
    value = found->second;
  return value;
}

/// The one value besides itself that flows into a phi; -1: there are several.
int32_t PhiGraph::only_source(size_t phi) const {
  int32_t only = -1;
  for (const int32_t input : inputs_[phi]) {
    const int32_t value = replacement(input);
    if (value == phis_[phi] || value == only) continue;
    if (only >= 0) return -1;
    only = value;
  }
  return only;
}

/// Phis reachable through inputs, with at most one value from outside flowing into all of them.
bool PhiGraph::replace_closed_group(size_t phi) {
  std::unordered_set<int32_t> group = {phis_[phi]};
  std::vector<int32_t> stack = {phis_[phi]};
  int32_t outside = -1;
  while (!stack.empty()) {
    const int32_t at = stack.back();
    stack.pop_back();
    for (const int32_t input : inputs_[position_.at(at)]) {
      const int32_t value = replacement(input);
      if (group.contains(value)) continue;
      if (position_.contains(value)) {
        group.insert(value);
        stack.push_back(value);
      } else if (outside < 0) {
        outside = value;
      } else if (outside != value) {
        return false;
      }
    }
  }
  if (outside < 0) return false;
  for (const int32_t member : group) replaced_[member] = outside;
  return true;
}

void PhiGraph::simplify() {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < phis_.size(); ++i) {
      if (replaced_.contains(phis_[i])) continue;
      if (const int32_t source = only_source(i); source >= 0) {
        replaced_[phis_[i]] = source;
        changed = true;
      } else {
        changed |= replace_closed_group(i);
      }
    }
  }
}

}  // namespace hlosim
