// Gather and scatter.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

bool holds(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Dimensions 0..rank-1 that are in none of the lists.
Index others(int64_t rank, std::initializer_list<std::span<const int64_t>> lists) {
  Index result;
  for (int64_t i = 0; i < rank; ++i)
    if (std::none_of(lists.begin(), lists.end(), [&](auto list) { return holds(list, i); }))
      result.push_back(i);
  return result;
}

/// What gather and scatter have in common: a start in the operand for each index vector.
struct Starts {
  const Value& indices;
  int64_t vector_dim = 0;
  std::span<const int64_t> map;             // start_index_map, scatter_dims_to_operand_dims
  std::span<const int64_t> batching;        // of the operand
  std::span<const int64_t> index_batching;  // of the indices

  /// `batch`: index of the indices without vector_dim. false: an index is unknown.
  bool read(const Index& batch, int64_t rank, Index& start) const {
    start.assign(static_cast<size_t>(rank), 0);
    Index index = batch;
    const bool implicit = vector_dim == indices.rank();
    if (!implicit) index.insert(index.begin() + vector_dim, 0);
    bool known = true;
    for (size_t k = 0; k < map.size(); ++k) {
      if (!implicit) index[static_cast<size_t>(vector_dim)] = static_cast<int64_t>(k);
      const Element& element = indices.at(index);
      known = known && !element.unknown();
      int64_t value = integer_of(element);
      if (value < 0 && is_unsigned_integer(indices.type())) value = std::numeric_limits<int64_t>::max();
      start[static_cast<size_t>(map[k])] = value;
    }
    for (size_t k = 0; k < batching.size(); ++k) {
      int64_t of_batch = index_batching[k];
      if (of_batch > vector_dim) --of_batch;
      start[static_cast<size_t>(batching[k])] = batch[static_cast<size_t>(of_batch)];
    }
    return known;
  }
};

}  // namespace

ValuePtr evaluate_gather(Operation& op) {
  const Value& operand = op.operand(0);
  const auto offset_dims = op.ints(AttrKey::kOffsetDims), slice_sizes = op.ints(AttrKey::kSliceSizes);
  const Starts starts{op.operand(1), op.integer(AttrKey::kIndexVectorDim), op.ints(AttrKey::kStartIndexMap),
                      op.ints(AttrKey::kOperandBatchingDims), op.ints(AttrKey::kStartIndicesBatchingDims)};
  const Index windowed = others(operand.rank(), {op.ints(AttrKey::kCollapsedSliceDims), starts.batching});
  auto result = zero_value(op.shape());
  const Index batch_dims = others(result->rank(), {offset_dims});
  Index offsets(offset_dims.begin(), offset_dims.end());
  std::sort(offsets.begin(), offsets.end());
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    Index batch, place;
    for (const int64_t d : batch_dims) batch.push_back(index[static_cast<size_t>(d)]);
    const bool known = starts.read(batch, operand.rank(), place);
    for (size_t d = 0; d < place.size(); ++d)
      place[d] = std::clamp<int64_t>(place[d], 0, operand.shape->dimensions[d] - slice_sizes[d]);
    for (size_t k = 0; k < windowed.size(); ++k)
      place[static_cast<size_t>(windowed[k])] += index[static_cast<size_t>(offsets[k])];
    result->at(index) = known ? convert_element(operand.type(), result->type(), operand.at(place)) : kUnknown;
  });
  return result;
}

// ── scatter ─────────────────────────────────────────────────────

namespace {

/// How often an element was combined, and what its sum may be in another order.
struct History {
  int64_t count = 0;
  double magnitudes = 0;
};

class Scatter {
 public:
  explicit Scatter(Operation& op)
      : op_(op),
        count_(op.operands.size() / 2),
        operation_(op.evaluator.single_operation(op.called())),
        starts_{op.operand(count_), op.integer(AttrKey::kIndexVectorDim),
                op.ints(AttrKey::kScatterDimsToOperandDims), op.ints(AttrKey::kInputBatchingDims),
                op.ints(AttrKey::kScatterIndicesBatchingDims)},
        window_dims_(op.ints(AttrKey::kUpdateWindowDims)),
        windowed_(others(op.operand(0).rank(), {op.ints(AttrKey::kInsertedWindowDims), starts_.batching})) {}

