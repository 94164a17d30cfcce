#include "lower/pass.h"

#include <algorithm>
#include <memory>

#include "base/stop.h"
#include "base/text.h"
#include "layout/native_tiling.h"
#include "lower/algebra.h"
#include "lower/assign_layouts.h"
#include "lower/common_subexpressions.h"
#include "lower/copy_aliased_results.h"
#include "lower/fold_constants.h"
#include "lower/fuse.h"
#include "lower/hoist.h"
#include "lower/host_copies.h"
#include "lower/inline.h"
#include "lower/library_calls.h"
#include "lower/offload_gathers.h"
#include "lower/part_updates.h"
#include "lower/place.h"
#include "lower/prefetch_arguments.h"
#include "lower/simplify.h"
#include "lower/slice_ahead.h"
#include "lower/spill.h"
#include "lower/tile.h"
#include "lower/vector_products.h"
#include "modules/compact.h"

namespace hlosim {
namespace {

constexpr Pass kPasses[] = {
    {"spell-layouts", "bitcasts become reshapes and transposes; another device's copies and schedule go",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       spell_out_layouts(editor, context.table);
     }},
    {"inline", "fusions and calls are inlined",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       inline_calls(editor, context.table);
     }},
    {"library-calls", "calls of GPU and CPU libraries become the products and convolutions that they are",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       spell_out_library_calls(editor, context.table);
     }},
    {"algebra", "identities: what changes nothing, or undoes itself",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       apply_algebra(editor, context.table);
     }},
    {"fold-constants", "constants are folded, up to 1024 elements",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       fold_constants(editor, context.table);
     }},
    {"join-common", "common subexpressions are computed once",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       join_common_subexpressions(editor, context.table);
     }},
    {"update-parts", "slices of arrays that are read, changed and written back are updated in place",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       update_parts_in_place(editor, context.table);
     }},
    {"hoist", "what loops compute anew each time although it is the same",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       hoist_invariants(editor, context.table);
     }},
    {"simplify", "dead code, algebra, reshapes, products without dimensions of size 1",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       simplify(editor, context.table, needs.vmem(context.device.config));
     },
     false, false, false, true},
    {"sum-vector-products", "products with a vector become sums, which the vector unit does",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       sum_vector_products(editor, context.table);
     }},
    {"own-results", "arguments that leave the program as they came are copied",
     [](ModuleEditor& editor, const PassContext&, RoomNeeds&) { give_results_own_memory(editor); }},
    {"assign-layouts", "an order of dimensions for every array",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       const DeviceConfig& device = context.device.config;
       assign_layouts(editor, context.table, tiling_policy(device),
                      {needs.largest(device), needs.vmem(device)});
     },
     false, false, false, true},
    {"tile", "native tiles for every array that has none",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       tile(editor.module(), tiling_policy(context.device.config));
     },
     true},
    {"host-copies", "copies from and to the host's memory become asynchronous",
     [](ModuleEditor& editor, const PassContext&, RoomNeeds&) { host_copies(editor); }, true},
    {"sparse-gathers", "gathers that the generation's compiler offloads run concurrently with the TensorCore",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       offload_gathers(editor, context.device.config, needs);
     },
     true, false, false, true},
    {"sparse-collectives", "collectives that flags give to the SparseCores",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       mark_offloaded_collectives(editor, context.device.config, context.compiler);
     }},
    {"fuse", "which instructions become one kernel",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       fuse(editor, context.table, context.device.config, needs);
     },
     true, false, false, true},
    {"place", "what kernels make for kernels stays in VMEM",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       place_values(editor, context.table, context.device.config, false, needs);
     },
     true, false, true},
    {"prefetch", "arguments come onto the chip while earlier kernels run",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       prefetch_arguments(editor, context.table, context.device, needs);
     },
     true, true, true},
    {"spill", "values go back from on-chip memory to HBM until the live ones fit",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       spill_overflow(editor.module(), context.table, context.device.config, &needs);
     },
     true, true, true},
    {"slice-ahead", "slices that loops take come onto the chip one iteration ahead; before fuse",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       slice_ahead(editor, context.table, context.device.config, needs);
     },
     true, false, true},
    {"pipeline-host",
     "copies between loops and the host's memory go on in the next iteration; before host-copies",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds&) {
       pipeline_host_copies(editor, context.table);
     },
     true},
    {"place-sliced", "as place; also what loops carry and only take slices of, where it fits",
     [](ModuleEditor& editor, const PassContext& context, RoomNeeds& needs) {
       place_values(editor, context.table, context.device.config, true, needs);
     },
     true, false, true},
};

