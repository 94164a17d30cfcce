// Copies between a loop and the host's memory that go on beside the whole of an iteration.
#pragma once

#include "hlo/module_editor.h"
#include "hlo/op_def.h"

namespace hlosim {

/// What a loop's body reads from an array in S(5) at a place that the loop's numbers say, it reads one iteration
/// ahead: the loop carries the value, each iteration reads the next one's and ends with putting it where the
/// last one was. What it computes and writes into such an array is written by the iteration after it: the loop
/// carries the value until then, and the last one is written behind the loop. The first iteration writes an
/// array of zeros to the place that the second one writes anew. Values that are carried take HBM twice. Returns
/// how many reads and writes there are of both kinds. Requires: every array has a layout; nothing is fused.
int pipeline_host_copies(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
