#include "hlo/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "layout/shape_text.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = Sharding::Kind;

Sharding one(std::string_view text) {
  const auto read = read_sharding(text, 1);
  if (!read) {
    ADD_FAILURE() << render(read.error());
    return {};
  }
  return read->at(0);
}

TEST(Shardings, FitShapes) {
  ShapePool pool;
  const auto misfit = [&](std::string_view sharding, std::string_view shape) {
    return sharding_misfit(sharding, *parse_shape(pool, shape));
  };
  constexpr std::string_view kRight[][2] = {
      {"{replicated}", "f32[4]"},
      {"{replicated}", "(f32[4], f32[4,4])"},
      {"{maximal device=3}", "f32[4]"},
      {"{}", "()"},
      {"{{maximal device=0}}", "()"},
      {"{devices=[2,1]0,1}", "f32[4,4]"},
      {"{devices=[2,1]7,3}", "f32[4,4]"},  // how many devices there are makes no difference
      {"{devices=[2,1]0,1}", "token[]"},
      {"{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "f32[4,4]"},
      {"{devices=[1,1,1,4]<=[4] last_tile_dim_replicate}", "f32[4,4]"},  // nothing but copies
      {"{devices=[1,4]<=[4] last_tile_dims={manual}}", "f32[4,4]"},
      {"{devices=[2,2,2]<=[2,2,2] T(0,2,1) last_tile_dims={manual, replicated}}", "f32[4]"},
      {"{devices=[1,1]<=[1]}", "f32[4]"},  // one device
      {"{{devices=[2]0,1}, /*index=1*/{replicated}}", "(f32[4], f32[4,4])"},
      {"{devices=[2]0,1}", "(f32[4], (f32[8]))"},
      {"{mesh['x'=2,'y'=2], [{'x'}, {?}]}", "f32[4,4]"},
      {"{mesh['x'=2,'y'=2], [{}, {?}]}", "f32[4]"},  // nothing is cut
      {"{mesh['x'=2], replicated}", "f32[4]"},
      {"{maximal_mesh[device_id=5]}", "f32[4]"},
      {"{mesh[x=2,y=2], [{x},{y}]}", "f32[4,4]"},  // names without quotes
  };
  for (const auto& [sharding, shape] : kRight) EXPECT_EQ(misfit(sharding, shape), "") << sharding << shape;
  EXPECT_EQ(misfit("{devices=[2,1]0,1}", "f32[4]"), "{devices=[2,1]0,1} cuts 2 dimensions, but f32[4] has 1");
  EXPECT_EQ(misfit("{devices=[2,2]<=[4] last_tile_dim_replicate}", "f32[4,4]"),
            "{devices=[2,2]<=[4] last_tile_dim_replicate} cuts 1 dimension, but f32[4,4] has 2");
  EXPECT_THAT(misfit("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", "f32[4,4]"),
              HasSubstr("cuts 1 dimension"));
  EXPECT_THAT(misfit("{devices=[2]0,1}", "(f32[4], f32[4,4])"), HasSubstr("but f32[4,4] has 2"));
  EXPECT_THAT(misfit("{devices=[2]0,1}", "(f32[4], token[])"), HasSubstr("but token[] has 0"));
  EXPECT_THAT(misfit("{mesh['x'=2,'y'=2], [{'x'}]}", "f32[4,4]"), HasSubstr("cuts 1 dimension"));
  EXPECT_EQ(misfit("{maximal device=-1}", "f32[4]"), "{maximal device=-1} names device -1");
  EXPECT_EQ(misfit("{devices=[2]0,-3}", "f32[4]"), "{devices=[2]0,-3} names device -3");
  // Numbers from 2^63 on wrap, as the reader's do.
  EXPECT_EQ(misfit("{maximal device=18446744073709551615}", "f32[4]"),
            "{maximal device=18446744073709551615} names device -1");
  EXPECT_EQ(misfit("{devices=[2]0,18446744073709551614}", "f32[4]"),
            "{devices=[2]0,18446744073709551614} names device -2");
  EXPECT_EQ(misfit("{devices=[2]3,3}", "f32[4]"), "{devices=[2]3,3} names device 3 more than once");
  EXPECT_EQ(misfit("{}", "f32[4]"), "a tuple of shardings for f32[4], which is no tuple");
  EXPECT_EQ(misfit("{{replicated}}", "f32[4]"), "a tuple of shardings for f32[4], which is no tuple");
  EXPECT_EQ(misfit("{{replicated}}", "(f32[4], f32[4])"), "1 shardings for the 2 arrays of (f32[4], f32[4])");
}

TEST(Shardings, WithoutTiles) {
  EXPECT_EQ(one("{replicated}").kind, Kind::kReplicated);
  EXPECT_EQ(one("{manual}").kind, Kind::kManual);
  EXPECT_EQ(one("{unknown}").kind, Kind::kUnknown);
  EXPECT_EQ(one("{maximal device=3}").kind, Kind::kMaximal);
  EXPECT_EQ(one("{maximal device=3}").device, 3);
  EXPECT_EQ(one("{replicated metadata={op_name=\"a b\"}}").kind, Kind::kReplicated);
  EXPECT_EQ(one("{replicated shard_as 2}").kind, Kind::kReplicated);
}

TEST(Shardings, ListsSayWhoHoldsEachTile) {
  const Sharding s = one("{devices=[2,2]0,2,1,3}");
  EXPECT_THAT(s.tiles, ElementsAre(2, 2));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 2, 1, 3));
}

