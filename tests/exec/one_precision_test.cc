// Arrays of several precisions in one instruction: the same bits as with the conversions written out.
#include "exec/one_precision.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "array/arguments.h"
#include "evaluate/devices/joint.h"
#include "exec/program.h"
#include "ops/op_table.h"
#include "support/modules.h"
#include "support/thread_ranks.h"

namespace hlosim {
namespace {

struct Case {
  std::string_view operation;              // {0}, {1}: operands
  std::string_view first, second, result;  // dimensions; no second: one operand
  bool is_update = false;                  // the result has the first operand's type
};

constexpr Case kCases[] = {
    {"add({0}, {1})", "4,3", "4,3", "4,3"},
    {"divide({0}, {1})", "4,3", "4,3", "4,3"},
    {"maximum({0}, {1})", "4,3", "4,3", "4,3"},
    {"negate({0})", "5", "", "5"},
    {"exponential({0})", "5", "", "5"},
    {"clamp({0}, {1}, {0})", "6", "6", "6"},
    {"select(chosen, {0}, {1})", "6", "6", "6"},
    {"pad({0}, {1}), padding=1_3x0_2_1", "4,3", "", "8,7", false},
    {"concatenate({0}, {1}), dimensions={{1}}", "4,3", "4,2", "4,5"},
    {"dynamic-update-slice({0}, {1}, one)", "8", "3", "8", true},
    {"dynamic-slice({0}, one), dynamic_slice_sizes={{3}}", "8", "", "3"},
    {"gather({0}, rows), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
     "index_vector_dim=1, slice_sizes={{1,4}}",
     "5,4", "", "2,4"},
    {"scatter({0}, rows, {1}), update_window_dims={{1}}, inserted_window_dims={{0}}, "
     "scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=sum",
     "5,4", "2,4", "5,4"},
    {"sort({0}), dimensions={{0}}, to_apply=less", "7", "", "7"},
    {"all-reduce({0}), replica_groups={{{{0,1}}}}, to_apply=sum", "4", "", "4"},
    {"all-gather({0}), replica_groups={{{{0,1}}}}, dimensions={{0}}", "4", "", "8"},
    {"reduce-scatter({0}), replica_groups={{{{0,1}}}}, dimensions={{0}}, to_apply=sum", "4", "", "2"},
    {"all-to-all({0}), replica_groups={{{{0,1}}}}, dimensions={{0}}", "4", "", "4"},
    {"collective-permute({0}), source_target_pairs={{{{0,1}},{{1,0}}}}", "4", "", "4"},
};

std::string module_text(std::string_view body) {
  return fmt::format(R"(HloModule m, replica_count=2
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}}
less {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}}
ENTRY main {{
  one = s32[] constant(1)
  rows = s32[2,1] constant({{ {{3}}, {{0}} }})
  chosen = pred[6] constant({{true, false, true, true, false, false}})
{})",
                     body) +
         "}\n";
}

/// The outputs of both devices, or what is wrong.
std::string run(const std::string& text) {
  Module module = test::module_or_fail(text);
  MemoryPool pool;
  DiagnosticList problems;
  ProgramOptions options;
  const DeviceGrid grid{2, 1};
  options.grid = grid;
  const auto program = Program::make(module, op_table(), pool, options, problems);
  if (!program) return render(problems.items().at(0));
  std::string bytes;
  test::ThreadRanks::run(1, [&](Ranks& ranks) {
    LockstepRun run(grid, ranks);
    std::vector<DeviceState> devices(2, DeviceState(pool));
    std::vector<std::vector<Array>> inputs(2);
    for (size_t id = 0; id < 2; ++id) {
      devices[id].id = devices[id].replica_id = static_cast<int64_t>(id);
      for (const ShapeRef leaf : program->parameters())
        inputs[id].push_back(random_array(leaf, id, inputs[id].size(), pool));
    }
    const auto outputs = program->run_jointly(run, devices, std::move(inputs));
    if (!outputs) return void(bytes = render(outputs.error()));
    for (const std::vector<Array>& leaves : *outputs)
      for (const Array& leaf : leaves)
        bytes.append(reinterpret_cast<const char*>(leaf.bytes()),
                     static_cast<size_t>(data_bytes(leaf.shape)));
  });
  return bytes;
}

void expect_as_written_out(const Case& one, std::string_view a, std::string_view b, std::string_view r) {
  const bool is_pad = one.operation.starts_with("pad");
  const std::string parameters =
      fmt::format("  x = {}[{}] parameter(0)\n", a, one.first) +
      (one.second.empty() && !is_pad ? "" : fmt::format("  y = {}[{}] parameter(1)\n", b, one.second));
  const std::string mixed = module_text(parameters + fmt::format("  ROOT out = {}[{}] ", r, one.result) +
                                        fmt::format(fmt::runtime(one.operation), "x", "y") + "\n");
  const std::string written = module_text(
      parameters + fmt::format("  x.wide = f32[{}] convert(x)\n", one.first) +
      (one.second.empty() && !is_pad ? "" : fmt::format("  y.wide = f32[{}] convert(y)\n", one.second)) +
      fmt::format("  wide = f32[{}] ", one.result) +
      fmt::format(fmt::runtime(one.operation), "x.wide", "y.wide") +
      fmt::format("\n  ROOT out = {}[{}] convert(wide)\n", r, one.result));
  const std::string result = run(mixed);
  EXPECT_THAT(result, testing::Not(testing::HasSubstr("error"))) << mixed;
  EXPECT_EQ(result, run(written)) << mixed;
}

TEST(OnePrecision, IsWhatConversionsWrittenOutGive) {
  constexpr std::string_view kFloats[] = {"f32", "bf16", "f16"};
  // Of f16 and bf16, XLA takes the first for the higher precision, as kernels of such operands do.
  const auto is_one_of_two = [](std::string_view a, std::string_view b) {
    return a != b && a != "f32" && b != "f32";
  };
  for (const Case& one : kCases)
    for (const std::string_view a : kFloats)
      for (const std::string_view b : kFloats)
        for (const std::string_view r : kFloats)
          if ((a != b || a != r) && !(one.is_update && r != a) && !is_one_of_two(a, b))
            expect_as_written_out(one, a, b, r);
}

// The types of a custom call are part of what it is.
TEST(OnePrecision, CustomCallsStayAsTheyAre) {
  EXPECT_THAT(run(module_text(R"(  x = bf16[4] parameter(0)
  ROOT out = f32[4] custom-call(x), custom_call_target="Sharding"
)")),
              testing::HasSubstr("Sharding of (bf16[4]) gives f32[4]"));
}

TEST(OnePrecision, DoublesStayDoubles) {
  EXPECT_EQ(run(module_text(R"(  a = f64[1] constant({1})
  b = f32[1] constant({1e-12})
  ROOT out = f64[1] add(a, b)
)")),
            run(module_text(R"(  a = f64[1] constant({1})
  b = f32[1] constant({1e-12})
  b.wide = f64[1] convert(b)
  ROOT out = f64[1] add(a, b.wide)
)")));
}

}  // namespace
}  // namespace hlosim
