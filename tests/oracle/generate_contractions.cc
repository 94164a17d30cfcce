// Random products, solvers and generators of bits.
#include <fmt/format.h>

#include <algorithm>

#include "oracle/module_writer.h"

namespace hlosim::test {
namespace {

bool multiplies(ElementType type) { return !is_pred(type); }

/// Sizes in a random order of roles, and which dimension plays which.
struct Side {
  Index dims, batch, contracting;
};

Side random_side(RandomSource& random, const Index& batch, const Index& contracting, const Index& free) {
  std::vector<std::pair<int, size_t>> roles;
  for (size_t i = 0; i < batch.size(); ++i) roles.push_back({0, i});
  for (size_t i = 0; i < contracting.size(); ++i) roles.push_back({1, i});
  for (size_t i = 0; i < free.size(); ++i) roles.push_back({2, i});
  random.shuffle(roles);
  Side side;
  side.batch.resize(batch.size());
  side.contracting.resize(contracting.size());
  for (size_t d = 0; d < roles.size(); ++d) {
    const auto [role, i] = roles[d];
    side.dims.push_back(role == 0 ? batch[i] : role == 1 ? contracting[i] : free[i]);
    if (role == 0) side.batch[i] = static_cast<int64_t>(d);
    if (role == 1) side.contracting[i] = static_cast<int64_t>(d);
  }
  return side;
}

Index free_sizes(const Side& side) {
  Index sizes;
  for (int64_t d = 0; d < static_cast<int64_t>(side.dims.size()); ++d)
    if (std::find(side.batch.begin(), side.batch.end(), d) == side.batch.end() &&
        std::find(side.contracting.begin(), side.contracting.end(), d) == side.contracting.end())
      sizes.push_back(side.dims[static_cast<size_t>(d)]);
  return sizes;
}

Index sizes(RandomSource& random, int64_t count, int64_t most) {
  Index result;
  for (int64_t i = 0; i < count; ++i) result.push_back(random.chance(0.04) ? 0 : random.between(1, most));
  return result;
}

std::string dot_attributes(const Side& lhs, const Side& rhs) {
  std::string text = fmt::format("lhs_contracting_dims={}, rhs_contracting_dims={}",
                                 list_text(lhs.contracting), list_text(rhs.contracting));
  if (!lhs.batch.empty())
    text += fmt::format(", lhs_batch_dims={}, rhs_batch_dims={}", list_text(lhs.batch), list_text(rhs.batch));
  return text;
}

ElementType product_type(RandomSource& random, ElementType type) {
  if (type == ElementType::kBF16 || type == ElementType::kF16)
    return random.chance(0.5) ? ElementType::kF32 : type;
  if (is_float(type) && bit_width(type) < 16) return random.one_of({ElementType::kF32, ElementType::kBF16});
  if (is_integer(type) && bit_width(type) <= 8) return ElementType::kS32;
  return type;
}

}  // namespace

void generate_dot(ModuleWriter& w, Body& body) {
  ElementType type = w.random_type();
  if (!multiplies(type)) type = ElementType::kF32;
  const bool bigger = w.random.chance(0.15);
  const int64_t most = !bigger ? 7 : w.random.chance(0.2) ? 120 : 40;
  const Index batch = sizes(w.random, w.random.chance(0.3) ? w.random.between(1, 2) : 0, 3);
  const Index contracting = sizes(w.random, static_cast<int64_t>(w.random.weighted({1, 6, 2})), most);
  const Side lhs =
      random_side(w.random, batch, contracting,
                  sizes(w.random, static_cast<int64_t>(w.random.weighted({1, 4, bigger ? 0 : 1})), most));
  const Side rhs =
      random_side(w.random, batch, contracting,
                  sizes(w.random, static_cast<int64_t>(w.random.weighted({1, 4, bigger ? 0 : 1})), most));
  ArrayType result{product_type(w.random, type), batch};
  for (const Side* side : {&lhs, &rhs})
    for (const int64_t size : free_sizes(*side)) result.dims.push_back(size);
  if (result.count() > (most == 120 ? 15000 : 4000)) return;
  const ElementType other = is_float(type) && w.random.chance(0.1) ? w.random_float() : type;
  const Ref a = w.obtain(body, {type, lhs.dims}), b = w.obtain(body, {other, rhs.dims});
  w.emit(body, result, "dot", {a, b}, dot_attributes(lhs, rhs));
}

void generate_ragged_dot(ModuleWriter& w, Body& body) {
  const int64_t m = w.random.between(1, 9), k = w.random.between(1, 6), n = w.random.between(1, 6),
                g = w.random.between(1, 4);
  const ElementType type = w.random.one_of({ElementType::kF32, ElementType::kBF16, ElementType::kS32});
  const ElementType size_type = ElementType::kS32;
  const Ref lhs = w.obtain(body, {type, {m, k}});
  std::string groups = "{";
  for (int64_t i = 0; i < g; ++i) groups += fmt::format("{}{}", i ? ", " : "", w.random.between(0, 4));
  const size_t group_line =
      body.add(w.name("c"), w.plain_shape({size_type, {g}}), "constant", {}, "", groups + "}");
  const Ref group_sizes{group_line, {size_type, {g}}};
  if (w.random.chance(0.5)) {  // rows in groups
    const Ref rhs = w.obtain(body, {type, {g, k, n}});
    w.emit(body, {type, {m, n}}, "ragged-dot", {lhs, rhs, group_sizes},
           "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}");
    return;
  }
  const Ref rhs = w.obtain(body, {type, {k, n}});
  w.emit(body, {type, {g, m, n}}, "ragged-dot", {lhs, rhs, group_sizes},
         "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}");
}

void generate_scaled_dot(ModuleWriter& w, Body& body) {
  const int64_t m = w.random.between(1, 8), n = w.random.between(1, 8), blocks = w.random.between(1, 3);
  const int64_t k = blocks * w.random.between(1, 8);
  const ElementType type =
      w.random.one_of({ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kBF16});
  const ElementType scale_type =
      w.random.one_of({ElementType::kF32, ElementType::kBF16, ElementType::kF8E4M3FN});
  const ElementType result = w.random.one_of({ElementType::kF32, ElementType::kBF16});
  const Ref lhs = w.obtain(body, {type, {m, k}}), rhs = w.obtain(body, {type, {n, k}});
  const bool scaled_lhs = w.random.chance(0.7), scaled_rhs = !scaled_lhs || w.random.chance(0.6);
  const Ref one = w.constant(body, scale_type, "1");
  const Ref lhs_scale = scaled_lhs ? w.obtain(body, {scale_type, {m, blocks}}) : one;
  const Ref rhs_scale =
      scaled_rhs ? w.obtain(body, {scale_type, {w.random.chance(0.5) ? n : 1, blocks}}) : one;
  w.emit(body, {result, {m, n}}, "scaled-dot", {lhs, rhs, lhs_scale, rhs_scale},
         "lhs_contracting_dims={1}, rhs_contracting_dims={1}");
}

void generate_convolution(ModuleWriter& w, Body& body) {
  const int64_t spatial = w.random.between(0, 2);
  ElementType type = w.random.one_of(
      {ElementType::kF32, ElementType::kF32, ElementType::kBF16, ElementType::kS32, ElementType::kS8});
  const bool grouped = w.random.chance(0.3), batch_grouped = !grouped && w.random.chance(0.2);
  const int64_t groups = w.random.between(1, 3);
  const bool larger = w.random.chance(0.1);
  const int64_t features = w.random.between(1, larger ? 20 : 4),
                outputs = w.random.between(1, 4) * (grouped || batch_grouped ? groups : 1);
  const int64_t batch = w.random.between(1, 3);
  // Letters of each array in a random order, spatial dimensions as digits.
  const auto labels = [&](std::string letters) {
    std::vector<char> order(letters.begin(), letters.end());
    for (int64_t d = 0; d < spatial; ++d) order.push_back(static_cast<char>('0' + d));
    w.random.shuffle(order);
    return std::string(order.begin(), order.end());
  };
  const std::string in = labels("bf"), kernel = labels("io"), out = labels("bf");
  std::string size, stride, pad, base, inner, reversal;
  Index in_sizes, kernel_sizes, out_sizes;
  for (int64_t d = 0; d < spatial; ++d) {
    const int64_t n = w.random.between(1, larger ? 24 : 9), k = w.random.between(1, 4),
                  s = w.random.between(1, 2);
    const int64_t b = w.random.chance(0.2) ? 2 : 1, e = w.random.chance(0.2) ? 2 : 1;
    const int64_t low = w.random.between(-1, 2), high = w.random.between(-1, 2);
    if ((n - 1) * b + 1 + low + high < 0) return;
    const int64_t space = (n - 1) * b + 1 + low + high - ((k - 1) * e + 1);
    in_sizes.push_back(n);
    kernel_sizes.push_back(k);
    out_sizes.push_back(space < 0 ? 0 : space / s + 1);
    const char* x = d == 0 ? "" : "x";
    size += fmt::format("{}{}", x, k);
    stride += fmt::format("{}{}", x, s);
    pad += fmt::format("{}{}_{}", x, low, high);
    base += fmt::format("{}{}", x, b);
    inner += fmt::format("{}{}", x, e);
    reversal += fmt::format("{}{}", x, w.random.chance(0.2) ? 1 : 0);
  }
  const auto dims = [](const std::string& order, char first, int64_t first_size, int64_t second_size,
                       const Index& sizes) {
    Index result;
    for (const char c : order)
      result.push_back(c >= '0' && c <= '9' ? sizes[static_cast<size_t>(c - '0')]
                       : c == first         ? first_size
                                            : second_size);
    return result;
  };
  const Ref lhs = w.obtain(body, {type, dims(in, 'b', batch_grouped ? batch * groups : batch,
                                             grouped ? features * groups : features, in_sizes)});
  const Ref rhs = w.obtain(body, {type, dims(kernel, 'i', features, outputs, kernel_sizes)});
  std::string attributes;
  if (spatial > 0)
    attributes =
        fmt::format("window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}, ", size,
                    stride, pad, base, inner, reversal);
  attributes += fmt::format("dim_labels={}_{}->{}", in, kernel, out);
  if (grouped) attributes += fmt::format(", feature_group_count={}", groups);
  if (batch_grouped) attributes += fmt::format(", batch_group_count={}", groups);
  const ElementType result = type == ElementType::kS8 ? ElementType::kS32 : type;
  w.emit(body, {result, dims(out, 'b', batch, outputs, out_sizes)}, "convolution", {lhs, rhs}, attributes);
}

// ── solvers, transforms ─────────────────────────────────────────

namespace {

/// x·xᵀ/8 + n·1, positive definite when x is moderate.
Ref definite_matrix(ModuleWriter& w, Body& body, ElementType type, int64_t n) {
  const ArrayType square{type, {n, n}};
  const Ref raw = w.obtain(body, square);
  const Ref low = w.constant(body, type, "-2"), high = w.constant(body, type, "2");
  const Ref x = w.emit(body, square, "clamp", {low, raw, high});
  const Ref product =
      w.emit(body, square, "dot", {x, x}, "lhs_contracting_dims={1}, rhs_contracting_dims={1}");
  const ArrayType indices{ElementType::kS32, {n, n}};
  const Ref rows = w.emit(body, indices, "iota", {}, "iota_dimension=0");
  const Ref columns = w.emit(body, indices, "iota", {}, "iota_dimension=1");
  const Ref diagonal = w.emit(body, {ElementType::kPred, {n, n}}, "compare", {rows, columns}, "direction=EQ");
  const Ref ones = w.emit(body, square, "convert", {diagonal});
  const Ref scale = w.emit(body, square, "broadcast", {w.constant(body, type, fmt::format("{}", 2 * n + 1))},
                           "dimensions={}");
  const Ref shift = w.emit(body, square, "multiply", {ones, scale});
  return w.emit(body, square, "add", {product, shift});
}

void generate_fft(ModuleWriter& w, Body& body) {
  const int64_t n = w.random.between(1, 12), rows = w.random.between(1, 4);
  const bool two = w.random.chance(0.3), real = w.random.chance(0.4), inverse = w.random.chance(0.5);
  const std::string lengths = two ? fmt::format("{{{},{}}}", rows, n) : fmt::format("{{{}}}", n);
  const ArrayType complex{ElementType::kC64, {rows, real ? n / 2 + 1 : n}},
      plain{ElementType::kF32, {rows, n}};
  const ArrayType from = !real || inverse ? complex : plain, to = !real || !inverse ? complex : plain;
  const std::string kind = std::string(inverse ? "I" : "") + (real ? "R" : "") + "FFT";
  w.emit(body, to, "fft", {w.obtain(body, from)}, fmt::format("fft_type={}, fft_length={}", kind, lengths));
}

void generate_batch_norm(ModuleWriter& w, Body& body) {
  const ElementType type = ElementType::kF32;
  const Index dims = w.random_dims(2, 4, 400);
  const int64_t feature = w.random.between(0, static_cast<int64_t>(dims.size()) - 1);
  const ArrayType x{type, dims}, vector{type, {dims[static_cast<size_t>(feature)]}};
  if (x.count() == 0) return;
  const std::string attributes = fmt::format("epsilon=0.01, feature_index={}", feature);
  const Ref input = w.obtain(body, x), scale = w.obtain(body, vector), other = w.obtain(body, vector);
  if (w.random.chance(0.4)) {
    w.emit_tuple(body, {x, vector, vector}, "batch-norm-training", {input, scale, other}, attributes);
    return;
  }
  const Ref mean = w.obtain(body, vector), raw = w.obtain(body, vector);
  const Ref variance = w.emit(body, vector, "abs", {raw});
  if (w.random.chance(0.5)) {
    w.emit(body, x, "batch-norm-inference", {input, scale, other, mean, variance}, attributes);
    return;
  }
  const Ref gradient = w.obtain(body, x);
  w.emit_tuple(body, {x, vector, vector}, "batch-norm-grad", {input, scale, mean, variance, gradient},
               attributes);
}

}  // namespace

void generate_linear_algebra(ModuleWriter& w, Body& body) {
  const size_t kind = w.random.weighted({2, 2, 3, 3});
  if (kind == 2) return generate_fft(w, body);
  if (kind == 3) return generate_batch_norm(w, body);
  const ElementType type = w.random.one_of({ElementType::kF32, ElementType::kF64});
  const int64_t n = w.random.between(1, 9), m = w.random.between(1, 5);
  const Ref a = definite_matrix(w, body, type, n);
  const char* lower = w.random.chance(0.5) ? "true" : "false";
  if (kind == 0) {
    w.emit(body, a.array, "cholesky", {a}, fmt::format("lower={}", lower));
    return;
  }
  const bool left = w.random.chance(0.5);
  const Ref b = w.obtain(body, {type, left ? Index{n, m} : Index{m, n}});
  w.emit(body, b.array, "triangular-solve", {a, b},
         fmt::format("left_side={}, lower={}, unit_diagonal={}, transpose_a={}", left ? "true" : "false",
                     lower, w.random.chance(0.3) ? "true" : "false",
                     w.random.one_of<std::string_view>({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})));
}

void generate_random_bits(ModuleWriter& w, Body& body) {
  const bool philox = w.random.chance(0.5);
  const int64_t words = philox && w.random.chance(0.5) ? 3 : 2;
  const ElementType type = w.random.one_of({ElementType::kU32, ElementType::kU32, ElementType::kU64,
                                            ElementType::kU16, ElementType::kU8, ElementType::kS32});
  const ArrayType state{ElementType::kU64, {words}}, bits{type, w.random_dims(0, 3, 600)};
  const Ref old_state = w.obtain(body, state);
  w.emit_tuple(body, {state, bits}, "rng-bit-generator", {old_state},
               fmt::format("algorithm={}", philox ? "rng_philox" : "rng_three_fry"));
}

}  // namespace hlosim::test
