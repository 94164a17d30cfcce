#include "memory/interference.h"

#include <algorithm>

namespace hlosim {

bool Interference::reads(InstructionId user, InstructionId operand) const {
  // Either list may be long: the operands of a wide concatenation, the users of a common constant.
  const auto operands = graph_.module()[user].operands;
  const auto users = graph_.users(operand);
  return users.size() < operands.size() ? std::ranges::find(users, user) != users.end()
                                        : std::ranges::find(operands, operand) != operands.end();
}

bool Interference::takes_over_at(ValueIndex user, Place place) const {
  const Place made = values_[user].defined;
  const InstructionId maker = places_.instruction(made), seen = places_.instruction(place);
  if (dataflow(graph_.module()[maker].opcode).is_copy || !reads(maker, seen)) return false;
  return overwrites_.allowed(seen, places_.index(place), maker, places_.index(made));
}

bool Interference::takes_over(ValueIndex user, ValueIndex operand) const {
  if (era_ == Era::k2022) return takes_over_at(user, range(operand).last);
  const std::span<const Place> positions = values_.positions(operand);
  return std::any_of(positions.begin(), positions.end(),
                     [&](Place place) { return takes_over_at(user, place); });
}

bool Interference::takes_over_directly(ValueIndex user, ValueIndex operand) const {
  return takes_over_at(user, values_[operand].defined);
}

bool Interference::interfere(ValueIndex a, ValueIndex b) const {
  const LiveRange &one = range(a), &two = range(b);
  if (!one.known() || !two.known()) return true;
  if (one.start > two.end || two.start > one.end) return false;
  if (one.end == two.start) return !takes_over(b, a);
  if (two.end == one.start) return !takes_over(a, b);
  return true;
}

}  // namespace hlosim
