// Bytes in use at each step: adding to a range of steps, and the most of a range, in logarithmic time.
//
//   StepLoad load({0, 4096, 0});
//   if (load.most(0, 2) + bytes <= budget) load.add(0, 2, bytes);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hlosim {

/// A binary tree over the steps. A node holds the most bytes of its steps without what was added to whole
/// ranges above it.
class StepLoad {
 public:
  explicit StepLoad(const std::vector<int64_t>& bytes)
      : leaves_(std::bit_ceil(std::max<size_t>(bytes.size(), 1))), nodes_(2 * leaves_) {
    for (size_t i = 0; i < bytes.size(); ++i) nodes_[leaves_ + i].most = bytes[i];
    for (size_t node = leaves_; node-- > 1;) update(node);
  }

  /// Of the steps from `first` to `last`, both included. Requires: they are steps, in this order.
  int64_t most(size_t first, size_t last) const { return most(1, 0, leaves_ - 1, first, last); }
  void add(size_t first, size_t last, int64_t bytes) { add(1, 0, leaves_ - 1, first, last, bytes); }

 private:
  struct Node {
    int64_t most = 0, added = 0;  // `added`: to all of its steps, in `most` already
  };

  void update(size_t node) {
    nodes_[node].most = std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most) + nodes_[node].added;
  }
  int64_t most(size_t node, size_t begin, size_t end, size_t first, size_t last) const {
    if (first <= begin && end <= last) return nodes_[node].most;
    const size_t middle = begin + (end - begin) / 2;
    if (last <= middle) return most(2 * node, begin, middle, first, last) + nodes_[node].added;
    if (first > middle) return most(2 * node + 1, middle + 1, end, first, last) + nodes_[node].added;
    return std::max(most(2 * node, begin, middle, first, last),
                    most(2 * node + 1, middle + 1, end, first, last)) +
           nodes_[node].added;
  }
  void add(size_t node, size_t begin, size_t end, size_t first, size_t last, int64_t bytes) {
    if (first <= begin && end <= last) {
      nodes_[node].most += bytes;
      nodes_[node].added += bytes;
      return;
    }
    const size_t middle = begin + (end - begin) / 2;
    if (first <= middle) add(2 * node, begin, middle, first, last, bytes);
    if (last > middle) add(2 * node + 1, middle + 1, end, first, last, bytes);
    update(node);
  }

  size_t leaves_;
  std::vector<Node> nodes_;  // the children of n are 2n and 2n + 1
};

}  // namespace hlosim
