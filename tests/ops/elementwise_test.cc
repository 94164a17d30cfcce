#include "ops/op_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace hlosim {
namespace {

using namespace test;

/// Every element type's spelling.
std::vector<ElementType> element_types() {
  std::vector<ElementType> types;
  for (int i = 1; i < kElementTypeCount; ++i) types.push_back(static_cast<ElementType>(i));
  return types;
}

// Which types an opcode takes, by a rule of one letter per class: p pred, s signed, u unsigned, f float, c
// complex.
bool in_classes(std::string_view classes, ElementType type) {
  return classes.find("?psufc"[static_cast<int>(number_class(type))]) != std::string_view::npos;
}

TEST(Elementwise, UnaryTakesItsTypesAndKeepsTheShape) {
  const std::pair<std::string_view, std::string_view> rules[] = {
      {"abs", "sf"},
      {"acos", "fc"},
      {"acosh", "fc"},
      {"asin", "fc"},
      {"asinh", "fc"},
      {"atanh", "fc"},
      {"cbrt", "fc"},
      {"ceil", "f"},
      {"cosine", "fc"},
      {"cosh", "fc"},
      {"erf", "f"},
      {"exponential", "fc"},
      {"floor", "f"},
      {"log", "fc"},
      {"log-plus-one", "fc"},
      {"exponential-minus-one", "fc"},
      {"logistic", "fc"},
      {"negate", "sufc"},
      {"not", "psu"},
      {"popcnt", "su"},
      {"count-leading-zeros", "su"},
      {"round-nearest-afz", "f"},
      {"round-nearest-even", "f"},
      {"rsqrt", "fc"},
      {"sign", "sfc"},
      {"sine", "fc"},
      {"sinh", "fc"},
      {"sqrt", "fc"},
      {"tan", "fc"},
      {"tanh", "fc"},
      {"real", "f"},
      {"imag", "f"},
  };
  for (const auto& [name, classes] : rules) {
    for (const ElementType type : element_types()) {
      const std::string text = fmt::format("x = {}({}[2,<=3] a)", name, to_text(type));
      const bool complex_part = is_complex(type) && (name == "abs" || name == "real" || name == "imag");
      if (complex_part)
        EXPECT_EQ(inferred(text), type == ElementType::kC64 ? "f32[2,<=3]" : "f64[2,<=3]") << text;
      else if (in_classes(classes, type))
        EXPECT_EQ(inferred(text), fmt::format("{}[2,<=3]", to_text(type))) << text;
      else
        EXPECT_TRUE(inferred(text).starts_with(fmt::format("{} C2: operand 0 has shape", name)))
            << inferred(text);
    }
  }
}

TEST(Elementwise, BinaryTakesItsTypesAndKeepsTheShape) {
  const std::pair<std::string_view, std::string_view> rules[] = {
      {"add", "psufc"},
      {"multiply", "psufc"},
      {"maximum", "psufc"},
      {"minimum", "psufc"},
      {"subtract", "sufc"},
      {"divide", "sufc"},
      {"remainder", "sufc"},
      {"power", "sufc"},
      {"atan2", "fc"},
      {"shift-left", "sufc"},
      {"shift-right-logical", "sufc"},
      {"shift-right-arithmetic", "sufc"},
      {"and", "psu"},
      {"or", "psu"},
      {"xor", "psu"},
      {"mulhi", "psufc"},
  };
  for (const auto& [name, classes] : rules) {
    for (const ElementType type : element_types()) {
      const std::string text = fmt::format("x = {0}({1}[4] a, {1}[4] b)", name, to_text(type));
      if (in_classes(classes, type))
        EXPECT_EQ(inferred(text), fmt::format("{}[4]", to_text(type))) << text;
      else
        EXPECT_TRUE(inferred(text).starts_with(fmt::format("{} C4: operand 0 has shape", name)))
            << inferred(text);
    }
  }
}

TEST(Elementwise, FloatsOfDifferentPrecisionMeetInTheWiderOne) {
  EXPECT_EQ(inferred("x = add(bf16[2] a, f32[2] b)"), "f32[2]");
  EXPECT_EQ(inferred("x = add(f64[2] a, f32[2] b)"), "f64[2]");
  EXPECT_EQ(inferred("x = add(f16[2] a, bf16[2] b)"), "bf16[2]");
  EXPECT_EQ(inferred("x = bf16[2] add(f32[2] a, f32[2] b)"), "f32[2]");  // XLA lets the result be rounded
}

TEST(Elementwise, DynamicDimensionsOfBothOperandsStay) {
  EXPECT_EQ(inferred("x = add(f32[<=2,3] a, f32[2,<=3] b)"), "f32[<=2,<=3]");
  EXPECT_EQ(inferred("x = select(pred[] p, f32[<=2,3] a, f32[2,<=3] b)"), "f32[<=2,<=3]");
}

TEST(Elementwise, OthersInfer) {
  EXPECT_EQ(inferred("x = compare(f32[2] a, f32[2] b), direction=LT"), "pred[2]");
  EXPECT_EQ(inferred("x = complex(f32[2] a, f32[2] b)"), "c64[2]");
  EXPECT_EQ(inferred("x = complex(f64[] a, f64[] b)"), "c128[]");
  EXPECT_EQ(inferred("x = is-finite(bf16[2] a)"), "pred[2]");
  EXPECT_EQ(inferred("x = clamp(f32[] lo, f32[2] x0, f32[2] hi)"), "f32[2]");
  EXPECT_EQ(inferred("x = select(pred[2] p, s8[2] a, s8[2] b)"), "s8[2]");
  EXPECT_EQ(inferred("x = s8[2] convert(f32[2] a)"), "s8[2]");
  EXPECT_EQ(inferred("x = f32[2] convert(c64[2] a)"), "f32[2]");
  EXPECT_EQ(inferred("x = f32[2] reduce-precision(f32[2] a), exponent_bits=5, mantissa_bits=0"), "f32[2]");
  EXPECT_EQ(inferred("x = s8[2] stochastic-convert(f32[2] a, u32[2] r)"), "s8[2]");
}

TEST(Elementwise, RefusesWithItsConstraint) {
  const Refused cases[] = {
      {"x = f32[2] negate((f32[2]) a)", "negate C1: operand 0 has shape (f32[2]), expected an array"},
      {"x = pred[2] negate(pred[2] a)", "negate C2: operand 0 has shape pred[2], expected a type of numbers"},
      {"x = f32[2] negate(f32[3] a)",
       "negate: expected instruction to have shape equal to f32[3], actual shape is "
       "f32[2]"},
      {"x = f32[2] add(f32[2] a, token[] b)", "add C1: operand 1 has shape token[], expected an array"},
      {"x = f32[2] add(f32[2] a, s32[2] b)", "add C2: operands have shapes f32[2] and s32[2]"},
      {"x = f32[2] add(f32[2] a, f32[1] b)", "add C3: operands have shapes f32[2] and f32[1]"},
      {"x = f32[2] add(f32[2] a, f32[] b)", "add C3: operands have shapes f32[2] and f32[]"},
      {"x = f32[2] xor(f32[2] a, f32[2] b)",
       "xor C4: operand 0 has shape f32[2], expected pred or an integer type"},
      {"x = c64[2] complex(f32[2] a, f64[2] b)", "complex C5: parts are f32[2] and f64[2]"},
      {"x = c64[2] complex(f16[2] a, f16[2] b)", "complex C5: parts are f16[2] and f16[2]"},
      {"x = pred[2] compare(s32[2] a, s32[2] b), direction=LT, type=UNSIGNED",
       "compare C5: type=UNSIGNED on operands s32[2], expected SIGNED"},
      {"x = pred[2] compare(pred[2] a, pred[2] b), direction=LT, type=SIGNED",
       "compare C5: type=SIGNED on operands pred[2], expected UNSIGNED"},
      {"x = pred[2] compare(f32[2] a, f32[2] b), direction=LT, type=SIGNED",
       "compare C5: type=SIGNED on operands f32[2], expected FLOAT or TOTALORDER"},
      {"x = pred[2] compare(c64[2] a, c64[2] b), direction=EQ, type=TOTALORDER",
       "compare C5: type=TOTALORDER on operands c64[2], expected FLOAT"},
      {"x = f32[2] clamp(f32[] a, (f32[2]) b, f32[] c)", "clamp C1: operand 1"},
      {"x = f32[2] clamp(s32[] a, f32[2] b, f32[] c)", "clamp C2: bound s32[] and value f32[2]"},
      {"x = f32[2] clamp(f32[] a, f32[2] b, f32[3] c)", "clamp C3: bound f32[3] is neither"},
      {"x = f32[2] select(pred[] p, f32[2] a, (f32[2]) b)", "select C1: operand 2"},
      {"x = f32[2] select(pred[] p, f32[2] a, f32[3] b)", "select C2: choices have shapes f32[2] and f32[3]"},
      {"x = f32[2] select(s32[2] p, f32[2] a, f32[2] b)", "select C3: predicate has shape s32[2]"},
      {"x = f32[2] select(pred[1] p, f32[2] a, f32[2] b)", "select C4: predicate pred[1] is neither"},
      {"x = (f32[2]) convert(f32[2] a)", "convert C1: result has shape (f32[2])"},
      {"x = f32[3] convert(s32[2] a)", "convert: expected instruction to have shape equal to f32[2]"},
      {"x = s32[2] reduce-precision(s32[2] a), exponent_bits=5, mantissa_bits=2",
       "reduce-precision C2: operand 0"},
      {"x = f32[2] reduce-precision(f32[2] a), exponent_bits=0, mantissa_bits=2",
       "reduce-precision C3: exponent_bits is 0"},
      {"x = f32[2] reduce-precision(f32[2] a), exponent_bits=5, mantissa_bits=-2",
       "reduce-precision C4: mantissa_bits is -2"},
      {"x = token[] stochastic-convert(f32[2] a, u32[2] r)",
       "stochastic-convert C1: result has shape token[]"},
      {"x = s8[2] stochastic-convert(s32[2] a, u32[2] r)", "stochastic-convert C2: operand 0"},
      {"x = s8[2] stochastic-convert(bf16[2] a, u32[2] r)",
       "stochastic-convert C3: random bits have shape u32[2], expected element type u16"},
      {"x = s8[2] stochastic-convert(f32[2] a, u32[3] r)",
       "stochastic-convert C4: value f32[2] and random bits u32[3]"},
  };
  expect_refused(cases);
}

TEST(Elementwise, UnboundedDimensionsAreRefused) {
  EXPECT_EQ(refusal("x = f32[?] negate(f32[?] a)"),
            "parameter: unbounded dimension in f32[?], expected a size or a bound as in <=8");
}

TEST(Elementwise, WorkIsOnTheWiderSide) {
  with_work("x = pred[8] compare(f32[8] a, f32[8] b), direction=LT", [](const Work& work, const Module&) {
    ASSERT_EQ(work.vectors.size(), 1u);
    EXPECT_EQ(text_of_part(work.vectors[0].shape), "f32[8]");
    EXPECT_EQ(work.vectors[0].op, VectorOp::kSimple);
  });
  with_work("x = s8[8] convert(f32[8] a)", [](const Work& work, const Module&) {
    EXPECT_EQ(text_of_part(work.vectors.at(0).shape), "f32[8]");
  });
}

// A divisor that is the same everywhere has one reciprocal, in whatever type it is spread.
TEST(Elementwise, DivisorsThatRepeatAreInvertedOnce) {
  const auto slots = [](std::string_view divisor) {
    const std::string module = fmt::format(R"(HloModule m
ENTRY e {{
  x = f32[64,128] parameter(0)
  d = bf16[] parameter(1)
  one = f32[] parameter(2)
  all = f32[64,128] parameter(3)
  spread = bf16[64,128] broadcast(d), dimensions={{}}
  converted = f32[64,128] convert(spread)
  plain = f32[64,128] broadcast(one), dimensions={{}}
  ROOT r = f32[64,128] divide(x, {})
}})",
                                           divisor);
    std::string text;
    with_work(module, [&](const Work& work, const Module&) {
      for (const VectorWork& vector : work.vectors)
        text += fmt::format("{} of {}, ", vector.op == VectorOp::kDivide ? "divide" : "simple",
                            vector.shape->element_count());
    });
    return text;
  };
  EXPECT_EQ(slots("plain"), "divide of 1, simple of 8192, ");
  EXPECT_EQ(slots("converted"), slots("plain"));
  EXPECT_EQ(slots("all"), "divide of 8192, ");
}

TEST(Elementwise, WorkDependsOnTheType) {
  const auto class_of = [](std::string_view text) {
    VectorOp op{};
    with_work(text, [&](const Work& work, const Module&) { op = work.vectors.at(0).op; });
    return op;
  };
  EXPECT_EQ(class_of("x = add(s32[8] a, s32[8] b)"), VectorOp::kSimple);
  EXPECT_EQ(class_of("x = divide(f32[8] a, f32[8] b)"), VectorOp::kDivide);
  EXPECT_EQ(class_of("x = divide(s32[8] a, s32[8] b)"), VectorOp::kExpensive);
  EXPECT_EQ(class_of("x = tanh(f32[8] a)"), VectorOp::kTranscendental);
  EXPECT_EQ(class_of("x = power(f32[8] a, f32[8] b)"), VectorOp::kExpensive);
}

}  // namespace
}  // namespace hlosim
