// Matrix products: dot, ragged-dot, scaled-dot and convolution.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// A sum of products and how far other orders and roundings may take it.
class Sum {
 public:
  explicit Sum(ElementType result) : type_(result) {}

  void add(ElementType type_a, const Element& a, ElementType type_b, const Element& b) {
    add(type_a, a, type_b, b, 1, 0);
  }
  /// The product times `factor`, itself `factor_error` off.
  void add(ElementType type_a, const Element& a, ElementType type_b, const Element& b, double factor,
           double factor_error) {
    ++count_;
    // Also where the rest of the product is 0: the factor may be infinite or NaN.
    if (a.unknown() || b.unknown() || std::isinf(factor_error)) unknown_ = true;
    if (is_wider(type_a) || is_wider(type_b)) note_narrowed(type_a, a, type_b, b);
    if (is_complex(type_)) {
      const Complex x = complex_of(type_a, a), y = complex_of(type_b, b);
      complex_ += std::complex<long double>(x) * std::complex<long double>(y);
      note(std::abs(x) * std::abs(y), a.error * std::abs(y) + b.error * std::abs(x) + a.error * b.error);
    } else if (is_float(type_)) {
      const double x = real_of(type_a, a), y = real_of(type_b, b), product = x * y * factor;
      total_ += static_cast<long double>(x) * static_cast<long double>(y) * static_cast<long double>(factor);
      const double moved =
          std::fabs(factor) * (a.error * std::fabs(y) + b.error * std::fabs(x) + a.error * b.error) +
          factor_error * std::fabs(x * y);
      note(std::fabs(product), moved);
    } else {
      const Element x = convert_element(type_a, type_, a), y = convert_element(type_b, type_, b);
      if (x.unknown() || y.unknown()) unknown_ = true;
      integer_ += x.bits * y.bits;
    }
  }

  /// A factor that meets padding: 0 times infinity or NaN is NaN for those who multiply.
  void add_padding(ElementType type, const Element& factor) {
    const bool has_infinity = is_float(type) || is_complex(type);
    if (has_infinity && (factor.unknown() || !std::isfinite(std::abs(complex_of(type, factor)))))
      unknown_ = true;
  }
  /// Integers wrap, or stop at the ends of their range.
  Element result(bool saturate = false) const {
    if (unknown_) return kUnknown;
    const double u = unit_roundoff(compute_type(type_));
    const double rounding = count_ == 0 ? 0 : static_cast<double>(count_ + 2) * 4 * u * magnitudes_ + errors_;
    if (is_complex(type_)) {
      if (!std::isfinite(magnitudes_) || magnitudes_ > largest() / 4) return kUnknown;
      return complex_element(type_, Complex(complex_), 2 * rounding);
    }
    if (is_float(type_)) {
      if (!std::isnan(total_) && magnitudes_ > largest() / 4) return kUnknown;
      const bool finite = std::isfinite(static_cast<double>(total_));
      Element result = float_element(type_, static_cast<double>(total_), finite ? rounding : errors_);
      // Products below the smallest normal number may be flushed.
      if (finite && count_ > 0)
        result.error = std::max(result.error, static_cast<double>(count_) * smallest_normal(type_));
      return result;
    }
    return saturate ? saturated() : integer_element(type_, integer_);
  }

