#include "mlir_bytecode/read_bytecode.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/artifact_writer.h"
#include "support/folders.h"

namespace hlosim::mlir {
namespace {

using test::ArtifactOperation;
using test::ArtifactWriter;
using test::number;
using test::numbers;
using test::signed_number;
using ::testing::HasSubstr;

Result<File> read(const std::string& bytes) {
  return read_bytecode(std::make_shared<SourceFile>("small.mlir.bc", bytes));
}

const Operation& function_of(const File& file) { return *file.top->regions[0].blocks[0]->operations[0]; }
const Operation& first_of(const File& file) { return *function_of(file).regions[0].blocks[0]->operations[0]; }

class EveryVersion : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ReadBytecode, EveryVersion, ::testing::Range(0, 7));

TEST_P(EveryVersion, AnAdditionIsReadAsStableHlo) {
  const Result<File> file = read(test::small_artifact(GetParam()));
  ASSERT_TRUE(file.has_value()) << render(file.error());
  EXPECT_EQ(file->producer, "StableHLO_v1.13.1");
  EXPECT_EQ(file->top->name, "builtin.module");
  const Operation& function = function_of(*file);
  EXPECT_EQ(function.name, "func.func");
  EXPECT_EQ(function.find("sym_name")->text, "f");
  EXPECT_EQ(function.find("sym_visibility")->text, "public");
  EXPECT_EQ(function.find("arg_attrs"), nullptr);
  EXPECT_EQ(function.find("function_type")->type->members.size(), 2u);
  const Block& body = *function.regions[0].blocks[0];
  ASSERT_EQ(body.operations.size(), 2u);
  const Operation& add = *body.operations[0];
  EXPECT_EQ(add.name, "stablehlo.add");
  EXPECT_THAT(add.operands, ::testing::ElementsAre(body.arguments[0], body.arguments[1]));
  EXPECT_EQ(add.results[0]->owner, &add);
  EXPECT_THAT(add.results[0]->type->dims, ::testing::ElementsAre(2, 3));
  EXPECT_EQ(add.results[0]->type->element->word, "f32");
  EXPECT_EQ(body.operations[1]->name, "func.return");
  EXPECT_EQ(body.operations[1]->operands[0], add.results[0]);
}

TEST_P(EveryVersion, CastsOfTheBuiltinDialectAreOperations) {
  const Result<File> file = read(test::artifact_of(GetParam(), [](ArtifactWriter&) {
    return ArtifactOperation{"unrealized_conversion_cast", {}, "builtin", 1};
  }));
  ASSERT_TRUE(file.has_value()) << render(file.error());
  const Operation& cast = first_of(*file);
  EXPECT_EQ(cast.name, "builtin.unrealized_conversion_cast");
  EXPECT_EQ(cast.operands.size(), 1u);
  EXPECT_THAT(cast.results[0]->type->dims, ::testing::ElementsAre(2, 3));
}

TEST_P(EveryVersion, CutAnywhereItIsAnErrorWithItsPlace) {
  const std::string whole = test::small_artifact(GetParam());
  for (size_t size = 4; size < whole.size(); ++size) {
    const Result<File> file = read(whole.substr(0, size));
    ASSERT_FALSE(file.has_value()) << size;
    EXPECT_LE(file.error().offset, size);
    EXPECT_THAT(render(file.error()), HasSubstr("small.mlir.bc: error: "));
    EXPECT_THAT(render(file.error()), HasSubstr(" at byte "));
  }
}

TEST_P(EveryVersion, WithOneByteChangedThereIsAnAnswer) {
  const std::string whole = test::small_artifact(GetParam());
  size_t read_still = 0;
  for (size_t at = 4; at < whole.size(); ++at)
    for (int change = 1; change < 256; change = change < 128 ? 2 * change : change + 127) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const Result<File> file = read(changed);
      read_still += file.has_value();
      EXPECT_TRUE(file.has_value() || file.error().offset <= whole.size());
    }
  EXPECT_GT(read_still, 0u);  // names with other letters
}

std::string message_of(const std::string& bytes) {
  const Result<File> file = read(bytes);
  return file ? "read" : render(file.error());
}

TEST(ReadBytecode, NewerContainersAreRefused) {
  std::string bytes = test::small_artifact(6);
  bytes[4] = 7 << 1 | 1;
  EXPECT_THAT(
      message_of(bytes),
      HasSubstr("bytecode of version 7, written by StableHLO_v1.13.1; the newest that is known is 6"));
}

