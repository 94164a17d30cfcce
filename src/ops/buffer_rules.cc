// Buffers: explicit references to memory, shapes b(array).
//
//   b = b(f32[32]) custom-call(x), custom_call_target="Pin", output_to_operand_aliasing={{}: (0, {})}
//   w = b(f32[32]) custom-call(b), custom_call_target="write", output_to_operand_aliasing={{}: (0, {})}
//   y = f32[32] custom-call(w), custom_call_target="Unpin", output_to_operand_aliasing={{}: (0, {})}
//
// A value of buffer shape is handed on by tuples and their elements; what consumes it (a custom call,
// an async start, a loop, the root of a body) may write the memory, so there is at most one consumer.
#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "ops/infer.h"
#include "ops/module_rules.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

/// Calls f(index, leaf) for every leaf of buffer shape.
template <class F>
void for_each_buffer(ShapeRef shape, Index& index, F&& f) {
  if (shape->is_buffer()) f(index);
  if (!shape->is_tuple()) return;
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    index.push_back(static_cast<int64_t>(i));
    for_each_buffer(shape->elements[i], index, f);
    index.pop_back();
  }
}

bool holds_buffer(ShapeRef shape) {
  return shape->is_buffer() ||
         (shape->is_tuple() && std::any_of(shape->elements.begin(), shape->elements.end(), holds_buffer));
}

std::string text_of_index(const Index& index) { return list_text(index); }

class BufferRules {
 public:
  BufferRules(Module& module, const OpTable& table, DiagnosticList& diagnostics)
      : module_(module), table_(table), diagnostics_(diagnostics) {}

  void run() {
    for (const Computation& computation : module_.computations)
      for (const InstructionId id : computation.instructions) instruction(id, id == computation.root);
    for (const auto& [value, count] : writers_)
      if (count > 1) {
        const Instruction& definition = module_[value.first];
        OpContext op(module_, definition, table_, &diagnostics_);
        op.error(0, "the buffer {} {} has {} writers, expected at most one", definition.name, text_of_index(value.second), count);
      }
  }

 private:
  using Value = std::pair<InstructionId, Index>;

  /// The value that leaf `index` of instruction `id` holds: defined there, or handed on to it.
  Value value_at(InstructionId id, Index index) const {
    for (;;) {
      const Instruction& at = module_[id];
      if (at.opcode == Opcode::kGetTupleElement) {
        index.insert(index.begin(), at.find(AttrKey::kIndex)->integer());
        id = at.operands[0];
      } else if (at.opcode == Opcode::kTuple && !index.empty()) {
        id = at.operands[static_cast<size_t>(index[0])];
        index.erase(index.begin());
      } else if (at.opcode == Opcode::kOptimizationBarrier) {
        id = at.operands[0];
      } else if (at.opcode == Opcode::kAsyncDone || at.opcode == Opcode::kAsyncUpdate) {
        return {id, index};
      } else {
        return {id, index};
      }
    }
  }

  void consume(InstructionId id) {
    Index index;
    for_each_buffer(module_[id].shape, index, [&](const Index& leaf) { ++writers_[value_at(id, leaf)]; });
  }

  void instruction(InstructionId id, bool is_root) {
    const Instruction& instruction = module_[id];
    const bool consumes = instruction.opcode == Opcode::kCustomCall || instruction.opcode == Opcode::kWhile ||
                          instruction.opcode == Opcode::kAsyncStart;
    for (const InstructionId operand : instruction.operands)
      if (consumes && holds_buffer(module_[operand].shape)) consume(operand);
    const bool hands_on = instruction.opcode == Opcode::kTuple || instruction.opcode == Opcode::kGetTupleElement ||
                          instruction.opcode == Opcode::kParameter;
    if (is_root && hands_on && instruction.parent != module_.entry && holds_buffer(instruction.shape)) consume(id);
    if (instruction.opcode == Opcode::kCustomCall) custom_call(instruction);
  }

  /// Each buffer operand of a custom call comes out of it once.
  void custom_call(const Instruction& call) {
    OpContext op(module_, call, table_, &diagnostics_);
    const Attr* attr = call.find(AttrKey::kOutputToOperandAliasing);
    const auto aliases = attr ? attr->aliases() : std::span<const Alias>();
    const std::string_view target = op.text(AttrKey::kCustomCallTarget);
    if ((target == "\"Pin\"" || target == "\"Unpin\"") && aliases.size() != 1) {
      op.error(0, "{} must have one output_to_operand_aliasing, but has {}", target, aliases.size());
      return;
    }
    for (size_t i = 0; i < call.operands.size(); ++i) {
      Index index;
      for_each_buffer(module_[call.operands[i]].shape, index, [&](const Index& leaf) {
        const auto comes_out = std::count_if(aliases.begin(), aliases.end(), [&](const Alias& alias) {
          return alias.parameter == static_cast<int64_t>(i) &&
                 std::equal(leaf.begin(), leaf.end(), alias.parameter_index.begin(), alias.parameter_index.end());
        });
        if (comes_out == 0)
          op.error(0, "the buffer in operand {} {} is used but is not in the result: output_to_operand_aliasing must name it", i,
                   text_of_index(leaf));
        if (comes_out > 1)
          op.error(0, "the buffer in operand {} {} is in the result {} times, expected once", i, text_of_index(leaf), comes_out);
      });
    }
  }

  Module& module_;
  const OpTable& table_;
  DiagnosticList& diagnostics_;
  std::map<Value, int> writers_;
};

}  // namespace

void check_buffers(Module& module, const OpTable& table, DiagnosticList& diagnostics) {
  const bool any = std::any_of(module.instructions.begin(), module.instructions.end(),
                               [](const Instruction& i) { return i.shape && holds_buffer(i.shape); });
  if (any) BufferRules(module, table, diagnostics).run();
}

}  // namespace hlosim
