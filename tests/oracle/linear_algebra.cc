// Solvers, transforms and normalization, with running error bounds.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

/// A number with a bound on its error. Every operation adds roundings of the type's arithmetic.
struct Tracked {
  Complex value = 0;
  double error = 0;
};

class Arithmetic {
 public:
  explicit Arithmetic(ElementType type) : type_(type), unit_(8 * unit_roundoff(compute_type(type))) {}

  Tracked read(ElementType type, const Element& element) const {
    return {complex_of(type, element), element.error};
  }
  Element write(const Tracked& x) const {
    const double error = std::isfinite(std::abs(x.value)) ? x.error : kInfinity;
    return is_complex(type_) ? complex_element(type_, x.value, error)
                             : float_element(type_, x.value.real(), error);
  }
  Tracked add(const Tracked& a, const Tracked& b) const {
    return {a.value + b.value, a.error + b.error + unit_ * (std::abs(a.value) + std::abs(b.value))};
  }
  Tracked subtract(const Tracked& a, const Tracked& b) const { return add(a, {-b.value, b.error}); }
  Tracked multiply(const Tracked& a, const Tracked& b) const {
    const double x = std::abs(a.value), y = std::abs(b.value);
    return {a.value * b.value,
            x * b.error + y * a.error + a.error * b.error + unit_ * x * y + smallest_normal(type_)};
  }
  Tracked divide(const Tracked& a, const Tracked& b) const {
    const double y = std::abs(b.value);
    if (!(y > 2 * b.error)) return {a.value / b.value, kInfinity};
    const Complex quotient = a.value / b.value;
    return {quotient, 2 * (a.error + std::abs(quotient) * b.error) / y + unit_ * std::abs(quotient) +
                          smallest_normal(type_)};
  }
  /// Of a positive real number.
  Tracked root(const Tracked& a) const {
    const double x = a.value.real();
    if (!(x > 2 * a.error)) return {std::sqrt(x), kInfinity};
    return {std::sqrt(x), a.error / std::sqrt(x) + unit_ * std::sqrt(x)};
  }

 private:
  ElementType type_;
  double unit_;
};

Tracked conjugate(const Tracked& x) { return {std::conj(x.value), x.error}; }

using Matrix = std::vector<std::vector<Tracked>>;

/// Matrix number `batch` of the last two dimensions.
Matrix read_matrix(const Arithmetic& arithmetic, const Value& value, size_t batch) {
  const auto rows = static_cast<size_t>(value.dim(value.rank() - 2)),
             columns = static_cast<size_t>(value.dim(value.rank() - 1));
  Matrix matrix(rows, std::vector<Tracked>(columns));
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      matrix[i][j] = arithmetic.read(value.type(), value.data[(batch * rows + i) * columns + j]);
  return matrix;
}

size_t matrix_count(const Value& value) {
  const auto size = static_cast<size_t>(value.dim(value.rank() - 2) * value.dim(value.rank() - 1));
  return size == 0 ? 0 : value.data.size() / size;
}

/// The factor in the lower triangle; false: not positive definite within the errors.
bool factorize(const Arithmetic& arithmetic, Matrix& a) {
  for (size_t j = 0; j < a.size(); ++j) {
    for (size_t k = 0; k < j; ++k)
      a[j][j] = arithmetic.subtract(a[j][j], arithmetic.multiply(a[j][k], conjugate(a[j][k])));
    a[j][j].value = a[j][j].value.real();
    a[j][j] = arithmetic.root(a[j][j]);
    if (!(a[j][j].error < kInfinity)) return false;
    for (size_t i = j + 1; i < a.size(); ++i) {
      for (size_t k = 0; k < j; ++k)
        a[i][j] = arithmetic.subtract(a[i][j], arithmetic.multiply(a[i][k], conjugate(a[j][k])));
      a[i][j] = arithmetic.divide(a[i][j], a[j][j]);
    }
  }
  return true;
}

}  // namespace

ValuePtr evaluate_cholesky(Operation& op) {
  const Value& operand = op.operand(0);
  const Arithmetic arithmetic(operand.type());
  const bool lower = op.flag(AttrKey::kLower);
  auto result = unknown_value(op.shape());
  for (size_t batch = 0; batch < matrix_count(operand); ++batch) {
    Matrix a = read_matrix(arithmetic, operand, batch);
    const size_t n = a.size();
    if (!lower)  // A = Uᴴ U, and U is the factor of the conjugate transpose
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j) a[i][j] = conjugate(a[j][i]);
    if (!factorize(arithmetic, a)) continue;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j <= i; ++j)
        result->data[(batch * n + (lower ? i : j)) * n + (lower ? j : i)] =
            arithmetic.write(lower ? a[i][j] : conjugate(a[i][j]));
  }
  return result;
}

