// Tuned layouts: known bad ones are found, the exact search equals enumeration, rewritten modules compute the
// same, also on real bytes, and take what was said.
#include "relayout/layout_tuner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/pattern.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "memory/occupancy.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "oracle/execute.h"
#include "oracle/random_module.h"
#include "support/physical.h"

namespace hlosim {
namespace {

const Device& tuned_device() {
  static const Device v5e = [] {
    DiagnosticList problems;
    std::optional<Device> loaded = load_device("v5e", {}, {}, problems);
    EXPECT_TRUE(loaded) << test::rendered(problems);
    return *loaded;
  }();
  return v5e;
}

LayoutTuning tuned(const std::string& text, const LayoutTuneOptions& options = {}) {
  const Module module = test::module_or_fail(text);
  Result<LayoutTuning> result = tune_layouts(module, op_table(), tuned_device(), options);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? std::move(*result) : LayoutTuning();
}

LayoutTuning answer(const std::string& text, const std::string& question,
                    const LayoutTuneOptions& options = {}) {
  const Module module = test::module_or_fail(text);
  const Result<LayoutQuestion> parsed = parse_layout_question(question);
  EXPECT_TRUE(parsed);
  Result<LayoutTuning> result = ask_layouts(module, op_table(), tuned_device(), options, {*parsed});
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? std::move(*result) : LayoutTuning();
}

std::string shape_of(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      if (module[id].name == name) return to_text(module[id].shape);
  return "no " + std::string(name);
}

int copies_in(const Module& module) {
  int count = 0;
  for (const InstructionId id : module.entry_computation().instructions)
    count += module[id].opcode == Opcode::kCopy;
  return count;
}

void expect_same_figures(const LayoutFigures& figures, Module& module) {
  const auto simulated = simulate(lay_out(module, tuned_device()).module, op_table(), tuned_device());
  ASSERT_TRUE(simulated);
  EXPECT_EQ(simulated->totals.makespan, figures.time);
  EXPECT_EQ(simulated->totals.traffic[0].total(), figures.hbm);
}

// ── known bad layouts ───────────────────────────────────────────

// A column of n elements takes n registers' rows in tiles of 8 x 128: 128 times too much.
TEST(LayoutTuner, AColumnIsTurnedRound) {
  for (const int64_t n : {4096, 10000, 65536}) {
    const std::string text = fmt::format(R"(HloModule m, is_scheduled=true
ENTRY e {{
  a = f32[{0}]{{0:T(1024)}} parameter(0)
  column = f32[{0},1]{{1,0:T(8,128)}} reshape(a)
  twice = f32[{0},1]{{1,0:T(8,128)}} add(column, column)
  root = f32[{0},1]{{1,0:T(8,128)}} exponential(twice)
  ROOT flat = f32[{0}]{{0:T(1024)}} reshape(root)
}})",
                                         n);
    const LayoutTuning tuning = tuned(text);
    EXPECT_TRUE(tuning.exact);
    EXPECT_LT(tuning.after.time * 4, tuning.before.time) << n;
    for (const char* name : {"column", "twice", "root"}) {
      const std::string shape = shape_of(*tuning.module, name);
      ShapePool pool;
      const Result<ShapeRef> parsed = parse_shape(pool, shape);
      ASSERT_TRUE(parsed) << shape;
      EXPECT_LT(padding_of(*parsed).expansion, 1.1) << shape;
    }
  }
}

// A copy turns the weight round for a product that takes it either way.
TEST(LayoutTuner, AProductTakesItsWeightAsItLies) {
  for (const auto& [k, n] : {std::pair{1024, 512}, {512, 4096}, {384, 640}}) {
    const std::string text = fmt::format(R"(HloModule m, is_scheduled=true
ENTRY e {{
  x = bf16[256,{0}]{{1,0:T(8,128)(2,1)}} parameter(0)
  w = bf16[{0},{1}]{{1,0:T(8,128)(2,1)}} parameter(1)
  turned = bf16[{0},{1}]{{0,1:T(8,128)(2,1)}} copy(w)
  ROOT y = bf16[256,{1}]{{1,0:T(8,128)(2,1)}} dot(x, turned), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}})",
                                         k, n);
    const LayoutTuning tuning = tuned(text);
    EXPECT_TRUE(tuning.exact);
    EXPECT_EQ(copies_in(*tuning.module), 0);
    EXPECT_LT(tuning.after.time, tuning.before.time);
    ASSERT_EQ(tuning.removed.size(), 1u);
    EXPECT_EQ(tuning.removed[0].name, "turned");
  }
}

