// Matrix products against oneDNN and Eigen, in turns.
//
//   matmul_bench [threads] [filter]
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#ifdef HLOSIM_BENCH_DNNL
#include <dnnl.hpp>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#include "cpu_kernels/matmul.h"
#include "cpu_kernels/matmul_recipe.h"
#include "eigen_matmul.h"
#include "interleaved.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

using enum ElementType;

struct Data {
  explicit Data(int64_t elements) : values(static_cast<size_t>(elements)) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>((i * 2654435761u >> 16) & 255) / 128 - 1;
  }
  std::vector<float> values;
  float* data() { return values.data(); }
};

std::vector<uint16_t> bf16_of(const std::vector<float>& values) {
  std::vector<uint16_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, &values[i], 4);
    result[i] = static_cast<uint16_t>(bits >> 16);
  }
  return result;
}

std::vector<int8_t> s8_of(const std::vector<float>& values) {
  std::vector<int8_t> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i] = static_cast<int8_t>(values[i] * 100);
  return result;
}

int threads = 1;
std::string filter;

bool wanted(const std::string& title) { return title.find(filter) != std::string::npos; }

void f32(int64_t m, int64_t n, int64_t k) {
  const std::string title = "f32 " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  if (!wanted(title)) return;
  Data a(m * k), b(k * n), c(m * n);
  const auto a16 = bf16_of(a.values), b16 = bf16_of(b.values);
  Interleaved runs(title, 2.0 * static_cast<double>(m * n * k));
  runs.add("ours", [&] {
    matmul({m, n, k, {a.data(), kF32, k, 1}, {b.data(), kF32, n, 1}, {c.data(), kF32, n, 1}});
  });
  runs.add("ours, bf16 operands", [&] {
    matmul({m, n, k, {a16.data(), kBF16, k, 1}, {b16.data(), kBF16, n, 1}, {c.data(), kF32, n, 1}});
  });
  runs.add("ours, rhs transposed", [&] {
    matmul({m, n, k, {a.data(), kF32, k, 1}, {b.data(), kF32, 1, k}, {c.data(), kF32, n, 1}});
  });
#ifdef HLOSIM_BENCH_DNNL
  runs.add("oneDNN", [&] { dnnl_sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n); });
#endif
  runs.add("Eigen native", [&] { eigen_matmul(m, n, k, a.data(), b.data(), c.data()); });
  runs.report(thread_count() == 1);
}

void s8(int64_t m, int64_t n, int64_t k) {
  const std::string title = "s8 " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  if (!wanted(title)) return;
  Data data(std::max(m, n) * k);
  const auto values = s8_of(data.values);
  std::vector<int32_t> c(static_cast<size_t>(m * n));
  Interleaved runs(title, 2.0 * static_cast<double>(m * n * k));
  runs.add("ours", [&] {
    matmul({m, n, k, {values.data(), kS8, k, 1}, {values.data(), kS8, n, 1}, {c.data(), kS32, n, 1}});
  });
#ifdef HLOSIM_BENCH_DNNL
  const int32_t zero = 0;
  runs.add("oneDNN", [&] {
    dnnl_gemm_s8s8s32('N', 'N', 'F', m, n, k, 1, values.data(), k, 0, values.data(), n, 0, 0, c.data(), n,
                      &zero);
  });
#endif
  runs.report(thread_count() == 1);
}

/// As fast as the memory can be read.
void read_all(const float* data, int64_t count) {
  parallel_for(count, (count / thread_count() + 63) / 64 * 64,
               [&](int64_t begin, int64_t end) { read_native(data + begin, end - begin); });
}

