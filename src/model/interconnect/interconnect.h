// The links of one slice: which chips they join, the shortest ways over them, and what they carry.
//
// A chip has a link in either direction along each axis; in a torus the last chip of an axis is joined to the
// first one. In a twisted torus the links that close a short axis lead to the chip half way along every long
// axis: sides k x k x 2k and k x 2k x 2k (Cloud TPU documentation, v4; Camara et al., "Twisted torus
// topologies for enhanced interconnection networks").
//
//   const Interconnect torus({4, 4}, {true, true});
//   torus.neighbour(3, 0, true)                    // 0: the x axis closes to a ring
//   torus.ways(0, 2).size()                        // 2: up or down, two links each
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "interconnect/slice.h"

namespace hlosim {

/// Some links of all slices, one bit each.
class LinkSet {
 public:
  void add(size_t link) {
    if (link / kBits >= words_.size()) words_.resize(link / kBits + 1);
    words_[link / kBits] |= uint64_t{1} << (link % kBits);
  }
  bool meets(const LinkSet& other) const {
    for (size_t i = 0; i < words_.size() && i < other.words_.size(); ++i)
      if ((words_[i] & other.words_[i]) != 0) return true;
    return false;
  }

 private:
  static constexpr size_t kBits = 64;
  std::vector<uint64_t> words_;
};

class Interconnect {
 public:
  explicit Interconnect(const Slice& slice);
  Interconnect(std::vector<int64_t> sides, std::vector<bool> wraps, bool twisted = false);

  int64_t chips() const { return chips_; }
  size_t rank() const { return sides_.size(); }
  const std::vector<int64_t>& sides() const { return sides_; }
  bool wraps(size_t axis) const { return wraps_[axis]; }
  bool twisted() const { return twisted_; }
  /// Numbers of links are below this; some of a mesh's have no link.
  size_t links() const { return static_cast<size_t>(chips_) * sides_.size() * 2; }
  size_t link(int64_t chip, size_t axis, bool up) const {
    return (static_cast<size_t>(chip) * sides_.size() + axis) * 2 + (up ? 0 : 1);
  }
  /// The chip at the other end; -1 where a mesh ends.
  int64_t neighbour(int64_t chip, size_t axis, bool up) const;

  /// Steps along each axis, negative ones down.
  using Displacement = std::vector<int64_t>;
  /// All displacements from one chip to another over as few links as possible, first those that go up.
  std::vector<Displacement> ways(int64_t from, int64_t to) const;
  /// Calls f(link) for each link of a way, axis after axis, x first unless the way says otherwise.
  template <class F>
  void walk(int64_t from, const Displacement& way, F&& f, size_t first_axis = 0) const {
    int64_t at = from;
    for (size_t i = 0; i < way.size(); ++i) {
      const size_t axis = (first_axis + i) % way.size();
      for (int64_t step = 0; step < (way[axis] < 0 ? -way[axis] : way[axis]); ++step) {
        f(link(at, axis, way[axis] > 0));
        at = neighbour(at, axis, way[axis] > 0);
      }
    }
  }

 private:
  void collect(size_t axis, Displacement rest, std::vector<Displacement>& found, int64_t& least) const;

  std::vector<int64_t> sides_, strides_;
  std::vector<bool> wraps_;
  bool twisted_ = false;
  int64_t shortest_ = 1;
  int64_t chips_ = 1;
};

/// Bytes on each link of a slice, by dimension-ordered routes.
class LinkLoads {
 public:
  explicit LinkLoads(const Interconnect& network) : network_(network), loads_(network.links()) {}

  /// Sends `bytes` by a shortest way, x first; ties go up. Returns the hops.
  int64_t send(int64_t from, int64_t to, double bytes);
  /// The same, evenly by all shortest ways.
  int64_t send_evenly(int64_t from, int64_t to, double bytes);
  /// Bytes on the busiest link in one direction.
  double busiest() const;
  bool carries(size_t link) const { return loads_[link] > 0; }

 private:
  const Interconnect& network_;
  std::vector<double> loads_;
};

/// Every chip of the slice sends `bytes` to each other chip: bytes on the busiest link. For slices in which
/// all chips are alike (every axis wraps).
double all_to_all_load(const Interconnect& network, double bytes);

}  // namespace hlosim
