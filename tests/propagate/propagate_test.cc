// Shardings that follow from others.
#include "propagate/propagate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/own_modules.h"

namespace hlosim {
namespace {

class PropagatedModule {
 public:
  explicit PropagatedModule(const std::string& text, PropagateOptions options = {})
      : result_(propagate(test::module_or_fail(text), op_table(), options)) {}

  std::string error() const { return result_ ? "" : result_.error().message; }
  /// Of the first instruction of that name.
  std::string operator[](std::string_view name) const {
    const InstructionId id = find(name);
    const Attr* attr = id.valid() ? result_->module[id].find(AttrKey::kSharding) : nullptr;
    return attr ? std::string(attr->text()) : "none";
  }
  std::string who(std::string_view name) const {
    const Decision& decision = result_->decisions[find(name)];
    std::string text(to_text(decision.by));
    if (decision.from.valid()) text += fmt::format(" {}", result_->module[decision.from].name);
    if (decision.through.valid()) text += fmt::format(" {}", result_->module[decision.through].name);
    return text;
  }
  const Module& module() const { return result_->module; }

 private:
  InstructionId find(std::string_view name) const {
    if (result_)
      for (size_t i = 0; i < result_->module.instructions.size(); ++i)
        if (result_->module.instructions[InstructionId{static_cast<int32_t>(i)}].name == name)
          return InstructionId{static_cast<int32_t>(i)};
    ADD_FAILURE() << "nothing is called " << name << ": " << error();
    return {};
  }

