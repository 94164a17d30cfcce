#include "sharding/held_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = TileAssignment::Kind;

TileAssignment read(std::string_view text) {
  const auto tiles = read_tile_assignments(text, 1);
  if (!tiles) {
    ADD_FAILURE() << render(tiles.error());
    return {};
  }
  return tiles->at(0);
}

HeldParts one(std::string_view text) { return held_parts(read(text), 4, 1); }

TEST(Shardings, WithoutTiles) {
  EXPECT_EQ(read("{replicated}").kind, Kind::kReplicated);
  EXPECT_EQ(read("{manual}").kind, Kind::kManual);
  EXPECT_EQ(read("{unknown}").kind, Kind::kUnknown);
  EXPECT_EQ(read("{maximal device=3}").kind, Kind::kMaximal);
  EXPECT_EQ(read("{maximal device=3}").device, 3);
  EXPECT_EQ(read("{replicated metadata={op_name=\"a b\"}}").kind, Kind::kReplicated);
  EXPECT_EQ(read("{replicated shard_as 2}").kind, Kind::kReplicated);
}

TEST(Shardings, ListsSayWhoHoldsEachTile) {
  const HeldParts s = one("{devices=[2,2]0,2,1,3}");
  EXPECT_THAT(s.tiles, ElementsAre(2, 2));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 2, 1, 3));
}

TEST(Shardings, IotasAreTransposed) {
  // 0…7 as [2,4], transposed: 0 4 1 5 2 6 3 7.
  const HeldParts s = one("{devices=[8,1]<=[2,4]T(1,0)}");
  EXPECT_THAT(s.tiles, ElementsAre(8, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(Shardings, LastTileDimensionsAreCopies) {
  const HeldParts s = one("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_THAT(s.tiles, ElementsAre(2, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 1, 0, 1));
  const HeldParts two = one("{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}");
  EXPECT_THAT(two.tiles, ElementsAre(2));
  EXPECT_THAT(two.tile_of, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Shardings, NamedAxes) {
  const HeldParts s = one("{mesh['x'=2,'y'=4], [{'y'}, {}]}");
  EXPECT_THAT(s.tiles, ElementsAre(4, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  const HeldParts both = one("{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}");
  EXPECT_THAT(both.tile_of, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(one("{mesh[x=2,y=4], [{y}, {}]}").tile_of, testing::ElementsAreArray(s.tile_of));
  const HeldParts minor = one("{mesh['x'=4], [{'x':(2)2, ?}]}");
  EXPECT_THAT(minor.tiles, ElementsAre(2));
  EXPECT_THAT(minor.tile_of, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(read("{mesh['x'=2], replicated}").kind, Kind::kReplicated);
  EXPECT_EQ(read("{mesh['x'=2], manual}").kind, Kind::kManual);
  EXPECT_EQ(read("{mesh[], replicated}").kind, Kind::kReplicated);
}

TEST(Shardings, SummandsAreCountedBesideTheTiles) {
  const HeldParts s = one("{devices=[2,2,2]<=[8] last_tile_dims={unreduced, replicated}}");
  EXPECT_THAT(s.tiles, ElementsAre(2));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_THAT(s.summand, ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
  const HeldParts all = one("{unreduced}");
  EXPECT_THAT(all.tile_of, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(all.summand, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(one("{mesh['x'=2], [{}], unreduced={'x'}}").summand, ElementsAre(0, 1));
}

TEST(Shardings, OnePerLeafOrOneForAll) {
  const auto pair = read_tile_assignments("{{replicated}, /*index=1*/{devices=[2]0,1}}", 2);
  ASSERT_TRUE(pair) << render(pair.error());
  EXPECT_EQ(pair->at(0).kind, Kind::kReplicated);
  EXPECT_TRUE(pair->at(1).is_tiled());
  EXPECT_EQ(read_tile_assignments("{devices=[2]0,1}", 3)->size(), 3u);
  EXPECT_TRUE(read_tile_assignments("{}", 0));
}

TEST(Shardings, RefusesWhatDoesNotFit) {
  for (const char* text : {"", "x", "{", "{devices=[2]0}", "{devices=[2]0,0}", "{devices=[2]0,2}",
                           "{devices=[0]}", "{devices=[2,2]<=[3]}", "{devices=[2]<=[2]T(1)}",
                           "{devices=[2]<=[99999999999,9]}", "{maximal device=}", "{s32[4] devices=[2]0,1}",
                           "{mesh['x'=2], [{'z'}]}", "{devices=[99999999999999999999]0}", "{/*", "/**/"})
    EXPECT_FALSE(read_tile_assignments(text, 1)) << text;
  EXPECT_THAT(read_tile_assignments("{{replicated}}", 2).error().message,
              HasSubstr("for 1 arrays, there are 2"));
}

}  // namespace
}  // namespace hlosim
