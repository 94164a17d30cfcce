// Lowered modules: they verify, compute what they did, and take no longer.
#include "lower/lower.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "lower/pass.h"
#include "model/native_layouts.h"
#include "oracle/execute.h"
#include "oracle/random_module.h"
#include "sim/simulate.h"
#include "support/modules.h"
#include "support/own_modules.h"

namespace hlosim {
namespace {

Device device_of(const std::string& name) {
  DiagnosticList problems;
  std::optional<Device> device = load_device(name, {}, {}, problems);
  EXPECT_TRUE(device) << test::rendered(problems);
  return device ? *device : Device();
}

/// How far sums in another order may be off: of f32, in which sums run, a few units of the last place.
double order_error(ElementType type, const test::Element& element) {
  if (type != ElementType::kF32) return 0;
  const double size = std::abs(test::real_of(type, element));
  return std::isfinite(size) ? 1e-6 * size : 0;
}

/// The first difference between two results, empty if they agree.
std::string difference(const test::Outputs& a, const test::Outputs& b) {
  if (a.leaves.size() != b.leaves.size()) return "number of leaves";
  for (size_t k = 0; k < a.leaves.size(); ++k) {
    const test::Value &want = *a.leaves[k], &got = *b.leaves[k];
    for (size_t i = 0; i < want.data.size(); ++i) {
      // Sums of products with a vector run in another order.
      const test::Element allowed{want.data[i].bits, want.data[i].imaginary,
                                  order_error(want.type(), want.data[i])};
      if (!test::agrees(want.type(), allowed, got.data[i]))
        return fmt::format("leaf {}, element {}: {} is not {}", k, i, test::text_of(got.type(), got.data[i]),
                           test::text_of(want.type(), want.data[i]));
    }
  }
  return {};
}

// Roundings that simplification leaves out would show; the generator makes few, so few seeds are left out.
TEST(Lower, RandomModulesComputeTheSame) {
  Device narrow = device_of("v6e");  // a few windows fill its VMEM
  narrow.config.vmem.scoped_limit = narrow.config.vmem.internal_scratch + Bytes(24 << 10);
  const Device devices[] = {device_of("v4"), device_of("v6e"), narrow};
  size_t compared = 0, fused = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const std::string text = test::random_module(seed, false);
    Module module = test::module_or_fail(text);
    if (!is_plain(module)) continue;
    const std::vector<test::ValuePtr> inputs = test::random_inputs(module, seed);
    const test::Outputs before = test::execute(module, inputs);
    if (!before.error.empty()) continue;
    Module lowered = lower(module, op_table(), devices[seed % 3]);
    ASSERT_EQ(test::difference(lowered, test::read_again(lowered)), "") << "seed " << seed << text;
    const test::Outputs after = test::execute(lowered, inputs);
    EXPECT_EQ(after.error, "") << "seed " << seed;
    const std::string found = difference(before, after);
    EXPECT_EQ(found, "") << "seed " << seed << "\n" << text << "\n" << to_text(lowered, op_table());
    if (!found.empty()) return;
    ++compared;
    for (const Instruction& instruction : lowered.instructions)
      fused += op_table()[instruction.opcode].has(kFusion);
  }
  EXPECT_GT(compared, 150u);
  EXPECT_GT(fused, 150u);
}

// What is the same bytes without tiles needn't be so with them; where it isn't, it takes time.
TEST(Lower, BitcastsThatMoveInTilesAreSpelledOut) {
  Module module = test::module_or_fail(
      "HloModule m\nENTRY e {\n p = f32[8,128,4096] parameter(0)\n q = f32[8,100,4096] parameter(1)\n"
      " r = f32[16,128]{1,0} parameter(2)\n whole = f32[1024,4096] bitcast(p)\n padded = f32[800,4096] "
      "bitcast(q)\n"
      " turned = f32[128,16]{0,1} bitcast(r)\n"
      " ROOT t = (f32[1024,4096], f32[800,4096], f32[128,16]{0,1}) tuple(whole, padded, turned)\n}");
  const Module same = module.copy();
  const Device device = device_of("v5e");
  module = lay_out(module, device).module;
  std::map<std::string_view, Opcode> opcodes;
  for (const InstructionId id : module.entry_computation().instructions)
    opcodes[module[id].name] = module[id].opcode;
  EXPECT_EQ(opcodes["whole"], Opcode::kBitcast);
  EXPECT_EQ(opcodes["padded"], Opcode::kReshape);
  EXPECT_EQ(opcodes["turned"], Opcode::kBitcast);
  const Module tiled = run_passes(same, *parse_passes("tile"), {op_table(), device});
  EXPECT_EQ(to_text(tiled, op_table()), to_text(module, op_table()));
}

/// A chain of `count` additions, every tenth of which is summed as well.
std::string chain_with_sums(int count) {
  std::string text = "HloModule m\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n";
  text +=
      "  ROOT c = f32[] add(a, b)\n}\nENTRY e {\n  x0 = f32[1024] parameter(0)\n  zero = f32[] constant(0)\n";
  std::string sums, types;
  for (int i = 1; i <= count; ++i) {
    text += fmt::format("  x{} = f32[1024] add(x{}, x0)\n", i, i - 1);
    if (i % 10 != 0) continue;
    text += fmt::format("  s{0} = f32[] reduce(x{0}, zero), dimensions={{0}}, to_apply=sum\n", i);
    sums += fmt::format("s{}, ", i), types += "f32[], ";
  }
  return text + fmt::format("  ROOT all = ({}f32[1024]) tuple({}x{})\n}}\n", types, sums, count);
}

TEST(Lower, KernelsRepeatLittleForEachOther) {
  const Device device = device_of("v5e");
  const Module module = test::module_or_fail(chain_with_sums(1000));
  const Module lowered = run_passes(module, default_passes(), {op_table(), device});
  size_t longest = 0, all = 0;
  for (const Computation& computation : lowered.computations) {
    if (&computation == &lowered.entry_computation()) continue;
    longest = std::max(longest, computation.instructions.size());
    all += computation.instructions.size();
  }
  EXPECT_LT(longest, 200u);
  EXPECT_LT(all, 10'000u);
}

TEST(Lower, OnlyWhatNoCompilerTouchedIsPlain) {
  EXPECT_TRUE(is_plain(test::module_or_fail("HloModule m\nENTRY e { ROOT a = f32[4] parameter(0) }")));
  EXPECT_TRUE(is_plain(test::module_or_fail("HloModule m\nENTRY e { ROOT a = f32[4,2]{0,1} parameter(0) }")));
  EXPECT_FALSE(is_plain(
      test::module_or_fail("HloModule m\nENTRY e { ROOT a = f32[4,2]{1,0:T(8,128)} parameter(0) }")));
  EXPECT_FALSE(is_plain(
      test::module_or_fail("HloModule m, is_scheduled=true\nENTRY e { ROOT a = f32[4] parameter(0) }")));
}

}  // namespace
}  // namespace hlosim
