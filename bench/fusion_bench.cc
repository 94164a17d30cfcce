// Clusters against the bounds of the machine, loops written by hand and oneDNN, in turns.
//
//   fusion_bench [threads] [filter]
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#ifdef HLOSIM_BENCH_DNNL
#include <dnnl.hpp>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/check.h"
#include "cpu_kernels/element.h"
#include "exec/program.h"
#include "fused_loops.h"
#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "interleaved.h"
#include "ops/op_table.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

std::string filter;
bool one_thread = true;
bool wanted(std::string_view title) { return title.find(filter) != std::string::npos; }

constexpr int64_t kElements = 16 << 20;
constexpr int64_t kGrain = 64 << 10;

// A module with inputs that stay as they are.
class Runs {
 public:
  explicit Runs(std::string text, bool cluster = true)
      : source_(std::make_shared<SourceFile>("bench.hlo", std::move(text))) {
    DiagnosticList sink;
    std::vector<Module> modules = read_modules(source_, op_table(), sink);
    if (modules.size() != 1) stop(sink);
    module_ = std::make_unique<Module>(std::move(modules[0]));
    if (!verify(*module_, op_table(), sink)) stop(sink);
    ProgramOptions options;
    options.cluster = cluster;
    options.twins = true;
    program_ = Program::make(*module_, op_table(), pool_, options, sink);
    if (!program_) stop(sink);
    for (const ShapeRef shape : program_->parameters()) {
      inputs_.push_back(make_array(pool_, shape));
      Array& input = inputs_.back();
      std::memset(input.bytes(), 0, static_cast<size_t>(data_bytes(shape)));
      if (input.type() != ElementType::kF32) continue;
      for (int64_t i = 0; i < input.count(); ++i)
        input.as<float>()[i] = static_cast<float>((i * 2654435761u >> 16) & 255) / 64 - 2;
    }
  }

  void operator()() {
    DeviceState device(pool_);
    HLOSIM_CHECK(program_->run(device, inputs_), "failed");
  }
  float* input(size_t i) { return inputs_[i].as<float>(); }

 private:
  [[noreturn]] static void stop(const DiagnosticList& sink) {
    for (const Diagnostic& item : sink.items()) std::printf("%s", render(item).c_str());
    std::exit(1);
  }

  MemoryPool pool_;
  SourcePtr source_;
  std::unique_ptr<Module> module_;
  std::unique_ptr<const Program> program_;
  std::vector<Array> inputs_;
};

std::vector<float> output(int64_t count = kElements) {
  return std::vector<float>(static_cast<size_t>(count));
}

void three_operations() {
  if (!wanted("three operations")) return;
  Runs runs(R"(HloModule m
ENTRY e {
  a = f32[16777216] parameter(0)
  b = f32[16777216] parameter(1)
  c = f32[16777216] parameter(2)
  p = f32[16777216] multiply(a, b)
  s = f32[16777216] add(p, c)
  ROOT m = f32[16777216] maximum(s, c)
})");
  std::vector<float> out = output();
  const auto loop = [&](auto function) {
    parallel_for(kElements, kGrain, [&](int64_t begin, int64_t end) {
      function(runs.input(0) + begin, runs.input(1) + begin, runs.input(2) + begin, out.data() + begin,
               end - begin);
    });
  };
  Interleaved all("three operations, 16 M f32", 16.0 * kElements);
  all.add("cluster", [&] { runs(); });
  all.add("a·b + c, the bandwidth", [&] { loop(multiply_add_loop); });
  all.add("hand-fused loop", [&] { loop(three_operations_loop); });
  all.report(one_thread);
}

