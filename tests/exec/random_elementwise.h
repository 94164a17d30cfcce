// Random modules of elementwise operations, which may run as one cluster, with views and reductions between.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

namespace hlosim::test {

/// A module of f32 parameters p0, p1, … and a tuple of some of its values.
class RandomElementwise {
 public:
  explicit RandomElementwise(uint32_t seed) : random_(seed) {}

  std::string make() {
    const size_t parameters = 1 + pick(4), operations = 1 + pick(40);
    for (size_t i = 0; i < parameters; ++i) {
      Dimensions dimensions;
      for (size_t d = pick(4); d-- > 0;)
        dimensions.push_back(1 + static_cast<int64_t>(pick(pick(3) ? 6 : 70)));
      add(dimensions, fmt::format("parameter({})", i));
    }
    for (size_t i = 0; i < operations; ++i) add_operation();
    std::string root = "tuple(", shape = "(";
    for (size_t i = 0, outputs = 1 + pick(4); i < outputs; ++i) {
      // The last ones more often, so that much is needed.
      const size_t v =
          values_.size() - 1 - (pick(2) ? pick(std::min<size_t>(3, values_.size())) : pick(values_.size()));
      root += fmt::format("{}v{}", i ? ", " : "", v);
      shape += (i ? ", " : "") + text(values_[v]);
    }
    return fmt::format("HloModule m\n{}ENTRY e {{\n{}  ROOT r = {}) {})\n}}\n", kComputations, body_, shape,
                       root);
  }

 private:
  using Dimensions = std::vector<int64_t>;
  static constexpr std::string_view kComputations = R"(sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}
)";

  size_t pick(size_t n) { return random_() % n; }
  static std::string text(const Dimensions& dimensions, std::string_view type = "f32") {
    return fmt::format("{}[{}]", type, fmt::join(dimensions, ","));
  }
  static int64_t count(const Dimensions& dimensions) {
    int64_t count = 1;
    for (const int64_t n : dimensions) count *= n;
    return count;
  }

  size_t add(Dimensions dimensions, std::string_view what) {
    body_ += fmt::format("  v{} = {} {}\n", values_.size(), text(dimensions), what);
    values_.push_back(std::move(dimensions));
    return values_.size() - 1;
  }

  size_t any() {
    return pick(3) ? values_.size() - 1 - pick(std::min<size_t>(4, values_.size())) : pick(values_.size());
  }

  // A value of the dimensions of `v`, if there must be by a broadcast or a new constant.
  size_t like(size_t v) {
    std::vector<size_t> same;
    for (size_t i = 0; i < values_.size(); ++i)
      if (values_[i] == values_[v]) same.push_back(i);
    if (pick(4)) return same[pick(same.size())];
    const size_t scalar =
        pick(2) ? add({}, fmt::format("constant({})", static_cast<int>(pick(9)) - 4)) : scalar_value();
    return values_[v].empty() ? scalar
                              : add(values_[v], fmt::format("broadcast(v{}), dimensions={{}}", scalar));
  }

  size_t scalar_value() {
    for (size_t i = values_.size(); i-- > 0;)
      if (values_[i].empty() && pick(2)) return i;
    return add({}, "constant(1.5)");
  }

  void add_operation() {
    switch (pick(16)) {
      case 0:
        return add_view(&RandomElementwise::broadcast);
      case 1:
        return add_view(&RandomElementwise::transpose);
      case 2:
        return add_view(&RandomElementwise::slice);
      case 3:
        return add_view(&RandomElementwise::reshape);
      case 4:
        return add_view(&RandomElementwise::reverse);
      case 5:
        return add_select();
      case 6:
        return add_clamp();
      case 7:
        return add_reduce();
      case 8:
        return add_normalisation();
      case 9:
      case 10:
        return add_unary();
      default:
        return add_binary();
    }
  }

