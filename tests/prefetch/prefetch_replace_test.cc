// Synchronous copies and slices that become asynchronous ones to the chip.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>

#include "oracle/execute.h"
#include "oracle/random_module.h"
#include "prefetch/prefetch.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

XlaKnobs replacing() {
  XlaKnobs knobs;
  knobs.enable_sync_copy_replacement = knobs.enable_sync_slice_replacement = true;
  knobs.inefficient_use_to_copy_ratio = 0;
  knobs.min_overlap_to_async_copy_ratio = 0;
  return knobs;
}

PrefetchResult tuned(const Module& module, const XlaKnobs& knobs, const Device& device,
                     PrefetchAlgorithm algorithm = PrefetchAlgorithm::kXla) {
  PrefetchOptions options;
  options.algorithm = algorithm;
  options.knobs = knobs;
  options.moves = 300;
  Result<PrefetchResult> result = tune_prefetch(module, op_table(), device, options);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  return result ? std::move(*result) : PrefetchResult();
}

/// False: the module given can't run.
bool compute_the_same(Module& before, Module& after, uint64_t seed) {
  const std::vector<test::ValuePtr> inputs = test::random_inputs(before, seed);
  const test::Outputs x = test::execute(before, inputs), y = test::execute(after, inputs);
  if (!x.error.empty()) return false;
  EXPECT_EQ(y.error, "");
  EXPECT_EQ(x.leaves.size(), y.leaves.size());
  for (size_t k = 0; k < std::min(x.leaves.size(), y.leaves.size()); ++k) {
    const auto same = [&](const test::Element& a, const test::Element& b) {
      return test::agrees(x.leaves[k]->type(), a, b);
    };
    EXPECT_TRUE(std::equal(x.leaves[k]->data.begin(), x.leaves[k]->data.end(), y.leaves[k]->data.begin(),
                           y.leaves[k]->data.end(), same))
        << k;
  }
  return true;
}

std::string tuned_text(std::string_view text, const XlaKnobs& knobs) {
  Module module = test::module_or_fail(text);
  const PrefetchResult result = tuned(module, knobs, test::device_or_fail("v5e"));
  // Read again it takes the same time, and computes the same.
  Module again = test::module_or_fail(to_text(result.module, op_table()));
  EXPECT_EQ(test::simulate_or_fail(again, test::device_or_fail("v5e")).totals.makespan, result.tuned.time);
  EXPECT_TRUE(compute_the_same(module, again, 1)) << text;
  return to_text(result.module, op_table());
}

/// `line` makes `part` of the weights w; products before it hide its copy.
std::string with(std::string_view line, std::string_view later = "") {
  return fmt::format(R"(HloModule m, is_scheduled=true
ENTRY e {{
  x = f32[512,512]{{1,0:T(8,128)}} parameter(0)
  w = f32[4,512,512]{{2,1,0:T(8,128)}} parameter(1)
  i = s32[] parameter(2)
  y = f32[512,512]{{1,0:T(8,128)}} parameter(3)
  zero = s32[] constant(0)
  a = f32[512,512]{{1,0:T(8,128)}} multiply(x, x)
  b = f32[512,512]{{1,0:T(8,128)}} multiply(a, x)
  {}
  c = f32[512,512]{{1,0:T(8,128)}} multiply(b, x)
  {}
  ROOT r = f32[512,512]{{1,0:T(8,128)}} multiply(c, part)
}}
)",
                     line, later);
}

constexpr std::string_view kSlice =
    "s = f32[1,512,512]{2,1,0:T(8,128)} slice(w), slice={[2:3], [0:512], [0:512]}\n"
    "  part = f32[512,512]{1,0:T(8,128)} bitcast(s)";
constexpr std::string_view kDynamicSlice =
    "s = f32[1,512,512]{2,1,0:T(8,128)} dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,512,512}\n"
    "  part = f32[512,512]{1,0:T(8,128)} bitcast(s)";
constexpr std::string_view kCopy = "part = f32[512,512]{1,0:T(8,128)} copy(y)";

TEST(SyncReplacement, SlicesStartEarly) {
  XlaKnobs knobs = replacing();
  const std::string text = tuned_text(with(kSlice), knobs);
  EXPECT_THAT(
      text, AllOf(HasSubstr(" slice-start(%w), slice={[2:3], [0:512], [0:512]}"), Not(HasSubstr(" slice("))));
  // To the chip, beside a product at least.
  EXPECT_LT(text.find("slice-start"), text.find("%c ="));
  EXPECT_GT(text.find("slice-done"), text.find("%c ="));
  EXPECT_THAT(text, HasSubstr("f32[1,512,512]{2,1,0:T(8,128)S(1)} slice-done("));
  knobs.enable_sync_slice_replacement = false;
  EXPECT_THAT(tuned_text(with(kSlice), knobs), AllOf(HasSubstr(" slice("), Not(HasSubstr("slice-start"))));
}

