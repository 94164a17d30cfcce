// Collectives of a device that is alone.
#include <gmock/gmock.h>

#include "support/execution.h"

namespace hlosim::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string with_sum(std::string_view body, std::string_view header = "") {
  return "HloModule m" + std::string(header) +
         "\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\nENTRY e "
         "{\n" +
         std::string(body) + "\n}\n";
}

TEST(CollectiveExecution, AloneEachResultIsItsOperand) {
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    y = f32[2] constant({3, 4})
    a = (f32[2], f32[2]) all-reduce(x, y), to_apply=sum, replica_groups={}
    b = f32[2] all-gather(x), dimensions={0}, replica_groups={{0}}
    c = f32[2] reduce-scatter(y), dimensions={0}, to_apply=sum, replica_groups={{0}}
    d = f32[2] all-to-all(x), dimensions={0}, replica_groups={{0}}
    e = (f32[2]) all-to-all(y), replica_groups={{0}}
    f = f32[2] collective-broadcast(x), replica_groups={{0}}
    ROOT r = ((f32[2], f32[2]), f32[2], f32[2], f32[2], (f32[2]), f32[2]) tuple(a, b, c, d, e, f))")),
              ElementsAre("{1, 2}", "{3, 4}", "{1, 2}", "{3, 4}", "{1, 2}", "{3, 4}", "{1, 2}"));
}

TEST(CollectiveExecution, StartsHoldWhatTheirDonesGive) {
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    y = f32[2] constant({3, 4})
    as = (f32[2], f32[2]) all-reduce-start(x, y), to_apply=sum, replica_groups={}
    a = (f32[2], f32[2]) all-reduce-done(as)
    bs = ((f32[2], f32[2]), (f32[2], f32[2])) all-gather-start(x, y), dimensions={0}, replica_groups={}
    b = (f32[2], f32[2]) all-gather-done(bs)
    cs = (f32[2], f32[2], u32[], u32[]) collective-permute-start(x), source_target_pairs={{0,0}}
    c = f32[2] collective-permute-done(cs)
    ds = ((f32[2]), f32[2]) reduce-scatter-start(y), dimensions={0}, to_apply=sum, replica_groups={{0}}
    d = f32[2] reduce-scatter-done(ds)
    ROOT r = ((f32[2], f32[2]), (f32[2], f32[2]), f32[2], f32[2]) tuple(a, b, c, d))")),
              ElementsAre("{1, 2}", "{3, 4}", "{1, 2}", "{3, 4}", "{1, 2}", "{3, 4}"));
}

TEST(CollectiveExecution, APermuteThatNobodySendsToGivesZeros) {
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    a = f32[2] collective-permute(x), source_target_pairs={{0,0}}
    b = f32[2] collective-permute(x), source_target_pairs={}
    cs = (f32[2], f32[2]) collective-permute-start(x), source_target_pairs={}
    c = f32[2] collective-permute-done(cs)
    ROOT r = (f32[2], f32[2], f32[2]) tuple(a, b, c))")),
              ElementsAre("{1, 2}", "{0, 0}", "{0, 0}"));
}

constexpr std::string_view kInPlace = R"(
    x = f32[4] constant({1, 2, 3, 4})
    y = f32[3] constant({7, 8, 9})
    i = s32[] constant(1)
    j = s32[] constant(AT)
    from = (s32[]) tuple(i)
    to = (s32[]) tuple(j)
    ROOT r = f32[3] collective-permute(x, y, from, to), source_target_pairs={PAIRS}, slice_sizes={{2}})";

std::string in_place(std::string_view at, std::string_view pairs) {
  std::string text(kInPlace);
  text.replace(text.find("AT"), 2, at);
  return with_sum(text.replace(text.find("PAIRS"), 5, pairs));
}

TEST(CollectiveExecution, APermuteInPlaceMovesSlices) {
  EXPECT_THAT(executed(in_place("0", "{0,0}")), ElementsAre("{2, 3, 9}"));
  EXPECT_THAT(executed(in_place("1", "{0,0}")), ElementsAre("{7, 2, 3}"));
  EXPECT_THAT(executed(in_place("1", "")), ElementsAre("{7, 8, 9}"));
  EXPECT_THAT(executed(in_place("2", "{0,0}")), ElementsAre(HasSubstr("a slice is outside of its buffer")));
  EXPECT_THAT(executed(in_place("-1", "{0,0}")), ElementsAre(HasSubstr("a slice is outside of its buffer")));
}

TEST(CollectiveExecution, RaggedAllToAllPlacesItsOwnRows) {
  constexpr std::string_view kText = R"(
    x = f32[4,2] constant({ {1, 2}, {3, 4}, {5, 6}, {7, 8} })
    y = f32[3,2] constant({ {9, 9}, {9, 9}, {9, 9} })
    i = s64[2] constant({2, 0})
    n = s64[2] constant({1, COUNT})
    o = s64[2] constant({0, 2})
    ROOT r = f32[3,2] ragged-all-to-all(x, y, i, n, o, n), replica_groups={{0}})";
  std::string text(kText);
  EXPECT_THAT(executed(with_sum(text.replace(text.find("COUNT"), 5, "1"))),
              ElementsAre("{ {5, 6}, {9, 9}, {1, 2} }"));
  text = kText;
  EXPECT_THAT(executed(with_sum(text.replace(text.find("COUNT"), 5, "2"))),
              ElementsAre(HasSubstr("2 rows from 0 of 4 do not fit at 2 of 3")));
}

TEST(CollectiveExecution, SeveralDevicesAreRefusedWithTheirNumber) {
  constexpr std::string_view kReduce = R"(
    x = f32[2] constant({1, 2})
    ROOT a = f32[2] all-reduce(x), to_apply=sum, replica_groups=)";
  const auto refused = [](int devices) {
    return ElementsAre(HasSubstr(fmt::format("the module needs {} devices, but is run on one", devices)));
  };
  EXPECT_THAT(executed(with_sum(std::string(kReduce) + "{{0,1},{2,3}}")), refused(4));
  EXPECT_THAT(executed(with_sum(std::string(kReduce) + "{{0},{1,2}}")), refused(3));
  EXPECT_THAT(executed(with_sum(std::string(kReduce) + "{}", ", replica_count=8")), refused(8));
  EXPECT_THAT(executed(with_sum(std::string(kReduce) + "{{0}}, channel_id=1", ", num_partitions=2")),
              refused(2));
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    ROOT a = f32[2] collective-permute(x), source_target_pairs={{0,1},{1,0}})")),
              refused(2));
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    ROOT a = f32[8] all-gather(x), dimensions={0}, replica_groups={})")),
              ElementsAre(HasSubstr("f32[8] of f32[2] is what several devices make together")));
}

TEST(CollectiveExecution, GroupsOfOneNeedNoOtherDevices) {
  EXPECT_THAT(executed(with_sum(R"(
    x = f32[2] constant({1, 2})
    ROOT a = f32[2] all-reduce(x), to_apply=sum, replica_groups={{0},{1}})",
                                ", replica_count=2")),
              ElementsAre("{1, 2}"));
}

}  // namespace
}  // namespace hlosim::test
