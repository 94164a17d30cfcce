// One instruction at a time: what its shape is inferred to be, why it is refused, what work it is.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/reader.h"
#include "hlo/verifier.h"
#include "ops/op_table.h"
#include "ops/work.h"

namespace hlosim::test {

/// An instruction (or module) and the beginning of the message that refuses it.
struct Refused {
  std::string_view text, message;
};

struct OpReading {
  std::vector<Module> modules;
  DiagnosticList findings;
  bool parsed = false;
};

inline OpReading read_op(std::string_view text) {
  OpReading reading;
  const auto source = std::make_shared<const SourceFile>("op.hlo", std::string(text));
  reading.modules = read_modules(source, op_table(), reading.findings);
  reading.parsed = !reading.findings.has_errors();
  for (Module& module : reading.modules) verify(module, op_table(), reading.findings);
  return reading;
}

/// Message of the first finding; empty when there is none.
inline std::string refusal(std::string_view text) {
  const OpReading reading = read_op(text);
  return reading.findings.items().empty() ? std::string() : reading.findings.items()[0].message;
}

inline void expect_refused(std::span<const Refused> cases) {
  for (const Refused& refused : cases) {
    const std::string message = refusal(refused.text);
    EXPECT_TRUE(message.starts_with(refused.message))
        << refused.text << "\n says: " << message << "\n expected: " << refused.message;
  }
}

/// What the opcode's rule says of the root's shape, layouts left out; the message when it refuses. Dynamic
/// dimensions show only where the text leaves the shape out: a declared one of the same sizes will do.
inline std::string inferred(std::string_view text) {
  OpReading reading = read_op(text);
  if (reading.findings.has_errors()) return reading.findings.items()[0].message;
  Module& module = reading.modules.at(0);
  const Instruction& root = module[module.entry_computation().root];
  if (!root.has_declared_shape) return to_text_without_layout(root.shape);
  OpContext op(module, root, op_table(), &reading.findings);
  const ShapeRef shape = op.def().infer_shape(op);
  return shape ? to_text_without_layout(shape) : "none";
}

/// Calls f(work, module) with the work of the root.
template <class F>
void with_work(std::string_view text, F&& f) {
  OpReading reading = read_op(text);
  ASSERT_FALSE(reading.findings.has_errors()) << text << ": " << reading.findings.items()[0].message;
  Module& module = reading.modules.at(0);
  const OpContext op(module, module[module.entry_computation().root], op_table(), nullptr);
  f(work_of(op), module);
}

inline std::string text_of_part(ShapeRef shape) { return shape ? to_text_without_layout(shape) : "nothing"; }

}  // namespace hlosim::test
