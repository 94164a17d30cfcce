// Running modules, for tests: text in, literals out.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exec/program.h"
#include "support/modules.h"

namespace hlosim::test {

/// Every value is shown to an observer, which ignores it: no instruction runs together with others, and
/// called computations run instruction by instruction instead of as arithmetic on elements.
inline ProgramOptions traced_options() {
  ProgramOptions options;
  options.graph.traced = [](const Instruction&) { return true; };
  options.graph.observer = [](const DeviceState&, const Instruction&, std::span<const Array>) {};
  options.cluster = false;
  return options;
}

/// A module made ready to run on a device of its own.
class Execution {
 public:
  explicit Execution(std::string_view text, const ProgramOptions& options = {})
      : device(pool), module_(module_or_fail(text)) {
    DiagnosticList diagnostics;
    program_ = Program::make(module_, op_table(), pool, options, diagnostics);
    problems_ = rendered(diagnostics);
  }

  const Program* program() const { return program_.get(); }

  /// The root's leaves, or nothing with problems() saying why.
  std::vector<Array> arrays(std::vector<Array> inputs = {}) {
    if (!program_) return {};
    auto outputs = program_->run(device, std::move(inputs));
    if (outputs) return std::move(*outputs);
    problems_ = render(outputs.error());
    return {};
  }

  /// The same as HLO text, or the problems as the only element. `{1, 2}`, without the shape.
  std::vector<std::string> texts(std::vector<Array> inputs = {}) {
    const std::vector<Array> outputs = arrays(std::move(inputs));
    std::vector<std::string> result;
    for (const Array& output : outputs) result.push_back(text_of(output));
    if (!problems_.empty()) result = {problems_};
    return result;
  }

  const std::string& problems() const { return problems_; }

  static std::string text_of(const Array& array) {
    if (!array.shape->is_array()) return "token";
    Literal literal;
    literal.shape = array.shape;
    literal.data = {array.bytes(), static_cast<size_t>(data_bytes(array.shape))};
    return to_text(literal);
  }

  /// An array of `values`, as wide as the elements of `shape`.
  template <class T>
  Array array(ShapeRef shape, const std::vector<T>& values) {
    EXPECT_EQ(data_bytes(shape), static_cast<int64_t>(values.size() * sizeof(T)));
    Array array = make_array(pool, shape);
    std::copy(values.begin(), values.end(), array.as<T>());
    return array;
  }

  MemoryPool pool;
  DeviceState device;

 private:
  Module module_;
  std::unique_ptr<const Program> program_;
  std::string problems_;
};

/// The values of the root's leaves as HLO text, or what goes wrong as the only element.
inline std::vector<std::string> executed(std::string_view text) { return Execution(text).texts(); }

}  // namespace hlosim::test
