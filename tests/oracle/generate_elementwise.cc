// Random elementwise operations.
#include <fmt/format.h>

#include "oracle/module_writer.h"

namespace hlosim::test {
namespace {

std::string_view float_function(RandomSource& random) {
  return random.one_of<std::string_view>({"negate",
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
                                          "atanh",
                                          "negate",
                                          "abs",
                                          "exponential"});
}

std::string_view unary_name(RandomSource& random, ElementType type) {
  if (is_float(type)) return float_function(random);
  if (is_pred(type)) return "not";
  if (is_complex(type))
    return random.one_of<std::string_view>(
        {"negate", "exponential", "log", "sqrt", "rsqrt", "tanh", "sine", "cosine", "logistic"});
  if (is_signed_integer(type))
    return random.one_of<std::string_view>({"negate", "abs", "sign", "not", "popcnt", "count-leading-zeros"});
  return random.one_of<std::string_view>({"negate", "not", "popcnt", "count-leading-zeros"});
}

std::string_view binary_name(RandomSource& random, ElementType type) {
  if (is_float(type))
    return random.one_of<std::string_view>({"add", "add", "subtract", "multiply", "multiply", "maximum",
                                            "minimum", "divide", "remainder", "power", "atan2"});
  if (is_pred(type))
    return random.one_of<std::string_view>({"and", "or", "xor", "add", "multiply", "maximum", "minimum"});
  if (is_complex(type))
    return random.one_of<std::string_view>({"add", "subtract", "multiply", "divide", "power"});
  return random.one_of<std::string_view>({"add", "subtract", "multiply", "maximum", "minimum", "divide",
                                          "remainder", "and", "or", "xor", "shift-left",
                                          "shift-right-logical", "shift-right-arithmetic", "power", "mulhi"});
}

void generate_compare(ModuleWriter& w, Body& body) {
  const Ref a = w.any(body), b = w.obtain(body, a.array);
  const bool complex = is_complex(a.array.type);
  std::string attributes = "direction=";
  attributes +=
      complex ? w.random.one_of({"EQ", "NE"}) : w.random.one_of({"EQ", "NE", "LT", "LE", "GT", "GE"});
  if (is_float(a.array.type) && w.random.chance(0.3)) attributes += ", type=TOTALORDER";
  w.emit(body, {ElementType::kPred, a.array.dims}, "compare", {a, b}, attributes);
}

void generate_select(ModuleWriter& w, Body& body) {
  const Ref a = w.any(body), b = w.obtain(body, a.array);
  const bool scalar = w.random.chance(0.2);
  const Ref predicate = w.obtain(body, {ElementType::kPred, scalar ? Index() : a.array.dims});
  w.emit(body, a.array, "select", {predicate, a, b});
}

void generate_clamp(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return !is_complex(a.type) && !is_pred(a.type); });
  if (!x) return;
  const auto bound = [&] {
    return w.random.chance(0.6) ? w.random_constant(body, x->array.type) : w.obtain(body, x->array);
  };
  const Ref low = bound(), high = bound();
  w.emit(body, x->array, "clamp", {low, *x, high});
}

void generate_unary(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  const std::string_view opcode = unary_name(w.random, x.array.type);
  w.emit(body, x.array, opcode, {x});
}

void generate_binary(ModuleWriter& w, Body& body) {
  const Ref a = w.any(body);
  const std::string_view opcode = binary_name(w.random, a.array.type);
  ArrayType other = a.array, result = a.array;
  if (is_float(other.type) && w.random.chance(0.06)) {  // floats of different precision mix
    other.type = w.random_float();
    if (bit_width(other.type) == bit_width(result.type)) other.type = result.type;
    if (bit_width(other.type) > bit_width(result.type)) result.type = other.type;
  }
  const Ref b = w.obtain(body, other);
  w.emit(body, result, opcode, w.random.chance(0.5) ? std::vector<Ref>{a, b} : std::vector<Ref>{b, a});
}

// ── conversions ─────────────────────────────────────────────────

