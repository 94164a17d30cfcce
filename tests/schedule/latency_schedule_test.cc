// The latency-hiding scheduler: what ends up between starts and dones, and what never changes.
#include "schedule/latency_schedule.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "array/arguments.h"
#include "dist/ranks.h"
#include "evaluate/devices/joint.h"
#include "exec/program.h"
#include "memory/occupancy.h"
#include "modules/edit.h"
#include "schedule/schedule_memory.h"
#include "schedule/split_collectives.h"
#include "support/module_files.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

LatencyScheduleOptions as_xla() {
  LatencyScheduleOptions options;
  options.use_real_cost_model = false;
  options.keep_faster = false;
  return options;
}

Module scheduled(std::string_view text, const LatencyScheduleOptions& options, const char* device = "v5e") {
  const Module module = test::module_or_fail(text);
  Result<LatencySchedule> result = tune_schedule(module, op_table(), test::device_or_fail(device), options);
  EXPECT_TRUE(result) << (result ? "" : render(result.error())) << text;
  return result ? std::move(result->module) : Module();
}

/// Names of what stands between a start and its done in the entry.
std::vector<std::string> covered(const Module& module, std::string_view start, std::string_view done,
                                 Opcode opcode = Opcode::kFusion) {
  std::vector<std::string> names;
  bool inside = false;
  for (const InstructionId id : module.entry_computation().instructions) {
    const Instruction& instruction = module[id];
    if (instruction.name == done) return names;
    if (inside && instruction.opcode == opcode) names.emplace_back(instruction.name);
    inside |= instruction.name == start;
  }
  ADD_FAILURE() << done << " is missing";
  return names;
}

