// Texts that are nearly shapes: an answer or an error, and where there is an answer, everything that
// can be asked about it has one too.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "layout/bitcast.h"
#include "layout/describe.h"
#include "layout/layout_map.h"
#include "layout/native_tiling.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

constexpr std::string_view kStarts[] = {
    "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)S(1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)L(4)}",
    "(f32[], (s32[<=2]{0:M(8)}, token[]), b(pred[?]{0:E(1)}))",
    "s4[150,200,100]{0,1,2:T(64,128)(8,1)E(4)SC(0:30)(1:40,130)}",
    "f32[ 8 /* [ */, 128 ] {1,0:D(D,C+~)T(8,128)}",
    "u8[9223372036854775807,3]{1,0:T(9223372036854775807)#(u32)*(u8)}",
};
constexpr std::string_view kPieces[] = {"(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        ",",
                                        ":",
                                        "*",
                                        "/*",
                                        "*/",
                                        "//",
                                        "\n",
                                        "T",
                                        "S",
                                        "SC(0:1)",
                                        "L(3)",
                                        "E(3)",
                                        "9223372036854775807",
                                        "0",
                                        "1",
                                        "-1",
                                        "<=",
                                        "?",
                                        "b(",
                                        "token[]",
                                        "f8e4m3fn",
                                        "T(3,1)",
                                        "(2,1)",
                                        "1073741824",
                                        "4294967296",
                                        " ",
                                        std::string_view("\0", 1)};

std::string mutated(std::mt19937& random) {
  std::string text(kStarts[random() % std::size(kStarts)]);
  for (uint32_t edits = random() % 3 + 1; edits > 0 && !text.empty(); --edits) {
    const size_t at = random() % text.size();
    const std::string_view piece = kPieces[random() % std::size(kPieces)];
    switch (random() % 4) {
      case 0:
        text.erase(at, random() % 4 + 1);
        break;
      case 1:
        text.insert(at, piece);
        break;
      case 2:
        text.replace(at, random() % 3 + 1, piece);
        break;
      case 3:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
    }
  }
  return text;
}

void ask_everything(ShapePool& pool, ShapeRef shape) {
  const ShapeRef tiled = with_native_tiling(pool, shape, TilingPolicy::newer());
  EXPECT_FALSE(validate_layout(tiled)) << to_text(tiled);
  EXPECT_GE(total_array_size(tiled).count(), 0);
  for_each_leaf(shape, [&](ShapeRef leaf) {
    if (!leaf->is_array()) return;
    EXPECT_GE(array_size(leaf).count(), 0);
    EXPECT_GE(array_data_size(leaf).count(), 0);
    (void)size_warning(leaf);
    (void)bitcast_problem(shape, leaf, true);
    const std::vector<int64_t> first(leaf->dimensions.size(), 0);
    LayoutQuery query;
    if (leaf->element_count() > 0) query.index = first;
    const Result<LayoutDescription> description = describe_layout(pool, leaf, query);
    if (description) {
      EXPECT_FALSE(to_text(*description).empty());
    }
    // A rank that is not small would make the re-grouped twin long.
    if (leaf->rank() > 8 || leaf->is_unbounded()) return;
    std::vector<int64_t> twin(leaf->dimensions.begin(), leaf->dimensions.end());
    twin.push_back(1);
    const BitcastClass found =
        classify_bitcast(leaf, pool.array(leaf->element_type, twin, pool.default_layout(leaf->rank() + 1)));
    const bool untiled_row_major = !leaf->layout || leaf->layout == pool.default_layout(leaf->rank());
    const bool countable = leaf->element_count() < std::numeric_limits<int64_t>::max();
    if (untiled_row_major && countable) {
      EXPECT_TRUE(found.is_no_op()) << to_text(leaf);
    }
  });
}

TEST(MutatedShapes, AnAnswerOrAnError) {
  constexpr uint32_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  int read = 0, valid = 0;
  for (int i = 0; i < 100000; ++i) {
    ShapePool pool;
    const std::string text = mutated(random);
    const Result<ShapeRef> shape = parse_shape(pool, text);
    if (!shape) {
      ASSERT_FALSE(shape.error().message.empty()) << text;
      ASSERT_LE(shape.error().offset, text.size()) << text;
      continue;
    }
    ++read;
    const std::string printed = to_text(*shape);
    const Result<ShapeRef> again = parse_shape(pool, printed);
    ASSERT_TRUE(again) << text << "\n" << printed;
    ASSERT_EQ(*again, *shape) << text << "\n" << printed;
    if (validate_layout(*shape)) continue;
    ++valid;
    ask_everything(pool, *shape);
  }
  EXPECT_GT(read, 3000);
  EXPECT_GT(valid, 1000);
}

}  // namespace
}  // namespace hlosim