TEST(ReadBytecode, OperationsOfNewerVersionsAreRefusedNamingThemAndTheirWriter) {
  const auto bytes = test::artifact_of(
      6,
      [](ArtifactWriter&) {
        return ArtifactOperation{"add_v99", {}};
      },
      "StableHLO_v9.9.9");
  EXPECT_THAT(message_of(bytes), HasSubstr("the operation vhlo.add_v99 isn't known"));
  EXPECT_THAT(message_of(bytes), HasSubstr("written by StableHLO_v9.9.9"));
}

TEST(ReadBytecode, PropertiesThatAreTooShortOrTooLongAreRefused) {
  EXPECT_THAT(message_of(test::artifact_of(6,
                                           [](ArtifactWriter&) {
                                             return ArtifactOperation{"transpose_v1", {}};
                                           })),
              HasSubstr("ends too early"));
  EXPECT_THAT(
      message_of(test::artifact_of(6,
                                   [](ArtifactWriter& out) {
                                     return ArtifactOperation{"add_v1", {{"x", out.vhlo_string("x")}}};
                                   })),
      HasSubstr("1 bytes too many of the properties of stablehlo.add"));
}

uint64_t list(ArtifactWriter& out, const std::vector<int64_t>& values) {
  const uint64_t i64 = out.type("vhlo", number(14));
  const uint64_t tensor = out.type(
      "vhlo", number(20) + number(1) + signed_number(static_cast<int64_t>(values.size())) + number(i64));
  std::string bytes(values.size() * 8, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t byte = 0; byte < 8; ++byte) bytes[8 * i + byte] = static_cast<char>(values[i] >> (8 * byte));
  return out.attribute("vhlo", numbers({15, tensor}) + test::blob(bytes));
}

class WithAndWithoutProperties : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(ReadBytecode, WithAndWithoutProperties, ::testing::Values(3, 6));

TEST_P(WithAndWithoutProperties, DimensionNumbersBecomeOneStructure) {
  const Result<File> file = read(test::artifact_of(GetParam(), [](ArtifactWriter& out) {
    const uint64_t none = list(out, {}), one = list(out, {1});
    const uint64_t precision = out.attribute("vhlo", numbers({11, 2}));
    return ArtifactOperation{
        "dot_general_v1",
        {{"lhs_batching_dimensions", none},
         {"lhs_contracting_dimensions", one},
         {"precision_config", out.attribute("vhlo", numbers({1, 2, precision, precision}))},
         {"rhs_batching_dimensions", none},
         {"rhs_contracting_dimensions", one}}};
  }));
  ASSERT_TRUE(file.has_value()) << render(file.error());
  const Operation& dot = first_of(*file);
  EXPECT_EQ(dot.attributes.size(), 2u);
  const Attribute& numbers_of_dot = *dot.find("dot_dimension_numbers");
  EXPECT_EQ(numbers_of_dot.kind, AttributeKind::kStruct);
  EXPECT_EQ(numbers_of_dot.name, "stablehlo.dot");
  EXPECT_THAT(numbers_of_dot.find("lhs_contracting_dimensions")->integers, ::testing::ElementsAre(1));
  EXPECT_EQ(dot.find("precision_config")->items[1]->text, "HIGHEST");
}

TEST_P(WithAndWithoutProperties, WhatSaysNothingIsGone) {
  const Result<File> file = read(test::artifact_of(GetParam(), [](ArtifactWriter& out) {
    const uint64_t direction = out.attribute("vhlo", numbers({3, 5})),
                   no_type = out.attribute("vhlo", numbers({4, 0}));
    return ArtifactOperation{"compare_v1", {{"compare_type", no_type}, {"comparison_direction", direction}}};
  }));
  ASSERT_TRUE(file.has_value()) << render(file.error());
  const Operation& compare = first_of(*file);
  ASSERT_EQ(compare.attributes.size(), 1u);
  EXPECT_EQ(compare.find("comparison_direction")->name, "stablehlo.comparison_direction");
  EXPECT_EQ(compare.find("comparison_direction")->text, "LT");
}

/// The value of a constant of `dims` elements of the VHLO type with the code, stored in `bytes`.
Result<File> constant(uint64_t element, int64_t dim, std::string_view bytes) {
  return read(test::artifact_of(6, [&](ArtifactWriter& out) {
    const uint64_t type = out.type("vhlo", number(element));
    const uint64_t tensor = out.type("vhlo", numbers({20, 1}) + signed_number(dim) + number(type));
    return ArtifactOperation{"constant_v1",
                             {{"value", out.attribute("vhlo", numbers({15, tensor}) + test::blob(bytes))}}};
  }));
}

