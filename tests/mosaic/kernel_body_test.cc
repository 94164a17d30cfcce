#include "mosaic/kernel_body.h"

#include <gmock/gmock.h>

#include "mlir/read_text.h"
#include "support/folders.h"

namespace hlosim::mosaic {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// The body in the text, gone through.
Result<KernelBody> body_of(const std::string& text, const KernelInputs& inputs = {}) {
  DiagnosticList findings;
  const std::vector<mlir::File> files =
      mlir::read_text(std::make_shared<SourceFile>("kernel.mlir", text), findings);
  if (findings.has_errors()) return tl::unexpected<Diagnostic>(findings.items().front());
  return kernel_body(files.front(), inputs);
}

/// A product of blocks over a grid of 4 x 2 x 3: the last index goes through the contracted dimension, and
/// the result's block is stored once that is at its end.
std::string product(std::string_view semantics = "", std::string_view mode = "") {
  const std::string block = "memref<256x256xf32, #tpu.memory_space<vmem>>";
  const auto transform = [](int number, std::string_view first, std::string_view second) {
    return "  \"func.func\"() ({\n  ^bb0(%i: i32, %j: i32, %k: i32):\n    \"func.return\"(" +
           std::string(first) + ", " + std::string(second) +
           ") : (i32, i32) -> ()\n  }) {function_type = (i32, i32, i32) -> (i32, i32), sym_name = \"t" +
           std::to_string(number) + "\"} : () -> ()\n";
  };
  std::string windows;
  for (int i = 0; i < 3; ++i)
    windows += std::string(i > 0 ? ", " : "") + "{transform_indices = @t" + std::to_string(i) +
               ", window_bounds = array<i64: 256, 256>" + (i == 0 ? std::string(mode) : "") + "}";
  return "module @product {\n  \"func.func\"() ({\n  ^bb0(%i: i32, %j: i32, %k: i32, %a: " + block +
         ", %b: " + block + ", %c: " + block + ", %s: " + block + R"():
    %zero = "arith.constant"() {value = 0 : index} : () -> index
    %last = "arith.constant"() {value = 2 : i32} : () -> i32
    %x = "vector.load"(%a, %zero, %zero) : ()" +
         block + R"(, index, index) -> vector<256x256xf32>
    %y = "vector.load"(%b, %zero, %zero) : ()" +
         block + R"(, index, index) -> vector<256x256xf32>
    %none = "arith.constant"() {value = dense<0.0> : vector<256x256xf32>} : () -> vector<256x256xf32>
    %p = "tpu.matmul"(%x, %y, %none) {transpose_lhs = false, transpose_rhs = false} : (vector<256x256xf32>, vector<256x256xf32>, vector<256x256xf32>) -> vector<256x256xf32>
    "vector.store"(%p, %s, %zero, %zero) : (vector<256x256xf32>, )" +
         block + R"(, index, index) -> ()
    %done = "arith.cmpi"(%k, %last) {predicate = 0 : i64} : (i32, i32) -> i1
    "scf.if"(%done) ({
      %e = "math.exp"(%p) : (vector<256x256xf32>) -> vector<256x256xf32>
      "vector.store"(%e, %c, %zero, %zero) : (vector<256x256xf32>, )" +
         block + R"(, index, index) -> ()
      "scf.yield"() : () -> ()
    }, {
      "scf.yield"() : () -> ()
    }) : (i1) -> ()
    "func.return"() : () -> ()
  }) {)" +
         std::string(semantics) +
         R"(function_type = (i32) -> (), iteration_bounds = array<i64: 4, 2, 3>, scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, sym_name = "main", window_params = [)" +
         windows + "]} : () -> ()\n" + transform(0, "%i", "%k") + transform(1, "%k", "%j") +
         transform(2, "%i", "%j") + "}\n";
}

constexpr double kBlock = 256 * 256 * 4;