TEST(Shardings, IotasAreTransposed) {
  // 0…7 as [2,4], transposed: 0 4 1 5 2 6 3 7.
  const Sharding s = one("{devices=[8,1]<=[2,4]T(1,0)}");
  EXPECT_THAT(s.tiles, ElementsAre(8, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

TEST(Shardings, LastTileDimensionsAreCopies) {
  const Sharding s = one("{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_THAT(s.tiles, ElementsAre(2, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 1, 0, 1));
  const Sharding two = one("{devices=[2,2,2]<=[8] last_tile_dims={manual, replicated}}");
  EXPECT_THAT(two.tiles, ElementsAre(2));
  EXPECT_THAT(two.tile_of, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(Shardings, NamedAxes) {
  const Sharding s = one("{mesh['x'=2,'y'=4], [{'y'}, {}]}");
  EXPECT_THAT(s.tiles, ElementsAre(4, 1));
  EXPECT_THAT(s.tile_of, ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  const Sharding both = one("{mesh['x'=2,'y'=2], [{'y'}, {'x'}]}");
  EXPECT_THAT(both.tile_of, ElementsAre(0, 2, 1, 3));
  EXPECT_THAT(one("{mesh[x=2,y=4], [{y}, {}]}").tile_of, testing::ElementsAreArray(s.tile_of));
  const Sharding minor = one("{mesh['x'=4], [{'x':(2)2, ?}]}");
  EXPECT_THAT(minor.tiles, ElementsAre(2));
  EXPECT_THAT(minor.tile_of, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(one("{mesh['x'=2], replicated}").kind, Kind::kReplicated);
  EXPECT_EQ(one("{mesh['x'=2], manual}").kind, Kind::kManual);
  EXPECT_EQ(one("{mesh[], replicated}").kind, Kind::kReplicated);
}

TEST(Shardings, OnePerLeafOrOneForAll) {
  const auto pair = read_sharding("{{replicated}, /*index=1*/{devices=[2]0,1}}", 2);
  ASSERT_TRUE(pair) << render(pair.error());
  EXPECT_EQ(pair->at(0).kind, Kind::kReplicated);
  EXPECT_TRUE(pair->at(1).is_tiled());
  EXPECT_EQ(read_sharding("{devices=[2]0,1}", 3)->size(), 3u);
  EXPECT_TRUE(read_sharding("{}", 0));
}

TEST(Shardings, RefusesWhatDoesNotFit) {
  for (const char* text :
       {"", "x", "{", "{devices=[2]0}", "{devices=[2]0,0}", "{devices=[2]0,2}", "{devices=[0]}",
        "{devices=[2,2]<=[3]}", "{devices=[2]<=[2]T(1)}", "{devices=[2]<=[99999999999,9]}",
        "{devices=[4]<=[4] last_tile_dims={unreduced}}", "{unreduced}", "{maximal device=}",
        "{s32[4] devices=[2]0,1}", "{mesh['x'=2], [{'z'}]}", "{mesh['x'=2], unreduced{'x'}}",
        "{devices=[99999999999999999999]0}", "{/*", "/**/"})
    EXPECT_FALSE(read_sharding(text, 1)) << text;
  EXPECT_THAT(read_sharding("{{replicated}}", 2).error().message, HasSubstr("for 1 arrays, there are 2"));
}

}  // namespace
}  // namespace hlosim
