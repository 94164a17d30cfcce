// Named meshes: their text, shardings by their axes and the way back.
#include "sharding/mesh.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hlosim {
namespace {

Mesh mesh_of(std::string_view text) {
  Result<Mesh> mesh = parse_mesh(text);
  EXPECT_TRUE(mesh.has_value()) << text;
  return mesh ? std::move(*mesh) : Mesh{{{"none", 1}}, {}};
}

std::string sharding_by(std::string_view mesh_text, std::string_view axes) {
  const Mesh mesh = mesh_of(mesh_text);
  const Result<AxisSharding> sharding = parse_axes(axes, mesh);
  return sharding ? sharding_text(mesh, *sharding) : render(sharding.error());
}

TEST(Mesh, CountsDevicesAndStrides) {
  const Mesh mesh = mesh_of("data=4, model=2,x=3");
  ASSERT_EQ(mesh.axes.size(), 3u);
  EXPECT_EQ(mesh.axes[1].name, "model");
  EXPECT_EQ(mesh.devices(), 24);
  EXPECT_EQ(mesh.stride(0), 6);
  EXPECT_EQ(mesh.stride(2), 1);
}

TEST(Mesh, SaysWhatIsWrongWithItsText) {
  const std::pair<std::string_view, std::string_view> kWrong[] = {
      {"", "--mesh:1:1: error: expects the name of an axis and its size, as in data=4,model=2"},
      {"data", "--mesh:1:5: error: expects '=' and a size behind the name of an axis"},
      {"data=4,data=2", "--mesh:1:8: error: axis data is twice in the mesh"},
      {"data=0", "--mesh:1:6: error: the size of axis data is \"0\", expected a number from 1 to 16777216"},
      {"data=x", "--mesh:1:6: error: the size of axis data is \"x\", expected a number from 1 to 16777216"},
      {"a=4096,b=8192", "--mesh:1:8: error: the mesh has more than 16777216 devices"},
      {"a=4 b=2", "--mesh:1:5: error: expects ',' and another axis, or the end"},
  };
  for (const auto& [text, message] : kWrong) {
    const Result<Mesh> mesh = parse_mesh(text);
    ASSERT_FALSE(mesh.has_value()) << text;
    EXPECT_EQ(render(mesh.error()).substr(0, message.size()), message) << text;
  }
}

TEST(Mesh, FitsItsDevices) {
  EXPECT_TRUE(check_mesh(mesh_of("data=4,model=2"), 8).has_value());
  const Result<void> more = check_mesh(mesh_of("data=4,model=2"), 16);
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().message,
            "the mesh data=4,model=2 has 8 devices, which are not the 16 that there are");
  EXPECT_EQ(more.error().hint, "model=4 would");
  EXPECT_EQ(check_mesh(mesh_of("data=3,model=2"), 16).error().hint, "");
}

