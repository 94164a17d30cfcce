// The page: that it holds what the JSON says, that nothing breaks out of it, that it is one well-formed file.
#include "report/html/html.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "ops/op_table.h"
#include "report/html/html_data.h"
#include "report/report_json.h"
#include "report/source_place.h"
#include "support/estimated.h"

namespace hlosim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using OrderedJson = nlohmann::ordered_json;

std::string unpacked(std::string_view base64) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t word = 0;
  int bits = 0;
  for (const char c : base64) {
    if (c == '=') break;
    const size_t digit = kDigits.find(c);
    EXPECT_NE(digit, std::string_view::npos) << c;
    word = word << 6 | static_cast<uint32_t>(digit);
    if ((bits += 6) >= 8) bytes += static_cast<char>(word >> (bits -= 8) & 255);
  }
  std::string text(20'000'000, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

/// What a browser makes of a column.
std::vector<OrderedJson> values_of(const OrderedJson& column, size_t rows) {
  std::vector<OrderedJson> values;
  int64_t sum = 0;
  for (size_t i = 0; i < rows; ++i) {
    if (column.contains("c"))
      values.push_back(column["c"]);
    else if (column.contains("d"))
      values.push_back(sum += column["d"][i].get<int64_t>());
    else if (column.contains("n"))
      values.push_back(column["n"][i]);
    else
      values.push_back(column["i"][i] < 0 ? OrderedJson(nullptr) : column["s"][column["i"][i].get<size_t>()]);
  }
  return values;
}

/// Columns as rows again, "a/space/b" as lists per space without what is zero.
OrderedJson rows_of(const OrderedJson& table, const OrderedJson& like) {
  OrderedJson rows = OrderedJson::array();
  const auto count = table["rows"].get<size_t>();
  for (size_t i = 0; i < count; ++i) rows.push_back(OrderedJson::object());
  for (const auto& [key, column] : table["columns"].items()) {
    const std::vector<OrderedJson> values = values_of(column, count);
    for (size_t i = 0; i < count; ++i) {
      const size_t slash = key.find('/');
      if (slash == std::string::npos) {
        rows[i][key] = values[i];
        continue;
      }
      const size_t second = key.find('/', slash + 1);
      const std::string list = key.substr(0, slash), space = key.substr(slash + 1, second - slash - 1);
      for (const OrderedJson& expected : like[i][list])
        if (expected["space"] == space) {
          EXPECT_EQ(expected[key.substr(second + 1)], values[i]) << key;
        }
      rows[i][list] = like[i][list];
    }
  }
  return rows;
}

struct Page {
  test::Estimated estimated;
  HtmlModule part;
  std::string text;
};

Page page_of(std::string_view module, const std::string& device = "v5e", const HtmlOptions& options = {}) {
  Page page;
  page.estimated = test::estimated(module, device);
  page.part = html_module(op_table(), page.estimated.device, page.estimated.estimate, page.estimated.report,
                          "1.2.3", options);
  page.text = html_page({&page.part, 1});
  return page;
}

constexpr std::string_view kEmpty = "HloModule m\nENTRY e { ROOT t = () tuple() }";
constexpr std::string_view kOtherSpace =
    "HloModule m\nENTRY e { a = f32[4]{0:S(9)} parameter(0) ROOT b = f32[4] negate(a) }";

TEST(Html, HoldsWhatTheJsonSays) {
  for (const std::string_view module : {test::kManyThings, kEmpty, kOtherSpace}) {
    const Page page = page_of(module);
    const OrderedJson json = OrderedJson::parse(to_json(page.estimated.report, "1.2.3"));
    const OrderedJson data = OrderedJson::parse(unpacked(page.part.report));
    for (const auto& [key, expected] : json.items()) {
      const OrderedJson& found = data[key];
      const bool is_table = found.is_object() && found.contains("rows") && found.contains("columns");
      if (!is_table) {
        EXPECT_EQ(found.dump(), expected.dump()) << key;
        continue;
      }
      ASSERT_EQ(found["rows"], expected.size()) << key;
      const OrderedJson rows = rows_of(found, expected);
      for (size_t i = 0; i < rows.size(); ++i)
        for (const auto& [member, value] : expected[i].items())
          EXPECT_EQ(rows[i][member].dump(), value.dump()) << key << "[" << i << "]." << member;
    }
  }
}

TEST(Html, ColumnsKeepEveryValue) {
  const std::string big = "9223372036854775807";
  const OrderedJson data = OrderedJson::parse(columns_of(
      R"({"rows":[{"a":1,"b":null,"c":"x","d":1.5,"e":)" + big +
      R"(},{"a":-7,"b":3,"c":null,"d":2,"e":0},{"a":9007199254740993,"b":3,"c":"x","d":2,"e":1,"late":4}],"list":[1,2]})"));
  EXPECT_EQ(data["list"].dump(), "[1,2]");
  const OrderedJson& columns = data["rows"]["columns"];
  const auto text = [&](const std::string& key) { return OrderedJson(values_of(columns[key], 3)).dump(); };
  EXPECT_EQ(text("a"), "[1,-7,9007199254740993]");
  EXPECT_EQ(text("b"), "[null,3,3]");
  EXPECT_EQ(text("c"), R"(["x",null,"x"])");
  EXPECT_EQ(text("d"), "[1.5,2,2]");
  EXPECT_EQ(text("e"), "[" + big + ",0,1]");
  EXPECT_EQ(text("late"), "[null,null,4]");
}

TEST(Html, TimelineIsTheTrace) {
  const Page page = page_of(test::kManyThings);
  const Trace trace = make_trace(op_table(), page.estimated.device, page.estimated.estimate);
  const OrderedJson data = OrderedJson::parse(unpacked(page.part.timeline));
  EXPECT_EQ(data["total_ps"], page.estimated.report.totals().makespan.count());
  EXPECT_EQ(data["tracks"], OrderedJson(trace.tracks));
  ASSERT_EQ(data["slices"]["rows"], trace.slices.size());
  const auto column = [&](const std::string& key) {
    return values_of(data["slices"]["columns"][key], trace.slices.size());
  };
  const auto instruction = column("instruction"), start = column("start_ps"), length = column("length_ps");
  for (size_t i = 0; i < trace.slices.size(); ++i) {
    EXPECT_EQ(page.estimated.report.instructions[instruction[i].get<size_t>()].name,
              trace.instructions[static_cast<size_t>(trace.slices[i].instruction)].name);
    EXPECT_EQ(start[i], trace.slices[i].start.count());
    EXPECT_EQ(length[i], (trace.slices[i].end - trace.slices[i].start).count());
  }
}

TEST(Html, BuffersOfASpaceLieApartAndBelowItsAllocatedBytes) {
  const Page page = page_of(test::kManyThings);
  const OrderedJson data = OrderedJson::parse(unpacked(page.part.memory));
  EXPECT_TRUE(data["same_order"]);
  const auto rows = data["buffers"]["rows"].get<size_t>();
  ASSERT_GT(rows, 3u);
  const auto column = [&](const std::string& key) {
    return values_of(data["buffers"]["columns"][key], rows);
  };
  const auto space = column("space"), offset = column("offset"), bytes = column("bytes"),
             first = column("first_step"), last = column("last_step"), name = column("name");
  for (size_t a = 0; a < rows; ++a) {
    for (const OrderedJson& known : data["spaces"])
      if (known["number"] == space[a]) {
        EXPECT_LE(offset[a].get<int64_t>() + bytes[a].get<int64_t>(), known["allocated_bytes"]) << name[a];
      }
    for (size_t b = 0; b < a; ++b) {
      // One may be made where another is read for the last time.
      const bool apart = space[a] != space[b] || last[a] <= first[b] || last[b] <= first[a] ||
                         offset[a].get<int64_t>() + bytes[a].get<int64_t>() <= offset[b] ||
                         offset[b].get<int64_t>() + bytes[b].get<int64_t>() <= offset[a];
      EXPECT_TRUE(apart) << name[a] << " and " << name[b];
    }
  }
}

TEST(Html, PeaksAreThoseOfTheReport) {
  for (const char* device : {"v5e", "unit"}) {
    const Page page = page_of(test::kManyThings, device);
    const OrderedJson data = OrderedJson::parse(unpacked(page.part.memory));
    size_t compared = 0;
    for (const ReportSpace& space : page.estimated.report.spaces)
      for (const OrderedJson& found : data["spaces"]) {
        if (found["number"] != space.number) continue;
        EXPECT_EQ(found["peak_bytes"], space.peak.count()) << space.name;
        EXPECT_EQ(found["peak_step"], space.peak_step) << space.name;
        const auto at =
            values_of(found["at_step"]["columns"]["bytes"], found["at_step"]["rows"].get<size_t>());
        EXPECT_EQ(*std::max_element(at.begin(), at.end()), space.peak.count());
        ++compared;
      }
    EXPECT_GE(compared, 2u);
  }
}

TEST(Html, LinesOfTheText) {
  const Page page = page_of(test::kManyThings);
  EXPECT_EQ(unpacked(page.part.text), test::kManyThings);
  // The second of several modules of a file.
  std::vector<Module> modules = test::read_or_fail(
      "HloModule a\nENTRY e { ROOT p = f32[2] parameter(0) }\n\n// two\nHloModule b\nENTRY e {\n  p = "
      "f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n\nHloModule c\nENTRY e { ROOT p = f32[2] "
      "parameter(0) }\n");
  ASSERT_EQ(modules.size(), 3u);
  DiagnosticList diagnostics;
  ASSERT_TRUE(verify(modules[1], op_table(), diagnostics));
  const Device device = test::device_or_fail("unit");
  const Result<Estimate> estimate = hlosim::estimate(modules[1], op_table(), device, {{}, Lowering::kNever});
  ASSERT_TRUE(estimate);
  const Report report = make_report(modules[1], op_table(), device, *estimate);
  const ModuleText text = module_text(op_table(), report);
  EXPECT_EQ(text.text, "HloModule b\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}\n");
  EXPECT_EQ(text.first_line, 5);
  ASSERT_EQ(text.lines.size(), 1u);
  EXPECT_EQ(text.lines[0], 8);
}

TEST(Html, LinesOfAModuleThatWasLowered) {
  Module module = test::module_or_fail(
      "HloModule plain\nENTRY e { a = f32[512,512] parameter(0) b = f32[512,512] exponential(a) c = "
      "f32[512,512] "
      "negate(b) ROOT d = f32[512,512] dot(c, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} }");
  const Device device = test::device_or_fail("v5e");
  const Result<Estimate> estimate = hlosim::estimate(module, op_table(), device, {});
  ASSERT_TRUE(estimate);
  const Report report = make_report(module, op_table(), device, *estimate);
  ASSERT_TRUE(report.is_lowered);
  const ModuleText text = module_text(op_table(), report);
  EXPECT_TRUE(text.is_lowered);
  std::vector<std::string> lines(1);
  for (const char c : text.text) c == '\n' ? lines.emplace_back() : lines.back() += c, void();
  ASSERT_GT(text.lines.size(), 0u);
  for (size_t i = 0; i < text.lines.size(); ++i) {
    ASSERT_GT(text.lines[i], 0);
    EXPECT_THAT(lines[static_cast<size_t>(text.lines[i] - 1)],
                HasSubstr("%" + std::string(report.instructions[i].name) + " = "));
  }
}

/// Tags that aren't closed, or are twice; what is in scripts and styles is text.
std::vector<std::string> problems_of(std::string_view html) {
  std::vector<std::string> problems, open;
  const std::string empty[] = {"meta", "link", "!DOCTYPE", "br", "input"};
  for (size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at)) {
    const size_t end = html.find('>', at);
    if (end == std::string_view::npos) return {"a tag without end"};
    std::string name;
    bool closes = html[at + 1] == '/';
    for (size_t i = at + 1 + closes; i < end && !std::isspace(static_cast<unsigned char>(html[i])); ++i)
      name += html[i];
    at = end + 1;
    if (std::find(std::begin(empty), std::end(empty), name) != std::end(empty)) continue;
    if (!closes) {
      open.push_back(name);
      if (name == "script" || name == "style") at = html.find("</" + name, at);
      continue;
    }
    if (open.empty() || open.back() != name) problems.push_back("</" + name + ">");
    if (!open.empty()) open.pop_back();
  }
  for (const std::string& name : open) problems.push_back("<" + name + "> stays open");
  return problems;
}

