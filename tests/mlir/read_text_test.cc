// Types, attributes, aliases, locations, pieces; texts that are cut, deep or full of anything.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "mlir/mlir_texts.h"
#include "support/folders.h"

namespace hlosim::mlir {
namespace {

namespace fs = std::filesystem;

/// Attribute k of the only operation.
const Attribute& attribute_of(const File& file, std::string_view key = "k") {
  return *file.top->regions[0].blocks[0]->operations[0]->find(key);
}
File with_attribute(const std::string& text) { return read_one("\"a.b\"() {k = " + text + "} : () -> ()"); }

template <class T>
std::vector<T> elements(const Attribute& attribute) {
  std::vector<T> values(attribute.elements.bytes.size() / sizeof(T));
  std::memcpy(values.data(), attribute.elements.bytes.data(), values.size() * sizeof(T));
  return values;
}

TEST(MlirAttribute, WrittenAgainIsTheSame) {
  for (const std::string text :
       {"unit",
        "true",
        "-1",
        "7 : i64",
        "18446744073709551615 : ui64",
        "1.5 : f32",
        "0xFF800000 : f32",
        "0.001",
        "\"a\\22b\\\\\\0A\"",
        "\"s\" : i32",
        "@f",
        "@\"a b\"::@c",
        "i32",
        "tensor<4x?xf32>",
        "(i32) -> (i32, i1)",
        "[]",
        "[1, \"x\"]",
        "{a = 1, \"b c\" = 2, d}",
        "array<i64: 1, 2>",
        "array<i1: true, false>",
        "array<i64>",
        "array<f32: 1.0, -0.5>",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
        "dense<1.5> : tensor<8xbf16>",
        "dense<(1.0, -0.0)> : tensor<complex<f32>>",
        "dense<> : tensor<0x3xf32>",
        "dense<[true, false]> : tensor<2xi1>",
        "dense_resource<__elided__> : tensor<4xf32>",
        "affine_map<(d0, d1) -> (d1, d0)>",
        "affine_set<(d0) : (d0 - 1 >= 0)>",
        "strided<[1, ?], offset: 2>",
        "#stablehlo<precision HIGHEST>",
        "#tpu.memory_space<vmem>",
        "#tpu.tiled<(8,128),[1,1]>",
        "#x.y",
        "#sdy.sharding<@m, [{\"x\":(1)2, ?}, {}]>",
        "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [], index_vector_dim = 1>",
        "#stablehlo.dot_algorithm<lhs_precision_type = tf32, allow_imprecise_accumulation = false>",
        "#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [#stablehlo.axis_ref<name = \"x\">]>",
        "loc(callsite(\"a\"(\"f\":1:2) at fused[\"b\", unknown]))",
        "tuple<i32, complex<f64>>",
        "!quant.uniform<i8:f32, 2.0:-1>",
        "memref<8x128xf32, strided<[128, 1]>, #tpu.memory_space<vmem>>",
        "vector<8x128xbf16>",
        "tensor<*xf32>",
        "dense<0x7F800000> : tensor<f32>",
        "tensor<4x?xf32, #stablehlo.bounds<?, 8>>"}) {
    const File file = with_attribute(text);
    EXPECT_EQ(to_text(attribute_of(file)), text);
  }
}

/// Empty where `text` is no attribute, or where it is written as what reads as the same again.
std::string read_otherwise(const std::string& text) {
  Arena arena;
  const Result<const Attribute*> read = read_attribute(text, arena);
  if (!read) return "";
  const std::string written = to_text(**read);
  const Result<const Attribute*> again = read_attribute(written, arena);
  const bool is_same = again && same(**read, **again) && to_text(**again) == written;
  return is_same ? "" : fmt::format("{} is written as {}", text, written);
}

/// All bodies of up to five pieces: a dialect's own syntax may look like a structure, a word, a comment.
TEST(MlirAttribute, WhateverADialectWritesReadsAgain) {
  const std::vector<std::string> pieces = {"<", ">", "n", " ", " = ", "1", ", ", "[", "]", "-", "// c\n"};
  for (const char* head : {"#d<", "#d.e<", "#d.conv<", "#sdy<", "#sdy.e<", "#stablehlo<e"}) {
    std::vector<std::string> bodies = {""};
    for (size_t at = 0, length = 0; length <= 5; ++length) {
      const size_t end = bodies.size();
      for (; at < end; ++at) {
        ASSERT_EQ(read_otherwise(head + bodies[at] + ">"), "");
        if (length == 5) continue;
        for (const std::string& piece : pieces) bodies.push_back(bodies[at] + piece);
      }
    }
  }
}

TEST(MlirAttribute, ElementsAreBytes) {
  EXPECT_EQ(elements<int8_t>(attribute_of(with_attribute("dense<[-1, 127]> : tensor<2xi8>"))),
            (std::vector<int8_t>{-1, 127}));
  EXPECT_EQ(elements<int8_t>(attribute_of(with_attribute("dense<[-1, 7, 15]> : tensor<3xi4>"))),
            (std::vector<int8_t>{-1, 7, -1}));
  EXPECT_EQ(elements<int64_t>(attribute_of(with_attribute("dense<[0, 3]> : tensor<2xindex>"))),
            (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(elements<float>(attribute_of(with_attribute("dense<[1.5, -2., 1.0e-2, 3]> : tensor<4xf32>"))),
            (std::vector<float>{1.5F, -2.0F, 0.01F, 3.0F}));
  EXPECT_EQ(elements<uint16_t>(attribute_of(with_attribute("dense<[1.0, 0x7FC0]> : tensor<2xbf16>"))),
            (std::vector<uint16_t>{0x3f80, 0x7fc0}));
  EXPECT_EQ(elements<double>(attribute_of(with_attribute("dense<[(1.0, 2.0)]> : tensor<1xcomplex<f64>>"))),
            (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(elements<int16_t>(attribute_of(with_attribute("dense<\"0x0100FEFF\"> : tensor<2xi16>"))),
            (std::vector<int16_t>{1, -2}));
}

TEST(MlirAttribute, OneElementStandsForAll) {
  EXPECT_TRUE(attribute_of(with_attribute("dense<1> : tensor<4xi32>")).elements.is_splat);
  EXPECT_TRUE(attribute_of(with_attribute("dense<\"0x01000000\"> : tensor<4xi32>")).elements.is_splat);
  EXPECT_FALSE(attribute_of(with_attribute("dense<[1, 1]> : tensor<2xi32>")).elements.is_splat);
}

TEST(MlirAttribute, BooleansOfOldTextsAreBits) {
  EXPECT_EQ(elements<int8_t>(attribute_of(with_attribute("dense<\"0x0D\"> : tensor<4xi1>"))),
            (std::vector<int8_t>{1, 0, 1, 1}));
  const File splat = with_attribute("dense<\"0xFF\"> : tensor<8xi1>");
  EXPECT_TRUE(attribute_of(splat).elements.is_splat);
  EXPECT_EQ(elements<int8_t>(attribute_of(splat)), std::vector<int8_t>{1});
}

TEST(MlirAttribute, ConvolutionsHaveOneForm) {
  const File labels = with_attribute("#stablehlo.conv<[b, 1, 0, f]x[0, 1, i, o]->[f, b, 0, 1]>");
  const File raw = with_attribute(
      "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions "
      "= "
      "[2, 1], kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, "
      "kernel_spatial_dimensions "
      "= [0, 1], output_batch_dimension = 1, output_feature_dimension = 0, output_spatial_dimensions = [2, "
      "3]>");
  EXPECT_TRUE(same(attribute_of(labels), attribute_of(raw)));
}

TEST(MlirText, AliasesStandBeforeOrBehindTheirUse) {
  const File file = read_one(R"(#a = [#b, !t]
    "a.b"() {k = #a} : () -> () loc(#l)
    #b = 7 : i32
    !t = tensor<4xf32>
    #l = loc("name"(#m))
    #m = loc("file.py":3:4))");
  EXPECT_EQ(to_text(attribute_of(file)), "[7 : i32, tensor<4xf32>]");
  const Location& location = *file.top->regions[0].blocks[0]->operations[0]->location;
  EXPECT_EQ(location.text, "name");
  EXPECT_EQ(location.inner[0]->line, 3);
}

TEST(MlirText, ResourcesStandAtTheEnd) {
  const File file = read_one(
      R"("a.b"() {k = dense_resource<r> : tensor<2xi16>, l = dense_resource<s> : tensor<2xi16>} : () -> ()
    {-# dialect_resources: { builtin: { r: "0x020000000100FFFF" } }, external_resources: { x: { y: "z" } } #-})");
  EXPECT_EQ(elements<int16_t>(attribute_of(file)), (std::vector<int16_t>{1, -1}));
  EXPECT_FALSE(attribute_of(file, "l").elements.is_given);
  EXPECT_EQ(difference(*file.top, *read_one(write_text(file)).top), "");
}

TEST(MlirText, PiecesAreFilesOfTheirOwn) {
  const std::string text =
      "#a = 1\n\"a.b\"() {k = #a} : () -> ()\n// -----\n\n// ----- more\n\"a.c\"() : () -> ()\n";
  const std::vector<File> files = read_all("pieces.mlir", text);
  ASSERT_EQ(files.size(), 2u);
  const Operation& second = *files[1].top->regions[0].blocks[0]->operations[0];
  EXPECT_EQ(files[1].source->locate(second.offset).line, 6);
  DiagnosticList findings;
  const auto broken = std::make_shared<SourceFile>("x", text + "// -----\n\"a.b\"() {k = #a} : () -> ()");
  EXPECT_EQ(read_text(broken, findings).size(), 2u);
  EXPECT_EQ(findings.error_count(), 1u);
}

TEST(MlirText, NamesMayComeAgainInRegionsBesideEachOther) {
  read_one("\"a.b\"() ({ %x = \"a.c\"() : () -> i32 }, { %x = \"a.c\"() : () -> i32 }) : () -> ()");
  read_one("func.func @f(%x: i32) { return } func.func @g(%x: i32) { return }");
}

TEST(MlirText, IsToldByItsFirstWords) {
  for (const char* text :
       {"module {}", "module @m {", "// x\n\n func.func @f", "sdy.mesh @m", "\"builtin.module\"()",
        "\"func.func\"() <{", "#loc = loc(unknown)", "#loc1=loc(x)", "!t = i32", "{-# dialect", "func @main(",
        "func private @f(", "ml_program.global private @w"})
    EXPECT_TRUE(is_mlir_text(text)) << text;
  for (const char* text :
       {"", "HloModule m", "modules {}", "# comment", "#!/bin/sh", "%x = f32[] add", "ENTRY main {",
        "{\"a\": 1}", "module_x", "func.funcs", "--- a: 1", "Compiling @jit_f", "foo @bar", "of private @f"})
    EXPECT_FALSE(is_mlir_text(text)) << text;
}

TEST(MlirText, StandsAloneInBytecode) {
  Arena arena;
  ASSERT_TRUE(read_attribute("#tpu.memory_space<vmem>", arena).has_value());
  EXPECT_EQ((*read_attribute("#tpu.memory_space<vmem>", arena))->text, "vmem");
  EXPECT_EQ((*read_type("!tpu.semaphore", arena))->word, "!tpu.semaphore");
  EXPECT_FALSE(read_attribute("#tpu.memory_space<vmem> x", arena).has_value());
  EXPECT_FALSE(read_type("tensor<", arena).has_value());
}

/// The samples of the project and, where they are, texts of others.
std::vector<fs::path> texts(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void write_and_read_again(const fs::path& file) {
  for (const File& piece : read_all(file.string(), test::file_text(file))) {
    const std::string written = write_text(piece);
    const File again = read_one(written);
    EXPECT_EQ(difference(*piece.top, *again.top), "") << file;
    EXPECT_EQ(write_text(again), written) << file;
  }
}

TEST(MlirText, WrittenAgainIsTheSame) {
  const std::vector<fs::path> own = texts(test::source_folder() / "tests" / "samples");
  ASSERT_FALSE(own.empty());
  for (const fs::path& file : own) write_and_read_again(file);
}

/// Whether the reader itself, not what reads its values, may refuse a text of `rule`.
bool may_be_refused(const std::string& rule) { return rule == "refuse" || rule == "soft-refuse"; }

TEST(MlirText, OfOthersWrittenAgainIsTheSame) {
  std::ifstream index(test::shared_folder() / "stablehlo" / "index.tsv");
  if (!index) GTEST_SKIP() << test::no_shared("stablehlo");
  size_t read = 0;
  for (std::string line; std::getline(index, line);) {
    std::vector<std::string> columns = {""};
    for (const char c : line)
      c == '\t' ? static_cast<void>(columns.emplace_back()) : columns.back().push_back(c);
    if (columns.size() < 5 || (columns[2] != "pretty" && columns[2] != "generic")) continue;
    if (may_be_refused(columns[4])) continue;
    ++read;
    write_and_read_again(test::shared_folder() / "stablehlo" / columns[0]);
  }
  EXPECT_GT(read, 0u);
}

TEST(HostileMlirText, CutAnywhereIsReadOrRefused) {
  const std::string text = test::file_text(test::source_folder() / "tests" / "samples" / "mlir_forms.mlir");
  ASSERT_FALSE(text.empty());
  for (size_t size = 0; size < text.size(); size += 1 + size % 3) {
    DiagnosticList findings;
    read_text(std::make_shared<SourceFile>("cut", text.substr(0, size)), findings);
  }
}

TEST(HostileMlirText, AnyByteAnywhereIsReadOrRefused) {
  const std::string text = test::file_text(test::source_folder() / "tests" / "samples" / "mlir_forms.mlir");
  for (size_t at = 0; at < text.size(); at += 7) {
    std::string changed = text;
    changed[at] = "\0<>(){}[]\"#!%@^:=,-0x"[at % 21];
    DiagnosticList findings;
    for (const File& file : read_text(std::make_shared<SourceFile>("changed", changed), findings))
      write_text(file);
  }
}

TEST(HostileMlirText, DeepNestingIsAnErrorNotACrash) {
  const auto repeated = [](const std::string& part, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += part;
    return out;
  };
  for (const std::string& text :
       {"\"a.b\"() {k = " + repeated("[", 100000), "\"a.b\"() {k = " + repeated("#a.b<x = ", 20000),
        "\"a.b\"() {k = " + repeated("tuple<", 100000), "\"a.b\"() {k = " + repeated("(", 100000),
        repeated("module { ", 100000), repeated("\"a.b\"() ({ ", 100000),
        "\"a.b\"() {k = " + repeated("{a = ", 100000),
        "\"a.b\"() : () -> () loc(" + repeated("\"x\"(", 100000),
        "\"a.b\"() {k = dense<" + repeated("[", 100000) + "> : tensor<" + repeated("1x", 100000) +
            "f32>} : () -> ()"}) {
    DiagnosticList findings;
    EXPECT_TRUE(read_text(std::make_shared<SourceFile>("deep", text), findings).empty());
    EXPECT_EQ(findings.error_count(), 1u) << text.substr(0, 30);
  }
}

TEST(HostileMlirText, AliasesThatMultiplyAreRefused) {
  std::string text = "!t0 = i32\n";
  for (int i = 1; i < 100; ++i) text += fmt::format("!t{} = tuple<!t{}, !t{}>\n", i, i - 1, i - 1);
  DiagnosticList findings;
  const std::string use = "func.func @f(%a: !t99) { \"a.b\"(%a) : (i32) -> () }";
  EXPECT_TRUE(read_text(std::make_shared<SourceFile>("many", text + use), findings).empty());
  ASSERT_EQ(findings.error_count(), 1u);
  EXPECT_EQ(findings.items()[0].message.substr(5), "expands to too much: aliases of aliases multiply");
}

TEST(HostileMlirText, ChainsOfAliasesAreFollowedOrRefused) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "#a" + std::to_string(i) + " = [#a" + std::to_string(i + 1) + "]\n";
  DiagnosticList findings;
  EXPECT_TRUE(read_text(std::make_shared<SourceFile>("chain", text + "#a5000 = 1\n"), findings).empty());
  EXPECT_EQ(findings.error_count(), 1u);
}

}  // namespace
}  // namespace hlosim::mlir
