#include "advise/module_edits.h"

#include <fmt/format.h>

#include <memory>

#include "base/saturating.h"
#include "hlo/verifier.h"
#include "layout/sizes.h"
#include "modules/compact.h"
#include "modules/edit.h"

namespace hlosim {

Result<InstructionId> named(const Module& module, std::string_view name) {
  for (const Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      if (module[id].name == name) return id;
  return failure(fmt::format("the module has no {} any more", name));
}

Edit edit_of_module(const OpTable& table, ModuleChange change) {
  return [&table, change = std::move(change)](TrialSetup& setup) -> Result<void> {
    Module module = setup.module->copy();
    {
      ModuleEditor editor(module);
      if (Result<void> made = change(editor, setup); !made) return made;
    }
    module = compacted(std::move(module), table);
    DiagnosticList problems(1);
    if (!verify(module, table, problems)) return tl::unexpected(problems.items().front());
    setup.module = std::make_shared<const Module>(std::move(module));
    return {};
  };
}

Edit edit_of_step(std::function<void(StepOptions& step)> change) {
  return [change = std::move(change)](TrialSetup& setup) -> Result<void> {
    if (!setup.model) return failure("no model file");
    change(setup.model->step);
    return remake_step(setup);
  };
}

void forget_entry_layout(Module& module) { drop_header(module, AttrKey::kEntryComputationLayout); }

int64_t logical_bytes(ShapeRef shape) {
  int64_t bytes = 0;
  for_each_leaf(shape, [&](ShapeRef leaf) {
    if (leaf->is_array())
      bytes = saturating_add(bytes,
                             saturating_multiply(leaf->element_count(), bit_width(leaf->element_type)) / 8);
  });
  return bytes;
}

}  // namespace hlosim
