// Places of plans that need more than there is, with and without time to choose what goes.
#include "prefetch/prefetch_pack.h"

#include <gtest/gtest.h>

#include "prefetch/prefetch_search.h"
#include "support/prefetch_problems.h"

namespace hlosim {
namespace {

/// Plans of a problem of which there was `more` times the room.
PrefetchModel tight_model(uint64_t seed, int64_t more, std::vector<ValuePlan>& plans) {
  PrefetchModel model;
  model.problem = test::random_problem(seed, 40, 60);
  PrefetchProblem roomy = model.problem;
  roomy.capacity *= more;
  plans = greedy_prefetch(roomy, {}).plans;
  return model;
}

struct Lying {
  Stay at;
  int64_t offset = 0;
};

/// Every stay lies below the edge, on bytes that nothing else has at the time; what is gone has no place.
void expect_sound(const PrefetchModel& model, const std::vector<ValuePlan>& given, const PackedPlans& packed,
                  uint64_t seed) {
  std::vector<Lying> all;
  for (const PrefetchFixed& fixed : model.fixed) all.push_back({{fixed.first, fixed.last, fixed.bytes}, 0});
  int64_t dropped = 0;
  ASSERT_EQ(packed.plans.size(), given.size());
  for (size_t v = 0; v < given.size(); ++v) {
    const PrefetchValue& value = model.problem.values[v];
    const std::vector<Stay> stay = stays(value, packed.plans[v]);
    dropped += packed.plans[v] != given[v];
    EXPECT_TRUE(packed.plans[v] == given[v] || packed.plans[v].empty()) << seed;
    ASSERT_EQ(packed.offsets[v].size(), stay.size()) << seed;
    for (size_t i = 0; i < stay.size(); ++i)
      all.push_back({in_steps(model.problem, value.region, stay[i]), packed.offsets[v][i]});
  }
  EXPECT_EQ(packed.dropped, dropped) << seed;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_LE(all[i].offset + all[i].at.bytes, packed.size) << seed;
    for (size_t k = 0; k < i; ++k) {
      const bool apart = all[i].at.last < all[k].at.first || all[k].at.last < all[i].at.first ||
                         all[i].offset + all[i].at.bytes <= all[k].offset ||
                         all[k].offset + all[k].at.bytes <= all[i].offset;
      EXPECT_TRUE(apart) << seed;
    }
  }
  EXPECT_LE(packed.size, model.problem.capacity) << seed;
}

TEST(PackPlans, WithoutTimeAllAboveTheEdgeGoesAtOnce) {
  int64_t cut = 0, dropped = 0, kept = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<ValuePlan> plans;
    const PrefetchModel model = tight_model(seed, 3, plans);
    for (int rounds = 0; rounds < 4; ++rounds) {
      int asked = 0;
      const PackedPlans packed = pack_plans(model, plans, {}, [&] { return ++asked > rounds; });
      expect_sound(model, plans, packed, seed);
      EXPECT_EQ(packed.cut, asked > rounds) << seed;
      cut += packed.cut;
      dropped += packed.dropped;
      for (const ValuePlan& plan : packed.plans) kept += !plan.empty();
    }
  }
  EXPECT_GT(cut, 60);
  EXPECT_GT(dropped, 100);
  EXPECT_GT(kept, 100);
}

TEST(PackPlans, WithTimeTheClockChangesNothing) {
  int64_t dropped = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::vector<ValuePlan> plans;
    const PrefetchModel model = tight_model(seed, 3, plans);
    const PackedPlans packed = pack_plans(model, plans),
                      timed = pack_plans(model, plans, {}, [] { return false; });
    expect_sound(model, plans, packed, seed);
    EXPECT_TRUE(packed.plans == timed.plans && packed.offsets == timed.offsets) << seed;
    EXPECT_FALSE(timed.cut);
    dropped += packed.dropped;
  }
  EXPECT_GT(dropped, 30);
}

TEST(PackPlans, AllMakesWayForWhatIsFixed) {
  std::vector<ValuePlan> plans;
  PrefetchModel model = tight_model(1, 1, plans);
  model.fixed.push_back({model.problem.capacity, 0, 39});
  const PackedPlans packed = pack_plans(model, plans, {}, [] { return true; });
  for (const ValuePlan& plan : packed.plans) EXPECT_TRUE(plan.empty());
  // More than there is: nothing helps.
  model.fixed.back().bytes *= 2;
  for (const ValuePlan& plan : pack_plans(model, plans, {}, [] { return true; }).plans)
    EXPECT_TRUE(plan.empty());
}

}  // namespace
}  // namespace hlosim
