#include "model/instruction_cost.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/core.h"
#include "model/cost_details.h"
#include "model/custom_call_costs.h"
#include "ops/work.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Cost of the entry's root on the unit device, in which one byte of HBM, one row of the MXU, one vreg take 1
/// ns.
InstructionCost root_cost(const std::string& text, const CostOptions& options = {},
                          AssumptionList* assumptions = nullptr) {
  Module module = test::module_or_fail("HloModule m\n" + text);
  AssumptionList sink;
  const auto costs = cost_instructions(module, op_table(), test::device_or_fail("unit"), options,
                                       assumptions ? *assumptions : sink);
  EXPECT_TRUE(costs);
  return (*costs)[module.entry_computation().root];
}

std::string entry(const std::string& body) { return "ENTRY e {\n" + body + "\n}\n"; }

Picoseconds nanoseconds(int64_t count) { return Picoseconds(count * 1000); }

constexpr int64_t kTile = 8 * 128 * 4;

TEST(InstructionCost, ElementwiseIsBytesAndRegisters) {
  const InstructionCost cost = root_cost(
      entry("  p = f32[16,256]{1,0:T(8,128)} parameter(0)\n  ROOT r = f32[16,256]{1,0:T(8,128)} add(p, p)"));
  EXPECT_EQ(cost.traffic[0].read, Bytes(2 * 4 * kTile));
  EXPECT_EQ(cost.traffic[0].written, Bytes(4 * kTile));
  EXPECT_EQ(cost.busy[index_of(memory_unit(0))], nanoseconds(12 * kTile));
  EXPECT_EQ(cost.busy[index_of(Unit::kVpu)], nanoseconds(4));  // vregs
  EXPECT_EQ(cost.bound_by, memory_unit(0));
  EXPECT_EQ(cost.fixed, nanoseconds(3));  // one in, one out, the instruction's own
  EXPECT_EQ(cost.vector_operations, 16 * 256);
  EXPECT_EQ(cost.category, CostCategory::kVector);
}

TEST(InstructionCost, PaddingIsMovedAndShown) {
  const InstructionCost cost = root_cost(
      entry("  p = f32[9,129]{1,0:T(8,128)} parameter(0)\n  ROOT r = f32[9,129]{1,0:T(8,128)} negate(p)"));
  EXPECT_EQ(cost.traffic[0].read, Bytes(4 * kTile));
  EXPECT_EQ(cost.logical_bytes, Bytes(2 * 9 * 129 * 4));
  EXPECT_EQ(cost.padded_bytes, Bytes(8 * kTile));
  EXPECT_EQ(cost.vector_operations, 9 * 129);
  EXPECT_EQ(cost.busy[index_of(Unit::kVpu)], nanoseconds(4));
}

TEST(InstructionCost, ScalarsAreTheScalarUnits) {
  const InstructionCost cost =
      root_cost(entry("  p = f32[]{:T(128)} parameter(0)\n  ROOT r = f32[]{:T(128)} add(p, p)"));
  EXPECT_EQ(cost.padded_bytes, Bytes(0));
  EXPECT_EQ(cost.busy[index_of(Unit::kScalar)], nanoseconds(1));
  EXPECT_EQ(cost.busy[index_of(Unit::kVpu)], nanoseconds(0));
}

TEST(InstructionCost, OtherMemorySpaces) {
  const InstructionCost cost = root_cost(
      entry("  p = f32[8,128]{1,0:T(8,128)S(1)} parameter(0)\n  q = f32[8,128]{1,0:T(8,128)} parameter(1)\n"
            "  ROOT r = f32[8,128]{1,0:T(8,128)S(1)} add(p, q)"));
  EXPECT_EQ(cost.traffic[0], (Traffic{Bytes(kTile), Bytes(0)}));
  EXPECT_EQ(cost.traffic[1], (Traffic{Bytes(kTile), Bytes(kTile)}));
  AssumptionList assumptions;
  const InstructionCost unknown = root_cost(
      entry("  p = f32[8,128]{1,0:T(8,128)S(9)} parameter(0)\n  ROOT r = f32[8,128]{1,0:T(8,128)} negate(p)"),
      {}, &assumptions);
  EXPECT_EQ(unknown.traffic[kUnknownSpace].read, Bytes(kTile));
  ASSERT_EQ(assumptions.items().size(), 1u);
  EXPECT_EQ(assumptions.items()[0].text,
            "memory space S(9) is not in the device file: its traffic takes no time");
}

