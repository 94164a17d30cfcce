#include "lower/fold_constants.h"

#include <algorithm>

#include "exec/instruction_programs.h"
#include "hlo/stored_values.h"
#include "modules/list_rewriter.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

constexpr int64_t kMostElements = 1024;    // of a result
constexpr int64_t kMostOperand = 1 << 16;  // elements that are read for it

class Folder {
 public:
  Folder(ModuleEditor& editor, const OpTable& table)
      : rewriter_(editor, table), module_(editor.module()), table_(table) {}

  void run(ComputationId id) {
    rewriter_.run(id, [&](InstructionId at) { return visit(at); });
  }

 private:
  bool is_constant(InstructionId id) const {
    const Instruction& instruction = module_[id];
    return instruction.literal && !instruction.literal->elided && instruction.shape->is_array() &&
           instruction.shape->is_static() && instruction.shape->element_count() <= kMostOperand;
  }

  /// The scalar constant that a value is everywhere.
  InstructionId everywhere(InstructionId id) const {
    if (module_[id].opcode == Opcode::kBroadcast) id = module_[id].operands[0];
    return is_constant(id) && module_[id].shape->is_scalar() ? id : InstructionId{};
  }

  InstructionId visit(InstructionId id) {
    const Instruction& instruction = module_[id];
    const FusionRole role = fusion_role(table_, instruction);
    if (role == FusionRole::kNone || role == FusionRole::kFill || role == FusionRole::kCopy ||
        instruction.operands.empty() || !instruction.shape->is_array())
      return id;
    if (std::ranges::all_of(instruction.operands,
                            [&](InstructionId operand) { return is_constant(operand); }) &&
        instruction.shape->element_count() <= kMostElements)
      return folded(id);
    if (role == FusionRole::kElement && !instruction.shape->is_scalar()) return one_for_all(id);
    return id;
  }

  /// f(broadcast(a), broadcast(b)) is broadcast(f(a, b)).
  InstructionId one_for_all(InstructionId id) {
    const Instruction instruction = module_[id];
    std::vector<InstructionId> scalars;
    for (const InstructionId operand : instruction.operands) {
      scalars.push_back(everywhere(operand));
      if (!scalars.back().valid()) return id;
    }
    const ShapeRef shape = module_.shapes().scalar(instruction.shape->element_type);
    const InstructionId scalar = rewriter_.add_like(instruction, to_text(instruction.opcode), shape, scalars);
    const InstructionId value = folded(scalar);
    const Attr dimensions[] = {ints_attr(module_, AttrKey::kDimensions, {})};
    return rewriter_.add(Opcode::kBroadcast, instruction.shape, {value}, dimensions);
  }

  /// The value of an instruction on constants, as one; the instruction itself if it can't be evaluated.
  InstructionId folded(InstructionId id) {
    MemoryPool pool;
    ProgramOptions options;
    InstructionPrograms programs(module_, table_, pool, options);
    const auto program = programs.make(id);
    if (!program) return id;
    std::vector<Array> arguments, results((*program)->result_count());
    for (const InstructionId operand : module_[id].operands)
      append_arrays(*module_[operand].literal, pool, arguments);
    if (results.size() != 1 || arguments.size() != (*program)->argument_count()) return id;
    DeviceState device(pool);
    (*program)->call(device, arguments, results);
    if (device.failed() || !results[0].bytes()) return id;
    const auto bytes = static_cast<size_t>(data_bytes(results[0].shape));
    const InstructionId constant = rewriter_.add(Opcode::kConstant, module_[id].shape, {});
    module_.instructions[constant].literal =
        array_literal(module_, module_[id].shape, {results[0].bytes(), bytes});
    return constant;
  }

  ListRewriter rewriter_;
  Module& module_;
  const OpTable& table_;
};

}  // namespace

void fold_constants(ModuleEditor& editor, const OpTable& table) {
  Folder folder(editor, table);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) folder.run(flow.id);
}

}  // namespace hlosim