/// One asynchronous all-reduce and independent fusions; the order of the text is up to the caller.
std::string chain(int loop_fusions, int output_fusions, bool fusions_first) {
  std::string fusions, results;
  for (int i = 0; i < loop_fusions + output_fusions; ++i) {
    fusions += fmt::format("  work{} = f32[256,256] fusion(x), kind={}, calls=fused.{}\n", i,
                           i < loop_fusions ? "kLoop" : "kOutput", i < loop_fusions ? "loop" : "output");
    results += fmt::format(", work{}", i);
  }
  const std::string pair =
      "  start = f32[256,256] all-reduce-start(x), replica_groups={}, to_apply=sum\n"
      "  done = f32[256,256] all-reduce-done(start)\n";
  std::string tuple = "f32[256,256]";
  for (int i = 0; i < loop_fusions + output_fusions; ++i) tuple += ", f32[256,256]";
  return fmt::format(R"(HloModule m, is_scheduled=true, replica_count=4
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
fused.loop {{
  p = f32[256,256] parameter(0)
  ROOT n = f32[256,256] negate(p)
}}
fused.output {{
  p = f32[256,256] parameter(0)
  ROOT d = f32[256,256] dot(p, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
ENTRY main {{
  x = f32[256,256] parameter(0)
{}{}  ROOT r = ({}) tuple(done{})
}}
)",
                     fusions_first ? fusions : pair, fusions_first ? pair : fusions, tuple, results);
}

TEST(LatencySchedule, FiveLoopFusionsCoverOneLatency) {
  for (const int fusions : {5, 6, 9, 20})
    for (const bool first : {false, true}) {
      const Module module = scheduled(chain(fusions, 0, first), as_xla());
      EXPECT_EQ(covered(module, "start", "done").size(), 5u) << fusions << first;
    }
  EXPECT_EQ(covered(scheduled(chain(3, 0, true), as_xla()), "start", "done").size(), 3u);
}

// A synchronous all-reduce behind a pair: what the schedule reports is what the simulation has.
TEST(LatencySchedule, ExposedIsThatOfTheSimulation) {
  std::string text = chain(2, 0, true);
  const std::string done = "  done = f32[256,256] all-reduce-done(start)\n";
  text.replace(text.find(done), done.size(),
               "  alone = f32[256,256] all-reduce(x), replica_groups={}, to_apply=sum\n" + done);
  const Module module = test::module_or_fail(text);
  const Device device = test::device_or_fail("v5e");
  const auto result = tune_schedule(module, op_table(), device, as_xla());
  ASSERT_TRUE(result) << render(result.error());
  const auto before = simulate(module, op_table(), device),
             after = simulate(result->module, op_table(), device);
  ASSERT_TRUE(before && after);
  EXPECT_GT(before->totals.synchronous, Picoseconds(0));
  EXPECT_EQ(result->exposed_before, before->totals.exposed());
  EXPECT_EQ(result->exposed_after, after->totals.exposed());
}

TEST(LatencySchedule, OneOutputFusionCoversOneLatency) {
  for (const int fusions : {1, 2, 7})
    for (const bool first : {false, true}) {
      const Module module = scheduled(chain(0, fusions, first), as_xla());
      EXPECT_EQ(covered(module, "start", "done").size(), 1u) << fusions << first;
    }
}

TEST(LatencySchedule, AggressivePoliciesTakeWhatWastesLeast) {
  LatencyScheduleOptions options = as_xla();
  ASSERT_TRUE(set_schedule_knob(options, "aggressive_scheduling_policies", "true"));
  for (const bool first : {false, true})
    EXPECT_THAT(covered(scheduled(chain(8, 1, first), options), "start", "done"),
                testing::ElementsAre("work8"));
}

TEST(LatencySchedule, StatedLatenciesWin) {
  std::string text = chain(9, 0, true);
  const std::string_view at = "to_apply=sum";
  text.replace(text.find(at), at.size(), "to_apply=sum, frontend_attributes={latency_metadata=\"2000\"}");
  EXPECT_EQ(covered(scheduled(text, as_xla()), "start", "done").size(), 2u);
}

/// Of the entry, of one opcode or of all.
std::vector<std::string> order_of(const Module& module, std::optional<Opcode> opcode = {}) {
  std::vector<std::string> names;
  for (const InstructionId id : module.entry_computation().instructions)
    if (!opcode || module[id].opcode == *opcode) names.emplace_back(module[id].name);
  return names;
}

TEST(LatencySchedule, TopDownLeavesTheRestBehindTheDone) {
  LatencyScheduleOptions options = as_xla();
  const auto behind = [](const Module& module) {
    const std::vector<std::string> names = order_of(module);
    return std::count_if(std::find(names.begin(), names.end(), "done"), names.end(),
                         [](const std::string& name) { return name.substr(0, 4) == "work"; });
  };
  for (const bool first : {false, true}) {
    ASSERT_TRUE(set_schedule_knob(options, "top_down", "false"));
    EXPECT_EQ(behind(scheduled(chain(9, 0, first), options)), 0) << first;
    ASSERT_TRUE(set_schedule_knob(options, "top_down", "true"));
    const Module module = scheduled(chain(9, 0, first), options);
    EXPECT_EQ(covered(module, "start", "done").size(), 5u) << first;
    EXPECT_EQ(behind(module), 4) << first;
    EXPECT_EQ(covered(scheduled(chain(0, 3, first), options), "start", "done").size(), 1u) << first;
  }
}

TEST(LatencySchedule, SharedCopiesTakeLonger) {
  std::string work, results;
  for (int i = 0; i < 20; ++i) {
    work += fmt::format("  work{} = f32[256,256] fusion(x), kind=kLoop, calls=fused\n", i);
    results += fmt::format(", work{}", i);
  }
  std::string tuple = "f32[256,256], f32[256,256]";
  for (int i = 0; i < 20; ++i) tuple += ", f32[256,256]";
  const std::string text = fmt::format(R"(HloModule m, is_scheduled=true
fused {{
  p = f32[256,256] parameter(0)
  ROOT n = f32[256,256] negate(p)
}}
ENTRY main {{
  x = f32[256,256] parameter(0)
  start.0 = (f32[256,256], f32[256,256], u32[]) copy-start(x)
  start.1 = (f32[256,256], f32[256,256], u32[]) copy-start(x)
  done.0 = f32[256,256] copy-done(start.0)
  done.1 = f32[256,256] copy-done(start.1)
{}  ROOT r = ({}) tuple(done.0, done.1{})
}}
)",
                                       work, tuple, results);
  for (const bool top_down : {false, true}) {
    LatencyScheduleOptions options = as_xla();
    options.top_down_scheduling = top_down;
    // One after the other: 5 each.
    ASSERT_TRUE(set_schedule_knob(options, "resource_sharing", "true"));
    EXPECT_EQ(covered(scheduled(text, options), "start.0", "done.0").size(), 5u);
    EXPECT_EQ(covered(scheduled(text, options), "start.1", "done.1").size(), 5u);
    // Both at once: 5 if they don't disturb each other, else 10.
    ASSERT_TRUE(set_schedule_knob(options, "copy_overlap_limit", "2"));
    EXPECT_EQ(covered(scheduled(text, options), "start.0", "done.0").size(), 10u);
    EXPECT_EQ(covered(scheduled(text, options), "start.1", "done.1").size(), 10u);
    ASSERT_TRUE(set_schedule_knob(options, "resource_sharing", "false"));
    EXPECT_EQ(covered(scheduled(text, options), "start.0", "done.0").size(), 5u);
    EXPECT_EQ(covered(scheduled(text, options), "start.1", "done.1").size(), 5u);
  }
}

/// Everything that can be split, between independent products that can hide it.
constexpr std::string_view kAllKinds = R"(HloModule m, replica_count=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[512,512] parameter(0)
  y = f32[512,512] parameter(1)
  reduced = f32[512,512] all-reduce(x), replica_groups={}, to_apply=sum, metadata={op_name="here"}
  gathered = f32[2048,512] all-gather(x), replica_groups={}, dimensions={0}
  both = (f32[2048,512], f32[2048,512]) all-gather(x, y), replica_groups={}, dimensions={0}
  permuted = f32[512,512] collective-permute(x), source_target_pairs={{0,1},{1,0}}
  scattered.3 = f32[128,512] reduce-scatter(x), replica_groups={}, dimensions={0}, to_apply=sum, metadata={op_name="there"}
  exchanged = f32[512,512] all-to-all(x), replica_groups={}, dimensions={0}
  several = (f32[512,512], f32[512,512]) all-reduce(x, y), replica_groups={}, to_apply=sum
  told = f32[512,512] collective-broadcast(x), replica_groups={{0,1,2,3}}, control-predecessors={exchanged}
  d1 = f32[512,512] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  d2 = f32[512,512] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[512,512], f32[2048,512], (f32[2048,512], f32[2048,512]), f32[512,512], f32[128,512], f32[512,512], (f32[512,512], f32[512,512]), f32[512,512], f32[512,512], f32[512,512]) tuple(reduced, gathered, both, permuted, scattered.3, exchanged, several, told, d1, d2)
}
)";

