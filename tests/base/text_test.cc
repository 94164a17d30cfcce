#include "base/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace hlosim {
namespace {

const std::vector<std::string_view> kWords = {"dimensions",  "direction", "slice",
                                              "slice_sizes", "to_apply",  "a"};

TEST(Text, NearestWithinAThirdOfTheWord) {
  EXPECT_EQ(nearest("dimension", kWords), "dimensions");
  EXPECT_EQ(nearest("dimesnions", kWords), "dimensions");
  EXPECT_EQ(nearest("slcie", kWords), "slice");  // swapped letters are one edit
  EXPECT_EQ(nearest("sclei", kWords), "");       // two edits in five letters: too far
  EXPECT_EQ(nearest("slic", kWords), "slice");
  EXPECT_EQ(nearest("to_aply", kWords), "to_apply");
  EXPECT_EQ(nearest("zzz", kWords), "");
  EXPECT_EQ(nearest("", kWords), "");
  EXPECT_EQ(nearest("b", kWords), "");
  EXPECT_EQ(nearest(std::string(1000, 'd'), kWords), "");
  EXPECT_EQ(nearest("slice", {}), "");
}

TEST(Text, DidYouMean) {
  EXPECT_EQ(did_you_mean("dimension", kWords), "did you mean \"dimensions\"?");
  EXPECT_EQ(did_you_mean("zzz", kWords), "");
}

TEST(Text, WhatIsPrintedShowsEverything) {
  // Controls, and what turns the direction of text: an attacker's name must not rewrite what stands around
  // it.
  EXPECT_EQ(printable("a\x1b]0;x\x07z\rb\x7f"), "a\\x1b]0;x\\x07z\\x0db\\x7f");
  EXPECT_EQ(printable("\u202egpj.exe\u2066\u2069\u200f\u061c"), "\\u202egpj.exe\\u2066\\u2069\\u200f\\u061c");
  EXPECT_EQ(printable("\u009b31m\u2028"), "\\u009b31m\\u2028");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable("\x1b[2J\x1b[31mred\x1b[0m", true), "\\x1b[2J\x1b[31mred\x1b[0m");  // only our colours
  // All else stays: other scripts, signs, tables.
  for (const char* text : {"", "µs → ä × \u05d0\u05d1\u202f\u2014€", "a\tb\n", "\xC2", "\xE2\x80", "\xD8"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(shown("\u202ea"), "\\u202ea");
}

TEST(Text, ShownEscapesAndCuts) {
  EXPECT_EQ(shown("f32[2]"), "f32[2]");
  EXPECT_EQ(shown(std::string_view("a\0b\n\x7f", 5)), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("abc", 3), "abc");
  EXPECT_EQ(shown("ä"), "ä");
}

}  // namespace
}  // namespace hlosim
