#include "lower/copy_aliased_results.h"

#include <algorithm>
#include <vector>

#include "ops/op_table.h"

namespace hlosim {
namespace {

using Index = std::vector<int64_t>;

/// The argument that `value` is, and where in it; -1: it was computed.
int64_t argument_of(const Module& module, InstructionId value, Index& index) {
  while (is_tuple_element(module[value])) {
    index.insert(index.begin(), module[value].find(AttrKey::kIndex)->integer());
    value = module[value].operands[0];
  }
  return module[value].parameter_number;
}

bool shares_memory(const Module& module, const Index& result, int64_t argument, const Index& index) {
  const Attr* aliases = module.find(AttrKey::kInputOutputAlias);
  return aliases && std::ranges::any_of(aliases->aliases(), [&](const Alias& alias) {
           return alias.parameter == argument && std::ranges::equal(alias.output_index, result) &&
                  std::ranges::equal(alias.parameter_index, index);
         });
}

bool needs_copy(const Module& module, InstructionId value, const Index& result) {
  if (!module[value].shape->is_array() || module[value].shape->memory_space() != 0) return false;
  Index index;
  const int64_t argument = argument_of(module, value, index);
  return argument >= 0 && !shares_memory(module, result, argument, index);
}

}  // namespace

void give_results_own_memory(ModuleEditor& editor) {
  Module& module = editor.module();
  const InstructionId root = module[module.entry].root;
  const bool tuple = is_tuple(module[root]);
  std::vector<InstructionId> results{root}, copies;
  if (tuple) results.assign(module[root].operands.begin(), module[root].operands.end());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!needs_copy(module, results[i], tuple ? Index{static_cast<int64_t>(i)} : Index{})) continue;
    const InstructionId operands[] = {results[i]};
    results[i] = editor.add(module.entry, Opcode::kCopy, "copy", module[results[i]].shape, operands);
    copies.push_back(results[i]);
  }
  if (copies.empty()) return;
  Computation& entry = module.computations[module.entry];
  entry.instructions.insert(tuple ? std::ranges::find(entry.instructions, root) : entry.instructions.end(),
                            copies.begin(), copies.end());
  if (tuple)
    editor.set_operands(root, results);
  else
    entry.root = results[0];
}

}  // namespace hlosim
