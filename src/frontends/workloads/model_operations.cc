#include "workloads/model_operations.h"

#include <numeric>
#include <utility>

#include "workloads/gradients.h"

namespace hlosim {
namespace {

using Attrs = std::vector<ExpressionAttr>;
using Kind = ExpressionAttr::Kind;

Expr make(ExpressionGraph& graph, Opcode opcode, std::vector<Expr> operands, ValueType type, Attrs attrs = {},
          GradientRule gradient = {}) {
  Expression expression;
  expression.opcode = opcode;
  expression.operands = std::move(operands);
  expression.type = std::move(type);
  expression.attrs = std::move(attrs);
  expression.gradient = std::move(gradient);
  return graph.add(std::move(expression));
}

Expr elementwise(ExpressionGraph& graph, Opcode opcode, std::vector<Expr> operands,
                 GradientRule gradient = {}) {
  for (const Expr operand : operands)
    HLOSIM_CHECK(graph.dims(operand) == graph.dims(operands.back()), "{} of other dimensions",
                 to_text(opcode));
  ValueType type = graph[operands.back()].type;
  return make(graph, opcode, std::move(operands), std::move(type), {}, std::move(gradient));
}

/// The operands of an expression that is differentiated.
struct Parts {
  Parts(Backward& backward, Expr self) : graph(backward.graph()), operands(graph[self].operands) {}
  ExpressionGraph& graph;
  std::vector<Expr> operands;
  Expr a() const { return operands[0]; }
  Expr b() const { return operands[1]; }
};

Expr chosen(ExpressionGraph& graph, Expr a, Expr b, Opcode opcode, const char* direction) {
  return elementwise(graph, opcode, {a, b}, [direction](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    const Expr first = compare(p.graph, p.a(), p.b(), direction);
    const Expr none = full_like(p.graph, cotangent, 0);
    backward.add(p.a(), select(p.graph, first, cotangent, none));
    backward.add(p.b(), select(p.graph, first, none, cotangent));
  });
}

}  // namespace

// ── values ──

Expr number(ExpressionGraph& graph, ElementType type, double value) {
  Expression expression;
  expression.opcode = Opcode::kConstant;
  expression.type.element = type;
  expression.number = value;
  return graph.add(std::move(expression));
}

Expr full(ExpressionGraph& graph, ElementType type, const Dims& dims, double value) {
  const Expr scalar = number(graph, type, value);
  return dims.empty() ? scalar : broadcast(graph, scalar, dims, {});
}

Expr full_like(ExpressionGraph& graph, Expr like, double value) {
  return full(graph, graph.element(like), Dims(graph.dims(like)), value);
}

Expr iota(ExpressionGraph& graph, ElementType type, const Dims& dims, int64_t dimension) {
  return make(graph, Opcode::kIota, {}, {type, dims, {}},
              {{AttrKey::kIotaDimension, Kind::kInt, {dimension}}});
}

// ── element by element ──

Expr add(ExpressionGraph& graph, Expr a, Expr b) {
  return elementwise(graph, Opcode::kAdd, {a, b}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    backward.add(p.a(), cotangent);
    backward.add(p.b(), cotangent);
  });
}

Expr subtract(ExpressionGraph& graph, Expr a, Expr b) {
  return elementwise(graph, Opcode::kSubtract, {a, b}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    backward.add(p.a(), cotangent);
    if (backward.reaches(p.b())) backward.add(p.b(), negate(p.graph, cotangent));
  });
}

Expr multiply(ExpressionGraph& graph, Expr a, Expr b) {
  return elementwise(graph, Opcode::kMultiply, {a, b}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    if (backward.reaches(p.a())) backward.add(p.a(), multiply(p.graph, cotangent, p.b()));
    if (backward.reaches(p.b())) backward.add(p.b(), multiply(p.graph, cotangent, p.a()));
  });
}

Expr divide(ExpressionGraph& graph, Expr a, Expr b) {
  return elementwise(graph, Opcode::kDivide, {a, b}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    const Expr da = divide(p.graph, cotangent, p.b());
    backward.add(p.a(), da);
    if (backward.reaches(p.b())) backward.add(p.b(), negate(p.graph, multiply(p.graph, da, self)));
  });
}

Expr maximum(ExpressionGraph& graph, Expr a, Expr b) { return chosen(graph, a, b, Opcode::kMaximum, "GT"); }
Expr minimum(ExpressionGraph& graph, Expr a, Expr b) { return chosen(graph, a, b, Opcode::kMinimum, "LT"); }

Expr scale(ExpressionGraph& graph, Expr a, double factor) {
  return factor == 1 ? a : multiply(graph, a, full_like(graph, a, factor));
}
Expr shift(ExpressionGraph& graph, Expr a, double summand) {
  return summand == 0 ? a : add(graph, a, full_like(graph, a, summand));
}