std::string fusion(const std::string& body, const std::string& entry_body, const std::string& before = "") {
  return before + "f {\n" + body + "\n}\n" + entry(entry_body);
}

TEST(FusionCost, WhatIsInsideMovesNoBytes) {
  const InstructionCost cost = root_cost(
      fusion("  a = f32[8,128]{1,0:T(8,128)} parameter(0)\n  b = f32[8,128]{1,0:T(8,128)} exponential(a)\n"
             "  c = f32[8,128]{1,0:T(8,128)} add(a, b)\n  ROOT d = f32[8,128]{1,0:T(8,128)} multiply(c, b)",
             "  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
             "  ROOT r = f32[8,128]{1,0:T(8,128)} fusion(p), kind=kLoop, calls=f"));
  EXPECT_EQ(cost.traffic[0], (Traffic{Bytes(kTile), Bytes(kTile)}));
  EXPECT_EQ(cost.busy[index_of(Unit::kVpu)], nanoseconds(3));
  EXPECT_EQ(cost.busy[index_of(Unit::kEup)], nanoseconds(1));
  EXPECT_EQ(cost.transcendentals, 1024);
  EXPECT_EQ(cost.vector_operations, 3 * 1024);
}

TEST(FusionCost, OnlyTheSlicedPartIsRead) {
  const InstructionCost cost =
      root_cost(fusion("  a = f32[64,128]{1,0:T(8,128)} parameter(0)\n"
                       "  b = f32[8,128]{1,0:T(8,128)} slice(a), slice={[8:16], [0:128]}\n"
                       "  c = f32[8,128]{1,0:T(8,128)} slice(a), slice={[16:24], [0:128]}\n"
                       "  ROOT d = f32[8,128]{1,0:T(8,128)} add(b, c)",
                       "  p = f32[64,128]{1,0:T(8,128)} parameter(0)\n"
                       "  ROOT r = f32[8,128]{1,0:T(8,128)} fusion(p), kind=kLoop, calls=f"));
  EXPECT_EQ(cost.traffic[0].read, Bytes(2 * kTile));
  // Never more than all of it.
  const InstructionCost whole = root_cost(fusion(
      "  a = f32[8,128]{1,0:T(8,128)} parameter(0)\n  b = f32[8,128]{1,0:T(8,128)} negate(a)\n"
      "  c = f32[1,128]{1,0:T(8,128)} slice(a), slice={[0:1], [0:128]}\n"
      "  ROOT d = (f32[8,128]{1,0:T(8,128)}, f32[1,128]{1,0:T(8,128)}) tuple(b, c)",
      "  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
      "  ROOT r = (f32[8,128]{1,0:T(8,128)}, f32[1,128]{1,0:T(8,128)}) fusion(p), kind=kLoop, calls=f"));
  EXPECT_EQ(whole.traffic[0].read, Bytes(kTile));
  EXPECT_EQ(whole.traffic[0].written, Bytes(2 * kTile));
}