 private:
  bool is_wider(ElementType type) const {
    return is_float(type) && is_float(type_) && type != type_ && bit_width(type) >= bit_width(type_);
  }
  /// Operands wider than the result may be rounded to its type before they are multiplied.
  void note_narrowed(ElementType type_a, const Element& a, ElementType type_b, const Element& b) {
    const double x = real_of(type_a, a), y = real_of(type_b, b);
    const double u = real_of(type_, float_element(type_, x)), v = real_of(type_, float_element(type_, y));
    if (std::isinf(u) != std::isinf(x) || std::isinf(v) != std::isinf(y)) unknown_ = true;
    // What is small enough becomes 0, and 0 times infinity NaN.
    if (std::isnan(u * v) != std::isnan(x * y)) unknown_ = true;
    if (std::isfinite(x * y))
      errors_ += 1.01 * std::fabs(x * y - u * v) + 4 * unit_roundoff(type_) * std::fabs(x * y);
  }
  void note(double magnitude, double moved) {
    if (std::isfinite(magnitude)) magnitudes_ += magnitude;
    if (!std::isnan(moved)) errors_ += moved;
  }
  double largest() const {
    return compute_type(type_) == ElementType::kF64 ? std::numeric_limits<double>::max()
                                                    : static_cast<double>(std::numeric_limits<float>::max());
  }
  Element saturated() const {
    const int width = bit_width(type_);
    if (is_pred(type_) || width == 64) return integer_element(type_, integer_);
    const auto value = static_cast<int64_t>(integer_);
    const int64_t low = is_signed_integer(type_) ? -(int64_t{1} << (width - 1)) : 0;
    const int64_t high = (int64_t{1} << (is_signed_integer(type_) ? width - 1 : width)) - 1;
    return integer_element(type_, static_cast<uint64_t>(std::clamp(value, low, high)));
  }

  ElementType type_;
  int64_t count_ = 0;
  bool unknown_ = false;
  long double total_ = 0;
  std::complex<long double> complex_ = 0;
  uint64_t integer_ = 0;
  double magnitudes_ = 0, errors_ = 0;
};

bool holds(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The roles of the dimensions of both operands.
struct Roles {
  explicit Roles(const Operation& op)
      : lhs(op.operand(0)),
        rhs(op.operand(1)),
        lhs_contracting(op.ints(AttrKey::kLhsContractingDims)),
        rhs_contracting(op.ints(AttrKey::kRhsContractingDims)),
        lhs_batch(op.ints(AttrKey::kLhsBatchDims)),
        rhs_batch(op.ints(AttrKey::kRhsBatchDims)) {
    const auto groups = op.ints(AttrKey::kRhsGroupDims);
    for (int64_t d = 0; d < lhs.rank(); ++d)
      if (!holds(lhs_contracting, d) && !holds(lhs_batch, d)) lhs_free.push_back(d);
    for (int64_t d = 0; d < rhs.rank(); ++d)
      if (!holds(rhs_contracting, d) && !holds(rhs_batch, d) && !holds(groups, d)) rhs_free.push_back(d);
    for (const int64_t d : lhs_contracting) contracting_sizes.push_back(lhs.dim(d));
  }
  /// Places in both operands for an index (batch, lhs free, rhs free) of the result.
  void place(std::span<const int64_t> index, Index& in_lhs, Index& in_rhs) const {
    in_lhs.assign(static_cast<size_t>(lhs.rank()), 0);
    in_rhs.assign(static_cast<size_t>(rhs.rank()), 0);
    size_t next = 0;
    for (size_t k = 0; k < lhs_batch.size(); ++k, ++next)
      in_lhs[static_cast<size_t>(lhs_batch[k])] = in_rhs[static_cast<size_t>(rhs_batch[k])] = index[next];
    for (const int64_t d : lhs_free) in_lhs[static_cast<size_t>(d)] = index[next++];
    for (const int64_t d : rhs_free) in_rhs[static_cast<size_t>(d)] = index[next++];
  }
  void contract(const Index& inner, Index& in_lhs, Index& in_rhs) const {
    for (size_t k = 0; k < inner.size(); ++k)
      in_lhs[static_cast<size_t>(lhs_contracting[k])] = in_rhs[static_cast<size_t>(rhs_contracting[k])] =
          inner[k];
  }

  const Value &lhs, &rhs;
  std::span<const int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  Index lhs_free, rhs_free, contracting_sizes;
};

}  // namespace