// Three rows fill eight: the two large dimensions ought to be the fastest.
TEST(LayoutTuner, FewRowsMoveOutwards) {
  for (const int64_t rows : {1, 3, 5}) {
    const std::string text = fmt::format(R"(HloModule m, is_scheduled=true
add {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}}
ENTRY e {{
  a = f32[2048,512]{{1,0:T(8,128)}} parameter(0)
  wide = f32[2048,{0},512]{{2,1,0:T(8,128)}} broadcast(a), dimensions={{0,2}}
  more = f32[2048,{0},512]{{2,1,0:T(8,128)}} multiply(wide, wide)
  zero = f32[]{{:T(128)}} constant(0)
  ROOT s = f32[2048,512]{{1,0:T(8,128)}} reduce(more, zero), dimensions={{1}}, to_apply=add
}})",
                                         rows);
    const LayoutTuning tuning = tuned(text);
    EXPECT_LT(tuning.after.hbm * 10, tuning.before.hbm * 9) << rows;
    const std::string shape = shape_of(*tuning.module, "more");
    ShapePool pool;
    EXPECT_LT(padding_of(*parse_shape(pool, shape)).expansion, 1.1) << shape;
  }
}

// What a loop carries changes with everything that is the loop's.
TEST(LayoutTuner, LoopsCarryWhatTheirBodiesWant) {
  const std::string text = R"(HloModule m, is_scheduled=true
body {
  p = (s32[]{:T(128)}, f32[8192,1]{1,0:T(8,128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(p), index=0
  v = f32[8192,1]{1,0:T(8,128)} get-tuple-element(p), index=1
  one = s32[]{:T(128)} constant(1)
  j = s32[]{:T(128)} add(i, one)
  w = f32[8192,1]{1,0:T(8,128)} add(v, v)
  ROOT t = (s32[]{:T(128)}, f32[8192,1]{1,0:T(8,128)}) tuple(j, w)
}
condition {
  p = (s32[]{:T(128)}, f32[8192,1]{1,0:T(8,128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(p), index=0
  n = s32[]{:T(128)} constant(50)
  ROOT c = pred[]{:T(512)} compare(i, n), direction=LT
}
ENTRY e {
  a = f32[8192,1]{1,0:T(8,128)} parameter(0)
  zero = s32[]{:T(128)} constant(0)
  t = (s32[]{:T(128)}, f32[8192,1]{1,0:T(8,128)}) tuple(zero, a)
  loop = (s32[]{:T(128)}, f32[8192,1]{1,0:T(8,128)}) while(t), condition=condition, body=body
  ROOT r = f32[8192,1]{1,0:T(8,128)} get-tuple-element(loop), index=1
})";
  const LayoutTuning tuning = tuned(text);
  EXPECT_LT(tuning.after.time * 2, tuning.before.time);
  EXPECT_EQ(copies_in(*tuning.module), 2);  // the argument in, the result out
  EXPECT_EQ(shape_of(*tuning.module, "a"), "f32[8192,1]{1,0:T(8,128)}");
  EXPECT_THAT(shape_of(*tuning.module, "loop"), testing::Not(testing::HasSubstr("{1,0:T(8,128)}")));

  LayoutTuneOptions free;
  free.arrays.free_entry = true;
  const LayoutTuning freed = tuned(text, free);
  EXPECT_EQ(copies_in(*freed.module), 0);
  EXPECT_LT(freed.after.time, tuning.after.time);
}

TEST(LayoutTuner, OnlyChosenValuesChange) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8192]{0:T(1024)} parameter(0)
  c = f32[8192,1]{1,0:T(8,128)} reshape(a)
  d = f32[8192,1]{1,0:T(8,128)} add(c, c)
  r = f32[8192]{0:T(1024)} reshape(d)
  g = f32[8192,1]{1,0:T(8,128)} reshape(r)
  h = f32[8192,1]{1,0:T(8,128)} negate(g)
  ROOT flat = f32[8192]{0:T(1024)} reshape(h)
})";
  LayoutTuneOptions options;
  options.arrays.values = Pattern::parse("^[cd]$").value();
  const LayoutTuning tuning = tuned(text, options);
  EXPECT_LT(tuning.after.time, tuning.before.time);
  EXPECT_EQ(shape_of(*tuning.module, "h"), "f32[8192,1]{1,0:T(8,128)}");
  EXPECT_EQ(shape_of(*tuning.module, "g"), "f32[8192,1]{1,0:T(8,128)}");
  EXPECT_NE(shape_of(*tuning.module, "d"), "f32[8192,1]{1,0:T(8,128)}");
}

// The same by the other objectives: time is what pays for padding, and so are traffic and memory.
TEST(LayoutTuner, ObjectivesAreWhatIsImproved) {
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[8192]{0:T(1024)} parameter(0)
  c = f32[8192,1]{1,0:T(8,128)} reshape(a)
  d = f32[8192,1]{1,0:T(8,128)} add(c, c)
  ROOT r = f32[8192]{0:T(1024)} reshape(d)
})";
  for (const LayoutObjective objective :
       {LayoutObjective::kTime, LayoutObjective::kBytes, LayoutObjective::kMemory}) {
    LayoutTuneOptions options;
    options.objective = objective;
    const LayoutTuning tuning = tuned(text, options);
    EXPECT_TRUE(tuning.exact);
    EXPECT_LT(tuning.after.time, tuning.before.time);
    EXPECT_LT(tuning.after.hbm.count() * 10, tuning.before.hbm.count());
    EXPECT_LT(tuning.after.peak.count() * 10, tuning.before.peak.count());
    const LayoutFigures& after = tuning.after;
    const int64_t first[] = {after.time.count(), after.hbm.count(), after.peak.count()};
    EXPECT_EQ(tuning.score.first, first[static_cast<size_t>(objective)]);
  }
}