TEST(SplitCollectives, WritesTheFormsOfXla) {
  const Result<Module> split = split_collectives(test::module_or_fail(kAllKinds), op_table());
  ASSERT_TRUE(split) << render(split.error());
  const std::string text = to_text(*split, op_table());
  for (const char* expected :
       {"= f32[512,512]{1,0} all-reduce-start(%x), replica_groups={}, to_apply=%sum, "
        "metadata={op_name=\"here\"}",
        "= f32[512,512]{1,0} all-reduce-done(%reduced-start",
        "= (f32[512,512]{1,0}, f32[2048,512]{1,0}) all-gather-start(%x), replica_groups={}, dimensions={0}",
        "= ((f32[512,512]{1,0}, f32[512,512]{1,0}), (f32[2048,512]{1,0}, f32[2048,512]{1,0})) "
        "all-gather-start(%x, %y)",
        "= (f32[512,512]{1,0}, f32[512,512]{1,0}) collective-permute-start(%x), "
        "source_target_pairs={{0,1},{1,0}}",
        "= ((f32[512,512]{1,0}), f32[128,512]{1,0}) reduce-scatter-start(%x), replica_groups={}, "
        "dimensions={0}, "
        "to_apply=%sum, metadata={op_name=\"there\"}",
        "= f32[128,512]{1,0} reduce-scatter-done(%scattered-start",
        "= ((f32[512,512]{1,0}), f32[512,512]{1,0}) all-to-all-start(%x), replica_groups={}, dimensions={0}",
        "= (f32[512,512]{1,0}, f32[512,512]{1,0}) all-reduce-start(%x, %y)",
        "collective-broadcast-start(%x), replica_groups={{0,1,2,3}}, control-predecessors={%exchanged-done"})
    EXPECT_THAT(text, testing::HasSubstr(expected));
  for (const char* gone : {" all-reduce(", " all-gather(", " collective-permute(", " reduce-scatter(",
                           " all-to-all(", " collective-broadcast("})
    EXPECT_THAT(text, testing::Not(testing::HasSubstr(gone)));
}

