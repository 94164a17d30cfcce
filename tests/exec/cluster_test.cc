#include "exec/cluster.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "elementwise/element_program.h"
#include "exec/random_elementwise.h"
#include "ops/op_table.h"
#include "support/execution.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Services final : public ProgramServices {
 public:
  explicit Services(Module& module) : module_(module) {}
  std::shared_ptr<const Callable> callable(ComputationId) override { return nullptr; }
  std::shared_ptr<const ElementProgram> element_program(ComputationId id) override {
    return hlosim::element_program(module_, op_table(), id);
  }
  const CustomCallHandlers& custom_calls() const override { return handlers_; }
  bool has_twins() const override { return false; }
  const DeviceGrid* grid() const override { return nullptr; }

 private:
  Module& module_;
  CustomCallHandlers handlers_;
};

// Opcodes that the nodes of the entry stand for, "pass" for a cluster.
std::vector<std::string> nodes_of(std::string_view text) {
  Module module = test::module_or_fail(text);
  MemoryPool pool;
  DiagnosticList sink;
  ComputationGraph graph = make_graph(module, op_table(), module.entry, pool, {}, sink);
  Services services(module);
  make_clusters(graph, module, op_table(), services);
  std::vector<std::string> nodes;
  for (const GraphNode& node : graph.nodes)
    nodes.push_back(node.evaluation ? fmt::format("pass({})->{}", node.operands.size(), node.results.size())
                                    : std::string(to_text(node.instruction->opcode)));
  return nodes;
}

TEST(Clusters, TakeOperationsThroughReshapes) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[6,4] parameter(0)
  b = f32[24] parameter(1)
  n = f32[6,4] negate(a)
  r = f32[24] reshape(n)
  s = f32[24] add(r, b)
  q = f32[4,6] bitcast(s)
  ROOT t = f32[4,6] tanh(q)
})"),
              ElementsAre("pass(2)->1"));
}

TEST(Clusters, ReadThroughViews) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[6,4] parameter(0)
  row = f32[4] parameter(1)
  t = f32[4,6] transpose(a), dimensions={1,0}
  b = f32[4,6] broadcast(row), dimensions={0}
  ROOT s = f32[4,6] add(t, b)
})"),
              ElementsAre("pass(2)->1"));
}

TEST(Clusters, DoNotWalkDownTheColumnsOfLargeArrays) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[1024,1024] parameter(0)
  t = f32[1024,1024] transpose(a), dimensions={1,0}
  ROOT s = f32[1024,1024] negate(t)
})"),
              ElementsAre("transpose", "negate"));
}

TEST(Clusters, WriteWhatIsNeededOutside) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  n = f32[8] negate(a)
  x = f32[8] abs(n)
  y = f32[8] sqrt(x)
  ROOT t = (f32[8], f32[8]) tuple(n, y)
})"),
              ElementsAre("pass(1)->2"));
}

// sub → reduce → broadcast → div(sub): the second use of sub waits for the reduce.
TEST(Clusters, DoNotWaitForThemselves) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  s = f32[8] subtract(a, b)
  u = f32[8] abs(s)
  r = f32[8] sort(u), dimensions={0}, to_apply={
    x = f32[] parameter(0)
    y = f32[] parameter(1)
    ROOT c = pred[] compare(x, y), direction=LT
  }
  d = f32[8] divide(s, r)
  ROOT n = f32[8] negate(d)
})"),
              ElementsAre("pass(2)->2", "sort", "pass(2)->1"));
}

TEST(Clusters, ComputeLateWhatIsNeededLate) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  late = f32[8] abs(b)
  u = f32[8] negate(a)
  r = f32[8] sort(u), dimensions={0}, to_apply={
    x = f32[] parameter(0)
    y = f32[] parameter(1)
    ROOT c = pred[] compare(x, y), direction=LT
  }
  ROOT d = f32[8] divide(late, r)
})"),
              ElementsAre("negate", "sort", "pass(2)->1"));
}

// A mask: of each iota one row of numbers is made.
constexpr std::string_view kMask = R"(HloModule m
ENTRY e {
  x = f32[50,50] parameter(0)
  low = f32[] parameter(1)
  i = s32[50,50] iota(), iota_dimension=0
  j = s32[50,50] iota(), iota_dimension=1
  ge = pred[50,50] compare(i, j), direction=GE
  lows = f32[50,50] broadcast(low), dimensions={}
  m = f32[50,50] select(ge, x, lows)
  f = f32[50,50] iota(), iota_dimension=0
  t = f32[50,50] transpose(f), dimensions={1,0}
  ROOT r = (f32[50,50], f32[50,50]) tuple(m, t)
})";

