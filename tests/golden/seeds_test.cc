// Modules as others have them run, and training steps agree with themselves in double precision: ours, and
// the documents that hlosim was born from where they lie beside the sources.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <regex>

#include "array/arguments.h"
#include "array/compare.h"
#include "exec/program.h"
#include "golden/seed_values.h"
#include "support/folders.h"
#include "support/module_files.h"
#include "support/modules.h"

namespace hlosim {
namespace {

namespace fs = std::filesystem;
using test::doubles;

// A module and its outputs for random arguments.
class Ran {
 public:
  explicit Ran(const std::string& text) : module_(test::module_or_fail(text)) {
    DiagnosticList problems;
    ProgramOptions options;
    options.twins = true;
    program_ = Program::make(module_, op_table(), pool_, options, problems);
    if (!program_) ADD_FAILURE() << render(problems.items().at(0));
  }

  bool ready() const { return program_ != nullptr; }
  std::span<const ShapeRef> parameters() const { return program_->parameters(); }
  MemoryPool& pool() { return pool_; }

  std::vector<Array> random_arguments() {
    std::vector<Array> arguments;
    for (const ShapeRef leaf : parameters())
      arguments.push_back(random_array(leaf, 1, arguments.size(), pool_));
    return arguments;
  }

  std::vector<Array> run(std::vector<Array> arguments) {
    DeviceState device(pool_);
    Result<std::vector<Array>> outputs = program_->run(device, std::move(arguments));
    if (!outputs) {
      ADD_FAILURE() << render(outputs.error());
      return {};
    }
    return *std::move(outputs);
  }

 private:
  MemoryPool pool_;
  Module module_;
  std::unique_ptr<const Program> program_;
};

// Adam keeps means of squares: no argument is negative, or the step is NaN through and through.
void make_positive(Array& array) {
  if (array.type() != ElementType::kF32) return;
  for (int64_t i = 0; i < array.count(); ++i) array.as<float>()[i] = std::abs(array.as<float>()[i]);
}

TEST(WholeModules, RunOnRandomArguments) {
  std::vector<fs::path> files = test::own_modules();
  const std::vector<fs::path> seeds = test::seed_modules();
  files.insert(files.end(), seeds.begin(), seeds.end());
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.filename());
    const std::string text = test::file_text(file);
    if (text.find("SPMDFullToShardShape") != std::string::npos) continue;  // one device can't run it
    Ran ran(text);
    if (!ran.ready()) continue;
    std::vector<Array> arguments = ran.random_arguments();
    for (Array& argument : arguments) make_positive(argument);
    for (const Array& output : ran.run(std::move(arguments)))
      for (const double value : doubles(output)) ASSERT_TRUE(std::isfinite(value));
  }
}

// The same module with f64 in place of f32 runs through other kernels, on the same arguments.
void expect_agreement_with_f64(const std::string& text) {
  Ran single(text), twice(std::regex_replace(text, std::regex(R"(\bf32\b)"), "f64"));
  if (!single.ready() || !twice.ready()) return;
  std::vector<Array> arguments = single.random_arguments();
  for (Array& argument : arguments) make_positive(argument);
  std::vector<Array> wide;
  for (size_t i = 0; i < arguments.size(); ++i) {
    wide.push_back(make_array(twice.pool(), twice.parameters()[i]));
    if (wide[i].type() == arguments[i].type()) {
      std::copy_n(arguments[i].bytes(), data_bytes(arguments[i].shape), wide[i].bytes());
      continue;
    }
    const std::vector<double> values = doubles(arguments[i]);
    std::copy(values.begin(), values.end(), wide[i].as<double>());
  }
  const std::vector<Array> outputs = single.run(arguments), expected = twice.run(wide);
  ASSERT_EQ(outputs.size(), expected.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<double> a = doubles(outputs[i]), b = doubles(expected[i]);
    ASSERT_EQ(a.size(), b.size());
    double largest = 1;
    for (const double value : b) largest = std::max(largest, std::abs(value));
    ASSERT_TRUE(std::isfinite(largest));
    for (size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(a[k], b[k], 1e-4 * largest) << "output " << i << " at " << k;
  }
}

TEST(WholeModules, TrainingStepsAgreeWithF64) {
  for (const char* name : {"adam_step", "replicas_step", "partitions_step"}) {
    SCOPED_TRACE(name);
    expect_agreement_with_f64(test::own_module(name));
  }
  for (const char* name : {"seeds/002_31f0e50696cb742c.txt", "data/mnist_train_step.reconstructed.hlo"})
    if (const std::string text = test::shared_text(name); !text.empty()) {
      SCOPED_TRACE(name);
      expect_agreement_with_f64(text);
    }
}

}  // namespace
}  // namespace hlosim
