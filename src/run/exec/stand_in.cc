#include "exec/stand_in.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "evaluate/custom_calls/custom_call_evaluations.h"
#include "ops/called_checks.h"
#include "ops/dataflow.h"
#include "ops/leaf_shapes.h"
#include "ops/op_table.h"

namespace hlosim {

struct StandIn::Kernel {
  std::string file;
  std::unique_ptr<Module> module;
  std::unique_ptr<const Program> program;
};

std::optional<StandIn> StandIn::make(std::string file, std::unique_ptr<Module> module, MemoryPool& pool,
                                     const ProgramOptions& options, DiagnosticList& sink) {
  const auto kernel = std::make_shared<Kernel>();
  kernel->file = std::move(file);
  kernel->module = std::move(module);
  kernel->program = Program::make(*kernel->module, op_table(), pool, options, sink);
  if (!kernel->program) return std::nullopt;
  return StandIn(kernel);
}

int64_t StandIn::peak_bytes() const { return kernel_->program->peak_bytes(); }

namespace {

/// Leaves of `shape` before those of its element `index`.
int64_t leaves_before(ShapeRef shape, std::span<const int64_t> index) {
  int64_t count = 0;
  for (const int64_t i : index) {
    for (int64_t k = 0; k < i; ++k) count += leaf_count(shape->elements[static_cast<size_t>(k)]);
    shape = shape->elements[static_cast<size_t>(i)];
  }
  return count;
}

/// What the call has and the module hasn't, or the other way round; empty: nothing.
std::string difference(std::string_view what, std::span<const ShapeRef> call,
                       std::span<const ShapeRef> module) {
  for (size_t i = 0; i < std::min(call.size(), module.size()); ++i) {
    if (!holds_the_same(call[i], module[i]))
      return fmt::format("{} {} is {} here, {} there", what, i, to_text_without_layout(call[i]),
                         to_text_without_layout(module[i]));
  }
  if (call.size() == module.size()) return {};
  return fmt::format("{} {} arrays here, {} there", call.size(), what, module.size());
}

}  // namespace

std::function<Evaluation(EvaluateContext&)> StandIn::evaluation() const {
  return [kernel = kernel_](EvaluateContext& op) -> Evaluation {
    const Program& program = *kernel->program;
    std::string differs = difference("operand", operand_leaves_of(op), program.parameters());
    if (differs.empty()) differs = difference("result", leaves_of(op.shape()), program.results());
    if (!differs.empty())
      return op.unsupported(
          fmt::format("'{}', which replaces it, has another signature: {}", kernel->file, differs));
    return [kernel](Invocation& call) {
      std::vector<Array> inputs;
      for (size_t i = 0; i < call.operand_count(); ++i) {
        inputs.push_back(call.take(i));
        inputs.back().shape = kernel->program->parameters()[i];
      }
      Result<std::vector<Array>> outputs = kernel->program->run(call.device(), std::move(inputs));
      if (!outputs) return;  // the device has failed, at a place in the kernel
      for (size_t i = 0; i < outputs->size(); ++i) call.set_result(std::move((*outputs)[i]), i);
    };
  };
}

Evaluation evaluate_first_operand_call(EvaluateContext& op) {
  const auto from = operand_leaves_of(op), to = leaves_of(op.shape());
  if (from.size() < to.size() || !std::equal(to.begin(), to.end(), from.begin(), holds_the_same))
    return op.unsupported(fmt::format("{} is not what its operands begin with", text_of(op.shape())));
  return [](Invocation& call) {
    for (size_t i = 0; i < call.result_count(); ++i) call.set_result(call.take(i), i);
  };
}

Evaluation evaluate_ignored_call(EvaluateContext& op) {
  constexpr size_t kNone = static_cast<size_t>(-1);
  const auto operands = operand_leaves_of(op), results = leaves_of(op.shape());
  std::vector<size_t> from(results.size(), kNone);
  for (const InPlacePair& pair : in_place_pairs(op.module(), op.instruction(), false)) {
    const auto input = op.first_leaf(pair.operand) +
                       static_cast<size_t>(leaves_before(op.operand_shape(pair.operand), pair.operand_index));
    const auto output = static_cast<size_t>(leaves_before(op.shape(), pair.output_index));
    const auto count = static_cast<size_t>(leaf_count(subshape(op.shape(), pair.output_index)));
    for (size_t i = 0; i < count && input + i < operands.size(); ++i) from[output + i] = input + i;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_value = without_buffer(results[i])->is_array();
    if (is_value && (from[i] == kNone || !holds_the_same(operands[from[i]], results[i])))
      return op.unsupported(fmt::format("ignored, it leaves {} without a value", text_of(op.shape())));
  }
  return [from](Invocation& call) {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] != kNone) call.set_result(call.operand(from[i]), i);
  };
}

}  // namespace hlosim
