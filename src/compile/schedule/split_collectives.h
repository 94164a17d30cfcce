// Collectives that the TensorCore waits for become pairs of start and done, with room for other work between.
//
//   Result<Module> split = split_collectives(module, op_table());
//   // y = all-reduce(x)  →  y.start = all-reduce-start(x), y = all-reduce-done(y.start)
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "modules/edit.h"

namespace hlosim {

/// What became of one collective.
struct SplitCollective {
  std::string name;         // as it was
  std::string start, done;  // as they are
};

/// Every synchronous collective that runs as such (entry, loops, branches, calls) becomes a start with its
/// done right behind it, in the forms that XLA writes: all-reduce, all-gather and collective-permute have
/// opcodes of their own, the others are wrapped by an async-start. What waited for the collective, by operand
/// or control-predecessors, waits for the done. Requires: a verified module. Post: it verifies once it has
/// been read again, and computes the same. Those named in `whole` stay.
std::vector<SplitCollective> split_collectives(ModuleEditor& editor, const OpTable& table,
                                               const std::set<std::string, std::less<>>& whole = {});

/// The same as a module of its own.
Module split_collectives(const Module& module, const OpTable& table);

}  // namespace hlosim
