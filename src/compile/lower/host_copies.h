// What loops read from the host's memory and write to it, in the background: slices of arrays in S(5) become
// asynchronous, so that PCIe works beside the TensorCore.
//
//   host_copies(editor);               // dynamic-slice from S(5), dynamic-update-slice into S(5)
#pragma once

#include "hlo/module_editor.h"
#include "hlo/op_def.h"

namespace hlosim {

/// A read starts once its indices are known and ends before its first user; a write starts when its value is
/// there and ends before the computation's root.
void host_copies(ModuleEditor& editor);

/// The starts of a scheduled module's asynchronous copies from and to S(5) come as early as what they need
/// allows,
/// their ends right before their first user: as many are under way at a time as there are.
void spread_host_copies(Module& module);

/// What a loop's body reads from an array in S(5) at a place that the loop's numbers say, it reads one
/// iteration
/// ahead: the loop carries the value, each iteration reads the next one's and ends with putting it where the
/// last one was. What it computes and writes into such an array is written by the iteration after it: the
/// loop
/// carries the value until then, and the last one is written behind the loop. The first iteration writes an
/// array of zeros to the place that the second one writes anew. Values that are carried take HBM twice.
/// Returns
/// how many reads and writes there are of both kinds. Requires: every array has a layout; nothing is fused.
int pipeline_host_copies(ModuleEditor& editor, const OpTable& table);

}  // namespace hlosim