/// Rows times a layer's experts out of a stack, in a fusion; `more` stands in its body.
std::string experts_of_a_layer(int64_t rows, const std::string& more = "") {
  const std::string x = fmt::format("bf16[{},512]{{1,0:T(8,128)}}", rows);
  const std::string stack = "bf16[4,64,512,512]{3,2,1,0:T(8,128)}";
  return fusion(
      "  a = " + x + " parameter(0)\n  b = " + stack +
          " parameter(1)\n  c = s32[64]{0:T(128)} parameter(2)\n  i = s32[] parameter(3)\n  z = s32[] "
          "constant(0)\n"
          "  d = bf16[1,64,512,512]{3,2,1,0:T(8,128)} dynamic-slice(b, i, z, z, z), "
          "dynamic_slice_sizes={1,64,512,512}\n"
          "  e = bf16[64,512,512]{2,1,0:T(8,128)} reshape(d)\n" +
          more + "  ROOT y = " + x +
          " ragged-dot(a, e, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
          "rhs_group_dims={0}",
      "  p = " + x + " parameter(0)\n  q = " + stack +
          " parameter(1)\n  s = s32[64]{0:T(128)} parameter(2)\n  j = s32[] parameter(3)\n  ROOT r = " + x +
          " fusion(p, q, s, j), kind=kOutput, calls=f");
}

/// The same of an array of one layer.
std::string experts_alone(int64_t rows) {
  const std::string x = fmt::format("bf16[{},512]{{1,0:T(8,128)}}", rows);
  return entry(
      "  p = " + x +
      " parameter(0)\n  q = bf16[64,512,512]{2,1,0:T(8,128)} parameter(1)\n  s = s32[64]{0:T(128)} "
      "parameter(2)\n  ROOT r = " +
      x +
      " ragged-dot(p, q, s), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
      "rhs_group_dims={0}");
}

// Weights of experts without rows are not read, whether they are an array or a layer's part of one.
TEST(FusionCost, ExpertsWithoutRowsAreNotReadOutOfTheStack) {
  constexpr int64_t kSlice = 64 * 512 * 512 * 2;
  for (const int64_t rows : {8, 64, 4096}) {
    const int64_t alone = root_cost(experts_alone(rows)).traffic[0].read.count();
    const int64_t of_stack = root_cost(experts_of_a_layer(rows)).traffic[0].read.count();
    EXPECT_GE(of_stack, alone) << rows;
    EXPECT_LE(of_stack, alone + 1024) << rows;  // the layer's number
    const bool is_small = rows < 64, reads_all = alone >= kSlice;
    EXPECT_EQ(reads_all, rows == 4096) << rows;
    EXPECT_EQ(alone < kSlice / 4, is_small) << rows;
  }
}

TEST(FusionCost, ASliceWithAnotherReaderIsReadAsAWhole) {
  const std::string more = "  g = bf16[64,512,512]{2,1,0:T(8,128)} negate(e)\n";
  EXPECT_GE(root_cost(experts_of_a_layer(8, more)).traffic[0].read, Bytes(64 * 512 * 512 * 2));
}

TEST(FusionCost, UpdatesInPlaceWriteTheUpdate) {
  const char* body =
      "  a = f32[64,128]{1,0:T(8,128)} parameter(0)\n  u = f32[8,128]{1,0:T(8,128)} parameter(1)\n"
      "  i = s32[] parameter(2)\n  z = s32[] constant(0)\n  n = f32[8,128]{1,0:T(8,128)} negate(u)\n"
      "  b = f32[64,128]{1,0:T(8,128)} bitcast(a)\n"
      "  ROOT d = f32[64,128]{1,0:T(8,128)} dynamic-update-slice(b, n, i, z)";
  const char* call =
      "  p = f32[64,128]{1,0:T(8,128)} parameter(0)\n  q = f32[8,128]{1,0:T(8,128)} parameter(1)\n"
      "  i = s32[] parameter(2)\n  ROOT r = f32[64,128]{1,0:T(8,128)} fusion(p, q, i), kind=kLoop, calls=f";
  const InstructionCost cost = root_cost(fusion(body, call));
  EXPECT_EQ(cost.traffic[0], (Traffic{Bytes(kTile), Bytes(kTile)}));
  // Of something the fusion computed itself, everything is written.
  std::string computed = body;
  computed.replace(computed.find("bitcast(a)"), 10, "negate(a)");
  EXPECT_EQ(root_cost(fusion(computed, call)).traffic[0], (Traffic{Bytes(9 * kTile), Bytes(8 * kTile)}));
  // One after the other in the same memory.
  std::string twice = body;
  twice.replace(twice.find("ROOT d"), 6, "c");
  twice += "\n  ROOT d = f32[64,128]{1,0:T(8,128)} dynamic-update-slice(c, u, z, z)";
  EXPECT_EQ(root_cost(fusion(twice, call)).traffic[0], (Traffic{Bytes(kTile), Bytes(2 * kTile)}));
}

