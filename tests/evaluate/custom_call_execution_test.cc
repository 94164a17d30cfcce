// What custom calls with a known target compute.
#include <gmock/gmock.h>

#include "support/execution.h"

namespace hlosim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CustomCallExecution, AnnotationsHandTheirOperandsOn) {
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "xla.sdy.FuncResultSharding", "annotate_device_placement",
        "MoveToHost", "LayoutConstraint", "ShardBarrierFrom"}) {
    const std::string text = std::string(
                                 "HloModule m\nENTRY e {\n a = s32[2] constant({3, 4})\n"
                                 " ROOT r = s32[2] custom-call(a), custom_call_target=\"") +
                             target + "\"\n}\n";
    EXPECT_THAT(executed(text), ElementsAre("{3, 4}")) << target;
  }
}

TEST(CustomCallExecution, PinAndUnpinKeepTheValue) {
  EXPECT_THAT(executed(R"(HloModule m
ENTRY e {
  a = s32[2] constant({3, 4})
  b = b(s32[2]) custom-call(a), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
  ROOT r = s32[2] custom-call(b), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
})"),
              ElementsAre("{3, 4}"));
}

TEST(CustomCallExecution, CallMarkersHandSeveralOperandsOn) {
  EXPECT_THAT(executed(R"(HloModule m
ENTRY e {
  a = s32[2] constant({3, 4})
  b = f32[] constant(5)
  ROOT r = (s32[2], f32[]) custom-call(a, b), custom_call_target="__xla_internal_call_marker_before"
})"),
              ElementsAre("{3, 4}", "5"));
}

TEST(CustomCallExecution, ShardsOfSeveralDevicesAreRefused) {
  EXPECT_THAT(
      executed(R"(HloModule m
ENTRY e {
  a = s32[4] constant({3, 4, 5, 6})
  ROOT r = s32[2] custom-call(a), custom_call_target="SPMDFullToShardShape"
})"),
      ElementsAre(HasSubstr("SPMDFullToShardShape of (s32[4]) gives s32[2]: shards of what several")));
}

TEST(CustomCallExecution, AllocatedBuffersAreZero) {
  EXPECT_THAT(executed(R"(HloModule m
ENTRY e {
  ROOT r = s16[3] custom-call(), custom_call_target="AllocateBuffer"
})"),
              ElementsAre("{0, 0, 0}"));
}

TEST(CustomCallExecution, TheSeedIsTheDevicesState) {
  Execution execution(R"(HloModule m
ENTRY e {
  ROOT r = u64[] custom-call(), custom_call_target="GetRngSeed"
})");
  execution.device.rng_state = {77, 1};
  EXPECT_THAT(execution.texts(), ElementsAre("77"));
}

constexpr std::string_view kTopK = R"(HloModule m
gt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT, type=TOTALORDER
}
lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
by_magnitude {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  x = f32[] abs(a)
  y = f32[] abs(b)
  ROOT r = pred[] compare(x, y), direction=LT
}
ENTRY e {
  x = f32[2,4] constant({ { 1, 3, 3, -nan }, { -0, 0, nan, -1 } })
  ROOT r = (f32[2,3], s32[2,3]) custom-call(x), custom_call_target="TopK"COMPARATOR
})";

std::string top_k(std::string_view comparator) {
  std::string text(kTopK);
  return text.replace(text.find("COMPARATOR"), 10,
                      comparator.empty() ? "" : ", called_computations={" + std::string(comparator) + "}");
}

TEST(CustomCallExecution, TopKIsTheLargestByTotalOrderAndOfEqualsTheFirst) {
  for (const char* comparator : {"", "gt"})
    EXPECT_THAT(executed(top_k(comparator)),
                ElementsAre("{ {3, 3, 1}, {nan, 0, -0.0} }", "{ {1, 2, 0}, {2, 1, 0} }"));
}

TEST(CustomCallExecution, TopKGoesByItsComparator) {
  std::string text = top_k("by_magnitude");
  for (const std::string_view from : {"-nan", "nan"}) text.replace(text.find(from), from.size(), "-7");
  EXPECT_THAT(executed(text), ElementsAre("{ {1, 3, 3}, {-0.0, 0, -1} }", "{ {0, 1, 2}, {0, 1, 3} }"));
  Execution slow(text, traced_options());
  EXPECT_THAT(slow.texts(), ElementsAre("{ {1, 3, 3}, {-0.0, 0, -1} }", "{ {0, 1, 2}, {0, 1, 3} }"));
}

TEST(CustomCallExecution, TopKOfSmallestIsStable) {
  std::string text = top_k("lt");
  const std::string_view from = "{ { 1, 3, 3, -nan }, { -0, 0, nan, -1 } }";
  text.replace(text.find(from), from.size(), "{ { 1, 3, 3, 0 }, { -0, 0, 2, 2 } }");
  EXPECT_THAT(executed(text), ElementsAre("{ {0, 1, 3}, {-0.0, 0, 2} }", "{ {3, 0, 1}, {0, 1, 2} }"));
}

