// Searching for meshes: that nothing is left out which is worth it, and what choices there are.
#include "study/mesh_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "hlo/printer.h"
#include "study/mesh_table.h"
#include "support/estimated.h"
#include "support/module_files.h"
#include "support/thread_ranks.h"
#include "threads/parallel.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(MeshChoices, FactorizationsAreAll) {
  using Sizes = std::vector<int64_t>;
  EXPECT_THAT(factorizations(4, 2), ElementsAre(Sizes{1, 4}, Sizes{2, 2}, Sizes{4, 1}));
  EXPECT_EQ(factorizations(64, 2).size(), 7u);
  EXPECT_EQ(factorizations(12, 3).size(), 18u);
  EXPECT_THAT(factorizations(1, 1), ElementsAre(Sizes{1}));
}

std::vector<std::string> texts(const std::string& module, const MeshQuestion& question) {
  const Module given = test::module_or_fail(test::own_module(module));
  const Result<MeshChoices> choices = mesh_choices(given, op_table(), question);
  EXPECT_TRUE(choices) << render(choices.error());
  std::vector<std::string> all;
  if (choices)
    for (const MeshChoice& choice : choices->list) all.push_back(choice.text);
  return all;
}

TEST(MeshChoices, DimensionsThatMeetAreCutAlike) {
  const std::vector<std::string> all = texts("mlp_layer", {.devices = 2, .axes = {"a"}});
  // Rows of the activations; the width; what is hidden in both blocks, whose parameters are alike: sets of
  // these that no array has two of.
  EXPECT_THAT(all, testing::Contains("a=2; x|g=[a,_]"));
  EXPECT_THAT(all, testing::Contains("a=2; w1|w3=[_,a]; w2|w4=[a,_]"));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST(MeshChoices, LayersOfALoopAreNotCut) {
  for (const std::string& text : texts("layers_step", {.devices = 2, .axes = {"a"}}))
    EXPECT_THAT(text, testing::Not(HasSubstr("=[a,_,_]"))) << text;
}

// The residual makes both dimensions of w the same: an axis that cut one would cut the other too.
TEST(MeshChoices, NoAxisCutsAParameterTwice) {
  const Module given = test::module_or_fail(
      "HloModule m\nENTRY e {\n  x = f32[8,16] parameter(0)\n  w = f32[16,16] parameter(1)\n"
      "  p = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  ROOT y = f32[8,16] add(x, p)\n}\n");
  const Result<MeshChoices> choices = mesh_choices(given, op_table(), {.devices = 4, .axes = {"a", "b"}});
  ASSERT_TRUE(choices) << render(choices.error());
  for (const MeshChoice& choice : choices->list) {
    EXPECT_THAT(choice.text, HasSubstr("x=[")) << choice.text;
    EXPECT_THAT(choice.text, testing::Not(HasSubstr("w="))) << choice.text;
  }
  EXPECT_THAT(
      choices->left_out,
      ElementsAre("dimensions of size 16 of w: they are sharded alike, and a sharding names an axis once"));
}

TEST(MeshChoices, StatementsLeaveTheSizesOnly) {
  EXPECT_THAT(texts("mlp_layer", {.devices = 4, .axes = {"a", "b"}, .statements = {"x=[a,_]"}}),
              ElementsAre("a=1,b=4; x=[a,_]", "a=2,b=2; x=[a,_]", "a=4,b=1; x=[a,_]"));
}

TEST(MeshChoices, ModulesWithShardingsOfTheirOwnAreRefused) {
  const Module given = test::module_or_fail(test::own_module("partitions_step"));
  const auto choices = mesh_choices(given, op_table(), {.devices = 4, .axes = {"a"}});
  ASSERT_FALSE(choices);
  EXPECT_THAT(choices.error().message, HasSubstr("states shardings of its own"));
}

class Search : public testing::Test {
 protected:
  void use(const std::string& module, int64_t devices, std::vector<std::string> axes,
           std::vector<std::string> statements = {}) {
    const std::string text = test::own_module(module);
    module_ = test::module_or_fail(text);
    device_ = test::device_or_fail("v5e");
    task_.question = {devices, std::move(axes), std::move(statements), ""};
    task_.experiment.name = module;
    task_.experiment.modules = {{module, test::source_of(text)}};
    task_.experiment.devices = {{"v5e", device_}};
    task_.estimate.simulate.keep_timeline = false;
    task_.sweep.version = "test";
  }
  MeshSearch run(Ranks& ranks = lone_rank()) {
    SweepProgress progress;
    Result<MeshSearch> search = search_meshes(module_, device_, task_, ranks, progress);
    EXPECT_TRUE(search) << render(search.error());
    return search ? std::move(*search) : MeshSearch();
  }
  static std::set<std::string> front(const MeshSearch& search) {
    std::set<std::string> texts;
    for (const MeshRow& row : search.rows)
      if (row.is_front) texts.insert(fmt::format("{} {}", row.value("time"), row.value("hbm_peak")));
    return texts;
  }

  Module module_;
  Device device_;
  MeshTask task_;
};

TEST_F(Search, FindsWhatEnumerationFinds) {
  use("mlp_layer", 4, {"a", "b"});
  task_.within = 1e9;
  const MeshSearch quick = run();
  task_.everything = true;
  const MeshSearch slow = run();
  ASSERT_TRUE(quick.best && slow.best);
  EXPECT_EQ(quick.rows.size(), slow.rows.size());
  EXPECT_EQ(quick.rows[0].value("time"), slow.rows[0].value("time"));
  EXPECT_EQ(front(quick), front(slow));
  for (const MeshRow& row : slow.rows) {
    EXPECT_TRUE(row.state == MeshRow::State::kSimulated || row.state == MeshRow::State::kFailed) << row.text;
    // A bound is one.
    if (row.state == MeshRow::State::kSimulated) {
      EXPECT_LE(static_cast<double>(row.bound.count()), row.value("time")) << row.text;
    }
  }
}

TEST_F(Search, TheFastestIsThatOfEnumerationWhereBoundsRuleOut) {
  use("experts_layer", 4, {"a", "b"});
  const MeshSearch quick = run();
  task_.everything = true;
  const MeshSearch slow = run();
  ASSERT_TRUE(quick.best && slow.best);
  EXPECT_EQ(quick.rows[0].value("time"), slow.rows[0].value("time"));
}

TEST_F(Search, ThreadsAndRanksChangeNothing) {
  use("mlp_layer", 4, {"a", "b"}, {"x|g=[a,_]", "w1|w3=[_,b]", "w2|w4=[b,_]"});
  set_thread_count(1);
  const std::string expected = mesh_json(run());
  set_thread_count(0);
  EXPECT_EQ(mesh_json(run()), expected);
  std::string by_ranks;
  test::ThreadRanks::run(3, [&](Ranks& ranks) {
    const MeshSearch search = run(ranks);
    if (ranks.rank() == 0) by_ranks = mesh_json(search);
  });
  EXPECT_EQ(by_ranks, expected);
}

TEST_F(Search, GoesOnFromItsJournal) {
  namespace fs = std::filesystem;
  use("mlp_layer", 4, {"a"}, {"x|g=[a,_]"});
  const fs::path journal = fs::path(testing::TempDir()) / fmt::format("hlosim_meshes_{}", ::getpid());
  task_.sweep.journal = journal.string();
  const MeshSearch first = run();
  const MeshSearch second = run();
  fs::remove(journal);
  EXPECT_EQ(first.resumed, 0);
  EXPECT_EQ(second.resumed, 1);
  EXPECT_EQ(mesh_json(first), mesh_json(second));
}

/// A small model's step for each of these meshes.
std::vector<MeshProgram> programs_of(const std::vector<std::string>& meshes) {
  ModelConfig model;
  model.name = "small", model.layers = 2, model.d_model = 128, model.d_ff = 256;
  model.q_heads = 4, model.kv_heads = 4, model.head_dim = 32, model.vocab = 256;
  std::vector<MeshProgram> programs;
  for (const std::string& mesh : meshes) {
    StepOptions options;
    options.mesh = *parse_mesh(mesh), options.batch = 8, options.sequence = 64;
    Result<Module> step = make_step(model, options);
    if (!step) ADD_FAILURE() << render(step.error());
    if (!step) continue;
    SourcePtr source = test::source_of(to_text(*step, op_table()));
    programs.push_back({mesh, "as it is", std::move(*step), std::move(source)});
  }
  return programs;
}

TEST_F(Search, ProgramsRunOnTheMeshThatTheyAreWrittenFor) {
  use("mlp_layer", 4, {"fsdp", "tensor"});  // the device and the rest of the task
  const std::vector<MeshProgram> programs = programs_of({"fsdp=4,tensor=1", "fsdp=2,tensor=2"});
  task_.everything = true;
  const auto search = [&](Ranks& ranks) {
    SweepProgress progress;
    Result<MeshSearch> found = search_programs(programs, device_, task_, ranks, progress);
    EXPECT_TRUE(found) << render(found.error());
    return found ? std::move(*found) : MeshSearch();
  };
  const MeshSearch found = search(lone_rank());
  ASSERT_EQ(found.rows.size(), 2u);
  for (const MeshRow& row : found.rows) {
    ASSERT_EQ(row.state, MeshRow::State::kSimulated) << row.note;
    EXPECT_EQ(row.text, programs[row.program].mesh);
    EXPECT_EQ(row.note, "as it is");
    EstimateOptions options = task_.estimate;
    options.mesh = *parse_mesh_request(row.text);
    const Result<Estimate> alone = estimate(programs[row.program].module, op_table(), device_, options);
    ASSERT_TRUE(alone) << render(alone.error());
    EXPECT_EQ(row.value("time"), static_cast<double>(alone->simulation->totals.makespan.count())) << row.text;
    EXPECT_LE(static_cast<double>(row.bound.count()), row.value("time"));
  }
  std::string by_ranks;
  test::ThreadRanks::run(3, [&](Ranks& ranks) {
    const MeshSearch shared = search(ranks);
    if (ranks.rank() == 0) by_ranks = mesh_json(shared);
  });
  EXPECT_EQ(by_ranks, mesh_json(found));
}

TEST_F(Search, WhatCantFitIsToldSo) {
  use("mlp_layer", 2, {"a"}, {"x|g=[a,_]"});
  device_ = test::device_or_fail("v5e", {{"memory.hbm.capacity", "64 KiB"}});
  task_.experiment.devices[0].device = device_;
  const MeshSearch search = run();
  EXPECT_FALSE(search.best);
  ASSERT_EQ(search.rows.size(), 1u);
  EXPECT_EQ(search.rows[0].state, MeshRow::State::kDoesNotFit);
  EXPECT_THAT(mesh_text(search, {}), HasSubstr("nothing fits"));
}

TEST_F(Search, ThePictureHasARingForEachOnTheFront) {
  use("mlp_layer", 4, {"a", "b"}, {"x|g=[a,_]", "w1|w3=[_,b]", "w2|w4=[b,_]"});
  const MeshSearch search = run();
  const std::string svg = mesh_svg(search, task_.experiment);
  size_t rings = 0, fronts = 0;
  for (size_t at = 0; (at = svg.find("class=\"front\"", at)) != std::string::npos; ++at) ++rings;
  for (const MeshRow& row : search.rows) fronts += row.is_front;
  EXPECT_EQ(rings, fronts);
  EXPECT_GT(fronts, 0u);
}

}  // namespace
}  // namespace hlosim
