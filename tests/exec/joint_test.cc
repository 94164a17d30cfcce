// Programs on several devices, in one process and in several ranks.
#include "evaluate/devices/joint.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "array/arguments.h"
#include "exec/program.h"
#include "ops/op_table.h"
#include "support/modules.h"
#include "support/thread_ranks.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using Bits = std::vector<std::vector<std::byte>>;  // of each output leaf

// The outputs of this rank's devices. Each device has random arguments of its own.
Result<std::vector<Bits>> run_on(const DeviceGrid& grid, Ranks& ranks, std::string_view text) {
  Module module = test::module_or_fail(text);
  MemoryPool pool;
  DiagnosticList problems;
  ProgramOptions options;
  options.grid = grid;
  const auto program = Program::make(module, op_table(), pool, options, problems);
  if (!program) return tl::unexpected(problems.items().at(0));
  LockstepRun run(grid, ranks);
  std::vector<DeviceState> devices;
  std::vector<std::vector<Array>> inputs;
  for (int64_t id = run.local_devices().begin; id < run.local_devices().end; ++id) {
    DeviceState& device = devices.emplace_back(pool);
    device.id = id;
    device.replica_id = id / grid.partitions;
    device.partition_id = id % grid.partitions;
    auto& arguments = inputs.emplace_back();
    for (const ShapeRef leaf : program->parameters())
      arguments.push_back(random_array(leaf, static_cast<uint64_t>(id), arguments.size(), pool));
  }
  const auto outputs = program->run_jointly(run, devices, std::move(inputs));
  if (!outputs) return tl::unexpected(outputs.error());
  std::vector<Bits> all;
  for (const std::vector<Array>& leaves : *outputs) {
    Bits& bits = all.emplace_back();
    for (const Array& leaf : leaves) bits.emplace_back(leaf.bytes(), leaf.bytes() + data_bytes(leaf.shape));
  }
  return all;
}

std::vector<Bits> run_in_ranks(const DeviceGrid& grid, int count, std::string_view text) {
  std::vector<std::vector<Bits>> by_rank(static_cast<size_t>(count));
  test::ThreadRanks::run(count, [&](Ranks& ranks) {
    auto outputs = run_on(grid, ranks, text);
    if (outputs)
      by_rank[static_cast<size_t>(ranks.rank())] = std::move(*outputs);
    else
      ADD_FAILURE() << render(outputs.error());
  });
  std::vector<Bits> all;
  for (const auto& outputs : by_rank) all.insert(all.end(), outputs.begin(), outputs.end());
  return all;
}

// A module of random collectives over f32[8,16], with a loop and a branch in which some devices meet.
class RandomModule {
 public:
  RandomModule(const DeviceGrid& grid, uint64_t seed) : grid_(grid), random_(seed) {}

