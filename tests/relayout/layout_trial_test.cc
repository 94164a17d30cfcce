// What trials say of a choice of layouts is what a simulation of the written module says, whatever was tried
// before; and no written module needs more memory than its bound.
#include "relayout/layout_trial.h"

#include <gtest/gtest.h>

#include <random>

#include "memory/occupancy.h"
#include "modules/compact.h"
#include "oracle/random_module.h"
#include "relayout/layout_cost.h"
#include "relayout/layout_room.h"
#include "support/module_files.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

const Device& device() {
  static const Device v5e = test::device_or_fail("v5e");
  return v5e;
}

struct Counts {
  int modules = 0, choices = 0, changed = 0, copies = 0;
};

/// Some layouts differ from the given ones: few, as in a search, or many.
LayoutChoice any_choice(const LayoutProblem& problem, std::mt19937_64& random, bool few) {
  LayoutChoice choice = problem.as_given();
  const std::vector<int32_t>& groups = problem.free_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (random() % (few ? groups.size() : 2) != 0) continue;
    const auto& list = problem.candidates(groups[i]);
    choice[static_cast<size_t>(groups[i])] = list[random() % list.size()];
  }
  return choice;
}

/// The module with `choice`, written as a whole and simulated; trials leave the choice written.
void expect_same(LayoutProblem& problem, LayoutCosts& costs, LayoutTrials& trials, const LayoutRoom& room,
                 const LayoutChoice& choice, const std::string& where) {
  costs.apply(choice);
  const Module written = compacted(problem.module(), op_table());
  problem.edit().undo();
  trials.write(choice);
  const Result<Simulation> whole = simulate(written, op_table(), device(), {});
  const Result<LayoutFigures> figures = trials.figures();
  ASSERT_EQ(whole.has_value(), figures.has_value()) << where;
  if (!whole) return;
  const Totals& totals = whole->totals;
  EXPECT_EQ(figures->time, totals.makespan) << where;
  EXPECT_EQ(figures->hbm, totals.traffic[0].total()) << where;
  EXPECT_EQ(figures->padding, totals.padded_bytes - totals.logical_bytes) << where;
  const Occupancy occupancy = memory_occupancy(written, device().config, whole->schedule.order);
  LayoutRoom::BySpace at_most = room.at_most();
  for (const SpaceOccupancy& space : occupancy.spaces)
    EXPECT_LE(static_cast<double>(space.peak.count()), at_most[space.number])
        << where << ": S(" << space.number << ")";
  if (room.surely_fits()) {
    EXPECT_TRUE(room.fits(occupancy)) << where;
  }
}

void compare(const Module& given, uint64_t seed, const std::string& where, Counts& counts) {
  const LaidOut laid_out = lay_out(compacted(given, op_table()), device());
  const Result<Simulation> first = simulate(laid_out.module, op_table(), device(), {});
  if (!first) return;  // collectives of more devices than the slice has
  LayoutProblemOptions options;
  options.free_entry = seed % 3 == 0;
  auto made = LayoutProblem::make(laid_out.module, op_table(), device().config, options);
  ASSERT_TRUE(made) << where;
  LayoutProblem& problem = **made;
  auto costs = LayoutCosts::make(problem, op_table(), device(), {}, *first, LayoutObjective::kTime);
  ASSERT_TRUE(costs) << where;
  auto trials = LayoutTrials::make(problem, **costs, op_table(), device(), {});
  ASSERT_TRUE(trials) << where;
  const LayoutRoom room(
      problem, op_table(), device().config,
      memory_occupancy(laid_out.module, device().config, first->schedule.order, GraphReach::kControlFlow));
  std::mt19937_64 random(seed);
  std::vector<LayoutChoice> choices = {problem.as_given()};
  for (int i = 0; i < 5; ++i) choices.push_back(any_choice(problem, random, i % 2 == 1));
  choices.push_back(choices[1]);  // again
  ++counts.modules;
  for (const LayoutChoice& choice : choices) {
    expect_same(problem, **costs, **trials, room, choice, where);
    for (const ComputationId computation : problem.groups().computations())
      for (const InstructionId id : problem.module()[computation].instructions)
        counts.copies += problem.edit().is_copy(id);
    problem.edit().undo();
    ++counts.choices, counts.changed += choice != choices[0];
  }
}

TEST(LayoutTrials, SayWhatSimulationsOfRandomModulesSay) {
  Counts counts;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const Module module = test::module_or_fail(test::random_module(seed, seed % 2 == 0));
    compare(module, seed, "seed " + std::to_string(seed), counts);
    if (HasFailure()) return;
  }
  EXPECT_GT(counts.changed, 200);
  EXPECT_GT(counts.copies, 200);
}

TEST(LayoutTrials, SayWhatSimulationsOfModulesSay) {
  constexpr size_t kMost = 4000;  // instructions
  Counts counts;
  uint64_t seed = 0;
  for (const std::filesystem::path& file : test::right_modules({.file_tests = 8, .others = 24})) {
    const Result<SourcePtr> source = read_source(file.string());
    if (!source) continue;
    DiagnosticList problems;
    for (Module& module : read_modules(*source, op_table(), problems)) {
      if (module.instructions.size() > kMost || !verify(module, op_table(), problems)) continue;
      for (int i = 0; i < 8; ++i) {
        compare(module, ++seed, file.string(), counts);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(counts.modules, 160);
  EXPECT_GT(counts.changed, 400);
}

}  // namespace
}  // namespace hlosim
