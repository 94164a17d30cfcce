// Reductions: the value in row-major order, and how far other orders may lead.
#include <algorithm>
#include <cmath>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {

Accumulator::Accumulator(Evaluator& evaluator, ComputationId computation, std::span<const Element> inits,
                         std::span<const ElementType> init_types, bool rounds_each_step)
    : evaluator_(evaluator),
      computation_(computation),
      opcode_(evaluator.single_operation(computation)),
      rounds_each_step_(rounds_each_step || evaluator.rounds_each_step) {
  for (size_t i = 0; i < inits.size(); ++i) {
    types_.push_back(evaluator.parameter_type(computation, i));
    values_.push_back(convert_element(init_types[i], types_[i], inits[i]));
  }
  if (!opcode_ || !is_float(types_[0])) return;
  if (opcode_ == Opcode::kMultiply) total_ = 1;
  if (opcode_ == Opcode::kAdd) add_to_sum(values_[0]);
  if (opcode_ == Opcode::kMultiply) multiply(values_[0]);
}

void Accumulator::add_to_sum(const Element& value) {
  const double x = real_of(types_[0], value);
  total_ += static_cast<long double>(x);
  if (std::isfinite(x)) magnitudes_ += std::fabs(x);
  errors_ += std::isnan(x) && !value.unknown() ? 0 : value.error;
}

void Accumulator::multiply(const Element& value) {
  const double x = real_of(types_[0], value);
  total_ *= static_cast<long double>(x);
  if (std::isfinite(x) && x != 0) {
    const double exponent = std::log2(std::fabs(x));
    (exponent > 0 ? growth_ : decay_) += exponent;
  } else if (!std::isnan(x)) {
    magnitudes_ += 1;  // zeros and infinities
  }
  if (value.error > 0 && !std::isnan(x))
    errors_ += std::fabs(x) > 2 * value.error ? 2 * value.error / std::fabs(x) : kInfinity;
}

bool Accumulator::add(std::span<const Element> values, std::span<const ElementType> types) {
  ++count_;
  if (types[0] != types_[0]) rounds_each_step_ = true;
  if (!opcode_) {
    std::vector<Element> arguments = values_;
    std::vector<ElementType> argument_types = types_;
    arguments.insert(arguments.end(), values.begin(), values.end());
    argument_types.insert(argument_types.end(), types.begin(), types.end());
    values_ = evaluator_.apply(computation_, argument_types, arguments, types_);
    return !values_.empty();
  }
  const Element value = convert_element(types[0], types_[0], values[0]);
  // A single step has one right result.
  if (count_ == 1) single_ = binary_element(*opcode_, types_[0], values_[0], value);
  if (is_float(types_[0]) && opcode_ == Opcode::kAdd) {
    add_to_sum(value);
    return true;
  }
  if (is_float(types_[0]) && opcode_ == Opcode::kMultiply) {
    multiply(value);
    return true;
  }
  const Element before = values_[0];
  const auto next = binary_element(*opcode_, types_[0], before, value);
  if (!next) {
    evaluator_.fail("reduction of an element type that its operation does not take");
    return false;
  }
  values_[0] = *next;
  if (is_complex(types_[0])) {
    const double size = std::abs(complex_of(types_[0], before)) + std::abs(complex_of(types_[0], value));
    magnitudes_ += size;
  }
  return true;
}

bool Accumulator::rounds_narrow() const {
  // XLA's evaluator reduces floats of 16 bits and more in wider ones.
  return rounds_each_step_ || bit_width(types_[0]) < 16;
}

double Accumulator::step_roundoff() const {
  return unit_roundoff(rounds_narrow() ? types_[0] : compute_type(types_[0]));
}

Element Accumulator::sum() const {
  const ElementType type = types_[0], wide = compute_type(type);
  const double largest = wide == ElementType::kF64 ? std::numeric_limits<double>::max()
                                                   : static_cast<double>(std::numeric_limits<float>::max());
  // Partial sums may overflow, and meet an infinity of the other sign.
  if (!std::isnan(total_) && magnitudes_ > largest / 2) return kUnknown;
  const bool overflows = !std::isfinite(real_of(type, float_element(type, 2 * magnitudes_)));
  if (rounds_narrow() && count_ > 1 && !std::isnan(total_) && overflows) return kUnknown;
  const auto value = static_cast<double>(total_);
  const double rounding = count_ > 1 ? static_cast<double>(count_ + 2) * step_roundoff() * magnitudes_ : 0;
  Element result = float_element(type, value, errors_ + rounding);
  if (value == 0) result.error = std::max(result.error, kTiny);
  return result;
}

Element Accumulator::product() const {
  const ElementType type = types_[0], wide = compute_type(type);
  const auto value = static_cast<double>(total_);
  if (std::isnan(value)) return float_element(type, value, magnitudes_ > 0 ? kInfinity : 0.0);
  if (magnitudes_ > 0 && (growth_ > 0 || decay_ < 0)) return kUnknown;
  const bool narrow = type == ElementType::kF16 || bit_width(type) < 16;
  const double limit = wide == ElementType::kF64                          ? 1000
                       : narrow && step_roundoff() == unit_roundoff(type) ? 5
                                                                          : 120;
  if (growth_ > limit || decay_ < -limit) return kUnknown;
  const double relative = errors_ + (count_ > 1 ? static_cast<double>(count_) * 2 * step_roundoff() : 0);
  if (!(relative < 0.5)) return kUnknown;
  return float_element(type, value, 2 * relative * std::fabs(value));
}

std::vector<Element> Accumulator::result(std::span<const ElementType> types) const {
  std::vector<Element> results = values_;
  if (opcode_ && count_ > 0) {
    const bool single = count_ == 1 && single_ && is_float(types_[0]);
    if (is_float(types_[0]) && opcode_ == Opcode::kAdd) results[0] = single ? *single_ : sum();
    if (is_float(types_[0]) && opcode_ == Opcode::kMultiply) results[0] = single ? *single_ : product();
    if (single && real_of(types_[0], results[0]) == 0) results[0].error = std::max(results[0].error, kTiny);
    if (is_complex(types_[0]) && count_ > 1 && opcode_ == Opcode::kAdd)
      results[0].error += static_cast<double>(count_) * 4 * unit_roundoff(types_[0]) * magnitudes_;
    if (is_complex(types_[0]) && count_ > 1 && !std::isfinite(magnitudes_)) results[0] = kUnknown;
    if (is_complex(types_[0]) && count_ > 1 && opcode_ == Opcode::kMultiply) results[0] = kUnknown;
  }
  for (size_t i = 0; i < results.size(); ++i) results[i] = convert_element(types_[i], types[i], results[i]);
  return results;
}

}  // namespace hlosim::test