// ── exact = enumeration ─────────────────────────────────────────

/// A random graph of elementwise work, products, transposes, reductions and copies on small arrays in tiles.
std::string random_graph(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  const int64_t sizes[] = {1, 3, 8, 160, 256};
  int64_t m = sizes[below(5)], n = sizes[below(5)];
  struct Value {
    std::string name;
    int64_t rows, columns;
  };
  std::string text = "HloModule m, is_scheduled=true\nENTRY e {\n";
  const auto shape = [&](int64_t rows, int64_t columns) {
    const bool turned = below(2) == 0;
    return fmt::format("f32[{},{}]{{{}:T(8,128)}}", rows, columns, turned ? "0,1" : "1,0");
  };
  std::vector<Value> values;
  for (int i = 0; i < 2; ++i) {
    values.push_back({fmt::format("p{}", i), m, n});
    text += fmt::format("  p{} = {} parameter({})\n", i, shape(m, n), i);
  }
  const size_t count = 2 + below(3);
  for (size_t i = 0; i < count; ++i) {
    const Value a = values[below(values.size())];
    Value made{fmt::format("v{}", i), a.rows, a.columns};
    std::string call;
    switch (below(5)) {
      case 0:
        made = {made.name, a.columns, a.rows};
        call = fmt::format("transpose({}), dimensions={{1,0}}", a.name);
        break;
      case 1:
        call = fmt::format("copy({})", a.name);
        break;
      case 2: {
        const Value b = values[below(values.size())];
        if (b.rows == a.columns) {
          made = {made.name, a.rows, b.columns};
          call = fmt::format("dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}", a.name,
                             b.name);
          break;
        }
        [[fallthrough]];
      }
      default: {
        std::string other = a.name;
        for (const Value& b : values)
          if (b.rows == a.rows && b.columns == a.columns) other = b.name;
        call = fmt::format("add({}, {})", a.name, other);
      }
    }
    text += fmt::format("  {} = {} {}\n", made.name, shape(made.rows, made.columns), call);
    values.push_back(made);
  }
  const Value last = values.back();
  return text + fmt::format("  ROOT r = {} negate({})\n}}\n", shape(last.rows, last.columns), last.name);
}

