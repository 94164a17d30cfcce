// Random operations that move elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "oracle/module_writer.h"

namespace hlosim::test {
namespace {

Index permutation(RandomSource& random, int64_t rank) {
  Index order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  return order;
}

Index subset(RandomSource& random, int64_t rank, double probability) {
  Index dims;
  for (int64_t d = 0; d < rank; ++d)
    if (random.chance(probability)) dims.push_back(d);
  return dims;
}

void generate_broadcast(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() < 4 && a.count() < 3000; });
  if (!x) return;
  ArrayType result{x->array.type, x->array.dims};
  Index dims(x->array.dims.size());
  std::iota(dims.begin(), dims.end(), 0);
  for (int64_t added = w.random.between(1, 4 - x->array.rank()); added > 0; --added) {
    const auto at = static_cast<size_t>(w.random.between(0, result.rank()));
    const int64_t size = result.count() < 500 ? w.random.between(1, 9) : 2;
    result.dims.insert(result.dims.begin() + static_cast<int64_t>(at), size);
    for (int64_t& d : dims) d += d >= static_cast<int64_t>(at);
  }
  w.emit(body, result, "broadcast", {*x}, "dimensions=" + list_text(dims));
}

void generate_transpose(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  const Index order = permutation(w.random, x.array.rank());
  ArrayType result{x.array.type, {}};
  for (const int64_t d : order) result.dims.push_back(x.array.dims[static_cast<size_t>(d)]);
  w.emit(body, result, "transpose", {x}, "dimensions=" + list_text(order));
}

void generate_reshape(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  // Merge and split by the factors of the sizes.
  Index dims = x.array.dims;
  for (int i = 0; i < 3; ++i) {
    const auto at = dims.empty()
                        ? size_t{0}
                        : static_cast<size_t>(w.random.between(0, static_cast<int64_t>(dims.size()) - 1));
    const auto place = dims.begin() + static_cast<int64_t>(at);
    if (w.random.chance(0.4) && dims.size() > 1 && at + 1 < dims.size()) {
      dims[at] *= dims[at + 1];
      dims.erase(place + 1);
    } else if (dims.size() < 4 && w.random.chance(0.3)) {
      dims.insert(place, 1);
    } else if (dims.size() < 4 && !dims.empty() && dims[at] > 1) {
      const int64_t factor = w.random.one_of({2, 3, 4, 5, 8});
      if (dims[at] % factor != 0) continue;
      dims[at] /= factor;
      dims.insert(place + (w.random.chance(0.5) ? 1 : 0), factor);
    } else if (!dims.empty() && dims[at] == 1) {
      dims.erase(place);
    }
  }
  w.emit(body, {x.array.type, dims}, "reshape", {x});
}

void generate_reverse(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  w.emit(body, x.array, "reverse", {x}, "dimensions=" + list_text(subset(w.random, x.array.rank(), 0.5)));
}

void generate_slice(ModuleWriter& w, Body& body) {
  const Ref x = w.any(body);
  ArrayType result{x.array.type, {}};
  std::string text;
  for (const int64_t size : x.array.dims) {
    const int64_t start = w.random.chance(0.4) ? 0 : w.random.between(0, size);
    const int64_t limit = w.random.chance(0.4) ? size : w.random.between(start, size);
    const int64_t stride = w.random.chance(0.6) ? 1 : w.random.between(1, 4);
    result.dims.push_back((limit - start + stride - 1) / stride);
    text += fmt::format("{}[{}:{}{}]", text.empty() ? "" : ",", start, limit,
                        stride == 1 ? "" : fmt::format(":{}", stride));
  }
  w.emit(body, result, "slice", {x}, "slice={" + text + "}");
}

void generate_concatenate(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 3000; });
  if (!x) return;
  const auto dimension = static_cast<size_t>(w.random.between(0, x->array.rank() - 1));
  std::vector<Ref> operands = {*x};
  ArrayType result = x->array;
  for (int64_t more = w.random.between(0, 3); more > 0; --more) {
    ArrayType other = x->array;
    if (w.random.chance(0.5)) other.dims[dimension] = w.random.between(0, 7);
    operands.push_back(w.obtain(body, other));
    result.dims[dimension] += other.dims[dimension];
  }
  w.random.shuffle(operands);
  w.emit(body, result, "concatenate", operands, fmt::format("dimensions={{{}}}", dimension));
}

void generate_pad(ModuleWriter& w, Body& body) {
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && a.count() < 2000; });
  if (!x) return;
  ArrayType result{x->array.type, {}};
  std::string text;
  for (const int64_t size : x->array.dims) {
    const int64_t interior = w.random.chance(0.3) ? w.random.between(1, 2) : 0;
    const int64_t whole = size + std::max<int64_t>(size - 1, 0) * interior;
    int64_t low = w.random.between(-2, 3), high = w.random.between(-2, 3);
    if (w.random.chance(0.3)) low = high = 0;
    if (low + high + whole < 0) low = high = 1;
    result.dims.push_back(low + high + whole);
    text += fmt::format("{}{}_{}{}", text.empty() ? "" : "x", low, high,
                        interior ? fmt::format("_{}", interior) : "");
  }
  const Ref value =
      w.random.chance(0.7) ? w.random_constant(body, x->array.type) : w.obtain(body, {x->array.type, {}});
  w.emit(body, result, "pad", {*x, value}, "padding=" + text);
}

