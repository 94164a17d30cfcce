#include "oracle/link_simulation.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/check.h"

namespace hlosim {

uint32_t LinkSimulation::add(size_t link, Picoseconds time, uint32_t after) {
  HLOSIM_CHECK(link < free_.size() && messages_.size() < kNothing, "link {} of {}", link, free_.size());
  const auto message = static_cast<uint32_t>(messages_.size());
  messages_.push_back({static_cast<uint32_t>(link), kNothing, time});
  if (after == kNothing) {
    first_.push_back(message);
  } else {
    HLOSIM_CHECK(messages_[after].next == kNothing);
    messages_[after].next = message;
  }
  return message;
}

Picoseconds LinkSimulation::run(Picoseconds begin) {
  std::vector<Ready> heap;
  heap.reserve(first_.size());
  for (const uint32_t message : first_) heap.push_back({begin, message});
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready({}, std::move(heap));
  std::fill(free_.begin(), free_.end(), begin);
  Picoseconds last = begin;
  while (!ready.empty()) {
    const auto [at, id] = ready.top();
    ready.pop();
    const Message& message = messages_[id];
    Picoseconds& free = free_[message.link];
    free = std::max(at, free) + message.time;
    last = std::max(last, free + hop_);
    if (message.next != kNothing) ready.push({free + hop_, message.next});
  }
  messages_.clear();
  first_.clear();
  return last;
}

namespace {

/// The chips of one axis in order, from the one at its lower end.
std::vector<int64_t> line_from(const Interconnect& network, int64_t chip, size_t axis) {
  std::vector<int64_t> line{chip};
  while (static_cast<int64_t>(line.size()) < network.sides()[axis])
    line.push_back(network.neighbour(line.back(), axis, true));
  return line;
}

int64_t coordinate(const Interconnect& network, int64_t chip, size_t axis) {
  for (size_t before = 0; before < axis; ++before) chip /= network.sides()[before];
  return chip % network.sides()[axis];
}

/// Hops that a block goes up or down from chip `at` of an axis of n, and whether the last of them carries
/// half of it only: the other half comes from the other side.
struct Reach {
  int64_t hops = 0;
  bool half = false;
};
Reach reach(int64_t n, bool ring, int64_t at, bool up) {
  if (!ring) return {up ? n - 1 - at : at, false};
  return {n / 2, n % 2 == 0};
}

/// What every chip along one line has is passed on to all others of it, both ways (or, backwards, what all
/// have for one chip comes together there).
void add_line(LinkSimulation& simulation, const Interconnect& network, const std::vector<int64_t>& line,
              size_t axis, bool backwards, Picoseconds block, Picoseconds half_block) {
  const auto n = static_cast<int64_t>(line.size());
  for (const bool up : {true, false})
    for (int64_t i = 0; i < n; ++i) {
      // What has the farthest to go is added first.
      const int64_t home = up == backwards ? n - 1 - i : i;
      const Reach far = reach(n, network.wraps(axis), home, up != backwards);
      uint32_t before = LinkSimulation::kNothing;
      for (int64_t hop = 0; hop < far.hops; ++hop) {
        const int64_t distance = backwards ? far.hops - hop : hop;  // from home of the chip that sends
        const int64_t at = up != backwards ? home + distance : home - distance;
        const bool farthest = backwards ? hop == 0 : hop + 1 == far.hops;
        before = simulation.add(network.link(line[static_cast<size_t>((at + n) % n)], axis, up),
                                far.half && farthest ? half_block : block, before);
      }
    }
}

class Phases {
 public:
  Phases(const Interconnect& network, std::span<const size_t> axes, Bytes volume, const LinkRate& rate)
      : network_(network), axes_(axes), rate_(rate), simulation_(network.links(), rate.hop) {
    HLOSIM_CHECK(!network.twisted());
    double members = 1;
    for (const size_t axis : axes) members *= static_cast<double>(network.sides()[axis]);
    part_ = static_cast<double>(volume.count()) / members / static_cast<double>(axes.size());
  }

