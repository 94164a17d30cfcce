// Protos and texts of the same module: text → proto → text is the text.
#include "input/proto_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "hlo/cursor.h"
#include "input/hlo_file.h"
#include "input/proto_values.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;

std::vector<Module> modules_of(const SourcePtr& source) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source, op_table(), diagnostics);
  EXPECT_FALSE(diagnostics.has_errors()) << source->name() << "\n" << test::rendered(diagnostics);
  return modules;
}

/// What has no place in a proto (the compiler's configuration, notes of debuggers) doesn't come back.
bool is_kept(const Attr& attr) {
  switch (attr.key) {
    case AttrKey::kDebugAttributes:
    case AttrKey::kAliasPassthroughParams:
    case AttrKey::kAllowSpmdShardingPropagationToOutput:
    case AttrKey::kAllowSpmdShardingPropagationToParameters:
    case AttrKey::kOrigin:
    case AttrKey::kOriginRecoveryTable:
    case AttrKey::kStatistics:
      return false;
    case AttrKey::kReplicaCount:
    case AttrKey::kNumPartitions:
    case AttrKey::kFeatureGroupCount:
    case AttrKey::kBatchGroupCount:
      return attr.integer() != 1;
    case AttrKey::kChannelId:
      return attr.integer() > 0;
    case AttrKey::kIsAssociative:
      return true;
    case AttrKey::kType:
      return attr.text() == "TOTALORDER";  // any other follows from the operands
    default:
      break;
  }
  switch (attr.syntax) {
    case AttrSyntax::kBool:
      return attr.flag();
    case AttrSyntax::kInts:
      return !attr.ints().empty();
    case AttrSyntax::kMetadata:
      return attr.text() != "{}";
    default:
      return true;
  }
}

/// What text can say and the messages can't.
bool has_no_place(const std::string& error) {
  return error.find("HloProto has no place for the type f6") != std::string::npos ||
         error.find("HloProto has no place for sharding of") != std::string::npos ||  // meshes with names
         error.find("HloProto has no place for domain of") != std::string::npos ||
         error.find("HloProto has no place for channel_id of") !=
             std::string::npos ||  // 0, where one is needed
         error.find("HloProto has no place for slice_sizes of") !=
             std::string::npos;  // of collective-permute
}

/// The text of a module after a way through a proto; empty with a failure of the test.
std::string through_proto(const Module& module, const std::string& name) {
  const Result<std::string> bytes = proto_of(module);
  if (!bytes && has_no_place(bytes.error().message)) return {};
  EXPECT_TRUE(bytes) << name << ": " << bytes.error().message;
  if (!bytes) return {};
  const Result<std::string> text = text_of_proto(*bytes, name);
  EXPECT_TRUE(text) << name << ": " << text.error().message;
  return text ? *text : std::string();
}

/// The same meaning in one spelling: blanks and quotes of texts that modules keep as written.
Attr one_spelling(Module& module, const Attr& attr) {
  std::string text, written;
  if (attr.syntax == AttrSyntax::kSharding || attr.syntax == AttrSyntax::kMetadata ||
      attr.syntax == AttrSyntax::kAccuracy) {
    written = attr.text();
    const size_t comment = written.find("/*");
    if (attr.syntax == AttrSyntax::kSharding && comment != std::string::npos)
      written.erase(comment, written.find("*/") + 2 - comment);
  }
  switch (attr.syntax) {
    case AttrSyntax::kConfig:
      text = config_text(unquoted(attr.text()));
      break;
    case AttrSyntax::kFrontend: {
      Cursor in(attr.text(), 0, attr.text().size());
      std::set<std::string> entries;
      in.eat('{');
      while (!in.eat('}') && !in.at_end()) {
        const std::string key(in.word());
        std::string_view value;
        in.eat('=');
        EXPECT_TRUE(in.peek() == '{' ? in.braces(value) : in.string(value)) << attr.text();
        entries.insert(key + "=" + unquoted(value));
        in.eat(',');
      }
      for (const std::string& entry : entries) text += entry + ";";
      break;
    }
    case AttrSyntax::kSharding:
    case AttrSyntax::kMetadata:
    case AttrSyntax::kAccuracy:
      std::copy_if(written.begin(), written.end(), std::back_inserter(text),
                   [](char c) { return c > ' ' && c != ','; });
      break;
    default:
      return attr;
  }
  return Attr::make_text(attr.key, attr.syntax, module.arena().copy(std::string_view(text)));
}