TEST(Mesh, AxesBecomeTiles) {
  EXPECT_EQ(sharding_by("data=4,model=2", "[data,_]"), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[_,data]"), "{devices=[1,4,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[model,data]"), "{devices=[2,4]<=[4,2]T(1,0)}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[{data,model},_]"), "{devices=[8,1]<=[8]}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[{model,data},None]"), "{devices=[8,1]<=[4,2]T(1,0)}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[data:(1)2,data:(2)2]"),
            "{devices=[2,2,2]<=[8] last_tile_dim_replicate}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[_]"), "{replicated}");
  EXPECT_EQ(sharding_by("data=4,model=2", "[]"), "{replicated}");
}

TEST(Mesh, ShardingsSayWhatIsWrong) {
  const std::pair<std::string_view, std::string_view> kWrong[] = {
      {"data", "--shard:1:1: error: expects '[' before the axes of the dimensions, as in [data,_]"},
      {"[data", "--shard:1:6: error: expects ']' behind the axes of the dimensions"},
      {"[data,modle]", "--shard:1:7: error: the mesh has no axis modle"},
      {"[data,]", "--shard:1:7: error: expects the name of an axis, or _"},
      {"[data,data]", "--shard:1:7: error: axis data is used twice"},
      {"[data:(3)2]", "--shard:1:2: error: axis data has 4 devices, which are not a multiple of 3 times 2"},
      {"[data] x", "--shard:1:8: error: expects nothing behind the axes"},
  };
  for (const auto& [text, message] : kWrong)
    EXPECT_EQ(sharding_by("data=4,model=2", text).substr(0, message.size()), message) << text;
  EXPECT_NE(sharding_by("data=4,model=2", "[data,modle]").find("did you mean \"model\"?"), std::string::npos);
  EXPECT_NE(sharding_by("data=4,model=2", "[expert]").find("it has data, model"), std::string::npos);
}

std::string axes_in(std::string_view mesh_text, std::string_view text) {
  const Mesh mesh = mesh_of(mesh_text);
  const std::optional<AxisSharding> sharding = axes_of(mesh, text);
  return sharding ? axis_names(mesh, *sharding) : "none";
}

TEST(Mesh, TilesBecomeAxes) {
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"), "[data,_]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"), "[model,_]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[8]<=[8]}"), "[{data,model}]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[8]0,2,4,6,1,3,5,7}"), "[{model,data}]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"), "[data:(1)2,_]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[1,2,4]<=[8] last_tile_dims={manual, replicated}}"),
            "[_] manual={data:(1)2}");
  EXPECT_EQ(axes_in("data=4,model=2", "{replicated}"), "[]");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[4]<=[4]}"), "none");
  EXPECT_EQ(axes_in("data=4,model=2", "{devices=[8]1,0,2,3,4,5,6,7}"), "none");
  EXPECT_EQ(axes_in("data=2,model=3", "{devices=[3,2]<=[6]}"), "none");
  EXPECT_EQ(axes_in("data=4,model=2", "{nonsense}"), "none");
}

/// All ways to give three axes to two dimensions, there and back.
TEST(Mesh, ThereAndBackIsTheSame) {
  for (const std::string_view text : {"a=2,b=3,c=4", "a=1,b=4,c=2", "a=5,b=1,c=7"}) {
    const Mesh mesh = mesh_of(text);
    int order[] = {0, 1, 2};
    do {
      for (size_t first = 0; first <= 3; ++first)
        for (size_t second = first; second <= 3; ++second) {
          AxisSharding sharding;
          sharding.dimensions.resize(2);
          for (size_t i = 0; i < second; ++i) {
            const auto axis = static_cast<size_t>(order[i]);
            if (mesh.axes[axis].size > 1)
              sharding.dimensions[i < first ? 0 : 1].push_back({axis, 1, mesh.axes[axis].size});
          }
          const std::string made = sharding_text(mesh, sharding);
          const std::optional<AxisSharding> back = axes_of(mesh, made);
          ASSERT_TRUE(back.has_value()) << made;
          if (made == "{replicated}") continue;
          EXPECT_EQ(axis_names(mesh, *back), axis_names(mesh, sharding)) << made;
        }
    } while (std::next_permutation(order, order + 3));
  }
}

TEST(Mesh, DevicesMayStandInAnotherOrder) {
  Mesh mesh = mesh_of("a=2,b=2");
  mesh.device_order = {0, 2, 3, 1};
  const AxisSharding rows = *parse_axes("[a,b]", mesh);
  EXPECT_EQ(sharding_text(mesh, rows), "{devices=[2,2]0,2,3,1}");
  EXPECT_EQ(axis_names(mesh, *axes_of(mesh, "{devices=[2,2]0,2,3,1}")), "[a,b]");
  EXPECT_FALSE(axes_of(mesh, "{devices=[4]<=[4]}").has_value());
}

}  // namespace
}  // namespace hlosim