// Each operation into memory of its own, as an executor without clusters and without a pool would.
void gelu_op_by_op(const float* x, float* result) {
  struct Operation {
    ElementOp op;
    int lhs, rhs;  // values: 0 is x, -1 … -4 the constants, n > 0 the nth result
  };
  using enum ElementOp;
  constexpr Operation kOperations[] = {{kMultiply, 0, 0}, {kMultiply, 1, 0},  {kMultiply, 2, -1},
                                       {kAdd, 3, 0},      {kMultiply, 4, -2}, {kTanh, 5, 5},
                                       {kAdd, 6, -3},     {kMultiply, 7, -4}, {kMultiply, 8, 0}};
  constexpr float kConstants[] = {0.044715f, 0.7978845608f, 1.0f, 0.5f};
  std::vector<std::unique_ptr<float[]>> values;
  std::vector<int64_t> constants;
  std::vector<std::vector<float>> blocks;
  for (const float c : kConstants) blocks.emplace_back(kGrain, c);
  for (const Operation& operation : kOperations) {
    values.push_back(std::make_unique_for_overwrite<float[]>(kElements));
    const ElementKernel kernel = element_kernel(operation.op, ElementType::kF32, ElementType::kF32);
    float* out = &operation == std::end(kOperations) - 1 ? result : values.back().get();
    const auto place = [&](int value, int64_t at) -> const float* {
      if (value < 0) return blocks[static_cast<size_t>(-1 - value)].data();
      return (value == 0 ? x : values[static_cast<size_t>(value - 1)].get()) + at;
    };
    parallel_for(kElements, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end; at += kGrain) {
        const void* in[] = {place(operation.lhs, at), place(operation.rhs, at)};
        kernel.fn(out + at, in, kernel.immediate, std::min(kGrain, end - at));
      }
    });
  }
}

constexpr std::string_view kGelu = R"(HloModule m
ENTRY e {
  x = f32[16777216] parameter(0)
  k1 = f32[] constant(0.044715)
  k2 = f32[] constant(0.7978845608)
  k3 = f32[] constant(1)
  k4 = f32[] constant(0.5)
  b1 = f32[16777216] broadcast(k1), dimensions={}
  b2 = f32[16777216] broadcast(k2), dimensions={}
  b3 = f32[16777216] broadcast(k3), dimensions={}
  b4 = f32[16777216] broadcast(k4), dimensions={}
  s = f32[16777216] multiply(x, x)
  c = f32[16777216] multiply(s, x)
  u = f32[16777216] multiply(c, b1)
  v = f32[16777216] add(x, u)
  w = f32[16777216] multiply(v, b2)
  t = f32[16777216] tanh(w)
  p = f32[16777216] add(t, b3)
  h = f32[16777216] multiply(p, b4)
  ROOT r = f32[16777216] multiply(h, x)
})";

void gelu() {
  if (!wanted("gelu")) return;
  Runs runs{std::string(kGelu)}, apart{std::string(kGelu), false};
  std::vector<float> out = output();
  Interleaved all("gelu of 9 operations, 16 M f32", 8.0 * kElements);
  all.add("cluster", [&] { runs(); });
  all.add("hand-fused loop", [&] {
    parallel_for(kElements, kGrain, [&](int64_t begin, int64_t end) {
      gelu_loop(runs.input(0) + begin, out.data() + begin, end - begin);
    });
  });
  all.add("op by op, fresh memory", [&] { gelu_op_by_op(runs.input(0), out.data()); });
  all.add("op by op, from the pool", [&] { apart(); });
  all.report(one_thread);
}

std::string softmax_text(int64_t rows, int64_t row) {
  return fmt::format(R"(HloModule m
larger {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b)
}}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}
ENTRY e {{
  x = f32[{0},{1}] parameter(0)
  least = f32[] constant(-inf)
  zero = f32[] constant(0)
  m = f32[{0}] reduce(x, least), dimensions={{1}}, to_apply=larger
  mb = f32[{0},{1}] broadcast(m), dimensions={{0}}
  d = f32[{0},{1}] subtract(x, mb)
  e = f32[{0},{1}] exponential(d)
  s = f32[{0}] reduce(e, zero), dimensions={{1}}, to_apply=sum
  sb = f32[{0},{1}] broadcast(s), dimensions={{0}}
  ROOT q = f32[{0},{1}] divide(e, sb)
}})",
                     rows, row);
}