  Picoseconds run(bool backwards) {
    Picoseconds now{};
    for (size_t i = 0; i < axes_.size(); ++i) {
      const size_t phase = backwards ? axes_.size() - 1 - i : i;
      for (size_t part = 0; part < axes_.size(); ++part) {
        double block = part_;  // what a chip has of this part when the phase begins
        for (size_t before = 0; before < phase; ++before) block *= side(part + before);
        add_axis(axes_[(part + phase) % axes_.size()], backwards, block);
      }
      now = simulation_.run(now);
    }
    return now;
  }

 private:
  double side(size_t at) const { return static_cast<double>(network_.sides()[axes_[at % axes_.size()]]); }
  Picoseconds time(double bytes) const { return ceil_picoseconds(bytes * 1e12 / rate_.bandwidth.count()); }

  void add_axis(size_t axis, bool backwards, double block) {
    for (int64_t chip = 0; chip < network_.chips(); ++chip)
      if (coordinate(network_, chip, axis) == 0)
        add_line(simulation_, network_, line_from(network_, chip, axis), axis, backwards, time(block),
                 time(block / 2));
  }

  const Interconnect& network_;
  std::span<const size_t> axes_;
  LinkRate rate_;
  LinkSimulation simulation_;
  double part_ = 0;
};

}  // namespace

Picoseconds simulate_all_gather(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                const LinkRate& rate) {
  return Phases(network, axes, volume, rate).run(false);
}

Picoseconds simulate_reduce_scatter(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                    const LinkRate& rate) {
  return Phases(network, axes, volume, rate).run(true);
}

Picoseconds simulate_all_reduce(const Interconnect& network, std::span<const size_t> axes, Bytes volume,
                                const LinkRate& rate) {
  Phases phases(network, axes, volume, rate);
  const Picoseconds scattered = phases.run(true);
  return scattered + phases.run(false);
}

Picoseconds simulate_all_to_all(const Interconnect& network, Bytes payload, int64_t packets,
                                const LinkRate& rate) {
  LinkSimulation simulation(network.links(), rate.hop);
  const int64_t chips = network.chips();
  const double block = static_cast<double>(payload.count()) / static_cast<double>(chips);
  struct Route {
    int64_t hops, from;
    Interconnect::Displacement way;
    double bytes;
  };
  std::vector<Route> routes;
  for (int64_t from = 0; from < chips; ++from)
    for (int64_t to = 0; to < chips; ++to) {
      if (from == to) continue;
      std::vector<Interconnect::Displacement> ways = network.ways(from, to);
      const double bytes = block / static_cast<double>(ways.size());
      for (Interconnect::Displacement& way : ways) {
        int64_t hops = 0;
        for (const int64_t steps : way) hops += std::abs(steps);
        routes.push_back({hops, from, std::move(way), bytes});
      }
    }
  std::stable_sort(routes.begin(), routes.end(),
                   [](const Route& a, const Route& b) { return a.hops > b.hops; });
  for (int64_t packet = 0; packet < packets; ++packet)
    for (const Route& route : routes) {
      const Picoseconds time =
          ceil_picoseconds(route.bytes * 1e12 / static_cast<double>(packets) / rate.bandwidth.count());
      uint32_t before = LinkSimulation::kNothing;
      network.walk(
          route.from, route.way, [&](size_t link) { before = simulation.add(link, time, before); },
          static_cast<size_t>(packet) % network.rank());
    }
  return simulation.run(Picoseconds(0));
}

Picoseconds simulate_permute(const Interconnect& network, std::span<const std::array<int64_t, 2>> pairs,
                             Bytes payload, int64_t packets, const LinkRate& rate) {
  LinkSimulation simulation(network.links(), rate.hop);
  const Picoseconds time = ceil_picoseconds(static_cast<double>(payload.count()) * 1e12 /
                                            static_cast<double>(packets) / rate.bandwidth.count());
  for (int64_t packet = 0; packet < packets; ++packet)
    for (const auto& [from, to] : pairs) {
      if (from == to) continue;
      uint32_t before = LinkSimulation::kNothing;
      network.walk(from, network.ways(from, to).front(),
                   [&](size_t link) { before = simulation.add(link, time, before); });
    }
  return simulation.run(Picoseconds(0));
}

}  // namespace hlosim