// A scatter reads and writes what it updates, and the rest stays as it is.
TEST(FusionCost, ScattersChangeTheirOperandInPlace) {
  const char* body =
      "  a = f32[64,128]{1,0:T(8,128)} parameter(0)\n  u = f32[8,128]{1,0:T(8,128)} parameter(1)\n"
      "  i = s32[8,128]{1,0:T(8,128)} parameter(2)\n  n = f32[8,128]{1,0:T(8,128)} negate(u)\n"
      "  m = s32[8,128]{1,0:T(8,128)} negate(i)\n"
      "  ROOT d = f32[64,128]{1,0:T(8,128)} scatter(a, m, n), update_window_dims={}, "
      "inserted_window_dims={0,1}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=keep";
  const char* call =
      "  p = f32[64,128]{1,0:T(8,128)} parameter(0)\n  q = f32[8,128]{1,0:T(8,128)} parameter(1)\n"
      "  i = s32[8,128]{1,0:T(8,128)} parameter(2)\n  ROOT r = f32[64,128]{1,0:T(8,128)} fusion(p, q, i), "
      "kind=kInput, calls=f";
  const std::string module =
      "keep {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}\n" + fusion(body, call);
  // The update, the indices and what is there; what is there afterwards.
  EXPECT_EQ(root_cost(module).traffic[0], (Traffic{Bytes(3 * kTile), Bytes(kTile)}));
}

TEST(FusionCost, NestedFusionsTuplesAndConstants) {
  const InstructionCost cost =
      root_cost(fusion("  a = (f32[8,128]{1,0:T(8,128)}, f32[64,128]{1,0:T(8,128)}) parameter(0)\n"
                       "  b = f32[64,128]{1,0:T(8,128)} get-tuple-element(a), index=1\n"
                       "  k = f32[1,128]{1,0:T(8,128)} constant({...})\n"
                       "  x = f32[8,128]{1,0:T(8,128)} fusion(b), kind=kLoop, calls=inner\n"
                       "  ROOT d = f32[8,128]{1,0:T(8,128)} negate(x)",
                       "  p = (f32[8,128]{1,0:T(8,128)}, f32[64,128]{1,0:T(8,128)}) parameter(0)\n"
                       "  ROOT r = f32[8,128]{1,0:T(8,128)} fusion(p), kind=kLoop, calls=f",
                       "inner {\n  a = f32[64,128]{1,0:T(8,128)} parameter(0)\n"
                       "  ROOT b = f32[8,128]{1,0:T(8,128)} slice(a), slice={[8:16], [0:128]}\n}\n"));
  EXPECT_EQ(cost.traffic[0], (Traffic{Bytes(2 * kTile), Bytes(kTile)}));  // a slice and the constant
}

