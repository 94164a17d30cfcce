// What a program's memory is for, told by what the program does with it.
#include "memory/memory_classes.h"

#include <gtest/gtest.h>

#include <map>

#include "memory/argument_flow.h"
#include "model/native_layouts.h"
#include "sim/simulate.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/modules.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

Device v5e() {
  DiagnosticList problems;
  return *load_device("v5e", {}, {}, problems);
}

/// Classes of all buffers by the instruction that makes them, of the one with the lowest index.
std::map<std::string, MemoryClass> classes_of(std::string_view text) {
  const Device device = v5e();
  const Module module = std::move(lay_out(test::module_or_fail(text), device).module);
  const Result<Simulation> run = simulate(module, op_table(), device);
  EXPECT_TRUE(run);
  const Occupancy occupancy = memory_occupancy(module, device.config, run->schedule.order);
  const std::vector<MemoryClass> classes = memory_classes(module, op_table(), occupancy);
  std::map<std::string, MemoryClass> named;
  for (size_t i = 0; i < classes.size(); ++i)
    named.try_emplace(std::string(module[occupancy.buffers[i].instruction].name), classes[i]);
  // Whatever the classes are, they divide the peak.
  for (const SpaceOccupancy& space : occupancy.spaces) {
    Bytes sum{};
    for (const Bytes part : bytes_at_peak(occupancy, classes, space)) sum += part;
    EXPECT_EQ(sum, space.peak);
  }
  return named;
}

constexpr std::string_view kStep = R"(HloModule step{}

ENTRY main {{
  w = f32[64,64] parameter(0)
  mean = f32[64,64] parameter(1)
  x = f32[32,64] parameter(2)
  y = f32[32,64] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  g = f32[64,64] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}
  new.mean = f32[64,64] add(mean, g)
  new.w = f32[64,64] subtract(w, new.mean)
  ROOT out = (f32[64,64], f32[64,64]) tuple(new.w, new.mean)
}}
)";

