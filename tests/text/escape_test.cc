#include "text/escape.h"

#include <gtest/gtest.h>

namespace hlosim {
namespace {

TEST(Markup, WritesWhatHasAMeaningAsAnEntity) {
  EXPECT_EQ(markup_escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(markup_escaped("µs\tand\n"), "µs\tand\n");
  EXPECT_EQ(markup_escaped(std::string_view("\0\x1b\x7f\r", 4)), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(Markup, AttributesKeepTheirLineEnds) {
  EXPECT_EQ(attribute_escaped("one\ntwo\t<3>"), "one&#10;two&#9;&lt;3&gt;");
}

TEST(Csv, QuotesWhatWouldEndAField) {
  EXPECT_EQ(csv_field("f32[8] add"), "f32[8] add");
  EXPECT_EQ(csv_field("f32[8,4]"), "\"f32[8,4]\"");
  EXPECT_EQ(csv_field("a \"b\""), "\"a \"\"b\"\"\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
}

TEST(Markdown, CellsMeanNothingButThemselves) {
  EXPECT_EQ(markdown_cell("a|b\\c`d`"), "a\\|b\\\\c\\`d\\`");
  EXPECT_EQ(markdown_cell("<img src=x> @all #1 &amp; [x](y) *b*"),
            "&lt;img src=x&gt; &#64;all &#35;1 &amp;amp; \\[x\\](y) \\*b\\*");
  EXPECT_EQ(markdown_cell("\u202etxt\nnext\x1b[31m"), "\\\\u202etxt next\\\\x1b\\[31m");
}

TEST(Markdown, CodeStaysOneSpanOfOneCell) {
  EXPECT_EQ(markdown_code("a|b\\c`d` <@x>"), "`a\\|b\\c'd' <@x>`");
  EXPECT_EQ(markdown_code("a\n\u202eb"), "`a \\u202eb`");
}

}  // namespace
}  // namespace hlosim
