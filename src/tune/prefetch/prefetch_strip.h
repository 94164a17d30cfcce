// A module without the copies to on-chip memory and back that a compiler put in.
//
//   ModuleEditor editor(module);
//   const StripSummary stripped = strip_prefetches(editor, table, device.config);
//   std::cout << stripped.copies << " copies less";
#pragma once

#include "hlo/module_editor.h"
#include "hlo/op_def.h"
#include "model/device.h"

namespace hlosim {

struct StripSummary {
  int64_t copies = 0;    // taken out, slices of sliced ones included
  int64_t values = 0;    // instructions whose result, or a part of it, moved to HBM
  bool changed = false;  // anything; else the module is as it was
};

/// Takes out asynchronous copies and slices whose only work is to bring an array from one of HBM and on-chip
/// memory to the other, and synchronous ones outside of what loops carry; everything else that is on the chip
/// goes to HBM, parameters of the entry excepted. The order of instructions stays.
StripSummary strip_prefetches(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device);

}  // namespace hlosim
