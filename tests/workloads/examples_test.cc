// The models of examples/models: what they count, and that each makes every kind of step.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hlo/verifier.h"
#include "modules/trip_count.h"
#include "support/folders.h"
#include "workloads/steps.h"

namespace hlosim {
namespace {

std::vector<std::filesystem::path> model_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(test::source_folder() / "examples/models"))
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  return files;
}

ModelConfig example(const std::string& name) {
  return test::model_or_fail(test::file_text(test::source_folder() / "examples/models" / (name + ".yaml")));
}

TEST(ExampleModels, HaveThePublishedNumbersOfParameters) {
  // Without norms and biases.
  const std::pair<const char*, int64_t> counts[] = {
      {"llama2-7b", 6738149376},     {"llama2-70b", 68975329280},   {"llama3-8b", 8029995008},
      {"llama3-70b", 70552387584},   {"llama3-405b", 405849243648}, {"mistral-7b", 7241465856},
      {"mixtral-8x7b", 46702526464}, {"qwen2-7b", 7615283200},      {"qwen3-8b", 8190427136},
      {"deepseek-v3", 671025397760}, {"gpt3-175b", 174564311040},   {"maxtext-gpt-32b", 32547799040},
      {"gemma3-12b", 11765022720}};
  for (const auto& [name, count] : counts) EXPECT_EQ(count_parameters(example(name)).total, count) << name;
  EXPECT_EQ(count_parameters(example("mixtral-8x7b")).in_matmuls_per_token, 12748587008);
  EXPECT_EQ(count_parameters(example("deepseek-v3")).in_matmuls_per_token, 36624596992);
  EXPECT_EQ(count_parameters(example("llama3-8b")).in_matmuls_per_token, 8029995008 - int64_t{128256} * 4096);
}

/// Multiply-adds of products in a module, each as often as loops run it. Kernels and grouped products apart.
double product_flops(const Module& module, ComputationId id, double times) {
  double flops = 0;
  for (const InstructionId at : module[id].instructions) {
    const Instruction& instruction = module[at];
    if (const Attr* body = instruction.find(AttrKey::kBody)) {
      const TripCount trips = trip_count(module, instruction);
      EXPECT_TRUE(trips.known());
      flops += product_flops(module, body->computations()[0], times * static_cast<double>(trips.count));
    }
    if (op_table()[instruction.opcode].name != "dot") continue;
    double terms = 1;
    const ShapeRef lhs = module[instruction.operands[0]].shape;
    for (const int64_t i : instruction.find(AttrKey::kLhsContractingDims)->ints())
      terms *= static_cast<double>(lhs->dim(i));
    flops += 2 * times * terms * static_cast<double>(instruction.shape->element_count());
  }
  return flops;
}

/// Everything is saved that a product makes, so that nothing but attention runs again; with plain attention,
/// of which the scores are computed once more.
TEST(ExampleModels, HaveTheProductsThatTheirParametersSay) {
  for (const char* name : {"tiny", "llama3-8b", "gpt3-175b", "gemma3-12b", "maxtext-gpt-32b", "qwen2-7b"}) {
    const ModelConfig model = example(name);
    StepOptions options;
    options.batch = 2, options.sequence = 256;
    options.attention = AttentionKernel::kPlain;
    options.remat = *remat_policy("minimal_with_context");
    const Module module = test::step_or_fail(model, options);
    const double want = matmul_flops(model, 2, 256, true, false);
    double scores = 0;  // once more
    for (int64_t layer = 0; layer < model.layers; ++layer)
      scores += 2.0 * 2 * 256 * 256 * static_cast<double>(model.q_heads * model.head_dim);
    // Norms of heads need their inputs, which are not what is saved of queries and keys.
    const double norms = model.attention.qk_norm
                             ? 2.0 * 2 * 256 *
                                   static_cast<double>(model.layers * model.d_model * model.head_dim *
                                                       (model.q_heads + model.kv_heads))
                             : 0;
    EXPECT_NEAR(product_flops(module, module.entry, 1), want + scores + norms, 1e-9 * want) << name;
  }
}

/// With full rematerialization the layers' forward runs twice: 8 FLOPs a parameter in place of 6.
TEST(ExampleModels, RunTheirLayersTwiceWhereNothingIsSaved) {
  const ModelConfig model = example("llama3-8b");
  StepOptions options;
  options.batch = 1, options.sequence = 128;
  options.attention = AttentionKernel::kPlain;
  const Module module = test::step_or_fail(model, options);
  const double head = 2.0 * 128 * static_cast<double>(model.vocab * model.d_model);
  const double forward = matmul_flops(model, 1, 128, false, false) - head;
  // The last product of a layer is only added to its input: nobody needs it once more.
  const double last = 2.0 * 128 * static_cast<double>(model.layers * model.d_ff * model.d_model);
  const double want = 4 * forward + 3 * head - last;
  EXPECT_NEAR(product_flops(module, module.entry, 1), want, 1e-9 * want);
}

