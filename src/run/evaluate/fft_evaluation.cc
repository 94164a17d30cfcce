// Transforms along the last one, two or three dimensions, in double.
#include <algorithm>
#include <mutex>

#include "algorithms/fft.h"
#include "base/rounding.h"
#include "base/saturating.h"
#include "evaluate/linear_algebra_evaluation.h"
#include "ops/require.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

enum class FftKind : uint8_t { kForward, kInverse, kFromReal, kToReal };

// What one entry of the batch is: `lengths` transformed, of which a real transform keeps the first
// length/2 + 1 elements of the last dimension.
struct FftJob {
  FftKind kind{};
  std::vector<int64_t> lengths;
  std::vector<FftPlan> plans;  // one per entry of `lengths`; made when first needed, they may be large
  std::once_flag made;
  int64_t kept = 0;  // elements of the last dimension on the complex side
  int64_t rows = 1;  // product of the other lengths
  int64_t batch = 0;
  double scale = 1;
  ElementType in_type{}, out_type{};

  int64_t last() const { return lengths.back(); }
  int64_t in_row() const { return kind == FftKind::kToReal ? kept : last(); }
  int64_t out_row() const { return kind == FftKind::kFromReal ? kept : last(); }
  void make_plans() {
    std::call_once(made, [this] {
      for (const int64_t length : lengths) plans.emplace_back(length);
    });
  }
  bool inverse() const { return kind == FftKind::kInverse || kind == FftKind::kToReal; }
};

constexpr int64_t kLineGrain = 4096;  // elements: about 50 µs

template <class T>
void load(const T* in, int64_t count, bool complex, ComplexDouble* out) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = complex ? ComplexDouble{static_cast<double>(in[2 * i]), static_cast<double>(in[2 * i + 1])}
                     : ComplexDouble{static_cast<double>(in[i]), 0};
}
template <class T>
void store(const ComplexDouble* in, int64_t count, bool complex, double scale, T* out) {
  for (int64_t i = 0; i < count; ++i) {
    if (complex) {
      out[2 * i] = static_cast<T>(in[i].re * scale);
      out[2 * i + 1] = static_cast<T>(in[i].im * scale);
    } else {
      out[i] = static_cast<T>(in[i].re * scale);
    }
  }
}

bool is_double(ElementType type) { return type == ElementType::kF64 || type == ElementType::kC128; }

void load_elements(ElementType type, const std::byte* data, int64_t begin, int64_t count,
                   ComplexDouble* out) {
  const std::byte* from = data + begin * byte_width(type);
  if (is_double(type))
    load(reinterpret_cast<const double*>(from), count, is_complex(type), out);
  else
    load(reinterpret_cast<const float*>(from), count, is_complex(type), out);
}
void store_elements(ElementType type, const ComplexDouble* in, int64_t begin, int64_t count, double scale,
                    std::byte* data) {
  std::byte* to = data + begin * byte_width(type);
  if (is_double(type))
    store(in, count, is_complex(type), scale, reinterpret_cast<double*>(to));
  else
    store(in, count, is_complex(type), scale, reinterpret_cast<float*>(to));
}

// The inverse transform is the conjugate of the transform of the conjugate.
void conjugate_all(ComplexDouble* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) data[i].im = -data[i].im;
}

/// Transforms the dimension of plan.length() elements `stride` apart. Lines beside each other are fetched
/// together.
void transform_lines(const FftPlan& plan, int64_t outer, int64_t stride, ComplexDouble* data) {
  const int64_t n = plan.length(), width = std::min<int64_t>(8, stride), groups = ceil_div(stride, width);
  if (n <= 1) return;
  parallel_for(outer * groups, std::max<int64_t>(1, kLineGrain / (n * width)),
               [&](int64_t begin, int64_t end) {
                 std::vector<ComplexDouble> lines(static_cast<size_t>(n * width)),
                     result(static_cast<size_t>(n)), scratch(static_cast<size_t>(plan.scratch_size()));
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t at = i % groups * width, count = std::min(width, stride - at);
                   ComplexDouble* first = data + i / groups * n * stride + at;
                   for (int64_t k = 0; k < n; ++k)
                     for (int64_t j = 0; j < count; ++j)
                       lines[static_cast<size_t>(j * n + k)] = first[k * stride + j];
                   for (int64_t j = 0; j < count; ++j) {
                     plan.transform(lines.data() + j * n, result.data(), scratch.data());
                     std::copy(result.begin(), result.end(), lines.begin() + j * n);
                   }
                   for (int64_t k = 0; k < n; ++k)
                     for (int64_t j = 0; j < count; ++j)
                       first[k * stride + j] = lines[static_cast<size_t>(j * n + k)];
                 }
               });
}