ValuePtr evaluate_dot(Operation& op) {
  const Roles roles(op);
  auto result = zero_value(op.shape());
  Index in_lhs, in_rhs;
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    roles.place(index, in_lhs, in_rhs);
    Sum sum(result->type());
    for_each_index(roles.contracting_sizes, [&](const Index& inner) {
      roles.contract(inner, in_lhs, in_rhs);
      sum.add(roles.lhs.type(), roles.lhs.at(in_lhs), roles.rhs.type(), roles.rhs.at(in_rhs));
    });
    result->at(index) = sum.result();
  });
  return result;
}

ValuePtr evaluate_ragged_dot(Operation& op) {
  const Roles roles(op);
  const Value& group_sizes = op.operand(2);
  const int64_t ragged = op.ints(AttrKey::kLhsRaggedDims)[0], groups = group_sizes.shape->dimensions.back();
  const auto group_dims = op.ints(AttrKey::kRhsGroupDims);
  const bool batch = holds(roles.lhs_batch, ragged), contracting = holds(roles.lhs_contracting, ragged);
  if (group_sizes.any_unknown()) return unknown_value(op.shape());
  // Dimensions of lhs that group_sizes repeats, if it does.
  Index prefix;
  const auto until_ragged = [&](std::span<const int64_t> list) {
    for (const int64_t d : list)
      if (d != ragged)
        prefix.push_back(d);
      else
        break;
  };
  if (!batch) prefix.assign(roles.lhs_batch.begin(), roles.lhs_batch.end());
  until_ragged(batch         ? roles.lhs_batch
               : contracting ? roles.lhs_contracting
                             : std::span<const int64_t>(roles.lhs_free));
  // First element of group g along the ragged dimension, for the line that `in_lhs` is on.
  const auto group_begin = [&](const Index& in_lhs, int64_t group) {
    Index index;
    if (group_sizes.rank() > 1)
      for (const int64_t d : prefix) index.push_back(in_lhs[static_cast<size_t>(d)]);
    index.push_back(0);
    int64_t begin = 0;
    for (int64_t g = 0; g < group; ++g) {
      index.back() = g;
      begin += integer_of(group_sizes.at(index));
    }
    return begin;
  };
  auto result = zero_value(op.shape());
  Index in_lhs, in_rhs;
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    roles.place(std::span(index).subspan(contracting ? 1 : 0), in_lhs, in_rhs);
    Sum sum(result->type());
    const int64_t at = in_lhs[static_cast<size_t>(ragged)];
    bool inside = true;
    if (!contracting) {
      int64_t group = 0;
      while (group < groups && group_begin(in_lhs, group + 1) <= at) ++group;
      inside = group < groups;
      if (inside && !batch) in_rhs[static_cast<size_t>(group_dims[0])] = group;
    }
    if (inside)
      for_each_index(roles.contracting_sizes, [&](const Index& inner) {
        roles.contract(inner, in_lhs, in_rhs);
        const int64_t place = in_lhs[static_cast<size_t>(ragged)];
        if (contracting &&
            (place < group_begin(in_lhs, index[0]) || place >= group_begin(in_lhs, index[0] + 1)))
          return;
        sum.add(roles.lhs.type(), roles.lhs.at(in_lhs), roles.rhs.type(), roles.rhs.at(in_rhs));
      });
    result->at(index) = sum.result();
  });
  return result;
}