Expr negate(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kNegate, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    backward.add(Parts(backward, self).a(), negate(backward.graph(), cotangent));
  });
}

Expr absolute(ExpressionGraph& graph, Expr a) { return elementwise(graph, Opcode::kAbs, {a}); }
Expr sine(ExpressionGraph& graph, Expr a) { return elementwise(graph, Opcode::kSin, {a}); }
Expr cosine(ExpressionGraph& graph, Expr a) { return elementwise(graph, Opcode::kCos, {a}); }
Expr round_to_even(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kRoundNearestEven, {a});
}
Expr both(ExpressionGraph& graph, Expr a, Expr b) { return elementwise(graph, Opcode::kAnd, {a, b}); }

Expr exponential(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kExp, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    backward.add(Parts(backward, self).a(), multiply(backward.graph(), cotangent, self));
  });
}

Expr logarithm(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kLog, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    backward.add(p.a(), divide(p.graph, cotangent, p.a()));
  });
}

Expr square_root(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kSqrt, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    backward.add(p.a(), divide(p.graph, scale(p.graph, cotangent, 0.5), self));
  });
}

Expr inverse_square_root(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kRsqrt, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    const Expr cube = divide(p.graph, self, p.a());  // a^(-3/2)
    backward.add(p.a(), scale(p.graph, multiply(p.graph, cotangent, cube), -0.5));
  });
}

Expr tangent_hyperbolic(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kTanh, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    const Expr square = multiply(p.graph, self, self);
    const Expr slope = subtract(p.graph, full_like(p.graph, self, 1), square);
    backward.add(p.a(), multiply(p.graph, cotangent, slope));
  });
}

Expr logistic(ExpressionGraph& graph, Expr a) {
  return elementwise(graph, Opcode::kLogistic, {a}, [](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    const Expr rest = subtract(p.graph, full_like(p.graph, self, 1), self);
    backward.add(p.a(), multiply(p.graph, cotangent, multiply(p.graph, self, rest)));
  });
}

Expr compare(ExpressionGraph& graph, Expr a, Expr b, std::string_view direction) {
  HLOSIM_CHECK(graph.dims(a) == graph.dims(b), "compares other dimensions");
  return make(graph, Opcode::kCompare, {a, b}, {ElementType::kPred, graph.dims(a), {}},
              {{AttrKey::kDirection, Kind::kWord, {}, std::string(direction)}});
}

Expr select(ExpressionGraph& graph, Expr which, Expr on_true, Expr on_false) {
  return elementwise(graph, Opcode::kSelect, {which, on_true, on_false},
                     [](Backward& backward, Expr self, Expr cotangent) {
                       const Parts p(backward, self);
                       const Expr none = full_like(p.graph, cotangent, 0);
                       if (backward.reaches(p.b()))
                         backward.add(p.b(), select(p.graph, p.a(), cotangent, none));
                       if (backward.reaches(p.operands[2]))
                         backward.add(p.operands[2], select(p.graph, p.a(), none, cotangent));
                     });
}

Expr convert(ExpressionGraph& graph, Expr a, ElementType type) {
  if (graph.element(a) == type) return a;
  return make(graph, Opcode::kConvert, {a}, {type, graph.dims(a), {}}, {},
              [](Backward& backward, Expr self, Expr cotangent) {
                backward.add(Parts(backward, self).a(), cotangent);
              });
}

// ── shapes ──

Expr broadcast(ExpressionGraph& graph, Expr a, const Dims& dims, const Dims& places) {
  HLOSIM_CHECK(static_cast<int64_t>(places.size()) == graph.rank(a), "a place for each dimension");
  if (dims == graph.dims(a)) return a;
  return make(graph, Opcode::kBroadcast, {a}, {graph.element(a), dims, {}},
              {{AttrKey::kDimensions, Kind::kInts, places}},
              [places](Backward& backward, Expr self, Expr cotangent) {
                Dims added;
                for (int64_t i = 0; i < backward.graph().rank(self); ++i)
                  if (std::find(places.begin(), places.end(), i) == places.end()) added.push_back(i);
                backward.add(Parts(backward, self).a(), reduce_sum(backward.graph(), cotangent, added));
              });
}

Expr reshape(ExpressionGraph& graph, Expr a, const Dims& dims) {
  if (dims == graph.dims(a)) return a;
  HLOSIM_CHECK(element_count(dims) == element_count(graph.dims(a)), "as many elements");
  return make(graph, Opcode::kReshape, {a}, {graph.element(a), dims, {}}, {},
              [](Backward& backward, Expr self, Expr cotangent) {
                const Parts p(backward, self);
                backward.add(p.a(), reshape(p.graph, cotangent, Dims(p.graph.dims(p.a()))));
              });
}

