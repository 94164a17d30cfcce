#include "oracle/module_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace hlosim::test {

int64_t ArrayType::count() const {
  int64_t product = 1;
  for (const int64_t d : dims) product *= d;
  return product;
}

std::string list_text(std::span<const int64_t> values) {
  return fmt::format("{{{}}}", fmt::join(values, ","));
}

size_t Body::add(std::string name, std::string shape, std::string opcode, std::vector<size_t> operands,
                 std::string attributes, std::string inner) {
  lines.push_back({std::move(name), std::move(shape), std::move(opcode), std::move(attributes),
                   std::move(inner), std::move(operands), false});
  return lines.size() - 1;
}

Ref Body::add_parameter(std::string name, std::string shape, const ArrayType& array) {
  const size_t line = add(std::move(name), std::move(shape), "parameter", {});
  lines[line].is_parameter = true;
  parameters.push_back(array);
  values.push_back({line, array});
  return values.back();
}

std::string Body::text(size_t root, bool all_parameters, std::vector<size_t>& kept) const {
  std::vector<bool> needed(lines.size(), false);
  needed[root] = true;
  for (size_t i = lines.size(); i-- > 0;) {
    if (lines[i].is_parameter && all_parameters) needed[i] = true;
    if (needed[i])
      for (const size_t operand : lines[i].operands) needed[operand] = true;
  }
  std::string out;
  size_t parameter = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Line& line = lines[i];
    const size_t number = parameter;
    parameter += line.is_parameter;
    if (!needed[i]) continue;
    std::string inside = line.inner;
    if (line.is_parameter) {
      inside = fmt::format("{}", kept.size());
      kept.push_back(number);
    }
    for (const size_t operand : line.operands) inside += (inside.empty() ? "" : ", ") + lines[operand].name;
    out += fmt::format("  {}{} = {} {}({}){}{}\n", i == root ? "ROOT " : "", line.name, line.shape,
                       line.opcode, inside, line.attributes.empty() ? "" : ", ", line.attributes);
  }
  return out;
}

std::vector<Ref> Body::unused() const {
  std::vector<bool> used(lines.size(), false);
  for (const Line& line : lines)
    for (const size_t operand : line.operands) used[operand] = true;
  std::vector<Ref> result;
  for (const Ref& value : values)
    if (!used[value.line]) result.push_back(value);
  return result;
}

// ── writer ──────────────────────────────────────────────────────

ModuleWriter::ModuleWriter(uint64_t seed, bool decorated)
    : random(seed), decoration_(seed + 0x5555), decorated_(decorated) {
  large = random.chance(0.12);
  huge = large && random.chance(0.15);
  if (decoration_.chance(0.4)) decorated_ = false;
}

std::string ModuleWriter::name(std::string_view stem) {
  return fmt::format("{}_{}", stem, names_++);
}  // f_16: f16 is a type

std::string ModuleWriter::plain_shape(const ArrayType& array) {
  return fmt::format("{}[{}]", to_text(array.type), fmt::join(array.dims, ","));
}

std::string ModuleWriter::shape(const ArrayType& array) {
  std::string text = plain_shape(array);
  const bool chosen = decoration_.chance(0.3);
  Index order;
  for (int64_t i = array.rank(); i-- > 0;) order.push_back(i);
  if (decoration_.chance(0.5)) decoration_.shuffle(order);
  const bool tiled = decoration_.chance(0.4), fast = decoration_.chance(0.15);
  if (!decorated_ || !chosen || array.dims.empty()) return text;
  text += fmt::format("{{{}", fmt::join(order, ","));
  if (tiled || fast) text += ":";
  if (tiled && array.rank() == 1) text += "T(256)";
  if (tiled && array.rank() > 1) text += bit_width(array.type) == 16 ? "T(8,128)(2,1)" : "T(8,128)";
  if (fast) text += "S(1)";
  return text + "}";
}