TEST(KernelBody, BlocksMoveWhereTheirIndexChanges) {
  const Result<KernelBody> body = body_of(product());
  ASSERT_TRUE(body.has_value()) << render(body.error());
  EXPECT_EQ(body->name, "product");
  EXPECT_THAT(body->grid, ElementsAre(4, 2, 3));
  EXPECT_EQ(body->steps, 24);
  ASSERT_THAT(body->windows, SizeIs(3));
  EXPECT_EQ(body->windows[0].fetches, 24);  // (i, k): every step another
  EXPECT_EQ(body->windows[1].fetches, 24);
  EXPECT_EQ(body->windows[2].fetches, 8);  // (i, j): once per three steps
  EXPECT_TRUE(body->windows[2].is_result);
  EXPECT_FALSE(body->windows[0].is_result);
  double in = 0, out = 0;
  int64_t steps = 0;
  for (const StepRun& run : body->runs) {
    in += static_cast<double>(run.count) * run.in;
    out += static_cast<double>(run.count) * run.out;
    steps += run.count;
  }
  EXPECT_EQ(steps, 24);
  EXPECT_EQ(in, 48 * kBlock);
  EXPECT_EQ(out, 8 * kBlock);
  EXPECT_TRUE(body->assumptions.empty());
}

TEST(KernelBody, ConditionsOnTheGridAreEvaluatedForEveryStep) {
  const Result<KernelBody> body = body_of(product());
  ASSERT_TRUE(body.has_value()) << render(body.error());
  ASSERT_THAT(body->works, SizeIs(2));
  int64_t with_exponentials = 0;
  for (const StepRun& run : body->runs) {
    const StepWork& work = body->works[run.work];
    ASSERT_THAT(work.products, SizeIs(1));
    EXPECT_EQ(work.products[0].m * work.products[0].n * work.products[0].k, 256 * 256 * 256);
    const VectorAmount& exponentials = work.vector[static_cast<size_t>(VectorClass::kTranscendental)];
    if (exponentials.words > 0) {
      EXPECT_EQ(exponentials.words, 64);  // registers of 8 x 128
      with_exponentials += run.count;
    }
  }
  EXPECT_EQ(with_exponentials, 8);
}

TEST(KernelBody, WindowsTakeTheirBuffersOfVmem) {
  const Result<KernelBody> twice = body_of(product());
  const Result<KernelBody> once = body_of(product("", ", pipeline_mode = #tpu.pipeline_mode<synchronous>"));
  ASSERT_TRUE(twice.has_value() && once.has_value());
  EXPECT_EQ(twice->vmem, 7 * kBlock);  // three windows twice, and scratch
  EXPECT_EQ(once->vmem, 6 * kBlock);
  EXPECT_EQ(once->windows[0].buffers, 1);
}

/// A kernel over 8 steps whose blocks and conditions come from a list of scalars.
std::string sparse() {
  const std::string list = "memref<8xi32, #tpu.memory_space<smem>>";
  const std::string block = "memref<8x128xf32, #tpu.memory_space<vmem>>";
  return R"(module {
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %list: )" +
         list + ", %a: " + block + ", %c: " + block + R"():
    %at = "stable_mosaic.arith.index_cast"(%i) : (i32) -> index
    %zero = "stable_mosaic.arith.constant"() {value = 0 : index} : () -> index
    %none = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    %one = "stable_mosaic.arith.constant"() {value = true} : () -> i1
    %mask = "stable_mosaic.memref.load"(%list, %at) : ()" +
         list + R"(, index) -> i32
    %runs = "stable_mosaic.arith.cmpi"(%mask, %none) {predicate = 1 : i64} : (i32, i32) -> i1
    %rests = "stable_mosaic.arith.xori"(%runs, %one) : (i1, i1) -> i1
    %x = "stable_mosaic.vector.load"(%a, %zero, %zero) : ()" +
         block + R"(, index, index) -> vector<8x128xf32>
    "stable_mosaic.scf.if"(%runs) ({
      %e = "stable_mosaic.math.exp"(%x) : (vector<8x128xf32>) -> vector<8x128xf32>
      "stable_mosaic.vector.store"(%e, %c, %zero, %zero) : (vector<8x128xf32>, )" +
         block + R"(, index, index) -> ()
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    "stable_mosaic.scf.if"(%rests) ({
      %d = "stable_mosaic.arith.divf"(%x, %x) : (vector<8x128xf32>, vector<8x128xf32>) -> vector<8x128xf32>
      "stable_mosaic.scf.yield"() : () -> ()
    }, {
      "stable_mosaic.scf.yield"() : () -> ()
    }) : (i1) -> ()
    "stable_mosaic.func.return"() : () -> ()
  }) {function_type = (i32) -> (), iteration_bounds = array<i64: 8>, scalar_prefetch = 1 : i64, scratch_operands = 0 : i64, sym_name = "main", window_params = [{transform_indices = @t0, window_bounds = array<i64: 8, 128>}, {transform_indices = @t1, window_bounds = array<i64: 8, 128>}]} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %list: )" +
         list + R"():
    %at = "stable_mosaic.arith.index_cast"(%i) : (i32) -> index
    %block = "stable_mosaic.memref.load"(%list, %at) : ()" +
         list + R"(, index) -> i32
    "stable_mosaic.func.return"(%block) : (i32) -> ()
  }) {function_type = (i32) -> i32, sym_name = "t0"} : () -> ()
  "stable_mosaic.func.func"() ({
  ^bb0(%i: i32, %list: )" +
         list + R"():
    %none = "stable_mosaic.arith.constant"() {value = 0 : i32} : () -> i32
    "stable_mosaic.func.return"(%none) : (i32) -> ()
  }) {function_type = (i32) -> i32, sym_name = "t1"} : () -> ()
}
)";
}