TEST(FusionCost, TheMatrixUnitWorksWhileTheRestRidesAlong) {
  const InstructionCost cost = root_cost(fusion(
      "  a = f32[256,128]{1,0:T(8,128)S(1)} parameter(0)\n  b = f32[128,128]{1,0:T(8,128)S(1)} parameter(1)\n"
      "  c = f32[256,128]{1,0:T(8,128)} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  ROOT d = f32[256,128]{1,0:T(8,128)S(1)} tanh(c)",
      "  p = f32[256,128]{1,0:T(8,128)S(1)} parameter(0)\n  q = f32[128,128]{1,0:T(8,128)S(1)} parameter(1)\n"
      "  ROOT r = f32[256,128]{1,0:T(8,128)S(1)} fusion(p, q), kind=kOutput, calls=f"));
  EXPECT_EQ(cost.busy[index_of(Unit::kMxu)], nanoseconds(256 + 128 + 1));  // rows, loading weights, latency
  EXPECT_EQ(cost.busy[index_of(Unit::kEup)], nanoseconds(32));
  EXPECT_EQ(cost.flops, Flops(2 * 256 * 128 * 128));
  EXPECT_EQ(cost.category, CostCategory::kMatmul);
  EXPECT_EQ(cost.fixed, nanoseconds(1));  // nothing in HBM, no latency
}