void generate_iota(ModuleWriter& w, Body& body) {
  ElementType type = w.random_type();
  if (is_pred(type)) type = ElementType::kS32;
  const ArrayType result{type, w.random_dims(1)};
  w.emit(body, result, "iota", {}, fmt::format("iota_dimension={}", w.random.between(0, result.rank() - 1)));
}

// ── bitcasts: the layouts of both sides decide ──────────────────

std::string fixed_shape(const ArrayType& array, const Index& order, std::string_view tiles = "") {
  if (array.dims.empty()) return ModuleWriter::plain_shape(array);
  return fmt::format("{}{{{}{}{}}}", ModuleWriter::plain_shape(array), fmt::join(order, ","),
                     tiles.empty() ? "" : ":", tiles);
}

Index descending(int64_t rank) {
  Index order;
  for (int64_t d = rank; d-- > 0;) order.push_back(d);
  return order;
}

/// copy to a shape with a given layout, then the bitcast.
void emit_bitcast(ModuleWriter& w, Body& body, const Ref& x, const std::string& from, const ArrayType& to,
                  const std::string& to_shape) {
  const size_t copy = body.add(w.name("v"), from, "copy", {x.line});
  const size_t bitcast = body.add(w.name("v"), to_shape, "bitcast", {copy});
  body.values.push_back({bitcast, to});
}

void generate_tiled_bitcast(ModuleWriter& w, Body& body) {
  const auto x =
      w.some(body, [](const ArrayType& a) { return a.rank() == 2 && a.count() > 0 && a.count() < 3000; });
  if (!x) return;
  const int64_t rows = w.random.one_of({2, 4, 8}), columns = w.random.one_of({4, 8, 128});
  const auto blocks = [](int64_t size, int64_t tile) { return (size + tile - 1) / tile; };
  const ArrayType to{x->array.type,
                     {blocks(x->array.dims[0], rows), blocks(x->array.dims[1], columns), rows, columns}};
  if (to.count() > 6000) return;
  emit_bitcast(w, body, *x, fixed_shape(x->array, {1, 0}, fmt::format("T({},{})", rows, columns)), to,
               fixed_shape(to, {3, 2, 1, 0}));
}

}  // namespace

void generate_bitcast(ModuleWriter& w, Body& body) {
  if (w.random.chance(0.3)) return generate_tiled_bitcast(w, body);
  const auto x = w.some(body, [](const ArrayType& a) { return a.rank() > 0 && bit_width(a.type) >= 8; });
  if (!x) return;
  const int64_t rank = x->array.rank();
  ArrayType to = x->array;
  if (w.random.chance(0.4)) {  // a reshape: row-major on both sides
    if (rank > 1 && w.random.chance(0.6)) {
      to.dims = {x->array.count()};
    } else {
      to.dims.insert(to.dims.begin() + w.random.between(0, rank), 1);
    }
    emit_bitcast(w, body, *x, fixed_shape(x->array, descending(rank)), to,
                 fixed_shape(to, descending(to.rank())));
    return;
  }
  // A transpose: physical order {order} of x read as row-major.
  const Index order = permutation(w.random, rank);  // minor to major
  for (int64_t k = 0; k < rank; ++k)
    to.dims[static_cast<size_t>(rank - 1 - k)] =
        x->array.dims[static_cast<size_t>(order[static_cast<size_t>(k)])];
  if (x->array.type == ElementType::kF32 && w.random.chance(0.3)) to.type = ElementType::kS32;
  emit_bitcast(w, body, *x, fixed_shape(x->array, order), to, fixed_shape(to, descending(rank)));
}

void generate_movement(ModuleWriter& w, Body& body) {
  switch (w.random.weighted({5, 4, 4, 2, 4, 3, 3, 2, 2})) {
    case 0:
      return generate_broadcast(w, body);
    case 1:
      return generate_transpose(w, body);
    case 2:
      return generate_reshape(w, body);
    case 3:
      return generate_reverse(w, body);
    case 4:
      return generate_slice(w, body);
    case 5:
      return generate_concatenate(w, body);
    case 6:
      return generate_pad(w, body);
    case 7:
      return generate_iota(w, body);
    default: {
      const Ref x = w.any(body);
      w.emit(body, x.array, "copy", {x});
    }
  }
}

void generate_cheap(ModuleWriter& w, Body& body) {
  switch (w.random.weighted({12, 3, 8})) {
    case 0:
      return generate_elementwise(w, body);
    case 1:
      return generate_conversion(w, body);
    default:
      return generate_movement(w, body);
  }
}

}  // namespace hlosim::test
