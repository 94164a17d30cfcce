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

TEST(Markup, IsUtf8AndHasNothingThatXmlRefuses) {
  EXPECT_EQ(markup_escaped("a\xff\xfe\xc2"), "a\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(attribute_escaped("a\uFFFE\uFFFFb\U0001F600"), "a\uFFFD\uFFFDb\U0001F600");
  EXPECT_EQ(valid_utf8("\xED\xA0\x80 \xE2\x82\xAC"), "\uFFFD\uFFFD\uFFFD \u20AC");
}

TEST(Lines, StayOne) { EXPECT_EQ(one_line("a\n::error::b\tc\x1b"), "a ::error::b c\\x1b"); }

TEST(Csv, NothingIsAFormula) {
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("-2+cmd|x"), "'-2+cmd|x");
  EXPECT_EQ(csv_field("+x,y"), "\"'+x,y\"");
  for (const char* text : {"-1+1", "+1-2", "--1", "+-1", "-1e", "-.", "+e", "-1.2.3"})
    EXPECT_EQ(csv_field(text), std::string("'") + text);
  for (const char* text :
       {"", "-", "+", "-1.5e-3", "+7", "-.5", "+5.", "-1E+999", "-inf", "+nan", "a=b", "5 %"})
    EXPECT_EQ(csv_field(text), text);
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
