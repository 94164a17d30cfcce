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

}  // namespace hlosim