/// Attributes in one order, without those that no proto has and those that say what is so without them.
std::string normal_text(Module& module) {
  const auto sorted = [&](std::span<const Attr> attrs) {
    std::vector<Attr> kept;
    std::copy_if(attrs.begin(), attrs.end(), std::back_inserter(kept), is_kept);
    for (Attr& attr : kept) attr = one_spelling(module, attr);
    std::stable_sort(kept.begin(), kept.end(), [](const Attr& a, const Attr& b) { return a.key < b.key; });
    return module.arena().copy(kept);
  };
  module.attrs = sorted(module.attrs);
  for (Instruction& instruction : module.instructions) {
    instruction.attrs = sorted(instruction.attrs);
    const Literal* literal = instruction.literal;
    if (!literal || literal->elided || !literal->shape->is_array()) continue;
    std::vector<std::byte> all(
        static_cast<size_t>(literal->shape->element_count() * byte_width(literal->shape->element_type)));
    std::copy_n(literal->data.begin(), std::min(all.size(), literal->data.size()), all.begin());
    Literal filled = *literal;
    filled.data = module.arena().copy(all);
    instruction.literal = module.arena().make<Literal>(filled);
  }
  return to_text(module, op_table());
}

/// Computations around one operation are written as `<op>-start`, where their names have no place.
bool renames_async(const Module& module) {
  return std::any_of(module.instructions.begin(), module.instructions.end(),
                     [&](const Instruction& instruction) {
                       return instruction.opcode == Opcode::kAsyncStart &&
                              !module[instruction.find(AttrKey::kCalls)->computations()[0]].is_async_sugar;
                     });
}

std::string first_difference(const std::string& a, const std::string& b) {
  size_t at = static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  at = a.rfind('\n', at) == std::string::npos ? 0 : a.rfind('\n', at) + 1;
  return "in  " + a.substr(at, a.find('\n', at) - at) + "\nout " +
         b.substr(std::min(at, b.size()), b.find('\n', at) - at);
}

TEST(ProtoCorpus, TextsComeBackFromProtos) {
  const bool all = std::getenv("HLOSIM_WHOLE_CORPUS") != nullptr;
  for (const fs::path& file : test::right_modules({.file_tests = 1, .others = all ? size_t{1} : 10}))
    for (Module& module : modules_of(*read_source(file.string()))) {
      const std::string text = through_proto(module, file.filename().string());
      if (text.empty()) continue;
      std::vector<Module> again =
          modules_of(std::make_shared<const SourceFile>(file.filename().string(), text));
      ASSERT_EQ(again.size(), 1u) << file;
      EXPECT_EQ(through_proto(again[0], file.filename().string()), text) << file;
      EXPECT_EQ(again[0].instructions.size(), module.instructions.size()) << file;
      if (renames_async(module) || renames_async(again[0])) continue;
      const std::string wanted = normal_text(module), got = normal_text(again[0]);
      EXPECT_TRUE(got == wanted) << file << "\n" << first_difference(wanted, got);
    }
}

constexpr std::string_view kText = R"(HloModule m

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}

ENTRY %main (p: f32[4,8]) -> f32[4]{0} {
  %p = f32[4,8]{1,0:T(4,128)} parameter(0), sharding={devices=[2,1]<=[2]}
  %zero = f32[] constant(-0.5)
  ROOT %r = f32[4]{0} reduce(%p, %zero), dimensions={1}, to_apply=%sum, metadata={op_name="r \"1\"" source_line=3}, backend_config={"a":1}
}
)";

