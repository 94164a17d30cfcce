#include "schedule/order_in_parts.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace hlosim {

OrderInParts::OrderInParts(std::vector<InstructionId> before, std::span<const InstructionId> wanted)
    : before_(std::move(before)), wanted_at_(before_.size()), parts_{{0, before_.size()}} {
  std::unordered_map<InstructionId, size_t> positions;
  for (size_t i = 0; i < wanted.size(); ++i) positions[wanted[i]] = i;
  for (size_t i = 0; i < before_.size(); ++i) wanted_at_[i] = positions.at(before_[i]);
}

std::vector<InstructionId> OrderInParts::order() const {
  std::vector<InstructionId> order;
  order.reserve(before_.size());
  std::vector<size_t> members;
  for (const Part& part : parts_) {
    members.clear();
    for (size_t i = part.begin; i < part.end; ++i) members.push_back(i);
    if (part.is_new) std::ranges::sort(members, {}, [&](size_t i) { return wanted_at_[i]; });
    for (const size_t i : members) order.push_back(before_[i]);
  }
  return order;
}

bool OrderInParts::split(std::span<const InstructionId> tight) {
  const std::unordered_set<InstructionId> wanting(tight.begin(), tight.end());
  std::vector<Part> parts;
  bool any = false;
  for (const Part& part : parts_) {
    const auto begin = before_.begin() + static_cast<std::ptrdiff_t>(part.begin);
    const auto end = before_.begin() + static_cast<std::ptrdiff_t>(part.end);
    const bool stays =
        !part.is_new || std::none_of(begin, end, [&](InstructionId id) { return wanting.contains(id); });
    const size_t middle = part.begin + (part.end - part.begin) / 2;
    if (stays)
      parts.push_back(part);
    else if (part.end - part.begin <= kSmall)
      parts.push_back({part.begin, part.end, false});
    else
      parts.insert(parts.end(), {{part.begin, middle}, {middle, part.end}});
    any |= !stays;
  }
  parts_ = std::move(parts);
  return any;
}

bool OrderInParts::has_new() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.is_new; });
}

}  // namespace hlosim
