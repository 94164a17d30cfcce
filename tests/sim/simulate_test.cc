// Closed forms on the unit device: one byte of HBM a nanosecond, one vreg a nanosecond, one nanosecond for
// every latency, start and overhead.
#include "sim/simulate.h"

#include <gtest/gtest.h>

#include "support/simulations.h"

namespace hlosim {
namespace {

constexpr int64_t kTile = 4096;  // bytes of f32[8,128]

struct Outcome {
  Module module;
  Simulation result;

  Picoseconds makespan() const { return result.totals.makespan; }
  const InstructionRecord& operator[](std::string_view name) const {
    return test::record_of(result, module, name);
  }
};

Outcome run(std::string text, const SimulateOptions& options = {},
            const std::vector<DeviceOverride>& overrides = {}) {
  for (const auto& [word, shape] :
       {std::pair("TILE", "f32[8,128]{1,0:T(8,128)}"), std::pair("VTIL", "f32[8,128]{1,0:T(8,128)S(1)}")})
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.replace(at, 4, shape);
  Outcome outcome{test::module_or_fail(text), {}};
  outcome.result = test::simulate_or_fail(outcome.module, test::device_or_fail("unit", overrides), options);
  return outcome;
}

Picoseconds nanoseconds(int64_t count) { return Picoseconds(count * 1000); }

/// HBM to HBM: in and out, both latencies, the start.
constexpr int64_t kNegate = 2 * kTile + 3;

TEST(Simulate, OneAfterTheOther) {
  const Outcome two =
      run("HloModule m, is_scheduled=true\nENTRY e {\n  p = TILE parameter(0)\n  a = TILE negate(p)\n  ROOT "
          "b = TILE "
          "negate(a)\n}\n");
  EXPECT_EQ(two.makespan(), nanoseconds(2 * kNegate));
  EXPECT_EQ(two["b"].start, nanoseconds(kNegate));
  EXPECT_EQ(two.result.totals.cycles, Cycles(2 * kNegate));
  EXPECT_EQ(two.result.totals.bound_by, memory_unit(0));
  EXPECT_EQ(two.result.totals.lower_bound, nanoseconds(4 * kTile));
  ASSERT_EQ(two.result.timeline.spans().size(), 2u);
}

constexpr const char* kPrefetch = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = TILE parameter(0)
  q = VTIL parameter(1)
  s = (VTIL, TILE, u32[]{:S(2)}) copy-start(p)
  FILL
  d = VTIL copy-done(s)
  ROOT r = VTIL negate(d)
}
)";

std::string prefetch(const std::string& between) {
  std::string text = kPrefetch;
  return text.replace(text.find("  FILL\n"), 7, between);
}

TEST(Simulate, ADoneWaitsForTheRestOfItsCopy) {
  // The start takes a nanosecond, the copy one of latency and 4,096 of bytes.
  const Outcome alone = run(prefetch(""));
  const TransferRecord& copy = alone.result.transfers.at(0);
  EXPECT_EQ(copy.start, nanoseconds(1));
  EXPECT_EQ(copy.begin, nanoseconds(2));
  EXPECT_EQ(copy.end, nanoseconds(2 + kTile));
  EXPECT_EQ(copy.exposed, nanoseconds(1 + kTile));
  EXPECT_EQ(copy.hidden, nanoseconds(0));
  EXPECT_EQ(copy.bytes, Bytes(kTile));
  EXPECT_EQ(copy.from_space, 0);
  EXPECT_EQ(copy.to_space, 1);
  EXPECT_EQ(alone["d"].bound_by, Unit::kWait);
  EXPECT_EQ(alone["d"].waited_for, 0);
  // VMEM: 4,096 in and 4,096 out at the same time.
  EXPECT_EQ(alone.makespan(), nanoseconds(2 + kTile + 1 + kTile));
  EXPECT_EQ(alone.result.totals.idle, nanoseconds(1 + kTile));
  // Half hidden by something that needs no HBM; 4,097 of VMEM each.
  const Outcome half = run(prefetch("  x = VTIL negate(q)\n"));
  EXPECT_EQ(half.result.transfers.at(0).exposed, nanoseconds(0));
  EXPECT_EQ(half.result.transfers.at(0).done, nanoseconds(1 + 1 + kTile));
  EXPECT_EQ(half.result.transfers.at(0).hidden, nanoseconds(1 + kTile));
  // By something that wants HBM as well: 8,192 bytes of it and 4,096 of the copy, half each at first.
  const Outcome shared = run(prefetch("  x = TILE negate(p)\n"));
  EXPECT_EQ(shared["x"].time, nanoseconds(3 + 3 * kTile - 2));  // the copy had the latencies for itself
  EXPECT_EQ(shared.result.transfers.at(0).exposed, nanoseconds(0));
  EXPECT_EQ(shared["x"].bound_by, memory_unit(0));
}