// ── random modules on four devices ──

using Bits = std::vector<std::vector<std::byte>>;

std::vector<Bits> run_on(const DeviceGrid& grid, Module& module) {
  MemoryPool pool;
  DiagnosticList problems;
  ProgramOptions options;
  options.grid = grid;
  const auto program = Program::make(module, op_table(), pool, options, problems);
  EXPECT_TRUE(program) << test::rendered(problems);
  if (!program) return {};
  LockstepRun run(grid, lone_rank());
  std::vector<DeviceState> devices;
  std::vector<std::vector<Array>> inputs;
  for (int64_t id = 0; id < grid.devices(); ++id) {
    DeviceState& device = devices.emplace_back(pool);
    device.id = id;
    device.replica_id = id / grid.partitions;
    device.partition_id = id % grid.partitions;
    auto& arguments = inputs.emplace_back();
    for (const ShapeRef leaf : program->parameters())
      arguments.push_back(random_array(leaf, static_cast<uint64_t>(id), arguments.size(), pool));
  }
  const auto outputs = program->run_jointly(run, devices, std::move(inputs));
  EXPECT_TRUE(outputs) << (outputs ? "" : render(outputs.error()));
  std::vector<Bits> all;
  if (outputs)
    for (const std::vector<Array>& leaves : *outputs) {
      Bits& bits = all.emplace_back();
      for (const Array& leaf : leaves) bits.emplace_back(leaf.bytes(), leaf.bytes() + data_bytes(leaf.shape));
    }
  return all;
}

/// Collectives, fusions, products and updates in place over f32[64,128], in the entry and in a loop.
class RandomModule {
 public:
  explicit RandomModule(uint64_t seed) : random_(seed) {}

