// Elementwise kernels on blocks that stay in the L1 cache: nanoseconds per element, and per call on one
// element. Names are operation/types/elements; the level is the machine's or what HLOSIM_ISA says.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cpu_kernels/element.h"

namespace hlosim {
namespace {

struct Row {
  const char* name;
  ElementOp op;
  ElementType operand, result;
};

using enum ElementType;
constexpr Row kRows[] = {
    {"add", ElementOp::kAdd, kF32, kF32},
    {"multiply", ElementOp::kMultiply, kF32, kF32},
    {"maximum", ElementOp::kMaximum, kF32, kF32},
    {"divide", ElementOp::kDivide, kF32, kF32},
    {"clamp", ElementOp::kClamp, kF32, kF32},
    {"select", ElementOp::kSelect, kF32, kF32},
    {"compare", ElementOp::kLess, kF32, kPred},
    {"floor", ElementOp::kFloor, kF32, kF32},
    {"sqrt", ElementOp::kSqrt, kF32, kF32},
    {"rsqrt", ElementOp::kRsqrt, kF32, kF32},
    {"exponential", ElementOp::kExp, kF32, kF32},
    {"log", ElementOp::kLog, kF32, kF32},
    {"tanh", ElementOp::kTanh, kF32, kF32},
    {"logistic", ElementOp::kLogistic, kF32, kF32},
    {"erf", ElementOp::kErf, kF32, kF32},
    {"sine", ElementOp::kSin, kF32, kF32},
    {"power", ElementOp::kPower, kF32, kF32},
    {"remainder", ElementOp::kRemainder, kF32, kF32},
    {"add", ElementOp::kAdd, kBF16, kBF16},
    {"multiply", ElementOp::kMultiply, kBF16, kBF16},
    {"tanh", ElementOp::kTanh, kBF16, kBF16},
    {"add", ElementOp::kAdd, kF16, kF16},
    {"add", ElementOp::kAdd, kS32, kS32},
    {"divide", ElementOp::kDivide, kS32, kS32},
    {"compare", ElementOp::kLess, kS32, kPred},
    {"add", ElementOp::kAdd, kS8, kS8},
    {"and", ElementOp::kAnd, kPred, kPred},
    {"add", ElementOp::kAdd, kF64, kF64},
    {"exponential", ElementOp::kExp, kF64, kF64},
    {"convert", ElementOp::kConvert, kF32, kBF16},
    {"convert", ElementOp::kConvert, kBF16, kF32},
    {"convert", ElementOp::kConvert, kF32, kF16},
    {"convert", ElementOp::kConvert, kF32, kF8E4M3FN},
    {"convert", ElementOp::kConvert, kF32, kS32},
    {"convert", ElementOp::kConvert, kS32, kF32},
    {"convert", ElementOp::kConvert, kS8, kBF16},
    {"convert", ElementOp::kConvert, kPred, kF32},
};

/// Numbers from 0.1 to 3 as elements of `type`.
std::vector<std::byte> numbers(ElementType type, int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(0.1f + static_cast<float>(i * 37 % 291) / 100);
  std::vector<std::byte> out(static_cast<size_t>(n * byte_width(type)));
  const ElementKernel kernel = element_kernel(ElementOp::kConvert, kF32, type);
  const void* const in[] = {values.data()};
  kernel.fn(out.data(), in, kernel.immediate, n);
  return out;
}

void run(benchmark::State& state, const Row& row) {
  const int64_t n = state.range(0);
  std::vector<std::vector<std::byte>> operands;
  for (int i = 0; i < operand_count(row.op); ++i)
    operands.push_back(numbers(row.op == ElementOp::kSelect && i == 0 ? kPred : row.operand, n));
  operands.resize(3);
  std::vector<std::byte> out(static_cast<size_t>(n * byte_width(row.result)));
  const void* const in[] = {operands[0].data(), operands[1].data(), operands[2].data()};
  const ElementKernel kernel = element_kernel(row.op, row.operand, row.result);
  for (auto _ : state) {
    kernel.fn(out.data(), in, kernel.immediate, n);
    benchmark::ClobberMemory();
  }
  state.counters["per_element"] = benchmark::Counter(
      static_cast<double>(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

}  // namespace
}  // namespace hlosim

int main(int argc, char** argv) {
  for (const auto& row : hlosim::kRows) {
    const std::string name = std::string(row.name) + "/" + std::string(to_text(row.operand)) +
                             (row.operand == row.result ? "" : "_" + std::string(to_text(row.result)));
    benchmark::RegisterBenchmark(name.c_str(), hlosim::run, row)->Arg(1)->Arg(256)->Arg(1024);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