TEST(MemoryClasses, OfATrainingStepWithDonatedState) {
  const auto classes =
      classes_of(fmt::format(fmt::runtime(kStep), ", input_output_alias={ {0}: (0, {}), {1}: (1, {}) }"));
  EXPECT_EQ(classes.at("w"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("mean"), MemoryClass::kOptimizerState);
  EXPECT_EQ(classes.at("x"), MemoryClass::kInputs);
  EXPECT_EQ(classes.at("y"), MemoryClass::kActivations);
  EXPECT_EQ(classes.at("g"), MemoryClass::kActivations);
}

TEST(MemoryClasses, ResultsOfLikeShapeMadeOfAnArgumentAreItsReturn) {
  const auto classes = classes_of(fmt::format(fmt::runtime(kStep), ""));
  EXPECT_EQ(classes.at("w"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("mean"), MemoryClass::kOptimizerState);
  EXPECT_EQ(classes.at("new.mean"), MemoryClass::kResults);
}

TEST(MemoryClasses, AScaleThatProductsSeeThroughAProductOfElementsIsAParameter) {
  const auto classes = classes_of(R"(HloModule norm, input_output_alias={ {0}: (0, {}), {1}: (1, {}) }
ENTRY main {
  scale = f32[32,64] parameter(0)
  mean = f32[32,64] parameter(1)
  x = f32[32,64] parameter(2)
  scaled = f32[32,64] multiply(x, scale)
  g = f32[32,32] dot(scaled, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  back = f32[32,64] dot(g, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  new.mean = f32[32,64] add(mean, back)
  new.scale = f32[32,64] subtract(scale, new.mean)
  ROOT out = (f32[32,64], f32[32,64]) tuple(new.scale, new.mean)
}
)");
  EXPECT_EQ(classes.at("scale"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("mean"), MemoryClass::kOptimizerState);
}

TEST(MemoryClasses, OfADecodingStepACacheIsWrittenInPlace) {
  const auto classes = classes_of(R"(HloModule decode, input_output_alias={ {0}: (0, {}) }
ENTRY main {
  cache = f32[128,64] parameter(0)
  w = f32[64,64] parameter(1)
  at = s32[] parameter(2)
  ids = s32[8] parameter(3)
  number = f32[8] convert(ids)
  x = f32[8,64] broadcast(number), dimensions={0}
  key = f32[8,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = s32[] constant(0)
  new = f32[128,64] dynamic-update-slice(cache, key, at, zero)
  scores = f32[8,128] dot(key, new), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT out = (f32[128,64], f32[8,128]) tuple(new, scores)
}
)");
  EXPECT_EQ(classes.at("cache"), MemoryClass::kCache);
  EXPECT_EQ(classes.at("w"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("ids"), MemoryClass::kInputs);
}

TEST(MemoryClasses, GatheredCopiesAreApart) {
  const auto classes = classes_of(test::own_module("partitions_step"));
  EXPECT_EQ(classes.at("part"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("weights"), MemoryClass::kGathered);
  EXPECT_EQ(classes.at("examples"), MemoryClass::kInputs);
}

TEST(MemoryClasses, StateGoesThroughLoops) {
  const auto classes = classes_of(test::own_module("layers_step"));
  EXPECT_EQ(classes.at("w.up"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("w.down"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("mean.up"), MemoryClass::kOptimizerState);
  EXPECT_EQ(classes.at("square.down"), MemoryClass::kOptimizerState);
  EXPECT_EQ(classes.at("tokens"), MemoryClass::kInputs);
}

TEST(MemoryClasses, OfARealStep) {
  const std::string text = test::shared_text("measured/profiles/programs/llama8b_v6e.hlo");
  if (text.empty()) GTEST_SKIP() << test::no_shared("measured/profiles");
  DiagnosticList problems;
  const Device device = *load_device("v6e", {}, {}, problems);
  const Module module = test::module_or_fail(text);
  const Result<Simulation> run = simulate(module, op_table(), device);
  ASSERT_TRUE(run);
  const Occupancy occupancy = memory_occupancy(module, device.config, run->schedule.order);
  const std::vector<MemoryClass> classes = memory_classes(module, op_table(), occupancy);
  const BytesByClass bytes = bytes_at_peak(occupancy, classes, occupancy.spaces[0]);
  // A chip has an eighth of 8.03 billion weights in bf16, means in f32, means of squares in bf16.
  const double weights = 8.03e9 * 2 / 8;
  const auto of = [&](MemoryClass kind) {
    return static_cast<double>(bytes[static_cast<size_t>(kind)].count());
  };
  EXPECT_NEAR(of(MemoryClass::kParameters), weights, 0.01 * weights);
  EXPECT_NEAR(of(MemoryClass::kOptimizerState), 3 * weights, 0.03 * weights);
  EXPECT_EQ(of(MemoryClass::kInputs), 2 * 4 * 8192 * 4.0);
  EXPECT_GT(of(MemoryClass::kGathered), 0.0);
}

TEST(ArgumentFlow, GoesThroughArithmeticAndLoops) {
  // a goes into both results by arithmetic, b into a product alone, c into the second through a loop.
  const Module module = test::module_or_fail(R"(HloModule m
body {
  p = (s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,4] get-tuple-element(p), index=1
  c = f32[4,4] get-tuple-element(p), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = f32[4,4] add(x, c)
  ROOT t = (s32[], f32[4,4], f32[4,4]) tuple(n, y, c)
}
cond {
  p = (s32[], f32[4,4], f32[4,4]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY main {
  a = f32[4,4] parameter(0)
  b = f32[4,4] parameter(1)
  c = f32[4,4] parameter(2)
  p = f32[4,4] dot(b, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[4,4] add(a, p)
  zero = s32[] constant(0)
  t = (s32[], f32[4,4], f32[4,4]) tuple(zero, s, c)
  w = (s32[], f32[4,4], f32[4,4]) while(t), condition=cond, body=body
  r = f32[4,4] get-tuple-element(w), index=1
  ROOT out = (f32[4,4], f32[4,4]) tuple(s, r)
}
)");
  const ArgumentFlow flow = argument_flow(module, op_table());
  EXPECT_TRUE(flow.reaches(0, 0) && flow.reaches(0, 1));
  EXPECT_FALSE(flow.reaches(1, 0) || flow.reaches(1, 1));
  EXPECT_FALSE(flow.reaches(2, 0));
  EXPECT_TRUE(flow.reaches(2, 1));
  EXPECT_TRUE(flow.is_multiplied(1));
  EXPECT_FALSE(flow.is_multiplied(0) || flow.is_multiplied(2));
}

/// A decode step as it is lowered: the write into the cache and the products are inside of fusions.
TEST(MemoryClasses, OfFusionsThatWriteCaches) {
  const auto classes = classes_of(R"(HloModule decode, input_output_alias={ {1}: (2, {}, may-alias) }

project {
  a = bf16[8,128] parameter(0)
  b = bf16[128,128] parameter(1)
  y = bf16[8,128] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT row = bf16[8,1,128] reshape(y)
}
write {
  rows = bf16[8,1,128] parameter(0)
  cache = bf16[8,256,128] parameter(1)
  position = s32[] parameter(2)
  zero = s32[] constant(0)
  twice = bf16[8,1,128] add(rows, rows)
  ROOT new = bf16[8,256,128] dynamic-update-slice(cache, twice, zero, position, zero)
}
ENTRY main {
  w = bf16[128,128] parameter(0)
  x = bf16[8,128] parameter(1)
  cache = bf16[8,256,128] parameter(2)
  position = s32[] parameter(3)
  rows = bf16[8,1,128] fusion(x, w), kind=kOutput, calls=project
  new = bf16[8,256,128] fusion(rows, cache, position), kind=kLoop, calls=write
  scores = bf16[8,256] dot(x, new), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}
  ROOT out = (bf16[8,256], bf16[8,256,128]) tuple(scores, new)
}
)");
  EXPECT_EQ(classes.at("cache"), MemoryClass::kCache);
  EXPECT_EQ(classes.at("w"), MemoryClass::kParameters);
  EXPECT_EQ(classes.at("position"), MemoryClass::kInputs);
}

// Values that have all that their operands have take the list of one of them: that saves memory only.
TEST(ArgumentFlow, IsThatOfValuesWithListsOfTheirOwn) {
  size_t with_flow = 0;
  const auto leaves_of = [](const LeafSet& set) {
    std::vector<int64_t> leaves;
    set.for_each([&](int64_t leaf) { leaves.push_back(leaf); });
    return leaves;
  };
  test::for_each_module(20, [&](const std::string& name, const Module& module) {
    const ArgumentFlow shared = argument_flow(module, op_table()),
                       apart = argument_flow(module, op_table(), FlowLists::kApart);
    ASSERT_EQ(shared.results.size(), apart.results.size()) << name;
    for (size_t i = 0; i < shared.results.size(); ++i) {
      EXPECT_EQ(leaves_of(shared.results[i]), leaves_of(apart.results[i])) << name << " result " << i;
      with_flow += !shared.results[i].empty();
    }
    EXPECT_EQ(leaves_of(shared.multiplied), leaves_of(apart.multiplied)) << name;
    EXPECT_EQ(leaves_of(shared.cached), leaves_of(apart.cached)) << name;
  });
  EXPECT_GT(with_flow, 100u);
}

}  // namespace
}  // namespace hlosim
