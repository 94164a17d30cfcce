// Cycles of the matrix and vector units for one piece of work, all cores of a device together.
//
//   const MatmulWork work{.m = 256, .n = 256, .k = 256};
//   const double cycles = mxu_cycles(device.config, work, rate);           // of all MXUs together
//   const VectorSlots slots = vector_slots(device.config.vpu, {VectorOp::kSimple, shape, 1});
#pragma once

#include <cstdint>

#include "base/units.h"
#include "layout/shape.h"
#include "model/device.h"

namespace hlosim {

struct MatmulWork;  // ops/work.h
struct VectorWork;

/// Cycles that the MXUs of `device` need for `work` once its operands are in VMEM. One MXU holds a
/// rows × columns tile of the right operand; loading a tile (latch) hides behind the rows that stream
/// through the one before, if there are enough. The pieces are dealt out to all MXUs, by tiles and, where
/// there are fewer tiles than MXUs, by rows.
/// Source: openxla/xla benchmarks/pallas_microbenchmarks/cost_model.py (docs/timing_model.md).
double mxu_cycles(const DeviceConfig& device, const MatmulWork& work, const MatmulRate& rate);
/// The same for the MXUs of one core.
double core_mxu_cycles(const DeviceConfig& device, const MatmulWork& work, const MatmulRate& rate);

/// What vector work takes of the units, in operations of all cores together.
struct VectorSlots {
  double alu = 0;     // ALU slots
  double eup = 0;     // pushes to the transcendental unit
  double xlu = 0;     // cross-lane operations
  double scalar = 0;  // operations of the scalar unit: all work on rank-0 arrays

  VectorSlots& operator+=(const VectorSlots& other) {
    alu += other.alu, eup += other.eup, xlu += other.xlu, scalar += other.scalar;
    return *this;
  }
};

/// How long two kinds of work take in one loop, where the longer one hides the other the better the more they
/// differ: (a^p + b^p)^(1/p), p = `exponent`.
double side_by_side(double a, double b, double exponent);

/// Registers of 32-bit lanes that hold the array as it lies in memory, padding included: two per 1024
/// elements of 64 bits, half of one where the vector unit has arithmetic for a 16-bit type. Arrays without
/// tiles are taken as if padded to whole registers. 0 for scalars.
double vector_registers(const VpuConfig& vpu, ShapeRef array);

VectorSlots vector_slots(const VpuConfig& vpu, const VectorWork& work);
/// To bring all of `array` from or to 32 bits; nothing for types with arithmetic of their own.
VectorSlots conversion_work(const VpuConfig& vpu, ShapeRef array);

}  // namespace hlosim
