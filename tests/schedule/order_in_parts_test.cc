// Orders made of two: what depends on what keeps its place, and a part changes nothing for the others.
#include "schedule/order_in_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace hlosim {
namespace {

struct Graph {
  size_t size = 0;
  std::vector<std::pair<int32_t, int32_t>> edges;  // from, to
};

Graph random_graph(std::mt19937& random) {
  Graph graph{std::uniform_int_distribution<size_t>(1, 40)(random), {}};
  for (size_t to = 1; to < graph.size; ++to)
    for (int k = 0; k < 2; ++k)
      if (random() % 2)
        graph.edges.emplace_back(static_cast<int32_t>(random() % to), static_cast<int32_t>(to));
  return graph;
}

std::vector<InstructionId> random_order(const Graph& graph, std::mt19937& random) {
  std::vector<int> missing(graph.size);
  for (const auto& edge : graph.edges) ++missing[static_cast<size_t>(edge.second)];
  std::vector<int32_t> ready;
  for (size_t i = 0; i < graph.size; ++i)
    if (missing[i] == 0) ready.push_back(static_cast<int32_t>(i));
  std::vector<InstructionId> order;
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    const int32_t next = ready.back();
    ready.pop_back();
    order.push_back(InstructionId{next});
    for (const auto& [from, to] : graph.edges)
      if (from == next && --missing[static_cast<size_t>(to)] == 0) ready.push_back(to);
  }
  return order;
}

bool respects(const Graph& graph, const std::vector<InstructionId>& order) {
  std::vector<size_t> at(graph.size);
  for (size_t i = 0; i < order.size(); ++i) at[static_cast<size_t>(order[i].index)] = i;
  return std::ranges::all_of(graph.edges, [&](const auto& edge) {
    return at[static_cast<size_t>(edge.first)] < at[static_cast<size_t>(edge.second)];
  });
}

std::set<int32_t> first(const std::vector<InstructionId>& order, size_t count) {
  std::set<int32_t> ids;
  for (size_t i = 0; i < count; ++i) ids.insert(order[i].index);
  return ids;
}

TEST(OrderInParts, EveryMixtureRespectsTheDependenciesAndEndsAsItWas) {
  size_t mixtures = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const Graph graph = random_graph(random);
    const std::vector<InstructionId> before = random_order(graph, random),
                                     wanted = random_order(graph, random);
    ASSERT_EQ(before.size(), graph.size);
    OrderInParts parts(before, wanted);
    EXPECT_EQ(parts.order(), wanted);
    for (int round = 0; round < 12; ++round) {
      std::vector<InstructionId> tight;
      for (const InstructionId id : before)
        if (random() % 4 == 0) tight.push_back(id);
      if (tight.empty() || !parts.split(tight)) break;
      const std::vector<InstructionId> order = parts.order();
      EXPECT_TRUE(std::ranges::is_permutation(order, before));
      EXPECT_TRUE(respects(graph, order)) << seed;
      mixtures += order != wanted && order != before;
    }
    while (parts.split(before)) EXPECT_TRUE(respects(graph, parts.order()));
    EXPECT_EQ(parts.order(), before);
  }
  EXPECT_GT(mixtures, 200u);
}

// Only the half with the instruction that is tight changes; its first and last states stay what they were.
TEST(OrderInParts, APartChangesNothingForTheOthers) {
  std::vector<InstructionId> before;
  for (int32_t i = 0; i < 16; ++i) before.push_back(InstructionId{i});
  const std::vector<InstructionId> wanted(before.rbegin(), before.rend());
  OrderInParts parts(before, wanted);
  const InstructionId tight[] = {InstructionId{2}};
  ASSERT_TRUE(parts.split(tight));
  EXPECT_EQ(first(parts.order(), 8), first(before, 8));
  const std::vector<InstructionId> halves = parts.order();
  ASSERT_TRUE(parts.split(tight));  // quarters of the first half
  ASSERT_TRUE(parts.split(tight));  // small enough: as it was
  EXPECT_FALSE(parts.split(tight));
  const std::vector<InstructionId> order = parts.order();
  EXPECT_TRUE(std::equal(order.begin(), order.begin() + 4, before.begin()));
  EXPECT_TRUE(std::equal(order.begin() + 8, order.end(), halves.begin() + 8));
  EXPECT_EQ(order[4], InstructionId{7});
}

}  // namespace
}  // namespace hlosim
