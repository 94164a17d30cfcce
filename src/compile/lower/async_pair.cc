#include "lower/async_pair.h"

#include <fmt/format.h>

#include "hlo/stored_values.h"

namespace hlosim {
namespace {

constexpr int64_t kSyncSpace = 2;  // where XLA:TPU keeps the flags of transfers

ComputationId wrapped(ModuleEditor& editor, const Instruction& what, const AsyncPairSpec& spec,
                      const std::vector<ShapeRef>& operands, ShapeRef result) {
  Module& module = editor.module();
  const ComputationId made = editor.add_computation("async_computation");
  std::vector<InstructionId> parameters;
  for (const ShapeRef shape : operands) {
    parameters.push_back(editor.add_parameter(made, "param", shape));
    editor.place_like(parameters.back(), what);
  }
  const InstructionId root = editor.add(made, what.opcode, spec.name, result, parameters, what.attrs);
  module.computations[made].instructions.push_back(root);
  module.computations[made].root = root;
  module.computations[made].execution_thread = module.arena().copy(spec.thread);
  editor.place_like(root, what);
  return made;
}

}  // namespace

AsyncPair async_pair(ModuleEditor& editor, ComputationId in, const AsyncPairSpec& spec) {
  Module& module = editor.module();
  const Instruction what = module[spec.what];
  std::vector<InstructionId> operands = spec.operands;
  if (operands.empty()) operands.assign(what.operands.begin(), what.operands.end());
  std::vector<ShapeRef> shapes;
  for (const InstructionId operand : operands) shapes.push_back(module[operand].shape);
  const ShapeRef result = spec.shape ? spec.shape : what.shape;
  const ComputationId called = wrapped(editor, what, spec, shapes, result);

  const ShapeRef context = module.shapes().with_memory_space(
      module.shapes().with_default_layouts(module.shapes().scalar(ElementType::kU32)), kSyncSpace);
  const ShapeRef parts[] = {module.shapes().tuple(shapes), result, context};
  std::vector<Attr> attrs{computation_attr(module, AttrKey::kCalls, called)};
  if (spec.thread != "main")
    attrs.push_back(Attr::make_text(AttrKey::kAsyncExecutionThread, AttrSyntax::kString,
                                    module.arena().copy(fmt::format("\"{}\"", spec.thread))));
  AsyncPair pair;
  pair.start = editor.add(in, Opcode::kAsyncStart, spec.start, module.shapes().tuple(parts), operands, attrs);
  editor.place_like(pair.start, what);
  const InstructionId from[] = {pair.start};
  pair.done = editor.add(in, Opcode::kAsyncDone, spec.done, result, from);
  return pair;
}

}  // namespace hlosim
