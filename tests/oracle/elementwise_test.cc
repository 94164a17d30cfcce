// Every elementwise operation on every value of the small types and on a grid of special values of the large
// ones: the executor against the slow evaluator.
#include <gtest/gtest.h>

#include <cmath>

#include "exec/program.h"
#include "oracle/elementwise.h"
#include "oracle/execute.h"
#include "support/modules.h"

namespace hlosim::test {
namespace {

/// Numbers at which functions change their ways, in `type`.
std::vector<Element> special_values(ElementType type) {
  std::vector<Element> values;
  if (is_float(type)) {
    std::vector<double> numbers = {0,
                                   1,
                                   1.5,
                                   2,
                                   2.5,
                                   3,
                                   0.5,
                                   0.1,
                                   1e-3,
                                   1e-10,
                                   1e-30,
                                   smallest_normal(type),
                                   smallest_normal(type) / 8,
                                   10,
                                   88.5,
                                   89.5,
                                   100,
                                   127,
                                   128,
                                   255,
                                   1e4,
                                   32767.5,
                                   65504,
                                   8388607.5,
                                   16777216,
                                   2147483520.0,
                                   2147483648.0,
                                   4294967296.0,
                                   1e15,
                                   9.3e18,
                                   1e30,
                                   3.4028234e38,
                                   HUGE_VAL,
                                   0.99999994,
                                   1.0000001,
                                   0.4142135,
                                   0.4142136,
                                   3.1415927,
                                   1.5707964};
    for (const double number : numbers)
      for (const double sign : {1.0, -1.0}) values.push_back({float_bits(type, sign * number), 0, 0});
    values.push_back({float_bits(type, std::nan("")), 0, 0});
    return values;
  }
  if (is_pred(type)) return {{0, 0, 0}, {1, 0, 0}};
  for (int bit = 0; bit < bit_width(type); ++bit)
    for (const int64_t delta : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bit) + static_cast<uint64_t>(delta);
      values.push_back(integer_element(type, value));
      values.push_back(integer_element(type, ~value));
    }
  return values;
}

/// All values of types up to 16 bits, else special ones.
std::vector<Element> all_values(ElementType type, int most_bits) {
  if (bit_width(type) > most_bits || is_pred(type)) return special_values(type);
  std::vector<Element> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << bit_width(type)); ++bits)
    values.push_back(is_float(type) ? Element{bits, 0, 0} : integer_element(type, bits));
  return values;
}

ValuePtr vector_of(Module& module, ElementType type, const std::vector<Element>& elements) {
  const int64_t dims[] = {static_cast<int64_t>(elements.size())};
  auto value = zero_value(module.shapes().array(type, dims));
  value->data = elements;
  return value;
}

void compare(const std::string& text,
             const std::vector<std::pair<ElementType, std::vector<Element>>>& operands) {
  Module module = module_or_fail(text);
  std::vector<ValuePtr> inputs;
  for (const auto& [type, elements] : operands) inputs.push_back(vector_of(module, type, elements));
  Evaluator evaluator(module);
  const ValuePtr expected = evaluator.run(inputs);
  ASSERT_NE(expected, nullptr) << evaluator.error() << text;
  const Outputs actual = execute(module, inputs);
  ASSERT_EQ(actual.error, "") << text;
  const Value& got = *actual.leaves[0];
  int wrong = 0;
  for (size_t i = 0; i < expected->data.size(); ++i) {
    if (agrees(expected->type(), expected->data[i], got.data[i]) || ++wrong > 3) continue;
    std::string of;
    for (const auto& [type, elements] : operands) of += " " + text_of(type, elements[i]);
    ADD_FAILURE() << text << "of" << of << " is " << text_of(got.type(), got.data[i]) << ", expected "
                  << text_of(expected->type(), expected->data[i]);
  }
  EXPECT_LE(wrong, 3) << text;
}

std::string module_text(std::string_view opcode, ElementType to, const std::vector<ElementType>& types,
                        size_t count, std::string_view attributes = "") {
  std::string text = "HloModule m\nENTRY e {\n", names;
  for (size_t i = 0; i < types.size(); ++i) {
    text += fmt::format("  p{} = {}[{}] parameter({})\n", i, to_text(types[i]), count, i);
    names += fmt::format("{}p{}", i ? ", " : "", i);
  }
  return text +
         fmt::format("  ROOT r = {}[{}] {}({}){}\n}}\n", to_text(to), count, opcode, names, attributes);
}

void compare_unary(std::string_view opcode, ElementType from, ElementType to,
                   std::string_view attributes = "") {
  const std::vector<Element> values = all_values(from, 16);
  compare(module_text(opcode, to, {from}, values.size(), attributes), {{from, values}});
}

