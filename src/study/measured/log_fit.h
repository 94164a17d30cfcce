// Least squares for constants that scale: logarithms of constants fitted to logarithms of times.
//
//   LogFit fit(measured_us, predict);  // predict(log factors) → times, none where it has none
//   const FitResult found = fit.solve({true, false, true}, start);  // which constants may move
//   std::exp(found.factors[0])         // the factor of the first one
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace hlosim {

/// Simulated times of all cases when constant j is exp(factors[j]) times what it was; the order of cases is
/// fixed.
using LogPredictor = std::function<std::vector<std::optional<double>>(std::span<const double> factors)>;

struct FitResult {
  std::vector<double> factors;          // of all constants; 0: as it was
  std::vector<double> standard_errors;  // of those that moved; 0 of the others
  double scatter = 0;                   // of the logarithms that are left: a robust standard deviation
  std::vector<double> residuals;        // ln(measured / simulated); NaN without a prediction
};

class LogFit {
 public:
  LogFit(std::span<const double> measured, LogPredictor predict);

  size_t cases() const { return measured_.size(); }
  /// ln(measured / simulated).
  std::vector<double> residuals(std::span<const double> factors) const;
  /// d ln(simulated) / d ln(constant) of each case, over a step of 2 % to both sides.
  std::vector<double> sensitivity(std::span<const double> factors, size_t constant) const;

  /// Gauss-Newton steps with weights that outliers lose; cases with `mask` false take no part (empty: all
  /// do).
  FitResult solve(const std::vector<bool>& moves, std::vector<double> start,
                  const std::vector<bool>& mask = {}) const;

 private:
  std::vector<double> measured_;
  LogPredictor predict_;
};

/// Weights by Huber: 1 up to 1.5 times the scatter, less beyond; 0 where masked out or NaN.
std::vector<double> robust_weights(std::span<const double> residuals, double scatter,
                                   const std::vector<bool>& mask);
/// 1.4826 times the median of |r| over those that count.
double robust_scatter(std::span<const double> residuals, const std::vector<bool>& mask);
/// x with the least weighted |A x - b|²; `columns` of A. Nothing when columns can't be told apart.
/// `covariance` gets the diagonal of (A'WA)^-1.
std::optional<std::vector<double>> least_squares(std::span<const std::vector<double>> columns,
                                                 std::span<const double> b, std::span<const double> weights,
                                                 std::vector<double>* covariance = nullptr);

}  // namespace hlosim
