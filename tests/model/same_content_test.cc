// Which computations say the same, and that what is found once for all of them holds for each.
#include "hlo/same_content.h"

#include <gtest/gtest.h>

#include <set>

#include "model/cost_details.h"
#include "model/native_layouts.h"
#include "support/own_modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Whether the bodies of the two fusions of the entry say the same. `first` and `second`: their lists.
bool say_the_same(const std::string& first, const std::string& second) {
  const Module module = test::module_or_fail(
      "HloModule m\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT c = f32[] add(a, b)\n}\nadd_up {\n  x = f32[] parameter(0)\n  y = f32[] "
      "parameter(1)\n  ROOT z = f32[] add(x, y)\n}\nmost {\n  a = f32[] parameter(0)\n"
      "  b = f32[] parameter(1)\n  ROOT c = f32[] maximum(a, b)\n}\nf {\n" +
      first + "}\ng {\n" + second +
      "}\nENTRY e {\n  p = f32[8,128] parameter(0)\n  u = f32[8] fusion(p), kind=kLoop, "
      "calls=f\n  v = f32[8] fusion(p), kind=kLoop, calls=g\n  ROOT w = f32[8] add(u, v)\n}\n");
  IdMap<ComputationId, uint8_t> marked(module.computations.size());
  std::vector<ComputationId> bodies;
  for (const InstructionId id : module.entry_computation().instructions)
    if (const Attr* calls = module[id].find(AttrKey::kCalls)) {
      bodies.push_back(calls->computations()[0]);
      marked[bodies.back()] = true;
    }
  const ContentNumbers numbers(module, marked);
  EXPECT_GE(numbers[bodies[0]], 0);
  EXPECT_GE(numbers[bodies[1]], 0);
  return numbers[bodies[0]] == numbers[bodies[1]];
}

constexpr const char* kBody =
    "  p = f32[8,128] parameter(0)\n  s = f32[8,128] subtract(p, p)\n  z = f32[] constant(0)\n"
    "  ROOT r = f32[8] reduce(s, z), dimensions={1}, to_apply=sum\n";

TEST(ContentNumbers, NamesAndMetadataDontCount) {
  EXPECT_TRUE(say_the_same(
      kBody,
      "  q = f32[8,128] parameter(0)\n  t = f32[8,128] subtract(q, q), metadata={op_name=\"x\"}\n"
      "  o = f32[] constant(0)\n  ROOT n = f32[8] reduce(t, o), dimensions={1}, to_apply=add_up\n"));
}

TEST(ContentNumbers, EverythingElseCounts) {
  const std::string body = kBody;
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string changed = body;
    changed.replace(changed.find(part), part.size(), other);
    return changed;
  };
  EXPECT_FALSE(say_the_same(body, with("subtract", "add")));
  EXPECT_FALSE(say_the_same(body, with("constant(0)", "constant(1)")));
  EXPECT_FALSE(say_the_same(body, with("to_apply=sum", "to_apply=most")));
  EXPECT_FALSE(say_the_same(body, with("s = f32[8,128]", "s = f32[8,128]{0,1}")));
  EXPECT_FALSE(
      say_the_same(body, with("  s = f32[8,128] subtract(p, p)\n",
                              "  s = f32[8,128] subtract(p, p)\n  unused = f32[8,128] negate(p)\n")));
}

TEST(ContentNumbers, WhichOperandIsWhichCounts) {
  const auto body = [](std::string_view operands) {
    return fmt::format(
        "  p = f32[8,128] parameter(0)\n  n = f32[8,128] negate(p)\n  s = f32[8,128] subtract({})\n"
        "  z = f32[] constant(0)\n  ROOT r = f32[8] reduce(s, z), dimensions={{1}}, to_apply=sum\n",
        operands);
  };
  EXPECT_TRUE(say_the_same(body("p, n"), body("p, n")));
  EXPECT_FALSE(say_the_same(body("p, n"), body("n, p")));
}

/// Compares the costs of all instructions of the entry with those of each by itself. Returns their number.
size_t compare_with_each_alone(const Module& module, const Device& device, const std::string& where) {
  AssumptionList assumptions;
  const Result<InstructionCosts> costs = cost_instructions(module, op_table(), device, {}, assumptions);
  if (!costs) return 0;
  size_t compared = 0;
  for (const InstructionId id : module.entry_computation().instructions) {
    if (!costs->has(id)) continue;
    const Result<CostDetails> alone = cost_details(module, op_table(), device, {}, id);
    if (!alone) {
      ADD_FAILURE() << where << ' ' << module[id].name;
      continue;
    }
    const InstructionCost &one = (*costs)[id], &other = alone->cost;
    EXPECT_EQ(one.busy, other.busy) << where << ' ' << module[id].name;
    EXPECT_EQ(one.traffic, other.traffic) << where << ' ' << module[id].name;
    EXPECT_EQ(one.time(), other.time()) << where << ' ' << module[id].name;
    EXPECT_EQ(one.flops, other.flops) << where << ' ' << module[id].name;
    EXPECT_EQ(one.provenance, other.provenance) << where << ' ' << module[id].name;
    ++compared;
  }
  return compared;
}

TEST(KnownCosts, AreThoseOfEachInstructionByItself) {
  constexpr size_t kMostInstructions = 150;  // each one goes through the whole module
  const Device device = test::device_or_fail("v5e");
  size_t compared = 0;
  test::for_each_module(15, [&](const std::string& file, Module& given) {
    if (given.instructions.size() > kMostInstructions) return;
    compared += compare_with_each_alone(lay_out(given, device).module, device, file);
  });
  EXPECT_GT(compared, 300u);
}

// Reciprocals are made of what a divisor repeats, so the cost depends on an operand of an operand.
TEST(KnownCosts, DependOnWhatADivisorRepeats) {
  const Device device = test::device_or_fail("v5e");
  const Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n"
      "  x = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} parameter(0)\n"
      "  rows = f32[8,1024]{1,0:T(8,128)S(1)} parameter(1)\n"
      "  columns = f32[8,1024]{0,1:T(8,128)S(1)} parameter(2)\n"
      "  all = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} parameter(3)\n"
      "  by_rows = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} broadcast(rows), dimensions={0,1}\n"
      "  by_columns = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} broadcast(columns), dimensions={0,1}\n"
      "  a = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} divide(x, by_columns)\n"
      "  b = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} divide(x, by_rows)\n"
      "  c = f32[8,1024,1024]{2,1,0:T(8,128)S(1)} divide(x, all)\n"
      "  ROOT r = (f32[8,1024,1024]{2,1,0:T(8,128)S(1)}, f32[8,1024,1024]{2,1,0:T(8,128)S(1)}, "
      "f32[8,1024,1024]{2,1,0:T(8,128)S(1)}) tuple(a, b, c)\n}\n");
  EXPECT_EQ(compare_with_each_alone(module, device, "divisors"), 5u);
  AssumptionList assumptions;
  const Result<InstructionCosts> costs = cost_instructions(module, op_table(), device, {}, assumptions);
  ASSERT_TRUE(costs);
  std::set<UnitTimes> times;
  for (const InstructionId id : module.entry_computation().instructions)
    if (module[id].opcode == Opcode::kDivide) times.insert((*costs)[id].busy);
  EXPECT_EQ(times.size(), 3u) << "else this test compares costs that are alike anyway";
}

}  // namespace
}  // namespace hlosim