double steps_with(const KernelBody& body, VectorClass of) {
  double steps = 0;
  for (const StepRun& run : body.runs)
    if (body.works[run.work].vector[static_cast<size_t>(of)].words > 0)
      steps += static_cast<double>(run.count);
  return steps;
}

TEST(KernelBody, DataThatAreNotKnownAreTakenAsDense) {
  const Result<KernelBody> body = body_of(sparse());
  ASSERT_TRUE(body.has_value()) << render(body.error());
  EXPECT_EQ(steps_with(*body, VectorClass::kTranscendental), 8);
  // A condition and its opposite don't both hold.
  EXPECT_EQ(steps_with(*body, VectorClass::kDivide), 0);
  EXPECT_EQ(body->windows[0].fetches, 8);
  EXPECT_TRUE(body->windows[0].is_unknown);
  EXPECT_EQ(body->windows[1].fetches, 1);
  EXPECT_THAT(body->assumptions, ElementsAre(HasSubstr("conditions on unknown data")));
}

TEST(KernelBody, ResultsGoOnceForEachBlockOfTheirArrays) {
  std::string text = sparse();
  const std::string constant = "{transform_indices = @t1";
  text.replace(text.find(constant), constant.size(), "{transform_indices = @t0");
  KernelInputs inputs;
  inputs.results = 1;
  const Result<KernelBody> unsized = body_of(text, inputs);
  inputs.result_bytes = {2 * 8 * 128 * 4};
  const Result<KernelBody> body = body_of(text, inputs);
  ASSERT_TRUE(unsized && body);
  EXPECT_EQ(unsized->windows[1].fetches, 8);
  // The operand goes by the same list as the result.
  EXPECT_EQ(body->windows[1].fetches, 2);
  EXPECT_EQ(body->windows[0].fetches, 2);
  EXPECT_TRUE(body->windows[1].is_unknown);
}

TEST(KernelBody, AShareOfTheStepsCanBeSaid) {
  KernelInputs inputs;
  inputs.density = 0.25;
  const Result<KernelBody> body = body_of(sparse(), inputs);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(steps_with(*body, VectorClass::kTranscendental), 2);
  EXPECT_EQ(steps_with(*body, VectorClass::kDivide), 6);
}

TEST(KernelBody, ListsThatAreKnownDecide) {
  KernelInputs inputs;
  inputs.prefetched = {{1, 1, 1, 0, 0, 2, 2, 2}};
  const Result<KernelBody> body = body_of(sparse(), inputs);
  ASSERT_TRUE(body.has_value());
  EXPECT_EQ(steps_with(*body, VectorClass::kTranscendental), 6);
  EXPECT_EQ(body->windows[0].fetches, 3);
  EXPECT_FALSE(body->windows[0].is_unknown);
  EXPECT_TRUE(body->assumptions.empty());
}

TEST(KernelBody, OfTwoConditionsThatExcludeEachOtherOneHolds) {
  // The second condition is the opposite of the first, together with another one.
  std::string text = sparse();
  const std::string old = "%rests = \"stable_mosaic.arith.xori\"(%runs, %one) : (i1, i1) -> i1";
  text.replace(text.find(old), old.size(),
               R"(%five = "stable_mosaic.arith.constant"() {value = 5 : i32} : () -> i32
    %other = "stable_mosaic.arith.cmpi"(%mask, %five) {predicate = 0 : i64} : (i32, i32) -> i1
    %opposite = "stable_mosaic.arith.xori"(%runs, %one) : (i1, i1) -> i1
    %rests = "stable_mosaic.arith.andi"(%opposite, %other) : (i1, i1) -> i1
    %both = "stable_mosaic.arith.andi"(%runs, %other) : (i1, i1) -> i1)");
  const std::string condition = "\"stable_mosaic.scf.if\"(%runs)";
  text.replace(text.find(condition), condition.size(), "\"stable_mosaic.scf.if\"(%both)");
  const Result<KernelBody> body = body_of(text);
  ASSERT_TRUE(body.has_value()) << render(body.error());
  EXPECT_EQ(steps_with(*body, VectorClass::kTranscendental), 8);
  EXPECT_EQ(steps_with(*body, VectorClass::kDivide), 0);
}