  std::string text() {
    const std::string body = steps({"x", "y"}, 6), entry = steps({"u", "v"}, 14);
    return fmt::format(R"(HloModule random, replica_count=4{}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
fused {{
  p = f32[64,128] parameter(0)
  q = f32[64,128] parameter(1)
  m = f32[64,128] multiply(p, q)
  ROOT t = f32[64,128] tanh(m)
}}
condition {{
  state = (s32[], f32[64,128], f32[64,128]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(3)
  ROOT go = pred[] compare(i, limit), direction=LT
}}
body {{
  state = (s32[], f32[64,128], f32[64,128]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[64,128] get-tuple-element(state), index=1
  y = f32[64,128] get-tuple-element(state), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
{}  ROOT out = (s32[], f32[64,128], f32[64,128]) tuple(next, last, other)
}}
ENTRY main {{
  x0 = f32[64,128] parameter(0)
  y0 = f32[64,128] parameter(1)
  zero = s32[] constant(0)
  init = (s32[], f32[64,128], f32[64,128]) tuple(zero, x0, y0)
  loop = (s32[], f32[64,128], f32[64,128]) while(init), condition=condition, body=body
  u = f32[64,128] get-tuple-element(loop), index=1
  v = f32[64,128] get-tuple-element(loop), index=2
{}  ROOT out = (f32[64,128], f32[64,128], f32[64,128]) tuple(last, other, x0)
}}
)",
                       random_() % 2 ? ", is_scheduled=true" : "", body, entry);
  }

 private:
  std::string any(const std::vector<std::string>& names) { return names[random_() % names.size()]; }

  std::string steps(std::vector<std::string> values, int count) {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& expression) {
      text += fmt::format("  {} = {}\n", name, expression);
    };
    for (int i = 0; i < count; ++i) {
      const std::string x = any(values), y = any(values), v = fmt::format("v{}", ++names_);
      switch (random_() % 9) {
        case 0:
          add(v, fmt::format("f32[64,128] all-reduce({}), replica_groups={{}}, to_apply=sum", x));
          break;
        case 1:
          add(v + ".g", fmt::format("f32[256,128] all-gather({}), replica_groups={{}}, dimensions={{0}}", x));
          add(v, fmt::format("f32[64,128] slice({}.g), slice={{[{}:{}], [0:128]}}", v, 64, 128));
          break;
        case 2:
          add(v + ".p", fmt::format("f32[16,128] reduce-scatter({}), replica_groups={{}}, dimensions={{0}}, "
                                    "to_apply=sum",
                                    x));
          add(v, fmt::format("f32[64,128] all-gather({}.p), replica_groups={{}}, dimensions={{0}}", v));
          break;
        case 3:
          add(v, fmt::format("f32[64,128] all-to-all({}), replica_groups={{}}, dimensions={{0}}", x));
          break;
        case 4:
          add(v,
              fmt::format("f32[64,128] collective-permute({}), source_target_pairs={{{{0,1}},{{1,2}},{{2,3}},"
                          "{{3,0}}}}",
                          x));
          break;
        case 5:
          add(v + ".z", "s32[] constant(0)");
          add(v + ".s", fmt::format("f32[8,128] slice({}), slice={{[8:16], [0:128]}}", y));
          add(v, fmt::format("f32[64,128] dynamic-update-slice({0}, {1}.s, {1}.z, {1}.z)", x, v));
          break;
        case 6:
          add(v + ".d",
              fmt::format("f32[64,64] dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}", x,
                          y));
          add(v + ".t", fmt::format("f32[64,64] tanh({}.d)", v));
          add(v,
              fmt::format("f32[64,128] dot({}.t, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                          v, y));
          break;
        default:
          add(v, fmt::format("f32[64,128] fusion({}, {}), kind=kLoop, calls=fused", x, y));
      }
      values.push_back(v);
      if (values.size() > 4)
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(random_() % values.size()));
    }
    add("last", fmt::format("f32[64,128] fusion({}, {}), kind=kLoop, calls=fused", values[0], values[1]));
    add("other",
        fmt::format("f32[64,128] fusion({}, {}), kind=kLoop, calls=fused", any(values), values.back()));
    return text;
  }

  std::mt19937_64 random_;
  int64_t names_ = 0;
};

/// Most transfers of each kind in flight at a time in one computation.
std::map<AsyncKind, int64_t> most_in_flight(const Module& module) {
  std::map<AsyncKind, int64_t> most, now;
  for (const FlowComputation& flow : flow_computations(module, op_table())) {
    now.clear();
    for (const InstructionId id : module[flow.id].instructions) {
      const OpDef& def = op_table()[module[id].opcode];
      if (def.has(kAsyncStart)) {
        const AsyncKind kind = async_kind(module, op_table(), module[id]);
        most[kind] = std::max(most[kind], ++now[kind]);
      }
      if (def.has(kAsyncDone)) --now[async_kind(module, op_table(), module[module[id].operands[0]])];
    }
  }
  return most;
}

Bytes peak_of_hbm(Module& module, const Device& device) {
  const Simulation simulation = test::simulate_or_fail(module, device);
  for (const SpaceOccupancy& space :
       memory_occupancy(module, device.config, simulation.schedule.order).spaces)
    if (space.number == 0) return space.peak;
  return Bytes(0);
}

TEST(LatencySchedule, RandomModulesComputeTheSameAndNeverTakeLonger) {
  const Device device = test::device_or_fail("v5e");
  size_t faster = 0, loops = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::string text = RandomModule(seed).text();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    Module module = test::module_or_fail(text);
    const Result<LatencySchedule> result = tune_schedule(module, op_table(), device);
    ASSERT_TRUE(result) << render(result.error());
    EXPECT_TRUE(result->module.is_scheduled());
    EXPECT_LE(result->time_after, result->time_before);
    EXPECT_EQ(result->kept_input, result->time_after == result->time_before);
    faster += result->time_after < result->time_before;
    Module before = test::module_or_fail(text),
           after = test::module_or_fail(to_text(result->module, op_table()));
    EXPECT_EQ(test::simulate_or_fail(before, device).totals.makespan, result->time_before);
    EXPECT_EQ(test::simulate_or_fail(after, device).totals.makespan, result->time_after);
    for (const SchedulePeak& peak : result->peaks)
      EXPECT_LE(peak.after, std::max(peak.before, peak.limit.value_or(peak.before)));
    for (const ScheduledTransfer& transfer : result->transfers) loops += transfer.executions == 3;
    if (seed % 3 == 0) {
      EXPECT_EQ(run_on({4, 1}, before), run_on({4, 1}, after));
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(faster, 80u);
  EXPECT_GT(loops, 50u);
}

TEST(LatencySchedule, OverlapLimitsAreHeld) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const std::string text = RandomModule(seed).text();
    for (const char* limit : {"1", "2"})
      for (const bool real : {false, true}) {
        LatencyScheduleOptions options = as_xla();
        options.use_real_cost_model = real;
        options.top_down_scheduling = seed % 2 == 1;
        for (const char* knob :
             {"all_reduce_overlap_limit", "all_gather_overlap_limit", "all_to_all_overlap_limit",
              "collective_permute_overlap_limit", "reduce_scatter_overlap_limit"})
          ASSERT_TRUE(set_schedule_knob(options, knob, limit));
        Module module = scheduled(text, options);
        for (const auto& [kind, most] : most_in_flight(module))
          EXPECT_LE(most, limit[0] - '0') << to_text(kind) << " seed " << seed;
        if (seed % 10 > 1) continue;
        Module before = test::module_or_fail(text);
        EXPECT_EQ(run_on({4, 1}, before), run_on({4, 1}, module)) << text;
      }
  }
}

