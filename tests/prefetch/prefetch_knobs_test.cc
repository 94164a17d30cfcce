// Knobs and overrides: their defaults, what is wrong with them, what they do.
#include "prefetch/prefetch_knobs.h"

#include <gmock/gmock.h>

#include "prefetch/prefetch.h"
#include "support/modules.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

using testing::HasSubstr;

std::string problem(std::string_view text) {
  XlaKnobs knobs;
  const auto done = read_knobs(knobs, std::make_shared<const SourceFile>("k.textproto", std::string(text)));
  return done ? "" : render(done.error());
}

XlaKnobs read(std::string_view text) {
  XlaKnobs knobs;
  const auto done = read_knobs(knobs, test::source_of(text));
  EXPECT_TRUE(done) << (done ? "" : render(done.error()));
  return knobs;
}

TEST(XlaKnobs, EveryKnobTakesItsOwnDefault) {
  const std::vector<KnobRow> rows = knob_rows({});
  EXPECT_GT(rows.size(), 15u);
  for (const KnobRow& row : rows) {
    XlaKnobs knobs;
    EXPECT_TRUE(set_knob(knobs, row.name, row.value)) << row.name;
    EXPECT_EQ(knobs, XlaKnobs()) << row.name;
  }
}

TEST(XlaKnobs, SaysWhatIsWrong) {
  XlaKnobs knobs;
  const auto error = [&](std::string_view name, std::string_view value) {
    const auto done = set_knob(knobs, name, value);
    return done ? "" : render(done.error());
  };
  EXPECT_THAT(error("max_retrys", "1"), HasSubstr("did you mean \"max_retries\"?"));
  EXPECT_THAT(error("max_retries", "two"), HasSubstr("max_retries: 'two' is not a whole number from 1 on"));
  EXPECT_THAT(error("max_retries", "0"), HasSubstr("a whole number from 1 on"));
  EXPECT_THAT(error("async_copy_bandwidth_scaling_factor", "1.5"), HasSubstr("is not a number from"));
  EXPECT_THAT(error("enforce_prefetch_fifo_order", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(error("enable_block_prefetching", "true"),
              HasSubstr("the knob 'enable_block_prefetching' of XLA's assigner is not modelled"));
  EXPECT_EQ(error("enable_block_prefetching", "false"), "");
  EXPECT_THAT(error("window_prefetch_mode", "prefetch"), HasSubstr("is not modelled: how large the window"));
  EXPECT_EQ(knobs, XlaKnobs());
}

TEST(XlaKnobs, ReadsTextFormat) {
  const XlaKnobs knobs = read(R"(# how XLA writes it
max_retries: 3, enforce_prefetch_fifo_order: true;
preferred_prefetch_overrides {
  overrides {
    hlo_operand_filter { instruction_name_regex: "fusion\\.1" "0" operand_number: 1 tuple_index { index: [2] } }
    override_options: < prefetch_eagerness: 0.5 >
  }
  overrides { hlo_operand_filter { size_gte: 100 size_lte: 200 }
              override_options { after_instruction { instruction_name_regex: 'add' } } }
}
overrides { hlo_position_matcher { instruction_regex: ".*dot.*" hlo_use_filter { operand_number: 0 } }
            override_options { assign_value: -7 } }
)");
  EXPECT_EQ(knobs.max_retries, 3);
  EXPECT_TRUE(knobs.enforce_prefetch_fifo_order);
  ASSERT_EQ(knobs.preferred_prefetch_overrides.size(), 2u);
  const PreferredPrefetchOverride& first = knobs.preferred_prefetch_overrides[0];
  EXPECT_EQ(first.use.instruction_name_regex, "fusion\\.10");
  EXPECT_EQ(first.use.operand_number, 1);
  EXPECT_EQ(first.use.tuple_index, std::vector<int64_t>{2});
  EXPECT_EQ(first.prefetch_eagerness, 0.5);
  EXPECT_EQ(knobs.preferred_prefetch_overrides[1].use.size_lte, 200);
  EXPECT_EQ(knobs.preferred_prefetch_overrides[1].after_instruction->instruction_name_regex, "add");
  ASSERT_EQ(knobs.msa_sort_order_overrides.size(), 1u);
  EXPECT_EQ(knobs.msa_sort_order_overrides[0].kind, SortOrderOverride::Kind::kValue);
  EXPECT_EQ(knobs.msa_sort_order_overrides[0].value, -7);
  EXPECT_EQ(knobs.msa_sort_order_overrides[0].position_use->operand_number, 0);
}

TEST(XlaKnobs, MessagesHoldKnobsOfTheirOwn) {
  const XlaKnobs knobs =
      read("memory_bound_loop_optimizer_options { enabled: true desired_copy_ratio: 0.5 }");
  EXPECT_TRUE(knobs.loop_optimizer);
  EXPECT_EQ(knobs.loop_desired_copy_ratio, 0.5);
  EXPECT_THAT(problem("memory_bound_loop_optimizer_options { enable: true }"),
              HasSubstr("k.textproto:1:39: error: no knob"));
}

TEST(XlaKnobs, ErrorsHaveAPlace) {
  EXPECT_THAT(problem("max_retries: 1\n  max_retrys: 2"), HasSubstr("k.textproto:2:3: error: no knob"));
  EXPECT_THAT(problem("overrides {"), HasSubstr("k.textproto:1:"));
  EXPECT_THAT(
      problem("overrides { hlo_operand_filter { size: 3 } override_options { prefetch_eagerness: 1 } }"),
      HasSubstr("k.textproto:1:34: error: no field 'size' here"));
  EXPECT_THAT(problem("overrides { hlo_operand_filter { } override_options { prefetch_eagerness: 2 } }"),
              HasSubstr("the eagerness is from 0 to 1"));
  EXPECT_THAT(problem("overrides { hlo_operand_filter { instruction_name_regex: \"(\" }"
                      " override_options { prefetch_eagerness: 1 } }"),
              HasSubstr("'(' is not a regular expression: parentheses don't match"));
  EXPECT_THAT(problem("overrides { override_options { assign_first: true } }"),
              HasSubstr("either hlo_operand_filter or hlo_position_matcher"));
  EXPECT_THAT(problem("overrides { hlo_position_matcher { hlo_random_filter { seed: 1 } } "
                      "override_options { assign_first: true } }"),
              HasSubstr("'hlo_random_filter' is not modelled"));
  EXPECT_THAT(problem("sliced_prefetch_options { max_slices: 2 }"), HasSubstr("is not modelled"));
  EXPECT_THAT(problem("max_retries 3"), HasSubstr("expects ':' or '{' behind 'max_retries'"));
  EXPECT_THAT(problem("max_retries: \"3"), HasSubstr("the string does not end"));
  EXPECT_THAT(problem("}"), HasSubstr("expects the name of a field"));
}

/// Two weights of one size for equal products, of which only one fits.
constexpr std::string_view kTwoWeights = R"(
HloModule m, is_scheduled=true
ENTRY e {
  x = f32[512,512]{1,0:T(8,128)} parameter(0)
  w = f32[512,512]{1,0:T(8,128)} parameter(1)
  v = f32[512,512]{1,0:T(8,128)} parameter(2)
  a = f32[512,512]{1,0:T(8,128)} dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[512,512]{1,0:T(8,128)} dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  c = f32[512,512]{1,0:T(8,128)} dot(b, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT d = f32[512,512]{1,0:T(8,128)} dot(c, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
)";

std::string copied_by_xla(const XlaKnobs& knobs) {
  PrefetchOptions options;
  options.algorithm = PrefetchAlgorithm::kXla;
  options.knobs = knobs;
  options.knobs.max_size_in_bytes = 512 * 512 * 4;
  options.knobs.enable_cross_program_prefetch = false;
  options.knobs.min_overlap_to_async_copy_ratio = 0;
  options.knobs.max_overlap_to_mem_size_async_copy_ratio = 100;
  const Result<PrefetchResult> result =
      tune_prefetch(test::module_or_fail(kTwoWeights), op_table(), test::device_or_fail("v5e"), options);
  EXPECT_TRUE(result) << (result ? "" : render(result.error()));
  std::string text;
  if (result)
    for (const PrefetchRow& row : result->rows) text += row.value + " " + row.from + "-" + row.to + ";";
  return text;
}

TEST(XlaKnobs, OverridesDecide) {
  const std::string first =
      "overrides { hlo_position_matcher { instruction_name_regex: \"v\" } "
      "override_options { assign_first: true } }";
  EXPECT_THAT(copied_by_xla(read(first)), HasSubstr("v "));
  const std::string early =
      first +
      "overrides { hlo_operand_filter { instruction_name_regex: \"d\" operand_number: 1 }"
      " override_options { prefetch_eagerness: 1 } }";
  EXPECT_EQ(copied_by_xla(read(early)).find("v a-d;"), 0u) << copied_by_xla(read(early));
  const std::string before =
      first +
      "overrides { hlo_operand_filter { instruction_name_regex: \"d\" operand_number: 1 }"
      " override_options { before_instruction { instruction_name_regex: \"b\" } } }";
  EXPECT_THAT(copied_by_xla(read(before)), HasSubstr("v b-d;"));
}

}  // namespace
}  // namespace hlosim
