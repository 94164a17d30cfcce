#include "interconnect/slice.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.h"
#include "model/device_text_form.h"

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

bool wraps(const DeviceConfig& device, SliceForm form, const std::vector<int64_t>& sides, size_t axis) {
  if (sides[axis] < 2) return false;
  if (form != SliceForm::kRule) return form != SliceForm::kMesh;
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

Slice make_slice(const DeviceConfig& device, std::vector<int64_t> sides, const SliceRequest& request) {
  Slice slice;
  slice.sides = std::move(sides);
  for (size_t i = 0; i < slice.sides.size(); ++i)
    slice.wraps.push_back(wraps(device, request.form, slice.sides, i));
  slice.devices_per_chip = device.devices_per_chip();
  slice.twisted = request.form == SliceForm::kTwisted;
  slice.count = request.slices;
  return slice;
}

std::string sides_text(const std::vector<int64_t>& sides) { return fmt::format("{}", fmt::join(sides, "x")); }

/// Twice as long as the shortest or as long, and both occur (Cloud TPU documentation, v4: twisted tori).
bool can_be_twisted(const std::vector<int64_t>& sides) {
  const int64_t least = *std::min_element(sides.begin(), sides.end());
  const auto shortest = std::count(sides.begin(), sides.end(), least);
  const auto longer = std::count(sides.begin(), sides.end(), 2 * least);
  return sides.size() == 3 && least > 1 && longer > 0 && shortest + longer == 3;
}

Result<Slice> requested_slice(const DeviceConfig& device, const SliceRequest& request, int64_t needed) {
  const Topology& topology = *request.topology;
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
  const std::vector<Topology>& offered = device.ici.slices;
  const bool is_offered = std::find(offered.begin(), offered.end(), topology) != offered.end();
  for (size_t i = 0; i < rank && !is_offered; ++i)
    if (side[i] > pod[i])
      return failure(fmt::format("topology {} does not fit into the {} chips of a pod of {}",
                                 sides_text(topology.sides), sides_text(device.ici.pod.sides), device.name));
  if (request.form == SliceForm::kTwisted && !can_be_twisted(topology.sides))
    return failure(fmt::format("topology {} can't be twisted", sides_text(topology.sides)),
                   "slices of k x k x 2k and k x 2k x 2k chips can");
  Slice slice = make_slice(device, topology.sides, request);
  if (slice.devices() >= needed) return slice;
  if (slice.count > 1)
    return failure(fmt::format("{} slices of topology {} have {} devices, the module runs on {}", slice.count,
                               sides_text(topology.sides), slice.devices(), needed));
  return failure(fmt::format("topology {} has {} devices, the module runs on {}", sides_text(topology.sides),
                             slice.devices(), needed));
}

/// One chip, a slice that the device file lists, or one of whole cubes: these are put together as asked for.
bool is_on_offer(const DeviceConfig& device, const Topology& topology) {
  const auto longer_sides = [](std::vector<int64_t> sides) {
    std::erase(sides, 1);
    std::ranges::sort(sides);
    return sides;
  };
  const std::vector<int64_t> sides = longer_sides(topology.sides);
  if (sides.empty() || device.ici.slices.empty()) return true;
  if (device.ici.wrap == WrapRule::kCubes && sides.size() == device.ici.pod.sides.size() &&
      std::ranges::all_of(sides, [](int64_t side) { return side % 4 == 0; }))
    return true;
  return std::ranges::any_of(device.ici.slices,
                             [&](const Topology& one) { return longer_sides(one.sides) == sides; });
}

}  // namespace

int64_t Slice::chips_per_slice() const {
  return std::accumulate(sides.begin(), sides.end(), int64_t{1}, std::multiplies<>());
}