TEST(OrderPressure, IsTheSameFromBothEnds) {
  const Device device = test::device_or_fail("v5e");
  size_t compared = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Module module = test::module_or_fail(RandomModule(seed).text());
    const InstructionOrder order = make_schedule(module, op_table()).order;
    const ModuleMemory of_module(module);
    const auto memory =
        ScheduleMemory::find(of_module, op_table(), memory_occupancy(of_module, device.config, order));
    ASSERT_TRUE(memory);
    const std::vector<InstructionId>& list = order[module.entry];
    ForwardPressure forward(*memory, module.entry, list);
    BackwardPressure backward(*memory, module.entry);
    std::vector<SpaceBytes> during, between;
    for (const InstructionId id : list) {
      during.push_back(forward.effect(id).during);
      between.push_back(forward.effect(id).beyond);
      forward.place(id);
      EXPECT_EQ(forward.now().bytes, between.back().bytes) << seed;
    }
    for (size_t i = list.size(); i-- > 0;) {
      EXPECT_EQ(backward.now().bytes, between[i].bytes) << seed << " behind " << module[list[i]].name;
      EXPECT_EQ(backward.effect(list[i]).during.bytes, during[i].bytes)
          << seed << " " << module[list[i]].name;
      backward.place(list[i]);
      compared += during[i][0] > 0;
    }
  }
  EXPECT_GT(compared, 300u);
}

TEST(LatencySchedule, LessMemoryWhereTheLimitAsksForIt) {
  const Device device = test::device_or_fail("v5e");
  for (const bool top_down : {false, true}) {
    size_t less = 0, more = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      const std::string text = RandomModule(seed).text();
      LatencyScheduleOptions options = as_xla();
      options.top_down_scheduling = top_down;
      Module free = scheduled(text, options);
      const Bytes without = peak_of_hbm(free, device);
      options.memory_limit = without.count() * 6 / 10;
      options.rerun = 3;
      Module bounded = scheduled(text, options);
      const Bytes with = peak_of_hbm(bounded, device);
      less += with < without;
      more += with > without;
    }
    EXPECT_GT(less, 20u) << top_down;
    // The first steps of a list decide without a view of its end.
    EXPECT_LE(more, top_down ? 4u : 1u) << top_down;
  }
}