/// The best of all combinations, one after the other.
std::optional<LayoutScore> enumerated(const std::string& text, LayoutObjective objective, int64_t most,
                                      int64_t& tried) {
  const Module module = test::module_or_fail(text);
  auto problem = LayoutProblem::make(module, op_table(), tuned_device().config, {});
  EXPECT_TRUE(problem);
  const auto first =
      simulate(lay_out((*problem)->module(), tuned_device()).module, op_table(), tuned_device(), {});
  EXPECT_TRUE(first);
  auto costs = LayoutCosts::make(**problem, op_table(), tuned_device(), {}, *first, objective);
  EXPECT_TRUE(costs);
  const std::vector<int32_t>& groups = (*problem)->free_groups();
  int64_t combinations = 1;
  for (const int32_t group : groups)
    combinations *= static_cast<int64_t>((*problem)->candidates(group).size());
  if (combinations > most) return std::nullopt;
  std::optional<LayoutScore> best;
  for (int64_t i = 0; i < combinations; ++i) {
    LayoutChoice choice = (*problem)->as_given();
    int64_t rest = i;
    for (const int32_t group : groups) {
      const auto& list = (*problem)->candidates(group);
      choice[static_cast<size_t>(group)] = list[static_cast<size_t>(rest) % list.size()];
      rest /= static_cast<int64_t>(list.size());
    }
    (*costs)->apply(choice);
    const Module written = compacted((*problem)->module(), op_table());
    (*problem)->edit().undo();
    const auto simulated = simulate(written, op_table(), tuned_device(), {});
    EXPECT_TRUE(simulated);
    const Totals& totals = simulated->totals;
    LayoutScore score{totals.makespan.count(), totals.traffic[0].total().count()};
    if (objective == LayoutObjective::kBytes) std::swap(score.first, score.second);
    // What it is expected to take is what it takes: nothing overlaps here.
    const LayoutScore estimate = (*costs)->total(choice);
    EXPECT_GE(estimate, score) << text << to_text(written, op_table());
    std::vector<uint8_t> decided(static_cast<size_t>((*problem)->groups().size()));
    LayoutScore bound = (*costs)->constant();
    for (size_t part = 0; part < (*costs)->parts(); ++part) bound += (*costs)->bound(part, choice, decided);
    EXPECT_LE(bound.first, score.first) << text;
    if (!best || score < *best) best = score;
    ++tried;
  }
  return best;
}

TEST(LayoutTuner, ExactIsTheBestOfAllCombinations) {
  int compared = 0, improved = 0;
  int64_t tried = 0;
  for (uint64_t seed = 0; seed < 90; ++seed) {
    const std::string text = random_graph(seed);
    const LayoutObjective objective = seed % 3 == 0 ? LayoutObjective::kBytes : LayoutObjective::kTime;
    const std::optional<LayoutScore> best = enumerated(text, objective, 1500, tried);
    if (!best) continue;
    LayoutTuneOptions options;
    options.objective = objective;
    options.search.steps = 1000000;
    options.search.moves = seed % 2 == 0 ? 0 : 1000;  // with and without a good start
    const LayoutTuning tuning = tuned(text, options);
    EXPECT_TRUE(tuning.exact) << text;
    EXPECT_EQ(tuning.score, *best) << "seed " << seed << "\n" << text << to_text(*tuning.module, op_table());
    EXPECT_EQ(tuning.bound.first, best->first);
    ++compared;
    improved += tuning.after.time < tuning.before.time;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 40);
  EXPECT_GT(improved, 10);
  std::cout << compared << " graphs, " << tried << " combinations\n";
}

