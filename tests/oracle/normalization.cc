// Batch normalization, written as its formulas, in double with a bound for any order and rounding.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// The elements of one feature.
class Feature {
 public:
  Feature(const Operation& op, int64_t feature)
      : feature_(feature), dimension_(op.integer(AttrKey::kFeatureIndex)), first_(op.operand(0)) {
    for (size_t place = 0; place < first_.data.size(); ++place)
      if (feature_of(place) == feature) places.push_back(place);
  }
  double value(const Value& array, size_t place) const { return real_of(array.type(), array.data[place]); }
  /// Of a vector with one element a feature.
  double at(const Value& vector) const {
    return real_of(vector.type(), vector.data[static_cast<size_t>(feature_)]);
  }
  /// Are all operands exact and finite here?
  bool usable(const Operation& op) const {
    for (const ValuePtr& operand : op.operands) {
      if (operand->rank() == 1 && first_.rank() != 1) {
        if (!usable(*operand, static_cast<size_t>(feature_))) return false;
      } else {
        for (const size_t place : places)
          if (!usable(*operand, place < operand->data.size() ? place : static_cast<size_t>(feature_)))
            return false;
      }
    }
    return true;
  }

  std::vector<size_t> places;

 private:
  int64_t feature_of(size_t place) const {
    int64_t inner = 1;
    for (int64_t d = dimension_ + 1; d < first_.rank(); ++d) inner *= first_.dim(d);
    return static_cast<int64_t>(place) / inner % first_.dim(dimension_);
  }
  bool usable(const Value& array, size_t place) const {
    const Element& element = array.data[place];
    const double x = real_of(array.type(), element);
    return std::isfinite(x) && std::fabs(x) < 1e6 && element.error <= 1e-6 * std::fabs(x);
  }

  int64_t feature_, dimension_;
  const Value& first_;
};

/// What the results may be off, relative to the largest term that goes into them.
double accuracy(const Operation& op, size_t count) {
  return 64 * (static_cast<double>(count) + 8) * unit_roundoff(compute_type(op.operand(0).type())) + 1e-5;
}

/// A result; the sign of zero is free.
Element bounded(ElementType type, double value, double error) {
  return float_element(type, value, std::max(error, kTiny));
}

double epsilon_of(const Operation& op) { return op.instruction.find(AttrKey::kEpsilon)->number(); }

/// Variance + epsilon so small that rounding decides it.
bool ill_conditioned(double variance, double epsilon, double square) {
  return !(variance + epsilon > 1e-2 * square) || !(variance + epsilon > 1e-4);
}

}  // namespace

ValuePtr evaluate_batch_norm_training(Operation& op) {
  auto result = unknown_value(op.shape());
  auto y = unknown_value(op.shape()->elements[0]), mean = unknown_value(op.shape()->elements[1]),
       variance = unknown_value(op.shape()->elements[2]);
  result->elements = {y, mean, variance};
  const Value& x = op.operand(0);
  const double epsilon = epsilon_of(op);
  for (int64_t f = 0; f < x.dim(op.integer(AttrKey::kFeatureIndex)); ++f) {
    const Feature feature(op, f);
    if (feature.places.empty() || !feature.usable(op)) continue;
    const auto n = static_cast<double>(feature.places.size());
    double sum = 0, squares = 0, largest = 0;
    for (const size_t place : feature.places) {
      const double v = feature.value(x, place);
      sum += v;
      squares += v * v;
      largest = std::max(largest, std::fabs(v));
    }
    const double m = sum / n, v = squares / n - m * m, unit = accuracy(op, feature.places.size());
    mean->data[static_cast<size_t>(f)] = bounded(mean->type(), m, unit * largest);
    variance->data[static_cast<size_t>(f)] = bounded(variance->type(), v, 2 * unit * largest * largest);
    if (ill_conditioned(v, epsilon, squares / n)) continue;
    const double scale = feature.at(op.operand(1)) / std::sqrt(v + epsilon),
                 offset = feature.at(op.operand(2));
    for (const size_t place : feature.places)
      y->data[place] = bounded(y->type(), (feature.value(x, place) - m) * scale + offset,
                               200 * unit * (std::fabs(scale) * largest + std::fabs(offset)));
  }
  return result;
}

ValuePtr evaluate_batch_norm_inference(Operation& op) {
  auto result = unknown_value(op.shape());
  const Value& x = op.operand(0);
  const double epsilon = epsilon_of(op);
  for (int64_t f = 0; f < x.dim(op.integer(AttrKey::kFeatureIndex)); ++f) {
    const Feature feature(op, f);
    if (!feature.usable(op)) continue;
    const double variance = feature.at(op.operand(4)) + epsilon, mean = feature.at(op.operand(3));
    if (!(variance > 1e-4)) continue;
    const double scale = feature.at(op.operand(1)) / std::sqrt(variance), offset = feature.at(op.operand(2));
    for (const size_t place : feature.places) {
      const double v = feature.value(x, place);
      result->data[place] =
          bounded(result->type(), v * scale + (offset - mean * scale),
                  accuracy(op, 1) * (std::fabs(v * scale) + std::fabs(offset) + std::fabs(mean * scale)));
    }
  }
  return result;
}

ValuePtr evaluate_batch_norm_grad(Operation& op) {
  auto result = unknown_value(op.shape());
  auto dx = unknown_value(op.shape()->elements[0]), dscale = unknown_value(op.shape()->elements[1]),
       doffset = unknown_value(op.shape()->elements[2]);
  result->elements = {dx, dscale, doffset};
  const Value &x = op.operand(0), &dy = op.operand(4);
  const double epsilon = epsilon_of(op);
  for (int64_t f = 0; f < x.dim(op.integer(AttrKey::kFeatureIndex)); ++f) {
    const Feature feature(op, f);
    if (feature.places.empty() || !feature.usable(op)) continue;
    const double variance = feature.at(op.operand(3)) + epsilon, mean = feature.at(op.operand(2));
    if (!(variance > 1e-4)) continue;
    const auto n = static_cast<double>(feature.places.size());
    double sum = 0, products = 0, sizes = 0, largest = 0;
    for (const size_t place : feature.places) {
      const double g = feature.value(dy, place), centered = feature.value(x, place) - mean;
      sum += g;
      products += g * centered;
      sizes += std::fabs(g);
      largest = std::max(largest, std::fabs(feature.value(x, place)) + std::fabs(mean));
    }
    const double inverse = 1 / std::sqrt(variance), unit = accuracy(op, feature.places.size());
    const auto i = static_cast<size_t>(f);
    doffset->data[i] = bounded(doffset->type(), sum, unit * sizes);
    dscale->data[i] = bounded(dscale->type(), products * inverse, 4 * unit * sizes * largest * inverse);
    const double factor = feature.at(op.operand(1)) * inverse / n;
    for (const size_t place : feature.places) {
      const double centered = feature.value(x, place) - mean;
      const double value = factor * (n * feature.value(dy, place) - sum - centered * products / variance);
      const double size =
          n * std::fabs(feature.value(dy, place)) + sizes + largest * largest * sizes / variance;
      dx->data[place] = bounded(dx->type(), value, 8 * unit * std::fabs(factor) * size);
    }
  }
  return result;
}

}  // namespace hlosim::test
