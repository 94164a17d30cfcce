// The tables of elementwise kernels that each instruction set level brings (element*.kernel.cc), by kind of number.
// Only element.cc and the kernels themselves look at them.
#pragma once

#include "base/cpu.h"
#include "kernels/element.h"

namespace hlosim {

/// One function per ElementOp; null where the type has none. Results have the type of the operands, or pred.
struct ElementTable {
  ElementFn fn[kElementOpCount] = {};

  constexpr ElementFn& operator[](ElementOp op) { return fn[static_cast<int>(op)]; }
  constexpr ElementFn operator[](ElementOp op) const { return fn[static_cast<int>(op)]; }
};

HLOSIM_KERNEL_TABLE(ElementTable, kF32Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kF32Functions)
HLOSIM_KERNEL_TABLE(ElementTable, kF64Elements)

}  // namespace hlosim