  void add_unary() {
    constexpr std::string_view kNames[] = {"negate", "abs", "sqrt", "tanh", "exponential", "floor"};
    const size_t v = any();
    add(values_[v], fmt::format("{}(v{})", kNames[pick(std::size(kNames))], v));
  }
  void add_binary() {
    constexpr std::string_view kNames[] = {"add", "subtract", "multiply", "maximum", "minimum", "divide"};
    const size_t a = any(), b = like(a);
    const bool swapped = pick(2) != 0;
    add(values_[a],
        fmt::format("{}(v{}, v{})", kNames[pick(std::size(kNames))], swapped ? b : a, swapped ? a : b));
  }
  void add_select() {
    const size_t a = any(), b = like(a), scalar = scalar_value();
    const bool by_scalar = pick(3) == 0;
    const Dimensions of = by_scalar ? Dimensions{} : values_[a];
    const size_t n = values_.size();
    body_ += fmt::format("  p{} = {} compare(v{}, v{}), direction=LT\n", n, text(of, "pred"),
                         by_scalar ? scalar : a, by_scalar ? scalar_value() : b);
    if (values_.size() != n) {  // the comparison needed a value that came after its name
      body_ += fmt::format("  v{} = {} negate(v{})\n", values_.size(), text({}), scalar);
      values_.push_back({});
      return;
    }
    add(values_[a], fmt::format("select(p{}, v{}, v{})", n, a, b));
  }
  void add_clamp() {
    const size_t x = any(), low = scalar_value(), high = scalar_value();
    add(values_[x], fmt::format("clamp(v{}, v{}, v{})", low, x, high));
  }
  void add_reduce() {
    const size_t v = any(), init = scalar_value();
    Dimensions kept;
    std::vector<size_t> reduced;
    for (size_t d = 0; d < values_[v].size(); ++d)
      if (pick(2))
        kept.push_back(values_[v][d]);
      else
        reduced.push_back(d);
    add(kept, fmt::format("reduce(v{}, v{}), dimensions={{{}}}, to_apply={}", v, init,
                          fmt::join(reduced, ","), pick(2) ? "sum" : "largest"));
  }

  // A value combined with something that is the same along its minor dimensions.
  void add_normalisation() {
    const size_t v = any(), init = scalar_value();
    if (values_[v].empty()) return;
    const size_t first = pick(values_[v].size());
    std::vector<size_t> kept, reduced;
    for (size_t d = 0; d < values_[v].size(); ++d) (d < first ? kept : reduced).push_back(d);
    size_t r = add({values_[v].begin(), values_[v].begin() + static_cast<int>(first)},
                   fmt::format("reduce(v{}, v{}), dimensions={{{}}}, to_apply={}", v, init,
                               fmt::join(reduced, ","), pick(2) ? "sum" : "largest"));
    if (pick(2)) r = add(values_[r], fmt::format("tanh(v{})", r));
    const size_t b =
        add(values_[v], fmt::format("broadcast(v{}), dimensions={{{}}}", r, fmt::join(kept, ",")));
    add(values_[v], fmt::format("{}(v{}, v{})", pick(2) ? "subtract" : "multiply", v, b));
  }

  void add_view(void (RandomElementwise::*view)(size_t)) {
    const size_t v = any();
    if (count(values_[v]) < 50000) (this->*view)(v);
  }
  void broadcast(size_t v) {
    Dimensions to;
    std::vector<size_t> mapped;
    for (const int64_t n : values_[v]) {
      while (pick(3) == 0) to.push_back(1 + static_cast<int64_t>(pick(5)));
      mapped.push_back(to.size());
      to.push_back(n);
    }
    while (pick(2) == 0) to.push_back(1 + static_cast<int64_t>(pick(5)));
    if (count(to) < 100000)
      add(to, fmt::format("broadcast(v{}), dimensions={{{}}}", v, fmt::join(mapped, ",")));
  }
  void transpose(size_t v) {
    std::vector<size_t> order;
    for (size_t d = 0; d < values_[v].size(); ++d)
      order.insert(order.begin() + static_cast<int>(pick(d + 1)), d);
    Dimensions to;
    for (const size_t d : order) to.push_back(values_[v][d]);
    add(to, fmt::format("transpose(v{}), dimensions={{{}}}", v, fmt::join(order, ",")));
  }
  void slice(size_t v) {
    Dimensions to;
    std::string ranges;
    for (const int64_t n : values_[v]) {
      const auto start = static_cast<int64_t>(pick(static_cast<size_t>(n)));
      const int64_t limit = start + 1 + static_cast<int64_t>(pick(static_cast<size_t>(n - start)));
      const auto stride = 1 + static_cast<int64_t>(pick(3));
      ranges += fmt::format("{}[{}:{}:{}]", ranges.empty() ? "" : ", ", start, limit, stride);
      to.push_back((limit - start + stride - 1) / stride);
    }
    add(to, fmt::format("slice(v{}), slice={{{}}}", v, ranges));
  }
  void reshape(size_t v) {
    const int64_t all = count(values_[v]);
    Dimensions to = {all};
    for (const int64_t n : {2, 3, 5, 1})
      if (to[0] % n == 0 && pick(2)) {
        to[0] /= n;
        to.push_back(n);
      }
    add(to, fmt::format("reshape(v{})", v));
  }
  void reverse(size_t v) {
    std::vector<size_t> dimensions;
    for (size_t d = 0; d < values_[v].size(); ++d)
      if (pick(2)) dimensions.push_back(d);
    add(values_[v], fmt::format("reverse(v{}), dimensions={{{}}}", v, fmt::join(dimensions, ",")));
  }

  std::mt19937 random_;
  std::string body_;
  std::vector<Dimensions> values_;
};

}  // namespace hlosim::test
