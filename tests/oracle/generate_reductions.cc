// Random reductions, windows, sorts.
#include <fmt/format.h>

#include <algorithm>

#include "oracle/module_writer.h"

namespace hlosim::test {

namespace {

Ref combine(ModuleWriter& w, Body& body, ElementType type, std::string_view opcode, const Ref& a,
            const Ref& b) {
  return w.emit(body, {type, {}}, opcode, {a, b});
}

std::string_view reducer_opcode(RandomSource& random, ElementType type) {
  if (is_pred(type)) return random.one_of<std::string_view>({"and", "or", "xor"});
  if (is_complex(type)) return "add";
  if (is_integer(type))
    return random.one_of<std::string_view>(
        {"add", "add", "maximum", "minimum", "multiply", "and", "or", "xor"});
  return random.one_of<std::string_view>({"add", "add", "add", "maximum", "maximum", "minimum", "multiply"});
}

}  // namespace

std::string random_reducer(ModuleWriter& w, ElementType type) {
  const bool odd = w.random.chance(0.12) && !is_pred(type) && !is_complex(type);
  const std::string_view opcode = reducer_opcode(w.random, type);
  const bool swapped = w.random.chance(0.2);
  return w.computation_of({type, type}, [&](Body& body, const std::vector<Ref>& p) {
    if (!odd) return combine(w, body, type, opcode, p[swapped ? 1 : 0], p[swapped ? 0 : 1]).line;
    // Two operations: max(a, -b), a·c + b …
    if (w.random.chance(0.5)) {
      const Ref negated = w.emit(body, {type, {}}, "negate", {p[1]});
      return combine(w, body, type, "maximum", p[0], negated).line;
    }
    const Ref scaled = combine(w, body, type, "minimum", p[0], w.random_constant(body, type));
    return combine(w, body, type, "subtract", scaled, p[1]).line;
  });
}

namespace {

Index some_dims(RandomSource& random, int64_t rank) {
  Index dims;
  for (int64_t d = 0; d < rank; ++d)
    if (random.chance(0.5)) dims.push_back(d);
  if (random.chance(0.2)) random.shuffle(dims);
  return dims;
}

ArrayType without(const ArrayType& array, const Index& dims) {
  ArrayType result{array.type, {}};
  for (int64_t d = 0; d < array.rank(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end())
      result.dims.push_back(array.dims[static_cast<size_t>(d)]);
  return result;
}

/// (value, index) pairs: the largest value and where it is.
std::string arg_extreme(ModuleWriter& w, ElementType value, ElementType index) {
  const std::string_view direction = w.random.one_of<std::string_view>({"GT", "GE", "LT", "LE"});
  return w.computation_of({value, index, value, index}, [&](Body& body, const std::vector<Ref>& p) {
    const ArrayType pred{ElementType::kPred, {}};
    const Ref better = w.emit(body, pred, "compare", {p[0], p[2]}, fmt::format("direction={}", direction));
    const Ref equal = w.emit(body, pred, "compare", {p[0], p[2]}, "direction=EQ");
    const Ref lower = w.emit(body, pred, "compare", {p[1], p[3]}, "direction=LT");
    const Ref tie = w.emit(body, pred, "and", {equal, lower});
    const Ref strict = w.random.chance(0.5) ? better : w.emit(body, pred, "or", {better, tie});
    const Ref best = w.emit(body, {value, {}}, "select", {better, p[0], p[2]});
    const Ref place = w.emit(body, {index, {}}, "select", {strict, p[1], p[3]});
    return body.add(w.name("t"), w.tuple_shape({{value, {}}, {index, {}}}), "tuple", {best.line, place.line});
  });
}

void generate_variadic_reduce(ModuleWriter& w, Body& body, const Ref& x, const Index& dims) {
  const ElementType index_type = ElementType::kS32;
  const Ref indices = w.obtain(body, {index_type, x.array.dims});
  const Ref init = w.random_constant(body, x.array.type), zero = w.constant(body, index_type, "0");
  const std::string body_name = arg_extreme(w, x.array.type, index_type);
  const ArrayType result = without(x.array, dims);
  w.emit_tuple(body, {result, {index_type, result.dims}}, "reduce", {x, indices, init, zero},
               fmt::format("dimensions={}, to_apply={}", list_text(dims), body_name));
}

}  // namespace

void generate_reduce(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  const Index dims = some_dims(w.random, x.array.rank());
  if (w.random.chance(0.15) && !is_complex(x.array.type)) return generate_variadic_reduce(w, body, x, dims);
  // Floats may be reduced in another precision.
  const bool mixed = is_float(x.array.type) && w.random.chance(0.08);
  const ElementType type = mixed ? w.random_float() : x.array.type;
  const Ref init = w.random.chance(0.7) ? w.random_constant(body, type) : w.obtain(body, {type, {}});
  const std::string reducer = random_reducer(w, type);
  w.emit(body, {type, without(x.array, dims).dims}, "reduce", {x, init},
         fmt::format("dimensions={}, to_apply={}", list_text(dims), reducer));
}

/// A reduction over a dimension whose size is known only when the module runs.
void generate_runtime_size(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) {
    return a.rank() > 0 && a.count() < 3000 && (is_float(a.type) || is_integer(a.type));
  });
  if (!x) return;
  const int64_t dimension = w.random.between(0, x->array.rank() - 1);
  const int64_t bound = x->array.dims[static_cast<size_t>(dimension)];
  std::string sizes;
  for (int64_t d = 0; d < x->array.rank(); ++d)
    sizes += fmt::format("{}{}{}", d ? "," : "", d == dimension ? "<=" : "",
                         x->array.dims[static_cast<size_t>(d)]);
  const std::string shape = fmt::format("{}[{}]", to_text(x->array.type), sizes);
  const std::string attribute = fmt::format("dimensions={{{}}}", dimension);
  const Ref size = w.constant(body, ElementType::kS32, fmt::format("{}", w.random.between(0, bound)));
  size_t line = body.add(w.name("v"), shape, "set-dimension-size", {x->line, size.line}, attribute);
  if (w.random.chance(0.5)) line = body.add(w.name("v"), shape, "negate", {line});
  if (w.random.chance(0.5)) line = body.add(w.name("v"), shape, "add", {line, line});
  const Ref part{line, x->array};
  Index dims = some_dims(w.random, x->array.rank());
  if (std::find(dims.begin(), dims.end(), dimension) == dims.end()) dims.push_back(dimension);
  const Ref init = w.random_constant(body, x->array.type);
  w.emit(body, without(x->array, dims), "reduce", {part, init},
         fmt::format("dimensions={}, to_apply={}", list_text(dims), random_reducer(w, x->array.type)));
  w.emit(body, {ElementType::kS32, {}}, "get-dimension-size", {part}, attribute);
}