ValuePtr evaluate_triangular_solve(Operation& op) {
  const Arithmetic arithmetic(op.operand(0).type());
  const bool left = op.flag(AttrKey::kLeftSide), unit = op.flag(AttrKey::kUnitDiagonal);
  const std::string_view transpose = op.text(AttrKey::kTransposeA);
  const bool transposed = transpose == "TRANSPOSE" || transpose == "ADJOINT";
  auto result = zero_value(op.shape());
  for (size_t batch = 0; batch < matrix_count(op.operand(1)); ++batch) {
    const Matrix a = read_matrix(arithmetic, op.operand(0), batch);
    Matrix b = read_matrix(arithmetic, op.operand(1), batch);
    const size_t n = a.size(), rows = b.size(), columns = b[0].size();
    // x·op(a) = b is op(a)ᵀ·xᵀ = bᵀ: read a the other way round.
    const auto coefficient = [&](size_t i, size_t j) {
      const Tracked& x = transposed != !left ? a[j][i] : a[i][j];
      return transpose == "ADJOINT" ? conjugate(x) : x;
    };
    const bool lower = op.flag(AttrKey::kLower) == (transposed == !left);
    for (size_t line = 0; line < (left ? columns : rows); ++line) {
      const auto unknown = [&](size_t i) -> Tracked& { return left ? b[i][line] : b[line][i]; };
      for (size_t step = 0; step < n; ++step) {
        const size_t i = lower ? step : n - 1 - step;
        for (size_t k = 0; k < step; ++k) {
          const size_t j = lower ? k : n - 1 - k;
          unknown(i) = arithmetic.subtract(unknown(i), arithmetic.multiply(coefficient(i, j), unknown(j)));
        }
        if (!unit) unknown(i) = arithmetic.divide(unknown(i), coefficient(i, i));
      }
    }
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        result->data[(batch * rows + i) * columns + j] = arithmetic.write(b[i][j]);
  }
  return result;
}

// ── fft ─────────────────────────────────────────────────────────

namespace {

/// Complex numbers with errors in an array of some dimensions.
struct Field {
  Index sizes;
  std::vector<Tracked> data;
};

/// The sum over k of x[k]·exp(±2πi·jk/n) along one dimension, for j < outputs.
void transform(Field& field, size_t dimension, double sign, double unit) {
  const int64_t n = field.sizes[dimension];
  int64_t inner = 1;
  for (size_t d = dimension + 1; d < field.sizes.size(); ++d) inner *= field.sizes[d];
  const std::vector<Tracked> from = field.data;
  for (size_t place = 0; place < from.size(); ++place) {
    const auto at = static_cast<int64_t>(place);
    const int64_t j = at / inner % n, start = at - j * inner;
    Complex sum = 0;
    double magnitudes = 0, errors = 0;
    for (int64_t k = 0; k < n; ++k) {
      const Tracked& x = from[static_cast<size_t>(start + k * inner)];
      const double angle =
          sign * 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      sum += x.value * std::polar(1.0, angle);
      magnitudes += std::abs(x.value);
      errors += x.error;
    }
    const bool finite = std::isfinite(magnitudes);
    field.data[place] = {finite ? sum : 0, finite ? 2 * errors + unit * magnitudes + kTiny : kInfinity};
  }
}

}  // namespace

ValuePtr evaluate_fft(Operation& op) {
  const Value& operand = op.operand(0);
  const auto lengths = op.ints(AttrKey::kFftLength);
  const std::string_view kind = op.text(AttrKey::kFftType);
  const bool inverse = kind == "IFFT" || kind == "IRFFT", from_half = kind == "IRFFT";
  auto result = zero_value(op.shape());
  const size_t rank = operand.shape->dimensions.size(), first = rank - lengths.size();
  Field field;
  field.sizes.assign(operand.shape->dimensions.begin(), operand.shape->dimensions.end());
  if (from_half) field.sizes[rank - 1] = lengths.back();
  for_each_index(field.sizes, [&](const Index& index) {
    Index source = index;
    const bool mirrored = from_half && source[rank - 1] >= operand.dim(static_cast<int64_t>(rank) - 1);
    if (mirrored)  // the other half is the conjugate at the negated frequencies
      for (size_t d = first; d < rank; ++d) source[d] = (field.sizes[d] - source[d]) % field.sizes[d];
    const Element& element = operand.at(source);
    const Complex value = complex_of(operand.type(), element);
    field.data.push_back({mirrored ? std::conj(value) : value, element.error});
  });
  // log2(n) steps of a fast transform, each some roundings.
  const double unit = 64 * unit_roundoff(compute_type(operand.type()));
  double scale = 1;
  for (size_t d = first; d < rank; ++d) {
    transform(field, d, inverse ? 1 : -1, unit);
    if (inverse) scale /= static_cast<double>(lengths[d - first]);
  }
  Field whole = std::move(field);
  const Arithmetic arithmetic(result->type());
  for_each_index(result->shape->dimensions, [&](const Index& index) {
    int64_t place = 0;
    for (size_t d = 0; d < rank; ++d) place = place * whole.sizes[d] + index[d];
    const Tracked& x = whole.data[static_cast<size_t>(place)];
    result->at(index) = arithmetic.write({x.value * scale, x.error * scale + kTiny});
  });
  return result;
}

}  // namespace hlosim::test
