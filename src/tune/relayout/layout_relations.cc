#include "relayout/layout_relations.h"

#include <algorithm>

#include "layout/bitcast.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

using Order = std::vector<int64_t>;

bool same_tiles(std::span<const Tile> a, std::span<const Tile> b) {
  return std::ranges::equal(
      a, b, [](const Tile& x, const Tile& y) { return std::ranges::equal(x.dimensions, y.dimensions); });
}

/// Which dimension of the result each one of the operand is; -1: none.
Order inverse(const Order& dimensions, int64_t operand_rank) {
  Order to(static_cast<size_t>(operand_rank), -1);
  for (size_t i = 0; i < dimensions.size(); ++i)
    if (dimensions[i] >= 0) to[static_cast<size_t>(dimensions[i])] = static_cast<int64_t>(i);
  return to;
}

bool is_complete(const Order& dimensions, int64_t operand_rank) {
  return static_cast<int64_t>(dimensions.size()) == operand_rank &&
         std::find(dimensions.begin(), dimensions.end(), -1) == dimensions.end();
}

/// The order of `array`, renamed by `names`; dimensions without a name are left out.
Order renamed(ShapeRef array, const Order& names) {
  Order order;
  for (const int64_t i : array->layout->minor_to_major)
    if (names[static_cast<size_t>(i)] >= 0) order.push_back(names[static_cast<size_t>(i)]);
  return order;
}

Order without_ones(Order order, ShapeRef array) {
  std::erase_if(order, [&](int64_t i) { return array->dim(i) == 1; });
  return order;
}

/// Both orders are of the dimensions of `a`. Sizes of 1 count only in the two fastest places, which tiles
/// cover.
bool same_order(const Order& a, const Order& b, ShapeRef first, ShapeRef second, const Order& to_second) {
  if (a.size() != b.size()) return false;
  const auto fast = static_cast<std::ptrdiff_t>(std::min<size_t>(a.size(), 2));
  if (!std::equal(a.begin(), a.begin() + fast, b.begin())) return false;
  const auto rest = [&](const Order& order) {
    Order kept;
    for (auto i = order.begin() + fast; i != order.end(); ++i)
      if (first->dim(*i) != 1 || second->dim(to_second[static_cast<size_t>(*i)]) != 1) kept.push_back(*i);
    return kept;
  };
  return rest(a) == rest(b);
}

/// Missing dimensions of an array come last, slowest first in the list of dimensions.
Order completed(Order order, int64_t rank) {
  for (int64_t i = rank - 1; i >= 0; --i)
    if (std::find(order.begin(), order.end(), i) == order.end()) order.push_back(i);
  return order;
}

bool unnamed_are_ones(ShapeRef array, const Order& names) {
  for (int64_t i = 0; i < array->rank(); ++i)
    if (names[static_cast<size_t>(i)] < 0 && array->dim(i) != 1) return false;
  return true;
}

}  // namespace

bool same_layout(ShapeRef a, ShapeRef b) {
  if (!a->layout || !b->layout) return a->layout == b->layout;
  return std::ranges::equal(a->layout->minor_to_major, b->layout->minor_to_major) &&
         same_tiles(a->layout->tiles, b->layout->tiles) &&
         a->layout->tail_padding_alignment == b->layout->tail_padding_alignment &&
         a->layout->element_bits == b->layout->element_bits;
}

bool same_places(ShapePool& pool, ShapeRef a, ShapeRef b) {
  if (same_layout(a, b)) return true;
  if (element_storage_bits(a) != element_storage_bits(b)) return false;
  if (a->element_type != b->element_type) {
    if (a->layout->element_bits != 0 || b->layout->element_bits != 0) return false;
    b = pool.array(a->element_type, b->dimensions, b->layout, b->dynamic);
  }
  const BitcastKind kind = classify_bitcast(a, b).kind;
  return kind == BitcastKind::kIdentity || kind == BitcastKind::kReshape ||
         kind == BitcastKind::kTiledReshape;
}

ShapeRef laid_out_as(ShapePool& pool, ShapeRef array, const Layout* layout) {
  return pool.with_memory_space(pool.with_layout(array, layout), array->memory_space());
}

LayoutRelations::LayoutRelations(Module& module, const OpTable& table, const TilingPolicy& policy)
    : module_(module),
      policy_(policy),
      rules_(module.instructions.size()),
      originals_(module.instructions.size()),
      operands_(module.instructions.size()) {
  for (const Computation& computation : module.computations) {
    for (const InstructionId id : computation.instructions) {
      rules_[id] = layout_rule(table, module, module[id]);
      originals_[id] = module[id].shape;
      operands_[id].assign(module[id].operands.begin(), module[id].operands.end());
    }
  }
}

ShapeRef LayoutRelations::ordered(ShapeRef array, std::span<const int64_t> minor_to_major) const {
  Layout layout = *array->layout;
  layout.minor_to_major = minor_to_major;
  layout.tiles = {};
  layout.tail_padding_alignment = 1;
  ShapePool& pool = module_.shapes();
  return with_native_tiling(pool, pool.with_layout(array, pool.layout(layout)), policy_);
}

/// With the tiles of `other` where both are cut alike.
ShapeRef LayoutRelations::in_order_of(ShapeRef array, Order order, ShapeRef other) const {
  std::vector<int64_t> mine, others;
  for (const int64_t i : order) mine.push_back(array->dim(i));
  for (const int64_t i : other->layout->minor_to_major) others.push_back(other->dim(i));
  if (mine != others || element_storage_bits(array) != element_storage_bits(other))
    return ordered(array, order);
  Layout layout = *other->layout;
  layout.minor_to_major = order;
  ShapePool& pool = module_.shapes();
  return laid_out_as(pool, array, pool.layout(layout));
}