std::string ModuleWriter::tuple_shape(const std::vector<ArrayType>& arrays) {
  std::string text = "(";
  for (size_t i = 0; i < arrays.size(); ++i) text += (i ? ", " : "") + shape(arrays[i]);
  return text + ")";
}

Ref ModuleWriter::emit(Body& body, const ArrayType& result, std::string_view opcode,
                       const std::vector<Ref>& operands, std::string attributes) {
  std::vector<size_t> lines;
  for (const Ref& operand : operands) lines.push_back(operand.line);
  const size_t line = body.add(name("v"), shape(result), std::string(opcode), lines, std::move(attributes));
  body.values.push_back({line, result});
  return body.values.back();
}

std::vector<Ref> ModuleWriter::emit_tuple(Body& body, const std::vector<ArrayType>& results,
                                          std::string_view opcode, const std::vector<Ref>& operands,
                                          std::string attributes) {
  std::vector<size_t> lines;
  for (const Ref& operand : operands) lines.push_back(operand.line);
  const size_t line =
      body.add(name("t"), tuple_shape(results), std::string(opcode), lines, std::move(attributes));
  return take_apart(body, line, results);
}

std::vector<Ref> ModuleWriter::take_apart(Body& body, size_t tuple, const std::vector<ArrayType>& results) {
  std::vector<Ref> parts;
  for (size_t i = 0; i < results.size(); ++i) {
    const size_t line =
        body.add(name("v"), shape(results[i]), "get-tuple-element", {tuple}, fmt::format("index={}", i));
    parts.push_back({line, results[i]});
  }
  body.values.insert(body.values.end(), parts.begin(), parts.end());
  return parts;
}

Ref ModuleWriter::constant(Body& body, ElementType type, std::string_view text) {
  const size_t line = body.add(name("c"), plain_shape({type, {}}), "constant", {}, "", std::string(text));
  return {line, {type, {}}};
}

Ref ModuleWriter::random_constant(Body& body, ElementType type) {
  if (is_pred(type)) return constant(body, type, random.chance(0.5) ? "true" : "false");
  if (is_complex(type))
    return constant(body, type,
                    fmt::format("({}, {})", random.between(-3, 3), random.one_of({0.5, -1.25, 2.0})));
  if (is_float(type)) {
    if (bit_width(type) < 16) return constant(body, type, random.one_of({"0", "1", "-0.5", "2", "-1.5"}));
    return constant(
        body, type,
        random.one_of({"0", "1", "-1", "0.5", "2", "-0.125", "3.25", "0.1", "100", "-7.75", "1e-3"}));
  }
  if (bit_width(type) < 8)
    return constant(body, type,
                    is_signed_integer(type) ? random.one_of({"0", "-1"}) : random.one_of({"0", "1"}));
  return constant(body, type,
                  is_signed_integer(type) ? random.one_of({"0", "1", "-1", "2", "7", "-100", "127"})
                                          : random.one_of({"0", "1", "2", "5", "31", "255"}));
}

Ref ModuleWriter::parameter(Body& body, const ArrayType& array) {
  if (body.open && body.parameters.size() < 12) return body.add_parameter(name("p"), shape(array), array);
  const Ref scalar = random_constant(body, array.type);
  return array.dims.empty() ? scalar : emit(body, array, "broadcast", {scalar}, "dimensions={}");
}

