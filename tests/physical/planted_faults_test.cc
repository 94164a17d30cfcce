// Faults that a test puts into a placement or a schedule are found, where they are.
#include <gmock/gmock.h>

#include "support/physical.h"
#include "support/random_dataflow.h"

namespace hlosim {
namespace {

using test::Placed;
using test::placed;
using ::testing::HasSubstr;

struct Outcome {
  bool ran = false;
  std::optional<PhysicalFault> fault;
  std::string text;
};

Outcome run(const Placed& m, const PhysicalOptions& options = {}) {
  MemoryPool pool;
  DeviceState device(pool);
  const Result<PhysicalResult> result = run_physically(*m.module, op_table(), *m.buffers, device,
                                                       test::random_arguments(*m.module, 1, pool), options);
  if (!result) return {false, std::nullopt, render(result.error())};
  return {true, result->fault, result->fault ? render(result->fault->diagnostic) : ""};
}

/// The fault is of `kind`, at `name` and its step.
void expect_fault(const Placed& m, const Outcome& outcome, FaultKind kind, std::string_view name) {
  ASSERT_TRUE(outcome.ran) << outcome.text;
  ASSERT_TRUE(outcome.fault) << "no fault";
  EXPECT_EQ(to_text(outcome.fault->kind), to_text(kind)) << outcome.text;
  EXPECT_EQ((*m.module)[outcome.fault->instruction].name, name) << outcome.text;
  const std::vector<InstructionId>& steps = m.buffers->schedule.steps;
  EXPECT_EQ(steps[static_cast<size_t>(outcome.fault->step)], outcome.fault->instruction) << outcome.text;
}

constexpr std::string_view kChain = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8,16]{1,0} parameter(0)
  a = f32[8,16]{1,0} negate(p)
  b = f32[8,16]{1,0} exponential(p)
  c = f32[8,16]{1,0} add(a, b)
  d = f32[16,8]{1,0} transpose(c), dimensions={1,0}
  ROOT r = f32[16,8]{1,0} negate(d)
})";

constexpr std::string_view kPrefetch = R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[8,16]{1,0} parameter(0)
  q = f32[8,16]{1,0} parameter(1)
  x = f32[8,16]{1,0} exponential(p)
  start = (f32[8,16]{1,0:S(1)}, f32[8,16]{1,0}, u32[]) copy-start(x)
  a = f32[8,16]{1,0:S(1)} negate(q)
  b = f32[8,16]{1,0} abs(a)
  done = f32[8,16]{1,0:S(1)} copy-done(start)
  c = f32[8,16]{1,0} add(b, done)
  ROOT r = f32[8,16]{1,0} add(c, x)
})";

constexpr std::string_view kLoop = R"(HloModule m
body {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[8]{0} get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  w = f32[8]{0} add(v, v)
  ROOT t = (s32[], f32[8]{0}) tuple(j, w)
}
cond {
  s = (s32[], f32[8]{0}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  p = f32[8]{0} parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[8]{0}) tuple(zero, p)
  state = (s32[], f32[8]{0}) while(start), condition=cond, body=body
  ROOT r = f32[8]{0} get-tuple-element(state), index=1
})";

TEST(PlantedFault, NoneWithoutOne) {
  for (const std::string_view text : {kChain, kPrefetch, kLoop}) {
    const Outcome outcome = run(placed(text));
    EXPECT_TRUE(outcome.ran && !outcome.fault) << outcome.text;
  }
}

TEST(PlantedFault, ReadOfPoison) {
  const Placed m = placed(kChain);
  m.range(m.value("a")).end = m.step("a");
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kReadPoison, "c");
  EXPECT_THAT(outcome.text, HasSubstr("test.hlo:6:"));
  EXPECT_THAT(outcome.text, HasSubstr("the memory was given up"));
}

TEST(PlantedFault, OperandThatComesLater) {
  const Placed m = placed(kChain);
  std::vector<InstructionId>& steps = m.buffers->schedule.steps;
  std::swap(steps[static_cast<size_t>(m.step("b"))], steps[static_cast<size_t>(m.step("c"))]);
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kReadPoison, "c");
  EXPECT_THAT(outcome.text, HasSubstr("b comes only at step 3"));
}

TEST(PlantedFault, ReadOfWhatWasOverwritten) {
  const Placed m = placed(kChain);
  const ValueIndex a = m.value("a"), b = m.value("b");
  m.put_at(b, a);
  m.range(a).end = m.step("a");  // whoever placed b took a for dead
  m.range(a).start = m.range(a).end;
  const Outcome outcome = run(m);
  ASSERT_TRUE(outcome.fault) << outcome.text;
  EXPECT_EQ(outcome.fault->kind, FaultKind::kReadOverwritten) << outcome.text;
  EXPECT_EQ(outcome.fault->instruction, m.instruction("c"));
  EXPECT_EQ(outcome.fault->step, m.step("c"));
  EXPECT_THAT(outcome.text, HasSubstr("b was written there since"));
}

