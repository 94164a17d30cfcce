// The tables of elementwise kernels that each instruction set level brings (element*.kernel.cc), by element
// type. Only element*.cc and the kernels themselves look at them.
#pragma once

#include "base/cpu.h"
#include "cpu_kernels/element.h"

namespace hlosim {

/// One function per ElementOp; null where the type has none. Results have the type of the operands, or pred.
struct ElementTable {
  ElementFn fn[kElementOpCount] = {};

  constexpr ElementFn& operator[](ElementOp op) { return fn[static_cast<int>(op)]; }
  constexpr ElementFn operator[](ElementOp op) const { return fn[static_cast<int>(op)]; }
};

HLOSIM_KERNEL_TABLE(ElementTable, kF32Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kF32Functions)  // those of kF32Elements are not among them
HLOSIM_KERNEL_TABLE(ElementTable, kF64Elements)
HLOSIM_KERNEL_TABLE(ElementTable,
                    kBf16Elements)  // what pays to have without the detour by way of arrays of f32
HLOSIM_KERNEL_TABLE(ElementTable, kS8Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kS16Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kS32Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kS64Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kU8Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kU16Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kU32Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kU64Elements)
HLOSIM_KERNEL_TABLE(ElementTable, kPredElements)

/// kSelect for values of 1, 2, 4, 8 and 16 bytes.
struct SelectTable {
  ElementFn fn[5];
};
HLOSIM_KERNEL_TABLE(SelectTable, kSelect)

/// kReducePrecision of the small floats that have infinities.
struct ReducePrecisionTable {
  ElementFn f16, bf16, f8e5m2, f8e4m3, f8e3m4;
};
HLOSIM_KERNEL_TABLE(ReducePrecisionTable, kReducePrecision)

/// Conversions between one type and all others; null where there is none. Between an integer of less than 8
/// bits and a float it is the conversion of s8 or u8.
struct ConversionTable {
  ElementFn fn[kElementTypeCount] = {};

  constexpr ElementFn& operator[](ElementType type) { return fn[static_cast<int>(type)]; }
  constexpr ElementFn operator[](ElementType type) const { return fn[static_cast<int>(type)]; }
};
HLOSIM_KERNEL_TABLE(ConversionTable, kToF32)    // pred, integers, floats
HLOSIM_KERNEL_TABLE(ConversionTable, kFromF32)  // pred, integers (saturating), floats
HLOSIM_KERNEL_TABLE(ConversionTable, kToF64)
HLOSIM_KERNEL_TABLE(ConversionTable, kFromF64)  // not to floats of at most 8 bits

/// Integers by their bits: fn[i][j] from a type of 2^i bytes to one of 2^j, signed extending the sign.
/// Results that say whether the bits are zero are pred.
struct ResizeTable {
  ElementFn extend_sign[4][4];
  ElementFn extend_zero[4][4];
  ElementFn to_pred[4];
};
HLOSIM_KERNEL_TABLE(ResizeTable, kResize)

/// Kernels of a level that call its others.
struct CompositeTable {
  /// An operation on small floats by way of f32; immediate: via_f32_immediate().
  ElementFn via_f32;
  /// A conversion with f32 in between; immediate: conversion_immediate().
  ElementFn convert_by_f32;
  /// The same with f64 rounded to an odd f32, so that the second rounding gives the same as a single one.
  ElementFn convert_from_f64_by_odd_f32;
};
HLOSIM_KERNEL_TABLE(CompositeTable, kComposites)

constexpr uint64_t via_f32_immediate(ElementType type, ElementOp op, uint64_t immediate) {
  return static_cast<uint64_t>(type) | static_cast<uint64_t>(op) << 8 | immediate << 16;
}
constexpr uint64_t conversion_immediate(ElementType from, ElementType to) {
  return static_cast<uint64_t>(from) | static_cast<uint64_t>(to) << 8;
}

}  // namespace hlosim
