#include "interconnect/interconnect.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace hlosim {

Interconnect::Interconnect(const Slice& slice) : Interconnect(slice.sides, slice.wraps, slice.twisted) {}

Interconnect::Interconnect(std::vector<int64_t> sides, std::vector<bool> wraps, bool twisted)
    : sides_(std::move(sides)), wraps_(std::move(wraps)), twisted_(twisted) {
  HLOSIM_CHECK(sides_.size() == wraps_.size(), "{} sides, {} of them known", sides_.size(), wraps_.size());
  for (const int64_t side : sides_) {
    strides_.push_back(chips_);
    chips_ *= side;
  }
  if (!sides_.empty()) shortest_ = *std::min_element(sides_.begin(), sides_.end());
}

int64_t Interconnect::neighbour(int64_t chip, size_t axis, bool up) const {
  const int64_t side = sides_[axis], at = chip / strides_[axis] % side;
  if (up ? at + 1 < side : at > 0) return chip + (up ? strides_[axis] : -strides_[axis]);
  if (!wraps_[axis]) return -1;
  int64_t there = chip + (up ? 1 - side : side - 1) * strides_[axis];
  if (!twisted_ || side != shortest_) return there;
  for (size_t other = 0; other < sides_.size(); ++other) {
    if (sides_[other] == shortest_) continue;
    const int64_t here = there / strides_[other] % sides_[other];
    there += ((here + shortest_) % sides_[other] - here) * strides_[other];
  }
  return there;
}

/// Adds to `rest` whole turns round each axis from `axis` on, and keeps what is shortest.
void Interconnect::collect(size_t axis, Displacement rest, std::vector<Displacement>& found,
                           int64_t& least) const {
  if (axis == sides_.size()) {
    int64_t hops = 0;
    for (const int64_t steps : rest) hops += std::abs(steps);
    if (hops > least) return;
    if (hops < least) found.clear();
    least = hops;
    found.push_back(std::move(rest));
    return;
  }
  if (!wraps_[axis]) return collect(axis + 1, std::move(rest), found, least);
  // A turn round a short axis moves along the long ones too, twice as much as it is long.
  const int64_t turns = twisted_ ? 2 : 1;
  const bool twists = twisted_ && sides_[axis] == shortest_;
  for (int64_t turn = turns; turn >= -turns; --turn) {
    Displacement moved = rest;
    moved[axis] += turn * sides_[axis];
    for (size_t other = 0; twists && other < sides_.size(); ++other)
      if (sides_[other] != shortest_) moved[other] -= turn * shortest_;
    collect(axis + 1, std::move(moved), found, least);
  }
}

std::vector<Interconnect::Displacement> Interconnect::ways(int64_t from, int64_t to) const {
  if (twisted_) {
    Displacement straight(sides_.size());
    for (size_t axis = 0; axis < sides_.size(); ++axis)
      straight[axis] = to / strides_[axis] % sides_[axis] - from / strides_[axis] % sides_[axis];
    std::vector<Displacement> found;
    int64_t least = INT64_MAX;
    collect(0, std::move(straight), found, least);
    return found;
  }
  std::vector<Displacement> found{Displacement(sides_.size())};
  for (size_t axis = 0; axis < sides_.size(); ++axis) {
    const int64_t side = sides_[axis];
    int64_t steps = to / strides_[axis] % side - from / strides_[axis] % side;
    bool tie = false;
    if (wraps_[axis]) {
      steps = (steps + side) % side;
      tie = 2 * steps == side;
      if (2 * steps > side) steps -= side;
    }
    const size_t count = found.size();
    for (size_t i = 0; i < count; ++i) {
      found[i][axis] = steps;
      if (!tie) continue;
      found.push_back(found[i]);
      found.back()[axis] = -steps;
    }
  }
  return found;
}

namespace {

int64_t hops_of(const Interconnect::Displacement& way) {
  int64_t hops = 0;
  for (const int64_t steps : way) hops += std::abs(steps);
  return hops;
}

}  // namespace

int64_t LinkLoads::send(int64_t from, int64_t to, double bytes) {
  if (from == to) return 0;
  const Interconnect::Displacement way = network_.ways(from, to).front();
  network_.walk(from, way, [&](size_t link) { loads_[link] += bytes; });
  return hops_of(way);
}

int64_t LinkLoads::send_evenly(int64_t from, int64_t to, double bytes) {
  if (from == to) return 0;
  const std::vector<Interconnect::Displacement> ways = network_.ways(from, to);
  const double part = bytes / static_cast<double>(ways.size());
  for (const auto& way : ways) network_.walk(from, way, [&](size_t link) { loads_[link] += part; });
  return hops_of(ways.front());
}

double LinkLoads::busiest() const {
  return loads_.empty() ? 0 : *std::max_element(loads_.begin(), loads_.end());
}

double all_to_all_load(const Interconnect& network, double bytes) {
  // What chip 0 puts on the links of one axis and direction, wherever they are, all chips together put on
  // each.
  std::vector<double> up(network.rank()), down(network.rank());
  for (int64_t to = 1; to < network.chips(); ++to) {
    const std::vector<Interconnect::Displacement> ways = network.ways(0, to);
    for (const auto& way : ways)
      for (size_t axis = 0; axis < way.size(); ++axis)
        (way[axis] > 0 ? up : down)[axis] +=
            bytes * static_cast<double>(std::abs(way[axis])) / static_cast<double>(ways.size());
  }
  double busiest = 0;
  for (size_t axis = 0; axis < network.rank(); ++axis) busiest = std::max({busiest, up[axis], down[axis]});
  return busiest;
}

}  // namespace hlosim
