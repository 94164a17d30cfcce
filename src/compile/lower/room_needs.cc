#include "lower/room_needs.h"

namespace hlosim {
namespace {

constexpr int64_t kMoreThanAny = std::numeric_limits<int64_t>::max();

int64_t room_at_all(const DeviceConfig& device, int64_t space) {
  return std::max<int64_t>(room_in(device, space), 0);
}

}  // namespace

RoomNeeds::RoomNeeds(const DeviceConfig& device) {
  for (const MemorySpace& space : device.memory)
    if (!space.numbers.empty() && is_on_chip(device, space.numbers[0]))
      spaces_.push_back({space.numbers[0], room_at_all(device, space.numbers[0]), 0});
}

int64_t* RoomNeeds::needed(int64_t space) {
  const auto at = std::ranges::find(spaces_, space, &Space::number);
  return at == spaces_.end() ? nullptr : &at->needed;
}

OnChip RoomNeeds::home(const DeviceConfig& device) {
  const OnChip found = on_chip_memory(device);
  if (found.room() <= 0) return found;
  home_ = found.space;
  needs(found.space, 1);
  return found;
}

Room RoomNeeds::largest(const DeviceConfig& device) {
  const OnChip found = on_chip_memory(device);
  return {found.room(), needed(found.space)};
}

Room RoomNeeds::vmem(const DeviceConfig& device) {
  const std::vector<int64_t>& numbers = device.vmem_space().numbers;
  return {vmem_room(device), numbers.empty() ? nullptr : needed(numbers[0])};
}

void RoomNeeds::needs(int64_t space, int64_t bytes) {
  if (int64_t* least = needed(space)) *least = std::max(*least, bytes);
}

void RoomNeeds::needs_all() {
  for (Space& space : spaces_) space.needed = kMoreThanAny;
}

void RoomNeeds::add(const RoomNeeds& other) {
  for (const Space& space : other.spaces_) needs(space.number, space.needed);
  home_ = std::max(home_, other.home_);
}

RoomNeeds RoomNeeds::with(const DeviceConfig& device) const {
  RoomNeeds other = *this;
  for (Space& space : other.spaces_) space.room = room_at_all(device, space.number);
  return other;
}

bool RoomNeeds::same_with(const DeviceConfig& device) const {
  const auto is_same = [&](const Space& space) {
    const int64_t room = room_at_all(device, space.number);
    return room == space.room || (room < space.room && room >= space.needed);
  };
  return std::ranges::all_of(spaces_, is_same) && (home_ < 0 || on_chip_memory(device).space == home_);
}

}  // namespace hlosim