bool LayoutRelations::is_as_given(InstructionId id) const {
  const std::span<const InstructionId> operands = module_[id].operands;
  if (module_[id].shape != originals_[id] || operands.size() != operands_[id].size()) return false;
  for (size_t k = 0; k < operands.size(); ++k)
    if (module_[operands[k]].shape != originals_[operand_of(id, k)]) return false;
  return true;
}

/// same_places(), which looks at every tile, once for each two shapes.
bool LayoutRelations::are_same_places(ShapeRef a, ShapeRef b) const {
  if (same_layout(a, b)) return true;
  const auto [known, is_new] = same_places_.try_emplace({a, b});
  if (is_new) known->second = same_places(module_.shapes(), a, b);
  return known->second;
}

bool LayoutRelations::takes(InstructionId id, size_t k, ShapeRef operand, ShapeRef result) const {
  const OperandLayoutRule& rule = operand_rule(id, k);
  if (rule.wish == LayoutWish::kAny || !operand->is_array() || operand->rank() < 2) return true;
  const ShapeRef given = originals_[operand_of(id, k)];
  if (operand == given && result == originals_[id]) return true;
  const bool unchanged = same_layout(operand, given);
  if (rule.wish == LayoutWish::kKeep) return unchanged || are_same_places(operand, given);
  if (rule.wish == LayoutWish::kProduct)
    return unchanged || is_product_order(operand->layout->minor_to_major, operand->dimensions, rule.parts);
  if (unchanged && same_layout(result, originals_[id])) return true;
  const Order to_result = inverse(rule.dimensions, operand->rank());
  if (!is_complete(rule.dimensions, operand->rank())) {
    Order mine;
    for (const int64_t i : renamed(result, rule.dimensions))
      if (operand->dim(i) != 1) mine.push_back(i);
    Order theirs(operand->layout->minor_to_major.begin(), operand->layout->minor_to_major.end());
    std::erase_if(theirs, [&](int64_t i) { return to_result[static_cast<size_t>(i)] < 0; });
    return without_ones(theirs, operand) == mine;
  }
  if (std::ranges::equal(operand->dimensions, result->dimensions) &&
      element_storage_bits(operand) == element_storage_bits(result))
    return are_same_places(operand, result);
  const Order order(operand->layout->minor_to_major.begin(), operand->layout->minor_to_major.end());
  return same_order(order, renamed(result, rule.dimensions), operand, result, to_result);
}

ShapeRef LayoutRelations::wanted(InstructionId id, size_t k, ShapeRef operand, ShapeRef result) const {
  const OperandLayoutRule& rule = operand_rule(id, k);
  switch (rule.wish) {
    case LayoutWish::kAny:
      return operand;
    case LayoutWish::kKeep:
      return laid_out_as(module_.shapes(), operand, originals_[operand_of(id, k)]->layout);
    case LayoutWish::kProduct:
      return ordered(operand,
                     product_order(operand->layout->minor_to_major, operand->dimensions, rule.parts));
    case LayoutWish::kLike:
      break;
  }
  if (is_complete(rule.dimensions, operand->rank()))
    return in_order_of(operand, renamed(result, rule.dimensions), result);
  // Dimensions that the result doesn't have keep their places.
  const Order to_result = inverse(rule.dimensions, operand->rank()), named = renamed(result, rule.dimensions);
  Order order(operand->layout->minor_to_major.begin(), operand->layout->minor_to_major.end());
  size_t next = 0;
  for (int64_t& i : order)
    if (to_result[static_cast<size_t>(i)] >= 0) i = named[next++];
  return ordered(operand, order);
}

bool LayoutRelations::makes(InstructionId id, ShapeRef result) const {
  const LayoutRule& rule = rules_[id];
  if (rule.result == LayoutWish::kAny || !result->is_array() || result->rank() < 2) return true;
  if (same_layout(result, originals_[id])) return true;
  return rule.result == LayoutWish::kProduct &&
         is_product_order(result->layout->minor_to_major, result->dimensions, rule.parts);
}

ShapeRef LayoutRelations::follow(InstructionId id, size_t k, ShapeRef operand) const {
  const OperandLayoutRule& rule = operand_rule(id, k);
  const ShapeRef result = originals_[id];
  if (rule.dimensions.empty() || !operand->is_array() || operand->rank() < 2 || result->rank() < 2)
    return nullptr;
  if (!unnamed_are_ones(result, rule.dimensions)) return nullptr;
  return in_order_of(result,
                     completed(renamed(operand, inverse(rule.dimensions, operand->rank())), result->rank()),
                     operand);
}

ShapeRef LayoutRelations::lead(InstructionId id, size_t k, ShapeRef result) const {
  const OperandLayoutRule& rule = operand_rule(id, k);
  const ShapeRef operand = originals_[operand_of(id, k)];
  if (!operand->is_array() || operand->rank() < 2) return nullptr;
  if (rule.wish == LayoutWish::kProduct || rule.wish == LayoutWish::kKeep)
    return wanted(id, k, operand, result);
  if (rule.dimensions.empty() || !result->is_array() || result->rank() < 2) return nullptr;
  if (rule.wish == LayoutWish::kLike) return wanted(id, k, operand, result);
  if (!unnamed_are_ones(operand, inverse(rule.dimensions, operand->rank()))) return nullptr;
  return in_order_of(operand, completed(renamed(result, rule.dimensions), operand->rank()), result);
}

}  // namespace hlosim