std::string Slice::text() const {
  const auto wrapped = std::count(wraps.begin(), wraps.end(), true);
  std::string how = "no wrap-around";
  if (twisted) {
    how = "twisted torus";
  } else if (wrapped > 0 &&
             wrapped == std::count_if(sides.begin(), sides.end(), [](int64_t side) { return side > 1; })) {
    how = "torus";
  } else if (wrapped > 0) {
    how = "wraps along";
    for (size_t i = 0; i < sides.size(); ++i)
      if (wraps[i]) how += fmt::format(" {}", i < 3 ? std::string(1, "xyz"[i]) : fmt::format("axis {}", i));
  }
  return fmt::format("{}{} ({})", count > 1 ? fmt::format("{} slices of ", count) : "", sides_text(sides),
                     how);
}

Result<SliceRequest> parse_topology(std::string_view text) {
  SliceRequest request;
  const size_t at = text.find('_');
  const Result<Topology> topology = TextForm<Topology>::read(text.substr(0, at));
  if (!topology) return tl::unexpected(topology.error());
  request.topology = *topology;
  if (at == std::string_view::npos) return request;
  const std::string_view form = text.substr(at + 1);
  if (form == "mesh") {
    request.form = SliceForm::kMesh;
  } else if (form == "torus") {
    request.form = SliceForm::kTorus;
  } else if (form == "twisted") {
    request.form = SliceForm::kTwisted;
  } else {
    return failure(
        fmt::format("\"{}\" is not a form of a slice; expected mesh, torus or twisted", shown(form)),
        did_you_mean(form, std::vector<std::string_view>{"mesh", "torus", "twisted"}));
  }
  return request;
}

Result<Slice> choose_slice(const DeviceConfig& device, const SliceRequest& request, int64_t needed,
                           AssumptionList& assumptions) {
  if (request.slices < 1)
    return failure(fmt::format("{} slices were given, expected at least 1", request.slices));
  if (request.topology && request.devices) {
    const int64_t there = request.topology->chips() * device.devices_per_chip() * request.slices;
    if (there != *request.devices)
      return failure(request.slices > 1
                         ? fmt::format("{} slices of topology {} have {} devices, not {}", request.slices,
                                       sides_text(request.topology->sides), there, *request.devices)
                         : fmt::format("topology {} has {} devices, not {}",
                                       sides_text(request.topology->sides), there, *request.devices));
  }
  if (request.topology) {
    auto slice = requested_slice(device, request, needed);
    if (slice && !is_on_offer(device, *request.topology))
      assumptions.add(fmt::format("topology {} is none of the slices that are on offer (ici.slices of {})",
                                  sides_text(request.topology->sides), device.name));
    return slice;
  }
  if (request.devices && *request.devices < needed)
    return failure(fmt::format("{} devices were given, the module runs on {}", *request.devices, needed));
  const int64_t devices = request.devices ? *request.devices : needed;
  if (devices < 1) return failure(fmt::format("{} devices were given, expected at least 1", devices));
  if (devices % request.slices != 0)
    return failure(
        fmt::format("{} devices can't be divided evenly among {} slices", devices, request.slices));
  const int64_t in_slice = devices / request.slices;
  const std::vector<int64_t>& pod = device.ici.pod.sides;
  const int64_t chips = (in_slice + device.devices_per_chip() - 1) / device.devices_per_chip();
  if (pod.empty()) return make_slice(device, {chips}, request);
  const int64_t whole_pod = device.ici.pod.chips();
  if (chips > whole_pod) {
    assumptions.add(fmt::format("{} chips are more than a pod of {} ({}): assumed to be one longer torus",
                                chips, device.name, sides_text(pod)));
    std::vector<int64_t> sides = pod;
    sides.back() = (chips + whole_pod / pod.back() - 1) / (whole_pod / pod.back());
    return make_slice(device, sides, request);
  }
  for (int64_t there = chips; there <= whole_pod; ++there)
    if (std::vector<int64_t> sides = compact_box(there, pod); !sides.empty()) {
      if (there != chips)
        assumptions.add(fmt::format("{} chips form no slice of {}: assumed to be part of {}", chips,
                                    device.name, sides_text(sides)));
      return make_slice(device, std::move(sides), request);
    }
  return make_slice(device, pod, request);
}

}  // namespace hlosim