/// softmax and its like: a reduction, spread again, combined with what was reduced.
void generate_normalized(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return is_float(a.type) && a.rank() > 0; });
  if (!x) return;
  const Index dims = {w.random.chance(0.7) ? x->array.rank() - 1 : w.random.between(0, x->array.rank() - 1)};
  Index kept;
  for (int64_t d = 0; d < x->array.rank(); ++d)
    if (d != dims[0]) kept.push_back(d);
  const auto spread = [&](const Ref& from, std::string_view opcode, std::string_view init) {
    const std::string reducer =
        w.computation_of({x->array.type, x->array.type}, [&](Body& inner, const std::vector<Ref>& p) {
          return w.emit(inner, {x->array.type, {}}, opcode, {p[0], p[1]}).line;
        });
    const Ref start = w.constant(body, x->array.type, init);
    const Ref reduced = w.emit(body, without(x->array, dims), "reduce", {from, start},
                               fmt::format("dimensions={}, to_apply={}", list_text(dims), reducer));
    return w.emit(body, x->array, "broadcast", {reduced}, "dimensions=" + list_text(kept));
  };
  const std::string_view lowest = bit_width(x->array.type) < 16 ? "-1" : "-inf";
  const Ref peak = spread(*x, "maximum", lowest);
  const Ref shifted = w.emit(body, x->array, "subtract", {*x, peak});
  const Ref exponential =
      w.emit(body, x->array, w.random.one_of<std::string_view>({"exponential", "tanh", "abs"}), {shifted});
  const Ref sum = spread(exponential, "add", "0");
  w.emit(body, x->array, w.random.one_of<std::string_view>({"divide", "subtract", "multiply"}),
         {exponential, sum});
}

// ── windows ─────────────────────────────────────────────────────