Ref ModuleWriter::obtain(Body& body, const ArrayType& array) {
  std::vector<Ref> same, same_dims, same_count;
  for (const Ref& value : body.values) {
    if (value.array == array) same.push_back(value);
    if (value.array.dims == array.dims && !is_complex(value.array.type)) same_dims.push_back(value);
    if (value.array.type == array.type && value.array.count() == array.count()) same_count.push_back(value);
  }
  if (!same.empty() && random.chance(0.75)) return random.one_of(same);
  switch (random.weighted({4, 3, 4, 1, 3})) {
    case 0:
      if (!same_dims.empty()) {
        const Ref from = random.one_of(same_dims);
        return from.array == array ? from : emit(body, array, "convert", {from});
      }
      break;
    case 1:
      if (!same_count.empty()) {
        const Ref from = random.one_of(same_count);
        return from.array == array ? from : emit(body, array, "reshape", {from});
      }
      break;
    case 2: {  // a broadcast of something of fewer dimensions
      ArrayType part{array.type, {}};
      Index dims;
      for (int64_t d = 0; d < array.rank(); ++d)
        if (random.chance(0.4)) {
          dims.push_back(d);
          part.dims.push_back(array.dims[static_cast<size_t>(d)]);
        }
      if (part.dims.size() == array.dims.size()) break;
      const Ref source = part.dims.empty() ? random_constant(body, array.type) : parameter(body, part);
      return emit(body, array, "broadcast", {source}, "dimensions=" + list_text(dims));
    }
    case 3:
      if (!array.dims.empty() && !is_pred(array.type))
        return emit(body, array, "iota", {},
                    fmt::format("iota_dimension={}", random.between(0, array.rank() - 1)));
      break;
    default:
      break;
  }
  return parameter(body, array);
}

Ref ModuleWriter::any(Body& body) {
  if (body.values.empty() || random.chance(0.08)) {
    if (body.open || body.values.empty()) return parameter(body, {random_type(), random_dims()});
  }
  // Rather the latest ones, so that chains grow.
  const auto count = static_cast<int64_t>(body.values.size());
  const int64_t back = std::min(random.between(0, count - 1), random.between(0, count - 1));
  return body.values[static_cast<size_t>(count - 1 - back)];
}

std::string ModuleWriter::write(const Body& body, size_t root, bool all_parameters,
                                std::vector<size_t>& kept) {
  const std::string computation = name("f");
  const std::string text = body.text(root, all_parameters, kept);
  computations.push_back(fmt::format("{} {{\n{}}}\n", computation, text));
  return computation;
}

std::string ModuleWriter::write(const Body& body, size_t root, bool all_parameters) {
  std::vector<size_t> kept;
  return write(body, root, all_parameters, kept);
}

ElementType ModuleWriter::random_type() {
  constexpr ElementType kTypes[] = {
      ElementType::kF32, ElementType::kBF16,     ElementType::kS32,    ElementType::kPred,
      ElementType::kF64, ElementType::kF16,      ElementType::kS8,     ElementType::kU8,
      ElementType::kU32, ElementType::kS64,      ElementType::kU64,    ElementType::kS16,
      ElementType::kU16, ElementType::kC64,      ElementType::kC128,   ElementType::kS4,
      ElementType::kU4,  ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kF8E4M3FNUZ};
  return kTypes[random.weighted({40, 14, 14, 8, 4, 4, 3, 2, 3, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1})];
}

Index ModuleWriter::random_dims(int64_t least_rank, int64_t most_rank, int64_t most) {
  Index dims;
  const int64_t rank =
      std::clamp<int64_t>(static_cast<int64_t>(random.weighted({2, 4, 6, 4, 2})), least_rank, most_rank);
  int64_t count = 1;
  const int64_t limit = huge ? 20 * most : large ? 5 * most : most;
  const int64_t wide = random.between(0, std::max<int64_t>(rank - 1, 0));
  for (int64_t d = 0; d < rank; ++d) {
    int64_t size = random.between(1, 9);
    if (d == wide && (large || random.chance(0.2)))
      size = huge && random.chance(0.4) ? random.between(1000, 9000)
             : random.chance(0.5)       ? random.between(10, 300)
                                  : random.one_of({16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 255, 256, 257});
    if (random.chance(0.03)) size = 0;
    if (random.chance(0.1)) size = 1;
    if (size > 0 && count * size > limit) size = 1 + size % 3;
    dims.push_back(size);
    count *= std::max<int64_t>(size, 1);
  }
  return dims;
}

}  // namespace hlosim::test
