// Arrays in their tiles: against the definition, element by element.
#include "physical/tiled_bytes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "layout/layout_oracle.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

ShapeRef shape_of(ShapePool& pool, std::string_view text) {
  const Result<ShapeRef> shape = parse_shape(pool, text);
  EXPECT_TRUE(shape) << text;
  return *shape;
}

/// Bytes where each element is put by the definition of the layout; the rest poison.
std::vector<std::byte> literally(ShapeRef shape, const std::vector<std::byte>& dense, int64_t size) {
  std::vector<std::byte> memory(static_cast<size_t>(size), kPoison);
  const int64_t bits = element_storage_bits(shape), width = byte_width(shape->element_type);
  std::vector<int64_t> index(shape->dimensions.size(), 0);
  for (int64_t k = 0; k < shape->element_count(); ++k) {
    const ElementAddress at = element_address(shape, layout_oracle::offset(shape, index));
    for (int64_t b = 0; b < bits; ++b) {
      const bool is_set =
          b < 8 * width &&
          (std::to_integer<int>(dense[static_cast<size_t>(k * width + b / 8)]) >> (b % 8) & 1) != 0;
      const int64_t bit = at.bit + b;
      const auto mask = static_cast<std::byte>(1 << bit % 8);
      std::byte& byte = memory.at(static_cast<size_t>(at.byte + bit / 8));
      byte = is_set ? byte | mask : byte & ~mask;
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape->dimensions[d]) break;
      index[d] = 0;
    }
  }
  return memory;
}

void check(ShapePool& pool, std::string_view text) {
  SCOPED_TRACE(text);
  const ShapeRef shape = shape_of(pool, text);
  const Result<TiledBytes> tiled = TiledBytes::make(shape);
  ASSERT_TRUE(tiled) << tiled.error().message;
  EXPECT_EQ(tiled->size(), array_size(shape).count());
  std::mt19937 random(static_cast<uint32_t>(text.size()));
  const int bits = bit_width(shape->element_type);
  const int64_t width = byte_width(shape->element_type);
  std::vector<std::byte> dense(static_cast<size_t>(shape->element_count() * width));
  for (std::byte& byte : dense) {
    auto value = static_cast<unsigned>(random()) & 0xFF;
    if (is_pred(shape->element_type)) value &= 1;
    if (bits < 8) {
      value &= (1u << bits) - 1;
      if (is_signed_integer(shape->element_type) && (value >> (bits - 1)) != 0) value |= ~0u << bits;
    }
    byte = static_cast<std::byte>(value);
  }
  std::vector<std::byte> memory(static_cast<size_t>(tiled->size()), kPoison);
  tiled->write(dense.data(), memory.data());
  EXPECT_EQ(memory, literally(shape, dense, tiled->size()));
  std::vector<std::byte> again(dense.size());
  tiled->read(memory.data(), again.data());
  EXPECT_EQ(again, dense);
}

TEST(TiledBytes, AsTheDefinitionSays) {
  ShapePool pool;
  for (const char* text : {"f32[3,5]{1,0:T(2,2)}",
                           "f32[3,5]{0,1}",
                           "f32[]{:T(128)}",
                           "f32[]",
                           "bf16[20,300]{1,0:T(8,128)(2,1)}",
                           "bf16[2048]{0:T(1024)(128)(2,1)}",
                           "f32[8]{0:T(2,2)}",
                           "s4[9,16]{1,0:T(8,128)(8,1)E(4)}",
                           "s4[3,3]",
                           "u4[7]{0:E(4)}",
                           "s2[5,3]{0,1:E(2)}",
                           "pred[8,3,8]{0,2,1:T(8,128)E(32)}",
                           "pred[9]{0:E(1)}",
                           "f32[2,7,8]{2,1,0:T(2,*,3)}",
                           "f32[10]{0:L(64)}",
                           "f32[10]{0:T(4)L(64)}",
                           "f32[20,33]{1,0:T(8,128)(3,1)}",
                           "c128[3,4]{0,1:T(2)}",
                           "f32[0,3]{1,0:T(8,128)}",
                           "f32[5000,2]{1,0}",
                           "f32[3,5000]{0,1:T(4,4)}",
                           "f32[65,4,40]{1,2,0:T(8,128)}",
                           "f8e4m3fn[33,130]{1,0:T(8,128)(4,1)}",
                           "s64[3,4,5]{1,0,2}",
                           "f4e2m1fn[9]{0:E(4)}"})
    check(pool, text);
}

TEST(TiledBytes, RandomLayouts) {
  ShapePool pool;
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  const char* const types[] = {"f32", "bf16", "s8", "pred", "f64", "u4"};
  for (int i = 0; i < 400; ++i) {
    const int rank = 1 + below(4);
    std::vector<int> dimensions, order;
    for (int d = 0; d < rank; ++d) {
      dimensions.push_back(1 + below(9));
      order.push_back(d);
    }
    std::shuffle(order.begin(), order.end(), random);
    std::string tiles;
    for (int t = below(3); t-- > 0;) {
      tiles += tiles.empty() ? ":T(" : "(";
      const int entries = 1 + below(rank);
      for (int e = 0; e < entries; ++e) tiles += fmt::format("{}{}", e > 0 ? "," : "", 1 + below(4));
      tiles += ")";
    }
    check(pool, fmt::format("{}[{}]{{{}{}}}", types[below(6)], fmt::join(dimensions, ","),
                            fmt::join(order, ","), tiles));
  }
}

TEST(TiledBytes, WhatNoMemoryCanHold) {
  ShapePool pool;
  const auto problem = [&](std::string_view text) {
    const Result<TiledBytes> made = TiledBytes::make(shape_of(pool, text));
    return made ? "none" : made.error().message;
  };
  EXPECT_EQ(problem("f32[?,2]{1,0}"), "f32[?,2]{1,0} can't be laid out in memory: a dimension ? has no size");
  EXPECT_EQ(problem("f32[8]{0:E(16)}"),
            "f32[8]{0:E(16)} can't be laid out in memory: E(16) is less than the 32 bits of f32");
  EXPECT_EQ(problem("s8[8]{0:E(12)}"),
            "s8[8]{0:E(12)} can't be laid out in memory: E(12) is neither whole bytes nor less than one");
  EXPECT_EQ(problem("f32[8,4]{1,0:SC(1:2)}"),
            "f32[8,4]{1,0:SC(1:2)} can't be laid out in memory: the pieces of a split array are in several "
            "memories");
  EXPECT_THAT(problem("f32[8,4]{1,1}"), testing::StartsWith("f32[8,4]{1,1} can't be laid out in memory: "));
  EXPECT_THAT(problem("f32[8]{0:T(0)}"), testing::StartsWith("f32[8]{0:T(0)} can't be laid out in memory: "));
  EXPECT_THAT(problem("f32[4000000000,4000000000]{1,0}"),
              testing::HasSubstr("can't be laid out in memory: "));
}

}  // namespace
}  // namespace hlosim