TEST(LayoutTuner, TheLocalSearchMostlyFindsTheBest) {
  int compared = 0, equal = 0;
  for (uint64_t seed = 1000; seed < 1060; ++seed) {
    const std::string text = random_graph(seed);
    LayoutTuneOptions local, exact;
    local.search.steps = 0;
    exact.search.steps = 100000;
    const LayoutTuning best = tuned(text, exact);
    if (!best.exact) continue;
    const LayoutTuning found = tuned(text, local);
    EXPECT_FALSE(found.exact && found.free_arrays > 0);
    EXPECT_GE(found.score, best.score);
    EXPECT_LE(found.bound.first, best.score.first) << text;
    ++compared;
    equal += found.score.first == best.score.first;
  }
  EXPECT_GT(compared, 40);
  EXPECT_GE(equal * 100, compared * 95);
}

// ── what is written ─────────────────────────────────────────────

/// Layouts by chance: whatever is chosen, the module computes the same and takes what was said.
std::optional<Module> any_layouts(const Module& module, uint64_t seed, bool free_entry, size_t& changed) {
  LayoutProblemOptions options;
  options.free_entry = free_entry;
  auto problem = LayoutProblem::make(module, op_table(), tuned_device().config, options);
  EXPECT_TRUE(problem) << (problem ? "" : render(problem.error()));
  if (!problem) return std::nullopt;
  const auto first =
      simulate(lay_out((*problem)->module(), tuned_device()).module, op_table(), tuned_device(), {});
  if (!first) return std::nullopt;
  auto costs = LayoutCosts::make(**problem, op_table(), tuned_device(), {}, *first, LayoutObjective::kTime);
  std::mt19937_64 random(seed);
  LayoutChoice choice = (*problem)->as_given();
  for (const int32_t group : (*problem)->free_groups()) {
    const auto& list = (*problem)->candidates(group);
    choice[static_cast<size_t>(group)] = list[random() % list.size()];
    changed += choice[static_cast<size_t>(group)] != list[0];
  }
  (*costs)->apply(choice);
  Module written = compacted((*problem)->module(), op_table());
  (*problem)->edit().undo();
  return written;
}

/// As a compiler would hand it over: in tiles.
Module tiled(const std::string& text) { return lay_out(test::module_or_fail(text), tuned_device()).module; }

TEST(LayoutTuner, AnyChoiceComputesTheSame) {
  size_t compared = 0, changed = 0, moved = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    const std::string text = test::random_module(seed, seed % 2 == 0);
    Module module = tiled(text);
    const std::vector<test::ValuePtr> inputs = test::random_inputs(module, seed);
    const test::Outputs before = test::execute(module, inputs);
    if (!before.error.empty()) continue;
    std::optional<Module> after = any_layouts(module, seed, seed % 3 == 0, changed);
    if (!after) continue;
    const test::Outputs outputs = test::execute(*after, inputs);
    EXPECT_EQ(outputs.error, "") << "seed " << seed << "\n" << to_text(*after, op_table());
    EXPECT_TRUE(test::same_bits(before, outputs))
        << "seed " << seed << "\n"
        << to_text(module, op_table()) << to_text(*after, op_table());
    ++compared;
    moved += after->instructions.size() > module.instructions.size();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, 150u);
  EXPECT_GT(changed, 300u);
  EXPECT_GT(moved, 50u);
}

TEST(LayoutTuner, AnyChoiceRunsOnRealBytes) {
  int ran = 0;
  size_t changed = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const Module module = tiled(test::random_module(seed, seed % 2 == 0));
    const std::optional<Module> after = any_layouts(module, seed, false, changed);
    if (!after) continue;
    const std::string text = to_text(*after, op_table());
    const test::BothWays ways = test::run_both_ways(
        test::module_or_fail(text), test::module_or_fail(text), {},
        [&](const Module& one, MemoryPool& pool) { return test::random_arguments(one, seed, pool); },
        test::twins, int64_t{64} << 20);
    ran += ways.ran;
    EXPECT_TRUE(ways.problem.empty() || ways.problem.find(to_text(FaultKind::kNotANoOp)) != std::string::npos)
        << "seed " << seed << ": " << ways.problem << "\n"
        << text;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(ran, 30);
  EXPECT_GT(changed, 60u);
}

