#include "interconnect/collective_cost.h"

#include <gtest/gtest.h>

#include "interconnect/collective_costs.h"
#include "interconnect/collective_driver.h"
#include "interconnect/interconnect.h"
#include "ops/collective_groups.h"
#include "ops/work.h"
#include "support/simulations.h"

namespace hlosim {
namespace {

/// Cost of the root of `text` on a slice; the grid is the module's.
CollectiveCost cost_of(const std::string& text, const Device& device, const std::vector<int64_t>& sides,
                       AxisOrder order = AxisOrder::kRotation) {
  Module module = test::module_or_fail(text);
  AssumptionList assumptions;
  const auto grid = device_grid(module, op_table());
  EXPECT_TRUE(grid) << render(grid.error());
  const auto slice = choose_slice(device.config, {Topology{sides}, {}}, grid->devices(), assumptions);
  EXPECT_TRUE(slice) << (slice ? "" : render(slice.error()));
  const OpContext op(module, module.root(module.entry), op_table(), nullptr);
  const auto cost = cost_collective(op, device.config, *slice, *grid, assumptions, order);
  EXPECT_TRUE(cost) << (cost ? "" : render(cost.error()));
  return cost ? *cost : CollectiveCost();
}

double microseconds(const CollectiveCost& cost) { return static_cast<double>(cost.network.count()) * 1e-6; }

/// bf16[1024,4096] in parts over `group`, gathered; groups along x of a 4x4x4.
std::string gather(int64_t rows, int64_t columns, int64_t members, const std::string& groups) {
  return fmt::format(
      "HloModule m, replica_count=64\nENTRY e {{\n  p = bf16[{},{}]{{1,0:T(8,128)(2,1)}} parameter(0)\n"
      "  ROOT g = bf16[{},{}]{{1,0:T(8,128)(2,1)}} all-gather(p), replica_groups={}, dimensions={{0}}\n}}\n",
      rows / members, columns, rows, columns, groups);
}

// The exercises of the JAX scaling book, "Sharded matrices", on a v4p slice of 4 x 4 x 4 (45 GB/s each way).
TEST(CollectiveCost, ScalingBookExercises) {
  const Device v4 = test::device_or_fail("v4");
  // bf16[1024,4096], the other dimension sharded by 4, over X: 2BD / (9e10 · 4) = 23 us, less one quarter
  // that is there already, and two hops.
  const CollectiveCost over_x = cost_of(gather(1024, 1024, 4, "[16,4]<=[64]"), v4, {4, 4, 4});
  EXPECT_NEAR(microseconds(over_x), 23.3 * 3 / 4 + 2, 0.1);
  EXPECT_EQ(over_x.group_size, 4);
  EXPECT_EQ(over_x.group_count, 16);
  EXPECT_FALSE(over_x.latency_bound);
  // Over X and Y: four times the bytes over twice the links.
  const CollectiveCost over_xy = cost_of(gather(1024, 4096, 16, "[4,16]<=[64]"), v4, {4, 4, 4});
  EXPECT_NEAR(microseconds(over_xy), 46.6 * 15 / 16 + 4, 0.2);
  EXPECT_EQ(over_xy.algorithm, "all-gather: ring of 4 along x, ring of 4 along y, axes in rotation");
  // 256 bytes are a matter of hops: two of a microsecond.
  const CollectiveCost small = cost_of(gather(4, 32, 4, "[16,4]<=[64]"), v4, {4, 4, 4});
  EXPECT_TRUE(small.latency_bound);
  EXPECT_NEAR(microseconds(small), 2, 0.1);
}

std::string all_reduce(int64_t replicas, const std::string& groups) {
  std::string text =
      "HloModule m, replica_count=" + std::to_string(replicas) +
      "\nsum {\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT c = bf16[] add(a, b)\n}\n"
      "ENTRY e {\n  p = bf16[1024,4096]{1,0:T(8,128)(2,1)} parameter(0)\n"
      "  ROOT r = bf16[1024,4096]{1,0:T(8,128)(2,1)} all-reduce(p), replica_groups=" +
      groups + ", to_apply=sum\n}\n";
  return text;
}

TEST(CollectiveCost, AllReduceIsTwoGathers) {
  const Device v4 = test::device_or_fail("v4");
  const CollectiveCost cost = cost_of(all_reduce(64, "[16,4]<=[64]"), v4, {4, 4, 4});
  EXPECT_NEAR(microseconds(cost), 2 * 2 * 1024 * 4096 / 9e10 * 1e6 * 3 / 4 + 4,
              0.1);  // the book's 190, less a quarter; four hops
  EXPECT_EQ(cost.sent, Bytes(2 * 1024 * 4096 * 2 * 3 / 4));
  EXPECT_EQ(cost.launch, v4.config.ici.launch);
}

TEST(CollectiveCost, MeshesHaveNoWrapAround) {
  const Device v4 = test::device_or_fail("v4");
  const CollectiveCost mesh = cost_of(all_reduce(4, "{}"), v4, {4, 1, 1});
  EXPECT_NEAR(microseconds(mesh), 2 * 2.0 * 1024 * 4096 / 4.5e10 * 1e6 * 3 / 4 + 6, 0.1);
  EXPECT_EQ(mesh.algorithm, "reduce-scatter and all-gather: line of 4 along x");
}

TEST(CollectiveCost, OneMemberSendsNothing) {
  const CollectiveCost cost =
      cost_of(all_reduce(4, "{{0},{1},{2},{3}}"), test::device_or_fail("v4"), {2, 2, 1});
  EXPECT_EQ(cost.time(), Picoseconds(0));
  EXPECT_EQ(cost.sent, Bytes(0));
}

TEST(CollectiveCost, GroupsThatFillNoBoxUseTheLinksBetweenThem) {
  const Device v5e = test::device_or_fail("v5e");
  const CollectiveCost cost = cost_of(all_reduce(8, "{{0,1,4,6},{2,3,5,7}}"), v5e, {8, 1});
  EXPECT_EQ(cost.algorithm, "reduce-scatter and all-gather: ring in group order on 8x1 (no wrap-around)");
  const CollectiveCost together = cost_of(all_reduce(8, "{{0,1,2,3},{4,5,6,7}}"), v5e, {8, 1});
  EXPECT_GT(cost.network, together.network);
}

TEST(CollectiveCost, GroupsBetweenEachOtherAreLinesAndRingsOfTheirOwn) {
  const Device v5e = test::device_or_fail("v5e");
  // Every other chip of a row of 8: each group has half of what a link carries.
  const CollectiveCost apart = cost_of(all_reduce(8, "{{0,2,4,6},{1,3,5,7}}"), v5e, {8, 1});
  EXPECT_EQ(apart.algorithm, "reduce-scatter and all-gather: line of 4 along x, 2 apart");
  const CollectiveCost together = cost_of(all_reduce(8, "{{0,1,2,3},{4,5,6,7}}"), v5e, {8, 1});
  EXPECT_NEAR(static_cast<double>(apart.by_bytes.count()), 2 * static_cast<double>(together.by_bytes.count()),
              2);
  EXPECT_EQ(apart.hops, 2 * together.hops);
  // The axis that counts slowest in a mesh of 8 x 8 on a torus of 4 x 4 x 4.
  const Device v4 = test::device_or_fail("v4");
  const CollectiveCost mesh = cost_of(gather(1024, 4096, 8, "[8,8]<=[8,8]T(1,0)"), v4, {4, 4, 4});
  EXPECT_EQ(mesh.algorithm, "all-gather: ring of 2 along y, 2 apart, ring of 4 along z, axes in rotation");
  EXPECT_GE(mesh.network, mesh.bound);
  // A group that nobody lies between has the links for itself.
  const CollectiveCost alone = cost_of(all_reduce(8, "{{0,2},{1},{3},{4},{5},{6},{7}}"), v5e, {8, 1});
  EXPECT_LT(alone.by_bytes, apart.by_bytes);
}

TEST(CollectiveCost, TheDevicesOfAChipShareItsLinks) {
  const Device v7x = test::device_or_fail("v7x");
  ASSERT_EQ(v7x.config.devices_per_chip(), 2);
  // Both devices of both chips in one group, against two groups that use the same link.
  const CollectiveCost whole = cost_of(all_reduce(4, "{}"), v7x, {2, 1, 1});
  const CollectiveCost halves = cost_of(all_reduce(4, "{{0,2},{1,3}}"), v7x, {2, 1, 1});
  EXPECT_EQ(whole.algorithm, "reduce-scatter and all-gather: line of 2 along x");
  EXPECT_GE(halves.network, whole.network);
  EXPECT_EQ(cost_of(all_reduce(2, "{}"), v7x, {1, 1, 1}).algorithm,
            "reduce-scatter and all-gather: within one chip");
}

TEST(CollectiveCost, PermutesGoTheShortestWay) {
  const auto permute = [](const std::string& pairs) {
    return "HloModule m, replica_count=16\nENTRY e {\n  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)\n"
           "  ROOT r = f32[1024,1024]{1,0:T(8,128)} collective-permute(p), source_target_pairs=" +
           pairs + "\n}\n";
  };
  const Device v5e = test::device_or_fail("v5e");
  const double hop = 1024 * 1024 * 4 / 4.5e10 * 1e6;
  EXPECT_NEAR(microseconds(cost_of(permute("{{0,1},{1,2},{2,3}}"), v5e, {16, 1})), hop + 1, 0.01);
  EXPECT_NEAR(microseconds(cost_of(permute("{{0,2},{1,3}}"), v5e, {16, 1})), 2 * hop + 2,
              0.01);  // both over 1-2
  EXPECT_NEAR(microseconds(cost_of(permute("{{0,15},{1,0}}"), v5e, {16, 1})), hop + 1, 0.01);  // wraps
}

/// Each of `n` devices in a row sends to the one `distance` further, in rings of `ring`.
std::string ring_permute(int64_t n, int64_t ring, int64_t distance) {
  std::string pairs;
  for (int64_t at = 0; at < n; ++at)
    pairs += fmt::format("{}{{{},{}}}", at == 0 ? "" : ",", at,
                         at / ring * ring + (at % ring + distance + ring) % ring);
  return fmt::format(
      "HloModule m, replica_count={}\nENTRY e {{\n  p = f32[1024,1024]{{1,0:T(8,128)}} parameter(0)\n"
      "  ROOT r = f32[1024,1024]{{1,0:T(8,128)}} collective-permute(p), source_target_pairs={{{}}}\n}}\n",
      n, pairs);
}

// Rings over an axis of a mesh, in the order of its devices. 16 on 8x8x8 are a side and the next row: each
// link carries one part, at most two hops far, and the two ways round share none.
TEST(CollectiveCost, RingsOfPermutesGoBothWaysAtOnceWhereTheyClose) {
  const Device v5p = test::device_or_fail("v5p");
  const double part = 1024 * 1024 * 4 / 9e10 * 1e6;
  for (const int64_t ring : {8, 16}) {
    const CollectiveCost up = cost_of(ring_permute(512, ring, 1), v5p, {8, 8, 8});
    const CollectiveCost down = cost_of(ring_permute(512, ring, -1), v5p, {8, 8, 8});
    const double hop = static_cast<double>(v5p.config.ici.hop_latency.count()) * 1e-6;
    EXPECT_NEAR(microseconds(up), part + hop * (ring == 8 ? 1 : 2), 0.1) << ring;
    EXPECT_EQ(up.network, down.network);
    ASSERT_TRUE(up.links && down.links);
    EXPECT_FALSE(up.links->meets(*down.links)) << ring;
    EXPECT_TRUE(up.links->meets(*up.links));
    EXPECT_EQ(up.busy().count(), up.network.count() / 2);
  }
  // Four of the 16 of a side: the last sends back over the links of the other way.
  const Device v6e = test::device_or_fail("v6e");
  const CollectiveCost up = cost_of(ring_permute(256, 4, 1), v6e, {16, 16});
  EXPECT_TRUE(up.links->meets(*cost_of(ring_permute(256, 4, -1), v6e, {16, 16}).links));
}

/// On several slices, or in another form than the rule's.
CollectiveCost cost_on(const std::string& text, const Device& device, const SliceRequest& request,
                       AxisOrder order = AxisOrder::kRotation) {
  Module module = test::module_or_fail(text);
  AssumptionList assumptions;
  const auto grid = device_grid(module, op_table());
  const auto slice = choose_slice(device.config, request, grid->devices(), assumptions);
  EXPECT_TRUE(slice) << (slice ? "" : render(slice.error()));
  const OpContext op(module, module.root(module.entry), op_table(), nullptr);
  const auto cost = cost_collective(op, device.config, *slice, *grid, assumptions, order);
  EXPECT_TRUE(cost) << (cost ? "" : render(cost.error()));
  return cost ? *cost : CollectiveCost();
}

TEST(CollectiveCost, BetweenSlicesOverTheirHosts) {
  const Device v5e = test::device_or_fail("v5e");
  const double bytes = 2.0 * 1024 * 4096, host = v5e.config.host.dcn.bandwidth.count() * 1e-6;
  // Two slices of 2x4: each chip has an eighth after the reduce-scatter; the eight on one host exchange
  // theirs.
  const CollectiveCost two = cost_on(all_reduce(16, "{}"), v5e, {Topology{{2, 4}}, {}, SliceForm::kRule, 2});
  const CollectiveCost one = cost_on(all_reduce(8, "{}"), v5e, {Topology{{2, 4}}, {}});
  ASSERT_EQ(v5e.config.host.chips, 8);
  EXPECT_NEAR(
      microseconds(two) - microseconds(one),
      2 * bytes / 2 / 8 * 8 / host + 2 * static_cast<double>(v5e.config.host.dcn.latency.count()) * 1e-6,
      0.1);
  EXPECT_EQ(two.algorithm,
            "reduce-scatter and all-gather: line of 2 along x, line of 4 along y, axes in rotation; between "
            "2 slices "
            "over their hosts");
  // One chip of each slice: eight groups share the same two hosts.
  const CollectiveCost pairs =
      cost_on(all_reduce(16, "[8,2]<=[2,8]T(1,0)"), v5e, {Topology{{2, 4}}, {}, SliceForm::kRule, 2});
  EXPECT_NEAR(microseconds(pairs),
              2 * bytes / 2 * 8 / host + 2 * static_cast<double>(v5e.config.host.dcn.latency.count()) * 1e-6,
              0.1);
  // Groups that stay within their slices don't notice.
  EXPECT_EQ(cost_on(all_reduce(16, "{{0,1,2,3,4,5,6,7},{8,9,10,11,12,13,14,15}}"), v5e,
                    {Topology{{2, 4}}, {}, SliceForm::kRule, 2})
                .network,
            one.network);
  // A permute from slice to slice.
  const std::string permute =
      "HloModule m, replica_count=16\nENTRY e {\n  p = f32[1024,1024]{1,0:T(8,128)} parameter(0)\n"
      "  ROOT r = f32[1024,1024]{1,0:T(8,128)} collective-permute(p), source_target_pairs={{0,8},{1,9}}\n}\n";
  EXPECT_NEAR(microseconds(cost_on(permute, v5e, {Topology{{2, 4}}, {}, SliceForm::kRule, 2})),
              2 * 4 * 1024 * 1024 / host + static_cast<double>(v5e.config.host.dcn.latency.count()) * 1e-6,
              0.1);
}

TEST(CollectiveCost, ATwistedTorusUsesAllLinks) {
  const Device v4 = test::device_or_fail("v4");
  const SliceRequest twisted{Topology{{4, 4, 8}}, {}, SliceForm::kTwisted}, straight{Topology{{4, 4, 8}}, {}};
  const CollectiveCost bent = cost_on(all_reduce(128, "{}"), v4, twisted),
                       flat = cost_on(all_reduce(128, "{}"), v4, straight);
  EXPECT_LT(bent.network, flat.network);
  EXPECT_NEAR(microseconds(bent), 2 * 2.0 * 1024 * 4096 * 127 / 128 / (6 * 4.5e10) * 1e6 + 2 * 6, 0.1);
  EXPECT_EQ(bent.algorithm, "reduce-scatter and all-gather: twisted torus of 128 chips");
  // TensorCores use the links of one axis at a time there too.
  const CollectiveCost driven = cost_on(all_reduce(128, "{}"), v4, twisted, AxisOrder::kInTurn);
  EXPECT_NEAR(static_cast<double>(driven.by_bytes.count()), 3.0 * static_cast<double>(bent.by_bytes.count()),
              5);
  EXPECT_EQ(driven.algorithm,
            "reduce-scatter and all-gather: twisted torus of 128 chips, one axis after the other");
  // Along a short axis a twisted torus closes no ring.
  EXPECT_EQ(cost_on(all_reduce(128, "[32,4]<=[128]"), v4, twisted).algorithm,
            "reduce-scatter and all-gather: line of 4 along x");
}

// Lower bound, time; doubling what is sent doubles both.
TEST(CollectiveCost, NothingIsFasterThanItsBound) {
  for (const char* name : {"v4", "v5e", "v7x"}) {
    const Device device = test::device_or_fail(name);
    for (const SliceForm form : {SliceForm::kMesh, SliceForm::kTorus})
      for (const auto& sides :
           {std::vector<int64_t>{2, 4, 1}, std::vector<int64_t>{4, 4, 4}, std::vector<int64_t>{4, 4, 8}}) {
        std::vector<int64_t> fit(sides.begin(),
                                 sides.begin() + static_cast<int64_t>(device.config.ici.pod.sides.size()));
        const int64_t devices = Topology{fit}.chips() * device.config.devices_per_chip();
        const CollectiveCost cost = cost_on(all_reduce(devices, "{}"), device, {Topology{fit}, {}, form});
        EXPECT_GT(cost.bound, Picoseconds(0));
        EXPECT_LE(cost.bound, cost.network) << name;
      }
  }
}

TEST(Slice, TheMostCompactBoxOfAPod) {
  struct Row {
    const char* device;
    int64_t devices;
    const char* text;
  };
  for (const Row& row : {Row{"v4", 1, "1x1x1 (no wrap-around)"}, Row{"v4", 4, "2x2x1 (no wrap-around)"},
                         Row{"v4", 8, "2x2x2 (no wrap-around)"}, Row{"v4", 64, "4x4x4 (torus)"},
                         Row{"v5e", 8, "2x4 (no wrap-around)"}, Row{"v5e", 256, "16x16 (torus)"},
                         Row{"v5e", 64, "8x8 (no wrap-around)"}, Row{"v5e", 128, "8x16 (wraps along y)"},
                         Row{"v7x", 4, "2x1x1 (no wrap-around)"}}) {
    AssumptionList assumptions;
    const auto slice = choose_slice(test::device_or_fail(row.device).config, {}, row.devices, assumptions);
    ASSERT_TRUE(slice);
    EXPECT_EQ(slice->text(), row.text) << row.device << " " << row.devices;
    EXPECT_TRUE(assumptions.items().empty());
  }
}

TEST(Slice, WhatIsNotOnOfferIsAnAssumption) {
  const auto assumed = [](const char* device, const std::vector<int64_t>& sides) {
    AssumptionList assumptions;
    EXPECT_TRUE(choose_slice(test::device_or_fail(device).config, {Topology{sides}, {}}, 1, assumptions));
    return assumptions.items().empty() ? std::string() : assumptions.items()[0].text;
  };
  EXPECT_EQ(assumed("v6e", {2, 3}),
            "topology 2x3 is none of the slices that are on offer (ici.slices of TPU v6e)");
  EXPECT_NE(assumed("v5p", {2, 2, 3}), "");
  EXPECT_NE(assumed("v4", {2, 4, 8}), "");
  for (const std::vector<int64_t>& sides : {std::vector<int64_t>{1, 1}, {2, 4}, {4, 2}, {16, 16}})
    EXPECT_EQ(assumed("v6e", sides), "");
  EXPECT_EQ(assumed("v4", {4, 8, 12}), "");  // of whole cubes
  EXPECT_EQ(assumed("unit", {2, 3}), "");    // nobody knows which slices there are
}

TEST(Slice, WhatDoesNotFitIsSaid) {
  const Device v4 = test::device_or_fail("v4"), v5e = test::device_or_fail("v5e");
  AssumptionList assumptions;
  const auto message = [&](const Device& device, const SliceRequest& request, int64_t needed) {
    const auto slice = choose_slice(device.config, request, needed, assumptions);
    return slice ? slice->text() : slice.error().message;
  };
  EXPECT_EQ(message(v4, {Topology{{2, 2}}, {}}, 4), "topology 2x2 has 2 sides, slices of TPU v4 have 3");
  EXPECT_EQ(message(v4, {Topology{{2, 2, 1}}, {}}, 8), "topology 2x2x1 has 4 devices, the module runs on 8");
  EXPECT_EQ(message(v4, {Topology{{2, 2, 0}}, {}}, 1), "topology 2x2x0 has no chips");
  EXPECT_EQ(message(v5e, {Topology{{32, 2}}, {}}, 8),
            "topology 32x2 does not fit into the 16x16 chips of a pod of TPU v5e");
  EXPECT_EQ(message(v5e, {{}, 4}, 8), "4 devices were given, the module runs on 8");
  EXPECT_EQ(message(v5e, {Topology{{2, 2}}, 8}, 4), "topology 2x2 has 4 devices, not 8");
  EXPECT_TRUE(assumptions.items().empty());
  EXPECT_EQ(message(v5e, {{}, 16, SliceForm::kRule, 3}, 16),
            "16 devices can't be divided evenly among 3 slices");
  EXPECT_EQ(message(v5e, {Topology{{2, 2}}, {}, SliceForm::kRule, 2}, 16),
            "2 slices of topology 2x2 have 8 devices, the module runs on 16");
  EXPECT_EQ(message(v5e, {Topology{{2, 2}}, 4, SliceForm::kRule, 2}, 4),
            "2 slices of topology 2x2 have 8 devices, not 4");
  EXPECT_EQ(message(v4, {Topology{{4, 4, 4}}, {}, SliceForm::kTwisted}, 4),
            "topology 4x4x4 can't be twisted");
  EXPECT_EQ(message(v5e, {Topology{{4, 8}}, {}, SliceForm::kTwisted}, 4), "topology 4x8 can't be twisted");
  EXPECT_TRUE(assumptions.items().empty());
  EXPECT_EQ(message(v4, {Topology{{4, 8, 8}}, {}, SliceForm::kTwisted, 2}, 4),
            "2 slices of 4x8x8 (twisted torus)");
  EXPECT_EQ(message(v4, {Topology{{4, 4, 4}}, {}, SliceForm::kMesh}, 4), "4x4x4 (no wrap-around)");
  EXPECT_EQ(message(v5e, {Topology{{3, 5}}, {}, SliceForm::kTorus}, 4), "3x5 (torus)");
  EXPECT_EQ(message(v5e, {{}, {}, SliceForm::kRule, 4}, 16), "4 slices of 2x2 (no wrap-around)");
  EXPECT_EQ(message(v5e, {}, 512), "16x32 (wraps along x)");
  EXPECT_EQ(message(v5e, {}, 17), "3x6 (no wrap-around)");
  ASSERT_EQ(assumptions.items().size(), 3u);
  EXPECT_EQ(assumptions.items()[0].text,
            "topology 3x5 is none of the slices that are on offer (ici.slices of TPU v5e)");
  EXPECT_EQ(assumptions.items()[1].text,
            "512 chips are more than a pod of TPU v5e (16x16): assumed to be one longer torus");
  EXPECT_EQ(assumptions.items()[2].text, "17 chips form no slice of TPU v5e: assumed to be part of 3x6");
}

// Published and measured: all-gathers on a ring of 16 of v5e go both ways (JAX scaling book, 95 % of 2 x 45
// GB/s); reduce-scatters on 2x4 of v6e take what one link does (two training steps), as on 2x2x1 of v5p.
TEST(CollectiveCost, TensorCoresTakeAxesInTurn) {
  const auto driven = [](const std::string& text, const std::string& name,
                         const std::vector<int64_t>& sides) {
    const Device device = test::device_or_fail(name);
    CollectiveCost cost = cost_of(text, device, sides, AxisOrder::kInTurn);
    drive_by_tensor_cores(cost, device.config);
    return cost;
  };
  const double v = 1024.0 * 4096 * 2;
  const CollectiveCost ring =
      driven(gather(1024, 4096, 16, "[16,16]<=[256]").replace(27, 2, "256"), "v5e", {16, 16});
  EXPECT_NEAR(microseconds(ring), v * 15 / 16 / 90e9 * 1e6 + 8, 0.1);
  const CollectiveCost mesh = driven(all_reduce(8, "{}"), "v6e", {2, 4});
  EXPECT_NEAR(microseconds(mesh), 2 * (v * 7 / 8 / 90e9 * 1e6 + 4), 0.1);
  EXPECT_EQ(mesh.algorithm,
            "reduce-scatter and all-gather: line of 2 along x, line of 4 along y, one axis after the other");
  const CollectiveCost pair = driven(all_reduce(4, "{}"), "v5p", {2, 2, 1});
  EXPECT_NEAR(microseconds(pair), 2 * (v * 3 / 4 / 100e9 * 1e6 + 2), 0.1);
  // SparseCores drive those of v7x: all links at once.
  const CollectiveCost all_links = driven(all_reduce(8, "{}"), "v7x", {2, 2, 1});
  EXPECT_NE(all_links.algorithm.find("axes in rotation"), std::string::npos) << all_links.algorithm;
}

// Of the six links of a chip in a closed torus three are used; lines and exchanges are as ever.
TEST(CollectiveCost, RingsGoOneWayWhereTheDeviceSaysSo) {
  const Device v7x = test::device_or_fail("v7x");
  Device two_ways = v7x;
  two_ways.config.ici.one_way_rings = false;
  const double v = 1024.0 * 4096 * 2;
  const std::string text = gather(1024, 4096, 128, "{}").replace(27, 2, "128");
  const CollectiveCost one_way = cost_of(text, v7x, {4, 4, 4});
  const CollectiveCost both_ways = cost_of(text, two_ways, {4, 4, 4});
  EXPECT_NEAR(static_cast<double>(one_way.by_bytes.count()), v * 63 / 64 / (3 * 90e9) * 1e12, 1e4);
  EXPECT_NEAR(static_cast<double>(both_ways.by_bytes.count()), v * 63 / 64 / (6 * 90e9) * 1e12, 1e4);
  EXPECT_EQ(one_way.hops, 9);
  EXPECT_EQ(both_ways.hops, 6);
  EXPECT_EQ(one_way.bound, both_ways.bound);  // of the links, whoever drives them
  EXPECT_EQ(one_way.algorithm,
            "all-gather: one-way ring of 4 along x, one-way ring of 4 along y, one-way ring of 4 along z, "
            "axes in rotation");
  const std::string on_lines = gather(1024, 4096, 8, "{}").replace(27, 2, "8");
  EXPECT_EQ(cost_of(on_lines, v7x, {2, 2, 1}).network, cost_of(on_lines, two_ways, {2, 2, 1}).network);
}

TEST(CollectiveCost, StartsOfAllGathersHoldTheCoresForTheFirstStep) {
  const auto held = [](const std::string& text, const std::string& name, const std::vector<int64_t>& sides) {
    const Device device = test::device_or_fail(name);
    CollectiveCost cost = cost_of(text, device, sides, AxisOrder::kInTurn);
    drive_by_tensor_cores(cost, device.config);
    return held_by_start({&cost, 1}, device.config);
  };
  const double own = 1024.0 * 4096 * 2 / 4 / 100e9 * 1e12;
  const std::string four = gather(1024, 4096, 4, "{}").replace(27, 2, "4");
  EXPECT_NEAR(static_cast<double>(held(four, "v5p", {2, 2, 1}).count()), 6e6 + own, 10);
  EXPECT_EQ(held(all_reduce(4, "{}"), "v5p", {2, 2, 1}), Picoseconds(0));
  EXPECT_EQ(held(gather(1024, 4096, 8, "{}").replace(27, 2, "8"), "v7x", {2, 2, 1}), Picoseconds(0));
}

// Each all-gather of a start holds the cores for its own part, whatever groups the others have.
TEST(CollectiveCost, StartsOfSeveralAllGathersHoldTheCoresForEachFirstStep) {
  const Device device = test::device_or_fail("v5p");
  std::vector<CollectiveCost> costs;
  for (const int64_t members : {8, 4}) {
    std::string text = gather(1024, 4096, members, members == 8 ? "{}" : "{{0,1,2,3},{4,5,6,7}}");
    costs.push_back(cost_of(text.replace(27, 2, "8"), device, {2, 2, 2}, AxisOrder::kInTurn));
    drive_by_tensor_cores(costs.back(), device.config);
  }
  const auto held = [&](std::span<const CollectiveCost> some) {
    return static_cast<double>(held_by_start(some, device.config).count());
  };
  const double launch = static_cast<double>(device.config.ici.launch.count());
  EXPECT_GT(held({&costs[1], 1}), launch);
  EXPECT_NEAR(held(costs), held({&costs[0], 1}) + held({&costs[1], 1}) - launch, 2);
}

/// Collectives of 16 devices: every kind, in groups of several forms, of two sizes each.
std::string many_collectives() {
  std::string text =
      "HloModule m, num_partitions=16\nsum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
      "  ROOT c = f32[] add(a, b)\n}\nENTRY e {\n";
  std::vector<std::string> names;
  int number = 0;
  for (const int64_t rows : {1024, 4096}) {
    text +=
        fmt::format("  p{} = f32[{},256]{{1,0:T(8,128)}} parameter({})\n", rows, rows, rows == 1024 ? 0 : 1);
    for (const std::string_view groups :
         {"{}", "[4,4]<=[16]", "[4,4]<=[4,4]T(1,0)", "[8,2]<=[16]", "[1,16]<=[16]", "[16,1]<=[16]",
          "{{0,1,2,3},{4,5,6,7},{8,9,10,11},{12,13,14,15}}",
          "{{0,5,10,15},{1,6,11,12},{2,7,8,13},{3,4,9,14}}",
          "{{0,1},{2,3},{4,5,6,7},{8,9,10,11,12,13,14,15}}", "{{0,1,2},{3,4,5,6,7,8,9,10,11,12,13,14,15}}"}) {
      const bool even = groups.find("},{4,5,6,7},{8,9,10,11,12") == std::string_view::npos &&
                        groups.find("{0,1,2},{3") == std::string_view::npos && groups != "[16,1]<=[16]";
      const auto add = [&](std::string_view call, bool flat) {
        text += fmt::format("  c{} = {}\n", number, call);
        text.pop_back();
        text += fmt::format(", channel_id={}, replica_groups={}{}\n", ++number,
                            groups == "{}" && flat ? "[1,16]<=[16]" : groups,
                            flat ? ", use_global_device_ids=true" : "");
      };
      const std::string shape = fmt::format("f32[{},256]{{1,0:T(8,128)}}", rows);
      add(fmt::format("{} all-reduce(p{}), to_apply=sum", shape, rows), true);
      if (!even) continue;
      add(fmt::format("{} all-to-all(p{}), dimensions={{0}}", shape, rows), false);
    }
    for (const std::string_view pairs : {"{{0,1},{1,2},{2,3},{3,0}}", "{{0,15},{3,12}}", "{{0,1}}"})
      text += fmt::format(
          "  c{0} = f32[{1},256]{{1,0:T(8,128)}} collective-permute(p{1}), channel_id={2}, "
          "source_target_pairs={3}\n",
          number, rows, number + 1, pairs),
          ++number;
  }
  return text + "  ROOT r = f32[1024,256]{1,0:T(8,128)} negate(c0)\n}\n";
}

bool are_equal(const CollectiveCost& a, const CollectiveCost& b) {
  const auto all = [](const CollectiveCost& c) {
    return std::tie(c.kind, c.group_size, c.group_count, c.payload, c.scalar_payload, c.logical_payload,
                    c.sent, c.scalar_sent, c.launch, c.network, c.by_bytes, c.by_hops, c.hops, c.link,
                    c.volume, c.bound, c.latency_bound, c.driver, c.driving, c.algorithm, c.equation);
  };
  return all(a) == all(b);
}

// However many are costed together, each costs what it does alone, and rests on the same assumptions.
TEST(CollectiveCost, ManyTogetherCostWhatEachDoesAlone) {
  Module module = test::module_or_fail(many_collectives());
  int compared = 0;
  for (const auto& [name, sides] :
       std::vector<std::pair<const char*, std::vector<int64_t>>>{{"v4", {4, 4, 1}},
                                                                 {"v4", {2, 2, 4}},
                                                                 {"v5e", {4, 4}},
                                                                 {"v5e", {2, 8}},
                                                                 {"v7x", {2, 2, 2}},
                                                                 {"v3", {4, 2}}}) {
    const Device device = test::device_or_fail(name);
    AssumptionList unused;
    const auto grid = device_grid(module, op_table());
    ASSERT_TRUE(grid);
    const auto slice = choose_slice(device.config, {Topology{sides}, {}}, grid->devices(), unused);
    ASSERT_TRUE(slice) << render(slice.error());
    CollectiveCosts together(device.config, *slice, *grid);
    AssumptionList all, each;
    for (int round = 0; round < 2; ++round) {
      for (const InstructionId id : module.entry_computation().instructions) {
        if (!op_table()[module[id].opcode].has(kCollective)) continue;
        const OpContext op(module, module[id], op_table(), nullptr);
        for (const AxisOrder order : {AxisOrder::kRotation, AxisOrder::kInTurn}) {
          const auto cost = together.of(op, all, order);
          const auto alone = cost_collective(op, device.config, *slice, *grid, each, order);
          ASSERT_TRUE(cost && alone) << module[id].name;
          EXPECT_TRUE(are_equal(*cost, *alone)) << name << " " << module[id].name;
          ++compared;
        }
      }
    }
    ASSERT_EQ(all.items().size(), each.items().size());
    for (size_t i = 0; i < all.items().size(); ++i) {
      EXPECT_EQ(all.items()[i].text, each.items()[i].text);
      EXPECT_EQ(all.items()[i].count, each.items()[i].count);
    }
  }
  EXPECT_GT(compared, 500);
}

}  // namespace
}  // namespace hlosim