  std::string text() {
    std::string body = steps("x", 3), branch = steps("x", 2), entry = steps("x", 4);
    return fmt::format(R"(HloModule random, replica_count={}, num_partitions={}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
mixed {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  h = f32[] multiply(a, half)
  ROOT s = f32[] add(h, b)
}}
condition {{
  state = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(3)
  ROOT go = pred[] compare(i, limit), direction=LT
}}
body {{
  state = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[8,16] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
{}  ROOT out = (s32[], f32[8,16]) tuple(next, last)
}}
aside {{
  ROOT x = f32[8,16] parameter(0)
}}
together {{
  x = f32[8,16] parameter(0)
{}  ROOT out = f32[8,16] copy(last)
}}
ENTRY main {{
  x0 = f32[8,16] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[8,16]) tuple(zero, x0)
  loop = (s32[], f32[8,16]) while(init), condition=condition, body=body
  y = f32[8,16] get-tuple-element(loop), index=1
  which = s32[] constant(1)
  x = f32[8,16] conditional(which, y, y), branch_computations={{aside, together}}
{}  ROOT out = f32[8,16] copy(last)
}}
)",
                       grid_.replicas, grid_.partitions, body, branch, entry);
  }

 private:
  int64_t below(int64_t limit) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit)); }

  // Groups of all ids below `ids`, in random order, in equal parts that divide 8.
  std::string groups(int64_t ids) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < ids; ++i) order.insert(order.begin() + below(i + 1), i);
    std::vector<int64_t> sizes;
    for (const int64_t size : {1, 2, 4, 8})
      if (size <= ids && ids % size == 0) sizes.push_back(size);
    size_ = sizes[static_cast<size_t>(below(static_cast<int64_t>(sizes.size())))];
    std::string text;
    for (int64_t i = 0; i < ids; ++i)
      text += fmt::format("{}{}", i == 0 ? "{" : i % size_ == 0 ? "},{" : ",", order[static_cast<size_t>(i)]);
    return "{" + text + "}}";
  }

  // Some way to name groups, and the number of their members in size_.
  std::string mode() {
    switch (below(3)) {
      case 0:
        return fmt::format("replica_groups={}", groups(grid_.replicas));
      case 1:
        return fmt::format("channel_id={}, replica_groups={}, use_global_device_ids=true", ++channel_,
                           groups(grid_.devices()));
      default: {
        const std::string text =
            fmt::format("channel_id={}, replica_groups={}", ++channel_, groups(grid_.replicas));
        size_ *= grid_.partitions;
        return text;
      }
    }
  }

  std::string permutation() {
    std::string pairs;
    const int64_t ids = grid_.replicas, shift = below(ids), count = 1 + below(ids);
    for (int64_t i = 0; i < count; ++i)
      pairs += fmt::format("{}{{{},{}}}", i ? "," : "", i, (i + shift) % ids);
    return "{" + pairs + "}";
  }

  std::string steps(const std::string& from, int count) {
    std::string text, x = from;
    for (int i = 0; i < count; ++i) {
      const int64_t id = ++names_;
      const std::string y = fmt::format("v{}", id);
      const char* fold = below(2) ? "sum" : "mixed";
      switch (below(6)) {
        case 0:
          text += fmt::format("  {} = f32[8,16] all-reduce({}), {}, to_apply={}\n", y, x, mode(), fold);
          break;
        case 1: {
          const std::string m = mode();
          text +=
              fmt::format("  g{} = f32[{},16] all-gather({}), {}, dimensions={{0}}\n", id, 8 * size_, x, m);
          const int64_t at = 8 * below(size_);
          text += fmt::format("  {} = f32[8,16] slice(g{}), slice={{[{}:{}], [0:16]}}\n", y, id, at, at + 8);
          break;
        }
        case 2: {
          const std::string m = mode();
          if (8 % size_ != 0) {
            text += fmt::format("  {} = f32[8,16] negate({})\n", y, x);
            break;
          }
          text += fmt::format("  part{} = f32[{},16] reduce-scatter({}), {}, dimensions={{0}}, to_apply={}\n",
                              id, 8 / size_, x, m, fold);
          text += fmt::format("  {} = f32[8,16] all-gather(part{}), {}, dimensions={{0}}\n", y, id, m);
          break;
        }
        case 3: {
          const std::string g = groups(grid_.replicas);
          text +=
              fmt::format("  {} = f32[8,16] all-to-all({}), replica_groups={}, dimensions={{1}}\n", y, x, g);
          break;
        }
        case 4:
          text += fmt::format("  p{} = f32[8,16] collective-permute({}), source_target_pairs={}\n", id, x,
                              permutation());
          text += fmt::format("  {} = f32[8,16] add(p{}, {})\n", y, id, x);
          break;
        default:
          text += fmt::format("  b{} = f32[8,16] collective-broadcast({}), replica_groups={}\n", id, x,
                              groups(grid_.replicas));
          text += fmt::format("  {} = f32[8,16] subtract({}, b{})\n", y, x, id);
      }
      x = y;
    }
    return text + fmt::format("  last = f32[8,16] copy({})\n", x);
  }

  DeviceGrid grid_;
  std::mt19937_64 random_;
  int64_t size_ = 1, channel_ = 0, names_ = 0;
};

TEST(JointRuns, GiveTheSameBitsInAnyNumberOfRanksAndThreads) {
  int ran = 0;
  for (const DeviceGrid grid : {DeviceGrid{8, 1}, DeviceGrid{4, 2}, DeviceGrid{2, 4}})
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const std::string text = RandomModule(grid, seed).text();
      SCOPED_TRACE(text);
      set_thread_count(2);
      const auto here = run_on(grid, lone_rank(), text);
      ASSERT_TRUE(here) << render(here.error());
      set_thread_count(1);
      ASSERT_EQ(*run_on(grid, lone_rank(), text), *here);
      for (const int ranks : {2, 4}) ASSERT_EQ(run_in_ranks(grid, ranks, text), *here) << ranks << " ranks";
      set_thread_count(0);
      ++ran;
    }
  EXPECT_EQ(ran, 90);
}

// Sums are folded in the order of the group, whoever holds them: (a·½ + b)·½ + c.
TEST(JointRuns, FoldInTheOrderOfTheGroup) {
  constexpr std::string_view kText = R"(HloModule m, replica_count=3
mixed {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  h = f32[] multiply(a, half)
  ROOT s = f32[] add(h, b)
}
ENTRY main {
  id = u32[] replica-id()
  x = f32[] convert(id)
  ROOT y = f32[] all-reduce(x), replica_groups={{2,0,1}}, to_apply=mixed
})";
  for (const int ranks : {1, 2, 3})
    for (const Bits& bits : run_in_ranks({3, 1}, ranks, kText)) {
      float value = 0;
      std::memcpy(&value, bits[0].data(), 4);
      EXPECT_EQ(value, (2 * 0.5f + 0) * 0.5f + 1) << ranks;
    }
}

// Instructions that undo each other, on a grid.
std::vector<Bits> inputs_and_outputs(const std::string& steps, std::string_view shape = "f32[8,16]") {
  const auto outputs = run_on({4, 1}, lone_rank(),
                              fmt::format(R"(HloModule m, replica_count=4
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY main {{
  x = {0} parameter(0)
{1}  ROOT out = ({0}, {0}) tuple(x, y)
}})",
                                          shape, steps));
  HLOSIM_CHECK(outputs, "{}", render(outputs.error()));
  return *outputs;
}