TEST(Clusters, CountOneRowOfAnIota) {
  EXPECT_THAT(nodes_of(kMask),
              ElementsAre("pass(0)->1", "pass(0)->1", "pass(4)->1", "pass(0)->1", "pass(1)->1"));
}

TEST(Clusters, JoinScalars) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  x = f32[] negate(a)
  y = f32[] negate(b)
  ROOT t = (f32[], f32[]) tuple(x, y)
})"),
              ElementsAre("pass(2)->2"));
}

// Alone, the addition frees two arrays for one long before the sort; joined with the negation, which
// waits for the sort, it would keep both.
TEST(Clusters, DoNotKeepMoreAlive) {
  const std::string_view text = R"(HloModule m
ENTRY e {
  a = f32[100] parameter(0)
  b = f32[100] parameter(1)
  c = f32[100] parameter(2)
  s = f32[100] add(a, b)
  r = f32[100] sort(c), dimensions={0}, to_apply={
    x = f32[] parameter(0)
    y = f32[] parameter(1)
    ROOT l = pred[] compare(x, y), direction=LT
  }
  ROOT n = f32[100] multiply(s, r)
})";
  EXPECT_THAT(nodes_of(text), ElementsAre("add", "sort", "multiply"));
}

TEST(Clusters, LeaveDynamicShapesAlone) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[<=8] parameter(0)
  x = f32[<=8] negate(a)
  ROOT y = f32[<=8] abs(x)
})"),
              ElementsAre("negate", "abs"));
}

TEST(Clusters, TakeConstantsAsNumbers) {
  EXPECT_THAT(nodes_of(R"(HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  two = f32[] constant(2)
  twos = f32[8] broadcast(two), dimensions={}
  ROOT m = f32[8] multiply(a, twos)
})"),
              ElementsAre("pass(1)->1"));
}

TEST(Clusters, KeepRowsInTheCache) {
  const std::string_view softmax = R"(HloModule m
larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,3,10] parameter(0)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[4,3] reduce(x, least), dimensions={2}, to_apply=larger
  mb = f32[4,3,10] broadcast(m), dimensions={0,1}
  d = f32[4,3,10] subtract(x, mb)
  e = f32[4,3,10] exponential(d)
  s = f32[4,3] reduce(e, zero), dimensions={2}, to_apply=sum
  sb = f32[4,3,10] broadcast(s), dimensions={0,1}
  ROOT q = f32[4,3,10] divide(e, sb)
})";
  EXPECT_THAT(nodes_of(softmax), ElementsAre("pass(3)->1"));
}

TEST(Clusters, LeaveAReduceAloneThatNothingJoins) {
  EXPECT_THAT(nodes_of(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,10] parameter(0)
  zero = f32[] constant(0)
  ROOT s = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
})"),
              ElementsAre("reduce"));
}

// ── the same bits ───────────────────────────────────────────────

// Runs `text` on values made from `seed` and returns the bytes of all results.
std::vector<std::string> bytes_of(std::string_view text, bool cluster, uint32_t seed, std::string& problems) {
  ProgramOptions options;
  options.cluster = cluster;
  test::Execution execution(text, options);
  std::vector<Array> inputs;
  std::mt19937 random(seed);
  if (!execution.program()) {
    problems = execution.problems();
    return {};
  }
  for (const ShapeRef shape : execution.program()->parameters()) {
    std::vector<float> values(static_cast<size_t>(shape->element_count()));
    for (float& value : values) value = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-29f;
    inputs.push_back(execution.array(shape, values));
  }
  std::vector<std::string> results;
  for (Array& array : execution.arrays(std::move(inputs))) {
    // Which of two NaNs a sum is, that is its sign, is not said.
    if (array.type() == ElementType::kF32)
      for (int64_t i = 0; i < array.count(); ++i)
        if (std::isnan(array.as<float>()[i])) array.as<float>()[i] = std::numeric_limits<float>::quiet_NaN();
    results.emplace_back(reinterpret_cast<const char*>(array.bytes()),
                         static_cast<size_t>(data_bytes(array.shape)));
  }
  problems = execution.problems();
  return results;
}