/// A kernel without a grid: a loop of `trips` rounds around a copy from HBM and an exponential.
std::string loop(std::string_view trips) {
  const std::string far = "memref<64x128xf32, #tpu.memory_space<any>>";
  const std::string near = "memref<64x128xf32, #tpu.memory_space<vmem>>";
  const std::string semaphore = "memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>";
  return "module {\n  \"func.func\"() ({\n  ^bb0(%a: " + far + ", %s: " + near + ", %sem: " + semaphore +
         R"():
    %zero = "arith.constant"() {value = 0 : i32} : () -> i32
    %one = "arith.constant"() {value = 1 : i32} : () -> i32
    %end = "arith.constant"() {value = )" +
         std::string(trips) + R"( : i32} : () -> i32
    %at = "arith.constant"() {value = 0 : index} : () -> index
    "scf.for"(%zero, %end, %one) ({
    ^bb0(%i: i32):
      "tpu.enqueue_dma"(%a, %s, %sem) : ()" +
         far + ", " + near + ", " + semaphore + R"() -> ()
      "tpu.wait_dma"(%sem, %s) : ()" +
         semaphore + ", " + near + R"() -> ()
      %x = "vector.load"(%s, %at, %at) : ()" +
         near + R"(, index, index) -> vector<64x128xf32>
      %e = "math.exp"(%x) : (vector<64x128xf32>) -> vector<64x128xf32>
      "vector.store"(%e, %s, %at, %at) : (vector<64x128xf32>, )" +
         near + R"(, index, index) -> ()
      "scf.yield"() : () -> ()
    }) : (i32, i32, i32) -> ()
    "func.return"() : () -> ()
  }) {function_type = () -> (), scalar_prefetch = 0 : i64, scratch_operands = 2 : i64, sym_name = "main"} : () -> ()
}
)";
}

TEST(KernelBody, LoopsCountAndCopiesOfTheBodyToo) {
  const Result<KernelBody> body = body_of(loop("10"));
  ASSERT_TRUE(body.has_value()) << render(body.error());
  ASSERT_THAT(body->works, SizeIs(1));
  EXPECT_EQ(body->works[0].copied, 10 * 64 * 128 * 4);
  EXPECT_EQ(body->works[0].vector[static_cast<size_t>(VectorClass::kTranscendental)].words, 10 * 8);
  EXPECT_FALSE(body->windows[0].is_moved);
}

TEST(KernelBody, EndlessLoopsEnd) {
  const Result<KernelBody> body = body_of(loop("2000000000"));
  ASSERT_TRUE(body.has_value()) << render(body.error());
  EXPECT_EQ(body->works[0].vector[static_cast<size_t>(VectorClass::kTranscendental)].words, 2e9 * 8);
  EXPECT_THAT(body->assumptions, ElementsAre(HasSubstr("long loops")));
}

/// Two loops, one in the other, whose trips are entries 0 and 1 of a list.
std::string loops_of_data() {
  std::string text = loop("10");
  const auto replace = [&](std::string_view from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("^bb0(%a:", "^bb0(%n: memref<2xi32, #tpu.memory_space<smem>>, %a:");
  replace("scalar_prefetch = 0", "scalar_prefetch = 1");
  replace("%end = \"arith.constant\"() {value = 10 : i32} : () -> i32",
          R"(%first = "arith.constant"() {value = 0 : index} : () -> index
    %second = "arith.constant"() {value = 1 : index} : () -> index
    %end = "memref.load"(%n, %first) : (memref<2xi32, #tpu.memory_space<smem>>, index) -> i32
    %inner = "memref.load"(%n, %second) : (memref<2xi32, #tpu.memory_space<smem>>, index) -> i32)");
  replace("%x = \"vector.load\"", R"("scf.for"(%zero, %inner, %one) ({
      ^bb0(%j: i32):
      %x = "vector.load")");
  replace("\"scf.yield\"() : () -> ()\n    })", R"("scf.yield"() : () -> ()
      }) : (i32, i32, i32) -> ()
      "scf.yield"() : () -> ()
    }))");
  return text;
}

