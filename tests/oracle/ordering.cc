// Sort and top-k.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// Stable merge sort of `order` by less(a, b).
template <class Less>
void merge_sort(std::vector<size_t>& order, Less&& less) {
  for (size_t width = 1; width < order.size(); width *= 2) {
    std::vector<size_t> merged;
    for (size_t begin = 0; begin < order.size(); begin += 2 * width) {
      const size_t middle = std::min(begin + width, order.size()),
                   end = std::min(begin + 2 * width, order.size());
      size_t left = begin, right = middle;
      while (left < middle || right < end) {
        const bool take_right = right < end && (left == middle || less(order[right], order[left]));
        merged.push_back(order[take_right ? right++ : left++]);
      }
    }
    order = std::move(merged);
  }
}

/// Sorts one line; the comparator's answers, and whether they decide the order.
class Line {
 public:
  Line(Operation& op, size_t length) : op_(op), length_(length) {
    for (const ValuePtr& operand : op.operands) types_.insert(types_.end(), 2, operand->type());
  }

  std::vector<size_t> sorted(std::span<const Index> places) {
    places_ = places;
    std::vector<size_t> order(length_);
    for (size_t i = 0; i < length_; ++i) order[i] = i;
    known_ = true;
    merge_sort(order, [&](size_t a, size_t b) { return less(a, b); });
    known_ = known_ && is_weak_order(order);
    return order;
  }
  bool good() const { return good_; }
  bool known() const { return known_; }

 private:
  bool less(size_t a, size_t b) {
    if (!good_) return false;
    std::vector<Element> arguments;
    for (const ValuePtr& operand : op_.operands) {
      arguments.push_back(operand->at(places_[a]));
      arguments.push_back(operand->at(places_[b]));
    }
    const ElementType pred = ElementType::kPred;
    const auto answer = op_.evaluator.apply(op_.called(), types_, arguments, std::span(&pred, 1));
    good_ = good_ && !answer.empty();
    if (!good_) return false;
    known_ = known_ && !answer[0].unknown();
    return answer[0].bits != 0;
  }

  /// A comparator that is no strict weak order, such as < with NaNs, leaves the result open. All pairs of a
  /// short line are compared, near ones of a long line.
  bool is_weak_order(const std::vector<size_t>& order) {
    constexpr size_t kMostCompared = 48;
    const size_t reach = length_ > kMostCompared ? 4 : length_;
    if (length_ > kMostCompared && any_nan()) return false;
    for (size_t i = 0; i < length_; ++i) {
      if (less(order[i], order[i])) return false;
      for (size_t j = i + 1; j < length_ && j - i < reach; ++j) {
        if (less(order[j], order[i])) return false;
        const bool equal = !less(order[i], order[j]);
        if (!equal) continue;
        if (j > i + 1 && (less(order[i], order[j - 1]) || less(order[i + 1], order[j]))) return false;
        if (unordered(places_[order[i]], places_[order[j]])) return false;
      }
    }
    return true;
  }

  /// Are these equal perhaps only because a NaN compares with nothing?
  bool unordered(const Index& a, const Index& b) const {
    return std::any_of(op_.operands.begin(), op_.operands.end(), [&](const ValuePtr& operand) {
      const Element &x = operand->at(a), &y = operand->at(b);
      const bool same = x.bits == y.bits && x.error == 0 && y.error == 0;
      return !same && (is_nan(*operand, a) || is_nan(*operand, b));
    });
  }
  bool any_nan() const {
    for (const ValuePtr& operand : op_.operands)
      for (const Index& place : places_)
        if (is_nan(*operand, place)) return true;
    return false;
  }
  static bool is_nan(const Value& operand, const Index& place) {
    return is_float(operand.type()) && std::isnan(real_of(operand.type(), operand.at(place)));
  }

  Operation& op_;
  size_t length_;
  std::vector<ElementType> types_;
  std::span<const Index> places_;
  bool good_ = true, known_ = true;
};

}  // namespace

ValuePtr evaluate_sort(Operation& op) {
  const auto dimension = static_cast<size_t>(op.ints(AttrKey::kDimensions)[0]);
  const Value& keys = op.operand(0);
  const int64_t length = keys.shape->dimensions[dimension];
  std::vector<std::shared_ptr<Value>> results;
  for (const ValuePtr& operand : op.operands) results.push_back(std::make_shared<Value>(*operand));
  Index lines(keys.shape->dimensions.begin(), keys.shape->dimensions.end());
  lines[dimension] = std::min<int64_t>(lines[dimension], 1);
  Line line(op, static_cast<size_t>(length));
  for_each_index(lines, [&](const Index& start) {
    std::vector<Index> places(static_cast<size_t>(length), start);
    for (int64_t i = 0; i < length; ++i) places[static_cast<size_t>(i)][dimension] = i;
    const std::vector<size_t> order = line.sorted(places);
    for (size_t k = 0; k < results.size(); ++k)
      for (size_t i = 0; i < order.size(); ++i)
        results[k]->at(places[i]) = line.known() ? op.operand(k).at(places[order[i]]) : kUnknown;
  });
  if (!line.good()) return nullptr;
  if (results.size() == 1) return results[0];
  auto tuple = zero_value(op.shape());
  for (size_t k = 0; k < results.size(); ++k) tuple->elements[k] = results[k];
  return tuple;
}

namespace {

bool comes_first(ElementType type, const Element& a, const Element& b, bool largest) {
  if (is_unsigned_integer(type)) return largest ? a.bits > b.bits : a.bits < b.bits;
  const auto key = [&](const Element& x) {
    return is_float(type) ? total_order_key(type, x) : integer_of(x);
  };
  const int64_t ka = key(a), kb = key(b);
  return largest ? ka > kb : ka < kb;
}

}  // namespace

ValuePtr evaluate_topk(Operation& op) {
  const Value& operand = op.operand(0);
  const ElementType type = operand.type();
  const auto last = static_cast<size_t>(operand.rank() - 1);
  const int64_t k = op.shape()->elements[0]->dimensions[last], length = operand.shape->dimensions[last];
  const bool largest = op.flag(AttrKey::kLargest, true);
  auto values = zero_value(op.shape()->elements[0]), indices = zero_value(op.shape()->elements[1]);
  Index lines(operand.shape->dimensions.begin(), operand.shape->dimensions.end());
  lines[last] = std::min<int64_t>(lines[last], 1);
  for_each_index(lines, [&](const Index& start) {
    std::vector<size_t> order(static_cast<size_t>(length));
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto element = [&](size_t i) -> const Element& {
      Index index = start;
      index[last] = static_cast<int64_t>(i);
      return operand.at(index);
    };
    bool known = true;
    for (size_t i = 0; i < order.size(); ++i) known = known && element(i).error == 0;
    merge_sort(order, [&](size_t a, size_t b) { return comes_first(type, element(a), element(b), largest); });
    Index place = start;
    for (int64_t i = 0; i < k; ++i) {
      place[last] = i;
      const size_t from = order[static_cast<size_t>(i)];
      values->at(place) = known ? element(from) : kUnknown;
      indices->at(place) = known ? Element{from, 0, 0} : kUnknown;
    }
  });
  auto tuple = zero_value(op.shape());
  tuple->elements = {values, indices};
  return tuple;
}

}  // namespace hlosim::test
