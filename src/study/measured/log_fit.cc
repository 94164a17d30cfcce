#include "measured/log_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hlosim {
namespace {

constexpr double kStep = 0.02;        // of a logarithm, for derivatives
constexpr double kLongestStep = 0.5;  // of one iteration
constexpr double kSmallestScatter = 1e-4;
constexpr int kIterations = 12;

bool counts(double residual, const std::vector<bool>& mask, size_t i) {
  return std::isfinite(residual) && (mask.empty() || mask[i]);
}

double weighted_sum(std::span<const double> residuals, std::span<const double> weights) {
  double sum = 0;
  for (size_t i = 0; i < residuals.size(); ++i)
    if (weights[i] > 0) sum += weights[i] * residuals[i] * residuals[i];
  return sum;
}

/// Gauss-Jordan on [matrix | identity]; false when a pivot vanishes.
bool invert(std::vector<std::vector<double>>& matrix) {
  const size_t n = matrix.size();
  std::vector<std::vector<double>> inverse(n, std::vector<double>(n));
  for (size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row)
      if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) pivot = row;
    if (!(std::abs(matrix[pivot][column]) > 1e-9)) return false;
    std::swap(matrix[pivot], matrix[column]);
    std::swap(inverse[pivot], inverse[column]);
    const double scale = 1 / matrix[column][column];
    for (size_t k = 0; k < n; ++k) matrix[column][k] *= scale, inverse[column][k] *= scale;
    for (size_t row = 0; row < n; ++row) {
      const double factor = matrix[row][column];
      if (row == column || factor == 0) continue;
      for (size_t k = 0; k < n; ++k) {
        matrix[row][k] -= factor * matrix[column][k];
        inverse[row][k] -= factor * inverse[column][k];
      }
    }
  }
  matrix = std::move(inverse);
  return true;
}

}  // namespace

double robust_scatter(std::span<const double> residuals, const std::vector<bool>& mask) {
  std::vector<double> sizes;
  for (size_t i = 0; i < residuals.size(); ++i)
    if (counts(residuals[i], mask, i)) sizes.push_back(std::abs(residuals[i]));
  if (sizes.empty()) return 0;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  return 1.4826 * *middle;
}

std::vector<double> robust_weights(std::span<const double> residuals, double scatter,
                                   const std::vector<bool>& mask) {
  const double limit = 1.5 * std::max(scatter, kSmallestScatter);
  std::vector<double> weights(residuals.size());
  for (size_t i = 0; i < residuals.size(); ++i)
    if (counts(residuals[i], mask, i))
      weights[i] = std::min(1.0, limit / std::max(std::abs(residuals[i]), 1e-12));
  return weights;
}

std::optional<std::vector<double>> least_squares(std::span<const std::vector<double>> columns,
                                                 std::span<const double> b, std::span<const double> weights,
                                                 std::vector<double>* covariance) {
  const size_t n = columns.size();
  std::vector<double> length(n), right(n);
  std::vector<std::vector<double>> normal(n, std::vector<double>(n));
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = 0; i < b.size(); ++i)
      if (weights[i] > 0) length[j] += weights[i] * columns[j][i] * columns[j][i];
    length[j] = std::sqrt(length[j]);
    if (!(length[j] > 1e-9)) return std::nullopt;
  }
  for (size_t i = 0; i < b.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    for (size_t j = 0; j < n; ++j) {
      const double scaled = weights[i] * columns[j][i] / length[j];
      right[j] += scaled * b[i];
      for (size_t k = 0; k < n; ++k) normal[j][k] += scaled * columns[k][i] / length[k];
    }
  }
  if (!invert(normal)) return std::nullopt;
  std::vector<double> x(n);
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < n; ++k) x[j] += normal[j][k] * right[k];
    x[j] /= length[j];
  }
  if (covariance) {
    covariance->resize(n);
    for (size_t j = 0; j < n; ++j) (*covariance)[j] = normal[j][j] / (length[j] * length[j]);
  }
  return x;
}

LogFit::LogFit(std::span<const double> measured, LogPredictor predict)
    : measured_(measured.begin(), measured.end()), predict_(std::move(predict)) {}

std::vector<double> LogFit::residuals(std::span<const double> factors) const {
  const std::vector<std::optional<double>> times = predict_(factors);
  std::vector<double> residuals(measured_.size(), std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < residuals.size(); ++i)
    if (times[i] && *times[i] > 0) residuals[i] = std::log(measured_[i] / *times[i]);
  return residuals;
}

std::vector<double> LogFit::sensitivity(std::span<const double> factors, size_t constant) const {
  std::vector<double> moved(factors.begin(), factors.end());
  moved[constant] = factors[constant] - kStep;
  std::vector<double> slopes = residuals(moved);
  moved[constant] = factors[constant] + kStep;
  const std::vector<double> up = residuals(moved);
  for (size_t i = 0; i < slopes.size(); ++i) {
    slopes[i] = (slopes[i] - up[i]) / (2 * kStep);  // residuals fall as predictions rise
    if (!std::isfinite(slopes[i])) slopes[i] = 0;
  }
  return slopes;
}

FitResult LogFit::solve(const std::vector<bool>& moves, std::vector<double> start,
                        const std::vector<bool>& mask) const {
  FitResult result;
  result.factors = std::move(start);
  result.standard_errors.assign(moves.size(), 0);
  result.residuals = residuals(result.factors);
  std::vector<size_t> moving;
  for (size_t j = 0; j < moves.size(); ++j)
    if (moves[j]) moving.push_back(j);
  for (int iteration = 0; iteration < kIterations && !moving.empty(); ++iteration) {
    result.scatter = robust_scatter(result.residuals, mask);
    const std::vector<double> weights = robust_weights(result.residuals, result.scatter, mask);
    std::vector<std::vector<double>> columns;
    for (const size_t j : moving) columns.push_back(sensitivity(result.factors, j));
    std::vector<double> covariance;
    std::vector<double> b = result.residuals;
    for (double& value : b)
      if (!std::isfinite(value)) value = 0;
    const auto step = least_squares(columns, b, weights, &covariance);
    if (!step) break;
    for (size_t k = 0; k < moving.size(); ++k)
      result.standard_errors[moving[k]] = std::sqrt(covariance[k]) * result.scatter;
    const double before = weighted_sum(result.residuals, weights);
    double longest = 0, part = 1;
    for (const double one : *step) longest = std::max(longest, std::abs(one));
    if (longest > kLongestStep) part = kLongestStep / longest;
    bool better = false;
    for (int halving = 0; halving < 5 && !better; ++halving, part /= 2) {
      std::vector<double> tried = result.factors;
      for (size_t k = 0; k < moving.size(); ++k) tried[moving[k]] += part * (*step)[k];
      std::vector<double> left = residuals(tried);
      if (!(weighted_sum(left, weights) < before)) continue;
      better = true;
      result.factors = std::move(tried);
      result.residuals = std::move(left);
    }
    if (!better || longest < 1e-4) break;
  }
  result.scatter = robust_scatter(result.residuals, mask);
  return result;
}

}  // namespace hlosim
