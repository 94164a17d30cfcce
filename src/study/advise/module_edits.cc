#include "advise/module_edits.h"

#include <fmt/format.h>

#include <memory>

#include "base/saturating.h"
#include "hlo/verifier.h"
#include "layout/sizes.h"
#include "model/pallas/kernel_call.h"
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

Edit edit_of_blocks(std::function<void(StepOptions& step)> change) {
  return [edit = edit_of_step(std::move(change))](TrialSetup& setup) -> Result<void> {
    if (Result<void> made = edit(setup); !made) return made;
    const Module& module = *setup.module;
    for (const Computation& computation : module.computations)
      for (const InstructionId id : computation.instructions) {
        const std::optional<KernelCall> kernel = find_kernel_call(module, module[id], setup.device.config);
        if (kernel && kernel->blocks_given && !kernel->cost.fits())
          return failure(fmt::format("{} of VMEM for blocks of {}, kernels may use {}",
                                     to_text(kernel->cost.vmem), kernel->what,
                                     to_text(kernel->cost.vmem_limit)));
      }
    return {};
  };
}

std::set<int64_t> aliased_parameters(const Module& module) {
  std::set<int64_t> numbers;
  for (const AttrKey key : {AttrKey::kInputOutputAlias, AttrKey::kBufferDonor})
    if (const Attr* attr = module.find(key))
      for (const Alias& alias : attr->aliases()) numbers.insert(alias.parameter);
  return numbers;
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
