#include "hlo/sharding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "hlo/sharding_spelling.h"
#include "layout/shape_text.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(misfit("{devices=[2,1]0,1}", "f32[4]"),
            "{devices=[2,1]0,1} shards 2 dimensions, but f32[4] has 1");
  EXPECT_EQ(misfit("{devices=[2,2]<=[4] last_tile_dim_replicate}", "f32[4,4]"),
            "{devices=[2,2]<=[4] last_tile_dim_replicate} shards 1 dimension, but f32[4,4] has 2");
  EXPECT_THAT(misfit("{devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}", "f32[4,4]"),
              HasSubstr("shards 1 dimension"));
  EXPECT_THAT(misfit("{devices=[2]0,1}", "(f32[4], f32[4,4])"), HasSubstr("but f32[4,4] has 2"));
  EXPECT_THAT(misfit("{devices=[2]0,1}", "(f32[4], token[])"), HasSubstr("but token[] has 0"));
  EXPECT_THAT(misfit("{mesh['x'=2,'y'=2], [{'x'}]}", "f32[4,4]"), HasSubstr("shards 1 dimension"));
  EXPECT_EQ(misfit("{maximal device=-1}", "f32[4]"), "{maximal device=-1} names device -1");
  EXPECT_EQ(misfit("{devices=[2]0,-3}", "f32[4]"), "{devices=[2]0,-3} names device -3");
  // Numbers from 2^63 on wrap, as the reader's do.
  EXPECT_EQ(misfit("{maximal device=18446744073709551615}", "f32[4]"),
            "{maximal device=18446744073709551615} names device -1");
  EXPECT_EQ(misfit("{devices=[2]0,18446744073709551614}", "f32[4]"),
            "{devices=[2]0,18446744073709551614} names device -2");
  EXPECT_EQ(misfit("{devices=[2]3,3}", "f32[4]"), "{devices=[2]3,3} names device 3 more than once");
  EXPECT_EQ(misfit("{}", "f32[4]"), "a tuple of shardings for f32[4], which is not a tuple");
  EXPECT_EQ(misfit("{{replicated}}", "f32[4]"), "a tuple of shardings for f32[4], which is not a tuple");
  EXPECT_EQ(misfit("{{replicated}}", "(f32[4], f32[4])"), "1 shardings for the 2 arrays of (f32[4], f32[4])");
}

TEST(Shardings, AreForAsManyDevicesAsPartitions) {
  ShapePool pool;
  const auto misfit = [&](std::string_view sharding, std::string_view shape = "f32[4,4]") {
    return sharding_misfit(sharding, *parse_shape(pool, shape), 4);
  };
  for (const std::string_view right :
       {"{replicated}", "{manual}", "{maximal device=3}", "{devices=[2,2]<=[4]}", "{devices=[2,2]3,2,1,0}",
        "{devices=[2,1,2]<=[4] last_tile_dim_replicate}", "{mesh['x'=2,'y'=2], [{'x'}, {}]}",
        "{mesh['x'=9], [{}, {}]}", "{devices=[1,1]<=[1]}"})
    EXPECT_EQ(misfit(right), "") << right;
  EXPECT_EQ(misfit("{maximal device=4}"),
            "{maximal device=4} names device 4, expected one below num_partitions=4");
  EXPECT_EQ(misfit("{devices=[2,2]0,1,2,7}"),
            "{devices=[2,2]0,1,2,7} names device 7, expected one below num_partitions=4");
  EXPECT_EQ(misfit("{devices=[2,1]0,1}"), "{devices=[2,1]0,1} is for 2 devices, expected num_partitions=4");
  EXPECT_EQ(misfit("{devices=[2,1]<=[2]}"),
            "{devices=[2,1]<=[2]} is for 2 devices, expected num_partitions=4");
  EXPECT_EQ(misfit("{mesh['x'=2,'y'=4], [{'x'}, {}]}"),
            "{mesh['x'=2,'y'=4], [{'x'}, {}]} is for 8 devices, expected num_partitions=4");
  EXPECT_THAT(misfit("{{replicated}, {maximal device=5}}", "(f32[4], f32[4])"), HasSubstr("names device 5"));
}

TEST(Shardings, BlanksBetweenNumbersGo) {
  constexpr std::string_view kSpelled[][2] = {
      {"{devices=[2, 1]0,\n  1}", "{devices=[2,1]0,1}"},
      {"{devices=[ 2,1 ] 0 , 1 }", "{devices=[2,1]0,1}"},
      {"{devices=[4,1,4]<=[16]last_tile_dim_replicate}", "{devices=[4,1,4]<=[16] last_tile_dim_replicate}"},
      {"{devices=[2,1,2]0,1,2,3last_tile_dim_replicate}", "{devices=[2,1,2]0,1,2,3 last_tile_dim_replicate}"},
      {"{devices=[2,1,2] <= [2,2] T(1, 0)\tlast_tile_dims={manual}}",
       "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dims={manual}}"},
      {"{devices=[2]<=[2]metadata={op_name=\"devices=[2, 1]\"}}",
       "{devices=[2]<=[2] metadata={op_name=\"devices=[2, 1]\"}}"},
      {"{{replicated}, /*index=1*/{devices=[2]0, /*one*/ 1}, {manual}}",
       "{{replicated}, /*index=1*/{devices=[2]0,1}, {manual}}"},
      {"{{devices=[2,1]0,1 metadata={op_name=\"x\"}}, {devices=[2, 1]0, 1}}",
       "{{devices=[2,1]0,1 metadata={op_name=\"x\"}}, {devices=[2,1]0,1}}"},
      {R"({{devices=[2]0,1 metadata={op_name="x\\"}}, {devices=[2]0, 1}})",
       R"({{devices=[2]0,1 metadata={op_name="x\\"}}, {devices=[2]0,1}})"},
      {R"({{devices=[2]0,1 metadata={op_name="\"devices=[2, 1]"}}, {devices=[2]0, 1}})",
       R"({{devices=[2]0,1 metadata={op_name="\"devices=[2, 1]"}}, {devices=[2]0,1}})"},
      {"{devices=[2]0,/*/ 1, */1}", "{devices=[2]0,1}"},
  };
  for (const auto& [given, printed] : kSpelled) {
    EXPECT_EQ(spelled_as_printed(given), std::string(printed)) << given;
    EXPECT_EQ(spelled_as_printed(printed), std::nullopt) << "once more: " << printed;
  }
  for (const std::string_view as_it_is :
       {"{replicated}", "{maximal device=3}", "{mesh['x'=2,'y'=2], [{'x'}, {?}]}", "{ {manual}, {manual} }",
        "{\"", "{\"\\"})
    EXPECT_EQ(spelled_as_printed(as_it_is), std::nullopt) << as_it_is;
}

}  // namespace
}  // namespace hlosim