// What queues for the links stands still for those that hold them, which are told that time, once.
TEST(Simulate, QueuesOfSynchronousCollectivesBelongToWhatIsAhead) {
  const std::string sum =
      "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\n";
  const Outcome outcome = run(
      "HloModule m, is_scheduled=true, replica_count=4\n" + sum +
          "ENTRY e {\n  p = TILE parameter(0)\n  q = TILE parameter(1)\n"
          "  s = (TILE, f32[32,128]{1,0:T(8,128)}) all-gather-start(p), replica_groups={}, dimensions={0}\n"
          "  r = TILE all-reduce(q), replica_groups={}, to_apply=add\n"
          "  d = f32[32,128]{1,0:T(8,128)} all-gather-done(s)\n"
          "  ROOT t = (f32[32,128]{1,0:T(8,128)}, TILE) tuple(d, r)\n}\n",
      {});
  ASSERT_EQ(outcome.result.transfers.size(), 2u);
  const TransferRecord& ahead = outcome.result.transfers[0];
  const TransferRecord& queued = outcome.result.transfers[1];
  ASSERT_GT(queued.queued, Picoseconds(0));
  EXPECT_EQ(queued.exposed, queued.end - queued.begin);
  EXPECT_EQ(queued.hidden, Picoseconds(0));
  EXPECT_EQ(queued.queued + queued.exposed, queued.duration);
  EXPECT_EQ(ahead.exposed, queued.queued);
  const Totals& totals = outcome.result.totals;
  EXPECT_EQ(ahead.exposed + queued.exposed, totals.exposed());
  EXPECT_EQ(totals.all_exposed_collectives(), totals.exposed());
  EXPECT_EQ(totals.synchronous, queued.exposed);
}

// A slice that comes on its own is a copy of its bytes; latencies of several overlap.
TEST(Simulate, AsynchronousSlicesAreCopies) {
  const auto text = [](int starts, bool slices) {
    std::string out = "HloModule m, is_scheduled=true\n";
    if (slices)
      out +=
          "take {\n  a = f32[64,128]{1,0:T(8,128)} parameter(0)\n  i = s32[] parameter(1)\n"
          "  ROOT b = VTIL dynamic-slice(a, i, i), dynamic_slice_sizes={8,128}\n}\n";
    out +=
        "ENTRY e {\n  p = f32[64,128]{1,0:T(8,128)} parameter(0)\n  t = TILE parameter(1)\n  i = s32[] "
        "parameter(2)\n";
    for (int k = 0; k < starts; ++k)
      out += slices ? fmt::format(
                          "  move.{} = ((f32[64,128]{{1,0:T(8,128)}}, s32[]), VTIL, u32[]{{:S(2)}}) "
                          "async-start(p, i), calls=take\n",
                          k)
                    : fmt::format("  move.{} = (VTIL, TILE, u32[]{{:S(2)}}) copy-start(t)\n", k);
    std::string dones;
    for (int k = 0; k < starts; ++k) {
      out += fmt::format("  d{0} = VTIL {1}-done(move.{0})\n", k, slices ? "async" : "copy");
      dones += fmt::format("{}d{}", k ? ", " : "", k);
    }
    std::string shapes = "VTIL";
    for (int k = 1; k < starts; ++k) shapes += ", VTIL";
    out += fmt::format("  ROOT r = ({}) tuple({})\n}}\n", shapes, dones);
    return out;
  };
  for (const int starts : {1, 2, 3}) {
    const std::vector<DeviceOverride> slow = {{"dma.read_latency", "100 ns"}};
    EXPECT_EQ(run(text(starts, true), {}, slow).makespan(), run(text(starts, false), {}, slow).makespan())
        << starts;
  }
}

TEST(Simulate, WhatSharesHbmForLongerIsBoundByIt) {
  // 9,000 or 20,000 ns of ALU for 8,192 bytes of HBM, and 4,096 of the copy.
  std::string text = prefetch("  x = TILE negate(p)\n");
  const Outcome alone = run(text, {}, {{"vpu.ops.simple.alu", "20000"}});
  EXPECT_EQ(alone["x"].bound_by, Unit::kVpu);
  const Outcome together = run(text, {}, {{"vpu.ops.simple.alu", "9000"}});
  EXPECT_EQ(together.result.cost(together["x"]).bound_by, Unit::kVpu);
  EXPECT_EQ(together["x"].bound_by, memory_unit(0));
}