namespace {

struct RandomWindow {
  std::string text;
  Index places;
};

/// A window over `dims`, possibly with strides, padding and dilations.
RandomWindow random_window(RandomSource& random, const Index& dims, bool dilated) {
  RandomWindow window;
  std::string size, stride, pad, base, inner;
  for (const int64_t n : dims) {
    const bool trivial = random.chance(0.3);
    const bool running = !trivial && random.chance(0.15) && n > 0 && n < 70;
    const int64_t k = trivial ? 1 : running ? n : random.between(1, 4);
    const int64_t s = trivial || running ? 1 : random.between(1, 3);
    int64_t low = trivial ? 0 : random.between(-1, 2), high = trivial ? 0 : random.between(-1, 2);
    if (running) low = n - 1, high = 0;
    const int64_t b = dilated && !trivial && random.chance(0.2) ? 2 : 1,
                  d = !trivial && random.chance(0.2) ? 2 : 1;
    const auto spread = [](int64_t count, int64_t by) { return count == 0 ? 0 : (count - 1) * by + 1; };
    if (spread(n, b) + low + high < 0) low = high = 0;
    const int64_t space = spread(n, b) + low + high - spread(k, d);
    window.places.push_back(space < 0 ? 0 : space / s + 1);
    const char* x = size.empty() ? "" : "x";
    size += fmt::format("{}{}", x, k);
    stride += fmt::format("{}{}", x, s);
    pad += fmt::format("{}{}_{}", x, low, high);
    base += fmt::format("{}{}", x, b);
    inner += fmt::format("{}{}", x, d);
  }
  window.text = dims.empty()
                    ? ""
                    : fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={}}}, ", size,
                                  stride, pad, base, inner);
  return window;
}

}  // namespace

void generate_reduce_window(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 2000; });
  if (!x) return;
  const RandomWindow window = random_window(w.random, x->array.dims, true);
  const ArrayType result{x->array.type, window.places};
  if (result.count() > 6000) return;
  const Ref init = w.random_constant(body, x->array.type);
  if (w.random.chance(0.12) && !is_complex(x->array.type)) {
    const ArrayType indices{ElementType::kS32, x->array.dims};
    const Ref places = w.obtain(body, indices), zero = w.constant(body, ElementType::kS32, "0");
    const std::string function = arg_extreme(w, x->array.type, ElementType::kS32);
    w.emit_tuple(body, {result, {ElementType::kS32, result.dims}}, "reduce-window", {*x, places, init, zero},
                 window.text + "to_apply=" + function);
    return;
  }
  w.emit(body, result, "reduce-window", {*x, init},
         window.text + "to_apply=" + random_reducer(w, x->array.type));
}

void generate_select_and_scatter(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) {
    return a.rank() > 0 && a.count() < 800 && (is_float(a.type) || is_integer(a.type));
  });
  if (!x) return;
  const RandomWindow window = random_window(w.random, x->array.dims, false);
  const ElementType type = x->array.type;
  const std::string_view direction = w.random.one_of<std::string_view>({"GE", "GT", "LE", "LT"});
  const std::string select = w.computation_of({type, type}, [&](Body& inner, const std::vector<Ref>& p) {
    return w.emit(inner, {ElementType::kPred, {}}, "compare", p, fmt::format("direction={}", direction)).line;
  });
  const std::string scatter = w.computation_of({type, type}, [&](Body& inner, const std::vector<Ref>& p) {
    return w.emit(inner, {type, {}}, "add", p).line;
  });
  const ArrayType source{type, window.places};
  if (source.count() > 3000) return;
  const Ref init = w.random_constant(body, type);
  w.emit(body, x->array, "select-and-scatter", {*x, w.obtain(body, source), init},
         fmt::format("{}select={}, scatter={}", window.text, select, scatter));
}

void generate_map(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  std::vector<Ref> operands = {x};
  std::vector<ElementType> types = {x.array.type};
  if (w.random.chance(0.5)) {
    const ElementType other = w.random_type();
    operands.push_back(w.obtain(body, {other, x.array.dims}));
    types.push_back(other);
  }
  ElementType result = x.array.type;
  const std::string function = w.computation_of(types, [&](Body& inner, const std::vector<Ref>&) {
    for (int64_t i = w.random.between(1, 4); i > 0; --i)
      w.random.chance(0.7) ? generate_elementwise(w, inner) : generate_conversion(w, inner);
    Ref root = inner.values.back();
    for (size_t i = inner.values.size(); i-- > 0 && !root.array.dims.empty();) root = inner.values[i];
    result = root.array.type;
    return root.line;
  });
  Index all;
  for (int64_t d = 0; d < x.array.rank(); ++d) all.push_back(d);
  w.emit(body, {result, x.array.dims}, "map", operands,
         fmt::format("dimensions={}, to_apply={}", list_text(all), function));
}