  Result<Propagated> result_;
};

constexpr std::string_view kAdd =
    "add { lhs = f32[] parameter(0) rhs = f32[] parameter(1) ROOT sum = f32[] add(lhs, rhs) }\n";

std::string entry(const std::string& body) {
  return "HloModule m\n" + std::string(kAdd) + "ENTRY main {\n" + body + "}\n";
}

TEST(Propagate, ForwardsThroughElementwise) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,2]<=[4]}
    b = f32[8,4] parameter(1)
    c = f32[8,4] negate(a)
    ROOT d = f32[8,4] add(c, b)
  )"));
  EXPECT_EQ(spread["c"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread["d"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread["b"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread.who("a"), "user a a");
  EXPECT_EQ(spread.who("d"), "forward a d");
  EXPECT_EQ(spread.who("b"), "backward a d");
}

TEST(Propagate, WhatNobodySaysIsReplicated) {
  const PropagatedModule spread(entry("a = f32[8] parameter(0)\n ROOT b = f32[8] negate(a)\n"),
                                {.devices = 4});
  EXPECT_EQ(spread["a"], "{replicated}");
  EXPECT_EQ(spread.who("b"), "default");
}

TEST(Propagate, ShardingsOfWhatGoesToTheHostSpeakOfItsOperands) {
  const PropagatedModule spread(entry(R"(
    a = (f32[8,2], f32[4]) parameter(0), sharding={{devices=[2,1]<=[2]}, {devices=[2]<=[2]}}
    t = token[] after-all()
    b = token[] outfeed(a, t), outfeed_shape=(f32[8,2], f32[4]),
        sharding={{devices=[2,1]<=[2]}, {devices=[2]<=[2]}}
    ROOT c = f32[4] get-tuple-element(a), index=1
  )"));
  EXPECT_EQ(spread["c"], "{devices=[2]<=[2]}");
}
TEST(Propagate, NeverAgainstTheUser) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    b = f32[8,4] parameter(1), sharding={replicated}
    c = f32[8,4] add(a, b)
    ROOT d = f32[8,4] negate(c), sharding={devices=[1,4]<=[4]}
  )"));
  EXPECT_EQ(spread["b"], "{replicated}");
  EXPECT_EQ(spread["c"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(spread["d"], "{devices=[1,4]<=[4]}");
}

TEST(Propagate, CutsOfBothOperandsAreJoined) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    b = f32[8,4] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    ROOT c = f32[8,4] add(a, b)
  )"));
  EXPECT_EQ(spread["c"], "{devices=[2,2]<=[4]}");
}

TEST(Propagate, ProductsTakeBatchAndFreeDimensions) {
  const PropagatedModule spread(entry(R"(
    x = f32[16,32] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    w = f32[32,64] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}
    h = f32[16,64] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
    v = f32[64,32] parameter(2)
    ROOT y = f32[16,32] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  )"));
  EXPECT_EQ(spread["h"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread["v"], "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");  // summed over together
  EXPECT_EQ(spread["y"], "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(spread.who("v"), "backward w y");
}

TEST(Propagate, OfTwoThatWantTheSameAxesTheLargerArrayHasIt) {
  const auto product = [](int64_t rows) {
    return PropagatedModule(entry(fmt::format(R"(
      x = f32[{0},32] parameter(0), sharding={{devices=[4,1]<=[4]}}
      w = f32[32,64] parameter(1), sharding={{devices=[1,4]<=[4]}}
      ROOT y = f32[{0},64] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
    )",
                                              rows)));
  };
  EXPECT_EQ(product(1024)["y"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(product(8)["y"], "{devices=[1,4]<=[4]}");
}

TEST(Propagate, ReshapesCarryTheMajorPart) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
    b = f32[32] reshape(a)
    c = f32[2,16] reshape(b)
    d = f32[2,2,8] reshape(c)
    e = f32[4,8] parameter(1), sharding={devices=[1,4]<=[4]}
    f = f32[32] reshape(e)
    ROOT t = (f32[2,2,8], f32[32]) tuple(d, f)
  )"));
  EXPECT_EQ(spread["b"], "{devices=[4]<=[4]}");
  EXPECT_EQ(spread["c"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread["d"], "{devices=[2,2,1]<=[4]}");
  EXPECT_EQ(spread["f"], "{replicated}");
}

TEST(Propagate, PadsLieAsWhatTheyPadEvenlyCutOrNot) {
  const PropagatedModule forward(entry(R"(
    a = f32[11,17] parameter(0), sharding={devices=[2,2]<=[4]}
    zero = f32[] constant(0)
    b = f32[27,51] pad(a, zero), padding=2_4_1x1_1_2
    ROOT c = f32[27,51] negate(b)
  )"));
  EXPECT_EQ(forward["b"], "{devices=[2,2]<=[4]}");
  const PropagatedModule backward(entry(R"(
    p = f32[11,17] parameter(0)
    a = f32[11,17] negate(p)
    zero = f32[] constant(0)
    ROOT b = f32[17,17] pad(a, zero), padding=2_4x0_0, sharding={devices=[4,1]<=[4]}
  )"));
  EXPECT_EQ(backward["a"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(backward["p"], "{replicated}");  // 11 rows can't be cut evenly
}

TEST(Propagate, PartsOfARangeAreCutUnevenlyToo) {
  const PropagatedModule spread(entry(R"(
    a = f32[17,13] parameter(0), sharding={devices=[2,1]<=[2]}
    b = f32[11,11] slice(a), slice={[1:12], [0:11]}
    ROOT c = f32[33,11] concatenate(b, b, b), dimensions={0}
  )"));
  EXPECT_EQ(spread["b"], "{devices=[2,1]<=[2]}");
  EXPECT_EQ(spread["c"], "{devices=[2,1]<=[2]}");
}

TEST(Propagate, DilatedKernelsLieAsTheImageIfTheyAreSmall) {
  const auto convolution = [](int64_t size, int64_t dilation, int64_t places) {
    return PropagatedModule(entry(fmt::format(R"(
      image = f32[8,64,2] parameter(0), sharding={{devices=[1,4,1]<=[4]}}
      kernel = f32[{0},2,2] parameter(1)
      ROOT out = f32[8,{2},2] convolution(image, kernel), window={{size={0} rhs_dilate={1}}},
          dim_labels=b0f_0io->b0f
    )",
                                              size, dilation, places)))["out"];
  };
  EXPECT_EQ(convolution(3, 16, 32), "{devices=[1,4,1]<=[4]}");
  EXPECT_EQ(convolution(15, 4, 8), "{replicated}");  // what comes out is smaller than the kernel
}

TEST(Propagate, ReshapesCarryWhatBothSidesBeginWith) {
  const PropagatedModule spread(entry(R"(
    a = f32[12,8] parameter(0), sharding={devices=[2,4]<=[8]}
    b = f32[8,12] reshape(a)
    ROOT c = f32[8,12] negate(b)
  )"));
  EXPECT_EQ(spread["b"], "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
  const PropagatedModule spoken(entry(R"(
    a = f32[6,4,5] parameter(0), sharding={devices=[6,2,1]<=[12]}
    b = f32[2,3,20] reshape(a)
    c = f32[2,4,3,5] reshape(a)
    d = f32[5,8,3] reshape(a)
    ROOT t = (f32[2,3,20], f32[2,4,3,5], f32[5,8,3]) tuple(b, c, d)
  )"));
  EXPECT_EQ(spoken["b"], "{devices=[2,3,2]<=[12]}");
  EXPECT_EQ(spoken["c"], "{devices=[2,1,1,1,6]<=[12] last_tile_dim_replicate}");
  EXPECT_EQ(spoken["d"], "{replicated}");
}

/// A gather whose rows are counted by the indices themselves, made by `rows`.
std::string counted_rows(std::string_view rows, std::string_view operand, std::string_view result) {
  return entry(fmt::format(R"(
    x = f32[8,4,2,2] parameter(0){}
    {}
    column = s32[1,8,4] parameter(1)
    at = s32[2,8,4] concatenate(row, column), dimensions={{0}}
    ROOT y = f32[8,4,2,2] gather(x, at), offset_dims={{2,3}}, collapsed_slice_dims={{0,1}},
        start_index_map={{0,1}}, index_vector_dim=0, slice_sizes={{1,1,2,2}}{}
  )",
                           operand, rows, result));
}

TEST(Propagate, IndicesThatCountADimensionWalkThroughItWithTheArray) {
  constexpr std::string_view kRows = "row = s32[1,8,4] iota(), iota_dimension=1";
  const PropagatedModule forward(counted_rows(kRows, ", sharding={devices=[8,1,1,1]0,1,4,5,2,3,6,7}", ""));
  EXPECT_EQ(forward["y"], "{devices=[8,1,1,1]<=[2,2,2]T(1,0,2)}");
  EXPECT_EQ(forward["at"], "{devices=[1,8,1]<=[2,2,2]T(1,0,2)}");
  const PropagatedModule backward(counted_rows(kRows, "", ", sharding={devices=[2,2,1,1]<=[4]}"));
  EXPECT_EQ(backward["x"], "{devices=[2,1,1,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(backward["at"], "{devices=[1,2,2]<=[4]}");
}

TEST(Propagate, CountedDimensionsAreSeenThroughWhatKeepsThem) {
  const auto result = [](std::string_view rows) {
    return PropagatedModule(counted_rows(rows, ", sharding={devices=[4,1,1,1]<=[4]}", ""))["y"];
  };
  EXPECT_EQ(result("n = s32[8] iota(), iota_dimension=0\n"
                   "    c = s32[8] copy(n)\n"
                   "    row = s32[1,8,4] broadcast(c), dimensions={1}"),
            "{devices=[4,1,1,1]<=[4]}");
  EXPECT_EQ(result("n = s16[4,8,1] iota(), iota_dimension=1\n"
                   "    c = s32[4,8,1] convert(n)\n"
                   "    row = s32[1,8,4] transpose(c), dimensions={2,1,0}"),
            "{devices=[4,1,1,1]<=[4]}");
  EXPECT_EQ(result("n = s32[32] iota(), iota_dimension=0\n"
                   "    row = s32[1,8,4] reshape(n)"),
            "{replicated}");
  EXPECT_EQ(result("n = s32[1,8,4] iota(), iota_dimension=1\n"
                   "    row = s32[1,8,4] negate(n)"),
            "{replicated}");
  EXPECT_EQ(result("row = s32[1,8,4] iota(), iota_dimension=2"), "{replicated}");  // 4 of the 8 rows
}

TEST(Propagate, ArraysOfOneScatterLieAsTheirOwnUpdates) {
  const PropagatedModule spread(R"(HloModule m
    add2 { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
      ROOT t = (f32[], f32[]) tuple(c, d) }
    ENTRY main {
      x = f32[2,8] parameter(0)
      y = f32[2,8] parameter(1)
      at = s32[3] parameter(2)
      u = f32[3,8] parameter(3), sharding={devices=[1,4]<=[4]}
      v = f32[3,8] parameter(4), sharding={devices=[1,2,2]<=[4] last_tile_dim_replicate}
      ROOT s = (f32[2,8], f32[2,8]) scatter(x, y, at, u, v), to_apply=add2, update_window_dims={1},
          inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1
    })");
  EXPECT_EQ(spread["s"], "{{devices=[1,4]<=[4]}, {devices=[1,2,2]<=[4] last_tile_dim_replicate}}");
  EXPECT_EQ(spread["y"], "{devices=[1,2,2]<=[4] last_tile_dim_replicate}");
}

TEST(Propagate, WhatStandsBesideAManualArrayInATupleIsNotManual) {
  const PropagatedModule spread(entry(R"(
    a = f32[4,8] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dims={manual}}
    b = f32[4,8] parameter(1)
    t = (f32[4,8], f32[4,8]) tuple(a, b)
    ROOT c = (f32[4,8], f32[4,8]) copy(t)
  )"));
  EXPECT_EQ(spread["c"], "{{devices=[2,1,2]<=[4] last_tile_dims={manual}}, {replicated}}");
}

TEST(Propagate, SomeOfAMachinesDevicesKeepTheirNumbers) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,1,2]0,4,1,5 last_tile_dim_replicate}
    b = f32[8,4] parameter(1), sharding={devices=[1,2,2]0,1,4,5 last_tile_dim_replicate}
    c = f32[8,4] add(a, b)
    ROOT d = f32[8,4] negate(c)
  )"),
                                {.some_devices = true});
  EXPECT_EQ(spread["d"], "{devices=[2,2]0,4,1,5}");
  EXPECT_EQ(spread["a"], "{devices=[2,1,2]0,4,1,5 last_tile_dim_replicate}");
}

TEST(Propagate, TransposesBroadcastsAndReductions) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,2]<=[4]}
    z = f32[] constant(0)
    t = f32[4,8] transpose(a), dimensions={1,0}
    r = f32[4] reduce(t, z), dimensions={1}, to_apply=add
    ROOT b = f32[4,16] broadcast(r), dimensions={0}
  )"));
  EXPECT_EQ(spread["t"], "{devices=[2,2]<=[2,2]T(1,0)}");
  EXPECT_EQ(spread["r"], "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  EXPECT_EQ(spread["b"], "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
}

TEST(Propagate, StateOfALoopIsCutAlikeAllTheWayRound) {
  const PropagatedModule spread(R"(
HloModule m
cond { p = (s32[], f32[8,4], f32[8,4]) parameter(0) i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(4) ROOT c = pred[] compare(i, n), direction=LT }
body { q = (s32[], f32[8,4], f32[8,4]) parameter(0) j = s32[] get-tuple-element(q), index=0
  one = s32[] constant(1) k = s32[] add(j, one)
  x = f32[8,4] get-tuple-element(q), index=1
  y = f32[8,4] get-tuple-element(q), index=2
  x2 = f32[8,4] negate(x), sharding={devices=[4,1]<=[4]}
  y2 = f32[8,4] add(y, x)
  ROOT r = (s32[], f32[8,4], f32[8,4]) tuple(k, x2, y2) }
ENTRY main { a = f32[8,4] parameter(0) b = f32[8,4] parameter(1) z = s32[] constant(0)
  t = (s32[], f32[8,4], f32[8,4]) tuple(z, a, b)
  w = (s32[], f32[8,4], f32[8,4]) while(t), condition=cond, body=body
  ROOT o = f32[8,4] get-tuple-element(w), index=2 }
)");
  const std::string state = "{{replicated}, {devices=[4,1]<=[4]}, {devices=[4,1]<=[4]}}";
  for (const std::string_view name : {"w", "p", "q", "r"}) EXPECT_EQ(spread[name], state) << name;
  EXPECT_EQ(spread["o"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(spread["a"], "{devices=[4,1]<=[4]}");  // backwards, out of the loop
  EXPECT_EQ(spread.who("a").substr(0, 8), "backward");
}

TEST(Propagate, BranchesAndCalls) {
  const PropagatedModule spread(R"(
HloModule m
yes { p = f32[8] parameter(0) ROOT a = f32[8] negate(p) }
no { q = f32[8] parameter(0) ROOT b = f32[8] exponential(q) }
twice { r = f32[8] parameter(0) ROOT c = f32[8] add(r, r) }
ENTRY main { s = pred[] parameter(0) x = f32[8] parameter(1), sharding={devices=[4]<=[4]}
  y = f32[8] parameter(2)
  d = f32[8] conditional(s, x, y), true_computation=yes, false_computation=no
  ROOT e = f32[8] call(d), to_apply=twice }
)");
  for (const std::string_view name : {"p", "a", "d", "b", "q", "y", "r", "c", "e"})
    EXPECT_EQ(spread[name], "{devices=[4]<=[4]}") << name;
  EXPECT_EQ(spread["s"], "{replicated}");
}

TEST(Propagate, FusionsAreSeenThrough) {
  const PropagatedModule spread(R"(
HloModule m
inner { p = f32[8,4] parameter(0) ROOT t = f32[4,8] transpose(p), dimensions={1,0} }
ENTRY main { x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  ROOT f = f32[4,8] fusion(x), kind=kLoop, calls=inner }
)");
  EXPECT_EQ(spread["p"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(spread["f"], "{devices=[1,4]<=[4]}");
}

TEST(Propagate, OpenDimensionsTakeMoreClosedOnesDoNot) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0)
    s = f32[8,4] custom-call(a), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, backend_config="unspecified_dims=[1]"
    k = f32[8,4] custom-call(a), custom_call_target="Sharding", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    c = f32[8,4] negate(s)
    d = f32[8,4] negate(k)
    e = f32[8,4] add(c, c), sharding={devices=[2,2]<=[4]}
    f = f32[8,4] add(d, d), sharding={devices=[2,2]<=[4]}
    ROOT t = (f32[8,4], f32[8,4]) tuple(e, f)
  )"));
  EXPECT_EQ(spread["s"], "{devices=[2,2]<=[4]}");
  EXPECT_EQ(spread["k"], "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  const PropagatedModule named(entry(R"(
    a = f32[8,4] parameter(0), sharding={mesh['x'=2,'y'=2], [{'x'}, {?}]}
    ROOT b = f32[8,4] negate(a), sharding={devices=[2,2]<=[4]}
  )"));
  EXPECT_EQ(named["a"], "{devices=[2,2]<=[4]}");
}

TEST(Propagate, ShardysNotesOpenDimensionsAndOrderThem) {
  const auto module = [](std::string_view rows, std::string_view columns) {
    return PropagatedModule(entry(fmt::format(R"(
      a = f32[8,8] parameter(0), sharding={{devices=[4,1]<=[4]}}, frontend_attributes={{xla.sdy.sharding="#sdy.sharding<@mesh, [{{\"x\"}}{}, {{}}]>"}}
      b = f32[8,8] parameter(1), sharding={{devices=[1,4]<=[4]}}, frontend_attributes={{xla.sdy.sharding="#sdy.sharding<@mesh, [{{}}, {{\"x\"}}{}]>"}}
      ROOT c = f32[8,8] add(a, b)
    )",
                                              rows, columns)));
  };
  EXPECT_EQ(module("", "")["c"], "{devices=[4,1]<=[4]}");
  EXPECT_EQ(module("p1", "p0")["c"], "{devices=[1,4]<=[4]}");
  EXPECT_EQ(module("p1", "p2")["c"], "{devices=[4,1]<=[4]}");
  const PropagatedModule open(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {?}]>"}
    ROOT b = f32[8,4] negate(a), sharding={devices=[2,2]<=[4]}
  )"));
  EXPECT_EQ(open["a"], "{devices=[2,2]<=[4]}");
}

TEST(Propagate, BarriersStopOneDirection) {
  const PropagatedModule spread(entry(R"(
    a = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    f = f32[8] custom-call(a), custom_call_target="ShardBarrierFrom"
    g = f32[8] negate(f)
    b = f32[8] parameter(1)
    t = f32[8] custom-call(b), custom_call_target="ShardBarrierTo"
    u = f32[8] negate(t), sharding={devices=[4]<=[4]}
    ROOT o = (f32[8], f32[8]) tuple(g, u)
  )"));
  EXPECT_EQ(spread["g"], "{replicated}");
  EXPECT_EQ(spread["t"], "{devices=[4]<=[4]}");
  EXPECT_EQ(spread["b"], "{replicated}");
}

TEST(Propagate, CollectivesBetweenPartitionsTakeWholeValues) {
  const PropagatedModule spread(entry(R"(
    a = f32[8] parameter(0), sharding={devices=[4]<=[4]}
    b = f32[8] all-reduce(a), to_apply=add
    c = f32[8] all-reduce(a), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=add
    ROOT t = (f32[8], f32[8]) tuple(b, c)
  )"));
  EXPECT_EQ(spread["b"], "{devices=[4]<=[4]}");
  EXPECT_EQ(spread["c"], "{replicated}");
}

TEST(Propagate, GroupsLieAlike) {
  const PropagatedModule spread(entry(R"(
    a = f32[8] parameter(0), sharding={unknown shard_as 3}
    b = f32[8] parameter(1), sharding={devices=[4]<=[4]}
    c = f32[8] negate(b)
    s = f32[8] custom-call(c), custom_call_target="Sharding", sharding={unknown shard_as 3}
    ROOT o = (f32[8], f32[8]) tuple(a, s)
  )"));
  EXPECT_EQ(spread["a"], "{devices=[4]<=[4]}");
}

TEST(Propagate, ManualRegionsReachUpToTheirBorders) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    one = f32[] constant(1)
    ones = f32[4,4] broadcast(one), dimensions={}
    m = f32[4,4] custom-call(a), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,2]<=[4] last_tile_dims={manual, replicated}}
    n = f32[4,4] add(m, ones)
    s = f32[4,4] negate(n), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}
    o = f32[8,4] custom-call(s), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
    c = f32[8,4] broadcast(one), dimensions={}
    ROOT r = f32[8,4] add(o, c)
  )"));
  EXPECT_EQ(spread["n"], "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}");
  EXPECT_EQ(spread["ones"], "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual}}");
  EXPECT_EQ(spread["r"], "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(spread["c"], "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");  // has a constant of its own
}

TEST(Propagate, ManualRegionsDoNotMeet) {
  const PropagatedModule spread(entry(R"(
    a = f32[4] parameter(0), sharding={devices=[1,2,2]<=[4] last_tile_dims={manual, replicated}}
    b = f32[4] parameter(1), sharding={devices=[1,2,2]<=[2,2]T(1,0) last_tile_dims={manual, replicated}}
    ROOT c = f32[4] add(a, b)
  )"));
  EXPECT_EQ(spread.error().substr(0, 39), "c works on arrays of two manual regions");
}

TEST(Propagate, ParametersAreCutEvenlyOnly) {
  const PropagatedModule spread(entry(R"(
    a = f32[6] parameter(0)
    b = f32[6] negate(a)
    c = f32[6] exponential(b), sharding={devices=[4]<=[4]}
    ROOT d = f32[6] negate(c)
  )"));
  EXPECT_EQ(spread["b"], "{devices=[4]<=[4]}");
  EXPECT_EQ(spread["a"], "{devices=[2,2]<=[4] last_tile_dim_replicate}");
  EXPECT_EQ(spread["d"], "{devices=[4]<=[4]}");
}

TEST(Propagate, TheHeaderForbidsIt) {
  const std::string body = R"(
ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  c = f32[8] add(a, b), sharding={devices=[4]<=[4]}
  ROOT d = f32[8] negate(c)
})";
  const PropagatedModule some("HloModule m, allow_spmd_sharding_propagation_to_parameters={true,false}\n" +
                              body);
  EXPECT_EQ(some["a"], "{devices=[4]<=[4]}");
  EXPECT_EQ(some["b"], "{replicated}");
  EXPECT_EQ(some["d"], "{devices=[4]<=[4]}");
  const PropagatedModule out("HloModule m, allow_spmd_sharding_propagation_to_output=false\n" + body);
  EXPECT_EQ(out["d"], "{replicated}");
}

TEST(Propagate, TheHeaderAllowsCopiesToBeCut) {
  const std::string body = R"(
ENTRY main {
  a = f32[8] parameter(0), sharding={replicated}
  b = f32[8] parameter(1), sharding={devices=[4]<=[4]}
  ROOT c = f32[8] add(a, b), sharding={replicated}
})";
  EXPECT_EQ(PropagatedModule("HloModule m\n" + body)["a"], "{replicated}");
  const PropagatedModule open(
      "HloModule m, allow_spmd_sharding_propagation_to_parameters={true,false}, "
      "allow_spmd_sharding_propagation_to_output=true\n" +
      body);
  EXPECT_EQ(open["a"], "{devices=[4]<=[4]}");
  EXPECT_EQ(open["c"], "{devices=[4]<=[4]}");
}