// update-parts also comes before algebra, which takes out slices of stacks of one layer.
constexpr std::string_view kDefault[] = {"spell-layouts", "inline",         "library-calls",
                                         "update-parts",  "algebra",        "fold-constants",
                                         "join-common",   "update-parts",   "hoist",
                                         "simplify",      "algebra",        "sum-vector-products",
                                         "own-results",   "assign-layouts", "tile",
                                         "host-copies",   "sparse-gathers", "sparse-collectives",
                                         "fuse",          "place",          "prefetch",
                                         "spill"};

const Pass* find_pass(std::string_view name) {
  const auto found = std::find_if(std::begin(kPasses), std::end(kPasses),
                                  [&](const Pass& pass) { return pass.name == name; });
  return found == std::end(kPasses) ? nullptr : &*found;
}

void give_layouts(Module& module) {
  ShapeRef before = nullptr, now = nullptr;  // the last one's: neighbours are often alike
  for (Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions) {
      ShapeRef& shape = module.instructions[id].shape;
      if (shape != before) before = shape, now = module.shapes().with_default_layouts(shape);
      shape = now;
    }
}

}  // namespace

std::span<const Pass> all_passes() { return kPasses; }

std::vector<const Pass*> default_passes() {
  std::vector<const Pass*> passes;
  for (const std::string_view name : kDefault) passes.push_back(find_pass(name));
  return passes;
}

Result<std::vector<const Pass*>> parse_passes(std::string_view names) {
  std::vector<const Pass*> passes;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    passes.push_back(find_pass(name));
    if (passes.back()) continue;
    std::vector<std::string_view> known;
    for (const Pass& pass : kPasses) known.push_back(pass.name);
    const std::string hint = did_you_mean(name, known);
    return failure(fmt::format("there is no pass '{}'", shown(name)),
                   hint.empty() ? "`hlosim lower --list-passes` lists them" : hint);
  }
  return passes;
}

PassRun::PassRun(const Module& module, const PassContext& context)
    : context_(&context),
      needs_(context.device.config),
      module_(compacted(module, context.table)),
      stage_(std::make_shared<Module>()),
      editor_(std::make_unique<ModuleEditor>(*stage_)) {}

void PassRun::go_on(std::span<const Pass* const> passes, const PassObserver& after) {
  for (const Pass* pass : passes) {
    if (context_->stop && context_->stop->asked()) break;
    if (pass->needs_layouts) give_layouts(module_);
    if (pass->asks_costs) compact();
    *stage_ = std::move(module_);
    pass->run(*editor_, *context_, needs_);
    module_ = std::move(*stage_);
    is_compact_ = false;
    drop_unreachable(module_);
    if (after) after(*pass, module_);
  }
}

PassRun PassRun::branch() const {
  PassRun other(context_, needs_);
  other.module_ = module_.copy();
  other.stage_ = stage_;
  other.editor_ = std::make_unique<ModuleEditor>(*editor_);
  other.is_compact_ = is_compact_;
  return other;
}

void PassRun::enter(const PassContext& context) {
  context_ = &context;
  needs_ = needs_.with(context.device.config);
}

void PassRun::compact() {
  if (is_compact_) return;
  module_ = compacted(std::move(module_), context_->table);
  editor_ = std::make_unique<ModuleEditor>(*stage_);
  is_compact_ = true;
}

Module PassRun::finish() && {
  compact();
  return std::move(module_);
}

Module run_passes(const Module& module, std::span<const Pass* const> passes, const PassContext& context,
                  const PassObserver& after) {
  PassRun run(module, context);
  run.go_on(passes, after);
  return std::move(run).finish();
}

}  // namespace hlosim