ElementType part_of(ElementType type) {
  return type == ElementType::kC64    ? ElementType::kF32
         : type == ElementType::kC128 ? ElementType::kF64
                                      : type;
}

void generate_convert(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  ElementType type = w.random_type();
  if (is_complex(x.array.type) && !is_complex(type)) type = ElementType::kC64;
  if (type != x.array.type) w.emit(body, {type, x.array.dims}, "convert", {x});
}

void generate_bitcast_convert(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) {
    return !is_pred(a.type) && !is_complex(a.type) && bit_width(a.type) >= 8;
  });
  if (!x) return;
  const std::vector<ElementType> targets = {
      ElementType::kF32,  ElementType::kS32, ElementType::kU32, ElementType::kF64, ElementType::kU64,
      ElementType::kBF16, ElementType::kF16, ElementType::kU16, ElementType::kS8,  ElementType::kU8};
  const ElementType to = w.random.one_of(targets);
  const int from_bits = bit_width(x->array.type), to_bits = bit_width(to);
  ArrayType result{to, x->array.dims};
  if (to_bits < from_bits) {
    if (result.rank() > 4) return;
    result.dims.push_back(from_bits / to_bits);
  } else if (to_bits > from_bits) {
    if (result.dims.empty() || result.dims.back() != to_bits / from_bits) return;
    result.dims.pop_back();
  }
  w.emit(body, result, "bitcast-convert", {*x});
}

void generate_parts(ModuleWriter& w, Body& body) {
  if (const auto z = w.some(body, [](const ArrayType& a) { return is_complex(a.type); })) {
    const std::string_view opcode = w.random.one_of<std::string_view>({"real", "imag", "abs"});
    w.emit(body, {part_of(z->array.type), z->array.dims}, opcode, {*z});
    return;
  }
  const auto x = w.some(
      body, [](const ArrayType& a) { return a.type == ElementType::kF32 || a.type == ElementType::kF64; });
  if (!x) return;
  const Ref y = w.obtain(body, x->array);
  const bool single = x->array.type == ElementType::kF32;
  w.emit(body, {single ? ElementType::kC64 : ElementType::kC128, x->array.dims}, "complex", {*x, y});
}

void generate_reduce_precision(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return is_float(a.type) && bit_width(a.type) >= 16; });
  if (!x) return;
  w.emit(body, x->array, "reduce-precision", {*x},
         fmt::format("exponent_bits={}, mantissa_bits={}", w.random.between(1, 11), w.random.between(0, 24)));
}

void generate_is_finite(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return is_float(a.type); });
  if (x) w.emit(body, {ElementType::kPred, x->array.dims}, "is-finite", {*x});
}

void generate_stochastic(ModuleWriter& w, Body& body) {
  const auto x = w.some(
      body, [](const ArrayType& a) { return a.type == ElementType::kF32 || a.type == ElementType::kBF16; });
  if (!x) return;
  const bool wide = x->array.type == ElementType::kF32;
  const Ref r = w.obtain(body, {wide ? ElementType::kU32 : ElementType::kU16, x->array.dims});
  const ElementType to = w.random.one_of({ElementType::kS8, ElementType::kS16, ElementType::kS32});
  w.emit(body, {to, x->array.dims}, "stochastic-convert", {*x, r});
}

}  // namespace

void generate_elementwise(ModuleWriter& w, Body& body) {
  switch (w.random.weighted({6, 8, 2, 2, 1})) {
    case 0:
      return generate_unary(w, body);
    case 1:
      return generate_binary(w, body);
    case 2:
      return generate_compare(w, body);
    case 3:
      return generate_select(w, body);
    default:
      return generate_clamp(w, body);
  }
}

void generate_conversion(ModuleWriter& w, Body& body) {
  switch (w.random.weighted({8, 2, 2, 2, 1, 1})) {
    case 0:
      return generate_convert(w, body);
    case 1:
      return generate_bitcast_convert(w, body);
    case 2:
      return generate_parts(w, body);
    case 3:
      return generate_reduce_precision(w, body);
    case 4:
      return generate_is_finite(w, body);
    default:
      return generate_stochastic(w, body);
  }
}

}  // namespace hlosim::test
