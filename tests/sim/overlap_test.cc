#include "sim/overlap.h"

#include <gtest/gtest.h>

#include <random>

namespace hlosim {
namespace {

using Ps = Picoseconds;

TEST(Overlap, TheCoreAloneTakesItsTime) {
  Overlap overlap;
  overlap.run(Ps(100), Ps(100));
  overlap.pass(Ps(7));
  EXPECT_EQ(overlap.now(), Ps(107));
}

TEST(Overlap, ATransferIsReadyAtItsEndAndNotBefore) {
  for (const int64_t early : {0, 1}) {
    Overlap overlap;
    const size_t copy = overlap.start(Lane::kDmaIn, Ps(3), Ps(100), 1);
    overlap.pass(Ps(103 - early));
    EXPECT_EQ(overlap[copy].finished, early == 0);
    overlap.wait_for(copy);
    EXPECT_EQ(overlap.now(), Ps(103));
    EXPECT_EQ(overlap[copy].begin, Ps(3));
    EXPECT_EQ(overlap[copy].end, Ps(103));
  }
}

TEST(Overlap, TwoThatWantAllGetHalfEach) {
  Overlap overlap;
  const size_t copy = overlap.start(Lane::kDmaIn, Ps(0), Ps(100), 1);
  overlap.run(Ps(60), Ps(60));
  EXPECT_EQ(overlap.now(), Ps(120));  // 60 of each
  overlap.wait_for(copy);
  EXPECT_EQ(overlap.now(), Ps(160));  // the other 40 alone
}

TEST(Overlap, BytesThatComeInTimeDoNotSlowDown) {
  Overlap overlap;
  const size_t copy = overlap.start(Lane::kDmaIn, Ps(0), Ps(100), 1);
  overlap.run(Ps(80), Ps(20));
  EXPECT_EQ(overlap.now(), Ps(80));
  overlap.wait_for(copy);  // had the other 60
  EXPECT_EQ(overlap.now(), Ps(120));
}

TEST(Overlap, ThreeDemandsMaxMinFair) {
  // 0.2 is below a third and served fully; the two others share 0.8.
  Overlap overlap;
  const size_t in = overlap.start(Lane::kDmaIn, Ps(0), Ps(400), 1);
  const size_t out = overlap.start(Lane::kDmaOut, Ps(0), Ps(400), 0.2);
  overlap.run(Ps(10), Ps(40));
  EXPECT_EQ(overlap.now(), Ps(100));
  EXPECT_NEAR(overlap[in].left_part(), 1 - 100 * 0.4 / 400, 1e-12);
  EXPECT_NEAR(overlap[out].left_part(), 1 - 100.0 / 400, 1e-12);
}

TEST(Overlap, OneLaneWorksInOrderAndLatenciesOverlap) {
  Overlap overlap;
  const size_t first = overlap.start(Lane::kDmaIn, Ps(10), Ps(100), 1);
  const size_t second = overlap.start(Lane::kDmaIn, Ps(10), Ps(50), 1);
  EXPECT_EQ(overlap.in_flight(Lane::kDmaIn), 2u);
  overlap.wait_for(second);
  EXPECT_EQ(overlap[first].end, Ps(110));
  EXPECT_EQ(overlap[second].begin, Ps(110));
  EXPECT_EQ(overlap.now(), Ps(160));
  EXPECT_TRUE(overlap.idle());
}

TEST(Overlap, WithoutMemoryNothingSlowsDown) {
  Overlap overlap;
  const size_t collective = overlap.start(Lane::kIci, Ps(0), Ps(100), 0);
  overlap.run(Ps(100), Ps(100));
  EXPECT_TRUE(overlap[collective].finished);
  EXPECT_EQ(overlap.now(), Ps(100));
}

std::shared_ptr<const LinkSet> links(std::initializer_list<size_t> all) {
  LinkSet set;
  for (const size_t link : all) set.add(link);
  return std::make_shared<const LinkSet>(std::move(set));
}

TEST(Overlap, PermutesOverOtherLinksGoTwoAtATime) {
  Overlap overlap;
  const size_t up = overlap.start(Lane::kIci, Ps(0), Ps(100), 0, links({0, 2}));
  const size_t down = overlap.start(Lane::kIci, Ps(0), Ps(80), 0, links({1, 300}));
  const size_t up_again = overlap.start(Lane::kIci, Ps(0), Ps(100), 0, links({0, 2}));
  const size_t down_again = overlap.start(Lane::kIci, Ps(0), Ps(100), 0, links({300}));
  const size_t all = overlap.start(Lane::kIci, Ps(0), Ps(10), 0);
  const size_t up_last = overlap.start(Lane::kIci, Ps(0), Ps(10), 0, links({0}));
  EXPECT_EQ(overlap[up].lane, Lane::kIci);
  EXPECT_EQ(overlap[down].lane, Lane::kIciBeside);
  overlap.wait_for(up_last);
  EXPECT_EQ(overlap[down].end, Ps(80));
  EXPECT_EQ(overlap[down_again].begin, Ps(80));
  EXPECT_EQ(overlap[up_again].begin, Ps(100));
  EXPECT_EQ(overlap[all].begin, Ps(200));  // behind the last of both
  EXPECT_EQ(overlap[up_last].end, Ps(220));
  EXPECT_TRUE(overlap.idle());
}

TEST(Overlap, ThatShareALinkGoOneAfterTheOther) {
  Overlap overlap;
  overlap.start(Lane::kIci, Ps(0), Ps(100), 0, links({0, 1}));
  const size_t second = overlap.start(Lane::kIci, Ps(0), Ps(100), 0, links({1, 2}));
  overlap.wait_for(second);
  EXPECT_EQ(overlap.now(), Ps(200));
}

TEST(Overlap, AddingTimesStopsAtForever) {
  EXPECT_EQ(later(kForever, Ps(1)), kForever);
  EXPECT_EQ(later(Ps(1), Ps(2)), Ps(3));
  EXPECT_EQ(times(Ps(1) * (int64_t{1} << 40), int64_t{1} << 40), kForever);
  EXPECT_EQ(times(kForever, 0), Ps(0));
  Overlap overlap;
  const size_t copy = overlap.start(Lane::kDmaIn, kForever, Ps(1), 1);
  overlap.pass(kForever);
  overlap.wait_for(copy);
  EXPECT_EQ(overlap.now(), kForever);
}

/// Random starts, runs and waits. HBM is never idle while somebody wants all of it, so no order of service
/// takes longer than everything one after the other, nor less than the work of HBM or of the core.
TEST(Overlap, BoundsHoldForRandomPrograms) {
  std::mt19937 random(7);
  for (int program = 0; program < 2000; ++program) {
    Overlap overlap;
    int64_t all = 0, core = 0, started = 0;
    double hbm = 0;
    std::vector<size_t> open;
    for (int step = 0; step < 20; ++step) {
      const int64_t stream = random() % 1000;
      const double demand = static_cast<double>(random() % 5) / 4;
      switch (random() % 4) {
        case 0:
        case 1:
          overlap.run(Ps(stream), Ps(static_cast<int64_t>(static_cast<double>(stream) * demand)));
          core += stream;
          break;
        case 2: {
          const auto lane = static_cast<Lane>(1 + random() % (kLaneCount - 1));
          open.push_back(overlap.start(lane, Ps(started % 3), Ps(stream), demand));
          all += started % 3;
          ++started;
          break;
        }
        default:
          if (!open.empty()) {
            overlap.wait_for(open.back());
            open.pop_back();
          }
          continue;
      }
      all += stream;
      hbm += static_cast<double>(stream) * demand;
    }
    for (const size_t ticket : open) overlap.wait_for(ticket);
    EXPECT_GE(overlap.now().count(), core);
    EXPECT_GE(static_cast<double>(overlap.now().count()), hbm - 20);
    EXPECT_LE(overlap.now().count(), all + 40);  // a picosecond of rounding at each event
    for (size_t i = 0; i < overlap.transfer_count(); ++i) {
      EXPECT_TRUE(overlap[i].finished);
      EXPECT_LE(overlap[i].begin + overlap[i].stream, overlap[i].end + Ps(1));
    }
  }
}

}  // namespace
}  // namespace hlosim