ValuePtr evaluate_scaled_dot(Operation& op) {
  const Roles roles(op);
  auto result = zero_value(op.shape());
  const auto scale_at = [](const Value& scale, const Value& scaled, const Index& index) {
    if (scale.rank() == 0) return Element{float_bits(ElementType::kF64, 1), 0, 0};
    Index place = index;
    for (size_t d = 0; d < place.size(); ++d)
      place[d] /= scaled.shape->dimensions[d] / scale.shape->dimensions[d];
    return convert_element(scale.type(), ElementType::kF64, scale.at(place));
  };
  Index in_lhs, in_rhs;
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    roles.place(index, in_lhs, in_rhs);
    Sum sum(result->type());
    bool overflow = false;  // of an intermediate product, whatever the other factors
    for_each_index(roles.contracting_sizes, [&](const Index& inner) {
      roles.contract(inner, in_lhs, in_rhs);
      const Element s = scale_at(op.operand(2), roles.lhs, in_lhs),
                    t = scale_at(op.operand(3), roles.rhs, in_rhs);
      const double factor = real_of(ElementType::kF64, s) * real_of(ElementType::kF64, t);
      const double largest = std::max(std::fabs(real_of(roles.lhs.type(), roles.lhs.at(in_lhs))),
                                      std::fabs(real_of(roles.rhs.type(), roles.rhs.at(in_rhs))));
      for (const double scale : {real_of(ElementType::kF64, s), real_of(ElementType::kF64, t), factor})
        overflow = overflow || !(std::max(largest, 1.0) * std::max(std::fabs(scale), 1.0) < 1e30);
      sum.add(roles.lhs.type(), roles.lhs.at(in_lhs), roles.rhs.type(), roles.rhs.at(in_rhs), factor,
              s.error + t.error > 0 ? kInfinity : 0);
    });
    result->at(index) = overflow ? kUnknown : sum.result();
  });
  return result;
}

ValuePtr evaluate_convolution(Operation& op) {
  if (op.has(AttrKey::kSparsityConfig)) return op.fail("sparse operands are not supported");
  const Value &input = op.operand(0), &kernel = op.operand(1);
  const ConvolutionDimensions& labels = op.instruction.find(AttrKey::kDimLabels)->dim_labels();
  const size_t spatial = labels.input_spatial.size();
  const auto window = op.window(static_cast<int64_t>(spatial));
  const int64_t feature_groups = op.integer(AttrKey::kFeatureGroupCount, 1);
  const int64_t batch_groups = op.integer(AttrKey::kBatchGroupCount, 1);
  const int64_t features = kernel.dim(labels.kernel_input_feature),
                outputs = kernel.dim(labels.kernel_output_feature);
  const int64_t batch = batch_groups == 0 ? 0 : input.dim(labels.input_batch) / batch_groups;
  Index window_sizes;
  for (size_t d = 0; d < spatial; ++d) window_sizes.push_back(kernel.dim(labels.kernel_spatial[d]));
  auto result = zero_value(op.shape());
  Index in_input(static_cast<size_t>(input.rank())), in_kernel(static_cast<size_t>(kernel.rank()));
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    const int64_t output = index[static_cast<size_t>(labels.output_feature)];
    const int64_t feature_group = output / (outputs / feature_groups),
                  batch_group = output / (outputs / batch_groups);
    in_input[static_cast<size_t>(labels.input_batch)] =
        batch_group * batch + index[static_cast<size_t>(labels.output_batch)];
    in_kernel[static_cast<size_t>(labels.kernel_output_feature)] = output;
    Sum sum(result->type());
    for_each_index(window_sizes, [&](const Index& tap) {
      bool padding = false;
      for (size_t d = 0; d < spatial; ++d) {
        const auto at = element_under_window(input.dim(labels.input_spatial[d]), window[d],
                                             index[static_cast<size_t>(labels.output_spatial[d])], tap[d]);
        padding = padding || !at;
        in_input[static_cast<size_t>(labels.input_spatial[d])] = at.value_or(0);
        in_kernel[static_cast<size_t>(labels.kernel_spatial[d])] =
            window[d].reversal ? window_sizes[d] - 1 - tap[d] : tap[d];
      }
      for (int64_t f = 0; f < features; ++f) {
        in_input[static_cast<size_t>(labels.input_feature)] = feature_group * features + f;
        in_kernel[static_cast<size_t>(labels.kernel_input_feature)] = f;
        if (padding)
          sum.add_padding(kernel.type(), kernel.at(in_kernel));
        else
          sum.add(input.type(), input.at(in_input), kernel.type(), kernel.at(in_kernel));
      }
    });
    result->at(index) = sum.result(true);
  });
  return result;
}

}  // namespace hlosim::test