TEST(SyncReplacement, DynamicSlicesToo) {
  XlaKnobs knobs = replacing();
  EXPECT_THAT(tuned_text(with(kDynamicSlice), knobs),
              AllOf(HasSubstr(" dynamic-slice-start(%w, %i"), Not(HasSubstr(" dynamic-slice("))));
  knobs.enable_sync_slice_replacement = false;
  EXPECT_THAT(tuned_text(with(kDynamicSlice), knobs), HasSubstr(" dynamic-slice("));
}

TEST(SyncReplacement, CopiesHaveAKnobOfTheirOwn) {
  XlaKnobs knobs = replacing();
  EXPECT_THAT(tuned_text(with(kCopy), knobs), Not(HasSubstr(" copy(")));
  knobs.enable_sync_copy_replacement = false;
  EXPECT_THAT(tuned_text(with(kCopy), knobs), HasSubstr(" copy("));
}

TEST(SyncReplacement, StaysWhatADmaCantDo) {
  for (const std::string_view line :
       {// Not whole tiles.
        "s = f32[4,512,512]{2,1,0:T(8,128)} add(w, w)\n"
        "  t = f32[1,504,512]{2,1,0:T(8,128)} slice(w), slice={[2:3], [4:508], [0:512]}\n"
        "  z = f32[] constant(0)\n"
        "  u = f32[1,512,512]{2,1,0:T(8,128)} pad(t, z), padding=0_0x4_4x0_0\n"
        "  part = f32[512,512]{1,0:T(8,128)} bitcast(u)",
        // Another layout.
        "part = f32[512,512]{0,1:T(8,128)} copy(x)",
        // What is copied may be made on the chip.
        "s = f32[512,512]{1,0:T(8,128)} negate(x)\n"
        "  part = f32[512,512]{1,0:T(8,128)} copy(s)"}) {
    const std::string text = tuned_text(with(line), replacing());
    EXPECT_THAT(text, Not(HasSubstr("slice-start"))) << line;
    EXPECT_THAT(text, testing::AnyOf(HasSubstr(" slice("), HasSubstr(" copy("))) << line;
  }
}

TEST(SyncReplacement, NotBehindAnUpdateInPlaceOfItsOperand) {
  // The product in between gives `s` up to the update.
  const std::string text = R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[512,512]{1,0:T(8,128)} parameter(0)
  w = f32[4,512,512]{2,1,0:T(8,128)} parameter(1)
  zero = s32[] constant(0)
  n = f32[1,512,512]{2,1,0:T(8,128)} bitcast(x)
  v = f32[4,512,512]{2,1,0:T(8,128)} dynamic-update-slice(w, n, zero, zero, zero)
  a = f32[512,512]{1,0:T(8,128)} multiply(x, x)
  s = f32[1,512,512]{2,1,0:T(8,128)} slice(v), slice={[2:3], [0:512], [0:512]}
  UPDATE
  b = f32[512,512]{1,0:T(8,128)} multiply(a, x)
  part = f32[512,512]{1,0:T(8,128)} bitcast(s)
  c = f32[512,512]{1,0:T(8,128)} multiply(b, part)
  ROOT r = (f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) tuple(c, LAST)
}
)";
  const auto filled = [&](std::string_view update, std::string_view last) {
    std::string made = text;
    made.replace(made.find("UPDATE"), 6, update);
    made.replace(made.find("LAST"), 4, last);
    return made;
  };
  EXPECT_THAT(tuned_text(filled("", "v"), replacing()), HasSubstr("slice-start"));
  EXPECT_THAT(
      tuned_text(
          filled("o = f32[4,512,512]{2,1,0:T(8,128)} dynamic-update-slice(v, n, zero, zero, zero)", "o"),
          replacing()),
      Not(HasSubstr("slice-start")));
}

TEST(SyncReplacement, MayBeOneMoreThanOtherPrefetches) {
  // The weights' own prefetch takes the one place there is.
  const std::string text = with(kSlice, "h = f32[512,512]{1,0:T(8,128)} multiply(c, x)");
  XlaKnobs knobs = replacing();
  knobs.max_outstanding_prefetches = 0;
  EXPECT_THAT(tuned_text(text, knobs), Not(HasSubstr("slice-start")));
  knobs.extend_async_copies_limit_for_sync_mem_op_conversion = 1;
  EXPECT_THAT(tuned_text(text, knobs), HasSubstr("slice-start"));
}