TEST(Simulate, ACrossProgramPrefetchMayBeDoneBefore) {
  std::string text = prefetch("");
  text.replace(text.find("copy-start(p)"), 13, "copy-start(p), cross_program_prefetch_index=0");
  SimulateOptions options;
  options.cross_program_prefetch_is_done = true;
  EXPECT_EQ(run(text, options).makespan(), nanoseconds(1 + 1 + kTile));
  EXPECT_EQ(run(text, options).result.totals.traffic[0].total(), Bytes(0));
  EXPECT_EQ(run(text).result.totals.traffic[0].total(), Bytes(kTile));
}

TEST(Simulate, OnlySoManyCopiesAreInFlight) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = TILE parameter(0)
  s = (VTIL, TILE, u32[]{:S(2)}) copy-start(p)
  t = (VTIL, TILE, u32[]{:S(2)}) copy-start(p)
  d = VTIL copy-done(s)
  f = VTIL copy-done(t)
  ROOT r = VTIL add(d, f)
}
)";
  const Outcome one = run(text, {}, {{"dma.outstanding", "1"}}),
                two = run(text, {}, {{"dma.outstanding", "2"}});
  EXPECT_EQ(one["t"].exposed, nanoseconds(kTile + 1));
  EXPECT_EQ(two["t"].exposed, nanoseconds(0));
  EXPECT_EQ(two.result.transfers.at(1).begin, two.result.transfers.at(0).end);
  EXPECT_GT(one.makespan(), two.makespan());
}

std::string loop(const std::string& config) {
  return R"(HloModule m, is_scheduled=true
body {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = TILE get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = TILE negate(x)
  ROOT r = (s32[], TILE) tuple(j, y)
}
condition {
  s = (s32[], TILE) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] custom-call(), custom_call_target="limit"
  ROOT c = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = TILE parameter(0)
  z = s32[] constant(0)
  t = (s32[], TILE) tuple(z, p)
  l = (s32[], TILE) while(t), condition=condition, body=body)" +
         config + R"(
  ROOT r = TILE get-tuple-element(l), index=1
}
)";
}

TEST(Simulate, LoopsAreMultiplied) {
  const Outcome five = run(loop(R"(, backend_config={"known_trip_count":{"n":"5"}})"));
  // Body: an addition of scalars (1 + 1) and the negation; condition: the limit (1), the comparison (1 + 1);
  // the jump (1). The loop itself begins with its own overhead.
  const int64_t iteration = 2 + kNegate + 3 + 1;
  EXPECT_EQ(five.makespan(), nanoseconds(1 + 5 * iteration));
  ASSERT_EQ(five.result.loops.size(), 1u);
  EXPECT_EQ(five.result.loops[0].trip_count, 5);
  EXPECT_TRUE(five.result.loops[0].known);
  EXPECT_EQ(five.result.loops[0].iteration, nanoseconds(iteration));
  EXPECT_EQ(five["y"].executions, 5);
  EXPECT_EQ(five["y"].time, nanoseconds(5 * kNegate));
  EXPECT_EQ(five["y"].start, nanoseconds(1 + 3 + 2));
  EXPECT_EQ(five["l"].time, five.makespan());
  EXPECT_EQ(five["l"].self_time, nanoseconds(1 + 5));
  EXPECT_EQ(five.result.totals.traffic[0].total(), Bytes(5 * 2 * kTile));
}

TEST(Simulate, LoopsThatDoNotTellRunAsOftenAsAsked) {
  const Outcome once = run(loop(""));
  EXPECT_FALSE(once.result.loops.at(0).known);
  EXPECT_EQ(once["y"].executions, 1);
  SimulateOptions options;
  options.unknown_trip_count = 7;
  EXPECT_EQ(run(loop(""), options)["y"].executions, 7);
  bool said = false;
  for (const Assumption& assumption : once.result.assumptions.items())
    said |= assumption.text == "the trip count of a while loop is unknown: assumed 1";
  EXPECT_TRUE(said);
}

TEST(Simulate, LoopsThatCountTellHowOftenTheyRun) {
  std::string text = loop("");
  const std::string limit = "custom-call(), custom_call_target=\"limit\"";
  text.replace(text.find(limit), limit.size(), "constant(6)");
  EXPECT_EQ(run(text)["y"].executions, 6);
}

TEST(Simulate, TheLongestBranchIsTaken) {
  const Outcome branches = run(R"(HloModule m, is_scheduled=true
left {
  q = TILE parameter(0)
  ROOT a = TILE negate(q)
}
right {
  q = TILE parameter(0)
  b = TILE negate(q)
  ROOT c = TILE negate(b)
}
ENTRY e {
  p = TILE parameter(0)
  s = pred[] parameter(1)
  ROOT r = TILE conditional(s, p, p), true_computation=left, false_computation=right
}
)");
  EXPECT_EQ(branches.makespan(), nanoseconds(1 + 2 * kNegate));
  EXPECT_EQ(branches["a"].executions, 0);
  EXPECT_EQ(branches["a"].time, nanoseconds(0));
  EXPECT_EQ(branches["c"].executions, 1);
  EXPECT_EQ(branches["c"].start, nanoseconds(1 + kNegate));
}