void compare_binary(std::string_view opcode, ElementType type, ElementType to,
                    std::string_view attributes = "") {
  std::vector<Element> a, b;
  for (const Element& x : all_values(type, 8))
    for (const Element& y : all_values(type, 8)) {
      a.push_back(x);
      b.push_back(y);
    }
  compare(module_text(opcode, to, {type, type}, a.size(), attributes), {{type, a}, {type, b}});
}

constexpr ElementType kFloats[] = {
    ElementType::kF32,        ElementType::kF64,        ElementType::kBF16,         ElementType::kF16,
    ElementType::kF8E4M3FN,   ElementType::kF8E5M2,     ElementType::kF8E3M4,       ElementType::kF8E4M3,
    ElementType::kF8E4M3FNUZ, ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3B11FNUZ};
constexpr ElementType kIntegers[] = {ElementType::kS2,  ElementType::kS4,  ElementType::kS8,
                                     ElementType::kS16, ElementType::kS32, ElementType::kS64,
                                     ElementType::kU2,  ElementType::kU4,  ElementType::kU8,
                                     ElementType::kU16, ElementType::kU32, ElementType::kU64};

TEST(Elementwise, FloatUnary) {
  for (const ElementType type : kFloats)
    for (const char* opcode : {"negate",
                               "abs",
                               "ceil",
                               "floor",
                               "round-nearest-afz",
                               "round-nearest-even",
                               "sign",
                               "sqrt",
                               "rsqrt",
                               "cbrt",
                               "exponential",
                               "exponential-minus-one",
                               "log",
                               "log-plus-one",
                               "tanh",
                               "logistic",
                               "erf",
                               "sine",
                               "cosine",
                               "tan",
                               "sinh",
                               "cosh",
                               "asin",
                               "acos",
                               "asinh",
                               "acosh",
                               "atanh"})
      compare_unary(opcode, type, type);
}

TEST(Elementwise, FloatToPred) {
  for (const ElementType type : kFloats) compare_unary("is-finite", type, ElementType::kPred);
}

TEST(Elementwise, IntegerUnary) {
  for (const ElementType type : kIntegers) {
    for (const char* opcode : {"negate", "not", "popcnt", "count-leading-zeros"})
      compare_unary(opcode, type, type);
    if (is_signed_integer(type))
      for (const char* opcode : {"abs", "sign"}) compare_unary(opcode, type, type);
  }
  compare_unary("not", ElementType::kPred, ElementType::kPred);
}

TEST(Elementwise, FloatBinary) {
  for (const ElementType type : kFloats)
    for (const char* opcode :
         {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "atan2"})
      compare_binary(opcode, type, type);
}

TEST(Elementwise, IntegerBinary) {
  for (const ElementType type : kIntegers)
    for (const char* opcode :
         {"add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "power", "and", "or",
          "xor", "shift-left", "shift-right-logical", "shift-right-arithmetic", "mulhi"})
      compare_binary(opcode, type, type);
  for (const char* opcode : {"and", "or", "xor", "add", "multiply", "maximum", "minimum"})
    compare_binary(opcode, ElementType::kPred, ElementType::kPred);
}

TEST(Elementwise, Compare) {
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"}) {
    const std::string attributes = fmt::format(", direction={}", direction);
    for (const ElementType type : kFloats) {
      compare_binary("compare", type, ElementType::kPred, attributes);
      compare_binary("compare", type, ElementType::kPred, attributes + ", type=TOTALORDER");
    }
    for (const ElementType type : kIntegers) compare_binary("compare", type, ElementType::kPred, attributes);
    compare_binary("compare", ElementType::kPred, ElementType::kPred, attributes);
  }
}

TEST(Elementwise, Convert) {
  std::vector<ElementType> types(std::begin(kFloats), std::end(kFloats));
  types.insert(types.end(), std::begin(kIntegers), std::end(kIntegers));
  for (const ElementType more : {ElementType::kPred, ElementType::kF4E2M1FN, ElementType::kF6E2M3FN,
                                 ElementType::kF6E3M2FN, ElementType::kF8E8M0FNU})
    types.push_back(more);
  for (const ElementType from : types)
    for (const ElementType to : types)
      if (from != to && to != ElementType::kF8E8M0FNU) compare_unary("convert", from, to);
}

TEST(Elementwise, ReducePrecision) {
  for (const ElementType type : {ElementType::kF32, ElementType::kF64, ElementType::kBF16, ElementType::kF16})
    for (const int exponent : {1, 2, 4, 5, 8, 11})
      for (const int mantissa : {0, 1, 3, 7, 10, 23, 52})
        compare_unary("reduce-precision", type, type,
                      fmt::format(", exponent_bits={}, mantissa_bits={}", exponent, mantissa));
}

}  // namespace
}  // namespace hlosim::test