/// All dimensions but the last, of rows of `row` elements.
void transform_columns(const FftJob& job, int64_t row, ComplexDouble* data) {
  int64_t stride = row, outer = job.rows;
  for (size_t d = job.lengths.size() - 1; d-- > 0;) {
    outer /= job.lengths[d];
    transform_lines(job.plans[d], outer, stride, data);
    stride *= job.lengths[d];
  }
}

/// From `kept` elements of a row all of them: the rest are the conjugates of the first ones. What is its own
/// counterpart is real.
void complete_rows(const FftJob& job, const ComplexDouble* half, ComplexDouble* full) {
  const int64_t n = job.last();
  for (int64_t r = 0; r < job.rows; ++r, half += job.kept, full += n) {
    full[0] = {half[0].re, 0};
    for (int64_t k = 1; k < job.kept; ++k) {
      full[k] = half[k];
      full[n - k] = {half[k].re, -half[k].im};
    }
    if (n % 2 == 0) full[n / 2].im = 0;
  }
}

void run_entry(const FftJob& job, const std::byte* in, std::byte* out, int64_t entry) {
  const int64_t in_count = job.rows * job.in_row(), out_count = job.rows * job.out_row();
  std::vector<ComplexDouble> data(static_cast<size_t>(std::max(in_count, job.rows * job.last())));
  load_elements(job.in_type, in, entry * in_count, in_count, data.data());
  if (job.inverse()) conjugate_all(data.data(), in_count);
  if (job.kind == FftKind::kToReal) {
    transform_columns(job, job.kept, data.data());
    std::vector<ComplexDouble> full(static_cast<size_t>(job.rows * job.last()));
    complete_rows(job, data.data(), full.data());
    data.swap(full);
  }
  transform_lines(job.plans.back(), job.rows, 1, data.data());
  if (job.kind == FftKind::kFromReal) {
    for (int64_t r = 0; r < job.rows; ++r)
      std::copy_n(data.data() + r * job.last(), job.kept, data.data() + r * job.kept);
  }
  if (job.kind != FftKind::kToReal) transform_columns(job, job.out_row(), data.data());
  if (job.inverse()) conjugate_all(data.data(), out_count);
  store_elements(job.out_type, data.data(), entry * out_count, out_count, job.scale, out);
}

FftKind kind_of(std::string_view text) {
  return text == "FFT"    ? FftKind::kForward
         : text == "IFFT" ? FftKind::kInverse
         : text == "RFFT" ? FftKind::kFromReal
                          : FftKind::kToReal;
}

}  // namespace

Evaluation evaluate_fft(EvaluateContext& op) {
  const ShapeRef in = op.operand_shape(0), out = op.shape();
  auto job = std::make_shared<FftJob>();
  job->kind = kind_of(op.text(AttrKey::kFftType));
  job->in_type = in->element_type;
  job->out_type = out->element_type;
  const bool from_real = job->kind == FftKind::kFromReal, to_real = job->kind == FftKind::kToReal;
  const auto narrow_or_wide = [](ElementType type, bool complex) {
    return complex ? is_complex(type) : type == ElementType::kF32 || type == ElementType::kF64;
  };
  if (!narrow_or_wide(job->in_type, !from_real) || !narrow_or_wide(job->out_type, !to_real) ||
      !in->is_static())
    return op.unsupported();
  const Dimensions lengths = op.ints(AttrKey::kFftLength);
  job->lengths.assign(lengths.begin(), lengths.end());
  const int64_t first = in->rank() - static_cast<int64_t>(lengths.size());
  const ShapeRef whole = from_real ? in : out;  // the side that has all elements of the last dimension
  for (size_t i = 0; i < lengths.size(); ++i)
    if (whole->dim(first + static_cast<int64_t>(i)) != lengths[i])
      return op.unsupported(fmt::format("fft_length={} of {}", list_text(lengths), text_of(in)));
  if (in->element_count() == 0 || out->element_count() == 0)
    return [](Invocation& call) { call.make_result(); };
  job->kept = job->last() / 2 + 1;
  for (size_t i = 0; i + 1 < lengths.size(); ++i) job->rows = saturating_multiply(job->rows, lengths[i]);
  job->batch = out->element_count() / saturating_multiply(job->rows, job->out_row());
  if (job->inverse()) job->scale = 1 / (static_cast<double>(job->rows) * static_cast<double>(job->last()));
  return [job](Invocation& call) {
    job->make_plans();
    const std::byte* from = call.operand(0).bytes();
    std::byte* to = call.make_result().bytes();
    parallel_for(job->batch, std::max<int64_t>(1, kLineGrain / (job->rows * job->last())),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t entry = begin; entry < end; ++entry) run_entry(*job, from, to, entry);
                 });
  };
}

}  // namespace hlosim