TEST(Html, IsOneWellFormedFile) {
  for (const std::string_view module : {test::kManyThings, kEmpty, kOtherSpace}) {
    const std::string page = page_of(module).text;
    EXPECT_THAT(problems_of(page), IsEmpty());
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n"));
    EXPECT_THAT(page, HasSubstr("<title>m"));
    EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark that wasn't filled";
    EXPECT_LT(page.size(), 240'000u);
    // Nothing is loaded: no address of another place, no element or rule that loads one.
    for (const char* what :
         {"http:", "https:", "//cdn", "@import", "url(", " src=", "fetch(", "XMLHttpRequest", "import("})
      EXPECT_EQ(page.find(what), std::string::npos) << what;
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  }
  EXPECT_THAT(problems_of("<p><b></p></b>"), testing::SizeIs(2));
}

TEST(Html, IsTheSameEachTime) { EXPECT_EQ(page_of(test::kManyThings).text, page_of(test::kManyThings).text); }

constexpr std::string_view kHostile =
    R"(</script><script>window.hacked=1</script><img src=x onerror="window.hacked=2">)";

TEST(Html, NothingBreaksOut) {
  std::string op_name;
  for (const char c : kHostile) op_name += c == '"' ? std::string("\\\"") : std::string(1, c);
  const std::string text =
      "HloModule many\nENTRY e {\n  a = f32[8,128] parameter(0), metadata={op_name=\"" + op_name +
      " \u2028 \u00e9 \xff \x01 ]]> --> {{plain}}\" source_file=\"<b>'&\\\".py\" source_line=3}\n"
      "  ROOT b = f32[8,128] custom-call(a), custom_call_target=\"</style></noscript><script>alert(1)\", "
      "metadata={op_name=\"" +
      op_name + "\"}\n}\n";
  Page page;
  page.estimated = test::estimated(text, "v5e");
  Report& report = page.estimated.report;
  report.module_name = std::string(kHostile) + std::string(1, '\0') + "\x1b";
  report.device_name = "TPU <i>\"'&";
  report.assumptions.push_back({std::string(kHostile), 1, ""});
  page.part = html_module(op_table(), page.estimated.device, page.estimated.estimate, report, kHostile);
  page.text = html_page({&page.part, 1});
  EXPECT_THAT(problems_of(page.text), IsEmpty());
  EXPECT_THAT(page.text, Not(HasSubstr("window.hacked=1</script>")));
  EXPECT_THAT(page.text, Not(HasSubstr("<img")));
  EXPECT_THAT(page.text, Not(HasSubstr("<i>")));
  EXPECT_EQ(page.text.find('\0'), std::string::npos);
  EXPECT_EQ(page.text.find('\x1b'), std::string::npos);
  // As many scripts as there are: four of data, the units' names, and the page's own.
  size_t scripts = 0;
  for (size_t at = page.text.find("</script"); at != std::string::npos;
       at = page.text.find("</script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 6u);
  const OrderedJson data = OrderedJson::parse(unpacked(page.part.report));
  EXPECT_THAT(data["assumptions"].dump(), HasSubstr("window.hacked=2"));
}

TEST(Html, LoopsShowTheirFirstIterationsWhereAllAreTooMany) {
  const OrderedJson all = OrderedJson::parse(unpacked(page_of(test::kManyThings).part.timeline));
  EXPECT_EQ(all["shown_iterations"], 0);
  const OrderedJson few =
      OrderedJson::parse(unpacked(page_of(test::kManyThings, "v5e", {.max_slices = 1}).part.timeline));
  EXPECT_GT(few["shown_iterations"], 0);
  EXPECT_LT(few["slices"]["rows"], all["slices"]["rows"]);
}

TEST(Html, SeveralModules) {
  const Page a = page_of(test::kManyThings), b = page_of(kEmpty);
  const HtmlModule parts[] = {a.part, b.part};
  const std::string page = html_page(parts);
  EXPECT_THAT(problems_of(page), IsEmpty());
  EXPECT_THAT(page, HasSubstr("data-module=\"1\" data-part=\"report\""));
  EXPECT_THAT(page, HasSubstr(" and 1 more</title>"));
}

TEST(Html, SavedReportsAndTheirDifference) {
  const Page page = page_of(test::kManyThings);
  const HtmlModule saved = html_module(to_json(page.estimated.report, "1.2.3"));
  EXPECT_EQ(saved.title, page.part.title);
  EXPECT_EQ(saved.timeline, "");
  const OrderedJson report = OrderedJson::parse(unpacked(saved.report)),
                    whole = OrderedJson::parse(unpacked(page.part.report));
  EXPECT_EQ(report["instructions"], whole["instructions"]);
  const std::string diff = R"({"metrics":[{"metric":"time_ps"}],"name":"</script>"})";
  const HtmlModule sides[] = {saved, page.part};
  const std::string text = html_page(sides, diff);
  EXPECT_THAT(problems_of(text), IsEmpty());
  EXPECT_THAT(text, HasSubstr("data-title=\"before: many on TPU v5e\""));
  EXPECT_THAT(text, HasSubstr("data-title=\"after: many on TPU v5e\""));
  const size_t at = text.find("data-part=\"diff\"");
  ASSERT_NE(at, std::string::npos);
  const size_t begin = text.find('>', at) + 1;
  EXPECT_EQ(unpacked(std::string_view(text).substr(begin, text.find('<', begin) - begin)), diff);
}

TEST(SourcePlaces, AreThoseOfTheMetadata) {
  const Module module = test::module_or_fail(R"(HloModule m, entry_computation_layout={(f32[])->f32[]}

FileNames
1 "<embedded module>"
2 "yet/another/test.py"

FunctionNames
1 "main"
2 "method"

FileLocations
1 {file_name_id=1 function_name_id=1 line=153 end_line=153 column=2 end_column=31}
2 {file_name_id=2 function_name_id=2 line=35 end_line=36 column=2 end_column=24}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

ENTRY e {
  a = f32[] parameter(0), metadata={op_name="source_line=9" source_file="a \"b\".py" source_line=12}
  b = f32[] negate(a), metadata={op_type="neg" stack_frame_id=2}
  c = f32[] negate(b), metadata={op_name="source_file" stack_frame_id=7}
  ROOT d = f32[] negate(c)
}
)");
  const SourcePlaces places(module);
  const auto place = [&](std::string_view name) {
    for (const Instruction& instruction : module.instructions)
      if (instruction.name == name) return places.of(instruction);
    return SourcePlace{};
  };
  EXPECT_EQ(place("a").file, "a \\\"b\\\".py");
  EXPECT_EQ(place("a").line, 12);
  EXPECT_EQ(place("b").file, "yet/another/test.py");
  EXPECT_EQ(place("b").line, 35);
  EXPECT_EQ(place("c").file, "");
  EXPECT_EQ(place("d").line, 0);
}

/// The stack of the only addition of a module with these frames.
std::string stack_of_addition(std::string_view frames) {
  const Module module =
      test::module_or_fail(fmt::format(R"(HloModule m, entry_computation_layout={{(f32[])->f32[]}}

FileNames
1 "<embedded \'a\'>"
2 "b.py"

FunctionNames
1 "main"

FileLocations
1 {{file_name_id=1 function_name_id=1 line=153 end_line=153 column=2 end_column=31}}
2 {{file_name_id=2 function_name_id=1 line=35 end_line=36 column=4 end_column=24}}

StackFrames
{}

ENTRY e {{
  a = f32[] parameter(0)
  ROOT b = f32[] add(a, a), metadata={{op_name="x" stack_frame_id=2 deduplicated_name="add"}}
}}
)",
                                       frames));
  const Instruction& addition = module.root(module.entry);
  EXPECT_EQ(metadata_value(addition, "deduplicated_name"), "add");
  EXPECT_EQ(metadata_value(addition, "source_file"), "");
  return SourcePlaces(module).stack_of(addition);
}

TEST(SourcePlaces, HaveTheCallsThatLedThere) {
  // Parents one higher than they are, and as they are.
  EXPECT_EQ(
      stack_of_addition("1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=2}"),
      "<embedded 'a'>:153:2\nb.py:35:4\n");
  EXPECT_EQ(
      stack_of_addition("1 {file_location_id=1 parent_frame_id=0}\n2 {file_location_id=2 parent_frame_id=1}"),
      "<embedded 'a'>:153:2\nb.py:35:4\n");
  EXPECT_EQ(
      stack_of_addition("1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=2 parent_frame_id=1}"),
      "b.py:35:4\n");
  // Around and around ends, too.
  EXPECT_EQ(
      stack_of_addition("1 {file_location_id=1 parent_frame_id=3}\n2 {file_location_id=2 parent_frame_id=2}"),
      "<embedded 'a'>:153:2\nb.py:35:4\n");
  EXPECT_EQ(stack_of_addition("7 {file_location_id=1 parent_frame_id=0}"), "");
}

}  // namespace
}  // namespace hlosim