void skinny(int64_t m, int64_t n, int64_t k) {
  const std::string title = "skinny " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  if (!wanted(title)) return;
  Data a(m * k), b(k * n), c(m * n);
  const auto a16 = bf16_of(a.values), b16 = bf16_of(b.values);
  Interleaved runs(title + " (bytes)", 4.0 * static_cast<double>(k * n));
  runs.add("ours", [&] {
    matmul({m, n, k, {a.data(), kF32, k, 1}, {b.data(), kF32, n, 1}, {c.data(), kF32, n, 1}});
  });
  runs.add("ours, rhs transposed", [&] {
    matmul({m, n, k, {a.data(), kF32, k, 1}, {b.data(), kF32, 1, k}, {c.data(), kF32, n, 1}});
  });
  runs.add("ours, bf16 (half bytes)", [&] {
    matmul({m, n, k, {a16.data(), kBF16, k, 1}, {b16.data(), kBF16, n, 1}, {c.data(), kF32, n, 1}});
  });
  runs.add("reading rhs", [&] { read_all(b.data(), k * n); });
#ifdef HLOSIM_BENCH_DNNL
  runs.add("oneDNN", [&] { dnnl_sgemm('N', 'N', m, n, k, 1, a.data(), k, b.data(), n, 0, c.data(), n); });
#endif
  runs.report(thread_count() == 1);
}

/// Per call: many calls as one run.
void small(int64_t size) {
  const std::string title = "small " + std::to_string(size) + "³";
  if (!wanted(title)) return;
  Data a(size * size), b(size * size), c(size * size);
  constexpr int kCalls = 200;
  Interleaved runs(title + " x 200", 2.0 * static_cast<double>(size * size * size) * kCalls);
  runs.add("ours", [&] {
    for (int i = 0; i < kCalls; ++i)
      matmul({size,
              size,
              size,
              {a.data(), kF32, size, 1},
              {b.data(), kF32, size, 1},
              {c.data(), kF32, size, 1}});
  });
#ifdef HLOSIM_BENCH_DNNL
  runs.add("oneDNN", [&] {
    for (int i = 0; i < kCalls; ++i)
      dnnl_sgemm('N', 'N', size, size, size, 1, a.data(), size, b.data(), size, 0, c.data(), size);
  });
#endif
  runs.add("Eigen native", [&] {
    for (int i = 0; i < kCalls; ++i) eigen_matmul(size, size, size, a.data(), b.data(), c.data());
  });
  runs.report(thread_count() == 1);
}

void levels(int64_t size) {
  if (!wanted("levels")) return;
  Data a(size * size), b(size * size), c(size * size);
  Interleaved runs("levels " + std::to_string(size) + "³", 2.0 * static_cast<double>(size * size * size));
  std::vector<MatmulLevel> all;
  for (const IsaLevel level : {IsaLevel::kV4, IsaLevel::kV3, IsaLevel::kV2})
    if (level <= supported_isa_level()) all.push_back(matmul_level(level, false));
  for (const MatmulLevel& level : all)
    runs.add("x86-64-v" + std::to_string(all.size() + 1 - (static_cast<size_t>(&level - all.data()))), [&] {
      matmul(
          {size, size, size, {a.data(), kF32, size, 1}, {b.data(), kF32, size, 1}, {c.data(), kF32, size, 1}},
          level);
    });
  runs.report(thread_count() == 1);
}

int run(int count, char** arguments) {
  if (count > 1) threads = std::atoi(arguments[1]);
  if (count > 2) filter = arguments[2];
  set_thread_count(threads);
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
#ifndef HLOSIM_BENCH_DNNL
  std::printf("oneDNN (libdnnl-dev) is not installed: no comparison with it\n");
#endif
  std::printf("%d threads\n", thread_count());
  for (const int64_t size : {512, 1024, 2048}) f32(size, size, size);
  f32(1024, 3584, 4096);
  f32(4096, 64, 4096);
  f32(64, 4096, 4096);
  for (const int64_t size : {1024, 2048}) s8(size, size, size);
  for (const int64_t rows : {1, 4, 8, 16}) skinny(rows, 3584, 4096);
  for (const int64_t size : {4, 16, 31, 64, 128, 256}) small(size);
  levels(1024);
  return 0;
}

}  // namespace
}  // namespace hlosim

int main(int count, char** arguments) { return hlosim::run(count, arguments); }