TEST(KernelBody, LoopsWithTripCountsOfDataAreNamedWithTheWorkOfARound) {
  const Result<KernelBody> body = body_of(loops_of_data());
  ASSERT_TRUE(body.has_value()) << render(body.error());
  ASSERT_THAT(body->unknown_loops, SizeIs(1));  // the outer one
  const KernelLoop& loop = body->unknown_loops[0];
  EXPECT_EQ(loop.entries, 1);
  EXPECT_EQ(loop.iteration.copied, 64 * 128 * 4);
  EXPECT_EQ(loop.iteration.vector[static_cast<size_t>(VectorClass::kTranscendental)].words, 8);
  EXPECT_THAT(body->missing_operands, ElementsAre(0));
  EXPECT_THAT(body->assumptions, ElementsAre(HasSubstr("runs once: its trip count depends on data")));
}

TEST(KernelBody, ValuesOfScalarOperandsSetTripCounts) {
  KernelInputs inputs;
  inputs.prefetched = {{3, 5}};
  const Result<KernelBody> body = body_of(loops_of_data(), inputs);
  ASSERT_TRUE(body.has_value()) << render(body.error());
  EXPECT_TRUE(body->unknown_loops.empty());
  EXPECT_TRUE(body->missing_operands.empty());
  EXPECT_TRUE(body->assumptions.empty());
  EXPECT_EQ(body->works[0].copied, 3 * 64 * 128 * 4);
  EXPECT_EQ(body->works[0].vector[static_cast<size_t>(VectorClass::kTranscendental)].words, 3 * 5 * 8);
}

TEST(KernelBody, ModulesWithoutAKernelAreRefused) {
  const Result<KernelBody> body = body_of("module {\n}\n");
  ASSERT_FALSE(body.has_value());
  EXPECT_THAT(body.error().message, HasSubstr("no function"));
}

TEST(KernelBytes, AreBase64InTheConfiguration) {
  const auto bytes = [](std::string_view config) {
    const Result<std::string> made = kernel_bytes(config);
    return made ? *made : made.error().message;
  };
  EXPECT_EQ(bytes(R"({"custom_call_config":{"body":"aGVsbG8=","has_communication":false}})"), "hello");
  EXPECT_EQ(bytes(R"({\"custom_call_config\": {\"body\": \"aGVsbG8\"}})"), "hello");
  EXPECT_THAT(bytes(R"({"custom_call_config":{"body":"a*b"}})"), HasSubstr("not base64"));
  EXPECT_THAT(bytes(R"({"nobody":"x"})"), HasSubstr("no body"));
}

TEST(KernelBytes, TextBodiesAreReadAsText) {
  // "module {\n}\n"
  const Result<mlir::File> file = read_kernel_body("call", R"({"body":"bW9kdWxlIHsKfQo="})");
  ASSERT_TRUE(file.has_value()) << render(file.error());
  EXPECT_EQ(file->top->name, "builtin.module");
}

/// Registers that the vector unit goes through in all steps.
double registers_of(const KernelBody& body) {
  double count = 0;
  for (const StepRun& run : body.runs)
    for (const VectorAmount& amount : body.works[run.work].vector)
      count += static_cast<double>(run.count) * (amount.words + amount.halves);
  return count;
}

KernelInputs with_registers(double lanes) {
  KernelInputs inputs;
  inputs.registers = {lanes, 8};
  return inputs;
}

TEST(KernelBody, RegistersAreThoseOfTheDevice) {
  const Result<KernelBody> usual = body_of(product()), wide = body_of(product(), with_registers(256)),
                           wider = body_of(product(), with_registers(512));
  ASSERT_TRUE(usual && wide && wider);
  EXPECT_GT(registers_of(*usual), 0);
  EXPECT_EQ(registers_of(*usual), 2 * registers_of(*wide));
  // Rows of 256 fill half of a row of 512: as many registers, and twice the room.
  EXPECT_EQ(registers_of(*wider), registers_of(*wide));
  EXPECT_EQ(usual->vmem, wide->vmem);
  EXPECT_EQ(wider->vmem, 2 * wide->vmem);
}

}  // namespace
}  // namespace hlosim::mosaic
