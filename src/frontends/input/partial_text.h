// Pieces of modules, as logs and profilers hold them, made whole enough to be read.
//
//   const PartialText whole = complete(source, op_table(), {});
//   for (const Diagnostic& note : whole.missing) …   // "m.txt:20:1: note: region.1 has no instructions"
//   load_modules(whole.source, op_table(), findings)
//
// Lines stay where they are: what is put in stands on the line that asked for it, or after the last one.
#pragma once

#include <vector>

#include "base/resource_limits.h"
#include "base/source.h"
#include "hlo/op_def.h"

namespace hlosim {

struct PartialText {
  SourcePtr source;                 // what was given, where nothing was missing
  std::vector<Diagnostic> missing;  // notes, with their places in the text that was given
  bool is_empty = false;            // no instruction is found, which `missing` has as an error
};

/// An unfinished last line goes; a computation without its end gets one; operands that aren't there become
/// parameters where their types are known, and without types the instruction itself does; an instruction that
/// can't be what it is without what is missing (a called computation, the other end of its chain) is a custom
/// call of its operands and result, of target "missing"; computations that nobody calls run one after the
/// other where the entry is missing, fused ones as fusions; a bare list of instructions is the entry. What is
/// wrong for other reasons is left for the reader to say.
PartialText complete(const SourcePtr& source, const OpTable& table, const Limits& limits);

}  // namespace hlosim