constexpr std::string_view kInPlace = R"(HloModule in_place

ENTRY %main (a: u32[2,8], b: u32[4]) -> (u32[2,8]{1,0}, u32[4]{0}) {
  %a = u32[2,8]{1,0} parameter(0)
  %b = u32[4]{0} parameter(1)
  %zero = u32[] constant(0)
  %input = (u32[2,8]{1,0}, u32[4]{0}) tuple(%a, %b)
  %output = (u32[2,8]{1,0}, u32[4]{0}) tuple(%a, %b)
  %two = (u32[], u32[]) tuple(%zero, %zero)
  %one = (u32[]) tuple(%zero)
  %twos = ((u32[], u32[]), (u32[], u32[])) tuple(%two, %two)
  %ones = ((u32[]), (u32[])) tuple(%one, %one)
  %offsets = (((u32[], u32[]), (u32[], u32[])), ((u32[]), (u32[]))) tuple(%twos, %ones)
  ROOT %cp = (u32[2,8]{1,0}, u32[4]{0}) collective-permute(%input, %output, %offsets, %offsets), source_target_pairs={{0,1},{1,0},{0,1},{1,0}}, slice_sizes={{1,8},{1,4},{2},{3}}
}
)";

TEST(Proto, SlicesOfAPermuteInPlaceComeBack) {
  const Module module = test::module_or_fail(kInPlace);
  EXPECT_EQ(through_proto(module, "m"), kInPlace);
}

std::string with_frames(std::string_view frames) {
  return fmt::format(
      "HloModule m\n\nFileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n"
      "1 {{file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}}\n\n"
      "StackFrames\n{}\n\nENTRY %main (p: f32[]) -> f32[] {{\n  ROOT %p = f32[] parameter(0)\n}}\n",
      frames);
}

TEST(Proto, TextsHaveParentsOfStackFramesOneHigher) {
  const std::string higher =
      with_frames("1 {file_location_id=1 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}");
  const std::string as_they_are =
      with_frames("1 {file_location_id=1 parent_frame_id=0}\n2 {file_location_id=1 parent_frame_id=1}");
  const Module module = test::module_or_fail(higher), older = test::module_or_fail(as_they_are);
  EXPECT_EQ(through_proto(module, "m"), higher);
  EXPECT_EQ(through_proto(older, "m"), higher);
  EXPECT_EQ(*proto_of(module), *proto_of(older));
}

/// What `<op>-start` can't say is written out.
constexpr std::string_view kWrapped[] = {
    R"(HloModule Module

%async_computation {
  %p0 = f32[3]{0} parameter(0)
  %p1 = f32[3]{0} parameter(1)
  ROOT %tuple = (f32[3]{0}, f32[3]{0}) tuple(%p0, %p1)
}

ENTRY %AsyncUpdateVariadic {
  %p0 = f32[3]{0} parameter(0)
  %p1 = f32[3]{0} parameter(1)
  %async-start = ((f32[3]{0}, f32[3]{0}), (), s32[]) async-start(%p0, %p1), calls=%async_computation
  ROOT %copy = ((f32[3]{0}, f32[3]{0}), (), s32[]) copy(%async-start)
  %async-update.1 = ((f32[3]{0}, f32[3]{0}), (f32[3]{0}), s32[]) async-update(%copy)
  %async-update.2 = ((f32[3]{0}, f32[3]{0}), (f32[3]{0}, f32[3]{0}), s32[]) async-update(%async-update.1)
  %tuple = (f32[3]{0}, f32[3]{0}) async-done(%async-update.2)
}
)",  // no start of an update: a copy stands between
    R"(HloModule test

%wrapped {
  %pa = b(s32[4]{0}) parameter(0)
  ROOT %va = b(s32[4]{0}) custom-call(%pa), custom_call_target="update", output_to_operand_aliasing={ {}: (0, {}) }
}