TEST(CustomCallExecution, SizesBecomeNumbersAndBack) {
  EXPECT_THAT(executed(R"(HloModule m
ENTRY e {
  x = f32[2,3] constant({ { 1, 2, 3 }, { 4, 5, 6 } })
  two = s32[] constant(2)
  d = f32[2,<=3] custom-call(x, two, two), custom_call_target="SliceToDynamic"
  p = (f32[2,3], s32[], s32[]) custom-call(d), custom_call_target="PadToStatic"
  n = s32[] get-tuple-element(p), index=1
  m = s32[] get-tuple-element(p), index=2
  ROOT r = (s32[], s32[]) tuple(n, m)
})"),
              ElementsAre("2", "2"));
  EXPECT_THAT(executed(R"(HloModule m
ENTRY e {
  x = f32[3] constant({ 1, 2, 3 })
  n = s32[] constant(4)
  ROOT d = f32[<=3] custom-call(x, n), custom_call_target="SliceToDynamic"
})"),
              ElementsAre(HasSubstr("SliceToDynamic to size 4 of dimension 0, expected 0 to 3")));
}

TEST(CustomCallExecution, MathByNameOrByTheCalledComputation) {
  EXPECT_THAT(executed(R"(HloModule m
twice {
  a = f32[2] parameter(0)
  ROOT r = f32[2] add(a, a)
}
ENTRY e {
  x = f32[2] constant({1, -1})
  y = f32[2] constant({2, -2})
  n = f32[2] custom-call(x, y), custom_call_target="xla_builder.math.NextAfter"
  b = f32[2] custom-call(x), custom_call_target="xla_builder.math.Acosh", called_computations={twice}
  ROOT r = (f32[2], f32[2]) tuple(n, b)
})"),
              ElementsAre("{1.0000001, -1.0000001}", "{2, -2}"));
}

TEST(CustomCallExecution, BlocksOfElementsHaveScales) {
  EXPECT_THAT(
      executed(R"(HloModule m
ENTRY e {
  x = f8e4m3fn[2,4] constant({ {1, 2, 3, 4}, {1, 1, 1, 1} })
  s = f8e5m2[2,2] constant({ {2, 0.5}, {1, 4} })
  y = f8e4m3fn[1,4] constant({ {1, 1, 2, 2} })
  t = f8e5m2[1,2] constant({ {1, 2} })
  d = f32[2,4] custom-call(x, s), custom_call_target="__op$dequantize"
  p = f32[2,1] custom-call(x, y, s, t), custom_call_target="__op$block_scaled_dot"
  z = f16[1,4] constant({ {1, 1, 2, 2} })
  q = f16[2,1] custom-call(x, z, s), custom_call_target="__op$block_scaled_dot"
  // Blocks of three: the second scale counts for the last element only.
  b = f32[2,4] custom-call(x, s), custom_call_target="__op$dequantize",
      backend_config={"block_scaled_dot_backend_config":{block_size:3}}
  ROOT r = (f32[2,4], f32[2,1], f16[2,1], f32[2,4]) tuple(d, p, q, b)
})"),
      // 2 + 4 + 4·1.5 + 4·2 = 20, 1 + 1 + 4·4 + 4·4 = 34; without the scales of y 2 + 4 + 2·1.5 + 2·2.
      ElementsAre("{ {2, 4, 1.5, 2}, {1, 1, 4, 4} }", "{ {20}, {34} }", "{ {13}, {18} }",
                  "{ {2, 4, 6, 2}, {1, 1, 1, 4} }"));
}

TEST(CustomCallExecution, AnUnknownTargetIsNamed) {
  EXPECT_THAT(
      executed(R"(HloModule m
ENTRY e {
  ROOT r = f32[] custom-call(), custom_call_target="conjure"
})"),
      ElementsAre(HasSubstr("what target \"conjure\" computes is not known here; --kernel=conjure=MODULE and "
                            "--custom-calls define it")));
}

constexpr std::string_view kBranch = R"(HloModule m
plain { ROOT a = f32[] parameter(0) }
magic {
  a = f32[] parameter(0)
  ROOT r = f32[] custom-call(a), custom_call_target="conjure"
}
ENTRY e {
  p = pred[] constant(PREDICATE)
  x = f32[] constant(3)
  ROOT r = f32[] conditional(p, x, x), true_computation=plain, false_computation=magic
})";

TEST(CustomCallExecution, AnUnknownTargetIsNoProblemWhereNobodyGoes) {
  std::string text(kBranch);
  EXPECT_THAT(executed(text.replace(text.find("PREDICATE"), 9, "true")), ElementsAre("3"));
  text = kBranch;
  EXPECT_THAT(executed(text.replace(text.find("PREDICATE"), 9, "false")),
              ElementsAre(HasSubstr("what target \"conjure\" computes is not known here")));
}

TEST(CustomCallExecution, RegisteredHandlersComeFirst) {
  CustomCallHandlers handlers;
  handlers.add("conjure", [](const CustomCallArguments& call) -> Result<void> {
    for (int64_t i = 0; i < call.results[0].count(); ++i)
      call.results[0].as<float>()[i] = 10 * call.operands[0].as<float>()[i];
    return {};
  });
  handlers.add("Sharding", [](const CustomCallArguments&) -> Result<void> { return failure("not today"); });
  ProgramOptions options;
  options.custom_calls = &handlers;
  Execution twice(R"(HloModule m
ENTRY e {
  a = f32[2] constant({1, 2})
  ROOT r = f32[2] custom-call(a), custom_call_target="conjure"
})",
                  options);
  EXPECT_THAT(twice.texts(), ElementsAre("{10, 20}"));
  Execution fails(R"(HloModule m
ENTRY e {
  a = f32[2] constant({1, 2})
  ROOT r = f32[2] custom-call(a), custom_call_target="Sharding"
})",
                  options);
  EXPECT_THAT(fails.texts(), ElementsAre(HasSubstr("custom-call: not today")));
}

}  // namespace
}  // namespace hlosim::test
