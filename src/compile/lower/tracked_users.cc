#include "lower/tracked_users.h"

#include <algorithm>
#include <limits>

#include "ops/op_table.h"

namespace hlosim {
namespace {

constexpr size_t kOfTheList = std::numeric_limits<size_t>::max();  // behind all that go before it

}  // namespace

TrackedUsers::TrackedUsers(ModuleEditor& editor, ComputationId computation)
    : editor_(editor),
      module_(editor.module()),
      computation_(computation),
      before_(users_of(module_, computation)) {}

std::span<const InstructionId> TrackedUsers::operator[](InstructionId id) const {
  const auto changed = users_.find(id);
  return changed == users_.end() ? before_[id] : std::span<const InstructionId>(changed->second);
}

std::vector<InstructionId>& TrackedUsers::users(InstructionId id) {
  elements_.erase(id);
  const auto [entry, is_first] = users_.try_emplace(id);
  if (is_first) entry->second.assign(before_[id].begin(), before_[id].end());
  return entry->second;
}

std::span<const InstructionId> TrackedUsers::elements(InstructionId tuple, size_t index) {
  const auto [entry, is_first] = elements_.try_emplace(tuple);
  std::vector<std::vector<InstructionId>>& by_index = entry->second;
  if (is_first)
    for (const InstructionId user : (*this)[tuple]) {
      if (!is_tuple_element(module_[user])) continue;
      const auto at = static_cast<size_t>(module_[user].find(AttrKey::kIndex)->integer());
      if (at >= by_index.size()) by_index.resize(at + 1);
      by_index[at].push_back(user);
    }
  if (index >= by_index.size()) return {};
  return by_index[index];
}

TrackedUsers::Place TrackedUsers::place_of(InstructionId id) {
  if (places_.empty()) {
    for (size_t i = 0; i < list().size(); ++i) places_[list()[i]] = {i, kOfTheList};
    for (size_t i = 0; i < appended_.size(); ++i) places_[appended_[i]] = {list().size() + i, 0};
  }
  return places_.at(id);
}

/// Copies of the module share operands: each list of them is copied once before it is changed.
void TrackedUsers::set_operand(InstructionId user, size_t number, InstructionId operand) {
  std::span<InstructionId>& own = own_operands_[user];
  if (own.empty() || own.data() != module_[user].operands.data()) {
    own = module_.arena().copy(module_[user].operands);
    module_.instructions[user].operands = own;
  }
  own[number] = operand;
}

void TrackedUsers::insert_before(InstructionId user, size_t number, InstructionId added) {
  if (place_of(user).second != kOfTheList) write();
  std::vector<InstructionId>& there = inserted_[user];
  places_[added] = {place_of(user).first, there.size()};
  there.push_back(added);
  const InstructionId operand = module_[user].operands[number];
  set_operand(user, number, added);
  users_[added] = {user};
  std::vector<InstructionId>& all = users(operand);
  const auto at = std::ranges::find(all, user);
  if (std::ranges::find(module_[user].operands, operand) == module_[user].operands.end())
    *at = added;
  else
    all.insert(at, added);
}

void TrackedUsers::append(InstructionId added) {
  if (!places_.empty()) places_[added] = {list().size() + appended_.size(), 0};
  appended_.push_back(added);
  users_[added] = {};
  for (const InstructionId operand : module_[added].operands) {
    std::vector<InstructionId>& all = users(operand);
    if (all.empty() || all.back() != added) all.push_back(added);
  }
}

void TrackedUsers::replace_and_remove(InstructionId from, InstructionId to) {
  if (has_control_predecessors()) {
    write();
    editor_.replace_everywhere(computation_, from, to);
  }
  if (module_[computation_].root == from) module_.computations[computation_].root = to;
  for (const InstructionId user : (*this)[from])
    for (size_t i = 0; i < module_[user].operands.size(); ++i)
      if (module_[user].operands[i] == from) set_operand(user, i, to);
  std::vector<InstructionId> moved = std::move(users(from));
  users(from).clear();
  std::vector<InstructionId>& all = users(to);
  std::erase(all, from);
  all.insert(all.end(), moved.begin(), moved.end());
  std::ranges::sort(all, {}, [&](InstructionId id) { return place_of(id); });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  removed_.insert(from);
}

bool TrackedUsers::has_control_predecessors() {
  if (!controlled_)
    controlled_ = std::ranges::any_of(
        list(), [&](InstructionId id) { return module_[id].find(AttrKey::kControlPredecessors) != nullptr; });
  return *controlled_;
}

void TrackedUsers::write() {
  std::vector<InstructionId> now;
  now.reserve(list().size() + appended_.size() + inserted_.size());
  const auto put = [&](InstructionId id) {
    if (!removed_.contains(id)) now.push_back(id);
  };
  for (const InstructionId id : list()) {
    if (const auto found = inserted_.find(id); found != inserted_.end())
      std::ranges::for_each(found->second, put);
    put(id);
  }
  std::ranges::for_each(appended_, put);
  module_.computations[computation_].instructions = std::move(now);
  places_.clear(), inserted_.clear(), appended_.clear(), removed_.clear();
}

}  // namespace hlosim
