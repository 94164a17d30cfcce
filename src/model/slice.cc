#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "model/collective_cost.h"

namespace hlosim {
namespace {

/// Sides of the most compact box of exactly `chips` within `pod`, ascending with the ones last (2x2x1, 2x4,
/// 4x4x8); empty when there is none.
std::vector<int64_t> compact_box(int64_t chips, std::vector<int64_t> pod) {
  std::vector<int64_t> best, sides(pod.size(), 1);
  std::sort(pod.begin(), pod.end());
  const auto better = [](const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
    const auto sum = [](const std::vector<int64_t>& v) {
      return std::accumulate(v.begin(), v.end(), int64_t{0});
    };
    return b.empty() || sum(a) < sum(b);
  };
  const auto fill = [&](const auto& self, size_t at, int64_t rest, int64_t least) -> void {
    if (at + 1 == sides.size()) {
      if (rest < least || rest > pod[at]) return;
      sides[at] = rest;
      if (better(sides, best)) best = sides;
      return;
    }
    for (int64_t side = least; side <= rest && side <= pod[at]; ++side) {
      if (rest % side != 0) continue;
      sides[at] = side;
      self(self, at + 1, rest / side, side);
    }
  };
  fill(fill, 0, chips, 1);
  std::stable_partition(best.begin(), best.end(), [](int64_t side) { return side > 1; });
  return best;
}

bool wraps(const DeviceConfig& device, const std::vector<int64_t>& sides, size_t axis) {
  if (sides[axis] < 2) return false;
  switch (device.ici.wrap) {
    case WrapRule::kNever:
      return false;
    case WrapRule::kAlways:
      return true;
    case WrapRule::kFullAxis:
      return axis < device.ici.pod.sides.size() && sides[axis] == device.ici.pod.sides[axis];
    case WrapRule::kCubes:
      return std::all_of(sides.begin(), sides.end(), [](int64_t side) { return side % 4 == 0; });
  }
  return false;
}

Slice make_slice(const DeviceConfig& device, std::vector<int64_t> sides) {
  Slice slice;
  slice.sides = std::move(sides);
  for (size_t i = 0; i < slice.sides.size(); ++i) slice.wraps.push_back(wraps(device, slice.sides, i));
  slice.devices_per_chip = device.devices_per_chip();
  return slice;
}

std::string sides_text(const std::vector<int64_t>& sides) { return fmt::format("{}", fmt::join(sides, "x")); }

Result<Slice> requested_slice(const DeviceConfig& device, const Topology& topology, int64_t needed) {
  if (topology.sides.empty() ||
      std::any_of(topology.sides.begin(), topology.sides.end(), [](int64_t side) { return side < 1; }))
    return failure(fmt::format("topology {} has no chips", sides_text(topology.sides)));
  const size_t rank = device.ici.pod.sides.size();
  if (topology.sides.size() != rank)
    return failure(fmt::format("topology {} has {} sides, slices of {} have {}", sides_text(topology.sides),
                               topology.sides.size(), device.name, rank),
                   rank == 3 ? "write it as 2x2x1" : "write it as 2x4");
  std::vector<int64_t> side = topology.sides, pod = device.ici.pod.sides;
  std::sort(side.begin(), side.end());
  std::sort(pod.begin(), pod.end());
  for (size_t i = 0; i < rank; ++i)
    if (side[i] > pod[i])
      return failure(fmt::format("topology {} does not fit into the {} chips of a pod of {}",
                                 sides_text(topology.sides), sides_text(device.ici.pod.sides), device.name));
  Slice slice = make_slice(device, topology.sides);
  if (slice.devices() < needed)
    return failure(fmt::format("topology {} has {} devices, the module runs on {}",
                               sides_text(topology.sides), slice.devices(), needed));
  return slice;
}

}  // namespace

int64_t Slice::chips() const {
  return std::accumulate(sides.begin(), sides.end(), int64_t{1}, std::multiplies<>());
}

std::string Slice::text() const {
  const auto count = std::count(wraps.begin(), wraps.end(), true);
  std::string how = "no wrap-around";
  if (count > 0 &&
      count == std::count_if(sides.begin(), sides.end(), [](int64_t side) { return side > 1; })) {
    how = "torus";
  } else if (count > 0) {
    how = "wraps along";
    for (size_t i = 0; i < sides.size(); ++i)
      if (wraps[i]) how += fmt::format(" {}", i < 3 ? std::string(1, "xyz"[i]) : fmt::format("axis {}", i));
  }
  return fmt::format("{} ({})", sides_text(sides), how);
}

Result<Slice> choose_slice(const DeviceConfig& device, const SliceRequest& request, int64_t needed,
                           AssumptionList& assumptions) {
  if (request.topology && request.devices) {
    const int64_t there = request.topology->chips() * device.devices_per_chip();
    if (there != *request.devices)
      return failure(fmt::format("topology {} has {} devices, not {}", sides_text(request.topology->sides),
                                 there, *request.devices));
  }
  if (request.topology) return requested_slice(device, *request.topology, needed);
  if (request.devices && *request.devices < needed)
    return failure(fmt::format("{} devices were given, the module runs on {}", *request.devices, needed));
  const int64_t devices = request.devices ? *request.devices : needed;
  if (devices < 1) return failure(fmt::format("{} devices were given, expected at least 1", devices));
  const std::vector<int64_t>& pod = device.ici.pod.sides;
  if (pod.empty())
    return make_slice(device, {(devices + device.devices_per_chip() - 1) / device.devices_per_chip()});
  int64_t chips = (devices + device.devices_per_chip() - 1) / device.devices_per_chip();
  const int64_t whole_pod = device.ici.pod.chips();
  if (chips > whole_pod) {
    assumptions.add(fmt::format("{} chips are more than a pod of {} ({}): taken as one longer torus", chips,
                                device.name, sides_text(pod)));
    std::vector<int64_t> sides = pod;
    sides.back() = (chips + whole_pod / pod.back() - 1) / (whole_pod / pod.back());
    return make_slice(device, sides);
  }
  for (int64_t there = chips; there <= whole_pod; ++there)
    if (std::vector<int64_t> sides = compact_box(there, pod); !sides.empty()) {
      if (there != chips)
        assumptions.add(fmt::format("{} chips form no slice of {}: taken as part of {}", chips, device.name,
                                    sides_text(sides)));
      return make_slice(device, std::move(sides));
    }
  return make_slice(device, pod);
}

}  // namespace hlosim