TEST(PlantedFault, Overlap) {
  const Placed m = placed(kChain);
  m.put_at(m.value("b"), m.value("a"), 64);
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kOverlap, "b");
  EXPECT_THAT(outcome.text, HasSubstr("over a"));
}

/// A transpose may not write where it reads, though its operand ends there.
TEST(PlantedFault, OverlapWithItsOwnOperand) {
  const Placed m = placed(kChain);
  m.put_at(m.value("d"), m.value("c"));
  expect_fault(m, run(m), FaultKind::kOverlap, "d");
}

TEST(PlantedFault, OverlapInFastMemory) {
  const Placed m = placed(kPrefetch);
  m.put_at(m.value("a"), m.value("start", {0}), 128);
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kOverlap, "a");
  EXPECT_THAT(outcome.text, HasSubstr("S(1)"));
}

TEST(PlantedFault, UseBeforeDone) {
  const Placed m = placed(kPrefetch);
  std::vector<InstructionId>& steps = m.buffers->schedule.steps;
  std::swap(steps[static_cast<size_t>(m.step("done"))], steps[static_cast<size_t>(m.step("c"))]);
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kReadBeforeDone, "c");
  EXPECT_THAT(outcome.text, HasSubstr("done comes only at step"));
}

TEST(PlantedFault, OperandWrittenOverUnderWay) {
  const Placed m = placed(kPrefetch);
  const ValueIndex x = m.value("x"), b = m.value("b");
  m.put_at(b, x);
  m.range(x).end = m.step("start");
  m.range(x).start = 0;
  // The memory is given up when the copy has started: that is found even before.
  expect_fault(m, run(m), FaultKind::kOperandChanged, "start");
  m.range(x).end = m.buffers->schedule.end();
  expect_fault(m, run(m), FaultKind::kOperandChanged, "b");
}

TEST(PlantedFault, WrongSpace) {
  const Placed m = placed(kPrefetch);
  const ValueIndex a = m.value("a"), b = m.value("b");
  std::vector<int32_t>& allocation_of = m.buffers->assignment.allocation_of;
  Allocation& slow =
      m.buffers->assignment.allocations[static_cast<size_t>(allocation_of[static_cast<size_t>(b)])];
  Allocation& fast =
      m.buffers->assignment.allocations[static_cast<size_t>(allocation_of[static_cast<size_t>(a)])];
  const AssignedValue moved = m.assigned(a);
  std::erase_if(fast.values, [&](const AssignedValue& value) { return value.value == a; });
  slow.values.push_back({a, slow.size, moved.size});
  slow.size += moved.size;
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kWrongSpace, "a");
  EXPECT_THAT(outcome.text, HasSubstr("a{} must be in S(1), a is in S(0)"));
}

TEST(PlantedFault, OutputInTheWrongSpace) {
  const Placed m = placed(R"(HloModule m, is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}
ENTRY e {
  p = f32[8]{0} parameter(0)
  ROOT r = f32[8]{0:S(1)} negate(p)
})");
  const Outcome outcome = run(m);
  ASSERT_TRUE(outcome.fault) << outcome.text;
  EXPECT_EQ(outcome.fault->kind, FaultKind::kWrongSpace);
  EXPECT_EQ(outcome.fault->step, m.buffers->schedule.end());
  EXPECT_THAT(outcome.text, HasSubstr("r{} must be in S(0), r is in S(1)"));
}

TEST(PlantedFault, BitcastThatMovesElements) {
  for (const auto& [from, to] : {std::pair("f32[4,6]{1,0}", "f32[4,6]{0,1}"),
                                 std::pair("f32[8,100]{1,0:T(8,128)}", "f32[4,200]{1,0:T(4,256)}")}) {
    const Placed m = placed(fmt::format(R"(HloModule m, is_scheduled=true
ENTRY e {{
  p = {0} parameter(0)
  a = {0} negate(p)
  b = {1} bitcast(a)
  ROOT r = {1} negate(b)
}})",
                                        from, to));
    expect_fault(m, run(m), FaultKind::kNotANoOp, "b");
  }
}

