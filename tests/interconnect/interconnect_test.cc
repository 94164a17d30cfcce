#include "interconnect/interconnect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <cstdlib>

namespace hlosim {
namespace {

/// Hops from `from` to every chip, by breadth-first search over the links alone.
std::vector<int64_t> searched(const Interconnect& network, int64_t from) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(
      static_cast<size_t>(network.chips()));
  for (int64_t chip = 0; chip < network.chips(); ++chip)
    for (size_t axis = 0; axis < network.rank(); ++axis)
      for (const bool up : {true, false})
        if (const int64_t next = network.neighbour(chip, axis, up); next >= 0)
          boost::add_edge(static_cast<size_t>(chip), static_cast<size_t>(next), graph);
  std::vector<int64_t> hops(static_cast<size_t>(network.chips()));
  boost::breadth_first_search(
      graph, static_cast<size_t>(from),
      boost::visitor(boost::make_bfs_visitor(boost::record_distances(hops.data(), boost::on_tree_edge()))));
  return hops;
}

int64_t hops_of(const Interconnect::Displacement& way) {
  int64_t hops = 0;
  for (const int64_t steps : way) hops += std::abs(steps);
  return hops;
}

int64_t end_of(const Interconnect& network, int64_t from, const Interconnect::Displacement& way) {
  int64_t at = from;
  for (size_t axis = 0; axis < way.size(); ++axis)
    for (int64_t step = 0; step < std::abs(way[axis]); ++step)
      at = network.neighbour(at, axis, way[axis] > 0);
  return at;
}

struct Shape {
  std::vector<int64_t> sides;
  std::vector<bool> wraps;
  bool twisted;
};

TEST(Interconnect, WaysAreTheShortestThereAre) {
  for (const Shape& shape :
       {Shape{{7}, {true}, false}, Shape{{6}, {false}, false}, Shape{{4, 4}, {true, true}, false},
        Shape{{3, 5}, {true, false}, false}, Shape{{2, 3, 4}, {true, true, true}, false},
        Shape{{1, 4, 1}, {false, true, false}, false}, Shape{{2, 2, 4}, {true, true, true}, true},
        Shape{{4, 4, 8}, {true, true, true}, true}, Shape{{4, 8, 4}, {true, true, true}, true},
        Shape{{4, 8, 8}, {true, true, true}, true}, Shape{{3, 3, 6}, {true, true, true}, true}}) {
    const Interconnect network(shape.sides, shape.wraps, shape.twisted);
    for (int64_t from = 0; from < network.chips(); from += shape.twisted ? 5 : 1) {
      const std::vector<int64_t> hops = searched(network, from);
      for (int64_t to = 0; to < network.chips(); ++to) {
        const auto ways = network.ways(from, to);
        ASSERT_FALSE(ways.empty());
        for (const auto& way : ways) {
          ASSERT_EQ(hops_of(way), hops[static_cast<size_t>(to)]) << from << " to " << to;
          ASSERT_EQ(end_of(network, from, way), to);
        }
        auto sorted = ways;
        std::sort(sorted.begin(), sorted.end());
        ASSERT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
      }
    }
  }
}

TEST(Interconnect, EveryLinkLeadsBack) {
  for (const Shape& shape :
       {Shape{{4, 4, 8}, {true, true, true}, true}, Shape{{4, 8, 8}, {true, true, true}, true},
        Shape{{3, 4}, {true, false}, false}}) {
    const Interconnect network(shape.sides, shape.wraps, shape.twisted);
    for (int64_t chip = 0; chip < network.chips(); ++chip)
      for (size_t axis = 0; axis < network.rank(); ++axis)
        for (const bool up : {true, false}) {
          const int64_t next = network.neighbour(chip, axis, up);
          EXPECT_TRUE(next < 0 || network.neighbour(next, axis, !up) == chip) << chip;
        }
  }
}

/// A twist shortens the ways: 4x4x8 from 8 hops to 6, evened out over the axes (Camara et al.).
TEST(Interconnect, ATwistEvensOutTheAxes) {
  const auto farthest = [](const Interconnect& network) {
    const auto hops = searched(network, 0);
    return *std::max_element(hops.begin(), hops.end());
  };
  const Interconnect straight({4, 4, 8}, {true, true, true}), twisted({4, 4, 8}, {true, true, true}, true);
  EXPECT_EQ(farthest(straight), 8);
  EXPECT_EQ(farthest(twisted), 6);
  EXPECT_LT(all_to_all_load(twisted, 1), 0.8 * all_to_all_load(straight, 1));
}

TEST(Interconnect, RoutesAreShortest) {
  const Interconnect torus({4, 4}, {true, true}), mesh({4, 4}, {false, false});
  LinkLoads loads(torus), lines(mesh);
  EXPECT_EQ(loads.send(0, 15, 1), 2);  // (0,0) to (3,3), round both corners
  EXPECT_EQ(loads.send(0, 10, 1), 4);
  EXPECT_EQ(lines.send(0, 15, 1), 6);
  EXPECT_EQ(lines.send(0, 15, 2), 6);
  EXPECT_EQ(lines.busiest(), 3);
  EXPECT_EQ(lines.send(5, 5, 9), 0);
  EXPECT_EQ(lines.busiest(), 3);
}

TEST(Interconnect, TiesGoUpOrBothWays) {
  const Interconnect ring({4}, {true});
  LinkLoads up(ring), both(ring);
  EXPECT_EQ(up.send(0, 2, 8), 2);
  EXPECT_EQ(up.busiest(), 8);
  EXPECT_EQ(both.send_evenly(0, 2, 8), 2);
  EXPECT_EQ(both.busiest(), 4);
}

TEST(Interconnect, TheLoadOfOneChipIsThatOfAll) {
  for (const Shape& shape :
       {Shape{{5}, {true}, false}, Shape{{4, 6}, {true, true}, false},
        Shape{{2, 2, 4}, {true, true, true}, true}, Shape{{2, 4, 4}, {true, true, true}, true}}) {
    const Interconnect network(shape.sides, shape.wraps, shape.twisted);
    LinkLoads loads(network);
    for (int64_t from = 0; from < network.chips(); ++from)
      for (int64_t to = 0; to < network.chips(); ++to) loads.send_evenly(from, to, 3);
    EXPECT_NEAR(loads.busiest(), all_to_all_load(network, 3), 1e-9);
  }
}

}  // namespace
}  // namespace hlosim
