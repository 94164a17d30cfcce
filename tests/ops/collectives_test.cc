#include <gmock/gmock.h>

#include "modules/module_rules.h"
#include "ops/collective_groups.h"
#include "ops/work.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/text_module.h"

namespace hlosim {
namespace {

using test::messages_of;
using test::parameters;
using test::with_reducers;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string entry(std::initializer_list<std::string_view> shapes, std::string_view root,
                  std::string_view header = "HloModule m") {
  return with_reducers(parameters(shapes) + "  ROOT r = " + std::string(root), header);
}
std::string errors(std::initializer_list<std::string_view> shapes, std::string_view root,
                   std::string_view header = "HloModule m") {
  return messages_of(entry(shapes, root, header));
}

// ── groups ──────────────────────────────────────────────────────

TEST(CollectiveRules, ReplicaGroups) {
  const auto with = [](std::string_view attributes, std::string_view header = "HloModule m") {
    return errors({"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, " + std::string(attributes), header);
  };
  EXPECT_EQ(with("replica_groups={}"), "");
  EXPECT_EQ(with("replica_groups={{0,2},{1}}"), "") << "all-reduce takes groups of different sizes";
  EXPECT_EQ(with("replica_groups={{0},{}}"), "all-reduce: replica_groups holds an empty group");
  EXPECT_EQ(with("replica_groups={{0,1},{1,2}}"),
            "all-reduce: replica_groups repeats id 1, expected each id once");
  EXPECT_EQ(with("replica_groups={{0,2}}"),
            "all-reduce: replica_groups names id 2, expected the 2 ids from 0 to 1");
  EXPECT_EQ(with("replica_groups={{0,1}}", "HloModule m, replica_count=4"),
            "all-reduce: replica_groups names 2 ids, expected 4 in cross-replica mode (replica_count=4, "
            "num_partitions=1)");
  EXPECT_EQ(with("replica_groups={{0,1}}, channel_id=1", "HloModule m, replica_count=2, num_partitions=3"),
            "");
  EXPECT_THAT(with("replica_groups={{0,1}}, channel_id=1, use_global_device_ids=true",
                   "HloModule m, replica_count=2, num_partitions=3"),
              HasSubstr("names 2 ids, expected 6 in flattened mode"));
  EXPECT_THAT(with("replica_groups={}, channel_id=1, use_global_device_ids=true"),
              HasSubstr("needs replica_groups"));
  EXPECT_THAT(with("replica_groups={{0}}, use_global_device_ids=true"), HasSubstr("needs a channel_id"));
  EXPECT_THAT(with("replica_groups={{0}}, channel_id=0"),
              HasSubstr("channel_id=0, expected a positive number"));
  EXPECT_EQ(with("replica_groups=[2,4]<=[8]", "HloModule m, replica_count=8"), "");
  EXPECT_THAT(with("replica_groups=[2,4]<=[8]", "HloModule m, replica_count=4"),
              HasSubstr("names 8 ids, expected 4"));
  EXPECT_EQ(with("replica_groups=mesh['a'=2,'b'=2] {'b'}"), "");
  EXPECT_THAT(with("replica_groups=mesh['a'=2,'b'=2], device_ids=(0,1,2,2) {'b'}"),
              HasSubstr("repeats id 2"));
}

TEST(CollectiveRules, GroupsOfOneSizeButForAllReduce) {
  EXPECT_EQ(errors({"f32[8]"}, "f32[16] all-gather(x0), dimensions={0}, replica_groups={{0,1},{2}}"),
            "all-gather: replica_groups holds groups of different sizes, expected one size");
}

// ── shapes ──────────────────────────────────────────────────────

TEST(CollectiveRules, AllReduce) {
  EXPECT_EQ(errors({"f32[8]", "f32[2,2]"},
                   "(f32[8], f32[2,2]) all-reduce(x0, x1), replica_groups={}, to_apply=add"),
            "");
  EXPECT_THAT(errors({"(f32[8])"}, "(f32[8]) all-reduce(x0), replica_groups={}, to_apply=add"),
              StartsWith("all-reduce C1: operand 0 has shape (f32[8]), expected an array"));
}

TEST(CollectiveRules, GlobalIdsNeedAChannel) {
  // The reader refuses all-reduce, the verifier the others.
  const auto with = [](std::string_view root, bool parse_only) {
    return test::findings(
        entry({"f32[8]"}, std::string(root) + ", replica_groups={{0}}, use_global_device_ids=true"),
        parse_only);
  };
  constexpr std::string_view kReduce = "f32[8] all-reduce(x0), to_apply=add",
                             kGather = "f32[8] all-gather(x0), dimensions={0}";
  EXPECT_THAT(with(kReduce, true), HasSubstr("use_global_device_ids=true needs a channel_id"));
  EXPECT_EQ(with(kGather, true), "");
  EXPECT_THAT(with(kGather, false), HasSubstr("all-gather: use_global_device_ids=true needs a channel_id"));
}

TEST(CollectiveRules, AllGather) {
  EXPECT_EQ(errors({"f32[8,3]"}, "f32[8,12] all-gather(x0), dimensions={1}, replica_groups={{0,1,2,3}}"), "");
  EXPECT_EQ(errors({"f32[8]", "f32[2]"},
                   "(f32[16], f32[4]) all-gather(x0, x1), dimensions={0}, replica_groups={{0,1}}"),
            "");
  EXPECT_EQ(errors({"f32[8,3]"}, "f32[8,12] all-gather(x0), dimensions={2}, replica_groups={{0,1,2,3}}"),
            "all-gather C1: dimensions is 2, expected one of 2 dimensions, counted from 0");
  EXPECT_EQ(
      errors({"f32[8]", "f32[2]"}, "f32[16] all-gather(x0, x1), dimensions={0}, replica_groups={{0,1}}"),
      "all-gather C1: the result f32[16] has no array with dimension 0 for operand 0");
  EXPECT_EQ(errors({"f32[8,3]"}, "f32[8,9] all-gather(x0), dimensions={1}, replica_groups={{0,1,2,3}}"),
            "all-gather C2: sizes 3 and 9 of dimension 1 speak of 3 shards, a group has 4 members");
  EXPECT_EQ(
      errors({"f32[8,3]"}, "f32[16,3] all-gather(x0), dimensions={0}, replica_groups={{0}}, channel_id=1",
             "HloModule m, num_partitions=4"),
      "all-gather C2: sizes 8 and 16 of dimension 0 speak of 2 shards, a group has 4 members");
}

TEST(CollectiveRules, AllGatherPair) {
  constexpr std::string_view kStart =
      "  s = (f32[8], f32[16]) all-gather-start(x0), dimensions={0}, replica_groups={{0,1}}\n";
  EXPECT_EQ(messages_of(with_reducers(parameters({"f32[8]"}) + std::string(kStart) +
                                      "  ROOT d = f32[16] all-gather-done(s)")),
            "");
  EXPECT_THAT(messages_of(with_reducers(parameters({"f32[8]"}) + std::string(kStart) +
                                        "  ROOT d = f32[8] all-gather-done(s)")),
              HasSubstr("shape equal to f32[16], actual shape is f32[8]"));
  EXPECT_THAT(errors({"f32[8]"}, "f32[16] all-gather-start(x0), dimensions={0}, replica_groups={{0,1}}"),
              HasSubstr("all-gather-start C1: has shape f32[16], expected a tuple (operands, results)"));
}

TEST(CollectiveRules, ReduceScatter) {
  EXPECT_EQ(
      errors({"f32[8]"}, "f32[4] reduce-scatter(x0), dimensions={0}, replica_groups={{0,1}}, to_apply=add"),
      "");
  EXPECT_EQ(
      errors({"f32[8]"}, "f32[8] reduce-scatter(x0), dimensions={0}, replica_groups={{0,1}}, to_apply=add"),
      "reduce-scatter C2: sizes 8 and 8 of dimension 0 speak of 1 shards, a group has 2 members");
  EXPECT_EQ(
      errors({"f32[9]"}, "f32[5] reduce-scatter(x0), dimensions={0}, replica_groups={{0,1}}, to_apply=add"),
      "reduce-scatter C3: size 9 of dimension 0 of operand 0 is not a multiple of 2 shards");
}

TEST(CollectiveRules, AllToAll) {
  EXPECT_EQ(errors({"f32[8,4]"}, "f32[8,4] all-to-all(x0), dimensions={0}, replica_groups={{0,1,2,3}}"), "");
  EXPECT_EQ(
      errors({"f32[8,4]", "f32[8,4]"}, "(f32[8,4], f32[8,4]) all-to-all(x0, x1), replica_groups={{0,1}}"),
      "");
  EXPECT_EQ(
      errors({"f32[8,4]", "f32[8,4]"}, "f32[8,4] all-to-all(x0, x1), dimensions={0}, replica_groups={{0,1}}"),
      "all-to-all C2: has 2 operands, expected one with dimensions=");
  EXPECT_EQ(errors({"f32[9,4]"}, "f32[9,4] all-to-all(x0), dimensions={0}, replica_groups={{0,1}}"),
            "all-to-all C2: size 9 of dimension 0 is not a multiple of the 2 members of a group");
  EXPECT_EQ(errors({"f32[<=8,4]"}, "f32[<=8,4] all-to-all(x0), dimensions={0}, replica_groups={{0,1}}"),
            "all-to-all C2: operand 0 is f32[<=8,4], expected no dimension of dynamic size");
  EXPECT_EQ(errors({"f32[8,4]"}, "(f32[8,4]) all-to-all(x0), replica_groups={{0,1}}"),
            "all-to-all C3: has 1 operands, expected one for each of the 2 members of a group");
  EXPECT_EQ(errors({"f32[8,4]{0,1}", "f32[8,4]"},
                   "(f32[8,4], f32[8,4]) all-to-all(x0, x1), replica_groups={{0,1}}"),
            "all-to-all C4: operands with different shapes: operand 0 is f32[8,4]{0,1}, operand 1 is "
            "f32[8,4]{1,0}");
}

TEST(CollectiveRules, RaggedAllToAll) {
  const auto with = [](std::string_view output, std::string_view offsets, std::string_view sizes) {
    return errors({"f32[8,4]", output, offsets, sizes, offsets, sizes},
                  "f32[16,4] ragged-all-to-all(x0, x1, x2, x3, x4, x5), replica_groups={{0,1}}");
  };
  EXPECT_EQ(with("f32[16,4]", "s32[2]", "s32[2]"), "");
  EXPECT_THAT(with("(f32[16,4])", "s32[2]", "s32[2]"), StartsWith("ragged-all-to-all C1"));
  EXPECT_EQ(with("f32[16,4]", "s32[2,2,2]", "s32[2,2,2]"),
            "ragged-all-to-all C2: operand 2 is s32[2,2,2], expected rank 1 or 2");
  EXPECT_EQ(with("f32[16,4]", "s32[2]", "s32[4]"),
            "ragged-all-to-all C3: operand 3 is s32[4], expected the shape of operand 2, s32[2]");
  EXPECT_EQ(with("f32[16,4]", "s32[2,2]{1,0}", "s32[2,2]{0,1}"), "");  // so that layouts can be chosen
  EXPECT_EQ(with("f32[16,4]", "s32[2,2]", "s32[2,2]{1,0}"), "");
}

/// Sizes are data: at most the smaller of both arrays is sent, whatever room the other one has.
TEST(CollectiveRules, RaggedAllToAllSendsTheSmallerArray) {
  for (const auto& [input, output] : {std::pair("f32[8,4]", "f32[32,4]"), {"f32[32,4]", "f32[8,4]"}}) {
    Module module = test::module_or_fail(fmt::format(
        "HloModule m, replica_count=2\nENTRY e {{\n  x = {0} parameter(0)\n  y = {1} parameter(1)\n"
        "  s = s32[2] parameter(2)\n"
        "  ROOT r = {1} ragged-all-to-all(x, y, s, s, s, s), replica_groups={{{{0,1}}}}\n}}\n",
        input, output));
    const Instruction& root = module.root(module.entry);
    const Work work = work_of(OpContext(module, module.shapes(), root, op_table(), nullptr));
    ASSERT_TRUE(work.collective);
    EXPECT_EQ(dense_bytes(work.collective->payload).count(), 8 * 4 * 4) << input;
    EXPECT_EQ(to_text_without_layout(work.operand_read[0]), "f32[8,4]") << input;
    EXPECT_EQ(work.operand_read[1], nullptr) << input;
    EXPECT_EQ(to_text_without_layout(work.result_written), "f32[8,4]") << input;
  }
}

TEST(CollectiveRules, CollectiveBroadcast) {
  EXPECT_EQ(errors({"f32[8]"}, "f32[8] collective-broadcast(x0), replica_groups={{1,0},{2,3}}"), "");
  EXPECT_THAT(errors({"(f32[8])"}, "(f32[8]) collective-broadcast(x0), replica_groups={{0,1}}"),
              StartsWith("collective-broadcast C1"));
}

TEST(CollectiveRules, CollectiveBroadcastFromRootsGivenAsData) {
  const std::string_view root = ", replica_groups={{0,1}}, has_dynamic_root=true";
  const auto with = [&](std::initializer_list<std::string_view> shapes, std::string_view text) {
    return errors(shapes, std::string(text) + std::string(root));
  };
  EXPECT_EQ(with({"f32[8]", "s32[1]"}, "f32[8] collective-broadcast(x0, x1)"), "");
  EXPECT_EQ(with({"f32[8]", "s8[2]", "s32[2]"}, "(f32[8], s8[2]) collective-broadcast(x0, x1, x2)"), "");
  EXPECT_THAT(with({"f32[8]", "s8[2]", "s32[2]"}, "f32[8] collective-broadcast(x0, x1, x2)"),
              HasSubstr("to have shape equal to (f32[8], s8[2])"));
  EXPECT_THAT(with({"f32[8]"}, "f32[8] collective-broadcast(x0)"),
              StartsWith("collective-broadcast C1: no operand before the root"));
}

TEST(CollectiveRules, CollectivePermutePairs) {
  const auto with = [](std::string_view pairs, std::string_view header = "HloModule m") {
    return errors({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs=" + std::string(pairs),
                  header);
  };
  EXPECT_EQ(with("{{0,1},{1,0},{2,2}}"), "");
  EXPECT_EQ(with("{{0,1},{0,2}}"),
            "collective-permute: source 0 appears more than once in source_target_pairs");
  EXPECT_EQ(with("{{0,1},{2,1}}"),
            "collective-permute: target 1 appears more than once in source_target_pairs");
  EXPECT_EQ(with("{{5000,1},{5000,2}}"),
            "collective-permute: source 5000 appears more than once in source_target_pairs");
  EXPECT_EQ(with("{{0,5}}", "HloModule m, replica_count=4"),
            "collective-permute: target 5 of source_target_pairs, expected an id below 4");
  EXPECT_THAT(with("{{-1,0}}"), HasSubstr("source -1 of source_target_pairs"));
  EXPECT_THAT(errors({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,5}}, channel_id=1",
                     "HloModule m, replica_count=8, num_partitions=2"),
              HasSubstr("target 5 of source_target_pairs, expected an id below 2"));
}

TEST(CollectiveRules, CollectivePermuteInPlace) {
  const auto with = [](std::string_view output, std::string_view offsets, std::string_view pairs) {
    return errors({"f32[8,4]", output, offsets, offsets},
                  "f32[8,4] collective-permute(x0, x1, x2, x3), slice_sizes={{2,4}}, source_target_pairs=" +
                      std::string(pairs));
  };
  EXPECT_EQ(with("f32[8,4]", "(s32[],s32[])", "{{0,1},{1,0}}"), "");
  EXPECT_EQ(with("f32[8,4]", "((s32[],s32[]),(s32[],s32[]))", "{{0,1},{0,2}}"), "")
      << "two slices, two targets";
  EXPECT_THAT(with("f32[8,4]", "(s32[])", "{{0,1}}"),
              HasSubstr("offsets (s32[]) do not fit the buffer f32[8,4]"));
  EXPECT_THAT(with("f32[8,4]", "s32[]", "{{0,1}}"), HasSubstr("offsets s32[] do not fit"));
  EXPECT_THAT(with("(f32[8,4])", "(s32[],s32[])", "{{0,1}}"), HasSubstr("shape equal to (f32[8,4])"));
  EXPECT_THAT(errors({"f32[8,4]"},
                     "f32[8,4] collective-permute(x0), slice_sizes={{2,4}}, source_target_pairs={{0,1}}"),
              HasSubstr("has 1 operands, expected 4 with slice_sizes"));
}

// ── whole modules ───────────────────────────────────────────────

std::string rules_broken_by(const std::string& text) {
  Module module = test::module_or_fail(text);
  DiagnosticList diagnostics;
  check_module_rules(module, op_table(), diagnostics);
  return diagnostics.items().empty() ? "" : diagnostics.items()[0].message;
}

TEST(CollectiveRules, LayoutsOfAllReducesAreConstrainedAllOrNone) {
  const auto with = [](std::string_view second) {
    return rules_broken_by(with_reducers(
        parameters({"f32[8]"}) +
        "  a = f32[8] all-reduce(x0), to_apply=add, replica_groups={}, constrain_layout=true\n" +
        "  ROOT b = f32[8] all-reduce(a), to_apply=add, replica_groups={}" + std::string(second)));
  };
  EXPECT_EQ(with(", constrain_layout=true"), "");
  EXPECT_EQ(
      with(""),
      "all-reduce: b has constrain_layout=false, a has true; expected all all-reduces of a module to agree");
}

// ── who takes part ──────────────────────────────────────────────

using Groups = std::vector<std::vector<int64_t>>;

CollectiveGroups groups_of(Module& module, const DeviceGrid& grid) {
  const OpContext op(module, module.root(module.entry), op_table(), nullptr);
  const auto groups = collective_groups(op, grid);
  EXPECT_TRUE(groups.has_value()) << (groups ? "" : groups.error().message);
  return groups ? *groups : CollectiveGroups{};
}

CollectiveGroups all_reduce_groups(std::string_view attributes, const DeviceGrid& grid) {
  Module module = test::module_or_fail(
      entry({"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, " + std::string(attributes)));
  return groups_of(module, grid);
}

TEST(CollectiveGroups, FiveModesOnTwoReplicasOfFourPartitions) {
  const DeviceGrid grid{2, 4};
  const CollectiveGroups replicas = all_reduce_groups("replica_groups={{1,0}}", grid);
  EXPECT_EQ(replicas.mode, GroupMode::kCrossReplica);
  EXPECT_EQ(replicas.groups, (Groups{{4, 0}, {5, 1}, {6, 2}, {7, 3}}));

  const CollectiveGroups both = all_reduce_groups("replica_groups={{0},{1}}, channel_id=1", grid);
  EXPECT_EQ(both.mode, GroupMode::kCrossReplicaAndPartition);
  EXPECT_EQ(both.groups, (Groups{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(all_reduce_groups("replica_groups={{1,0}}, channel_id=1", grid).groups,
            (Groups{{4, 5, 6, 7, 0, 1, 2, 3}}));

  // (0,0) (0,1) (1,0) (1,1) and (0,2) (0,3) (1,2) (1,3)
  const CollectiveGroups flat = all_reduce_groups(
      "replica_groups={{0,1,4,5},{2,3,6,7}}, channel_id=1, use_global_device_ids=true", grid);
  EXPECT_EQ(flat.mode, GroupMode::kFlattened);
  EXPECT_EQ(flat.groups, (Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));

  Module partitions = test::module_or_fail(
      entry({"f32[8]"}, "f32[8] all-to-all(x0), dimensions={0}, channel_id=1, replica_groups={{0,2},{1,3}}"));
  EXPECT_EQ(groups_of(partitions, grid).mode, GroupMode::kCrossPartition);
  EXPECT_EQ(groups_of(partitions, grid).groups, (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));

  EXPECT_EQ(all_reduce_groups("replica_groups={}", grid).groups, (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(CollectiveGroups, SizesNeedNoList) {
  for (const std::string_view attributes :
       {"replica_groups={{1,0}}", "replica_groups={}", "replica_groups={{0},{1}}, channel_id=1",
        "replica_groups={{0,1,4,5},{2,3,6,7}}, channel_id=1, use_global_device_ids=true"}) {
    Module module = test::module_or_fail(
        entry({"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, " + std::string(attributes)));
    const OpContext op(module, module.root(module.entry), op_table(), nullptr);
    const DeviceGrid grid{2, 4};
    EXPECT_EQ(group_size(op, *group_mode(op), grid),
              static_cast<int64_t>(groups_of(module, grid).groups[0].size()))
        << attributes;
  }
}

TEST(CollectiveGroups, PermutesOfReplicasAndPartitions) {
  const DeviceGrid grid{2, 3};
  Module replicas =
      test::module_or_fail(entry({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,1}}"));
  using Pairs = std::vector<std::array<int64_t, 2>>;
  EXPECT_EQ(groups_of(replicas, grid).pairs, (Pairs{{0, 3}, {1, 4}, {2, 5}}));
  Module partitions = test::module_or_fail(
      entry({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,2}}, channel_id=3"));
  EXPECT_EQ(groups_of(partitions, grid).pairs, (Pairs{{0, 2}, {3, 5}}));
}

TEST(CollectiveGroups, IdsBeyondTheGridAreErrors) {
  Module module = test::module_or_fail(
      entry({"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, replica_groups={{0,1,2,3}}"));
  const OpContext op(module, module.root(module.entry), op_table(), nullptr);
  const auto groups = collective_groups(op, {2, 4});
  ASSERT_FALSE(groups.has_value());
  EXPECT_EQ(groups.error().message, "all-reduce: id 2 is not below 2 (cross-replica mode)");
}

// ── how many devices ────────────────────────────────────────────

std::string grid_of(const std::string& text) {
  Module module = test::module_or_fail(text);
  const auto grid = device_grid(module, op_table());
  if (!grid) return grid.error().message;
  return fmt::format("{}{} x {}{}", grid->replicas, grid->replicas_inferred ? "?" : "", grid->partitions,
                     grid->partitions_inferred ? "?" : "");
}

std::string two_collectives(std::string_view first, std::string_view second,
                            std::string_view header = "HloModule m") {
  return with_reducers(parameters({"f32[8]"}) + "  a = f32[8] all-reduce(x0), to_apply=add, " +
                           std::string(first) + "\n  ROOT b = f32[8] all-reduce(a), to_apply=add, " +
                           std::string(second),
                       header);
}

TEST(DeviceGrid, HeaderOrCollectivesTell) {
  EXPECT_EQ(grid_of(entry({"f32[8]"}, "f32[8] add(x0, x0)")), "1 x 1");
  EXPECT_EQ(
      grid_of(entry({"f32[8]"}, "f32[8] add(x0, x0)", "HloModule m, replica_count=3, num_partitions=2")),
      "3 x 2");
  EXPECT_EQ(
      grid_of(entry({"f32[8]"}, "f32[8] all-reduce(x0), to_apply=add, replica_groups={{0,1,2,3,4,5,6,7}}")),
      "8? x 1");
  EXPECT_EQ(grid_of(two_collectives("replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true",
                                    "replica_groups={{0}}, channel_id=2")),
            "1? x 4?");
  EXPECT_EQ(grid_of(two_collectives("replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true",
                                    "replica_groups={{0,1}}")),
            "2? x 2?");
  EXPECT_EQ(grid_of(two_collectives("replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true",
                                    "replica_groups={}")),
            "1? x 4?");
  EXPECT_EQ(grid_of(entry({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,1},{1,3}}")),
            "4? x 1");
  EXPECT_EQ(
      grid_of(entry({"f32[8]"}, "f32[8] collective-permute(x0), source_target_pairs={{0,1}}, channel_id=1")),
      "1 x 2?");
}

TEST(DeviceGrid, ContradictionsAreErrors) {
  EXPECT_EQ(grid_of(two_collectives("replica_groups={{0,1,2,3}}", "replica_groups={{0,1}}")),
            "all-reduce: \"b\" names 2 replicas, \"a\" 4");
  EXPECT_EQ(grid_of(two_collectives("replica_groups={{0,1,2,3}}, channel_id=1, use_global_device_ids=true",
                                    "replica_groups={{0,1,2}}")),
            "\"a\" names 4 devices, which are no 3 replicas times any number of partitions");
}

// ── bytes ───────────────────────────────────────────────────────

TEST(CollectiveBytes, Table) {
  const Bytes s(1200);
  EXPECT_EQ(sent_per_member(CollectiveKind::kAllGather, 4, s), Bytes(3600));
  EXPECT_EQ(sent_per_member(CollectiveKind::kReduceScatter, 4, s), Bytes(900));
  EXPECT_EQ(sent_per_member(CollectiveKind::kAllReduce, 4, s), Bytes(1800));
  EXPECT_EQ(sent_per_member(CollectiveKind::kAllToAll, 4, s), Bytes(900));
  EXPECT_EQ(sent_per_member(CollectiveKind::kPermute, 4, s), s);
  EXPECT_EQ(sent_per_member(CollectiveKind::kBroadcast, 4, s), s);
  EXPECT_EQ(collective_volume(CollectiveKind::kAllGather, 4, s), Bytes(4800));
  EXPECT_EQ(collective_volume(CollectiveKind::kAllToAll, 4, s), Bytes(4800));
  EXPECT_EQ(collective_volume(CollectiveKind::kAllReduce, 4, s), s);
  EXPECT_EQ(sent_per_member(CollectiveKind::kReduceScatter, 3, Bytes(10)), Bytes(7)) << "6.67 rounded up";
  for (const CollectiveKind kind :
       {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce,
        CollectiveKind::kAllToAll, CollectiveKind::kBroadcast})
    EXPECT_EQ(sent_per_member(kind, 1, s), Bytes(0));
  const Bytes most(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(sent_per_member(CollectiveKind::kAllReduce, 1 << 20, most), most);
}

/// Collectives of a module in order: "all-reduce 16777216 B of 4: 25165824 B".
std::string traffic(const std::string& module_text) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(test::source_of(module_text), op_table(), diagnostics);
  if (modules.size() != 1) return test::rendered(diagnostics);
  Module& module = modules[0];
  const auto grid = device_grid(module, op_table());
  if (!grid) return grid.error().message;
  std::string text = fmt::format("{}x{}", grid->replicas, grid->partitions);
  for (const Instruction& instruction : module.instructions) {
    const OpContext op(module, instruction, op_table(), nullptr);
    const Work work = work_of(op);
    if (!work.collective) continue;
    const Bytes payload = dense_bytes(work.collective->payload);
    const int64_t members = group_size(op, *group_mode(op), *grid);
    text += fmt::format("; {} {} of {}: {}", to_text(instruction.opcode), payload.count(), members,
                        sent_per_member(work.collective->kind, members, payload).count());
  }
  return text;
}

TEST(CollectiveBytes, OfWholeModules) {
  EXPECT_EQ(traffic(test::own_module("tpu_block")), "2x1; all-reduce 2097152 of 2: 2097152");
  EXPECT_EQ(traffic(test::own_module("replicas_step")), "4x1; all-reduce 1028 of 4: 1542");
  EXPECT_EQ(traffic(test::own_module("partitions_step")),
            "1x4; all-gather 128 of 4: 384; reduce-scatter 512 of 4: 384; all-reduce 4 of 4: 6");
}

TEST(CollectiveBytes, SeedModules) {
  const auto seed = [](const char* name) { return test::shared_text(std::string("seeds/") + name); };
  if (seed("003_54e5854892ee064a.txt").empty()) GTEST_SKIP() << test::no_shared("seeds");
  EXPECT_EQ(traffic(seed("003_54e5854892ee064a.txt")), "4x1; all-reduce 16777220 of 4: 25165830");
  EXPECT_EQ(traffic(seed("002_31f0e50696cb742c.txt")), "8x1; all-reduce 7454760 of 8: 13045830");
  EXPECT_EQ(traffic(seed("004_8d2741cff48cd2ab.txt")),
            "1x4; all-gather 16 of 4: 48; all-reduce 4096 of 4: 6144; all-reduce 1024 of 4: 1536");
}

// ── work ────────────────────────────────────────────────────────

TEST(CollectiveWork, StartsWriteTheirResultsOnly) {
  Module module = test::module_or_fail(
      with_reducers(parameters({"f32[8]"}) +
                    "  s = (f32[8], f32[16]) all-gather-start(x0), dimensions={0}, replica_groups={{0,1}}\n"
                    "  ROOT d = f32[16] all-gather-done(s)"));
  const Instruction& done = module.root(module.entry);
  const Work start = work_of(OpContext(module, module[done.operands[0]], op_table(), nullptr));
  ASSERT_TRUE(start.collective.has_value());
  EXPECT_EQ(dense_bytes(start.collective->payload), Bytes(32));
  EXPECT_EQ(to_text_without_layout(start.result_written), "f32[16]");
  EXPECT_FALSE(test::root_work(module).collective.has_value());
  EXPECT_EQ(test::root_work(module).result_written, nullptr);
}

TEST(CollectiveWork, InPlacePermutesSendSlices) {
  Module module = test::module_or_fail(
      entry({"f32[8,4]", "f32[8,4]", "(s32[],s32[])", "(s32[],s32[])"},
            "f32[8,4] collective-permute(x0, x1, x2, x3), slice_sizes={{2,4}}, source_target_pairs={{0,1}}"));
  const Work work = test::root_work(module);
  EXPECT_EQ(dense_bytes(work.collective->payload), Bytes(32));
  EXPECT_EQ(dense_bytes(std::span(&work.result_written, 1)), Bytes(32));
  EXPECT_EQ(work.operand_read[1], nullptr);
}

}  // namespace
}  // namespace hlosim
