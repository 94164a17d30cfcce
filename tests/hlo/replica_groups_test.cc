#include "hlo/replica_groups.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>

namespace hlosim {
namespace {

using Groups = std::vector<std::vector<int64_t>>;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ReplicaGroups iota(std::span<const int64_t> dimensions, std::span<const int64_t> reshape,
                   std::span<const int64_t> transpose = {}) {
  ReplicaGroups groups;
  groups.form = ReplicaGroups::Form::kIota;
  groups.iota_dimensions = dimensions;
  groups.iota_reshape = reshape;
  groups.iota_transpose = transpose;
  return groups;
}

ReplicaGroups mesh(std::string_view text) {
  ReplicaGroups groups;
  groups.form = ReplicaGroups::Form::kMesh;
  groups.text = text;
  return groups;
}

std::string problem(const ReplicaGroups& groups) {
  const auto listed = list_replica_groups(groups, 0);
  const auto counts = count_replica_groups(groups);
  EXPECT_EQ(listed.has_value(), counts.has_value());
  return listed ? "none" : listed.error().message;
}

TEST(ReplicaGroups, ListsAreKeptAndNothingIsEverybody) {
  const std::vector<std::vector<int64_t>> members{{0, 2}, {3, 1, 4}};
  const std::vector<std::span<const int64_t>> spans(members.begin(), members.end());
  ReplicaGroups groups;
  groups.groups = spans;
  EXPECT_EQ(expand_replica_groups(groups, 99), members);
  const auto counts = count_replica_groups(groups);
  EXPECT_EQ(counts->groups, 2);
  EXPECT_EQ(counts->members, 2);
  EXPECT_EQ(counts->total, 5);
  EXPECT_FALSE(counts->uniform);

  EXPECT_EQ(expand_replica_groups(ReplicaGroups{}, 3), (Groups{{0, 1, 2}}));
  EXPECT_EQ(count_replica_groups(ReplicaGroups{})->groups, 0);
}

TEST(ReplicaGroups, IotaWithoutTransposition) {
  const int64_t dimensions[] = {2, 10}, reshape[] = {20};
  const Groups groups = expand_replica_groups(iota(dimensions, reshape), 0);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_THAT(groups[1], ElementsAre(10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
}

TEST(ReplicaGroups, IotaTransposed) {
  const int64_t dimensions[] = {3, 10}, reshape[] = {6, 5}, transpose[] = {1, 0};
  const Groups groups = expand_replica_groups(iota(dimensions, reshape, transpose), 0);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_THAT(groups[0], ElementsAre(0, 5, 10, 15, 20, 25, 1, 6, 11, 16));
}

// Every iota of up to 3 dimensions with sizes 1..4 against the definition: number i of the transposed
// array is the element whose transposed index has row-major position i.
TEST(ReplicaGroups, IotaAgreesWithItsDefinition) {
  int checked = 0;
  for (int64_t a = 1; a <= 4; ++a)
    for (int64_t b = 1; b <= 4; ++b)
      for (int64_t c = 1; c <= 4; ++c) {
        std::array<int64_t, 3> order{0, 1, 2};
        do {
          const std::array<int64_t, 3> sizes{a, b, c};
          const std::array<int64_t, 2> dimensions{a, b * c};
          const Groups groups = expand_replica_groups(iota(dimensions, sizes, order), 0);
          std::array<int64_t, 3> permuted{};
          for (size_t i = 0; i < 3; ++i) permuted[i] = sizes[static_cast<size_t>(order[i])];
          int64_t at = 0;
          for (int64_t i = 0; i < permuted[0]; ++i)
            for (int64_t j = 0; j < permuted[1]; ++j)
              for (int64_t k = 0; k < permuted[2]; ++k, ++at) {
                std::array<int64_t, 3> index{};
                index[static_cast<size_t>(order[0])] = i;
                index[static_cast<size_t>(order[1])] = j;
                index[static_cast<size_t>(order[2])] = k;
                const int64_t id = (index[0] * b + index[1]) * c + index[2];
                ASSERT_EQ(groups[static_cast<size_t>(at / (b * c))][static_cast<size_t>(at % (b * c))], id);
                ++checked;
              }
        } while (std::next_permutation(order.begin(), order.end()));
      }
  EXPECT_EQ(checked, 6 * 1000);
}

TEST(ReplicaGroups, MeshGroupsDifferAlongNamedAxesOnly) {
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2] {'b'}"), 0), (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2] {'a'}"), 0), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2] {'a','b'}"), 0), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2] {'b','a'}"), 0), (Groups{{0, 2, 1, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2] {}"), 0), (Groups{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh[\"a\"=2, \"b\"=2]{\"1\"}"), 0), (Groups{{0, 1}, {2, 3}}));
}

