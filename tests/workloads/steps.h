// Steps of small models, run on this processor.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "array/convert_array.h"
#include "exec/program.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "support/modules.h"
#include "workloads/step.h"

namespace hlosim::test {

inline ModelConfig model_or_fail(const std::string& yaml) {
  const auto source = std::make_shared<const SourceFile>("model.yaml", yaml);
  const Result<ModelConfig> model = read_model_config(source);
  EXPECT_TRUE(model) << (model ? "" : render(model.error()));
  return model ? *model : ModelConfig();
}

inline Module step_or_fail(const ModelConfig& model, const StepOptions& options) {
  Result<Module> module = make_step(model, options);
  EXPECT_TRUE(module) << (module ? "" : render(module.error()));
  return module ? std::move(*module)
                : module_or_fail("HloModule m\nENTRY e { ROOT c = f32[] constant(0) }\n");
}

/// Two sequences of eight tokens in f64: the loss and all gradients.
inline StepOptions exact_options() {
  StepOptions options;
  options.batch = 2, options.sequence = 8;
  options.compute_type = options.param_type = options.grad_type = ElementType::kF64;
  options.attention = AttentionKernel::kPlain;
  options.gradients_only = true;
  options.remat = *remat_policy("full");
  return options;
}

using Numbers = std::vector<double>;

/// A step made ready to run on numbers, whatever types it has.
class RunningStep {
 public:
  RunningStep(const ModelConfig& model, const StepOptions& options)
      : RunningStep(step_or_fail(model, options), model.vocab) {}
  /// What was made of a step.
  RunningStep(Module module, int64_t vocab) : device_(pool_), module_(std::move(module)), vocab_(vocab) {
    DiagnosticList problems;
    program_ = Program::make(module_, op_table(), pool_, {}, problems);
    EXPECT_TRUE(program_) << rendered(problems);
  }

  const Module& module() const { return module_; }
  bool ready() const { return program_ != nullptr; }
  size_t inputs() const { return program_->parameters().size(); }
  ShapeRef input(size_t i) const { return program_->parameters()[i]; }
  std::string name(size_t i) const {
    const std::string_view name = module_[module_.entry_computation().parameters[i]].name;
    return std::string(name.substr(0, name.rfind('.')));
  }
  bool is_float_input(size_t i) const { return is_float(input(i)->element_type); }

  /// Parameters around 0 (scales of norms around 1), tokens anywhere in the vocabulary; by name, so that
  /// steps of another form get the same.
  std::vector<Numbers> random_inputs(uint64_t seed) const {
    std::vector<Numbers> made;
    for (size_t i = 0; i < inputs(); ++i) {
      std::mt19937_64 random(seed + std::hash<std::string>()(name(i)));
      std::uniform_real_distribution<double> real(-0.5, 0.5);
      std::uniform_int_distribution<int64_t> token(0, vocab_ - 1);
      Numbers numbers(static_cast<size_t>(input(i)->element_count()));
      const double middle = name(i).find("scale") != std::string::npos ? 1 : 0;
      for (double& number : numbers)
        number = is_float_input(i) ? middle + real(random) : static_cast<double>(token(random));
      made.push_back(std::move(numbers));
    }
    return made;
  }

  /// The root's leaves.
  std::vector<Numbers> run(const std::vector<Numbers>& inputs) {
    std::vector<Array> arrays;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Array array = make_array(pool_, input(i));
      Buffer wide = pool_.allocate(static_cast<int64_t>(inputs[i].size()) * 8);
      std::copy(inputs[i].begin(), inputs[i].end(), reinterpret_cast<double*>(wide.data()));
      array.data = converted(pool_, wide, ElementType::kF64, array.type(), array.count());
      arrays.push_back(std::move(array));
    }
    const auto outputs = program_->run(device_, std::move(arrays));
    EXPECT_TRUE(outputs) << (outputs ? "" : render(outputs.error()));
    std::vector<Numbers> results;
    if (!outputs) return results;
    for (const Array& output : *outputs) {
      const Buffer wide = converted(pool_, output.data, output.type(), ElementType::kF64, output.count());
      const auto* numbers = reinterpret_cast<const double*>(wide.data());
      results.emplace_back(numbers, numbers + output.count());
    }
    return results;
  }

 private:
  MemoryPool pool_;
  DeviceState device_;
  Module module_;
  int64_t vocab_;
  std::unique_ptr<const Program> program_;
};

/// The largest difference, against the larger of 1 and the largest number.
inline double difference(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return 1e300;
  double most = 0, size = 1e-6;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(a[i]));
    if (std::isnan(a[i]) || std::isnan(b[i])) return 1e300;
  }
  return most / size;
}

}  // namespace hlosim::test
