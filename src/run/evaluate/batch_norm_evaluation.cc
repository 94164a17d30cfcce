#include "evaluate/batch_norm_evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "array/convert_array.h"
#include "base/rounding.h"
#include "base/saturating.h"
#include "ops/infer.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kGrain = 32 << 10;  // elements
constexpr int64_t kMostChunks = 64;

// x as [outer, features, inner].
struct FeatureShape {
  int64_t outer = 1, features = 0, inner = 1;
  int64_t per_feature() const { return outer * inner; }
  int64_t count() const { return outer * features * inner; }
};

struct Normalization {
  FeatureShape shape;
  double epsilon = 0;
  ElementType inner_type{};         // f32 or f64: what the operands are converted to
  std::vector<ElementType> given;   // of the operands
  std::vector<ElementType> wanted;  // of the results
};

using PerFeature = std::vector<double>;

/// Σ of each of the two numbers that f(index, feature) gives, for each feature. The order of additions
/// follows from the shape alone.
template <class F>
std::array<PerFeature, 2> sums(const FeatureShape& shape, F&& f) {
  const int64_t row = shape.features * shape.inner;
  const int64_t rows =
      std::max({int64_t{1}, ceil_div(shape.outer, kMostChunks), kGrain / std::max<int64_t>(row, 1)});
  const int64_t chunks = ceil_div(shape.outer, rows);
  const int64_t feature_grain = std::max<int64_t>(1, kGrain / (rows * shape.inner));
  const auto features = static_cast<size_t>(shape.features);
  std::vector<double> first(static_cast<size_t>(chunks) * features), second(first.size());
  parallel_for(chunks, 1, [&](int64_t chunk_begin, int64_t chunk_end) {
    for (int64_t chunk = chunk_begin; chunk < chunk_end; ++chunk)
      parallel_for(shape.features, feature_grain, [&](int64_t begin, int64_t end) {
        double* a = first.data() + chunk * shape.features;
        double* b = second.data() + chunk * shape.features;
        for (int64_t r = chunk * rows; r < std::min(shape.outer, (chunk + 1) * rows); ++r) {
          for (int64_t c = begin; c < end; ++c) {
            const int64_t at = r * row + c * shape.inner;
            double x = 0, y = 0;
            for (int64_t k = 0; k < shape.inner; ++k) {
              const std::array<double, 2> pair = f(at + k, c);
              x += pair[0], y += pair[1];
            }
            a[c] += x, b[c] += y;
          }
        }
      });
  });
  std::array<PerFeature, 2> result = {PerFeature(features), PerFeature(features)};
  for (size_t i = 0; i < first.size(); ++i) {
    result[0][i % features] += first[i];
    result[1][i % features] += second[i];
  }
  return result;
}

/// f(index, feature) for every element.
template <class F>
void for_each_element(const FeatureShape& shape, F&& f) {
  if (shape.inner == 1)
    parallel_for(shape.outer, std::max<int64_t>(1, kGrain / shape.features), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        for (int64_t c = 0; c < shape.features; ++c) f(r * shape.features + c, c);
    });
  else
    parallel_for(shape.outer * shape.features, std::max<int64_t>(1, kGrain / shape.inner),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line)
                     for (int64_t k = 0; k < shape.inner; ++k)
                       f(line * shape.inner + k, line % shape.features);
                 });
}

/// Operands of one call as arrays of T, results from arrays of T.
template <class T>
class Operands {
 public:
  Operands(Invocation& call, const Normalization& norm) : call_(call), norm_(norm) {
    for (size_t i = 0; i < call.operand_count(); ++i)
      held_.push_back(converted(call.device().pool(), call.operand(i).data, norm.given[i], norm.inner_type,
                                call.operand(i).count()));
  }
  const T* operator[](size_t i) const { return reinterpret_cast<const T*>(held_[i].data()); }
  Buffer allocate(int64_t count) const {
    return call_.device().pool().allocate(count * static_cast<int64_t>(sizeof(T)));
  }
  void set_result(size_t i, Buffer values) {
    Array& result = call_.result(i);
    result.data = converted(call_.device().pool(), std::move(values), norm_.inner_type, norm_.wanted[i],
                            result.count());
  }
  void set_result(size_t i, const PerFeature& values) {
    Buffer buffer = allocate(norm_.shape.features);
    std::transform(values.begin(), values.end(), reinterpret_cast<T*>(buffer.data()),
                   [](double value) { return static_cast<T>(value); });
    set_result(i, std::move(buffer));
  }

 private:
  Invocation& call_;
  const Normalization& norm_;
  std::vector<Buffer> held_;
};

/// factor[c]·x + shift[c]
template <class T>
Buffer scaled(const Operands<T>& operands, const FeatureShape& shape, const PerFeature& factor,
              const PerFeature& shift) {
  Buffer result = operands.allocate(shape.count());
  T* out = reinterpret_cast<T*>(result.data());
  const T* x = operands[0];
  const double *f = factor.data(), *s = shift.data();
  for_each_element(
      shape, [=](int64_t i, int64_t c) { out[i] = static_cast<T>(static_cast<double>(x[i]) * f[c] + s[c]); });
  return result;
}

