// Changes of modules by the names of their instructions, so that they apply to copies of other sizes too.
//
//   return edit_of_module(table, [name](ModuleEditor& editor, TrialSetup&) -> Result<void> {
//     const Result<InstructionId> convert = named(editor.module(), name);
//     …
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "advise/advice_kind.h"
#include "hlo/module_editor.h"

namespace hlosim {

/// The listed instruction of this name. Error: there is none any more.
Result<InstructionId> named(const Module& module, std::string_view name);

using ModuleChange = std::function<Result<void>(ModuleEditor& editor, TrialSetup& setup)>;
/// Makes the change on a copy of the setup's module, which is verified. `table` outlives the edit. Errors:
/// those of the change; what the verifier says of its result.
Edit edit_of_module(const OpTable& table, ModuleChange change);

/// A change of a model file's step, which is written anew.
Edit edit_of_step(std::function<void(StepOptions& step)> change);

/// The same, of the blocks of kernels: blocks that need more VMEM than kernels may use are an error.
Edit edit_of_blocks(std::function<void(StepOptions& step)> change);

/// Numbers of the parameters that results overwrite or that are donated.
std::set<int64_t> aliased_parameters(const Module& module);

/// The entry's signature changed: the header states no layout of it any more.
void forget_entry_layout(Module& module);

/// Bytes of all arrays of a shape, without padding.
int64_t logical_bytes(ShapeRef shape);

}  // namespace hlosim
