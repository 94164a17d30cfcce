// The algebra of shardings, by exhaustion on small arrays of devices.
#include "sharding/tiling.h"
#include "sharding/held_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "sharding/reshard_plan.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Calls f(tiling) for every tiling of two dimensions: each axis cuts one of them or none, in any order.
template <class F>
void for_each_tiling(const DeviceAxes& axes, F&& f) {
  std::vector<int> order(static_cast<size_t>(axes.count()));
  std::iota(order.begin(), order.end(), 0);
  std::set<std::vector<AxisList>> seen;
  do {
    int64_t ways = 1;
    for (int i = 0; i < axes.count(); ++i) ways *= 3;
    for (int64_t way = 0; way < ways; ++way) {
      Tiling tiling(2);
      int64_t rest = way;
      for (const int axis : order) {
        if (rest % 3 < 2) tiling.cut(rest % 3).push_back(axis);
        rest /= 3;
      }
      if (seen.insert(tiling.cuts).second) f(tiling);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

int64_t tile_of(const DeviceAxes& axes, const Tiling& tiling, int64_t place) {
  int64_t tile = 0;
  for (const AxisList& cut : tiling.cuts) tile = tile * axes.length(cut) + axes.index(place, cut);
  return tile;
}

TEST(Tiling, TextSaysWhichTileEachDeviceHas) {
  for (const int64_t devices : {1, 2, 3, 4, 6, 8, 12})
    for_each_tiling(DeviceAxes(devices), [&](const Tiling& tiling) {
      const DeviceAxes axes(devices);
      const std::string text = to_text(axes, tiling);
      const auto tiles = read_tile_assignments(text, 1);
      ASSERT_TRUE(tiles) << text;
      const HeldParts other = held_parts(tiles->front(), devices, 2);  // device by device
      for (int64_t device = 0; device < devices; ++device)
        EXPECT_EQ(tile_of(axes, tiling, device),
                  other.is_tiled() ? other.tile_of[static_cast<size_t>(device)] : 0)
            << text << " device " << device;
      const auto placed = tiling_of(axes, tiles->front(), 2);
      ASSERT_TRUE(placed) << text;
      EXPECT_EQ(placed->tiling, tiling) << text;
      EXPECT_TRUE(placed->device_at.empty()) << text;
    });
}

TEST(Tiling, GroupsDifferAlongTheirAxesOnly) {
  for (const int64_t devices : {2, 4, 6, 8, 12})
    for_each_tiling(DeviceAxes(devices), [&](const Tiling& tiling) {
      const DeviceAxes axes(devices);
      const DeviceGroups groups = device_groups(axes, tiling.cut(0));
      TileAssignment listed;
      listed.kind = TileAssignment::Kind::kTiled;
      listed.reshape = groups.reshape;
      listed.order = groups.order;
      const std::vector<int64_t> list = list_devices(listed);
      ASSERT_EQ(list.size(), static_cast<size_t>(devices));
      for (int64_t i = 0; i < devices; ++i) {
        const int64_t first = list[static_cast<size_t>(i / groups.members * groups.members)];
        const int64_t device = list[static_cast<size_t>(i)];
        EXPECT_EQ(axes.index(device, tiling.cut(0)), i % groups.members);
        const AxisList others = list_of(axes.all() & ~set_of(tiling.cut(0)));
        EXPECT_EQ(axes.index(device, others), axes.index(first, others));
      }
    });
}

TEST(Tiling, ListsThatAreTransposedCountsBecomeThem) {
  const auto listed = read_tile_assignment("devices=[2,2]0,2,1,3");
  ASSERT_TRUE(listed);
  EXPECT_TRUE(listed->device_list.empty());
  const auto placed = tiling_of(DeviceAxes(4), *listed, 2);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->tiling.cuts, ElementsAre(AxisList{1}, AxisList{0}));
}

TEST(Tiling, DevicesInAnotherOrderArePlaced) {
  const auto listed = read_tile_assignment("devices=[4]0,1,3,2");
  ASSERT_TRUE(listed);
  const auto placed = tiling_of(DeviceAxes(4), *listed, 1);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->device_at, ElementsAre(0, 1, 3, 2));
  // Axes that stand in this order themselves say it without.
  const std::vector<TileAssignment> all = {*listed};
  const DeviceAxes axes(4, all);
  EXPECT_FALSE(axes.in_order());
  EXPECT_TRUE(tiling_of(axes, *listed, 1)->device_at.empty());
}

TEST(Tiling, NamedAxes) {
  const auto named = read_tile_assignment("mesh['x'=2,'y'=4], [{'y':(2)2}, {'x'}], replicated={'y':(1)2}");
  ASSERT_TRUE(named);
  const auto placed = tiling_of(DeviceAxes(8), *named, 2);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->tiling.cuts, ElementsAre(AxisList{2}, AxisList{0}));
  const auto summands = read_tile_assignment("mesh['x'=2,'y'=4], [{}, {}], unreduced={'x'}");
  ASSERT_TRUE(summands);
  EXPECT_EQ(tiling_of(DeviceAxes(8), *summands, 2)->tiling.partial, 1u);
}

