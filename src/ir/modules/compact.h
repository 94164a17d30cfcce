// A module without what editing left behind.
//
//   ModuleEditor(module).replace_everywhere(computation, from, to);   // `from` is still there, unlisted
//   module = compacted(module, op_table());                           // now it is gone
#pragma once

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// The module as somebody who reads its text would have it: only what computations list, ids in the order of
/// the text (callees first), every array with a layout, the operation that an async start wraps as the
/// start's shape and attributes say. Instructions still point to the places in the source that they came
/// from. Requires: operands stand before their users.
Module compacted(const Module& module, const OpTable& table);
/// The same of a module that nobody needs as it was, without a copy of it in between.
Module compacted(Module&& module, const OpTable& table);

/// Internal to src/ir/modules. Whether compacted() returns the module unchanged. May be false for modules of
/// which it would make an equal copy. Adds shapes, nothing else.
bool is_compact(Module& module, const OpTable& table);
/// Internal to src/ir/modules: compacted(), of a module that is compact too.
Module made_compact(Module&& module, const OpTable& table);

}  // namespace hlosim