int64_t peak_of(std::string_view text, bool cluster) {
  ProgramOptions options;
  options.cluster = cluster;
  return test::Execution(text, options).program()->peak_bytes();
}

TEST(Clusters, ChangeNoBitAndNoPeak) {
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    const std::string text = test::RandomElementwise(seed).make();
    std::string problems;
    const std::vector<std::string> expected = bytes_of(text, false, seed, problems);
    ASSERT_EQ(problems, "") << "seed " << seed << "\n" << text;
    const std::vector<std::string> got = bytes_of(text, true, seed, problems);
    ASSERT_EQ(problems, "") << "seed " << seed << "\n" << text;
    ASSERT_TRUE(got == expected) << "seed " << seed << "\n" << text;
    ASSERT_LE(peak_of(text, true), peak_of(text, false)) << "seed " << seed << "\n" << text;
  }
}

// Compares `text` with and without clusters for several numbers of threads.
void expect_same_bits(std::string_view text) {
  std::string problems;
  set_thread_count(1);
  const std::vector<std::string> expected = bytes_of(text, false, 1, problems);
  ASSERT_EQ(problems, "");
  for (const int threads : {1, 2, 5}) {
    set_thread_count(threads);
    EXPECT_TRUE(bytes_of(text, true, 1, problems) == expected) << threads;
  }
  set_thread_count(0);
}

// Softmax, and a bias for each row, of rows of many lengths.
TEST(Clusters, ChangeNoBitOfShortRows) {
  for (const int row : {1, 31, 32, 33, 48, 100, 128, 191, 192, 256, 500, 512, 513})
    expect_same_bits(fmt::format(R"(HloModule m
larger {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[77,{0}] parameter(0)
  bias = f32[77] parameter(1)
  scale = f32[] parameter(2)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[77] reduce(x, least), dimensions={{1}}, to_apply=larger
  mb = f32[77,{0}] broadcast(m), dimensions={{0}}
  sb = f32[77,{0}] broadcast(scale), dimensions={{}}
  bb = f32[77,{0}] broadcast(bias), dimensions={{0}}
  d = f32[77,{0}] subtract(x, mb)
  ds = f32[77,{0}] multiply(d, sb)
  e = f32[77,{0}] exponential(ds)
  s = f32[77] reduce(e, zero), dimensions={{1}}, to_apply=sum
  sums = f32[77,{0}] broadcast(s), dimensions={{0}}
  q = f32[77,{0}] divide(e, sums)
  b = f32[77,{0}] add(x, bb)
  c = f32[77,{0}] maximum(b, mb)
  ROOT t = (f32[77,{0}], f32[77,{0}]) tuple(q, c)
}})",
                                 row));
}

std::string softmax_of(std::string_view x, std::string_view shape, std::string_view root) {
  return fmt::format(R"(HloModule m
larger {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  p = {1} parameter(0)
  p2 = {1} multiply(p, p)
  p4 = {1} multiply(p2, p2)
  p5 = {1} multiply(p4, p)
  n = {1} negate(p)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[37] reduce({0}, least), dimensions={{1}}, to_apply=larger
  mb = {1} broadcast(m), dimensions={{0}}
  d = {1} subtract({0}, mb)
  e = {1} exponential(d)
  s = f32[37] reduce(e, zero), dimensions={{1}}, to_apply=sum
  sb = {1} broadcast(s), dimensions={{0}}
  q = {1} divide(e, sb)
  ROOT t = {2}
}})",
                     x, shape, root);
}

// Of an argument, behind other operations, and of numbers far from each other; its maximum needed or not.
TEST(Clusters, ChangeNoBitOfSoftmax) {
  for (const int row : {1, 63, 64, 128, 320, 1000, 4096, 4160}) {
    const std::string shape = fmt::format("f32[37,{}]", row);
    for (const std::string_view x : {"p", "n", "p5"}) {
      expect_same_bits(softmax_of(x, shape, fmt::format("({}) tuple(q)", shape)));
      expect_same_bits(softmax_of(x, shape, fmt::format("({}, f32[37]) tuple(q, m)", shape)));
    }
  }
}

