// Small changes to a module in place, from which the steps of lowering are made.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// The same module once more, without anything that the text doesn't say: instructions that no computation
/// lists any more are gone.
Result<Module> read_again(const Module& module, const OpTable& table);

/// Adds to a module. Instructions get names of their own; putting them into a computation's list is up to
/// the caller.
class ModuleEditor {
 public:
  explicit ModuleEditor(Module& module);

  Module& module() { return module_; }

  InstructionId add(ComputationId parent, Opcode opcode, std::string_view name, ShapeRef shape,
                    std::span<const InstructionId> operands, std::span<const Attr> attrs = {});
  ComputationId add_computation(std::string_view name);
  InstructionId add_parameter(ComputationId parent, std::string_view name, ShapeRef shape);

  void set_operands(InstructionId id, std::span<const InstructionId> operands);
  /// Every use of `from` by the listed instructions of its computation becomes one of `to`.
  void replace_operand(InstructionId user, InstructionId from, InstructionId to);
  /// Another value for one attribute.
  void set_attr(InstructionId id, const Attr& attr);
  std::span<const int64_t> keep(std::span<const int64_t> values) { return module_.arena().copy(values); }

 private:
  std::string_view unique(std::string_view name);

  Module& module_;
  std::unordered_set<std::string_view> names_;
  int64_t next_ = 1;
};

/// Instructions of `id` that its root or a side effect needs, in their order.
std::vector<InstructionId> needed_instructions(const Module& module, const OpTable& table, ComputationId id);

/// The computations that run as control flow: the entry, and bodies, conditions and branches.
struct FlowComputation {
  ComputationId id;
  bool is_condition = false;  // of a while: its form says how often the loop runs
};
std::vector<FlowComputation> flow_computations(const Module& module, const OpTable& table);

}  // namespace hlosim
