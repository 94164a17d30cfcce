// The closed forms of collectives against messages on links.
#include "oracle/link_simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "interconnect/torus.h"

namespace hlosim {
namespace {

using Ps = Picoseconds;
constexpr double kLink = 1e9;  // bytes per second
const LinkRate kNoHop{BytesPerSecond(kLink), Ps(0)};

double seconds(Ps time) { return static_cast<double>(time.count()) * 1e-12; }

TEST(LinkSimulation, AMessageIsThereAtItsTimeAndNotBefore) {
  // Two over the same link, then one that needs the second: 10 + 20, a hop, 5, a hop.
  LinkSimulation simulation(2, Ps(3));
  simulation.add(0, Ps(10));
  const uint32_t second = simulation.add(0, Ps(20));
  simulation.add(1, Ps(5), second);
  EXPECT_EQ(simulation.run(Ps(100)), Ps(100 + 10 + 20 + 3 + 5 + 3));
  EXPECT_EQ(simulation.messages(), 0u);
  // A link that is taken when the message could go, by one that could go a picosecond earlier.
  for (const int64_t early : {0, 1}) {
    LinkSimulation contended(2, Ps(0));
    const uint32_t first = contended.add(0, Ps(10 - early));
    contended.add(1, Ps(10));  // busy until 10
    contended.add(1, Ps(7), first);
    EXPECT_EQ(contended.run(Ps(0)), Ps(17));
  }
}

struct Case {
  std::vector<int64_t> sides;
  std::vector<bool> wraps;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int64_t n = 2; n <= 16; ++n)
    for (const bool wraps : {true, false}) all.push_back({{n}, {wraps}});
  for (const auto& sides : {std::vector<int64_t>{4, 4}, std::vector<int64_t>{4, 8},
                            std::vector<int64_t>{4, 4, 4}, std::vector<int64_t>{3, 5}})
    for (int bits = 0; bits < 1 << sides.size(); ++bits) {
      Case one{sides, {}};
      for (size_t i = 0; i < sides.size(); ++i) one.wraps.push_back(((bits >> i) & 1) != 0);
      all.push_back(one);
    }
  return all;
}

struct Both {
  Interconnect network;
  std::vector<size_t> order;
  std::vector<TorusAxis> axes;
  double chips = 1, capacity = 0;