TEST(Clusters, ChangeNoBitOfLargeArrays) {
  expect_same_bits(R"(HloModule m
ENTRY e {
  a = f32[700,500] parameter(0)
  b = f32[500] parameter(1)
  c = f32[700] parameter(2)
  s = f32[] parameter(3)
  rb = f32[700,500] broadcast(b), dimensions={1}
  cb = f32[700,500] broadcast(c), dimensions={0}
  sb = f32[700,500] broadcast(s), dimensions={}
  x = f32[700,500] multiply(a, rb)
  y = f32[700,500] add(x, cb)
  z = f32[700,500] tanh(y)
  w = f32[700,500] subtract(z, sb)
  back = f32[700,500] reverse(w), dimensions={1}
  sum = f32[700,500] add(back, a)
  ROOT t = (f32[700,500], f32[700,500], f32[700,500]) tuple(w, sum, y)
})");
}

TEST(Clusters, ChangeNoBitOfIotas) { expect_same_bits(kMask); }

// The mean and the deviation of each row, some of what is on the way needed too.
std::string layer_norm(int64_t rows, int64_t row) {
  return fmt::format(R"(HloModule m
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  y = f32[{0},{1}] parameter(1)
  scale = f32[{1}] parameter(2)
  zero = f32[] constant(0)
  n = f32[] constant({1})
  ns = f32[{0}] broadcast(n), dimensions={{}}
  z = f32[{0},{1}] add(x, y)
  s = f32[{0}] reduce(z, zero), dimensions={{1}}, to_apply=sum
  m = f32[{0}] divide(s, ns)
  mb = f32[{0},{1}] broadcast(m), dimensions={{0}}
  d = f32[{0},{1}] subtract(z, mb)
  q = f32[{0},{1}] multiply(d, d)
  v = f32[{0}] reduce(q, zero), dimensions={{1}}, to_apply=sum
  vm = f32[{0}] divide(v, ns)
  vs = f32[{0}] sqrt(vm)
  vb = f32[{0},{1}] broadcast(vs), dimensions={{0}}
  u = f32[{0},{1}] divide(d, vb)
  cb = f32[{0},{1}] broadcast(scale), dimensions={{1}}
  r = f32[{0},{1}] multiply(u, cb)
  ROOT t = (f32[{0},{1}], f32[{0}], f32[{0},{1}]) tuple(r, m, z)
}})",
                     rows, row);
}

TEST(Clusters, ChangeNoBitOfRows) {
  for (const auto& [rows, row] : {std::pair<int64_t, int64_t>{2, 30000}, {300, 700}, {5000, 3}, {33, 1024}}) {
    SCOPED_TRACE(fmt::format("{} x {}", rows, row));
    EXPECT_THAT(nodes_of(layer_norm(rows, row)), ElementsAre("pass(4)->3"));
    expect_same_bits(layer_norm(rows, row));
  }
}

// An operand spread over rows of one length in a pass over rows of another.
TEST(Clusters, ChangeNoBitWhereRowsOfTwoLengthsMeet) {
  constexpr std::string_view kText = R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[9,1265] parameter(0)
  each = f32[9] parameter(1)
  zero = f32[] constant(0)
  es = f32[9,1265] broadcast(each), dimensions={0}
  y = f32[9,1265] multiply(x, es)
  z = f32[3795,3] reshape(y)
  s = f32[3795] reduce(z, zero), dimensions={1}, to_apply=sum
  ss = f32[3795,3] broadcast(s), dimensions={0}
  ROOT r = f32[3795,3] subtract(z, ss)
})";
  EXPECT_THAT(nodes_of(kText), ElementsAre("pass(3)->1"));
  expect_same_bits(kText);
}

// What an observer wants to see is in memory, whatever joins around it.
TEST(Clusters, ShowTracedValues) {
  std::vector<float> shown;
  ProgramOptions options;
  options.graph.traced = [](const Instruction& instruction) { return instruction.name == "n"; };
  options.graph.observer = [&](const DeviceState&, const Instruction&, std::span<const Array> values) {
    shown.assign(values[0].as<float>(), values[0].as<float>() + values[0].count());
  };
  test::Execution execution(R"(HloModule m
ENTRY e {
  a = f32[3] constant({1, 2, 3})
  n = f32[3] negate(a)
  d = f32[3] add(n, n)
  ROOT t = f32[3] abs(d)
})",
                            options);
  EXPECT_THAT(execution.texts(), ElementsAre("{2, 4, 6}"));
  EXPECT_THAT(shown, ElementsAre(-1, -2, -3));
}

}  // namespace
}  // namespace hlosim