/// The normalized x for these means and variances.
template <class T, class Mean, class Variance>
Buffer normalized(const Operands<T>& operands, const Normalization& norm, const Mean& mean,
                  const Variance& variance) {
  const auto features = static_cast<size_t>(norm.shape.features);
  PerFeature factor(features), shift(features);
  for (size_t c = 0; c < features; ++c) {
    factor[c] =
        static_cast<double>(operands[1][c]) / std::sqrt(static_cast<double>(variance[c]) + norm.epsilon);
    shift[c] = static_cast<double>(operands[2][c]) - static_cast<double>(mean[c]) * factor[c];
  }
  return scaled(operands, norm.shape, factor, shift);
}

template <class T>
void run_training(Invocation& call, const Normalization& norm) {
  Operands<T> operands(call, norm);
  const T* x = operands[0];
  auto [mean, variance] = sums(norm.shape, [x](int64_t i, int64_t) {
    const auto value = static_cast<double>(x[i]);
    return std::array{value, value * value};
  });
  const auto n = static_cast<double>(norm.shape.per_feature());
  for (size_t c = 0; c < mean.size(); ++c) {
    mean[c] /= n;
    variance[c] = variance[c] / n - mean[c] * mean[c];
  }
  operands.set_result(0, normalized(operands, norm, mean, variance));
  operands.set_result(1, mean);
  operands.set_result(2, variance);
}

template <class T>
void run_inference(Invocation& call, const Normalization& norm) {
  Operands<T> operands(call, norm);
  operands.set_result(0, normalized(operands, norm, operands[3], operands[4]));
}

// dx = scale·r/N·(N·dy - Σdy - (x - mean)·r²·Σ(dy·(x - mean))) with r = 1/sqrt(variance + epsilon).
template <class T>
void run_grad(Invocation& call, const Normalization& norm) {
  Operands<T> operands(call, norm);
  const T *x = operands[0], *scale = operands[1], *mean = operands[2], *variance = operands[3],
          *dy = operands[4];
  const std::array<PerFeature, 2> both = sums(norm.shape, [=](int64_t i, int64_t c) {
    const auto value = static_cast<double>(dy[i]);
    return std::array{value, value * (static_cast<double>(x[i]) - static_cast<double>(mean[c]))};
  });
  const PerFeature &gradient = both[0], &product = both[1];
  const auto n = static_cast<double>(norm.shape.per_feature());
  PerFeature of_dy(gradient.size()), of_x(gradient.size()), dscale(gradient.size());
  for (size_t c = 0; c < gradient.size(); ++c) {
    const double r = 1 / std::sqrt(static_cast<double>(variance[c]) + norm.epsilon);
    of_dy[c] = static_cast<double>(scale[c]) * r;
    of_x[c] = -of_dy[c] / n * r * r * product[c];
    dscale[c] = product[c] * r;
  }
  Buffer result = operands.allocate(norm.shape.count());
  T* dx = reinterpret_cast<T*>(result.data());
  for_each_element(norm.shape, [&, n](int64_t i, int64_t c) {
    const auto at = static_cast<size_t>(c);
    const double centered = static_cast<double>(x[i]) - static_cast<double>(mean[c]);
    dx[i] = static_cast<T>(of_dy[at] * (static_cast<double>(dy[i]) - gradient[at] / n) + of_x[at] * centered);
  });
  operands.set_result(0, std::move(result));
  operands.set_result(1, dscale);
  operands.set_result(2, gradient);
}

using Run = void (*)(Invocation&, const Normalization&);

Evaluation batch_norm(EvaluateContext& op, Run in_float, Run in_double) {
  Normalization norm;
  const ShapeRef x = op.operand_shape(0);
  const int64_t feature = op.integer(AttrKey::kFeatureIndex);
  for (int64_t i = 0; i < feature; ++i) norm.shape.outer = saturating_multiply(norm.shape.outer, x->dim(i));
  norm.shape.features = x->dim(feature);
  for (int64_t i = feature + 1; i < x->rank(); ++i)
    norm.shape.inner = saturating_multiply(norm.shape.inner, x->dim(i));
  // XLA keeps epsilon as a float.
  norm.epsilon = static_cast<double>(static_cast<float>(op.find(AttrKey::kEpsilon)->number()));
  norm.inner_type = x->element_type == ElementType::kF64 ? ElementType::kF64 : ElementType::kF32;
  bool known = x->is_static();
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    norm.given.push_back(op.operand_shape(i)->element_type);
    known = known && can_convert(norm.given.back(), norm.inner_type);
  }
  for_each_leaf(op.shape(), [&](ShapeRef leaf) {
    norm.wanted.push_back(leaf->element_type);
    known = known && can_convert(norm.inner_type, leaf->element_type);
  });
  if (!known) return op.unsupported();
  const Run run = norm.inner_type == ElementType::kF64 ? in_double : in_float;
  return [run, norm](Invocation& call) {
    if (norm.shape.features > 0) return run(call, norm);
    for (size_t i = 0; i < call.result_count(); ++i) call.make_result(i);
  };
}

}  // namespace

Evaluation evaluate_batch_norm_training(EvaluateContext& op) {
  return batch_norm(op, run_training<float>, run_training<double>);
}
Evaluation evaluate_batch_norm_inference(EvaluateContext& op) {
  return batch_norm(op, run_inference<float>, run_inference<double>);
}
Evaluation evaluate_batch_norm_grad(EvaluateContext& op) {
  return batch_norm(op, run_grad<float>, run_grad<double>);
}

}  // namespace hlosim
