// A part that is taken out, changed and put back gives the same bits where it is changed in place.
#include "lower/part_updates.h"

#include <gtest/gtest.h>

#include "exec/program.h"
#include "lower/pass.h"
#include "support/execution.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// `s32[4,6,5]` of which a loop changes something in each of four turns. `turn` computes `next` and the sum
/// `more`.
std::string loop(const std::string& turn) {
  return fmt::format(R"(HloModule m
plus {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}}
body {{
  p = (s32[], s32[], s32[4,6,5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  sum = s32[] get-tuple-element(p), index=1
  all = s32[4,6,5] get-tuple-element(p), index=2
  zero = s32[] constant(0)
  nothing = s32[] constant(0)
  one = s32[] constant(1)
  two = s32[] constant(2)
  far = s32[] constant(100)
  back = s32[] subtract(two, i)
  {}
  n = s32[] add(i, one)
  ROOT t = (s32[], s32[], s32[4,6,5]) tuple(n, more, next)
}}
goes {{
  p = (s32[], s32[], s32[4,6,5]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  end = s32[] constant(4)
  ROOT c = pred[] compare(i, end), direction=LT
}}
ENTRY e {{
  all = s32[4,6,5] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], s32[], s32[4,6,5]) tuple(zero, zero, all)
  ROOT end = (s32[], s32[], s32[4,6,5]) while(start), condition=goes, body=body
}}
)",
                     turn);
}

/// A layer's rows [6,5], of which `update` rows are written at `row` and `column`.
std::string layer(const std::string& layer, const std::string& update, const std::string& row,
                  const std::string& column) {
  return fmt::format(R"(taken = s32[1,6,5] dynamic-slice(all, {0}, zero, zero), dynamic_slice_sizes={{1,6,5}}
  part = s32[6,5] reshape(taken)
  new = s32[{1}] broadcast(sum), dimensions={{}}
  changed = s32[6,5] dynamic-update-slice(part, new, {2}, {3})
  put = s32[1,6,5] reshape(changed)
  next = s32[4,6,5] dynamic-update-slice(all, put, {0}, nothing, zero)
  seen = s32[] reduce(changed, zero), dimensions={{0,1}}, to_apply=plus
  more = s32[] add(seen, one))",
                     layer, update, row, column);
}

std::vector<int32_t> run(const std::string& text) {
  test::Execution execution(text);
  std::vector<float> numbers(120);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * 7919) % 1000);
  const std::vector<Array> outputs =
      execution.arrays({execution.array(execution.program()->parameters()[0], numbers)});
  EXPECT_EQ(execution.problems(), "") << text;
  std::vector<int32_t> all;
  for (const Array& output : outputs)
    all.insert(all.end(), output.as<int32_t>(), output.as<int32_t>() + output.count());
  return all;
}

std::string in_place(const std::string& text) {
  return to_text(run_passes(test::module_or_fail(text), *parse_passes("update-parts"),
                            {op_table(), test::device_or_fail("v5e")}),
                 op_table());
}

size_t updates(const std::string& text) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(" dynamic-update-slice(", at)) != std::string::npos; ++at) ++count;
  return count;
}

TEST(PartUpdates, GiveTheSameBits) {
  for (const char* which : {"i", "back", "zero", "far"})
    for (const char* update : {"6,5", "1,5", "2,5", "1,1", "6,2"})
      for (const char* row : {"zero", "i", "back", "far"})
        for (const char* column : {"zero", "back", "far"}) {
          const std::string text = loop(layer(which, update, row, column)), rewritten = in_place(text);
          ASSERT_EQ(updates(text), 2U);
          EXPECT_EQ(updates(rewritten), 1U) << rewritten;
          EXPECT_EQ(run(text), run(rewritten)) << text << rewritten;
        }
}

/// Slices without reshapes, of several rows of several layers at once.
TEST(PartUpdates, GiveTheSameBitsWithinSeveralLayers) {
  for (const char* place : {"i", "back", "far"})
    for (const auto& [taken, update, fits] : {std::tuple{"2,6,5", "2,1,5", true},
                                              {"2,6,3", "2,2,3", true},
                                              {"2,6,5", "1,6,5", false},
                                              {"4,6,5", "1,2,3", true},
                                              {"4,2,5", "3,2,2", true},
                                              {"4,2,5", "4,1,5", false}}) {
      const std::string text = loop(fmt::format(
          R"(part = s32[{1}] dynamic-slice(all, {0}, back, i), dynamic_slice_sizes={{{1}}}
  new = s32[{2}] broadcast(sum), dimensions={{}}
  changed = s32[{1}] dynamic-update-slice(part, new, i, i, back)
  next = s32[4,6,5] dynamic-update-slice(all, changed, {0}, back, i)
  seen = s32[] reduce(changed, zero), dimensions={{0,1,2}}, to_apply=plus
  more = s32[] add(seen, one))",
          place, taken, update));
      const std::string rewritten = in_place(text);
      EXPECT_EQ(updates(rewritten), fits ? 1U : 2U) << rewritten;
      EXPECT_EQ(run(text), run(rewritten)) << text << rewritten;
    }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// What was there before the change is still asked for, or the part goes elsewhere.
TEST(PartUpdates, LeaveAloneWhatIsNoUpdateInPlace) {
  const std::string fine = loop(layer("i", "1,5", "back", "zero"));
  EXPECT_EQ(updates(in_place(fine)), 1U);
  const std::pair<const char*, const char*> changes[] = {
      {"reduce(changed, zero)", "reduce(part, zero)"},  // the part as it was
      {"dynamic-update-slice(all, put, i, nothing, zero)",
       "dynamic-update-slice(all, put, back, nothing, zero)"},
      {"more = s32[] add(seen, one)",  // the whole as it was
       "old = s32[1,1,1] dynamic-slice(all, i, zero, zero), dynamic_slice_sizes={1,1,1}\n"
       "  number = s32[] reshape(old)\n  more = s32[] add(seen, number)"},
      {"put = s32[1,6,5] reshape(changed)",  // what is put back is something else
       "twice = s32[6,5] add(changed, changed)\n  put = s32[1,6,5] reshape(twice)"},
      {"dynamic-update-slice(part, new, back, zero)",
       "dynamic-update-slice(part, new, back, zero), control-predecessors={i}"}};
  for (const auto& [from, to] : changes) {
    const std::string text = replaced(fine, from, to), rewritten = in_place(text);
    EXPECT_EQ(updates(rewritten), 2U) << rewritten;
    EXPECT_EQ(run(text), run(rewritten)) << text;
  }
}

}  // namespace
}  // namespace hlosim
