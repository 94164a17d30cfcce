#include "workloads/sampling.h"

#include <cmath>
#include <functional>

namespace hlosim {
namespace {

constexpr ElementType kF32 = ElementType::kF32, kU32 = ElementType::kU32, kS32 = ElementType::kS32;
constexpr double kNeverDrawn = -1e30, kLeastMass = 1e-6;
constexpr int kKeyBits = 32;

/// Rows [b] along the vocabulary: [b, vocab].
Expr along_vocabulary(ExpressionGraph& graph, Expr rows, const Dims& dims) {
  return broadcast(graph, rows, dims, {0});
}

/// Unsigned numbers in the order of the f32 `values`: their bits, the negative ones turned over.
Expr ordered_keys(ExpressionGraph& graph, Expr values) {
  Expression cast;
  cast.opcode = Opcode::kBitcastConvert;
  cast.operands = {values};
  cast.type = {kU32, graph.dims(values), {}};
  const Expr bits = graph.add(std::move(cast));
  const Dims dims = graph.dims(bits);
  const Expr positive = add(graph, bits, full(graph, kU32, dims, std::exp2(kKeyBits - 1)));
  const Expr negative = subtract(graph, full(graph, kU32, dims, std::exp2(kKeyBits) - 1), bits);
  return select(graph, compare(graph, bits, full(graph, kU32, dims, std::exp2(kKeyBits - 1)), "LT"), positive,
                negative);
}

/// The largest u32[b] for which `holds` of the keys that are at least as large; 0 where it never does.
/// Requires: it holds for all smaller ones as well.
Expr largest_key(ExpressionGraph& graph, Expr keys, const std::function<Expr(Expr)>& holds) {
  const Dims dims = graph.dims(keys), rows{dims[0]};
  Expr found = full(graph, kU32, rows, 0);
  for (int bit = kKeyBits; bit-- > 0;) {
    const Expr candidate = add(graph, found, full(graph, kU32, rows, std::exp2(bit)));
    const Expr kept = compare(graph, keys, along_vocabulary(graph, candidate, dims), "GE");
    found = select(graph, holds(kept), candidate, found);
  }
  return found;
}

/// -log(-log(u)) of numbers u between 0 and 1, neither of them.
Expr gumbel_noise(ExpressionGraph& graph, Expr bits) {
  const Expr u = scale(graph, convert(graph, bits, kF32), std::exp2(-32));
  const Expr below_one = full_like(graph, u, 1 - std::exp2(-24));
  const Expr inside = minimum(graph, maximum(graph, u, full_like(graph, u, std::exp2(-33))), below_one);
  return negate(graph, logarithm(graph, negate(graph, logarithm(graph, inside))));
}

}  // namespace

Expr most_likely_tokens(ExpressionGraph& graph, Expr logits) {
  const Dims dims = graph.dims(logits);
  const Expr highest = along(graph, reduce_max(graph, logits, {2}), dims, 2);
  const Expr none = full(graph, kS32, dims, static_cast<double>(dims[2] - 1));
  const Expr places = iota(graph, kS32, dims, 2);
  return reduce_min(graph, select(graph, compare(graph, logits, highest, "EQ"), places, none), {2});
}

SampledTokens sampled_tokens(ExpressionGraph& graph, Expr logits, const SamplingInputs& inputs) {
  const Dims whole = graph.dims(logits), dims{whole[0], whole[2]};
  const Expr wide = reshape(graph, convert(graph, logits, kF32), dims);
  const Expr scores = divide(graph, wide, along_vocabulary(graph, inputs.temperature, dims));
  const Expr keys = ordered_keys(graph, scores);
  const Expr never = full(graph, kF32, dims, kNeverDrawn);
  // The most likely token is kept whatever the limits are.
  const Expr count = maximum(graph, inputs.top_k, full_like(graph, inputs.top_k, 1));
  const Expr mass = maximum(graph, inputs.top_p, full_like(graph, inputs.top_p, kLeastMass));
  const Expr of_rank = largest_key(graph, keys, [&](Expr kept) {
    return compare(graph, reduce_sum(graph, convert(graph, kept, kS32), {1}), count, "GE");
  });
  const Expr is_ranked = compare(graph, keys, along_vocabulary(graph, of_rank, dims), "GE");
  const Expr shares = softmax(graph, select(graph, is_ranked, scores, never), 1);
  const Expr nothing = full(graph, kF32, dims, 0);
  const Expr of_mass = largest_key(graph, keys, [&](Expr kept) {
    return compare(graph, reduce_sum(graph, select(graph, kept, shares, nothing), {1}), mass, "GE");
  });
  const Expr is_likely = compare(graph, keys, along_vocabulary(graph, of_mass, dims), "GE");
  Expression generator;
  generator.opcode = Opcode::kRngBitGenerator;
  generator.operands = {inputs.state};
  generator.type.elements = {graph[inputs.state].type, {kU32, dims, {}}};
  generator.attrs = {{AttrKey::kAlgorithm, ExpressionAttr::Kind::kWord, {}, "rng_three_fry"}};
  const Expr drawn = graph.add(std::move(generator));
  const Expr noisy = add(graph, scores, gumbel_noise(graph, element(graph, drawn, 1)));
  const Expr chosen = select(graph, both(graph, is_ranked, is_likely), noisy, never);
  return {most_likely_tokens(graph, reshape(graph, chosen, whole)), element(graph, drawn, 0)};
}

}  // namespace hlosim
