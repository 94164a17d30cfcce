// Meshes laid over tori.
#include "sharding/mesh_order.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace hlosim {
namespace {

struct Laid {
  Mesh mesh;
  std::vector<int64_t> topology;
  Result<MeshOnTorus> made;

  /// "x", "yz", "x:(2)2": of an axis.
  std::string where(size_t axis) const {
    std::string text;
    for (const TorusPart& part : made->axes[axis]) {
      text += "xyzw"[part.dimension];
      if (part.size != topology[part.dimension]) text += fmt::format(":({}){}", part.before, part.size);
    }
    return text;
  }
};

Laid lay(std::string_view mesh, std::vector<int64_t> topology, std::string_view order = "",
         int64_t cores = 1) {
  Laid laid{*parse_mesh(mesh), topology, failure("not yet")};
  laid.made = mesh_order(laid.mesh, topology, cores, order);
  if (!laid.made) ADD_FAILURE() << render(laid.made.error());
  return laid;
}

TEST(MeshOrder, AxesTakeWholeDimensions) {
  const Laid laid = lay("data=8,model=4", {4, 8});
  EXPECT_EQ(laid.where(0), "y");
  EXPECT_EQ(laid.where(1), "x");
  EXPECT_TRUE(laid.made->device_order.empty());
  EXPECT_TRUE(laid.made->is_whole(1, {4, 8}));

  const Laid turned = lay("data=8,model=4", {8, 4});
  EXPECT_EQ(turned.where(0), "x");
  EXPECT_EQ(turned.where(1), "y");
  EXPECT_EQ(turned.made->device_order[1], 8);  // the neighbour along model is the next along y
  EXPECT_EQ(turned.made->device_order[4], 1);

  const Laid joined = lay("data=4,model=16", {4, 4, 4});
  EXPECT_EQ(joined.where(1), "yx");
  EXPECT_EQ(joined.where(0), "z");
  EXPECT_TRUE(joined.made->device_order.empty());
}

TEST(MeshOrder, PartsWhereNothingElseFits) {
  const Laid laid = lay("data=2,model=8", {4, 4});
  EXPECT_EQ(laid.where(1), "xy:(1)2");
  EXPECT_EQ(laid.where(0), "y:(2)2");
  EXPECT_FALSE(laid.made->is_whole(0, {4, 4}));
}

TEST(MeshOrder, TheUserSaysWhere) {
  const Laid laid = lay("data=4,model=4", {4, 4}, "model=y");
  EXPECT_EQ(laid.where(1), "y");
  EXPECT_EQ(laid.where(0), "x");
}

TEST(MeshOrder, CoresOfAChipAreTheFastestPart) {
  const Laid laid = lay("data=2,model=4", {2, 2}, "", 2);
  EXPECT_EQ(laid.made->device_order[0], 0);
  const std::vector<int64_t>& order = laid.made->device_order;
  const auto at = [&](size_t i) { return order.empty() ? static_cast<int64_t>(i) : order[i]; };
  EXPECT_EQ(at(1), 1);  // the other core of the chip
}

/// Every device stands somewhere once, whatever the sizes are.
TEST(MeshOrder, IsAPermutation) {
  for (const int64_t a : {1, 2, 3, 4, 6, 8, 12, 24, 48})
    for (const int64_t b : {1, 2, 3, 4, 6, 8, 12, 24, 48}) {
      if (96 % (a * b) != 0) continue;
      const Laid laid = lay(fmt::format("a={},b={},c={}", a, b, 96 / (a * b)), {4, 6, 2}, "", 2);
      std::vector<int64_t> order = laid.made->device_order;
      if (order.empty()) continue;
      std::sort(order.begin(), order.end());
      std::vector<int64_t> all(96);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(order, all);
    }
}

TEST(MeshOrder, SaysWhatIsWrong) {
  const Mesh mesh = *parse_mesh("data=4,model=4");
  const auto message = [&](std::string_view order, std::vector<int64_t> topology) {
    const Result<MeshOnTorus> made = mesh_order(mesh, topology, 1, order);
    return made ? "none" : render(made.error()).substr(0, render(made.error()).find('\n'));
  };
  EXPECT_EQ(message("", {4, 8}),
            "hlosim: error: the mesh data=4,model=4 has 16 devices, which are not the 32 that there are");
  EXPECT_EQ(message("modle=x", {4, 4}), "--mesh-order:1:1: error: the mesh has no axis modle");
  EXPECT_EQ(message("model=z", {4, 4}), "--mesh-order:1:7: error: the torus has no dimension z");
  EXPECT_EQ(message("model=x,data=x", {4, 4}),
            "--mesh-order:1:14: error: dimension x has nothing left for axis data");
  EXPECT_EQ(message("model=x", {2, 8}),
            "--mesh-order:1:7: error: axis model has 4 devices, the dimensions give 2");
  EXPECT_EQ(message("model", {4, 4}), "--mesh-order:1:1: error: expects axis=dimensions, as in model=y");
}

}  // namespace
}  // namespace hlosim
