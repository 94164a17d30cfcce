#include "stablehlo/approx_top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hlosim::stablehlo {
namespace {

struct Config {
  int64_t top_k = 0, dimension = 0, size_override = -1;
  double recall = 0;
  bool aggregates = true, falls_back = false;
};

Config config_of(OpLowering& op) {
  Config config;
  const mlir::Attribute* given = op.find("mhlo.backend_config");
  if (!given) given = op.need("backend_config");
  if (!given) return config;
  config.top_k = op.integer_in(*given, "top_k", 0);
  config.dimension = op.integer_in(*given, "reduction_dim", -1);
  config.size_override = op.integer_in(*given, "reduction_input_size_override", -1);
  config.aggregates = op.integer_in(*given, "aggregate_to_topk", 1) != 0;
  config.falls_back = op.integer_in(*given, "is_fallback", 0) != 0;
  const mlir::Attribute* recall = given->find("recall_target");
  config.recall = recall ? recall->number : 0.95;
  return config;
}

struct Reduced {
  int64_t size = 0, log2 = 0;
};

/// How many candidates stay of `size` elements so that the k largest are among them with the probability
/// wanted: in m windows all k lie apart with ((m - 1) / m)^(k - 1). Windows are as many as a tile has lanes,
/// or more.
Reduced reduced_size(int64_t size, int64_t rank, const Config& config) {
  const int64_t lanes = rank == 1 ? 1024 : 128;
  if (size <= lanes) return {size, 0};
  const double windows =
      config.top_k > 1 ? 1 / (1 - std::pow(config.recall, 1.0 / (static_cast<double>(config.top_k) - 1)))
                       : static_cast<double>(lanes);
  const int64_t of = config.size_override >= 0 ? config.size_override : size;
  const auto least = std::clamp(static_cast<int64_t>(windows), lanes, std::max(of, lanes));
  const auto log2 = static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(of / least))) - 1;
  if (log2 <= 0) return {size, 0};
  const int64_t tiles = (size + lanes - 1) / lanes, per = int64_t{1} << log2;
  return {(tiles + per - 1) / per * lanes, log2};
}

/// The candidates: what compilers do for this call by their own kernel.
InstructionId partial_reduction(OpLowering& op, const Values& operands, const Config& config,
                                const Reduced& reduced, ComputationId comparator, size_t arrays) {
  std::vector<ShapeRef> shapes;
  for (size_t i = 0; i < arrays; ++i) {
    std::vector<int64_t> sizes(op.shape(operands[i])->dimensions.begin(),
                               op.shape(operands[i])->dimensions.end());
    sizes[static_cast<size_t>(config.dimension)] = reduced.size;
    shapes.push_back(op.shapes().array(op.type(operands[i]), sizes));
  }
  const Attr attrs[] = {
      op.builder().quoted(AttrKey::kCustomCallTarget, "PartialReduce"),
      op.builder().computations(AttrKey::kCalledComputations, std::span(&comparator, 1)),
      op.builder().quoted(
          AttrKey::kBackendConfig,
          fmt::format("{{\"log2_reduction\": {}, \"reduction_dim\": {}, \"to_apply_type\": \"comparator\", "
                      "\"top_k\": {}, \"recall_target\": {:f}}}",
                      reduced.log2, config.dimension, config.top_k, config.recall))};
  return op.make(Opcode::kCustomCall, operands, attrs, op.shapes().tuple(shapes));
}

InstructionId first_along(OpLowering& op, InstructionId array, int64_t dimension, int64_t count) {
  std::vector<std::vector<int64_t>> slices;
  std::vector<int64_t> sizes;
  for (int64_t d = 0; d < op.rank(array); ++d) {
    sizes.push_back(d == dimension ? count : op.shape(array)->dim(d));
    slices.push_back({0, sizes.back(), 1});
  }
  return op.make(Opcode::kSlice, {array}, {op.builder().lists(AttrKey::kSlice, slices)},
                 op.shapes().array(op.type(array), sizes));
}

/// Arrays alike, with k elements along the dimension.
bool fits(OpLowering& op, std::span<const InstructionId> arrays, const Config& config) {
  const ShapeRef first = op.shape(arrays[0]);
  for (const InstructionId array : arrays)
    if (!op.shape(array)->is_array() || !std::ranges::equal(op.shape(array)->dimensions, first->dimensions))
      return false;
  return config.dimension >= 0 && config.dimension < first->rank() && config.top_k > 0 &&
         config.top_k <= first->dim(config.dimension);
}

}  // namespace

bool lower_approx_top_k(OpLowering& op) {
  const mlir::Attribute* called = op.find("called_computations");
  const bool has_config = op.has("mhlo.backend_config") || op.has("backend_config");
  if (!called || called->items.size() != 1 || !has_config) return false;
  const mlir::Operation* function = op.lowering().symbols().function(called->items[0]->text);
  const Config config = config_of(op);
  const Values operands = op.operands();
  if (op.failed()) return true;
  const size_t arrays = operands.size() / 2;
  if (!function || arrays == 0 || !fits(op, std::span(operands).first(arrays), config)) return false;
  const ComputationId comparator = op.lowering().function(*function, op.mlir().offset);
  if (op.failed()) return true;
  const Reduced reduced =
      reduced_size(op.shape(operands[0])->dim(config.dimension), op.rank(operands[0]), config);
  Values candidates(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(arrays));
  const bool reduces = !config.falls_back && reduced.log2 > 0;
  if (reduces) {
    const InstructionId call = partial_reduction(op, operands, config, reduced, comparator, arrays);
    for (size_t i = 0; i < arrays; ++i) candidates[i] = op.element(call, static_cast<int64_t>(i));
  }
  if (reduces && !config.aggregates) {
    op.give_all(candidates);
    return true;
  }
  std::vector<Attr> attrs = {op.ints(AttrKey::kDimensions, {config.dimension})};
  if (config.falls_back) attrs.push_back(Attr::make_bool(AttrKey::kIsStable, true));
  attrs.push_back(op.builder().computations(AttrKey::kToApply, std::span(&comparator, 1)));
  const InstructionId sorted = op.make(Opcode::kSort, candidates, attrs);
  const int64_t kept = config.aggregates ? config.top_k : reduced.size;
  Values results;
  for (size_t i = 0; i < arrays && !op.failed(); ++i) {
    const InstructionId array = arrays == 1 ? sorted : op.element(sorted, static_cast<int64_t>(i));
    results.push_back(first_along(op, array, config.dimension, kept));
  }
  op.give_all(results);
  return true;
}

}  // namespace hlosim::stablehlo
