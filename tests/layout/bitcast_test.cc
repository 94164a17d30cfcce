#include "layout/bitcast.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "layout/shape_of.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "random_layout.h"
#include "support/folders.h"
#include "support/module_files.h"

namespace hlosim {
namespace {

using test::shape_of;

using ::testing::ElementsAre;
using Index = std::vector<int64_t>;

struct Row {
  std::string_view from, to;
  std::string_view kind;
};

TEST(Bitcast, Kinds) {
  const Row rows[] = {
      {"f32[8,128,4096]{2,1,0:T(8,128)S(1)}", "f32[8,128,4096]{2,1,0:T(8,128)}", "identity"},
      {"f32[4]", "f32[4]{0}", "identity"},
      {"f32[4]{0}", "s32[4]{0:E(32)}", "identity"},
      {"f32[32,28,28]{2,1,0}", "f32[32,784]{1,0}", "reshape"},
      {"f32[1]{0}", "f32[]", "reshape"},
      {"s32[4,1]{1,0}", "s32[1,4,1]{2,1,0}", "reshape"},
      {"s32[4,4,1]{2,1,0}", "s32[16,1]{0,1}", "reshape"},
      {"f32[10240]{0}", "f32[1024,10]{1,0}", "reshape"},
      {"f32[12]{0}", "f32[12,1]{1,0}", "reshape"},
      {"f32[3,5]{1,0}", "f32[5,3]{0,1}", "transpose"},
      {"f32[3,5]{1,0:T(2,2)}", "f32[5,3]{0,1:T(2,2)}", "transpose"},
      {"f32[3,5]{1,0}", "f32[3,5]{0,1}", "re-read"},
      {"f32[3,5]{1,0}", "f32[5,3]{1,0}", "reshape"},
      {"f32[3,5]{1,0}", "f32[5,3]{0,1:T(1)}", "tiled transpose"},
      {"f32[4096,3584]{1,0:T(8,128)}", "f32[4096,3584,1]{1,0,2:T(8,128)}", "tiled reshape"},
      {"f32[3584,4096]{1,0:T(8,128)}", "f32[3584,4096,1]{1,0,2:T(8,128)}", "tiled reshape"},
      {"f32[4096,3584]{1,0:T(8,128)}", "f32[4096,3584,1]{2,1,0:T(8,128)}", "re-read"},
      {"f32[8,128,4096]{2,1,0:T(8,128)}", "f32[1024,4096]{1,0:T(8,128)}", "tiled reshape"},
      {"f32[8,100,4096]{2,1,0:T(8,128)}", "f32[800,4096]{1,0:T(8,128)}", "re-read"},
      {"f32[8,100,4096]{2,1,0:T(8,128)}", "f32[2,4,100,4096]{3,2,1,0:T(8,128)}", "tiled reshape"},
      {"f32[200001,128]{1,0:T(8)L(1024)}", "f32[200001,128]{1,0:T(8,128)}", "tiled reshape"},
      {"bf16[8,128]{1,0:T(8,128)(2,1)}", "bf16[8,128]{1,0:T(8,128)}", "re-read"},
      {"f32[100]{0:T(128)}", "f32[100]{0}", "tiled reshape"},
      {"f32[300]{0:T(512)}", "f32[300]{0:T(1024)}", "tiled reshape"},
      {"f32[5,7]{1,0:T(8,128)}", "f32[7,5]{0,1:T(8)(8,128)}", "re-read"},
      {"f32[2,3,256]{2,1,0:T(2,*,128)}", "f32[6,256]{1,0:T(2,128)}", "re-read"},
      {"f32[2,3,256]{2,1,0:T(*,2,128)}", "f32[6,256]{1,0:T(2,128)}", "tiled reshape"},
      {"f32[0,4]{1,0:T(8,128)}", "f32[8,0]{0,1}", "reshape"},
      {"f32[4]{0}", "s8[16]{0}", "re-read"},
      {"f32[4]{0}", "f32[5]{0}", "re-read"},
      {"f32[8,4]{1,0:SC(0:4)}", "f32[32]{0}", "re-read"},
      {"f32[8,4]{1,0:SC(0:4)}", "f32[8,4]{1,0:S(1)SC(0:4)}", "identity"},
      {"f32[?]", "f32[?]{0}", "identity"},
      {"f32[?]{0}", "f32[?,1]{1,0}", "re-read"},
      {"(f32[])", "(f32[])", "identity"},
      {"(f32[])", "f32[]", "re-read"},
      {"f32[9223372036854775807,3]{1,0}", "f32[3,9223372036854775807]{1,0}", "re-read"},
  };
  ShapePool pool;
  for (const Row& row : rows)
    EXPECT_EQ(to_text(classify_bitcast(shape_of(pool, row.from), shape_of(pool, row.to)).kind), row.kind)
        << row.from << " -> " << row.to;
}

TEST(Bitcast, TransposesSayTheirPermutation) {
  ShapePool pool;
  const BitcastClass moved =
      classify_bitcast(shape_of(pool, "f32[2,3,5]{2,1,0}"), shape_of(pool, "f32[5,2,3]{0,2,1}"));
  EXPECT_EQ(moved.kind, BitcastKind::kTranspose);
  EXPECT_THAT(moved.permutation, ElementsAre(2, 0, 1));
}

TEST(Bitcast, Rules) {
  ShapePool pool;
  const auto problem = [&](std::string_view from, std::string_view to, bool tail = false) {
    const auto found = bitcast_problem(shape_of(pool, from), shape_of(pool, to), tail);
    return found ? found->message : std::string("none");
  };
  EXPECT_EQ(problem("f32[4]{0}", "f32[2,2]{1,0}"), "none");
  EXPECT_EQ(problem("f32[200001,128]{1,0:T(8)L(1024)}", "f32[200001,128]{1,0:T(8,128)}"), "none");
  EXPECT_EQ(problem("f32[4]{0:S(1)}", "f32[4]{0}"), "none");
  EXPECT_EQ(problem("f32[4]{0:S(5)}", "f32[4]{0:S(5)}"), "none");
  EXPECT_EQ(problem("f32[4]{0:S(5)}", "f32[4]{0}"),
            "f32[4]{0} is not a bitcast of f32[4]{0:S(5)}: only one of them is in host memory, S(5)");
  EXPECT_EQ(problem("f32[4]{0:T(128)}", "f32[4]{0}"),
            "f32[4]{0} is not a bitcast of f32[4]{0:T(128)}: it takes 16 bytes, not 512");
  EXPECT_EQ(problem("f32[4]{0:T(128)}", "f32[4]{0}", true), "none");
  EXPECT_NE(problem("f32[<=4]{0:T(128)}", "f32[<=4]{0}", true), "none");
  EXPECT_NE(problem("f32[4]{0}", "f32[5]{0}", true), "none");
}

TEST(Bitcast, SourceOfAReread) {
  ShapePool pool;
  // 2×3 as one 4×4 tile, re-read as the untiled 16 slots.
  const LayoutMap from = *LayoutMap::make(shape_of(pool, "f32[2,3]{1,0:T(4,4)}"));
  const LayoutMap to = *LayoutMap::make(shape_of(pool, "f32[16]{0}"));
  Index source(2);
  ASSERT_TRUE(bitcast_source(from, to, Index{6}, source));
  EXPECT_THAT(source, ElementsAre(1, 2));
  EXPECT_FALSE(bitcast_source(from, to, Index{3}, source));
  EXPECT_FALSE(bitcast_source(from, to, Index{8}, source));
}

/// Merges or splits dimensions at random, perhaps with 1s thrown in; same element count.
Index regrouped(const Index& dimensions, std::mt19937& random) {
  Index out;
  for (const int64_t size : dimensions) {
    const int64_t how = test::between(random, 0, 4);
    if (how == 0 && !out.empty()) {
      out.back() *= size;
    } else if (how == 1) {
      const int64_t part = size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : 1;
      out.push_back(part);
      out.push_back(size / part);
    } else {
      out.push_back(size);
    }
    if (test::between(random, 0, 6) == 0) out.push_back(1);
  }
  return out;
}

const Layout* with_tiles_of(ShapePool& pool, const Layout* order, const Layout* tiles) {
  Layout layout = *order;
  layout.tiles = tiles->tiles;
  return pool.layout(layout);
}

/// The answer in closed form against the comparison of all elements.
struct Tally {
  std::map<BitcastKind, int> kinds;
  int missed = 0;
};

/// Whether the transpose moves nothing: compares the place of every element.
bool is_transpose_by_exhaustion(ShapeRef from, ShapeRef to, std::span<const int64_t> permutation) {
  const LayoutMap map_from = *LayoutMap::make(from), map_to = *LayoutMap::make(to);
  Index index(permutation.size()), source(permutation.size());
  for (int64_t k = 0; k < to->element_count(); ++k) {
    int64_t rest = k;
    for (size_t i = index.size(); i-- > 0; rest /= to->dimensions[i]) index[i] = rest % to->dimensions[i];
    for (size_t i = 0; i < index.size(); ++i) source[static_cast<size_t>(permutation[i])] = index[i];
    if (map_from.offset(source) != map_to.offset(index)) return false;
  }
  return true;
}

void check_pair(ShapeRef from, ShapeRef to, Tally& tally) {
  const BitcastClass found = classify_bitcast(from, to);
  ++tally.kinds[found.kind];
  const bool reshape = *is_reshape_by_exhaustion(from, to);
  const auto text = [&] { return to_text(from) + " -> " + to_text(to); };
  switch (found.kind) {
    case BitcastKind::kIdentity:
    case BitcastKind::kReshape:
    case BitcastKind::kTiledReshape:
      ASSERT_TRUE(reshape) << text();
      break;
    case BitcastKind::kTranspose:
    case BitcastKind::kTiledTranspose:
      ASSERT_TRUE(is_transpose_by_exhaustion(from, to, found.permutation)) << text();
      break;
    case BitcastKind::kReread:
      if (!reshape) break;
      const LayoutMap a = *LayoutMap::make(from), b = *LayoutMap::make(to);
      // Where nothing hinders the closed form, it must find the reshape.
      ASSERT_FALSE(a.separable() && b.separable()) << text() << ": missed";
      ++tally.missed;
  }
}

TEST(Bitcast, ClosedFormEqualsExhaustion) {
  constexpr uint32_t kSeed = 33;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  ShapePool pool;
  Tally tally;
  for (int i = 0; i < 40000; ++i) {
    const bool tidy = i % 2 == 0;
    const test::RandomLayoutOptions options{.max_rank = 4,
                                            .max_tiles = i % 4 < 2 ? 2 : 3,
                                            .combine_percent = tidy ? 0 : 10,
                                            .dividing_second_tile = tidy};
    ShapeRef from = test::random_tiled_array(pool, random, options);
    Index dimensions(from->dimensions.begin(), from->dimensions.end());
    if (tidy) {
      for (int64_t& size : dimensions) size = int64_t{1} << test::between(random, 0, 3);
      if (!dimensions.empty() && random() % 4 == 0) dimensions[random() % dimensions.size()] = 3;
      const Layout* layout = random() % 3 == 0 ? pool.default_layout(from->rank()) : from->layout;
      from = pool.array(ElementType::kF32, dimensions, with_tiles_of(pool, layout, from->layout));
    }
    const Index other = regrouped(dimensions, random);
    const int rank = static_cast<int>(other.size());
    const Layout* layout =
        random() % 2 == 0 ? pool.default_layout(rank) : test::random_layout(pool, random, rank, options);
    if (random() % 4 != 0) layout = with_tiles_of(pool, layout, from->layout);
    check_pair(from, pool.array(ElementType::kF32, other, layout), tally);
    if (HasFatalFailure()) return;
  }
  for (const auto& [kind, count] : tally.kinds) RecordProperty(std::string(to_text(kind)), count);
  RecordProperty("missed", tally.missed);
  EXPECT_GT(tally.kinds[BitcastKind::kTiledReshape], 2000);
  EXPECT_GT(tally.kinds[BitcastKind::kReshape], 500);
  EXPECT_GT(tally.kinds[BitcastKind::kReread], 2000);
}

TEST(Bitcast, TransposedPairs) {
  constexpr uint32_t kSeed = 34;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  ShapePool pool;
  Tally tally;
  for (int i = 0; i < 20000; ++i) {
    const test::RandomLayoutOptions options{
        .max_rank = 4, .max_tiles = 2, .dividing_second_tile = i % 2 == 0};
    const ShapeRef from = test::random_tiled_array(pool, random, options);
    Index dimensions(from->dimensions.begin(), from->dimensions.end());
    std::shuffle(dimensions.begin(), dimensions.end(), random);
    const Layout* layout = test::random_layout(pool, random, static_cast<int>(dimensions.size()), options);
    if (random() % 2 == 0) layout = with_tiles_of(pool, layout, from->layout);
    check_pair(from, pool.array(ElementType::kF32, dimensions, layout), tally);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.kinds[BitcastKind::kTranspose], 300);
  EXPECT_GT(tally.kinds[BitcastKind::kTiledTranspose], 100);
}

/// The last word of "x", "%x" or "f32[2]{0} %x", without its '%'.
std::string name_of(std::string text) {
  if (const size_t blank = text.find_last_of(' '); blank != std::string::npos) text = text.substr(blank + 1);
  return !text.empty() && text[0] == '%' ? text.substr(1) : text;
}

// Every bitcast of a compiled module moves nothing.
TEST(Bitcast, OfCompiledModules) {
  std::vector<std::filesystem::path> files = {test::source_folder() / "tests" / "samples" / "bitcasts.hlo"};
  const std::vector<std::filesystem::path> seeds = test::seed_modules();
  files.insert(files.end(), seeds.begin(), seeds.end());
  int count = 0, tiled = 0;
  for (const std::filesystem::path& file : files) {
    ShapePool pool;
    std::map<std::string, ShapeRef> shapes;  // by instruction name; the last one of a name wins
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      const size_t equals = line.find(" = ");
      if (equals == std::string::npos) continue;
      ShapeReader reader(pool, line);
      size_t at = equals + 3;
      const ShapeRef shape = reader.read(at);
      if (!shape) continue;
      shapes[name_of(line.substr(0, equals))] = shape;
      constexpr std::string_view kOpcode = " bitcast(";
      if (line.compare(at, kOpcode.size(), kOpcode) != 0) continue;
      const size_t operand = at + kOpcode.size();
      const ShapeRef from = shapes[name_of(line.substr(operand, line.find(')', operand) - operand))];
      ASSERT_TRUE(from) << line;
      EXPECT_TRUE(classify_bitcast(from, shape).is_no_op()) << line;
      EXPECT_FALSE(bitcast_problem(from, shape)) << line;
      ++count;
      tiled += shape->layout && !shape->layout->tiles.empty();
    }
  }
  EXPECT_GE(tiled, 7);
  EXPECT_GE(count, 9);
}

}  // namespace
}  // namespace hlosim