TEST(JointRuns, AllToAllTwiceIsNothing) {
  for (const Bits& bits :
       inputs_and_outputs("  z = f32[8,16] all-to-all(x), replica_groups={{0,2,3,1}}, dimensions={0}\n"
                          "  y = f32[8,16] all-to-all(z), replica_groups={{0,2,3,1}}, dimensions={0}\n"))
    EXPECT_EQ(bits[0], bits[1]);
}

TEST(JointRuns, APermutationAndItsInverseAreNothing) {
  for (const Bits& bits : inputs_and_outputs(
           "  z = f32[8,16] collective-permute(x), source_target_pairs={{0,2},{2,3},{3,1},{1,0}}\n"
           "  y = f32[8,16] collective-permute(z), source_target_pairs={{2,0},{3,2},{1,3},{0,1}}\n"))
    EXPECT_EQ(bits[0], bits[1]);
}

TEST(JointRuns, ReduceScatterAndAllGatherAreAllReduce) {
  const auto whole = inputs_and_outputs("  y = f32[8,16] all-reduce(x), replica_groups={}, to_apply=sum\n");
  const auto parts = inputs_and_outputs(
      "  z = f32[8,4] reduce-scatter(x), replica_groups={}, dimensions={1}, to_apply=sum\n"
      "  y = f32[8,16] all-gather(z), replica_groups={}, dimensions={1}\n");
  EXPECT_EQ(whole, parts);
}

TEST(JointRuns, AllGatherOfPartsIsTheWhole) {
  for (const Bits& bits : inputs_and_outputs(R"(  whole = f32[8,16] iota(), iota_dimension=1
  id = u32[] replica-id()
  two = u32[] constant(2)
  first = u32[] multiply(id, two)
  zero = u32[] constant(0)
  part = f32[2,16] dynamic-slice(whole, first, zero), dynamic_slice_sizes={2,16}
  together = f32[8,16] all-gather(part), replica_groups={}, dimensions={0}
  difference = f32[8,16] subtract(together, whole)
  y = f32[8,16] add(x, difference)
)"))
    EXPECT_EQ(bits[0], bits[1]);
}

TEST(JointRuns, AThousandDevicesNeedNoThreadsOfTheirOwn) {
  const auto outputs = run_on({1024, 1}, lone_rank(), R"(HloModule m, replica_count=1024
sum {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  ROOT s = u32[] add(a, b)
}
condition {
  state = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(state), index=0
  limit = u32[] constant(20)
  ROOT go = pred[] compare(i, limit), direction=LT
}
body {
  state = (u32[], u32[]) parameter(0)
  i = u32[] get-tuple-element(state), index=0
  x = u32[] get-tuple-element(state), index=1
  one = u32[] constant(1)
  next = u32[] add(i, one)
  id = u32[] replica-id()
  seen = u32[] all-reduce(id), replica_groups={}, to_apply=sum
  y = u32[] add(x, seen)
  ROOT out = (u32[], u32[]) tuple(next, y)
}
ENTRY main {
  zero = u32[] constant(0)
  init = (u32[], u32[]) tuple(zero, zero)
  loop = (u32[], u32[]) while(init), condition=condition, body=body
  ROOT x = u32[] get-tuple-element(loop), index=1
})");
  ASSERT_TRUE(outputs) << render(outputs.error());
  for (const Bits& bits : *outputs) {
    uint32_t value = 0;
    std::memcpy(&value, bits[0].data(), 4);
    EXPECT_EQ(value, 20u * (1024 * 1023 / 2));
  }
}

// Members in another rank are at another meeting.
TEST(JointRuns, RanksThatLoseEachOtherSaySo) {
  constexpr std::string_view kText = R"(HloModule m, replica_count=2
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
here {
  x = f32[] parameter(0)
  ROOT y = f32[] all-reduce(x), replica_groups={{0,1}}, to_apply=sum
}
there {
  x = f32[] parameter(0)
  ROOT y = f32[] collective-permute(x), source_target_pairs={{0,1},{1,0}}
}
ENTRY main {
  id = u32[] replica-id()
  branch = s32[] convert(id)
  x = f32[] constant(1)
  ROOT y = f32[] conditional(branch, x, x), branch_computations={here, there}
})";
  test::ThreadRanks::run(2, [&](Ranks& ranks) {
    const auto outputs = run_on({2, 1}, ranks, kText);
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error().message, testing::HasSubstr("of devices {0,1}"));
  });
}

TEST(Shares, CoverEverythingOnce) {
  for (int64_t count = 0; count < 20; ++count)
    for (int parts = 1; parts < 8; ++parts) {
      int64_t next = 0;
      for (int i = 0; i < parts; ++i) {
        const Share share = share_of(count, parts, i);
        EXPECT_EQ(share.begin, next);
        for (int64_t k = share.begin; k < share.end; ++k) EXPECT_EQ(part_of(count, parts, k), i);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
}

}  // namespace
}  // namespace hlosim