Expr transpose(ExpressionGraph& graph, Expr a, const Dims& order) {
  Dims dims, back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    dims.push_back(graph.dims(a)[static_cast<size_t>(order[i])]);
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  if (std::is_sorted(order.begin(), order.end())) return a;
  return make(graph, Opcode::kTranspose, {a}, {graph.element(a), dims, {}},
              {{AttrKey::kDimensions, Kind::kInts, order}},
              [back](Backward& backward, Expr self, Expr cotangent) {
                backward.add(Parts(backward, self).a(), transpose(backward.graph(), cotangent, back));
              });
}

Expr slice(ExpressionGraph& graph, Expr a, int64_t dimension, int64_t start, int64_t limit) {
  const auto at = static_cast<size_t>(dimension);
  Dims dims = graph.dims(a);
  const int64_t whole = dims[at];
  if (start == 0 && limit == whole) return a;
  ExpressionAttr ranges{AttrKey::kSlice, Kind::kRanges};
  for (const int64_t dim : dims) ranges.lists.push_back({0, dim, 1});
  ranges.lists[at] = {start, limit, 1};
  dims[at] = limit - start;
  return make(graph, Opcode::kSlice, {a}, {graph.element(a), dims, {}}, {ranges},
              [dimension, start, limit, whole](Backward& backward, Expr self, Expr cotangent) {
                backward.add(Parts(backward, self).a(),
                             pad(backward.graph(), cotangent, dimension, start, whole - limit));
              });
}

Expr concatenate(ExpressionGraph& graph, const std::vector<Expr>& parts, int64_t dimension) {
  if (parts.size() == 1) return parts[0];
  Dims dims = graph.dims(parts[0]);
  int64_t& size = dims[static_cast<size_t>(dimension)];
  size = 0;
  for (const Expr part : parts) size += graph.dims(part)[static_cast<size_t>(dimension)];
  return make(graph, Opcode::kConcatenate, parts, {graph.element(parts[0]), dims, {}},
              {{AttrKey::kDimensions, Kind::kInts, {dimension}}},
              [dimension](Backward& backward, Expr self, Expr cotangent) {
                const Parts p(backward, self);
                int64_t at = 0;
                for (const Expr part : p.operands) {
                  const int64_t end = at + p.graph.dims(part)[static_cast<size_t>(dimension)];
                  if (backward.reaches(part))
                    backward.add(part, slice(p.graph, cotangent, dimension, at, end));
                  at = end;
                }
              });
}

Expr pad(ExpressionGraph& graph, Expr a, int64_t dimension, int64_t low, int64_t high) {
  if (low == 0 && high == 0) return a;
  Dims dims = graph.dims(a);
  ExpressionAttr padding{AttrKey::kPadding, Kind::kRanges, {}, {}, std::vector<Dims>(dims.size(), {0, 0, 0})};
  padding.lists[static_cast<size_t>(dimension)] = {low, high, 0};
  const int64_t size = dims[static_cast<size_t>(dimension)];
  dims[static_cast<size_t>(dimension)] += low + high;
  const Expr zero = number(graph, graph.element(a), 0);
  return make(graph, Opcode::kPad, {a, zero}, {graph.element(a), dims, {}}, {padding},
              [dimension, low, size](Backward& backward, Expr self, Expr cotangent) {
                backward.add(Parts(backward, self).a(),
                             slice(backward.graph(), cotangent, dimension, low, low + size));
              });
}

// ── structure ──

Expr element(ExpressionGraph& graph, Expr tuple, int64_t index) {
  ValueType type = graph[tuple].type.elements[static_cast<size_t>(index)];
  return make(graph, Opcode::kGetTupleElement, {tuple}, std::move(type),
              {{AttrKey::kIndex, Kind::kInt, {index}}});
}

Expr custom_call(ExpressionGraph& graph, std::string_view target, const std::vector<Expr>& operands,
                 ValueType type, std::vector<ExpressionAttr> attrs) {
  attrs.insert(attrs.begin(), {AttrKey::kCustomCallTarget, Kind::kText, {}, std::string(target)});
  return make(graph, Opcode::kCustomCall, operands, std::move(type), std::move(attrs));
}

Expr with_sharding(ExpressionGraph& graph, Expr a, const std::string& sharding, bool of_gradient) {
  if (sharding.empty()) return a;
  const Expr stated =
      custom_call(graph, "Sharding", {a}, graph[a].type, {{AttrKey::kSharding, Kind::kBraces, {}, sharding}});
  graph.at(stated).gradient = [sharding, of_gradient](Backward& backward, Expr self, Expr cotangent) {
    const Parts p(backward, self);
    backward.add(p.a(), of_gradient ? with_sharding(p.graph, cotangent, sharding) : cotangent);
  };
  return stated;
}

Expr stop_gradient(ExpressionGraph& graph, Expr a) {
  const Expr same = make(graph, Opcode::kCopy, {a}, graph[a].type);
  graph.at(same).is_alias = true;
  return same;
}

}  // namespace hlosim