  explicit Both(const Case& one) : network(one.sides, one.wraps) {
    for (size_t i = 0; i < one.sides.size(); ++i) {
      order.push_back(i);
      axes.push_back({static_cast<int64_t>(i), one.sides[i], one.wraps[i]});
      chips *= static_cast<double>(one.sides[i]);
      capacity += axes.back().capacity(kLink);
    }
  }
  /// The axes one after the other, each with all data.
  double one_by_one(double bytes) const {
    double time = 0, part = bytes / chips;
    for (const TorusAxis& axis : axes) {
      time += static_cast<double>(axis.length - 1) * part / axis.capacity(kLink);
      part *= static_cast<double>(axis.length);
    }
    return time;
  }
  std::string text() const {
    std::string all;
    for (const TorusAxis& axis : axes) all += std::to_string(axis.length) + (axis.ring ? "o " : "- ");
    return all;
  }
};

// collectives.md, section 6, 6 and 7: within 1 % of the closed forms, between their bounds.
TEST(LinkSimulation, GathersTakeWhatTheClosedFormsSay) {
  for (const Case& one : cases()) {
    const Both both(one);
    SCOPED_TRACE(both.text());
    const double bytes = 720'720'000;
    const double formula = gather_seconds(both.axes, bytes, kLink);
    const double gather = seconds(simulate_all_gather(both.network, both.order, Bytes(720'720'000), kNoHop));
    const double scatter =
        seconds(simulate_reduce_scatter(both.network, both.order, Bytes(720'720'000), kNoHop));
    const double reduce = seconds(simulate_all_reduce(both.network, both.order, Bytes(720'720'000), kNoHop));
    // The formula takes the axes one after the other where that is faster than in rotation.
    const bool rotates = formula < both.one_by_one(bytes) * 0.999 || both.axes.size() == 1;
    if (rotates) {
      EXPECT_NEAR(gather / formula, 1, 0.01);
      EXPECT_NEAR(scatter / formula, 1, 0.01);
      EXPECT_NEAR(reduce / (2 * formula), 1, 0.01);
    }
    const double bound = bytes * (both.chips - 1) / both.chips / both.capacity;
    for (const double time : {gather, scatter, reduce / 2, formula}) EXPECT_GE(time, bound * (1 - 1e-6));
    EXPECT_LE(formula, both.one_by_one(bytes) * (1 + 1e-9));
    // With rings only, whoever uses all links at once is never slower than one axis at a time.
    if (std::all_of(one.wraps.begin(), one.wraps.end(), [](bool wraps) { return wraps; })) {
      EXPECT_LE(gather, both.one_by_one(bytes) * (1 + 1e-6));
    }
  }
}

// One byte, hops of a microsecond: the far end is all that counts.
TEST(LinkSimulation, SmallGathersTakeTheHops) {
  for (const Case& one : cases()) {
    const Both both(one);
    const LinkRate far{BytesPerSecond(1e15), Ps(1'000'000)};
    const Ps time = simulate_all_gather(both.network, both.order, Bytes(1), far);
    // Each phase of a rotation lasts as its longest axis; one axis after the other would be the sum.
    int64_t longest = 0;
    for (const TorusAxis& axis : both.axes) longest = std::max(longest, axis.hops());
    EXPECT_NEAR(static_cast<double>(time.count()),
                1e6 * static_cast<double>(longest) * static_cast<double>(both.axes.size()), 1000)
        << both.text();
    EXPECT_GE(static_cast<double>(time.count()), 1e6 * static_cast<double>(diameter(both.axes)))
        << both.text();
  }
}

// Groups along one axis of a larger slice don't see each other.
TEST(LinkSimulation, GroupsOnDisjointLinesRunIndependently) {
  const Interconnect cube({4, 4, 4}, {true, true, true});
  const size_t x[] = {0}, xy[] = {0, 1};
  const TorusAxis ring[] = {{0, 4, true}}, square[] = {{0, 4, true}, {1, 4, true}};
  EXPECT_NEAR(seconds(simulate_all_gather(cube, x, Bytes(4'000'000), kNoHop)),
              gather_seconds(ring, 4e6, kLink), 1e-9);
  EXPECT_NEAR(seconds(simulate_all_gather(cube, xy, Bytes(16'000'000), kNoHop)),
              gather_seconds(square, 16e6, kLink), 1e-9);
}

// The exercises of the scaling book, v4p, at 45 GB/s one way; collectives.md, section 4.
TEST(LinkSimulation, ScalingBookExercises) {
  const Interconnect cube({4, 4, 4}, {true, true, true});
  const LinkRate v4{BytesPerSecond(4.5e10), Ps(1'000'000)};
  const size_t x[] = {0}, xy[] = {0, 1};
  const double array = 2.0 * 1024 * 4096;  // bf16
  const auto us = [](Ps time) { return seconds(time) * 1e6; };
  // 23 us less the quarter that is there already, and at most a microsecond per hop.
  EXPECT_NEAR(us(simulate_all_gather(cube, x, Bytes(static_cast<int64_t>(array / 4)), v4)), 17.5 + 1, 1.1);
  EXPECT_NEAR(us(simulate_all_gather(cube, xy, Bytes(static_cast<int64_t>(array)), v4)), 46.6 * 15 / 16 + 2,
              2.1);
  EXPECT_NEAR(us(simulate_all_reduce(cube, x, Bytes(static_cast<int64_t>(array)), v4)), 186.4 * 3 / 4 + 2,
              2.1);
  EXPECT_NEAR(us(simulate_all_gather(cube, x, Bytes(256), v4)), 2, 0.01);
}

TEST(LinkSimulation, AllToAllsTakeTheBusiestCut) {
  const auto check = [](const Case& one, double tolerance) {
    const Both both(one);
    const double formula = all_to_all_seconds(both.axes, 48e6, kLink);
    const double simulated = seconds(simulate_all_to_all(both.network, Bytes(48'000'000), 32, kNoHop));
    EXPECT_NEAR(simulated / formula, 1, tolerance) << both.text();
    EXPECT_GE(simulated, formula * (1 - 1e-6)) << both.text();
  };
  for (int64_t n = 2; n <= 16; ++n)
    for (const bool wraps : {true, false}) check({{n}, {wraps}}, 0.01);
  for (const auto& sides :
       {std::vector<int64_t>{4, 4}, std::vector<int64_t>{4, 8}, std::vector<int64_t>{4, 4, 4}})
    for (const bool wraps : {true, false}) check({sides, std::vector<bool>(sides.size(), wraps)}, 0.01);
}

// What goes over a link takes its time, however it is divided into packets.
TEST(LinkSimulation, PermutesTakeTheBusiestLink) {
  std::mt19937 random(11);
  for (const Case& one : {Case{{8}, {true}}, Case{{4, 4}, {true, true}}, Case{{4, 8}, {false, true}}}) {
    const Interconnect network(one.sides, one.wraps);
    for (int round = 0; round < 20; ++round) {
      std::vector<int64_t> targets(static_cast<size_t>(network.chips()));
      std::iota(targets.begin(), targets.end(), 0);
      std::shuffle(targets.begin(), targets.end(), random);
      std::vector<std::array<int64_t, 2>> pairs;
      LinkLoads loads(network);
      for (size_t i = 0; i < targets.size(); ++i) {
        pairs.push_back({static_cast<int64_t>(i), targets[i]});
        loads.send(static_cast<int64_t>(i), targets[i], 1e6);
      }
      const double simulated = seconds(simulate_permute(network, pairs, Bytes(1'000'000), 200, kNoHop));
      EXPECT_GE(simulated, loads.busiest() / kLink * (1 - 1e-9));
      EXPECT_LE(simulated, loads.busiest() / kLink * 1.25);  // packets that meet wait for each other
    }
  }
}

TEST(LinkSimulation, TheSameEveryTime) {
  const Interconnect network({3, 4}, {true, false});
  const size_t axes[] = {0, 1};
  const LinkRate rate{BytesPerSecond(4.5e10), Ps(1'000'000)};
  EXPECT_EQ(simulate_all_reduce(network, axes, Bytes(123'457), rate),
            simulate_all_reduce(network, axes, Bytes(123'457), rate));
}

}  // namespace
}  // namespace hlosim
