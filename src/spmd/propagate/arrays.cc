#include "propagate/arrays.h"

#include <algorithm>

namespace hlosim {

Arrays::Arrays(const Module& module, std::span<const ComputationId> computations, const StatedTilings& stated)
    : stated_(stated), first_(module.instructions.size(), -1), count_(module.instructions.size(), 0) {
  for (const ComputationId computation : computations)
    for (const InstructionId id : module[computation].instructions) {
      first_[id] = static_cast<int32_t>(arrays_.size());
      const std::span<const StatedTiling> said = stated.of(id);
      for_each_leaf(module[id].shape, [&](ShapeRef leaf) {
        SharedArray array;
        array.shape = leaf->is_buffer() ? leaf->elements[0] : leaf;
        array.first_cut = static_cast<int32_t>(cuts_.size());
        array.closed = !array.shape->is_array();
        cuts_.resize(cuts_.size() + static_cast<size_t>(array.shape->rank()));
        if (!said.empty()) state(array, said[static_cast<size_t>(count_[id])], id);
        parent_.push_back(static_cast<int32_t>(arrays_.size()));
        arrays_.push_back(array);
        ++count_[id];
      });
    }
}

void Arrays::state(SharedArray& array, const StatedTiling& said, InstructionId by) {
  using Kind = TileAssignment::Kind;
  if (said.kind == Kind::kUnknown) return;
  array.stated = true;
  array.stated_by = by;
  array.decision = {Decider::kUser, by, by};
  array.open = said.open;
  array.is_manual_whole = said.kind == Kind::kManual;
  array.closed |= array.is_manual_whole || said.kind == Kind::kMaximal || said.kind == Kind::kUnreduced;
  if (array.closed) return;
  array.manual = said.tiling.manual;
  array.partial = said.tiling.partial;
  array.partial_kind = said.tiling.partial_kind;
  array.used = said.tiling.used();
  if (array.used != 0) array.order = said.order;
  for (int64_t i = 0; i < array.shape->rank(); ++i) {
    CutList& list = cut(array, i);
    for (const int axis : said.tiling.cut(i)) list.axes[list.count++] = static_cast<uint8_t>(axis);
    list.from = by;
    if (!said.priorities.empty()) list.priority = said.priorities[static_cast<size_t>(i)];
  }
}

bool Arrays::same_statement(const SharedArray& a, const SharedArray& b) const {
  if (a.closed || b.closed) return a.is_manual_whole && b.is_manual_whole;
  return a.order == b.order && a.open == b.open && tiling(a) == tiling(b);
}

bool Arrays::unite(int32_t a, int32_t b) {
  a = root(a);
  b = root(b);
  if (a == b) return true;
  SharedArray &first = (*this)[a], &second = (*this)[b];
  if (first.shape->rank() != second.shape->rank()) return false;
  const auto is_held = [](const SharedArray& array) {  // nobody may cut it, but for what is made of it
    return array.stated && array.decision.by == Decider::kDefault;
  };
  if (is_held(first) != is_held(second)) return false;
  if (first.stated && second.stated && !same_statement(first, second)) return false;
  const bool keep_first = first.stated != second.stated ? first.stated : a < b;
  SharedArray &kept = keep_first ? first : second, &gone = keep_first ? second : first;
  kept.even |= gone.even;
  kept.closed |= gone.closed;
  parent_[static_cast<size_t>(keep_first ? b : a)] = keep_first ? a : b;
  return true;
}

int64_t Arrays::length(std::span<const uint8_t> axes) const {
  int64_t product = 1;
  for (const uint8_t axis : axes) product *= stated_.axes.size(axis);
  return product;
}

Tiling Arrays::tiling(const SharedArray& array) const {
  Tiling made(array.shape->rank());
  for (int64_t i = 0; i < array.shape->rank(); ++i)
    for (const uint8_t axis : cuts_[static_cast<size_t>(array.first_cut + i)].list())
      made.cut(i).push_back(axis);
  made.manual = array.manual;
  made.partial = array.partial;
  made.partial_kind = array.partial_kind;
  return made;
}

}  // namespace hlosim
