#include "exec/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "ops/op_table.h"
#include "support/execution.h"
#include "support/modules.h"

namespace hlosim {
namespace {

using test::module_or_fail;
using testing::ElementsAre;

// A module, its program and what it needs to run.
class Programs : public testing::Test {
 protected:
  const Program& make(std::string_view text, ProgramOptions options = {}) {
    module_ = std::make_unique<Module>(module_or_fail(text));
    DiagnosticList sink;
    program_ = Program::make(*module_, op_table(), pool_, options, sink);
    if (!program_) ADD_FAILURE() << render(sink.items().at(0));
    HLOSIM_CHECK(program_, "no program");
    return *program_;
  }
  Array array(const Program& program, size_t parameter, std::vector<float> values) {
    Array result = make_array(pool_, program.parameters()[parameter]);
    std::copy(values.begin(), values.end(), result.as<float>());
    return result;
  }
  std::vector<Array> run(const Program& program, std::vector<Array> inputs = {}) {
    DeviceState device(pool_);
    Result<std::vector<Array>> outputs = program.run(device, std::move(inputs));
    HLOSIM_CHECK(outputs, "{}", render(outputs.error()));
    return *std::move(outputs);
  }
  template <class T>
  static std::vector<T> values(const Array& array) {
    return {array.as<T>(), array.as<T>() + array.count()};
  }

  MemoryPool pool_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<const Program> program_;
};

TEST_F(Programs, RunElementwise) {
  const Program& program = make(R"(HloModule m
ENTRY e {
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  s = f32[3] add(a, b)
  ROOT p = f32[3] multiply(s, s)
})");
  const std::vector<Array> out =
      run(program, {array(program, 0, {1, 2, 3}), array(program, 1, {10, 20, 30})});
  EXPECT_THAT(values<float>(out[0]), ElementsAre(121, 484, 1089));
}

TEST_F(Programs, ScalarLoopsAndLoopsWithCallsAgree) {
  const std::string_view text = R"(HloModule m
body {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  ip = s32[] add(i, one)
  np = s32[] multiply(n, ip)
  ROOT t = (s32[], s32[]) tuple(ip, np)
}
cond {
  p = (s32[], s32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  ten = s32[] constant(10)
  ROOT lt = pred[] compare(i, ten), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  one = s32[] constant(1)
  t = (s32[], s32[]) tuple(zero, one)
  ROOT w = (s32[], s32[]) while(t), condition=cond, body=body
})";
  for (const ProgramOptions& options : {ProgramOptions{}, test::traced_options()}) {
    const std::vector<Array> out = run(make(text, options));
    EXPECT_EQ(integer_at(out[0], 0), 10);
    EXPECT_EQ(integer_at(out[1], 0), 3628800);
  }
}

TEST_F(Programs, ConditionalTakesTheLastBranchWhenOutOfRange) {
  const std::string_view text = R"(HloModule m
a { ROOT x = f32[] parameter(0) }
b { x = f32[] parameter(0)
    ROOT y = f32[] add(x, x) }
ENTRY e {
  i = s32[] parameter(0)
  x = f32[] constant(3)
  ROOT c = f32[] conditional(i, x, x), branch_computations={a, b}
})";
  const Program& program = make(text);
  for (const auto& [index, expected] : {std::pair<int32_t, float>{0, 3}, {1, 6}, {2, 6}, {-1, 6}}) {
    Array selector = make_array(pool_, program.parameters()[0]);
    *selector.as<int32_t>() = index;
    EXPECT_EQ(*run(program, {selector})[0].as<float>(), expected) << index;
  }
}

TEST_F(Programs, AsynchronousOperandsMayBeBoundLate) {
  const std::vector<Array> out = run(make(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  one = f32[] constant(1)
  two = f32[] constant(2)
  start = ((), f32[], s32[]) async-start(), calls=sum
  half = ((f32[]), f32[], s32[]) async-update(start, one)
  whole = ((f32[], f32[]), f32[], s32[]) async-update(half, two)
  ROOT done = f32[] async-done(whole)
})"));
  EXPECT_EQ(*out[0].as<float>(), 3);
}

TEST_F(Programs, ValuesAreFreedAtTheirLastUse) {
  std::string text = "HloModule m\nENTRY e {\n  v0 = f32[1000000] parameter(0)\n";
  for (int i = 0; i < 20; ++i)
    text += fmt::format("  v{} = f32[1000000] reverse(v{}), dimensions={{0}}\n", i + 1, i);
  const Program& program = make(text + "  ROOT r = f32[1000000] reverse(v20), dimensions={0}\n}");
  std::vector<Array> inputs = {array(program, 0, {})};
  run(program, std::move(inputs));
  EXPECT_EQ(program.peak_bytes(), 8000000);
  EXPECT_LE(pool_.peak_bytes(), program.peak_bytes() * 1.05);
}

TEST_F(Programs, ElidedAndTooLargeConstantsAreErrors) {
  Module module = module_or_fail("HloModule m\nENTRY e { ROOT c = f32[8] constant({...}) }");
  DiagnosticList sink;
  EXPECT_FALSE(Program::make(module, op_table(), pool_, {}, sink));
  EXPECT_THAT(render(sink.items().at(0)), testing::HasSubstr("constant c: its value is left out"));
  DiagnosticList limited;
  Module large =
      module_or_fail("HloModule m\nENTRY e { ROOT c = f32[8] constant({1, 2, 3, 4, 5, 6, 7, 8}) }");
  ProgramOptions options;
  options.graph.max_constant_bytes = 31;
  EXPECT_FALSE(Program::make(large, op_table(), pool_, options, limited));
  EXPECT_THAT(render(limited.items().at(0)),
              testing::HasSubstr("it takes 32 bytes, more than the 31 there are"));
}

TEST_F(Programs, TracedValuesAreShownEachTime) {
  std::vector<std::string> shown;
  ProgramOptions options;
  options.graph.traced = [](const Instruction& i) { return i.name == "ip"; };
  options.graph.observer = [&](const DeviceState&, const Instruction& i, std::span<const Array> leaves) {
    shown.push_back(fmt::format("{}={}", i.name, integer_at(leaves[0], 0)));
  };
  run(make(R"(HloModule m
body {
  i = s32[] parameter(0)
  one = s32[] constant(1)
  ROOT ip = s32[] add(i, one)
}
cond {
  i = s32[] parameter(0)
  three = s32[] constant(3)
  ROOT lt = pred[] compare(i, three), direction=LT
}
ENTRY e {
  zero = s32[] constant(0)
  ROOT w = s32[] while(zero), condition=cond, body=body
})",
           options));
  EXPECT_THAT(shown, ElementsAre("ip=1", "ip=2", "ip=3"));
}

}  // namespace
}  // namespace hlosim