TEST(Tiling, WrongTextsAreRefused) {
  for (const std::string_view text : {"devices=[2,2]<=[5]", "devices=[2]0,0", "devices=[2]<=[2]T(1)", "what",
                                      "mesh['x'=2], [{'z'}]", "mesh['x'=0], [{'x'}]", "devices=[2,2]<=[4"})
    EXPECT_FALSE(read_tile_assignment(text)) << text;
  const auto tiles = read_tile_assignment("devices=[2,2]<=[4]");
  ASSERT_TRUE(tiles);
  EXPECT_THAT(tiling_of(DeviceAxes(8), *tiles, 2).error().message,
              HasSubstr("for 4 devices, the program for 8"));
  EXPECT_THAT(tiling_of(DeviceAxes(4), *tiles, 3).error().message,
              HasSubstr("tiles 2 dimensions, the array has 3"));
}

TEST(Tiling, ListsOfDevicesThatAreNoWholeSetNameTheOneThatIsWrong) {
  const auto fault = [](std::string_view text) {
    const auto tiles = read_tile_assignment(text);
    return tiles ? std::string("none") : tiles.error().message;
  };
  EXPECT_EQ(fault("devices=[3]1,2,3"),
            "the sharding {devices=[3]1,2,3} lists device 3, expected each of 0 to 2 once");
  EXPECT_THAT(fault("devices=[2,2]0,1,1,3"), HasSubstr("lists device 1 twice, expected each of 0 to 3 once"));
  EXPECT_THAT(fault("devices=[2]0,-1"), HasSubstr("lists device -1, expected each of 0 to 1 once"));
  EXPECT_THAT(fault("devices=[2,2]0,1,2"), HasSubstr("lists 3 devices for 4 tiles"));
  EXPECT_THAT(fault("mesh['x'=2], device_ids=(0,2), [{'x'}]"), HasSubstr("lists device 2"));
  EXPECT_EQ(fault("devices=[3]2,0,1"), "none");
}

TEST(Tiling, ShardsOfUnevenSizes) {
  const DeviceAxes axes(8);
  EXPECT_EQ(shard_size(axes, {0, 1}, 10), 3);
  EXPECT_TRUE(is_padded(axes, {0, 1}, 10));
  EXPECT_FALSE(refines(axes, {0}, {0, 1}, 10));  // tiles of 5, of 3
  EXPECT_TRUE(refines(axes, {0}, {0, 1}, 12));
  EXPECT_TRUE(refines(axes, {}, {0, 1}, 10));
}

TEST(ReshardPlan, EndsWhereItShall) {
  const DeviceAxes axes(8);
  const int64_t even[] = {16, 8}, uneven[] = {10, 3};
  for (const auto sizes : {std::span<const int64_t>(even), std::span<const int64_t>(uneven)})
    for_each_tiling(axes, [&](const Tiling& from) {
      for_each_tiling(axes, [&](const Tiling& to) {
        const std::vector<ReshardStep> plan = reshard_plan(axes, from, to, sizes);
        EXPECT_EQ(plan.empty() ? from : plan.back().result, to);
        EXPECT_LE(plan.size(), 8u);
      });
    });
}

TEST(ReshardPlan, TakesTheCheapestCollective) {
  const DeviceAxes axes(4);
  const int64_t sizes[] = {8, 8};
  Tiling rows(2), columns(2), all(2), summands(2), first(2), second(2);
  rows.cuts = {{0, 1}, {}};
  columns.cuts = {{}, {0, 1}};
  first.cuts = {{0}, {}};
  second.cuts = {{1}, {}};
  summands.partial = axes.all();
  const auto only = [&](const Tiling& from, const Tiling& to) {
    const auto plan = reshard_plan(axes, from, to, sizes);
    EXPECT_EQ(plan.size(), 1u);
    return std::tuple(plan.front().kind, plan.front().members, plan.front().payload);
  };
  EXPECT_EQ(only(all, rows), std::tuple(ReshardKind::kSlice, int64_t{4}, int64_t{0}));
  EXPECT_EQ(only(rows, all), std::tuple(ReshardKind::kAllGather, int64_t{4}, int64_t{16}));
  EXPECT_EQ(only(rows, columns), std::tuple(ReshardKind::kAllToAll, int64_t{4}, int64_t{16}));
  EXPECT_EQ(only(first, second), std::tuple(ReshardKind::kPermute, int64_t{1}, int64_t{32}));
  EXPECT_EQ(only(summands, all), std::tuple(ReshardKind::kAllReduce, int64_t{4}, int64_t{64}));
  EXPECT_EQ(only(summands, rows), std::tuple(ReshardKind::kReduceScatter, int64_t{4}, int64_t{64}));
}

}  // namespace
}  // namespace hlosim
