#include "loop_factors/factor_builder.h"

#include <algorithm>
#include <numeric>

namespace hlosim {

std::vector<ShapeRef> leaf_arrays(const OpContext& op) {
  std::vector<ShapeRef> leaves;
  const auto add = [&](ShapeRef leaf) { leaves.push_back(leaf->is_buffer() ? leaf->elements[0] : leaf); };
  for (int64_t i = 0; i < op.operand_count(); ++i) for_each_leaf(op.operand_shape(i), add);
  for_each_leaf(op.shape(), add);
  return leaves;
}

FactorBuilder::FactorBuilder(const OpContext& op_) : op(op_), shapes(leaf_arrays(op_)) {
  made.operand_leaves = static_cast<int64_t>(shapes.size()) - leaf_count(op.shape());
  for (const ShapeRef shape : shapes) made.arrays.emplace_back(shape->dimensions.size());
}

int32_t FactorBuilder::add(Factor factor) {
  made.list.push_back(std::move(factor));
  return static_cast<int32_t>(made.list.size() - 1);
}

void FactorBuilder::append(DimensionPlace place, int32_t factor) {
  made.arrays[static_cast<size_t>(place.array)][static_cast<size_t>(place.dimension)].push_back(factor);
}

void FactorBuilder::tie(FactorKind kind, std::span<const DimensionPlace> places,
                        std::vector<int64_t> amounts) {
  Factor factor{kind, 0, std::move(amounts)};
  for (const DimensionPlace& place : places) factor.size = std::max(factor.size, size(place));
  const bool differ = std::any_of(places.begin(), places.end(),
                                  [&](const DimensionPlace& place) { return size(place) != factor.size; });
  if (differ || !factor.amounts.empty()) {
    if (kind != FactorKind::kFixed) factor.kind = FactorKind::kPart;
    for (const DimensionPlace& place : places) factor.amounts.push_back(size(place));
  }
  const int32_t number = add(std::move(factor));
  for (const DimensionPlace& place : places) append(place, number);
}

void FactorBuilder::tie_block(std::span<const DimensionPlace> wholes, DimensionPlace part) {
  std::vector<DimensionPlace> places(wholes.begin(), wholes.end());
  if (size(part) != 1 || size(places[0]) == 1) places.push_back(part);
  tie(FactorKind::kAlong, places);
}

void FactorBuilder::fix_all() {
  for (int64_t array = 0; array < array_count(); ++array)
    for (int64_t i = 0; i < rank(array); ++i) fix({array, i});
}

void FactorBuilder::same(std::span<const int64_t> arrays) {
  int64_t common = rank(arrays[0]);
  for (const int64_t array : arrays) common = std::min(common, rank(array));
  for (int64_t i = 0; i < common; ++i) {
    std::vector<DimensionPlace> places;
    for (const int64_t array : arrays) places.push_back({array, i});
    tie(FactorKind::kAlong, places);
  }
}

namespace {

/// One side of a reshape: what is left of the dimension that is being taken apart.
class Taken {
 public:
  Taken(FactorBuilder& make, std::span<const DimensionPlace> places) : make_(make), places_(places) {
    skip();
  }

  bool done() const { return at_ == places_.size(); }
  int64_t left() const { return left_; }
  void take(int32_t factor, int64_t size) {
    make_.append(places_[at_], factor);
    left_ /= size;
    if (left_ > 1) return;
    ++at_;
    skip();
  }
  /// Takes the rest of the dimension as it is.
  int64_t give_up() {
    const int64_t size = left_;
    take(make_.add({FactorKind::kFixed, size, {}}), size);
    return size;
  }

 private:
  void skip() {
    while (at_ < places_.size() && make_.size(places_[at_]) == 1) ++at_;
    if (at_ < places_.size()) left_ = make_.size(places_[at_]);
  }

  FactorBuilder& make_;
  std::span<const DimensionPlace> places_;
  size_t at_ = 0;
  int64_t left_ = 1;
};

/// Neither size divides the other: what lies up to the next common boundary stays as it is.
void give_up_group(Taken& from, Taken& to) {
  int64_t a = from.give_up(), b = to.give_up();
  while (a != b && !(from.done() && to.done())) {
    if ((a < b && !from.done()) || to.done())
      a *= from.give_up();
    else
      b *= to.give_up();
  }
}

}  // namespace

void FactorBuilder::reshape(std::span<const DimensionPlace> of, std::span<const DimensionPlace> to) {
  const auto has_no_size = [&](const DimensionPlace& place) { return size(place) <= 0; };
  if (std::any_of(of.begin(), of.end(), has_no_size) || std::any_of(to.begin(), to.end(), has_no_size))
    return fix_all();
  Taken left(*this, of), right(*this, to);
  while (!left.done() && !right.done()) {
    // What both begin with; of what is left then, neither divides the other.
    const int64_t size = std::gcd(left.left(), right.left());
    if (size == 1) {
      give_up_group(left, right);
      continue;
    }
    const int32_t factor = add({FactorKind::kAlong, size, {}});
    left.take(factor, size);
    right.take(factor, size);
  }
  while (!left.done()) left.give_up();
  while (!right.done()) right.give_up();
}

}  // namespace hlosim