  ValuePtr run() {
    for (size_t i = 0; i < count_; ++i) results_.push_back(std::make_shared<Value>(op_.operand(i)));
    history_.resize(results_[0]->data.size());
    const Value& updates = update(0);
    const Index scatter_dims = others(updates.rank(), {window_dims_});
    bool good = true, known = true;
    for_each_index(updates.shape->dimensions, [&](const Index& index) {
      Index batch, place;
      for (const int64_t d : scatter_dims) batch.push_back(index[static_cast<size_t>(d)]);
      known = starts_.read(batch, results_[0]->rank(), place) && known;
      if (!fits(place)) return;
      for (size_t k = 0; k < windowed_.size(); ++k)
        place[static_cast<size_t>(windowed_[k])] += index[static_cast<size_t>(window_dims_[k])];
      good = good && combine(place, index);
    });
    if (!good) return nullptr;
    if (!known) return unknown_value(op_.shape());
    for (size_t place = 0; place < history_.size(); ++place) allow_other_orders(place);
    if (count_ == 1) return results_[0];
    auto tuple = zero_value(op_.shape());
    for (size_t i = 0; i < count_; ++i) tuple->elements[i] = results_[i];
    return tuple;
  }

 private:
  const Value& update(size_t i) const { return op_.operand(count_ + 1 + i); }

  bool fits(const Index& start) const {
    for (size_t d = 0; d < start.size(); ++d) {
      int64_t window = 1;
      for (size_t k = 0; k < windowed_.size(); ++k)
        if (windowed_[k] == static_cast<int64_t>(d)) window = update(0).dim(window_dims_[k]);
      if (start[d] < 0 || start[d] > results_[0]->shape->dimensions[d] - window) return false;
    }
    return true;
  }

  bool combine(const Index& place, const Index& index) {
    std::vector<Element> arguments;
    std::vector<ElementType> types, results;
    for (size_t i = 0; i < count_; ++i) {
      arguments.push_back(results_[i]->at(place));
      types.push_back(results_[i]->type());
    }
    results = types;
    for (size_t i = 0; i < count_; ++i) {
      arguments.push_back(update(i).at(index));
      types.push_back(update(i).type());
    }
    History& history = history_[static_cast<size_t>(results_[0]->place(place))];
    if (is_float(types[0])) {
      if (history.count == 0) history.magnitudes = std::fabs(real_of(types[0], arguments[0]));
      history.magnitudes += std::fabs(real_of(types[count_], arguments[count_]));
    }
    ++history.count;
    const std::vector<Element> combined = op_.evaluator.apply(op_.called(), types, arguments, results);
    for (size_t i = 0; i < combined.size(); ++i) results_[i]->at(place) = combined[i];
    return !combined.empty();
  }

  /// Several updates of one element come in any order.
  void allow_other_orders(size_t place) {
    const History& history = history_[place];
    if (history.count < 2) return;
    Element& element = results_[0]->data[place];
    const ElementType type = results_[0]->type();
    if (operation_ && !is_float(type) && !is_complex(type)) return;
    if (operation_ == Opcode::kMaximum || operation_ == Opcode::kMinimum) return;
    const double value = real_of(type, element);
    if (operation_ != Opcode::kAdd || !is_float(type) ||
        (std::isinf(history.magnitudes) && !std::isnan(value))) {
      for (const auto& result : results_) result->data[place] = kUnknown;
      return;
    }
    const double rounding =
        static_cast<double>(history.count) * 2 * unit_roundoff(type) * history.magnitudes + element.error;
    element = float_element(type, value, rounding);
  }

  Operation& op_;
  size_t count_;
  std::optional<Opcode> operation_;
  Starts starts_;
  std::span<const int64_t> window_dims_;
  Index windowed_;
  std::vector<std::shared_ptr<Value>> results_;
  std::vector<History> history_;
};

}  // namespace

ValuePtr evaluate_scatter(Operation& op) { return Scatter(op).run(); }

}  // namespace hlosim::test
