#include "sharding/device_axes.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "sharding/most_devices.h"
#include "sharding/tiling.h"

namespace hlosim {
namespace {

/// The places between neighbours along each axis that `tiles` speaks of, and the number of devices.
std::vector<int64_t> strides_in(const TileAssignment& tiles, int64_t devices) {
  std::vector<int64_t> strides = {devices};
  int64_t stride = devices;
  for (const int64_t size : tiles.reshape) strides.push_back(stride /= size);
  // Where several dimensions cut what is one run of devices, each begins an axis.
  std::vector<int64_t> sizes = tiles.dimensions;
  for (const TileAssignment::Subgroup& subgroup : tiles.subgroups) sizes.push_back(subgroup.size);
  size_t run = 0;
  int64_t left = tiles.order.empty() ? 1 : tiles.reshape[static_cast<size_t>(tiles.order[0])];
  const std::vector<int64_t> ends(strides.begin() + 1, strides.end());
  for (int64_t wanted : sizes) {
    while (wanted > 1) {
      while (left == 1 && ++run < tiles.order.size())
        left = tiles.reshape[static_cast<size_t>(tiles.order[run])];
      const int64_t common = std::min(left, wanted);
      if (run >= tiles.order.size() || left % common != 0 || wanted % common != 0) return strides;
      left /= common;
      wanted /= common;
      strides.push_back(ends[static_cast<size_t>(tiles.order[run])] * left);
    }
  }
  return strides;
}

/// Does each of the two divide the other's neighbours, so that one array of devices has all these axes?
bool fit(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return std::all_of(a.begin(), a.end(), [&](int64_t x) {
    return std::all_of(b.begin(), b.end(), [&](int64_t y) { return x % y == 0 || y % x == 0; });
  });
}

}  // namespace

AxisSet set_of(const AxisList& list) {
  AxisSet set = 0;
  for (const int axis : list) set |= AxisSet{1} << axis;
  return set;
}

AxisList list_of(AxisSet set) {
  AxisList list;
  for (int axis = 0; set != 0; ++axis, set >>= 1)
    if ((set & 1) != 0) list.push_back(axis);
  return list;
}

DeviceAxes::DeviceAxes(int64_t devices) : devices_(devices) {
  HLOSIM_CHECK(devices >= 1 && devices <= kMostDevices, "{} devices", devices);
  cut({devices, 1});
}

DeviceAxes::DeviceAxes(int64_t devices, std::span<const TileAssignment> shardings) : DeviceAxes(devices) {
  std::map<std::vector<int64_t>, int64_t> orders, kinds;  // how many shardings have them
  for (const TileAssignment& tiles : shardings) {
    if (!tiles.is_tiled() || tiles.devices() != devices) continue;
    ++orders[tiles.device_list];
    ++kinds[strides_in(tiles, devices)];
  }
  std::vector<std::pair<int64_t, std::vector<int64_t>>> by_count;
  for (const auto& [strides, count] : kinds) by_count.emplace_back(count, strides);
  std::stable_sort(by_count.begin(), by_count.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<int64_t> strides = {devices, 1};
  for (const auto& [count, more] : by_count)
    if (fit(strides, more)) strides.insert(strides.end(), more.begin(), more.end());
  cut(strides);
  const auto most = std::max_element(orders.begin(), orders.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == orders.end() || most->first.empty()) return;
  device_at_ = most->first;
  place_of_.assign(device_at_.size(), 0);
  for (size_t i = 0; i < device_at_.size(); ++i)
    place_of_[static_cast<size_t>(device_at_[i])] = static_cast<int64_t>(i);
}

/// Axes between these strides, each taken apart into primes.
void DeviceAxes::cut(const std::vector<int64_t>& strides) {
  std::vector<int64_t> sorted = strides;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sizes_.clear();
  strides_.clear();
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    int64_t rest = sorted[i] / sorted[i + 1], stride = sorted[i];
    for (int64_t prime = 2; rest > 1; ++prime) {
      if (prime * prime > rest) prime = rest;
      for (; rest % prime == 0; rest /= prime) {
        sizes_.push_back(prime);
        strides_.push_back(stride /= prime);
      }
    }
  }
}

int64_t DeviceAxes::length(const AxisList& list) const {
  int64_t length = 1;
  for (const int axis : list) length *= size(axis);
  return length;
}

int64_t DeviceAxes::length(AxisSet set) const {
  int64_t length = 1;
  for (int axis = 0; axis < count(); ++axis)
    if ((set >> axis & 1) != 0) length *= size(axis);
  return length;
}

int64_t DeviceAxes::index(int64_t place, const AxisList& list) const {
  int64_t index = 0;
  for (const int axis : list) index = index * size(axis) + coordinate(place, axis);
  return index;
}

AxisList DeviceAxes::axes_of(int64_t stride, int64_t size) const {
  AxisList list;
  int64_t reached = stride * size;
  for (int axis = 0; axis < count() && reached > stride; ++axis) {
    if (this->stride(axis) * this->size(axis) != reached) continue;
    list.push_back(axis);
    reached = this->stride(axis);
  }
  if (reached != stride) list.clear();
  return list;
}

}  // namespace hlosim
