#include "text/table.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Shortened, KeepsBothEnds) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 10), "abcd..hijk");
  EXPECT_EQ(shortened("abcdefghijk", 9), "abcd..ijk");
  EXPECT_EQ(shortened("", 5), "");
}

TEST(Shortened, NeverIsLongerNorCutsACharacter) {
  const std::string text = "größe_äöüß_日本語_ende_äöü_日本";
  for (size_t width = 4; width < 40; ++width) {
    const std::string cut = shortened(text, width);
    size_t characters = 0;
    for (size_t i = 0; i < cut.size(); ++i) characters += (static_cast<unsigned char>(cut[i]) & 0xC0) != 0x80;
    EXPECT_LE(characters, width) << cut;
    if (cut != text) {
      const size_t dots = cut.find("..");
      ASSERT_NE(dots, std::string::npos);
      EXPECT_EQ(text.substr(0, dots), cut.substr(0, dots));
      EXPECT_EQ(text.substr(text.size() - (cut.size() - dots - 2)), cut.substr(dots + 2));
      EXPECT_NE(static_cast<unsigned char>(cut[dots + 2]) & 0xC0, 0x80) << "a character was cut";
    }
  }
}

TEST(Table, AlignsAndHasNoTrailingBlanks) {
  Table table({{"name", Align::kLeft, 8}, {"bytes"}, {"", Align::kLeft}});
  EXPECT_TRUE(table.empty());
  table.add({"a", "1,024 B", ""});
  table.add({"longer_than_that", "8 B", "note"});
  EXPECT_EQ(table.text("  "),
            "  name        bytes\n"
            "  a         1,024 B\n"
            "  lon..hat      8 B  note\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"x", Align::kLeft}, {"y", Align::kLeft}});
  table.add({"ä", "1"});
  table.add({"bb", "2"});
  EXPECT_EQ(table.text(""), "x   y\nä   1\nbb  2\n");
}

TEST(Table, ShowsWhatWouldHideOrTurnText) {
  Table table({{"x", Align::kLeft}, {"y", Align::kLeft}});
  table.add({"a\u202eb", "\x1b[31m1\n2\t3"});
  EXPECT_EQ(table.text(""), "x         y\na\\u202eb  \\x1b[31m1\\x0a2\\x093\n");
}

TEST(Table, KeepsColoursOfItsOwnAlone) {
  Table table({{"x", Align::kLeft}, {"y", Align::kLeft}});
  table.add_painted({"\x1b[31m1\x1b[0m", "2"});
  EXPECT_EQ(table.text(""), "x  y\n\x1b[31m1\x1b[0m  2\n");
}

TEST(Table, ShortenedNamesAreEscaped) {
  EXPECT_EQ(shortened("a\x1b[31m\nb", 40), "a\\x1b[31m\\x0ab");
  EXPECT_EQ(shortened("a\n\n\n\n\n\n\n\nb", 8), "a\\x..0ab");
}

}  // namespace
}  // namespace hlosim