void softmax(int64_t rows, int64_t row) {
  const std::string title = fmt::format("softmax {}x{} f32", rows, row);
  if (!wanted(title)) return;
  Runs runs(softmax_text(rows, row)), apart(softmax_text(rows, row), false);
  Interleaved all(title, 8.0 * static_cast<double>(rows * row));
  all.add("cluster", [&] { runs(); });
#ifdef HLOSIM_BENCH_DNNL
  std::vector<float> out = output(rows * row);
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  const dnnl::memory::desc shape({rows, row}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::ab);
  const dnnl::softmax_forward::desc kind(dnnl::prop_kind::forward_inference, shape, 1);
  const dnnl::softmax_forward primitive(dnnl::softmax_forward::primitive_desc(kind, engine));
  const dnnl::memory from(shape, engine, runs.input(0)), to(shape, engine, out.data());
  all.add("oneDNN", [&] {
    primitive.execute(stream, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
    stream.wait();
  });
#endif
  all.add("op by op, from the pool", [&] { apart(); });
  all.report(one_thread);
}

// 1000 additions after each other: what an operation costs beside its work.
void tiny(std::string_view shape) {
  const std::string title = fmt::format("1000 additions of {}", shape);
  if (!wanted(title)) return;
  std::string text =
      fmt::format("HloModule m\nENTRY e {{\n  x = {0} parameter(0)\n  v0 = {0} negate(x)\n", shape);
  for (int i = 1; i <= 1000; ++i) text += fmt::format("  v{} = {} add(v{}, x)\n", i, shape, i - 1);
  text += fmt::format("  ROOT r = {} negate(v1000)\n}}\n", shape);
  Runs runs(text), apart(text, false);
  Interleaved all(title, 1000);
  all.add("clusters", [&] { runs(); });
  all.add("one by one", [&] { apart(); });
  all.report(true, 30);
}

// A loop that also carries an array, so that it isn't only scalars.
void scalar_loop(bool with_array) {
  const std::string title =
      fmt::format("while of 10^6 iterations, {}", with_array ? "and an array" : "scalars");
  if (!wanted(title)) return;
  const std::string leaf = with_array ? ", f32[4]" : "";
  Interleaved all(title, 1e6);
  const std::string text = fmt::format(R"(HloModule m
body {{
  p = (s32[], f32[]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[] get-tuple-element(p), index=1
  {1}
  one = s32[] constant(1)
  half = f32[] constant(0.5)
  n = s32[] add(i, one)
  f = f32[] convert(n)
  y = f32[] multiply(x, half)
  z = f32[] add(y, f)
  ROOT t = (s32[], f32[]{0}) tuple(n, z{2})
}}
condition {{
  p = (s32[], f32[]{0}) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  most = s32[] constant(1000000)
  ROOT r = pred[] compare(i, most), direction=LT
}}
ENTRY e {{
  zero = s32[] constant(0)
  x = f32[] parameter(0)
  {3}
  t = (s32[], f32[]{0}) tuple(zero, x{4})
  ROOT w = (s32[], f32[]{0}) while(t), condition=condition, body=body
}})",
                                       leaf,
                                       with_array ? "v = f32[4] get-tuple-element(p), index=2\n"
                                                    "  xs = f32[4] broadcast(x), dimensions={}\n"
                                                    "  a = f32[4] add(v, xs)"
                                                  : "",
                                       with_array ? ", a" : "", with_array ? "v = f32[4] parameter(1)" : "",
                                       with_array ? ", v" : "");
  Runs runs(text);
  all.add("clusters", [&] { runs(); });
  all.report(true, 3);
}

void run_all() {
  three_operations();
  gelu();
  softmax(4096, 4096);
  softmax(65536, 128);
  tiny("f32[]");
  tiny("f32[4]");
  scalar_loop(false);
  scalar_loop(true);
}

}  // namespace
}  // namespace hlosim

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (argc > 2) hlosim::filter = argv[2];
  hlosim::set_thread_count(threads);
  hlosim::one_thread = threads == 1;
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
  std::printf("%d threads\n", threads);
  hlosim::run_all();
}
