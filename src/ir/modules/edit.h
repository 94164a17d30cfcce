// What rewriting a whole module takes besides a ModuleEditor.
//
//   Module fresh = module.copy();
//   drop_header(fresh, AttrKey::kIsScheduled);
//   drop_unreachable(fresh);
#pragma once

#include <vector>

#include "hlo/graph.h"
#include "hlo/module.h"
#include "hlo/module_editor.h"
#include "hlo/op_def.h"

namespace hlosim {

/// The header says that the order of instructions is the one in which they run.
void mark_scheduled(Module& module);

/// The header says nothing of `key` any more.
void drop_header(Module& module, AttrKey key);

/// Computations that the entry doesn't reach are gone, those that stay have other ids.
void drop_unreachable(Module& module);

/// Instructions of `id` that its root or a side effect needs, in their order.
std::vector<InstructionId> needed_instructions(const Module& module, const OpTable& table, ComputationId id);

}  // namespace hlosim