ENTRY %main {
  %p = s32[4]{0} parameter(0)
  %b = b(s32[4]{0}) custom-call(%p), custom_call_target="Pin", output_to_operand_aliasing={ {}: (0, {}) }
  %start = ((b(s32[4]{0})), b(s32[4]{0})) async-start(%b), calls=%wrapped
  %done = b(s32[4]{0}) async-done(%start)
  ROOT %v = s32[4]{0} custom-call(%done), custom_call_target="Unpin", output_to_operand_aliasing={ {}: (0, {}) }
}
)",  // aliases of what is wrapped
};

TEST(Proto, ComputationsOfAsyncStartsStayWhereTheirSugarCantSayThem) {
  for (const std::string_view text : kWrapped) {
    const Module module = test::module_or_fail(text);
    const Result<std::string> again = text_of_proto(*proto_of(module), "m.pb");
    ASSERT_TRUE(again.has_value());
    const Module same = test::module_or_fail(*again);  // and it is right
    EXPECT_EQ(to_text(same, op_table()), to_text(module, op_table()));
  }
}

std::string varint(size_t value) {
  std::string out;
  for (; value >= 128; value /= 128) out += static_cast<char>(value % 128 + 128);
  return out + static_cast<char>(value);
}
/// A field of bytes, as protos hold it.
std::string field(size_t number, std::string_view bytes) {
  return varint(number * 8 + 2) + varint(bytes.size()) + std::string(bytes);
}

std::string module_bytes() {
  const std::string whole = *proto_of(test::module_or_fail(kText));  // HloProto { hlo_module }
  const size_t length_at = 1;
  size_t start = length_at;
  while (static_cast<unsigned char>(whole[start++]) >= 128) {
  }
  return whole.substr(start);
}

std::string message_of(const std::string& bytes) {
  const Result<std::string> text = text_of_proto(bytes, "m.pb");
  return text ? "understood" : text.error().message;
}

/// A module of one instruction with more fields.
std::string module_with(const std::string& opcode, const std::string& fields) {
  const std::string shape = field(3, varint(2 * 8) + varint(11));
  const std::string instruction =
      field(1, "x") + field(2, opcode) + shape + varint(35 * 8) + varint(1) + fields;
  const std::string computation =
      field(1, "main") + field(2, instruction) + varint(5 * 8) + varint(1) + varint(6 * 8) + varint(1);
  return field(1, field(1, "m") + field(2, "main") + field(3, computation) + varint(6 * 8) + varint(1));
}

TEST(Proto, TextComesBack) {
  const Module module = test::module_or_fail(kText);
  EXPECT_EQ(through_proto(module, "m"), kText);
  EXPECT_EQ(*proto_of(module), *proto_of(test::module_or_fail(kText)));
}

TEST(Proto, EveryMessageAroundAModuleIsRead) {
  const std::string module = module_bytes(), proto = field(1, module);
  const std::string buffers = field(1, varint(8) + varint(7)) + field(3, varint(8) + varint(1));
  const std::string literal = field(1, varint(2 * 8) + varint(11));
  for (const std::string& bytes : {module, proto, proto + field(3, buffers), field(1, proto),
                                   field(1, proto) + field(2, literal) + field(3, literal) + field(4, "cpu"),
                                   field(1, module) + field(2, literal) + varint(3 * 8) + varint(1)}) {
    const Result<std::string> text = text_of_proto(bytes, "m.pb");
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, kText);
    EXPECT_TRUE(looks_like_proto(bytes));
    const Result<SourcePtr> source = as_text(std::make_shared<const SourceFile>("m.pb", bytes));
    ASSERT_TRUE(source);
    EXPECT_EQ((*source)->text(), kText);
    EXPECT_EQ((*source)->name(), "m.pb");
  }
}