TEST(Propagate, SortsAreCutAlikeInAllDimensions) {
  const PropagatedModule spread(R"(
HloModule m
less { l0 = f32[] parameter(0) l1 = f32[] parameter(1) l2 = s32[] parameter(2) l3 = s32[] parameter(3)
  ROOT l4 = pred[] compare(l0, l1), direction=LT }
ENTRY main { a = f32[8,16] parameter(0), sharding={devices=[1,4]<=[4]}
  i = s32[8,16] iota(), iota_dimension=1
  ROOT o = (f32[8,16], s32[8,16]) sort(a, i), dimensions={1}, to_apply=less }
)");
  EXPECT_EQ(spread["o"], "{{devices=[1,4]<=[4]}, {devices=[1,4]<=[4]}}");
  EXPECT_EQ(spread["i"], "{devices=[1,4]<=[4]}");
}

TEST(Propagate, MoreShardsThanElementsAreNotMadeUp) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,2] parameter(0), sharding={devices=[8,1]<=[8]}
    s = f32[2,2] slice(a), slice={[0:2], [0:2]}
    ROOT n = f32[2,2] negate(s)
  )"));
  EXPECT_EQ(spread["n"], "{devices=[2,1,4]<=[8] last_tile_dim_replicate}");
}

TEST(Propagate, OtherOrdersOfDevicesStayApart) {
  const PropagatedModule spread(entry(R"(
    a = f32[8,4] parameter(0), sharding={devices=[4,1]0,2,3,1}
    b = f32[8,4] parameter(1), sharding={devices=[2,2]<=[4]}
    c = f32[8,4] negate(a)
    d = f32[8,4] negate(b)
    ROOT e = f32[8,4] add(c, d)
  )"));
  EXPECT_EQ(spread["c"], "{devices=[4,1]0,2,3,1}");
  EXPECT_EQ(spread["d"], "{devices=[2,2]<=[4]}");
}

TEST(Propagate, FaultsHaveAPlace) {
  const auto error = [](const std::string& sharding, int64_t devices) {
    const Result<Propagated> result =
        propagate(test::module_or_fail(entry("ROOT a = f32[8] parameter(0), sharding=" + sharding + "\n")),
                  op_table(), {.devices = devices});
    return result ? "none" : render(result.error());
  };
  EXPECT_NE(error("{devices=[8]<=[8]}", 4).find(":4:40: error: the sharding names 8 devices, there are 4"),
            std::string::npos)
      << error("{devices=[8]<=[8]}", 4);
  EXPECT_NE(error("{devices=[2]<=[2]}", 4).find("error: "), std::string::npos);
  EXPECT_NE(error("{maximal device=7}", 4).find("error: "), std::string::npos);
}

/// The state that is reached is one: again changes nothing.
TEST(Propagate, AgainChangesNothing) {
  int64_t count = 0;
  test::for_each_module(16, [&](const std::string& name, const Module& module) {
    const Result<Propagated> once = propagate(module, op_table(), {});
    if (!once) return;
    const std::string text = to_text(once->module, op_table());
    const Result<Propagated> twice =
        propagate(test::module_or_fail(text), op_table(), {.devices = once->devices});
    ASSERT_TRUE(twice.has_value()) << name << ": " << twice.error().message;
    EXPECT_EQ(to_text(twice->module, op_table()), text) << name;
    ++count;
  });
  EXPECT_GT(count, 20);
}

}  // namespace
}  // namespace hlosim
