#include "base/value.h"

#include <gmock/gmock.h>

namespace hlosim {
namespace {

using testing::HasSubstr;

SourcePtr text_file(std::string text) {
  return std::make_shared<const SourceFile>("t.yaml", std::move(text));
}

Value parsed(std::string text) {
  DiagnosticList problems;
  std::optional<Value> value = parse_yaml(text_file(std::move(text)), problems);
  EXPECT_TRUE(value) << (problems.items().empty() ? "" : render(problems.items()[0]));
  return value.value_or(Value{});
}

std::string refused(std::string text) {
  DiagnosticList problems;
  EXPECT_FALSE(parse_yaml(text_file(std::move(text)), problems));
  std::string out;
  for (const Diagnostic& problem : problems.items()) out += render(problem);
  return out;
}

TEST(ParseYaml, ValuesKnowTheirPlace) {
  const std::string text = "a: 1.05 GHz\nb:\n  - x\n  - {c: \"two words\"}\n";
  const Value root = parsed(text);
  ASSERT_TRUE(root.is_map());
  EXPECT_EQ(root.find("a")->text, "1.05 GHz");
  EXPECT_EQ(root.find("a")->offset, text.find("1.05"));
  const Value& list = *root.find("b");
  ASSERT_TRUE(list.is_list());
  EXPECT_EQ(list.key_offset, text.find("b:"));
  EXPECT_EQ(list.items[0].text, "x");
  const Value& inner = *list.items[1].find("c");
  EXPECT_EQ(inner.text, "two words");
  EXPECT_EQ(inner.offset, text.find("\"two"));
  EXPECT_EQ(root.find("missing"), nullptr);
}

TEST(ParseYaml, PlacesSurviveMarksUmlautsAndLineEnds) {
  const std::string text = "\xef\xbb\xbf# \xc3\xa4\xe2\x82\xac\r\nkey: \xc3\xbc\r\nother: v\r\n";
  const Value root = parsed(text);
  EXPECT_EQ(root.find("key")->text, "\xc3\xbc");
  EXPECT_EQ(root.find("other")->offset, text.find("v\r"));
}

TEST(ParseYaml, EmptyTextsAreNothing) {
  EXPECT_TRUE(parsed("").is_null());
  EXPECT_TRUE(parsed("# only words\n").is_null());
  EXPECT_TRUE(parsed("a:\n").find("a")->is_null());
  EXPECT_TRUE(parsed("a: ~\n").find("a")->is_null());
  EXPECT_TRUE(parsed("a: \"~\"\n").find("a")->is_scalar());
}

TEST(ParseYaml, AliasesAreExpanded) {
  const Value root = parsed("a: &x {n: 1}\nb: *x\nc: [*x, *x]\n");
  EXPECT_EQ(root.find("b")->find("n")->text, "1");
  EXPECT_EQ(root.find("b")->key, "b");
  EXPECT_EQ(root.find("c")->items[1].find("n")->text, "1");
}

TEST(ParseYaml, AliasesOfAliasesDontExplode) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) text += (j ? ", *a" : "*a") + std::to_string(i - 1);
    text += "]\n";
  }
  EXPECT_THAT(refused(text), HasSubstr("more than 100000 values, aliases expanded"));
}

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(ParseYaml, AliasesOfALongListStopAtTheLimit) {
  const std::string list = "a: &a [" + repeated("x, ", 90'000) + "]\n";
  EXPECT_THAT(refused(list + "b: [" + repeated("*a, ", 60'000) + "]\n"),
              HasSubstr("t.yaml:1:4: error: YAML: more than 100000 values, aliases expanded"));
  const std::string shorter = "a: &a [" + repeated("x, ", 40'000) + "]\n";
  EXPECT_THAT(refused(shorter + "b: [" + repeated("*a, ", 60'000) + "]\n"),
              HasSubstr("t.yaml:2:5: error: YAML: more than 100000 values, aliases expanded"));
}

TEST(ParseYaml, AliasesRepeatBoundedText) {
  const std::string text = std::string(1 << 16, 'x');  // 256 times 16 MiB, the anchor's own copy among them
  EXPECT_EQ(parsed("a: &a " + text + "\nb: [" + repeated("*a, ", 255) + "]\n").find("b")->items.size(), 255u);
  EXPECT_THAT(refused("a: &a " + text + "\nb: [" + repeated("*a, ", 60'000) + "]\n"),
              HasSubstr("t.yaml:2:1025: error: YAML: more than 16 MiB of text, aliases expanded"));
  // Keys are text, too; and so is what lists of lists hold.
  const std::string sixteen = "[" + repeated("*a, ", 16) + "]\n", eight = "[" + repeated("*b, ", 8) + "]\n";
  EXPECT_EQ(parsed("a: &a [{? " + text + " : v}]\nb: &b " + sixteen + "c: " + eight).items.size(), 3u);
  EXPECT_THAT(refused("a: &a [{? " + text + " : v}]\nb: &b " + sixteen + "c: " + eight + "d: " + eight),
              HasSubstr("t.yaml:4:25: error: YAML: more than 16 MiB of text, aliases expanded"));
}

TEST(ParseYaml, NestedAnchorsStopAtTheLimit) {
  std::string text = "a: ";
  for (int i = 0; i < 100; ++i) text += "&n" + std::to_string(i) + " [";
  text += repeated("x, ", 50'000) + repeated("]", 100) + "\n";
  EXPECT_THAT(refused(text), HasSubstr("more than 100000 values, aliases expanded"));
}

TEST(ParseYaml, OfManyDuplicateKeysEveryOneIsCounted) {
  std::string text;
  for (int i = 0; i < 24'000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  text += repeated("key23999: 2\n", 24'000);
  DiagnosticList problems;
  EXPECT_FALSE(parse_yaml(text_file(text), problems));
  EXPECT_EQ(problems.error_count(), 24'000u);
}

TEST(ParseYaml, DeepNestingIsAnError) {
  EXPECT_THAT(refused("a: " + std::string(100000, '[') + "\n"),
              HasSubstr("t.yaml:1:1: error: YAML: nested too deeply"));
}

TEST(ParseYaml, EveryDuplicateKeyIsReported) {
  const std::string all = refused("a: 1\nb: 2\na: 3\nb: 4\n");
  EXPECT_THAT(all, HasSubstr("t.yaml:3:1: error: key \"a\" is given twice"));
  EXPECT_THAT(all, HasSubstr("hint: first on line 1"));
  EXPECT_THAT(all, HasSubstr("t.yaml:4:1: error: key \"b\" is given twice"));
}

TEST(ParseYaml, BytesThatAreNoText) {
  EXPECT_THAT(refused(std::string("a: 1\0b", 6)), HasSubstr("byte 0x00 has no place in a YAML text"));
  EXPECT_THAT(refused("\xff\xfe"
                      "a: 1"),
              HasSubstr("t.yaml:1:1: error: byte 0xff"));
}

TEST(ParseYaml, PiecesOfATextNeverCrash) {
  const std::string text =
      "a: &x {n: [1, 2], m: \"s\\n\"}\nb: *x\nc: |\n  block\n  text\nd: >-\n  folded\n? q\n: r\ne: !!str "
      "3\n--- \nf: '\xc3\xa4'\n";
  for (size_t from = 0; from < text.size(); ++from) {
    for (size_t count = 0; from + count <= text.size(); count += 3) {
      DiagnosticList problems;
      const auto value = parse_yaml(text_file(text.substr(from, count)), problems);
      EXPECT_NE(value.has_value(), problems.has_errors());
    }
  }
}

TEST(YamlQuoted, ReadsBack) {
  for (const std::string text : {"plain", "with \"quotes\" and \\", "tab\tline\nend", "\xc3\xa4", ": # - {"})
    EXPECT_EQ(parsed("a: " + yaml_quoted(text) + "\n").find("a")->text, text);
}

}  // namespace
}  // namespace hlosim
