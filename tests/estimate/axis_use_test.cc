// The names of the axes that a collective goes along.
#include "estimate/axis_use.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

std::string named(const Mesh& mesh, Groups groups, DeviceGrid grid) {
  CollectiveGroups given;
  given.groups = std::move(groups);
  return AxisNames(mesh, grid).of(given);
}
std::string named(const Mesh& mesh, Groups groups) {
  return named(mesh, std::move(groups), {1, mesh.devices()});
}

const Mesh kAxes{{{"data", 2}, {"model", 4}}, {}};

TEST(AxisNames, OfWholeAxes) {
  EXPECT_EQ(named(kAxes, {{0, 1, 2, 3}, {4, 5, 6, 7}}), "model");
  EXPECT_EQ(named(kAxes, {{0, 4}, {1, 5}, {2, 6}, {3, 7}}), "data");
  EXPECT_EQ(named(kAxes, {{0, 1, 2, 3, 4, 5, 6, 7}}), "data,model");
  EXPECT_EQ(named(kAxes, {{7, 3, 5, 1, 0, 2, 6, 4}}), "data,model");
}

TEST(AxisNames, OfPartsAndMixtures) {
  EXPECT_EQ(named(kAxes, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}), "model:2");
  EXPECT_EQ(named(kAxes, {{0, 5}, {1, 4}, {2, 7}, {3, 6}}), "data,model:2 mixed");
  EXPECT_EQ(named(kAxes, {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}}), "none");
}

TEST(AxisNames, OfDevicesInAnotherOrder) {
  const Mesh turned{kAxes.axes, {0, 2, 4, 6, 1, 3, 5, 7}};  // model along even and odd numbers
  EXPECT_EQ(named(turned, {{0, 2, 4, 6}, {1, 3, 5, 7}}), "model");
  EXPECT_EQ(named(turned, {{0, 1}, {2, 3}, {4, 5}, {6, 7}}), "data");
}

TEST(AxisNames, OfReplicas) {
  EXPECT_EQ(named(kAxes, {{0, 8}, {1, 9}}, {2, 8}), "replicas");
  EXPECT_EQ(named(kAxes, {{0, 4, 8, 12}}, {2, 8}), "data,replicas");
}

TEST(AxisNames, OfPairs) {
  CollectiveGroups ring;
  for (int64_t i = 0; i < 4; ++i) ring.pairs.push_back({i, (i + 1) % 4});
  EXPECT_EQ(AxisNames(kAxes, {1, 8}).of(ring), "model");
  EXPECT_EQ(AxisNames(Mesh(), {1, 8}).of(ring), "");
}

}  // namespace
}  // namespace hlosim
