// Modules made of text, for tests of opcode rules.
#pragma once

#include <string>
#include <string_view>

#include "ops/work.h"
#include "support/modules.h"

namespace hlosim::test {

/// Messages of the errors that reading and verifying give, one a line, without places.
inline std::string messages_of(std::string_view text) {
  DiagnosticList diagnostics;
  std::vector<Module> modules = read_modules(source_of(text), op_table(), diagnostics);
  for (Module& module : modules) verify(module, op_table(), diagnostics);
  std::string messages;
  for (const Diagnostic& diagnostic : diagnostics.items()) {
    if (diagnostic.severity != Severity::kError) continue;
    if (!messages.empty()) messages += '\n';
    messages += diagnostic.message;
  }
  return messages;
}

/// A module whose entry holds `body` (instructions, the last one the root), behind computations:
/// add and add_s32 (reducers of f32 and s32), max_with_index ((f32, s32) twice to (f32, s32)),
/// at_least (two f32 to pred) and twice (f32 to f32).
inline std::string with_reducers(std::string_view body, std::string_view header = "HloModule m") {
  return std::string(header) + R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
add_s32 {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
max_with_index {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  x = f32[] maximum(a, b)
  y = s32[] maximum(i, j)
  ROOT c = (f32[], s32[]) tuple(x, y)
}
at_least {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE
}
twice {
  a = f32[] parameter(0)
  ROOT b = f32[] add(a, a)
}
ENTRY main {
)" + std::string(body) +
         "\n}\n";
}

/// Instructions `x0 = <shape> parameter(0)` … for each shape.
inline std::string parameters(std::initializer_list<std::string_view> shapes) {
  std::string text;
  int number = 0;
  for (const std::string_view shape : shapes) {
    const std::string n = std::to_string(number++);
    text += "  x" + n + " = " + std::string(shape) + " parameter(" + n + ")\n";
  }
  return text;
}

inline Work root_work(Module& module) {
  const VectorShape vector{.reduction_window = 65536, .turn_columns = 512, .mask_slots = 3};
  return work_of(OpContext(module, module.root(module.entry), op_table(), nullptr), vector);
}

}  // namespace hlosim::test
