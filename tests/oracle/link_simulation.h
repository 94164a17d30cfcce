// Collectives message by message: every link passes on one message after the other, a chip sends on what it
// has received. What the closed forms of interconnect/torus.h are held against, and what bounds them.
//
//   LinkSimulation links(2, Picoseconds(100));
//   const uint32_t first = links.add(0, Picoseconds(1000));
//   links.add(1, Picoseconds(1000), first);        // passed on
//   links.run(Picoseconds(0))                      // 2.2 ns
#pragma once

#include <array>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "base/units.h"
#include "interconnect/interconnect.h"

namespace hlosim {

/// Messages over single links in integer picoseconds. A link serves them in the order in which they can go;
/// among those that can go at the same time, in the order in which they were added.
class LinkSimulation {
 public:
  static constexpr uint32_t kNothing = UINT32_MAX;

  /// `hop`: from the last bit that leaves a link to when the chip behind it can use the message.
  LinkSimulation(size_t links, Picoseconds hop) : free_(links), hop_(hop) {}

  /// A message that can go at once, or once `after` has arrived. Each message has at most one successor.
  uint32_t add(size_t link, Picoseconds time, uint32_t after = kNothing);
  size_t messages() const { return messages_.size(); }

  /// Passes on all messages, from `begin` on; when the last one has arrived. Forgets them afterwards.
  Picoseconds run(Picoseconds begin);

 private:
  struct Message {
    uint32_t link, next;
    Picoseconds time;
  };
  struct Ready {
    Picoseconds at;
    uint32_t message;
    bool operator>(const Ready& other) const {
      return at != other.at ? at > other.at : message > other.message;
    }
  };
  std::vector<Message> messages_;
  std::vector<uint32_t> first_;  // messages that can go at once
  std::vector<Picoseconds> free_;
  Picoseconds hop_;
};

/// A link as collectives see it.
struct LinkRate {
  BytesPerSecond bandwidth{};
  Picoseconds hop{};
};

/// All groups along `axes` (every chip belongs to the group of those that differ from it along these axes
/// only) gather `volume` each at the same time. The data are cut into as many parts as there are axes, each
/// takes the axes in rotated order, both ways round; a phase begins when the one before is over.
Picoseconds simulate_all_gather(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                const LinkRate& rate);
/// The same backwards: partial sums are passed on towards where they belong.
Picoseconds simulate_reduce_scatter(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                    const LinkRate& rate);
Picoseconds simulate_all_reduce(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                const LinkRate& rate);
/// All chips of the slice send another block of `payload` / chips to each chip, far ones first, by all
/// shortest ways evenly, in `packets` of equal size that begin with one axis after the other.
Picoseconds simulate_all_to_all(const Interconnect& network, Bytes payload, int64_t packets,
                                const LinkRate& rate);
/// Pairs (source, target) of chips, each `payload` in `packets` of equal size that follow each other.
Picoseconds simulate_permute(const Interconnect& network, std::span<const std::array<int64_t, 2>> pairs,
                             Bytes payload, int64_t packets, const LinkRate& rate);

}  // namespace hlosim