TEST(Proto, TextsAreNotTakenForProtos) {
  EXPECT_FALSE(looks_like_proto(kText));
  EXPECT_FALSE(looks_like_proto("\nHloModule m\r\n\t"));
  EXPECT_FALSE(looks_like_proto(""));
}

TEST(Proto, WhatIsNotUnderstoodIsNamed) {
  EXPECT_EQ(message_of(module_with("parameter", "")), "understood");
  const std::string flag = varint(1);
  EXPECT_EQ(message_of(module_with("parameter", varint(999 * 8) + flag)),
            "cannot read 'm.pb': the proto has field 999 of Instruction, which is not known");
  EXPECT_EQ(message_of(module_with("what", "")),
            "cannot read 'm.pb': the proto has the opcode 'what', which HLO text can't express");
  EXPECT_THAT(message_of(module_with("parameter", varint(60 * 8) + flag)),
              testing::HasSubstr("is_stable of x, which parameter has no"));
  EXPECT_THAT(message_of(module_with("parameter", varint(36 * 8) + varint(5))),
              testing::HasSubstr("operand_ids of x, a parameter"));
  EXPECT_THAT(message_of(module_with("negate", varint(36 * 8) + varint(5))),
              testing::HasSubstr("operand_ids 5 of x"));
  EXPECT_THAT(message_of(module_with("call", varint(38 * 8) + varint(5))),
              testing::HasSubstr("called_computation_ids 5 of x"));
  EXPECT_THAT(message_of(module_with("fft", varint(31 * 8) + varint(9))),
              testing::HasSubstr("9 of fft_type"));
  EXPECT_THAT(message_of(module_with("parameter", field(1, "a b"))), testing::HasSubstr("the name 'a b'"));
  EXPECT_THAT(message_of(module_with("parameter", field(3, varint(2 * 8) + varint(77)))),
              testing::HasSubstr("element_type 77"));
}

TEST(Proto, NoChannelIsLostThatAModuleNeeds) {
  const auto proto_with = [](const char* attributes) {
    const auto source = std::make_shared<const SourceFile>(
        "text",
        fmt::format("HloModule m\nENTRY e {{\n  a = f32[2] parameter(0)\n  ROOT r = f32[4] all-gather(a), "
                    "dimensions={{0}}, replica_groups={{{{0,1}}}}{}\n}}\n",
                    attributes));
    return proto_of(modules_of(source).front());
  };
  EXPECT_TRUE(proto_with(", channel_id=0"));
  EXPECT_TRUE(proto_with(", channel_id=1, use_global_device_ids=true"));
  const Result<std::string> lost = proto_with(", channel_id=0, use_global_device_ids=true");
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, testing::HasSubstr("HloProto has no place for channel_id of r"));
}

// What protos have no field for is lost where it says something.
TEST(Proto, FlagsWithoutAField) {
  const auto proto_with = [](std::string_view operands, std::string_view flag) {
    const auto source = std::make_shared<const SourceFile>(
        "text", fmt::format("HloModule m\nENTRY e {{\n  a = f32[2] parameter(0)\n  i = s32[1] parameter(1)\n"
                            "  ROOT r = f32[2] collective-broadcast({}), replica_groups={{{{0,1}}}}, "
                            "has_dynamic_root={}\n}}\n",
                            operands, flag));
    return proto_of(modules_of(source).front());
  };
  EXPECT_TRUE(proto_with("a", "false"));
  const Result<std::string> lost = proto_with("a, i", "true");
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, testing::HasSubstr("HloProto has no place for has_dynamic_root of r"));
}

TEST(Proto, EveryCutIsAnErrorOrAWholeModule) {
  const std::string whole = field(1, module_bytes());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(message_of(whole.substr(0, size)), "understood") << size;
}

TEST(Proto, DamagedBytesNeverEndTheProgram) {
  const std::string whole = field(1, module_bytes());
  for (size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(value);
      EXPECT_FALSE(message_of(bytes).empty());
    }
}

}  // namespace
}  // namespace hlosim
