#include "relayout/layout_room.h"

#include <algorithm>

#include "layout/sizes.h"
#include "ops/dataflow.h"

namespace hlosim {

/// The most bytes that the buffers hold at a time, each in all the steps that it is there.
LayoutRoom::BySpace LayoutRoom::most_at_once(const Occupancy& occupancy) {
  std::map<int64_t, std::vector<double>> change;  // by space and step
  for (const LiveBuffer& buffer : occupancy.buffers) {
    std::vector<double>& steps = change[buffer.space];
    steps.resize(occupancy.steps.size() + 1);
    steps[static_cast<size_t>(buffer.first)] += static_cast<double>(buffer.size.count());
    steps[static_cast<size_t>(buffer.last) + 1] -= static_cast<double>(buffer.size.count());
  }
  BySpace most;
  for (const auto& [space, steps] : change) {
    double now = 0;
    for (const double bytes : steps) most[space] = std::max(most[space], now += bytes);
  }
  return most;
}

LayoutRoom::LayoutRoom(LayoutProblem& problem, const OpTable& table, const DeviceConfig& device,
                       const Occupancy& given)
    : problem_(problem),
      table_(table),
      device_(device),
      is_known_(given.unknown.empty()),
      most_(most_at_once(given)),
      growth_(problem.module().instructions.size()) {
  for (const SpaceOccupancy& space : given.spaces) peaks_[space.number] = space.peak;
  const Module& module = problem.module();
  for (const ComputationId computation : problem.groups().computations())
    for (const InstructionId id : module[computation].instructions)
      growth_[id] = problem.is_relay(id)         ? Growth::kRelay
                    : problem.is_spelled_out(id) ? Growth::kBitcast
                    : problem.groups().may_relay_body(id) && !in_place_pairs(module, module[id]).empty()
                        ? Growth::kInPlace
                        : Growth::kBySize;
}

Bytes LayoutRoom::allowed(int64_t space) const {
  const MemorySpace* known = device_.memory_space(space);
  const Bytes capacity = known ? device_capacity(device_, *known).value_or(kTooLarge) : kTooLarge;
  const auto peak = peaks_.find(space);
  return peak == peaks_.end() ? capacity : std::max(capacity, peak->second);
}

bool LayoutRoom::fits(const Occupancy& occupancy) const {
  return std::ranges::all_of(
      occupancy.spaces, [&](const SpaceOccupancy& space) { return space.peak <= allowed(space.number); });
}

/// What the instruction's results need more than they did, however they are placed.
void LayoutRoom::add_growth(InstructionId id, BySpace& needed) const {
  const Instruction& instruction = problem_.module()[id];
  const Growth growth = problem_.edit().is_copy(id) ? Growth::kRelay : growth_[id];
  const bool is_new = growth == Growth::kRelay ||
                      (growth == Growth::kBitcast && !table_[instruction.opcode].has(kFree)) ||
                      (growth == Growth::kInPlace && !problem_.relations().is_as_given(id));
  const ShapeRef given = is_new ? nullptr : problem_.relations().original(id);
  if (given == instruction.shape) return;
  std::vector<ShapeRef> before;
  if (given) for_each_leaf(given, [&](ShapeRef leaf) { before.push_back(leaf); });
  size_t at = 0;
  for_each_leaf(instruction.shape, [&](ShapeRef leaf) {
    const ShapeRef old = given ? before[at++] : nullptr;
    const ShapeRef array = leaf->is_buffer() ? leaf->elements[0] : leaf;
    if (!array->is_array() || old == leaf) return;
    const Bytes size = array_size(array), had = old && old->is_array() ? array_size(old) : Bytes(0);
    if (size > had) needed[array->memory_space()] += static_cast<double>((size - had).count());
  });
}

LayoutRoom::BySpace LayoutRoom::at_most() const {
  BySpace needed = most_;
  const Module& module = problem_.module();
  for (const ComputationId computation : problem_.groups().computations())
    for (const InstructionId id : module[computation].instructions) add_growth(id, needed);
  return needed;
}

bool LayoutRoom::surely_fits() const {
  return is_known_ && std::ranges::all_of(at_most(), [&](const auto& one) {
           return one.second <= static_cast<double>(allowed(one.first).count());
         });
}

}  // namespace hlosim