TEST(PlantedFault, LoopStateAtTwoPlaces) {
  const Placed m = placed(kLoop);
  const ValueIndex state = m.value("state", {1});
  m.assigned(state).offset += 4096;
  const Outcome outcome = run(m);
  expect_fault(m, outcome, FaultKind::kMisplaced, "state");
}

TEST(PlantedFault, BeyondTheEndOfMemory) {
  const Placed m = placed(kPrefetch);
  PhysicalOptions options;
  options.capacities[1] = 512;
  const Outcome outcome = run(m, options);
  ASSERT_TRUE(outcome.fault);
  EXPECT_EQ(outcome.fault->kind, FaultKind::kOutside) << outcome.text;
  options.capacities[1] = 1024;
  EXPECT_FALSE(run(m, options).fault);
}

TEST(PlantedFault, PlaceTooSmall) {
  const Placed m = placed(kChain);
  m.assigned(m.value("c")).size -= 4;
  expect_fault(m, run(m), FaultKind::kOutside, "c");
}

// ── many, by chance ─────────────────────────────────────────────

class ManyFaults : public testing::Test {
 protected:
  /// A placed random module: instructions in an order by chance, of the entry only what is computed.
  Placed make(uint32_t seed) {
    PreparationOptions options;
    options.random_order = seed;
    return placed(test::RandomDataflow(seed).text(), options);
  }
  std::mt19937 random{11};
  size_t below(size_t n) { return random() % n; }

  /// Temporary arrays of the entry that an instruction computes.
  static std::vector<ValueIndex> computed(const Placed& m) {
    std::vector<ValueIndex> found;
    for (size_t i = 0; i < m.buffers->values.size(); ++i) {
      const auto value = static_cast<ValueIndex>(i);
      const Instruction& definer = (*m.module)[m.buffers->definer(value)];
      const int32_t allocation = m.buffers->assignment.allocation_of[i];
      if (definer.parent != m.module->entry || allocation < 0 || m.buffers->values[value].is_phi ||
          !m.buffers->assignment.allocations[static_cast<size_t>(allocation)].is_temporary() ||
          !definer.shape->is_array() || dataflow(definer.opcode).value != ValueRule::kMakesAll)
        continue;
      found.push_back(value);
    }
    return found;
  }

  /// The first step after the value is made at which the entry computes something of it.
  static int32_t first_reader(const Placed& m, ValueIndex value) {
    int32_t first = -1;
    m.buffers->values.for_each_use(m.buffers->graph, m.buffers->places, value, [&](const ValueUse& use) {
      const Instruction& user = (*m.module)[use.user];
      const ValueRule rule = dataflow(user.opcode).value;
      const int32_t step = m.buffers->schedule.step_of[use.user];
      const bool computes = rule == ValueRule::kMakesAll || rule == ValueRule::kShallowCopy;
      if (!computes || user.parent != m.module->entry) first = -2;
      if (first != -2 && (first < 0 || step < first)) first = step;
    });
    return first;
  }
};

TEST_F(ManyFaults, ShortenedRangesAreFound) {
  int planted = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Placed m = make(seed);
    std::vector<ValueIndex> candidates;
    for (const ValueIndex value : computed(m))
      if (first_reader(m, value) > m.buffers->schedule.step_of[m.buffers->definer(value)])
        candidates.push_back(value);
    if (candidates.empty()) continue;
    const ValueIndex value = candidates[below(candidates.size())];
    m.range(value).end = m.range(value).start = m.buffers->schedule.step_of[m.buffers->definer(value)];
    ++planted;
    const Outcome outcome = run(m);
    ASSERT_TRUE(outcome.fault) << seed << " " << outcome.text;
    EXPECT_TRUE(outcome.fault->kind == FaultKind::kReadPoison ||
                outcome.fault->kind == FaultKind::kReadOverwritten)
        << seed << " " << outcome.text;
    EXPECT_EQ(outcome.fault->step, first_reader(m, value)) << seed << " " << outcome.text;
  }
  std::cout << planted << " ranges shortened, all found\n";
  EXPECT_GT(planted, 100);
}

