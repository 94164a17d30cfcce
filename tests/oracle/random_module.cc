#include "oracle/random_module.h"

#include <fmt/format.h>

#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/module_writer.h"

namespace hlosim::test {

void generate_any(ModuleWriter& w, Body& body, int depth) {
  if (depth > 0 && w.random.chance(0.22)) {
    switch (w.random.weighted({8, 2, 2, 2})) {
      case 0:
        return generate_fusion(w, body);
      case 1:
        return generate_call(w, body);
      case 2:
        return generate_while(w, body);
      default:
        return generate_conditional(w, body);
    }
  }
  if (w.random.chance(0.05)) return generate_fusion(w, body);
  switch (w.random.weighted({40, 8, 5, 4, 4, 3, 3, 3, 2, 2, 3, 3, 2, 6, 2, 4, 3, 2, 1, 2, 3})) {
    case 0:
      return generate_cheap(w, body);
    case 1:
      return generate_reduce(w, body);
    case 2:
      return generate_normalized(w, body);
    case 3:
      return generate_dynamic(w, body);
    case 4:
      return generate_bitcast(w, body);
    case 5:
      return generate_gather(w, body);
    case 6:
      return generate_scatter(w, body);
    case 7:
      return generate_reduce_window(w, body);
    case 8:
      return generate_select_and_scatter(w, body);
    case 9:
      return generate_map(w, body);
    case 10:
      return generate_scan(w, body);
    case 11:
      return generate_sort(w, body);
    case 12:
      return generate_topk(w, body);
    case 13:
      return generate_dot(w, body);
    case 14:
      return generate_ragged_dot(w, body);
    case 15:
      return generate_convolution(w, body);
    case 16:
      return generate_linear_algebra(w, body);
    case 17:
      return generate_random_bits(w, body);
    case 18:
      return generate_scaled_dot(w, body);
    case 19:
      return generate_runtime_size(w, body);
    default:
      return generate_plumbing(w, body);
  }
}

namespace {

/// Those computations that `body` calls, and those that they call, each before its callers.
std::string called_text(const std::vector<std::string>& computations, const std::string& body) {
  std::string text = body;
  std::vector<const std::string*> called;
  for (size_t i = computations.size(); i-- > 0;) {
    const std::string name = computations[i].substr(0, computations[i].find(' '));
    bool found = false;
    for (size_t at = text.find(name); at != std::string::npos && !found; at = text.find(name, at + 1)) {
      const char next = text[at + name.size()];
      found = next == ',' || next == '\n' || next == '}';
    }
    if (!found) continue;
    called.push_back(&computations[i]);
    text += computations[i];
  }
  std::string result;
  for (size_t i = called.size(); i-- > 0;) result += *called[i] + "\n";
  return result;
}

}  // namespace

std::string random_module(uint64_t seed, bool decorated, std::optional<size_t> leaf) {
  ModuleWriter w(seed, decorated);
  Body entry;
  for (int64_t i = w.random.between(1, 3); i > 0; --i) w.parameter(entry, {w.random_type(), w.random_dims()});
  if (w.random.chance(0.1)) {  // a tuple among the parameters
    const std::vector<ArrayType> parts = {{w.random_type(), w.random_dims()},
                                          {w.random_type(), w.random_dims()}};
    const size_t tuple = entry.add(w.name("p"), w.tuple_shape(parts), "parameter", {});
    entry.lines[tuple].is_parameter = true;
    w.take_apart(entry, tuple, parts);
  }
  // Most modules keep to cheap operations for a while: long chains become clusters.
  const double cheap = w.random.one_of({0.0, 0.0, 0.3, 0.8});
  for (int64_t i = w.random.between(3, 25); i > 0; --i)
    w.random.chance(cheap) ? generate_cheap(w, entry) : generate_any(w, entry, 1);
  std::vector<Ref> roots = entry.unused();
  if (roots.empty()) roots.push_back(entry.values.back());
  std::vector<size_t> lines, kept;
  std::vector<ArrayType> types;
  for (const Ref& root : roots) {
    lines.push_back(root.line);
    types.push_back(root.array);
  }
  size_t root = lines[leaf.value_or(0)];
  if (!leaf && lines.size() > 1) root = entry.add(w.name("t"), w.tuple_shape(types), "tuple", lines);
  const std::string body = entry.text(root, true, kept);
  return fmt::format("HloModule seed_{}\n\n{}ENTRY main {{\n{}}}\n", seed, called_text(w.computations, body),
                     body);
}

// ── inputs ──────────────────────────────────────────────────────

namespace {

enum class Style { kSmallIntegers, kUniform, kWide, kSpecial };

Element random_float_element(RandomSource& random, ElementType type, Style style) {
  if (style == Style::kSpecial && random.chance(0.15)) {
    const double tiny = smallest_normal(type);
    return float_element(type, random.one_of({0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), tiny / 4, -tiny,
                                              1e30, -1e-30, 65504.0, 448.0, 0.5, 1.5, 2.5, -2.5}));
  }
  double value = 0;
  if (style == Style::kSmallIntegers) value = static_cast<double>(random.between(-4, 4));
  if (style == Style::kUniform || style == Style::kSpecial) value = 4 * random.real() - 2;
  if (style == Style::kWide) value = (random.chance(0.5) ? 1 : -1) * std::exp(14 * random.real() - 7);
  return float_element(type, value);
}

Element random_element(RandomSource& random, ElementType type, Style style) {
  if (is_pred(type)) return {random.bits() & 1, 0, 0};
  if (is_complex(type)) {
    const ElementType part = part_type(type);
    const Style moderate = style == Style::kSpecial ? Style::kUniform : style;
    return {random_float_element(random, part, moderate).bits,
            random_float_element(random, part, moderate).bits, 0};
  }
  if (is_float(type)) return random_float_element(random, type, style);
  if (style == Style::kSpecial && random.chance(0.2)) {
    const uint64_t top = uint64_t{1} << (bit_width(type) - 1);
    return integer_element(type, random.one_of({top, top - 1, ~uint64_t{0}, uint64_t{0}}));
  }
  if (style == Style::kWide) return integer_element(type, random.bits());
  const bool negative = is_signed_integer(type) && random.chance(0.4);
  const int64_t magnitude = random.between(0, 9);
  return integer_element(type, static_cast<uint64_t>(negative ? -magnitude : magnitude));
}

ValuePtr random_value(RandomSource& random, ShapeRef shape) {
  auto value = zero_value(shape);
  for (ValuePtr& element : value->elements) element = random_value(random, element->shape);
  const Style style =
      random.one_of({Style::kSmallIntegers, Style::kUniform, Style::kUniform, Style::kWide, Style::kSpecial});
  for (Element& element : value->data) {
    element = random_element(random, shape->element_type, style);
    element.error = 0;
  }
  return value;
}

}  // namespace

std::vector<ValuePtr> random_inputs(const Module& module, uint64_t seed) {
  RandomSource random(seed * 31 + 7);
  std::vector<ValuePtr> values;
  for (const InstructionId id : module.entry_computation().parameters)
    values.push_back(random_value(random, module[id].shape));
  return values;
}

}  // namespace hlosim::test