TEST(ReadBytecode, TruthValuesAreBytesBitsOrOneForAll) {
  const auto elements = [](int64_t dim, std::string_view bytes) {
    const Result<File> file = constant(0, dim, bytes);
    if (!file) return std::string("refused");
    const Elements& found = first_of(*file).find("value")->elements;
    std::string shown = found.is_splat ? "all " : "";
    for (const char c : found.bytes) shown += static_cast<char>('0' + c);
    return shown;
  };
  EXPECT_EQ(elements(3, std::string("\1\0\1", 3)), "101");
  EXPECT_EQ(elements(10, std::string("\x05\x02", 2)), "1010000001");
  EXPECT_EQ(elements(10, "\xff"), "all 1");
  EXPECT_EQ(elements(3, std::string("\x05", 1)), "101");
  EXPECT_EQ(elements(3, std::string("\1\0", 2)), "refused");
}

TEST(ReadBytecode, ElementsHaveToFitTheirTensor) {
  const Result<File> all = constant(4, 3, std::string(12, 'x')), one = constant(4, 3, std::string(4, 'x'));
  ASSERT_TRUE(all.has_value() && one.has_value());
  EXPECT_FALSE(first_of(*all).find("value")->elements.is_splat);
  EXPECT_TRUE(first_of(*one).find("value")->elements.is_splat);
  const Result<File> wrong = constant(4, 3, std::string(8, 'x'));
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().message, HasSubstr("8 bytes for 3 elements of 4 bytes"));
}

TEST(ReadBytecode, BitsOfTruthValuesTakeNoMoreThanTheBudget) {
  const Result<File> file = constant(0, int64_t{1} << 40, std::string(100, '\1'));
  ASSERT_FALSE(file.has_value());
}

TEST(ReadBytecode, AttributesThatHoldThemselvesAreRefused) {
  const auto bytes = test::artifact_of(6, [](ArtifactWriter& out) {
    const uint64_t next = out.vhlo_string("x") + 1;
    const uint64_t itself = out.attribute("vhlo", numbers({1, 1, next}));
    return ArtifactOperation{"transpose_v1", {{"permutation", itself}}};
  });
  EXPECT_THAT(message_of(bytes), HasSubstr("holds itself"));
}

TEST(ReadBytecode, EndlessNestingIsRefused) {
  const auto bytes = test::artifact_of(6, [](ArtifactWriter& out) {
    uint64_t inner = out.vhlo_string("x");
    for (int i = 0; i < 2000; ++i) inner = out.attribute("vhlo", numbers({1, 1, inner}));
    return ArtifactOperation{"transpose_v1", {{"permutation", inner}}};
  });
  EXPECT_THAT(message_of(bytes), HasSubstr("more than 500 deep"));
}

TEST(ReadBytecode, ForeignAttributesAreReadAsText) {
  const Result<File> file = read(test::artifact_of(6, [](ArtifactWriter& out) {
    return ArtifactOperation{"transpose_v1",
                             {{"permutation", out.attribute_text("tpu", "#tpu.memory_space<vmem>")}}};
  }));
  ASSERT_TRUE(file.has_value()) << render(file.error());
  EXPECT_EQ(first_of(*file).find("permutation")->name, "tpu.memory_space");
  EXPECT_EQ(first_of(*file).find("permutation")->text, "vmem");
}

// All artifacts of others: read, and with changes refused or read.
/// The text of an attribute of sdy that `make` gives the number of.
template <class Make>
std::string sdy_text(Make make) {
  const Result<File> file = read(test::artifact_of(4, [&](ArtifactWriter& out) {
    return ArtifactOperation{"add_v1", {{"sdy.it", make(out)}}};
  }));
  if (!file) return render(file.error());
  const Attribute* const made = first_of(*file).find("sdy.it");
  if (!made || made->kind != AttributeKind::kSharding) return "none";
  return std::string(made->name) + " " + std::string(made->text);
}

struct SdyAttributes {
  explicit SdyAttributes(ArtifactWriter& writer) : out(writer) {
    x = out.attribute("sdy", numbers({4, out.string("x"), 0}));
    const uint64_t half = out.attribute("sdy", number(3) + signed_number(1) + signed_number(2));
    part = out.attribute("sdy", numbers({4, out.string("y"), half << 1 | 1}));
    closed = out.attribute("sdy", numbers({5, 2, x, part}) + '\x01' + number(0));
    open = out.attribute("sdy", numbers({5, 0}) + '\0' + number(3 << 1 | 1));
    mesh = out.attribute("builtin", numbers({4, out.builtin_string("m")}));
    sharding = out.attribute("sdy", numbers({6, mesh, 2, closed, open, 0}));
  }
  ArtifactWriter& out;
  uint64_t x, part, closed, open, mesh, sharding;
};

