// Where the decisions of lowering need no more room than there is, the result is the one of more room.
#include "lower/room_needs.h"

#include <gtest/gtest.h>

#include "lower/pass.h"
#include "lower/standard_memories.h"
#include "schedule/latency_schedule.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr const char* kRoomDevices[] = {"unit", "v4", "v5e", "v6e"};

/// The device with so much less on-chip memory, in every space.
Device with_less(const Device& device, int64_t less) {
  Device smaller = device;
  for (MemorySpace& space : smaller.config.memory)
    if (!space.numbers.empty() && is_on_chip(device.config, space.numbers[0]))
      space.capacity = *space.capacity - Bytes(less);
  return smaller;
}

TEST(Room, NotesTheMostThatItHeld) {
  int64_t needed = 3;
  const Room room(100, &needed);
  EXPECT_FALSE(room.holds(101));
  EXPECT_EQ(needed, 3);
  EXPECT_TRUE(room.holds(100));
  EXPECT_EQ(needed, 100);
  EXPECT_TRUE(room.holds(7));
  EXPECT_EQ(needed, 100);
  EXPECT_TRUE(Room().holds(int64_t{1} << 62));
}

TEST(RoomNeeds, AreMetByNoLessThanTheyAre) {
  const Device device = test::device_or_fail("v6e");
  const int64_t room = vmem_room(device.config);
  RoomNeeds needs(device.config);
  EXPECT_TRUE(needs.same_with(with_less(device, room).config));
  EXPECT_TRUE(needs.vmem(device.config).holds(room - 10));
  EXPECT_TRUE(needs.same_with(with_less(device, 10).config));
  EXPECT_FALSE(needs.same_with(with_less(device, 11).config));
  EXPECT_FALSE(needs.same_with(with_less(device, -1).config)) << "more than it was asked for";
  EXPECT_FALSE(needs.with(with_less(device, 10).config).same_with(device.config));
  needs.needs_all();
  EXPECT_TRUE(needs.same_with(device.config));
  EXPECT_FALSE(needs.same_with(with_less(device, 1).config));
  RoomNeeds at_home(device.config);
  EXPECT_EQ(at_home.home(device.config).space, kVmemSpace);
  EXPECT_TRUE(at_home.same_with(with_less(device, room - 1).config));
  EXPECT_FALSE(at_home.same_with(with_less(device, room).config));
}

/// Rooms smaller than those of the device by halves of what is left.
std::vector<Device> smaller_ones(const Device& device) {
  std::vector<Device> found;
  for (const Device& one : standard_memories(device)) found.push_back(one);
  for (int64_t less = vmem_room(device.config); less > 4096; less -= less / 3)
    found.push_back(with_less(device, less));
  return found;
}

struct RoomCount {
  size_t same = 0, other = 0, different = 0;
};

void expect_same(const std::string& file, const Module& large, const Module& small, bool is_same,
                 RoomCount& count) {
  const std::string difference = test::difference(large, small);
  if (!is_same) {
    ++count.other, count.different += !difference.empty();
    return;
  }
  ++count.same;
  EXPECT_EQ(difference, "") << file;
}

TEST(RoomNeeds, PassesDoTheSameWithLessAsLongAsTheyAreMet) {
  RoomCount count;
  const std::vector<const Pass*> plain = default_passes();
  std::vector<const Pass*> sliced = plain;
  for (const Pass*& pass : sliced)
    if (pass->name == "place") pass = parse_passes("place-sliced")->front();
  std::vector<const Pass*> ahead = plain;
  ahead.insert(std::ranges::find_if(ahead, [](const Pass* pass) { return pass->name == "fuse"; }),
               parse_passes("slice-ahead")->front());
  size_t number = 0;
  for (const char* name : kRoomDevices) {
    const Device device = test::device_or_fail(name);
    test::for_each_module(60, [&](const std::string& file, Module& module) {
      if (std::ranges::any_of(module.instructions,
                              [](const Instruction& one) { return carries_tiles(one.shape); }))
        return;
      const std::vector<const Pass*>& passes = number % 3 == 0 ? plain : number % 3 == 1 ? sliced : ahead;
      ++number;
      const PassContext all{op_table(), device};
      PassRun run(module, all);
      run.go_on(passes);
      const RoomNeeds needs = run.needs();
      const Module large = std::move(run).finish();
      for (const Device& small : smaller_ones(device))
        expect_same(fmt::format("{} on {}", file, name), large,
                    run_passes(module, passes, {op_table(), small}), needs.same_with(small.config), count);
    });
  }
  EXPECT_GT(count.same, 200u);
  EXPECT_GT(count.different, 50u);
  EXPECT_GT(2 * count.different, count.other) << "most of what isn't known to be the same is different";
}

TEST(RoomNeeds, SchedulesAreTheSameWithLessAsLongAsTheyAreMet) {
  RoomCount count;
  const Device device = test::device_or_fail("v6e");
  test::for_each_module(40, [&](const std::string& file, Module& module) {
    LatencyScheduleOptions options;
    options.room = &device.config;
    options.simulate.keep_timeline = false;
    const Result<LatencySchedule> large = tune_schedule(module, op_table(), device, options);
    if (!large || large->transfers.empty()) return;
    RoomNeeds needs(device.config);
    for (size_t space = 0; space < SpaceBytes::kCount; ++space)
      needs.needs(static_cast<int64_t>(space), large->room_needed[space]);
    for (const Device& small : smaller_ones(device)) {
      options.room = &small.config;
      const Result<LatencySchedule> other = tune_schedule(module, op_table(), device, options);
      ASSERT_TRUE(other) << file;
      expect_same(file, large->module, other->module, needs.same_with(small.config), count);
    }
  });
  EXPECT_GT(count.same, 100u);
}

}  // namespace
}  // namespace hlosim