TEST(LayoutTuner, WhatIsWrittenTakesWhatWasSaid) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Module module = tiled(test::random_module(seed, seed % 2 == 0));
    LayoutTuneOptions options;
    options.search.moves = 300;
    options.search.steps = 100;
    const Result<LayoutTuning> tuning = tune_layouts(module, op_table(), tuned_device(), options);
    if (!tuning) continue;  // collectives of more devices than the slice has
    EXPECT_LE(tuning->score.first, tuning->before.time.count());
    EXPECT_LE(tuning->bound, tuning->score);
    Module again = test::module_or_fail(to_text(*tuning->module, op_table()));
    expect_same_figures(tuning->after, again);
    expect_same_figures(tuning->before, module);
    if (tuning->changes.empty()) {
      EXPECT_EQ(to_text(*tuning->module, op_table()), to_text(module, op_table()));
    }
  }
}

// ── questions ───────────────────────────────────────────────────

const char* const kChain = R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[256,512]{1,0:T(8,128)} parameter(0)
  b = f32[256,512]{1,0:T(8,128)} add(a, a)
  ROOT c = f32[256,512]{1,0:T(8,128)} negate(b)
})";

TEST(LayoutTuner, AQuestionChangesOneValueAndSaysWhichCopiesCome) {
  const LayoutTuning tuning = answer(kChain, "b={0,1}");
  EXPECT_EQ(shape_of(*tuning.module, "b"), "f32[256,512]{0,1:T(8,128)}");
  ASSERT_EQ(tuning.added.size(), 2u);
  EXPECT_EQ(tuning.added[0].operand, "a");
  EXPECT_EQ(tuning.added[1].operand, "b");
  EXPECT_GT(tuning.after.time, tuning.before.time);
  ASSERT_EQ(tuning.changes.size(), 1u);
  EXPECT_LT(tuning.changes[0].saved.count(), 0);
}

TEST(LayoutTuner, QuestionsThatHaveNoAnswer) {
  const Module module = test::module_or_fail(kChain);
  const auto error = [&](const std::string& text) {
    const Result<LayoutQuestion> question = parse_layout_question(text);
    if (!question) return question.error().message;
    const Result<LayoutTuning> result = ask_layouts(module, op_table(), tuned_device(), {}, {*question});
    return result ? "none" : result.error().message;
  };
  EXPECT_EQ(error("b"), "'b' is not a question about a layout");
  EXPECT_EQ(error("b=1,0"), "'b=1,0' is not a question about a layout");
  EXPECT_EQ(error("b{x}={0,1}"), "'b{x}={0,1}' is not a question about a layout");
  EXPECT_EQ(error("d={0,1}"), "the module has no value 'd'");
  EXPECT_EQ(error("a={0,1}"), "a can't have another layout: it is an argument of the module");
  EXPECT_EQ(error("b{0}={0,1}"), "b is f32[256,512], not an array");
  EXPECT_THAT(error("b={0,0}"), testing::HasSubstr("f32[256,512]{0,0}"));
  EXPECT_EQ(error("b={0,1:T(16,128)}"), "none");
}

/// However many dimensions there are, little is done once the time is up.
TEST(LayoutTuner, EndsWhenTheTimeIsUp) {
  std::string sizes = "2";
  for (int i = 1; i < 20; ++i) sizes += ",2";
  const std::string text = fmt::format(
      "ENTRY e {{ p = f32[{0}] parameter(0) n = f32[{0}] negate(p) t = f32[{0}] tanh(n) ROOT q = f32[{0}] "
      "add(n, t) }}",
      sizes);
  for (const int64_t asks : {0, 1, 10, 100, 1000}) {
    LayoutTuneOptions options;
    int64_t asked = 0;
    options.search.out_of_time = [&] { return ++asked > asks; };
    const LayoutTuning result = tuned(text, options);
    EXPECT_LE(asked, asks + 500) << asks;
    EXPECT_LE(result.after.time, result.before.time);
    EXPECT_FALSE(result.exact);
    ASSERT_FALSE(result.assumptions.items().empty());
    EXPECT_EQ(result.assumptions.items().back().text,
              "the clock ended the search: another run may find other layouts");
  }
}

}  // namespace
}  // namespace hlosim
