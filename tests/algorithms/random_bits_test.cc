#include "algorithms/random_bits.h"

#include <gmock/gmock.h>

#include <limits>

namespace hlosim {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kOnes = std::numeric_limits<uint64_t>::max();

// Vectors published with Random123.
TEST(RandomBits, Philox) {
  EXPECT_THAT(philox4x32(0, 0, 0), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32(kOnes, kOnes, kOnes), ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(philox4x32(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomBits, Threefry) {
  EXPECT_EQ(threefry2x32(0, 0), 0x99ba4efe6b200159);
  EXPECT_EQ(threefry2x32(kOnes, kOnes), 0xbb002be71cb996fc);
  EXPECT_EQ(threefry2x32(0x0370734413198a2e, 0x85a308d3243f6a88), 0x483df7a0c4923a9c);
}

TEST(RandomBits, CountersCarry) {
  EXPECT_THAT(advanced({kOnes, 5}, 1), ElementsAre(0, 6));
  EXPECT_THAT(advanced({3, 5}, 4), ElementsAre(7, 5));
  EXPECT_THAT(advanced({7, kOnes}, kOnes), ElementsAre(6, 0));
}

TEST(RandomBits, AStreamMayBeMadeInPieces) {
  uint32_t whole[23], pieces[23];
  philox_words(1, {kOnes - 1, 9}, 0, 23, whole);
  philox_words(1, {kOnes - 1, 9}, 0, 8, pieces);
  philox_words(1, {kOnes - 1, 9}, 8, 15, pieces + 8);
  for (int i = 0; i < 23; ++i) {
    EXPECT_EQ(whole[i], pieces[i]);
    const auto counter = advanced({kOnes - 1, 9}, static_cast<uint64_t>(i / 4));
    EXPECT_EQ(whole[i], philox4x32(1, counter[0], counter[1])[static_cast<size_t>(i % 4)]);
  }
}

}  // namespace
}  // namespace hlosim