TEST_F(ManyFaults, OverlapsAreFound) {
  int planted = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Placed m = make(seed);
    const std::vector<ValueIndex> values = computed(m);
    std::vector<std::pair<ValueIndex, ValueIndex>> candidates;  // needed, written over it
    for (const ValueIndex a : values)
      for (const ValueIndex b : values) {
        const auto of = [&](ValueIndex value) {
          return m.buffers->assignment.allocation_of[static_cast<size_t>(value)];
        };
        if (of(a) == of(b) && m.buffers->buffers->of(a) != m.buffers->buffers->of(b) &&
            m.range(a).start < m.range(b).start && m.range(a).end > m.range(b).start)
          candidates.emplace_back(a, b);
      }
    if (candidates.empty()) continue;
    const auto [a, b] = candidates[below(candidates.size())];
    m.put_at(b, a);
    ++planted;
    const Outcome outcome = run(m);
    ASSERT_TRUE(outcome.fault) << seed;
    EXPECT_TRUE(outcome.fault->kind == FaultKind::kOverlap ||
                outcome.fault->kind == FaultKind::kOperandChanged)
        << seed << " " << outcome.text;
    EXPECT_EQ(outcome.fault->instruction, m.buffers->definer(b)) << seed << " " << outcome.text;
  }
  std::cout << planted << " overlaps planted, all found\n";
  EXPECT_GT(planted, 100);
}

TEST_F(ManyFaults, ValuesInTheWrongSpaceAreFound) {
  int planted = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Placed m = make(seed);
    const std::vector<ValueIndex> values = computed(m);
    if (values.empty()) continue;
    const ValueIndex value = values[below(values.size())];
    const AssignedValue moved = m.assigned(value);
    const auto number = static_cast<size_t>(m.buffers->assignment.allocation_of[static_cast<size_t>(value)]);
    std::erase_if(m.buffers->assignment.allocations[number].values,
                  [&](const AssignedValue& other) { return other.value == value; });
    Allocation elsewhere;
    elsewhere.size = moved.size;
    elsewhere.space = m.buffers->assignment.allocations[number].space + 1;
    elsewhere.values = {{value, 0, moved.size}};
    m.buffers->assignment.allocations.push_back(elsewhere);
    ++planted;
    const Outcome outcome = run(m);
    ASSERT_TRUE(outcome.fault) << seed;
    EXPECT_EQ(to_text(outcome.fault->kind), to_text(FaultKind::kWrongSpace)) << seed << " " << outcome.text;
    EXPECT_EQ(outcome.fault->instruction, m.buffers->definer(value)) << seed << " " << outcome.text;
  }
  std::cout << planted << " values moved to another space, all found\n";
  EXPECT_GT(planted, 100);
}

/// Of every copy: a use before its done, and something written over its operand between start and done.
TEST_F(ManyFaults, FaultsOfCopiesAreFound) {
  int uses = 0, changes = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Placed m = make(seed);
    for (const InstructionId start : std::vector<InstructionId>(m.buffers->schedule.steps)) {
      if (dataflow((*m.module)[start].opcode).value != ValueRule::kCopyStart) continue;
      const InstructionId done = m.buffers->graph.users(start)[0];
      const InstructionId user = m.buffers->graph.users(done)[0];
      const int32_t at_done = m.buffers->schedule.step_of[done],
                    at_start = m.buffers->schedule.step_of[start];

      const ValueIndex operand =
          m.buffers->values.at(m.buffers->places.first((*m.module)[start].operands[0]));
      for (const ValueIndex value : computed(m)) {
        const int32_t made = m.buffers->schedule.step_of[m.buffers->definer(value)];
        if (made <= at_start || made >= at_done || m.assigned(value).size != m.assigned(operand).size)
          continue;
        Assignment& assignment = m.buffers->assignment;
        const Assignment kept = assignment;
        m.put_at(value, operand);
        ++changes;
        const Outcome outcome = run(m);
        assignment = kept;
        ASSERT_TRUE(outcome.fault) << seed;
        EXPECT_EQ(to_text(outcome.fault->kind), to_text(FaultKind::kOperandChanged))
            << seed << " " << outcome.text;
        EXPECT_EQ(outcome.fault->instruction, m.buffers->definer(value)) << seed << " " << outcome.text;
        break;
      }

      std::vector<InstructionId>& steps = m.buffers->schedule.steps;
      const std::vector<InstructionId> kept = steps;
      steps.erase(std::find(steps.begin(), steps.end(), user));
      steps.insert(std::find(steps.begin(), steps.end(), done), user);
      ++uses;
      const Outcome outcome = run(m);
      ASSERT_TRUE(outcome.fault) << seed;
      EXPECT_EQ(to_text(outcome.fault->kind), to_text(FaultKind::kReadBeforeDone))
          << seed << " " << outcome.text;
      EXPECT_EQ(outcome.fault->instruction, user) << seed << " " << outcome.text;
      EXPECT_EQ(outcome.fault->step, at_done) << seed << " " << outcome.text;
      steps = kept;
    }
  }
  std::cout << uses << " uses before done and " << changes << " changed operands, all found\n";
  EXPECT_GT(uses, 100);
  EXPECT_GT(changes, 25);
}

}  // namespace
}  // namespace hlosim
