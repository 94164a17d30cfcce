// What loops read from the host's memory and write to it, in the background: slices of arrays in S(5) become
// asynchronous, so that PCIe works beside the TensorCore.
//
//   host_copies(editor);               // dynamic-slice from S(5), dynamic-update-slice into S(5)
#pragma once

#include "hlo/module_editor.h"

namespace hlosim {

/// A read starts once its indices are known and ends before its first user; a write starts when its value is
/// there and ends before the computation's root.
void host_copies(ModuleEditor& editor);

/// The starts of a scheduled module's asynchronous copies from and to S(5) come as early as what they need allows,
/// their ends right before their first user: as many are under way at a time as there are.
void spread_host_copies(Module& module);

}  // namespace hlosim
