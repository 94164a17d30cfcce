#include <gtest/gtest.h>

#include <numeric>
#include <unordered_set>
#include <vector>

#include "base/arena.h"
#include "base/id.h"

namespace hlosim {
namespace {

TEST(Arena, AllocationsAreAlignedAndDoNotOverlap) {
  Arena arena;
  struct Piece {
    unsigned char* at;
    size_t size;
    unsigned char mark;
  };
  std::vector<Piece> pieces;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t size = 1 + i * 7919 % 300, alignment = size_t{1} << (i % 6);
    auto* at = static_cast<unsigned char*>(arena.allocate(size, alignment));
    ASSERT_EQ(reinterpret_cast<uintptr_t>(at) % alignment, 0u);
    const auto mark = static_cast<unsigned char>(i);
    std::fill(at, at + size, mark);
    pieces.push_back({at, size, mark});
  }
  for (const Piece& piece : pieces)
    for (size_t i = 0; i < piece.size; ++i) ASSERT_EQ(piece.at[i], piece.mark);
}

TEST(Arena, LargeBlocksAndMoves) {
  Arena arena;
  std::vector<int64_t> values(1 << 20);
  std::iota(values.begin(), values.end(), 0);
  const std::span<const int64_t> copy = arena.copy(values);
  const std::string_view text = arena.copy(std::string_view("hello"));
  values.assign(values.size(), -1);
  const Arena moved = std::move(arena);
  EXPECT_EQ(copy.size(), values.size());
  EXPECT_EQ(copy[12345], 12345);
  EXPECT_EQ(text, "hello");
  EXPECT_TRUE(Arena().copy(std::vector<int>{}).empty());
  struct Pair {
    int a, b;
  };
  Arena other;
  const Pair* pair = other.make<Pair>(1, 2);
  EXPECT_EQ(pair->a + pair->b, 3);
}

struct NodeTag;
using NodeId = Id<NodeTag>;

TEST(Id, MapsByIndex) {
  IdMap<NodeId, int> map;
  EXPECT_TRUE(map.empty());
  const NodeId a = map.add(10), b = map.add(20);
  EXPECT_LT(a, b);
  EXPECT_EQ(map[a] + map[b], 30);
  map[a] = 5;
  EXPECT_EQ(std::accumulate(map.begin(), map.end(), 0), 25);
  EXPECT_FALSE(NodeId().valid());
  EXPECT_TRUE(a.valid());
  const std::unordered_set<NodeId> set = {a, b, a};
  EXPECT_EQ(set.size(), 2u);
  const IdMap<NodeId, int> filled(3, 7);
  EXPECT_EQ(filled[NodeId{2}], 7);
}

TEST(IdDeathTest, OutOfRangeStopsWithTheNumbers) {
  IdMap<NodeId, int> map(2);
  EXPECT_DEATH(map[NodeId{2}], "check failed.*index 2 of 2");
  EXPECT_DEATH(map[NodeId()], "index -1 of 2");
}

TEST(CheckDeathTest, SaysConditionAndDetail) {
  const int value = 3;
  EXPECT_DEATH(HLOSIM_CHECK(value == 4, "value is {}", value),
               "arena_id_test.cc:.*check failed: value == 4: value is 3");
  EXPECT_DEATH(HLOSIM_CHECK(value == 4), "check failed: value == 4\n");
  HLOSIM_CHECK(value == 3, "not seen");
}

}  // namespace
}  // namespace hlosim