TEST(ReadBytecode, ShardingsByAxesAreReadAsTheirTexts) {
  EXPECT_EQ(sdy_text([](ArtifactWriter& out) { return SdyAttributes(out).sharding; }),
            "sdy.sharding <@m, [{\"x\", \"y\":(1)2}, {?}p3]>");
  EXPECT_EQ(sdy_text([](ArtifactWriter& out) {
              const SdyAttributes of(out);
              return out.attribute("sdy", numbers({15, of.mesh, 1, of.closed, 1, of.x, 1, of.part}));
            }),
            "sdy.sharding <@m, [{\"x\", \"y\":(1)2}], replicated={\"x\"}, unreduced={\"y\":(1)2}>");
  EXPECT_EQ(sdy_text([](ArtifactWriter& out) {
              const SdyAttributes of(out);
              return out.attribute("sdy", numbers({7, 2, of.sharding, of.sharding}));
            }),
            "sdy.sharding_per_value <[<@m, [{\"x\", \"y\":(1)2}, {?}p3]>, "
            "<@m, [{\"x\", \"y\":(1)2}, {?}p3]>]>");
  EXPECT_EQ(sdy_text([](ArtifactWriter& out) {
              const SdyAttributes of(out);
              const uint64_t list = out.attribute("sdy", numbers({11, 2, of.x, of.part}));
              const uint64_t none = out.attribute("sdy", numbers({11, 0}));
              return out.attribute("sdy", numbers({12, 2, list, none}));
            }),
            "sdy.list_of_axis_ref_lists <[{\"x\", \"y\":(1)2}, {}]>");
}

TEST(ReadBytecode, MeshesAreReadAsTheirTexts) {
  const auto mesh = [](ArtifactWriter& out, std::string devices) {
    const uint64_t x = out.attribute("sdy", numbers({1, out.string("x")}) + signed_number(2));
    const uint64_t y = out.attribute("sdy", numbers({1, out.string("y")}) + signed_number(1));
    return out.attribute("sdy", numbers({2, 2, x, y}) + devices);
  };
  EXPECT_EQ(sdy_text([&](ArtifactWriter& out) { return mesh(out, number(0)); }),
            "sdy.mesh <[\"x\"=2, \"y\"=1]>");
  EXPECT_EQ(sdy_text([&](ArtifactWriter& out) {
              return mesh(out, number(2) + signed_number(1) + signed_number(0));
            }),
            "sdy.mesh <[\"x\"=2, \"y\"=1], device_ids=[1, 0]>");
  EXPECT_EQ(sdy_text([](ArtifactWriter& out) {
              return out.attribute("sdy", numbers({0, 2, out.builtin_string("x"), out.builtin_string("y")}));
            }),
            "sdy.manual_axes <{\"x\", \"y\"}>");
}

TEST(ReadBytecode, ShardingsThatNobodyKnowsAreRefused) {
  EXPECT_THAT(sdy_text([](ArtifactWriter& out) { return out.attribute("sdy", number(18)); }),
              HasSubstr("attribute code 18 of sdy isn't known"));
  EXPECT_THAT(sdy_text([](ArtifactWriter& out) {
                return out.attribute("sdy", numbers({4, out.string("x"), uint64_t{1000} << 1 | 1}));
              }),
              HasSubstr("attribute 1000 of"));
}

TEST(ReadBytecode, ShardingsThatDoubleThemselvesStayWithinTheBudget) {
  EXPECT_THAT(sdy_text([](ArtifactWriter& out) {
                uint64_t list = SdyAttributes(out).x;
                for (int i = 0; i < 40; ++i) list = out.attribute("sdy", numbers({11, 2, list, list}));
                return list;
              }),
              HasSubstr("takes more than eight times the memory"));
}

TEST(ReadBytecode, ArtifactsOfOthersAreRead) {
  const auto folder = test::shared_folder();
  size_t count = 0;
  for (const char* family : {"jax", "vhlo-bytecode", "models", "mosaic"}) {
    const auto path = folder / "stablehlo" / family;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      const Result<SourcePtr> source = read_source(entry.path().string());
      if (!source || !is_bytecode((*source)->text())) continue;
      ++count;
      const Result<File> file = read_bytecode(*source);
      EXPECT_TRUE(file.has_value()) << render(file.error());
      const std::string bytes((*source)->text());
      for (size_t size = 4; size < bytes.size(); size += 1 + bytes.size() / 40) read(bytes.substr(0, size));
      for (size_t at = 4; at < bytes.size(); at += 1 + bytes.size() / 40) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
        read(changed);
      }
    }
  }
  if (count == 0) GTEST_SKIP() << "no artifacts of others beside this clone";
}

}  // namespace
}  // namespace hlosim::mlir
