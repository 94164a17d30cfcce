#include "stablehlo/mesh_sharding.h"

#include <gtest/gtest.h>

#include <string>

namespace hlosim::stablehlo {
namespace {

std::optional<Mesh> find(std::string_view name) {
  if (name == "m") return *read_mesh(R"(<["a"=2, "b"=4, "c"=4]>)");
  if (name == "listed") return *read_mesh(R"(<["a"=2, "b"=2], device_ids=[3, 1, 2, 0]>)");
  if (name == "empty") return *read_mesh("<[]>");
  if (name == "one") return *read_mesh("<[], device_ids=[3]>");
  return std::nullopt;
}

std::string hlo(std::string_view text, const std::vector<AxisPart>& manual = {}) {
  const Result<MeshSharding> sharding = read_mesh_sharding(text, find);
  if (!sharding) return sharding.error().message;
  const Result<std::string> made = hlo_sharding(*sharding, manual);
  return made ? *made : made.error().message;
}

struct Case {
  const char* sdy;
  const char* expected;
};

TEST(MeshSharding, BecomesADeviceList) {
  constexpr Case kCases[] = {
      {R"(<@m, [{"c"}, {"a", "b"}]>)", "{devices=[4,8]<=[8,4]T(1,0)}"},
      {R"(<@m, [{}, {"a", "c"}]>)", "{devices=[1,8,4]<=[2,4,4]T(0,2,1) last_tile_dim_replicate}"},
      {R"(<@m, [{"a", "b", "c"}]>)", "{devices=[32]<=[32]}"},
      {R"(<@m, [{"a", ?}, {?}]>)", "{devices=[2,1,16]<=[32] last_tile_dim_replicate}"},
      {R"(<@m, [{}, {}]>)", "{replicated}"},
      {R"(<@m, []>)", "{replicated}"},
      {R"(<@empty, [{}]>)", "{replicated}"},
      {R"(<@one, []>)", "{maximal device=3}"},
      {R"(<@m, [{"b":(2)2}]>)", "{devices=[2,16]<=[4,2,4]T(1,0,2) last_tile_dim_replicate}"},
      {R"(<@m, [{"a"}], unreduced={"b"}>)", "{devices=[2,4,4]<=[32] last_tile_dims={unreduced, replicated}}"},
      {R"(<@m, [{"a"}p1], replicated={"c"}>)", "{devices=[2,16]<=[32] last_tile_dim_replicate}"},
      {R"(<mesh<["x"=2]>, [{"x"}]>)", "{devices=[2]<=[2]}"},
      {R"(<@listed, [{"b"}]>)", "{devices=[2,2]2,3,0,1 last_tile_dim_replicate}"},
  };
  for (const Case& one : kCases) EXPECT_EQ(hlo(one.sdy), one.expected) << one.sdy;
}

TEST(MeshSharding, ManualAxesStandBehindTheDimensions) {
  EXPECT_EQ(hlo(R"(<@m, [{"b"}]>)", {{"a", 1, 0}}),
            "{devices=[4,2,4]<=[2,4,4]T(1,0,2) last_tile_dims={manual, replicated}}");
  EXPECT_EQ(hlo(R"(<@m, [{}]>)", {{"a", 1, 0}, {"b", 1, 0}, {"c", 1, 0}}), "{manual}");
}

TEST(MeshSharding, SaysWhatIsWrong) {
  EXPECT_EQ(hlo(R"(<@none, [{}]>)"), "there is no mesh @none");
  EXPECT_EQ(hlo(R"(<@m, [{"z"}]>)"), R"(the mesh has no axis "z")");
  EXPECT_EQ(hlo(R"(<@m, [{"b":(3)2}]>)"), R"(axis "b" of size 4 has no part (3)2)");
  EXPECT_EQ(hlo(R"(<@m, [{"a"])"), R"(expects ',' or '}' between axes)");
  EXPECT_FALSE(read_mesh(R"(<["a"=2], device_ids=[0]>)"));
  EXPECT_FALSE(read_mesh(R"(<["a"=9999999, "b"=9999999]>)"));
}

TEST(ShardingProto, IsReadFromItsBytes) {
  const auto text = [](std::string_view bytes) {
    const Result<std::string> read = hlo_sharding_of_proto(bytes);
    return read ? *read : "error: " + read.error().message;
  };
  EXPECT_EQ(text(std::string_view("\x08\x03\x1A\x02\x01\x02\x22\x02\x00\x01", 10)), "{devices=[1,2]0,1}");
  EXPECT_EQ(text(std::string_view("\x08\x01\x1A\x01\x01\x22\x01\x05", 8)), "{maximal device=5}");
  EXPECT_EQ(text(""), "{replicated}");
  EXPECT_EQ(text(std::string_view("\x08\x04", 2)), "{manual}");
  EXPECT_EQ(text("{nonsense"), "error: a sharding is neither HLO's text nor its protocol buffer");
  EXPECT_EQ(text(std::string_view("\x08", 1)),
            "error: a sharding is neither HLO's text nor its protocol buffer");
}

}  // namespace
}  // namespace hlosim::stablehlo