TEST(ReplicaGroups, SubAxesArePartsOfAnAxis) {
  // y of size 4 as 2x2: the minor half, the major half, both the other way around.
  EXPECT_EQ(expand_replica_groups(mesh("mesh['x'=2,'y'=4] {'y':(2)2}"), 0),
            (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['x'=2,'y'=4] {'y':(1)2}"), 0),
            (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['y'=4] {'y':(2)2,'y':(1)2}"), 0), (Groups{{0, 2, 1, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['x'=2,'y'=8] {'x','y':(2)2}"), 0),
            (Groups{{0, 2, 8, 10}, {1, 3, 9, 11}, {4, 6, 12, 14}, {5, 7, 13, 15}}));
}

TEST(ReplicaGroups, MeshDevicesMayBeListed) {
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2], device_ids=(3,1,2,0) {'b'}"), 0),
            (Groups{{3, 1}, {2, 0}}));
  EXPECT_EQ(expand_replica_groups(mesh("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}"), 0),
            (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(expand_replica_groups(mesh("maximal_mesh[device_id=5] {}"), 0), (Groups{{5}}));
}

TEST(ReplicaGroups, CountsNeedNoList) {
  const int64_t dimensions[] = {4096, 2048}, reshape[] = {int64_t{1} << 23};
  const auto counts = count_replica_groups(iota(dimensions, reshape));
  ASSERT_TRUE(counts.has_value());
  EXPECT_EQ(counts->groups, 4096);
  EXPECT_EQ(counts->members, 2048);
  EXPECT_EQ(counts->total, int64_t{1} << 23);
}

TEST(ReplicaGroups, WhatDoesNotFitIsExplained) {
  const int64_t two_by_three[] = {2, 3}, seven[] = {7}, six[] = {6}, negative[] = {-2, -3};
  const int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40}, not_a_permutation[] = {1};
  const int64_t three[] = {1, 2, 3};
  EXPECT_EQ(problem(iota(two_by_three, six)), "none");
  EXPECT_EQ(problem(iota(two_by_three, seven)),
            "[2,3]<=[7]: both sides have to hold the same positive number of devices");
  EXPECT_THAT(problem(iota(negative, six)), HasSubstr("same positive number"));
  EXPECT_THAT(problem(iota(huge, huge)), HasSubstr("same positive number"));
  EXPECT_EQ(problem(iota(two_by_three, six, not_a_permutation)),
            "T(1) is not a permutation of the 1 dimensions of [6]");
  EXPECT_EQ(problem(iota(three, six)), "[1,2,3]<= has to hold the number of groups and their size");
  EXPECT_EQ(problem(mesh("mesh['a'=2,'b'=2] {'c'}")), "mesh \"mesh['a'=2,'b'=2] {'c'}\" has no axis 'c'");
  EXPECT_THAT(problem(mesh("mesh['a'=2 {'a'}")), HasSubstr("expected \"]\" at \"{'a'}\""));
  EXPECT_THAT(problem(mesh("mesh['a'=4] {'a':(3)2}")), HasSubstr("overlap or do not divide"));
  EXPECT_THAT(problem(mesh("mesh['a'=4] {'a','a':(2)2}")), HasSubstr("overlap or do not divide"));
  EXPECT_THAT(problem(mesh("mesh['a'=6] {'a':(1)2,'a':(3)2}")), HasSubstr("overlap or do not divide"));
  EXPECT_THAT(problem(mesh("mesh['a'=0] {'a'}")), HasSubstr("positive size"));
  EXPECT_THAT(problem(mesh("mesh['a'=9223372036854775807,'b'=9] {'a'}")), HasSubstr("at most 16777216"));
  EXPECT_THAT(problem(mesh("mesh['a'=4], device_ids=(1,2) {'a'}")), HasSubstr("2 device ids for 4"));
  EXPECT_THAT(problem(mesh("mesh['a'=4] {'a'} x")), HasSubstr("expected the end"));
  EXPECT_THAT(problem(mesh("")), HasSubstr("expected \"mesh\""));
  ReplicaGroups everybody;
  EXPECT_FALSE(list_replica_groups(everybody, int64_t{1} << 40).has_value());
}

}  // namespace
}  // namespace hlosim