TEST(Simulate, CallsFromSeveralPlacesAddUp) {
  const Outcome calls = run(R"(HloModule m, is_scheduled=true
inner {
  q = TILE parameter(0)
  ROOT a = TILE negate(q)
}
outer {
  q = TILE parameter(0)
  x = TILE call(q), to_apply=inner
  ROOT y = TILE call(x), to_apply=inner
}
ENTRY e {
  p = TILE parameter(0)
  x = TILE call(p), to_apply=outer
  ROOT y = TILE call(x), to_apply=outer
}
)");
  EXPECT_EQ(calls.makespan(), nanoseconds(4 * kNegate));
  EXPECT_EQ(calls["a"].executions, 4);
  EXPECT_EQ(calls["a"].start, nanoseconds(0));
  EXPECT_EQ(calls["a"].time, nanoseconds(4 * kNegate));
  EXPECT_EQ(calls.result.timeline.makespan(), calls.makespan());
}

std::string gather(const std::string& between) {
  return R"(HloModule m, is_scheduled=true, replica_count=4
ENTRY e {
  p = TILE parameter(0)
  q = VTIL parameter(1)
  s = (TILE, f32[32,128]{1,0:T(8,128)}) all-gather-start(p), replica_groups={}, dimensions={0}
)" + between +
         R"(
  ROOT d = f32[32,128]{1,0:T(8,128)} all-gather-done(s)
}
)";
}

TEST(Simulate, CollectivesOverlap) {
  // 2x2 mesh of links of a byte a nanosecond: the parts of 4 · 4,096 bytes over two lines of 2 in rotation
  // take 3/4 · 16,384 / 2; launch 1, start 1. 20,480 bytes of HBM take longer, 1 until the first byte comes
  // from there and 1 until the last has arrived.
  const int64_t local = 5 * kTile + 2;
  const Outcome alone = run(gather(""));
  ASSERT_EQ(alone.result.transfers.size(), 1u);
  const TransferRecord& transfer = alone.result.transfers[0];
  EXPECT_EQ(transfer.collective->network, nanoseconds(3 * kTile / 2 + 2));
  EXPECT_EQ(transfer.exposed, nanoseconds(1 + local));
  EXPECT_EQ(alone.makespan(), nanoseconds(1 + 1 + local));
  EXPECT_EQ(alone.result.totals.sent, Bytes(3 * kTile));
  const Outcome hidden = run(gather("  x = VTIL negate(q)\n"));
  EXPECT_EQ(hidden.result.transfers[0].exposed, nanoseconds(1 + local - (1 + kTile)));
  EXPECT_EQ(hidden.makespan(), alone.makespan());
}

TEST(Simulate, ACollectiveAloneTakesAsLongInTwoParts) {
  const std::string text = gather("");
  const Outcome parts = run(text);
  const Outcome whole =
      run(text.substr(0, text.find("  s = ")) +
          "  ROOT d = f32[32,128]{1,0:T(8,128)} all-gather(p), replica_groups={}, dimensions={0}\n}\n");
  EXPECT_LE(std::abs((parts.makespan() - whole.makespan()).count()), nanoseconds(2).count());
}

TEST(Simulate, UnscheduledModulesRespectTheirDependencies) {
  Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n  p = f32[8] parameter(0)\n  b = f32[8] negate(p)\n  a = f32[8] negate(p), "
      "control-predecessors={b}\n  c = f32[8] add(a, b)\n  ROOT d = f32[8] negate(c)\n}\n");
  const auto names = [&] {
    std::string all;
    const Schedule schedule = make_schedule(module, op_table());
    for (const InstructionId id : schedule.order[module.entry]) all += std::string(module[id].name) + " ";
    return all;
  };
  EXPECT_EQ(names(), "p b a c d ");
  EXPECT_FALSE(make_schedule(module, op_table()).given);
  // As a program might leave them.
  std::vector<InstructionId>& order = module.computations[module.entry].instructions;
  std::reverse(order.begin(), order.end());
  EXPECT_EQ(names(), "p b a c d ");
  std::rotate(order.begin(), order.begin() + 2, order.end());  // a b p d c
  EXPECT_EQ(names(), "p b a c d ");
}

TEST(Simulate, HugeTripCountsSaturate) {
  const Outcome forever = run(loop(R"(, backend_config={"known_trip_count":{"n":"9000000000000000000"}})"));
  EXPECT_EQ(forever.makespan(), kForever);
}

}  // namespace
}  // namespace hlosim
