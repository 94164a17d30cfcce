// Runs modules whose inputs are constants, for tests of evaluations.
#pragma once

#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "array/element_values.h"
#include "exec/program.h"
#include "support/execution.h"
#include "support/modules.h"

namespace hlosim::test {

/// Values as text: "1 2 3", complex ones as "1+2i", in row-major order.
inline std::string values_text(const Array& array) {
  const ElementType type = array.type();
  const int64_t count = array.count();
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    if (is_complex(type)) {
      const bool wide = type == ElementType::kC128;
      const std::complex<double> value = wide ? array.as<std::complex<double>>()[i]
                                              : std::complex<double>(array.as<std::complex<float>>()[i]);
      text += fmt::format("{}+{}i", value.real(), value.imag());
    } else if (is_float(type)) {
      double value = 0;
      decode_floats(type, array.bytes(), i, 1, &value);
      text +=
          type == ElementType::kF32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
    } else {
      text += std::to_string(integer_at(array, i));
    }
  }
  return text;
}

struct RunResult {
  std::vector<Array> outputs;
  std::string error;  // the first one; empty when it ran
};

/// Keeps the memory that results lie in.
class Runner {
 public:
  RunResult run(Module& module, std::vector<Array> inputs = {}, bool traced = false) {
    DiagnosticList diagnostics;
    const auto program =
        Program::make(module, op_table(), pool_, traced ? traced_options() : ProgramOptions{}, diagnostics);
    if (!program) return {{}, diagnostics.items().empty() ? "no program" : diagnostics.items()[0].message};
    DeviceState device(pool_);
    Result<std::vector<Array>> outputs = program->run(device, std::move(inputs));
    if (!outputs) return {{}, outputs.error().message};
    return {std::move(*outputs), ""};
  }
  MemoryPool& pool() { return pool_; }

 private:
  MemoryPool pool_;
};

/// The values of the root's leaves of a module without parameters, separated by " | "; or what is wrong.
inline std::string run_text(std::string_view text, bool traced = false) {
  Module module = module_or_fail(text);
  Runner runner;
  const RunResult result = runner.run(module, {}, traced);
  if (!result.error.empty()) return result.error;
  std::string values;
  for (const Array& output : result.outputs) values += (values.empty() ? "" : " | ") + values_text(output);
  return values;
}

/// The same of the last of these instructions, of an entry computation behind `computations`, run fast and
/// slowly.
inline std::string run_body(std::string_view body, std::string_view computations = "") {
  const std::string text =
      "HloModule m\n" + std::string(computations) + "\nENTRY main {\n" + std::string(body) + "\n}\n";
  const std::string fast = run_text(text), slow = run_text(text, true);
  EXPECT_EQ(fast, slow) << text;
  return fast;
}

}  // namespace hlosim::test