TEST(FusionCost, WhatIsComputedOnTheChipComesInAgainFromThere) {
  // Blocks of both operands come in several times: of the left one what lies in HBM of what it is made of.
  const auto read = [](std::string_view first, std::string_view second) {
    const std::string text = fmt::format(R"(
scaled {{
  a = f32[4096,4096]{{1,0:T(8,128){0}}} parameter(0)
  b = f32[4096,4096]{{1,0:T(8,128){1}}} parameter(1)
  ROOT product = f32[4096,4096]{{1,0:T(8,128)}} multiply(a, b)
}}
whole {{
  a = f32[4096,4096]{{1,0:T(8,128){0}}} parameter(0)
  b = f32[4096,4096]{{1,0:T(8,128){1}}} parameter(1)
  w = f32[4096,4096]{{1,0:T(8,128)}} parameter(2)
  lhs = f32[4096,4096]{{1,0:T(8,128)}} fusion(a, b), kind=kLoop, calls=scaled
  ROOT dot = f32[4096,4096]{{1,0:T(8,128)}} dot(lhs, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
ENTRY e {{
  a = f32[4096,4096]{{1,0:T(8,128){0}}} parameter(0)
  b = f32[4096,4096]{{1,0:T(8,128){1}}} parameter(1)
  w = f32[4096,4096]{{1,0:T(8,128)}} parameter(2)
  ROOT r = f32[4096,4096]{{1,0:T(8,128)}} fusion(a, b, w), kind=kOutput, calls=whole
}}
)",
                                         first, second);
    Module module = test::module_or_fail("HloModule m\n" + text);
    Device device = test::device_or_fail("v5e");
    device.config.vmem.scoped_limit = Bytes(8 << 20);
    const auto details = cost_details(module, op_table(), device, {}, module.entry_computation().root);
    EXPECT_TRUE(details && details->kernel);
    const Kernel& kernel = details->kernel->kernel;
    EXPECT_GT(kernel.lhs_times, 1);
    const int64_t array = int64_t{4096} * 4096 * 4,
                  again = static_cast<int64_t>(array * (kernel.rhs_times - 1));
    return static_cast<double>(details->cost.traffic[0].read.count() - array - again) /
               static_cast<double>(array) -
           (kernel.lhs_times - 1);
  };
  // Beside w: both, one and none of them, and as often again as blocks of the left operand do.
  EXPECT_DOUBLE_EQ(read("", ""), 2);
  EXPECT_DOUBLE_EQ(read("S(1)", ""), 1);
  EXPECT_LT(read("S(1)", "S(1)"), 0);
}

TEST(CustomCallCost, WhatTheUserKnows) {
  DiagnosticList problems;
  const CustomCallCosts costs = read_custom_call_costs(
      test::source_of("mine: {time: 12.5 us}\n\"$other\": {flops: 32768e3, read: 3 KiB}\n"), problems);
  ASSERT_FALSE(problems.has_errors()) << test::rendered(problems);
  CostOptions options;
  options.custom_calls = &costs;
  const auto call = [](const std::string& target) {
    return entry(
        "  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n"
        "  ROOT r = f32[8,128]{1,0:T(8,128)} custom-call(p), custom_call_target=\"" +
        target + "\"");
  };
  const InstructionCost mine = root_cost(call("mine"), options);
  EXPECT_EQ(mine.bound_by, Unit::kCustom);
  EXPECT_EQ(mine.stream, nanoseconds(12'500));
  EXPECT_EQ(mine.traffic[0], (Traffic{Bytes(kTile), Bytes(kTile)}));
  const InstructionCost other = root_cost(call("$other"), options);
  EXPECT_EQ(other.busy[index_of(Unit::kMxu)], nanoseconds(1000));  // 2 · 128 · 128 a nanosecond
  EXPECT_EQ(other.traffic[0], (Traffic{Bytes(3072), Bytes(kTile)}));
  AssumptionList assumptions;
  EXPECT_EQ(root_cost(call("unknown"), options, &assumptions).provenance, Provenance::kDefault);
  EXPECT_EQ(assumptions.items().size(), 1u);
}

// Two kernels of one target, as Pallas has them; a name, a kernel, where it comes from, all of these
// together.
TEST(CustomCallCost, CallsAreFoundByNameKernelTargetAndOrigin) {
  DiagnosticList problems;
  const CustomCallCosts costs = read_custom_call_costs(
      test::source_of("first: {name: 'flash\\.[12]', time: 1 us}\n"
                      "by kernel: {kernel: flash, time: 2 us}\n"
                      "triton: {kernel: matmul_kernel, target: .*triton, time: 3 us}\n"
                      "backward: {target: tpu_custom_call, op_name: 'transpose\\(jvp', time: 4 us}\n"
                      "given: {kernel: named, time: 5 us}\n"
                      "tpu_custom_call: {time: 6 us}\n"
                      "flash: {time: 7 us}\n"),
      problems);
  ASSERT_FALSE(problems.has_errors()) << test::rendered(problems);
  CostOptions options;
  options.custom_calls = &costs;
  const auto microseconds = [&](const std::string& name, const std::string& attributes) {
    AssumptionList assumptions;
    const InstructionCost cost =
        root_cost(entry("  p = f32[8,128]{1,0:T(8,128)} parameter(0)\n  ROOT " + name +
                        " = f32[8,128]{1,0:T(8,128)} custom-call(p), " + attributes),
                  options, &assumptions);
    EXPECT_EQ(cost.provenance, Provenance::kOverride);
    // That it is the user's figure is said first; that the bytes take longer may be said behind it.
    EXPECT_GE(assumptions.items().size(), 1u);
    EXPECT_NE(assumptions.items()[0].text.find("custom-call costs are given by"), std::string::npos);
    return cost.busy[index_of(Unit::kCustom)].count() / 1'000'000;
  };
  const std::string tpu = "custom_call_target=\"tpu_custom_call\"";
  EXPECT_EQ(microseconds("flash.1", tpu), 1);
  EXPECT_EQ(microseconds("flash.13", tpu), 2);
  EXPECT_EQ(microseconds("flash.clone.3.remat", tpu), 2);
  EXPECT_EQ(microseconds("x",
                         "custom_call_target=\"__gpu$xla.gpu.triton\", "
                         "backend_config=\"{grid_x = 1 : i32, name = \\\"matmul_kernel\\\"}\""),
            3);
  EXPECT_EQ(microseconds("x.2", tpu + ", metadata={op_name=\"jit(f)/transpose(jvp)/x\"}"), 4);
  EXPECT_EQ(
      microseconds("x.2", tpu + ", backend_config={\"custom_call_config\":{\"kernel_name\":\"named\"}}"), 5);
  EXPECT_EQ(microseconds("x.2", tpu), 6);
  EXPECT_EQ(microseconds("x.3", "custom_call_target=\"flash\""), 7);
}

TEST(CustomCallCost, EntriesThatNobodyAsksForAreWarnings) {
  DiagnosticList problems;
  const CustomCallCosts costs = read_custom_call_costs(
      test::source_of(
          "mine: {time: 1 us}\nmime: {time: 1 us}\nlate: {kernel: r, target: mine, time: 2 us}\n"),
      problems);
  UnusedCustomCallCosts unused(costs);
  unused.add(
      test::module_or_fail(entry("  p = f32[8] parameter(0)\n"
                                 "  ROOT r = f32[8] custom-call(p), custom_call_target=\"mine\"")));
  const std::vector<Diagnostic> warnings = unused.warnings();
  ASSERT_EQ(warnings.size(), 2u);  // the second misspelt, the third never comes to pass
  EXPECT_EQ(warnings[0].severity, Severity::kWarning);
  EXPECT_EQ(warnings[0].message, "no custom call is costed by \"mime\"");
  EXPECT_EQ(warnings[0].hint, "did you mean \"mine\"?");
  EXPECT_EQ(warnings[1].source->locate(warnings[1].offset).line, 3);
}

TEST(CustomCallCost, BrokenFilesAreRefused) {
  const auto problems_of = [](std::string_view text) {
    DiagnosticList problems;
    read_custom_call_costs(std::make_shared<const SourceFile>("costs.yaml", std::string(text)), problems);
    std::string all;
    for (const Diagnostic& problem : problems.items())
      all += render(problem).substr(0, render(problem).find('\n')) + "\n";
    return all;
  };
  EXPECT_EQ(problems_of(""), "");
  EXPECT_EQ(problems_of("- a\n"),
            "costs.yaml:1:1: error: expected custom-call targets with their costs, found a list\n");
  EXPECT_EQ(
      problems_of("a: 3 us\n"),
      "costs.yaml:1:4: error: the cost of \"a\" is \"3 us\", expected a time or work, as in {time: 12 us} or "
      "{flops: 4.2e9, read: 3 MiB}\n");
  EXPECT_EQ(problems_of("a: {tim: 3 us}\n"),
            "costs.yaml:1:5: error: unknown key \"tim\" of a custom call's cost\n");
  EXPECT_EQ(problems_of("a: {time: 3 us, flops: 7}\n"),
            "costs.yaml:1:1: error: \"a\" has both a time and work, expected one of them\n");
  EXPECT_EQ(problems_of("a: {name: x}\n"),
            "costs.yaml:1:1: error: \"a\" names calls, but neither their cost nor what "
            "they do to data\n");
  EXPECT_EQ(problems_of("a: {name: '(', time: 1 us}\n").substr(0, 59),
            "costs.yaml:1:11: error: name: '(' is not a regular expressi");
  EXPECT_EQ(problems_of("a: {flops: many}\n"),
            "costs.yaml:1:12: error: flops is \"many\", expected a count such as 1000000 or 4.2e9\n");
}

MatmulWork matmul(int64_t m, int64_t n, int64_t k, ElementType type = ElementType::kBF16) {
  MatmulWork work;
  work.m = m, work.n = n, work.k = k;
  work.lhs = work.rhs = type;
  return work;
}

TEST(MatrixUnit, CyclesOfPaddedTiles) {
  const Device v6e =
      test::device_or_fail("v6e");  // two MXUs of 256 x 256, 16 rows in 8 cycles, latch 64, latency 192
  const auto cycles = [&](const MatmulWork& work) {
    return Core(v6e.config)
        .product_of_all_cores(work, *matmul_rate(v6e.config.mxu, work.lhs, work.rhs, work.precision));
  };
  const double full = cycles(matmul(4096, 512, 256));
  EXPECT_EQ(full, 8 * 256 + 64 + 192);  // one tile each
  EXPECT_EQ(cycles(matmul(4096, 257, 256)), full);
  EXPECT_EQ(cycles(matmul(4096, 512, 257)), 2 * 8 * 256 + 64 + 192);
  EXPECT_EQ(cycles(matmul(4081, 512, 256)), full);
  // Fewer rows than loading a tile takes: the rest of it is not hidden.
  EXPECT_EQ(cycles(matmul(16, 4 * 512, 256)), 4 * 8 + 64 + 3 * (64 - 8) + 192);
  // One tile is shared by rows.
  EXPECT_EQ(cycles(matmul(4096, 256, 256)), 8 * 128 + 64 + 192);
  // Precision: three and six passes.
  MatmulWork high = matmul(4096, 512, 256, ElementType::kF32);
  const double one = cycles(high);
  high.precision = MatmulPrecision::kHighest;
  EXPECT_EQ(cycles(high), 6 * one);
}

TEST(MatrixUnit, MoreUnitsAreNeverSlower) {
  Device device = test::device_or_fail("v5e");
  for (const int64_t m : {1, 17, 128, 1000})
    for (const int64_t n : {1, 300, 1024})
      for (const int64_t k : {1, 300, 1024}) {
        double before = std::numeric_limits<double>::infinity();
        for (int64_t count = 1; count <= 16; ++count) {
          device.config.mxu.count = count;
          const MatmulWork work = matmul(m, n, k);
          const double now = Core(device.config)
                                 .product_of_all_cores(work, *matmul_rate(device.config.mxu, work.lhs,
                                                                          work.rhs, work.precision));
          EXPECT_LE(now, before) << m << " " << n << " " << k << " " << count;
          before = now;
        }
      }
}

TEST(VectorUnit, RegistersOfArrays) {
  Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n  a = f32[9,129]{1,0:T(8,128)} parameter(0)\n  b = "
      "bf16[16,128]{1,0:T(8,128)(2,1)} "
      "parameter(1)\n  c = f32[9,129]{1,0} parameter(2)\n  d = f32[1000]{0:T(1024)} parameter(3)\n  e = "
      "f32[] "
      "parameter(4)\n  f = c64[8,128]{1,0:T(8,128)} parameter(5)\n  ROOT t = () tuple()\n}\n");
  const auto registers = [&](const char* device, int64_t parameter) {
    const Instruction& instruction =
        module[module.entry_computation().parameters[static_cast<size_t>(parameter)]];
    const Device on = test::device_or_fail(device);
    return Core(on.config).registers(instruction.shape);
  };
  EXPECT_EQ(registers("v5e", 0), 4);
  EXPECT_EQ(registers("v5e", 1), 2);  // no arithmetic in bf16: in 32 bits
  EXPECT_EQ(registers("v6e", 1), 1);
  EXPECT_EQ(registers("v5e", 2), 4);
  EXPECT_EQ(registers("v5e", 3), 1);
  EXPECT_EQ(registers("v5e", 4), 0);
  EXPECT_EQ(registers("v5e", 5), 2);
}

/// A kernel turns an operand in the narrowest type with arithmetic that holds it; sums of it are in 32 bits.
TEST(VectorUnit, OperandsOfGroupsAreTurnedInTheNarrowestTypeWithArithmetic) {
  const Device device = test::device_or_fail("v7x"), without_bf16 = test::device_or_fail("v5p");
  const Core core(device.config), wide_core(without_bf16.config);
  ShapePool shapes;
  const int64_t sizes[] = {256, 128};
  const auto turned = [&](const Core& on, ElementType type) {
    return on.slots({VectorOp::kGroupTurn, shapes.array(type, sizes), 1}).xlu;
  };
  const double wide = turned(core, ElementType::kF32);
  EXPECT_GT(wide, 0);
  EXPECT_EQ(turned(core, ElementType::kBF16), wide / 2);
  EXPECT_EQ(turned(core, ElementType::kF8E4M3FN), wide / 2);
  EXPECT_EQ(turned(wide_core, ElementType::kBF16), turned(wide_core, ElementType::kF32));
  const auto added = [&](ElementType type) {
    return core.slots({VectorOp::kGroupStore, shapes.array(type, sizes), 1}).alu;
  };
  EXPECT_EQ(added(ElementType::kF8E4M3FN), added(ElementType::kF32));
}

}  // namespace
}  // namespace hlosim