// Between the memory of the order that is there and that of the fastest: as much of the new one as fits.
TEST(LatencySchedule, TakesAnOrderInPartWhereMemoryIsShort) {
  const Device device = test::device_or_fail("v5e");
  size_t orders = 0, parts = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const Module module = test::module_or_fail(RandomModule(seed).text());
    LatencyScheduleOptions options;
    Result<LatencySchedule> free = tune_schedule(module, op_table(), device, options);
    ASSERT_TRUE(free);
    const Bytes needed = peak_of_hbm(free->module, device);
    options.memory_limit = needed.count() - 1;
    options.rerun = 0;
    Result<LatencySchedule> bounded = tune_schedule(module, op_table(), device, options);
    ASSERT_TRUE(bounded);
    if (free->kept_input || free->peaks.empty() || free->peaks[0].before >= needed) continue;
    ++orders;
    EXPECT_LT(peak_of_hbm(bounded->module, device), needed) << seed;
    EXPECT_LE(bounded->time_after, bounded->time_before) << seed;
    parts += !bounded->kept_input;
  }
  EXPECT_GT(orders, 10u);
  EXPECT_GT(parts, orders * 3 / 4);
}

// A buffer that is updated in place is read before, in whatever order else.
TEST(LatencySchedule, ReadersOfABufferStayBeforeItsUpdate) {
  const Module module = scheduled(R"(HloModule m, is_scheduled=true, replica_count=4
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[512,512] parameter(0)
  zero = s32[] constant(0)
  buffer = f32[512,512] tanh(x)
  reader = f32[512,512] negate(buffer)
  part = f32[8,512] slice(x), slice={[0:8], [0:512]}
  update = f32[512,512] dynamic-update-slice(buffer, part, zero, zero)
  start = f32[512,512] all-reduce-start(update), replica_groups={}, to_apply=sum
  done = f32[512,512] all-reduce-done(start)
  ROOT r = (f32[512,512], f32[512,512]) tuple(done, reader)
}
)",
                                  as_xla());
  std::vector<std::string> order;
  for (const InstructionId id : module.entry_computation().instructions) order.emplace_back(module[id].name);
  const auto at = [&](const char* name) {
    return std::find(order.begin(), order.end(), name) - order.begin();
  };
  EXPECT_LT(at("reader"), at("update")) << to_text(module, op_table());
}

TEST(LatencySchedule, EveryScheduledModuleStaysAsFast) {
  const Device device = test::device_or_fail("v5e");
  size_t tried = 0;
  for (const std::filesystem::path& file : test::right_modules()) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source) continue;
    DiagnosticList problems;
    for (Module& module : read_modules(*source, op_table(), problems)) {
      if (!verify(module, op_table(), problems)) continue;
      const bool overlaps = std::any_of(
          module.instructions.begin(), module.instructions.end(),
          [](const auto& i) { return op_table()[i.opcode].has(kAsyncStart) || async_form(i.opcode); });
      if (!overlaps) continue;
      const Result<LatencySchedule> result = tune_schedule(module, op_table(), device);
      if (!result) continue;  // collectives that contradict each other
      EXPECT_LE(result->time_after, result->time_before) << file;
      ++tried;
    }
  }
  EXPECT_GT(tried, 20u);
}

TEST(LatencySchedule, UnknownKnobsAreErrors) {
  LatencyScheduleOptions options;
  EXPECT_EQ(set_schedule_knob(options, "all_reduce_overlap_limt", "2").error().hint,
            "did you mean \"all_reduce_overlap_limit\"?");
  EXPECT_THAT(set_schedule_knob(options, "resource_serializing", "true").error().message,
              testing::HasSubstr("isn't modelled"));
  EXPECT_FALSE(set_schedule_knob(options, "all_reduce_overlap_limit", "0"));
  EXPECT_FALSE(set_schedule_knob(options, "rerun", "often"));
  EXPECT_FALSE(set_schedule_knob(options, "use_real_cost_model", "yes"));
  for (const KnobDoc& knob : schedule_knobs(options))
    if (knob.value != "HBM") {
      EXPECT_TRUE(set_schedule_knob(options, knob.name, knob.value)) << knob.name;
    }
}

}  // namespace
}  // namespace hlosim
