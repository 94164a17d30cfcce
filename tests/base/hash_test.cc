#include "base/hash.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

// The algorithm's published test values: what is saved in baselines and journals must keep its meaning.
TEST(Fnv1a, IsWhatEverybodyCallsSo) {
  EXPECT_EQ(Fnv1a().value(), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv1a().add_text("a").value(), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Fnv1a().add_text("foo").add_text("bar").value(), 0x85944171f73967e8u);
  EXPECT_EQ(Fnv1a().add_word('a').value(), Fnv1a().add_text("a").value());
  EXPECT_EQ(Fnv1a().add_text("\xff").value(), Fnv1a().add_word(0xff).value());
}

TEST(Fnv1a, AnotherStartIsAnotherHash) {
  EXPECT_NE(Fnv1a(1).add_text("foobar").value(), Fnv1a(2).add_text("foobar").value());
}

}  // namespace
}  // namespace hlosim
