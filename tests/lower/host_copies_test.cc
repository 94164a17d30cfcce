// Loops that read ahead from the host's memory and write behind compute the same.
#include "lower/host_copies.h"

#include <gtest/gtest.h>

#include "exec/program.h"
#include "lower/pass.h"
#include "support/execution.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// `count` turns from `first` on: each reads row `at` of `from`, which lies on the host, and writes what it
/// computes into row `i` of `to`.
std::string loop(int64_t first, int64_t count, const std::string& at, const std::string& value) {
  return fmt::format(R"(HloModule m
body {{
  p = (s32[], s32[1,128], s32[10,128]{{1,0:S(5)}}, s32[10,128]{{1,0:S(5)}}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  sum = s32[1,128] get-tuple-element(p), index=1
  from = s32[10,128]{{1,0:S(5)}} get-tuple-element(p), index=2
  to = s32[10,128]{{1,0:S(5)}} get-tuple-element(p), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  nine = s32[] constant(9)
  {2}
  row = s32[1,128] dynamic-slice(from, at, zero), dynamic_slice_sizes={{1,128}}
  twice = s32[1,128] add(sum, sum)
  more = s32[1,128] add(twice, row)
  written = s32[10,128]{{1,0:S(5)}} dynamic-update-slice(to, {3}, i, zero)
  n = s32[] add(i, one)
  ROOT t = (s32[], s32[1,128], s32[10,128]{{1,0:S(5)}}, s32[10,128]{{1,0:S(5)}}) tuple(n, more, from, written)
}}
goes {{
  p = (s32[], s32[1,128], s32[10,128]{{1,0:S(5)}}, s32[10,128]{{1,0:S(5)}}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  end = s32[] constant({1})
  ROOT c = pred[] compare(i, end), direction=LT
}}
ENTRY e {{
  from = s32[10,128]{{1,0:S(5)}} parameter(0)
  to = s32[10,128]{{1,0:S(5)}} parameter(1)
  first = s32[] constant({0})
  none = s32[] constant(0)
  nothing = s32[1,128] broadcast(none), dimensions={{}}
  start = (s32[], s32[1,128], s32[10,128]{{1,0:S(5)}}, s32[10,128]{{1,0:S(5)}}) tuple(first, nothing, from, to)
  end = (s32[], s32[1,128], s32[10,128]{{1,0:S(5)}}, s32[10,128]{{1,0:S(5)}}) while(start), condition=goes, body=body
  sum = s32[1,128] get-tuple-element(end), index=1
  all = s32[10,128]{{1,0:S(5)}} get-tuple-element(end), index=3
  ROOT out = (s32[1,128], s32[10,128]{{1,0:S(5)}}) tuple(sum, all)
}}
)",
                     first, first + count, at, value);
}

std::vector<int32_t> sums_of(const std::string& text) {
  test::Execution execution(text);
  std::vector<Array> inputs;
  for (size_t input = 0; input < 2; ++input) {
    std::vector<float> numbers(1280);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>((i * 7919 + input) % 1000);
    inputs.push_back(execution.array(execution.program()->parameters()[input], numbers));
  }
  std::vector<int32_t> all;
  for (const Array& output : execution.arrays(inputs))
    all.insert(all.end(), output.as<int32_t>(), output.as<int32_t>() + output.count());
  EXPECT_EQ(execution.problems(), "") << text;
  return all;
}

size_t count_of(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at) ++count;
  return count;
}

std::string pipelined(const std::string& text, const char* passes = "tile,pipeline-host") {
  return to_text(run_passes(test::module_or_fail(text), *parse_passes(passes),
                            {op_table(), test::device_or_fail("v6e")}),
                 op_table());
}

TEST(HostCopies, GivesTheSameBits) {
  for (const char* at : {"at = s32[] add(i, zero)", "at = s32[] subtract(nine, i)"})
    for (const int64_t first : {0, 3})
      for (const int64_t count : {2, 3, 7}) {
        const std::string text = loop(first, count, at, "more");
        const std::string rewritten = pipelined(text);
        EXPECT_EQ(count_of(rewritten, "read-ahead"), 2U) << rewritten;  // made, taken
        EXPECT_EQ(sums_of(rewritten), sums_of(text)) << rewritten;
        EXPECT_EQ(sums_of(pipelined(text, "tile,pipeline-host,host-copies,fuse")), sums_of(text));
      }
}

TEST(HostCopies, LeavesAloneWhatGainsNothing) {
  // One turn; a place that the data says; a value that is there when the turn begins.
  EXPECT_EQ(count_of(pipelined(loop(0, 1, "at = s32[] add(i, zero)", "more")), "write-behind"), 0U);
  const std::string by_data = pipelined(
      loop(0, 5, "one.1 = s32[1,1] slice(sum), slice={[0:1], [0:1]}\n  at = s32[] reshape(one.1)", "more"));
  EXPECT_EQ(count_of(by_data, "read-ahead"), 0U);
  const std::string at_once = pipelined(loop(0, 5, "at = s32[] add(i, zero)", "sum"));
  EXPECT_EQ(count_of(at_once, "write-behind"), 0U);
  EXPECT_EQ(count_of(at_once, "write-last"), 0U);
}

}  // namespace
}  // namespace hlosim
