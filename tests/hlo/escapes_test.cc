#include "hlo/escapes.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Escapes, StandForOneByte) {
  EXPECT_EQ(unescaped(R"(plain)"), "plain");
  EXPECT_EQ(unescaped(R"(a\n\t\r\"\\'b)"), "a\n\t\r\"\\'b");
  EXPECT_EQ(unescaped(R"(\a\b\f\v)"), "\a\b\f\v");
  EXPECT_EQ(unescaped(R"(\101\60\0018)"), "A0\0018");
  EXPECT_EQ(unescaped(R"(\x41\X6a\x4g)"), "Aj\x04g");
  EXPECT_EQ(unescaped(R"(\q)"), "q");
  EXPECT_EQ(unescaped("end\\"), "end\\");
  EXPECT_EQ(unescaped(R"(\377)").size(), 1u);
}

}  // namespace
}  // namespace hlosim