/// Running combination along a dimension, of slices.
void generate_scan(ModuleWriter& w, Body& body) {
  const auto x = w.some(
      body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 1500 && !is_complex(a.type); });
  if (!x) return;
  const int64_t dimension = w.random.between(0, x->array.rank() - 1);
  const ArrayType slice = without(x->array, {dimension});
  Body inner;
  inner.open = false;
  const Ref a = inner.add_parameter(w.name("a"), w.plain_shape(slice), slice);
  const Ref b = inner.add_parameter(w.name("a"), w.plain_shape(slice), slice);
  const Ref next = w.emit(inner, slice, reducer_opcode(w.random, slice.type), {b, a});
  const size_t root = inner.add(w.name("t"), w.tuple_shape({slice, slice}), "tuple", {next.line, next.line});
  const std::string function = w.write(inner, root, true);
  w.emit_tuple(body, {x->array, slice}, "scan", {*x, w.obtain(body, slice)},
               fmt::format("dimensions={{{}}}, num_carries=1, is_reverse={}, to_apply={}", dimension,
                           w.random.chance(0.4) ? "true" : "false", function));
}

// ── ordering ────────────────────────────────────────────────────

void generate_sort(ModuleWriter& w, Body& body) {
  const auto x = w.some(
      body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 1500 && !is_complex(a.type); });
  if (!x) return;
  std::vector<Ref> operands = {*x};
  std::vector<ArrayType> results = {x->array};
  for (int64_t more = static_cast<int64_t>(w.random.weighted({5, 4, 1})); more > 0; --more) {
    results.push_back({w.random_type(), x->array.dims});
    operands.push_back(w.obtain(body, results.back()));
  }
  std::vector<ElementType> types;
  for (const ArrayType& result : results) types.insert(types.end(), 2, result.type);
  const bool is_float_key = is_float(x->array.type);
  const std::string total = is_float_key && w.random.chance(0.6) ? ", type=TOTALORDER" : "";
  const std::string_view direction = w.random.one_of<std::string_view>({"LT", "GT"});
  const bool swapped = w.random.chance(0.2), transformed = w.random.chance(0.15) && !is_pred(x->array.type);
  const bool lexicographic = results.size() > 1 && w.random.chance(0.3) && !is_complex(results[1].type);
  const std::string comparator = w.computation_of(types, [&](Body& inner, const std::vector<Ref>& p) {
    const ArrayType pred{ElementType::kPred, {}};
    Ref a = p[swapped ? 1 : 0], b = p[swapped ? 0 : 1];
    if (transformed) {
      a = w.emit(inner, a.array, "negate", {a});
      b = w.emit(inner, b.array, "negate", {b});
    }
    const Ref first = w.emit(inner, pred, "compare", {a, b}, fmt::format("direction={}{}", direction, total));
    if (!lexicographic) return first.line;
    const Ref equal = w.emit(inner, pred, "compare", {a, b}, "direction=EQ" + total);
    const Ref second = w.emit(inner, pred, "compare", {p[2], p[3]}, "direction=LT");
    return w.emit(inner, pred, "select", {equal, second, first}).line;
  });
  const bool stable = operands.size() > 1 || w.random.chance(0.7);
  const std::string attributes =
      fmt::format("dimensions={{{}}}, is_stable={}, to_apply={}", w.random.between(0, x->array.rank() - 1),
                  stable ? "true" : "false", comparator);
  if (results.size() == 1)
    w.emit(body, results[0], "sort", operands, attributes);
  else
    w.emit_tuple(body, results, "sort", operands, attributes);
}

void generate_topk(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) {
    return a.rank() > 0 && a.count() < 1500 && (is_float(a.type) || is_integer(a.type));
  });
  if (!x) return;
  ArrayType values = x->array;
  values.dims.back() = w.random.between(0, values.dims.back());
  w.emit_tuple(body, {values, {ElementType::kS32, values.dims}}, "topk", {*x},
               fmt::format("k={}, largest={}", values.dims.back(), w.random.chance(0.7) ? "true" : "false"));
}

}  // namespace hlosim::test