TEST(ExampleModels, MakeEveryKindOfStep) {
  for (const std::filesystem::path& file : model_files()) {
    const ModelConfig model = test::model_or_fail(test::file_text(file));
    for (const StepKind kind : {StepKind::kTrain, StepKind::kPrefill, StepKind::kDecode}) {
      StepOptions options;
      options.kind = kind;
      options.batch = 2, options.sequence = 128;
      const Result<Module> made = make_step(model, options);
      ASSERT_TRUE(made) << file << ": " << render(made.error());
      const std::string text = to_text(*made, op_table());
      EXPECT_TRUE(to_text(test::module_or_fail(text), op_table()) == text) << file;
    }
  }
}

TEST(ExampleModels, MakeStepsOnMeshes) {
  for (const std::filesystem::path& file : model_files()) {
    const ModelConfig model = test::model_or_fail(test::file_text(file));
    for (const char* mesh :
         {"fsdp=4,tensor=2", "data=2,fsdp=2,context=2", "fsdp=2,fsdp_transpose=2,expert=2"}) {
      StepOptions options;
      options.mesh = *parse_mesh(mesh);
      options.batch = 8, options.sequence = 128;
      const Result<Module> made = make_step(model, options);
      ASSERT_TRUE(made) << file << ", " << mesh << ": " << render(made.error());
      EXPECT_EQ(made->num_partitions(), 8);
      const std::string text = to_text(*made, op_table());
      EXPECT_TRUE(to_text(test::module_or_fail(text), op_table()) == text) << file;
    }
  }
}

/// All-reduces of the table's gradient, [vocab, d_model].
int64_t sums_of_table(const StepOptions& options) {
  const ModelConfig model = example("tiny");
  const Module module = test::step_or_fail(model, options);
  return std::count_if(module.instructions.begin(), module.instructions.end(), [&](const Instruction& one) {
    return op_table()[one.opcode].name == "all-reduce" && one.shape->rank() == 2 &&
           one.shape->dim(0) == model.vocab && one.shape->dim(1) == model.d_model;
  });
}

// As in the step of Llama 3 8B that XLA compiled for eight v6e: summed over all devices, each takes its part
// then.
TEST(ExampleModels, SumTheGradientOfLookedUpRows) {
  StepOptions options;
  options.mesh = *parse_mesh("fsdp=4");
  options.batch = 4, options.sequence = 128;
  EXPECT_EQ(sums_of_table(options), 1);
  options.mesh = *parse_mesh("fsdp=2,tensor=2");  // the table's rows are cut too
  EXPECT_EQ(sums_of_table(options), 0);
  options.mesh = *parse_mesh("fsdp=4");
  options.attention = AttentionKernel::kPlain;  // nothing is handled by hand: the partitioner's choice
  EXPECT_EQ(sums_of_table(options), 0);
}

/// The published runs that others have written down, as far as a count says something of them.
TEST(ExampleModels, AgreeWithPublishedRuns) {
  const std::string text = test::shared_text("published/shown.json");
  if (text.empty()) GTEST_SKIP() << test::no_shared("published");
  const auto runs = nlohmann::json::parse(text);
  const std::map<std::string, std::string> ours = {{"llama2-70b", "llama2-70b"},
                                                   {"llama3.1-70b", "llama3-70b"},
                                                   {"llama3.1-405b", "llama3-405b"},
                                                   {"mixtral-8x7b", "mixtral-8x7b"},
                                                   {"gemma3-12b", "gemma3-12b"},
                                                   {"gemma4-26b", "gemma4-26b"},
                                                   {"gpt3-175b", "gpt3-175b"},
                                                   {"gpt-oss-120b", "gpt-oss-120b"},
                                                   {"qwen3-235b-a22b", "qwen3-235b-a22b"},
                                                   {"llama4-17b-128e", "llama4-maverick"},
                                                   {"deepseek3-671b", "deepseek-v3"},
                                                   {"maxtext-default-1b", "maxtext-default-1b"},
                                                   {"maxtext-gpt-32b", "maxtext-gpt-32b"}};
  int compared = 0;
  for (const auto& run : runs) {
    const auto found = ours.find(run["model"]["name"].get<std::string>());
    if (found == ours.end()) continue;
    const ParameterCount count = count_parameters(example(found->second));
    EXPECT_NEAR(static_cast<double>(count.total), run["model"]["params_total"].get<double>(),
                0.005 * static_cast<double>(count.total))
        << found->first;
    EXPECT_NEAR(static_cast<double>(count.in_matmuls_per_token),
                run["model"]["params_in_matmuls_per_token"].get<double>(),
                0.005 * static_cast<double>(count.in_matmuls_per_token))
        << found->first;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

}  // namespace
}  // namespace hlosim
