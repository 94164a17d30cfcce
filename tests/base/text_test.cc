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
  // What has no width, and bytes that are no UTF-8: cut off, too long, halves of a pair, beyond the last one.
  EXPECT_EQ(printable("a\u200bb\ufeff\u2060\u00ad\U000E0041"), "a\\u200bb\\ufeff\\u2060\\u00ad\\ue0041");
  EXPECT_EQ(printable("\uffff\ufffe"), "\\uffff\\ufffe");
  // Fillers, joiners and selectors of every script.
  EXPECT_EQ(printable("a\u034fb\u115f\u1160\u17b4\u17b5"), "a\\u034fb\\u115f\\u1160\\u17b4\\u17b5");
  EXPECT_EQ(printable("\u180b\u180e\u180f\u3164\uffa0"), "\\u180b\\u180e\\u180f\\u3164\\uffa0");
  EXPECT_EQ(printable("\ufff0\ufff9\ufffb\U0001BCA0\U0001D17A"), "\\ufff0\\ufff9\\ufffb\\u1bca0\\u1d17a");
  EXPECT_EQ(printable("\U000E0000\U000E0100\U000E0FFF"), "\\ue0000\\ue0100\\ue0fff");
  EXPECT_EQ(printable("\xC2 \xE2\x80 \xD8"), "\\xc2 \\xe2\\x80 \\xd8");
  EXPECT_EQ(printable("\xC0\xAF \xED\xA0\x80"), "\\xc0\\xaf \\xed\\xa0\\x80");
  EXPECT_EQ(printable("\xF4\x90\x80\x80\xFF"), "\\xf4\\x90\\x80\\x80\\xff");
  // All else stays: other scripts, signs, tables, selectors of how a sign looks.
  for (const char* text : {"", "µs → ä × \u05d0\u05d1\u202f\u2014€", "a\tb\n", "\U0001F600 \uFFFD \U0010FFFD",
                           "\u2764\ufe0f", "\u034e\u0350\u1161\u180a\u3165\ufffc"})
    EXPECT_EQ(printable(text), text);
  EXPECT_EQ(shown("\u202ea"), "\\u202ea");
  EXPECT_EQ(shown("ab€", 3), "ab...");  // no half characters
}

TEST(Text, ShownEscapesAndCuts) {
  EXPECT_EQ(shown("f32[2]"), "f32[2]");
  EXPECT_EQ(shown(std::string_view("a\0b\n\x7f", 5)), "a\\x00b\\x0a\\x7f");
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("abc", 3), "abc");
  EXPECT_EQ(shown("ä"), "ä");
}

TEST(Text, ShownCutsCharactersAndNothingElse) {
  EXPECT_EQ(shown("a\U0001F600b", 2), "a...");
  EXPECT_EQ(shown("a\U0001F600b", 4), "a...");
  EXPECT_EQ(shown("a\U0001F600b", 5), "a\U0001F600...");
  EXPECT_EQ(shown("\U0001F600", 1), "...");
  // Bytes that are no characters are cut where the limit is.
  EXPECT_EQ(shown("\x80\x81\xBF\xBF", 3), "\\x80\\x81\\xbf...");
  EXPECT_EQ(shown("ä\x80\x80", 3), "ä\\x80...");
  EXPECT_EQ(shown("\xE2\x82", 1), "\\xe2...");
}

}  // namespace
}  // namespace hlosim