TEST(SyncReplacement, InLoopsWhatTheyCarryUnchanged) {
  const std::string text = R"(HloModule m, is_scheduled=true
cond {
  s = (s32[], f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  zero = s32[] constant(0)
  x = f32[512,512]{1,0:T(8,128)} get-tuple-element(s), index=1
  w = f32[4,512,512]{2,1,0:T(8,128)} get-tuple-element(s), index=2
  a = f32[512,512]{1,0:T(8,128)} multiply(x, x)
  d = f32[1,512,512]{2,1,0:T(8,128)} dynamic-slice(w, i, zero, zero), dynamic_slice_sizes={1,512,512}
  part = f32[512,512]{1,0:T(8,128)} bitcast(d)
  b = f32[512,512]{1,0:T(8,128)} multiply(a, part)
  ROOT t = (s32[], f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) tuple(next, b, w)
}
ENTRY e {
  x = f32[512,512]{1,0:T(8,128)} parameter(0)
  w = f32[4,512,512]{2,1,0:T(8,128)} parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) tuple(zero, x, w)
  l = (s32[], f32[512,512]{1,0:T(8,128)}, f32[4,512,512]{2,1,0:T(8,128)}) while(t), condition=cond, body=body
  ROOT r = f32[512,512]{1,0:T(8,128)} get-tuple-element(l), index=1
}
)";
  EXPECT_THAT(tuned_text(text, replacing()), HasSubstr("dynamic-slice-start(%w"));
}

/// Products of f32[128,128], parts of larger arrays, copies and updates in place, in any order.
std::string random_products(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> matrices = {"x", "y"}, stacks = {"w"};
  std::string text = R"(HloModule random, is_scheduled=true
ENTRY e {
  x = f32[128,128]{1,0:T(8,128)} parameter(0)
  y = f32[128,128]{1,0:T(8,128)} parameter(1)
  w = f32[4,128,128]{2,1,0:T(8,128)} parameter(2)
  i = s32[] parameter(3)
  zero = s32[] constant(0)
)";
  const auto any = [&](const std::vector<std::string>& names) { return names[random() % names.size()]; };
  const std::string matrix = "f32[128,128]{1,0:T(8,128)}", part = "f32[1,128,128]{2,1,0:T(8,128)}";
  for (int k = 0; k < 14; ++k) {
    const std::string name = fmt::format("v{}", k);
    const uint64_t first = random() % 4;
    switch (random() % 7) {
      case 0:
        text += fmt::format(
            "  {0}.s = {1} slice({2}), slice={{[{3}:{4}], [0:128], [0:128]}}\n"
            "  {0} = {5} bitcast({0}.s)\n",
            name, part, any(stacks), first, first + 1, matrix);
        break;
      case 1:
        text += fmt::format(
            "  {0}.s = {1} dynamic-slice({2}, i, zero, zero), dynamic_slice_sizes={{1,128,128}}\n"
            "  {0} = {3} bitcast({0}.s)\n",
            name, part, any(stacks), matrix);
        break;
      case 2:
        text += fmt::format("  {} = {} copy({})\n", name, matrix, any(matrices));
        break;
      case 3:
        text += fmt::format(
            "  {0}.p = {1} bitcast({2})\n"
            "  {0}.u = f32[4,128,128]{{2,1,0:T(8,128)}} dynamic-update-slice({3}, {0}.p, i, zero, zero)\n",
            name, part, any(matrices), stacks.back());
        stacks.push_back(name + ".u");
        continue;
      default:
        text += fmt::format("  {} = {} dot({}, {}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n",
                            name, matrix, any(matrices), any(matrices));
    }
    matrices.push_back(name);
  }
  return text + fmt::format("  ROOT r = {} add({}, {})\n}}\n", matrix, matrices.back(), any(matrices));
}

TEST(SyncReplacement, RandomModulesComputeTheSame) {
  size_t replaced = 0, faster = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::string text = random_products(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text));
    Module module = test::module_or_fail(text);
    const Device device = test::device_or_fail("v5e");
    const bool strong = seed % 4 == 0;
    XlaKnobs knobs = replacing();
    knobs.max_size_in_bytes = 65536 * static_cast<int64_t>(2 + seed % 5);
    PrefetchResult result =
        tuned(module, knobs, device, strong ? PrefetchAlgorithm::kStrong : PrefetchAlgorithm::kXla);
    if (strong) {
      for (const PrefetchCandidate& one : result.candidates) EXPECT_LE(result.tuned.time, one.times.time);
      EXPECT_LE(result.bound, result.tuned.time);
    }
    EXPECT_LE(result.peak, result.capacity);
    EXPECT_TRUE(compute_the_same(module, result.module, seed));
    if (HasFailure()) FAIL() << to_text(result.module, op_table());
    replaced += std::ranges::count_if(result.rows, [](const PrefetchRow& row) {
      return row.reason.find("made by a copy") != std::string::npos;
    });
    faster += result.tuned.time < result.stripped.time;
  }
  EXPECT_GT(replaced, 20u);
  EXPECT_GT(faster, 80u);
}

}  // namespace
}  // namespace hlosim
