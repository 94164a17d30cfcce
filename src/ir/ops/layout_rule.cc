#include "ops/layout_rule.h"

#include <algorithm>
#include <numeric>

#include "ops/require.h"

namespace hlosim {
namespace {

Dimensions ints_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? attr->ints() : Dimensions();
}

bool holds(Dimensions list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

class RuleMaker {
 public:
  RuleMaker(const OpTable& table, const Module& module, const Instruction& instruction)
      : table_(table), module_(module), instruction_(instruction) {
    rule_.operands.resize(instruction.operands.size());
  }

  LayoutRule make() {
    const LayoutRole role = table_[instruction_.opcode].rules.layout;
    const bool hands_on =
        role == LayoutRole::kHandsOn || (role == LayoutRole::kCopy && instruction_.shape->is_tuple());
    if (hands_on) return rule_;
    if (!is_plain_array(instruction_.shape)) return keep();
    switch (role) {
      case LayoutRole::kCopy:
        return with_wish(same_dimensions(), LayoutWish::kAny);
      case LayoutRole::kReshape:
        return reshape();
      case LayoutRole::kTranspose:
        rule_.operands[0].dimensions = list(ints_of(instruction_, AttrKey::kDimensions));
        return rule_;
      case LayoutRole::kAny:
        return rule_;
      case LayoutRole::kBroadcast:
        return broadcast();
      case LayoutRole::kReduce:
        return reduce();
      case LayoutRole::kProduct:
        return dot();
      case LayoutRole::kLike:
        return same_dimensions();
      case LayoutRole::kHandsOn:
      case LayoutRole::kKeep:
        break;
    }
    return keep();
  }

 private:
  static bool is_plain_array(ShapeRef shape) { return shape->is_array() && shape->is_static(); }
  ShapeRef operand(size_t i) const { return module_[instruction_.operands[i]].shape; }

  LayoutRule keep() {
    for (OperandLayoutRule& operand : rule_.operands) operand.wish = LayoutWish::kKeep;
    rule_.result = LayoutWish::kKeep;
    return rule_;
  }

  /// Arrays of at most one dimension have no order.
  bool has_order(size_t i) const { return operand(i)->is_array() && operand(i)->rank() > 1; }

  LayoutRule same_dimensions() {
    const int64_t rank = instruction_.shape->rank();
    for (size_t i = 0; i < rule_.operands.size(); ++i) {
      if (!has_order(i)) continue;
      if (operand(i)->rank() != rank || !operand(i)->is_static()) return keep();
      rule_.operands[i].wish = LayoutWish::kLike;
      rule_.operands[i].dimensions.resize(static_cast<size_t>(rank));
      std::iota(rule_.operands[i].dimensions.begin(), rule_.operands[i].dimensions.end(), 0);
    }
    return rule_;
  }

  static LayoutRule with_wish(LayoutRule rule, LayoutWish wish) {
    for (OperandLayoutRule& operand : rule.operands) operand.wish = wish;
    return rule;
  }
  static std::vector<int64_t> list(Dimensions dimensions) { return {dimensions.begin(), dimensions.end()}; }

  /// Dimensions of size 1 come and go, the others stay what they are; else nothing can be said.
  LayoutRule reshape() {
    const ShapeRef from = operand(0), to = instruction_.shape;
    std::vector<int64_t> dimensions(static_cast<size_t>(to->rank()), -1);
    int64_t next = 0;
    const auto skip = [&] {
      while (next < from->rank() && from->dim(next) == 1) ++next;
    };
    for (int64_t i = 0; i < to->rank(); ++i) {
      if (to->dim(i) == 1) continue;
      skip();
      if (next == from->rank() || from->dim(next) != to->dim(i)) return rule_;
      dimensions[static_cast<size_t>(i)] = next++;
    }
    skip();
    if (next == from->rank()) rule_.operands[0].dimensions = std::move(dimensions);
    return rule_;
  }

  LayoutRule broadcast() {
    if (!has_order(0)) return rule_;
    OperandLayoutRule& one = rule_.operands[0];
    one.wish = LayoutWish::kLike;
    one.dimensions.assign(static_cast<size_t>(instruction_.shape->rank()), -1);
    const Dimensions to = ints_of(instruction_, AttrKey::kDimensions);
    for (size_t i = 0; i < to.size(); ++i)
      one.dimensions[static_cast<size_t>(to[i])] = static_cast<int64_t>(i);
    return rule_;
  }

  LayoutRule reduce() {
    if (rule_.operands.size() != 2) return keep();
    if (!has_order(0)) return rule_;
    const Dimensions reduced = ints_of(instruction_, AttrKey::kDimensions);
    rule_.operands[0].wish = LayoutWish::kLike;
    for (int64_t i = 0; i < operand(0)->rank(); ++i)
      if (!holds(reduced, i)) rule_.operands[0].dimensions.push_back(i);
    return rule_;
  }

  LayoutRule dot() {
    constexpr AttrKey kBatch[] = {AttrKey::kLhsBatchDims, AttrKey::kRhsBatchDims};
    constexpr AttrKey kContracting[] = {AttrKey::kLhsContractingDims, AttrKey::kRhsContractingDims};
    rule_.result = LayoutWish::kProduct;
    rule_.parts.assign(ints_of(instruction_, kBatch[0]).size(), MatrixPart::kBatch);
    for (size_t side = 0; side < 2; ++side) {
      const Dimensions batch = ints_of(instruction_, kBatch[side]);
      const Dimensions contracting = ints_of(instruction_, kContracting[side]);
      OperandLayoutRule& one = rule_.operands[side];
      for (int64_t i = 0; i < operand(side)->rank(); ++i) {
        const bool is_batch = holds(batch, i), is_contracting = holds(contracting, i);
        one.parts.push_back(is_batch         ? MatrixPart::kBatch
                            : is_contracting ? MatrixPart::kFirst
                                             : MatrixPart::kSecond);
        if (!is_batch && !is_contracting)
          rule_.parts.push_back(side == 0 ? MatrixPart::kFirst : MatrixPart::kSecond);
      }
      if (has_order(side)) one.wish = LayoutWish::kProduct;
    }
    return rule_;
  }

  const OpTable& table_;
  const Module& module_;
  const Instruction& instruction_;
  LayoutRule rule_;
};

}  // namespace

LayoutRule layout_rule(const OpTable& table, const Module& module, const Instruction& instruction) {
  return RuleMaker(table, module, instruction).make();
}

bool is_product_order(std::span<const int64_t> minor_to_major, std::span<const int64_t> sizes,
                      std::span<const MatrixPart> parts) {
  int64_t inside[3] = {}, outside[3] = {};  // dimensions by part, sizes of 1 left out
  for (size_t k = 0; k < minor_to_major.size(); ++k) {
    const auto i = static_cast<size_t>(minor_to_major[k]);
    if (sizes[i] != 1) ++(k < 2 ? inside : outside)[static_cast<size_t>(parts[i])];
  }
  const auto batch = static_cast<size_t>(MatrixPart::kBatch);
  const auto first = static_cast<size_t>(MatrixPart::kFirst),
             second = static_cast<size_t>(MatrixPart::kSecond);
  if (inside[batch] > 0 && outside[first] + outside[second] > 0) return false;
  if (inside[first] == 2 && outside[second] > 0) return false;
  return inside[second] != 2 || outside[first] == 0;
}

std::vector<int64_t> product_order(std::span<const int64_t> minor_to_major, std::span<const int64_t> sizes,
                                   std::span<const MatrixPart> parts) {
  const auto part = [&](int64_t i) {
    return sizes[static_cast<size_t>(i)] == 1 ? MatrixPart::kBatch : parts[static_cast<size_t>(i)];
  };
  std::vector<int64_t> order(minor_to_major.begin(), minor_to_major.end());
  if (order.size() < 2) return order;
  std::stable_partition(order.begin(), order.end(), [&](int64_t i) { return part(i) != MatrixPart::kBatch; });
  const auto other = std::find_if(order.begin() + 1, order.end(), [&](int64_t i) {
    return part(i) != MatrixPart::kBatch && part(i) != part(order[0]);
  });
  if (other != order.end()) std::rotate(order.begin() + 1, other, other + 1);
  return order;
}

}  // namespace hlosim
