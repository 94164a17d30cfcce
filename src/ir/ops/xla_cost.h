// Counters that agree with XLA's HloCostAnalysis (xla/service/hlo_cost_analysis.cc, August 2026, with
// 8-byte pointers and the default shape sizes), so that figures can be compared with
// compiled.cost_analysis(). Its flaws are kept: padding and tiles are ignored, a while loop counts
// once, custom calls count -1. Nothing of hlosim's own timing comes from here.
//
// XLA sums in single precision, in the order of a depth-first walk from the roots; so do we, as
// above 2^24 the roundings show.
//
//   const XlaCostContext costs(module, op_table());
//   costs.of(module.entry).flops                   // as compiled.cost_analysis()["flops"]
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"
#include "hlo/op_def.h"
#include "hlo/user_index.h"

namespace hlosim {

struct XlaCost {
  float flops = 0;
  float transcendentals = 0;
  float bytes_accessed = 0;
  /// Parts of bytes_accessed; for one instruction only, sums over computations leave them empty.
  std::vector<float> operand_bytes;
  float output_bytes = 0;
};

/// Bytes of a shape's top-level buffer: elements times their width (the layout's E(n) if it has one),
/// 8 per element of a tuple, 8 for opaque, 0 for a token.
int64_t xla_byte_size(ShapeRef shape);

/// The same summed over the leaves of a tuple, without any table of pointers.
int64_t xla_leaf_bytes(ShapeRef shape);

/// Costs of a module: called computations first, then the instructions that call them.
class XlaCostContext {
 public:
  /// Requires: a verified module. O(instructions + operands).
  XlaCostContext(Module& module, const OpTable& table);

  /// Sum over the instructions of a computation.
  const XlaCost& of(ComputationId id) const { return computations_[id]; }
  const XlaCost& of(InstructionId id) const { return instructions_[id]; }

  /// Bytes that a fusion reads of its operand `parameter`: slices of it count as their own size,
  /// other users share one read. Requires: `fused` is called by a fusion.
  int64_t fusion_operand_bytes(ComputationId fused, size_t parameter) const;

 private:
  void visit(ComputationId id);
  std::vector<InstructionId> visit_order(ComputationId id);
  void measure_reads(ComputationId fused);
  int64_t bytes_read(InstructionId value) const;
  int64_t bytes_read_by_fusion(InstructionId value, InstructionId fusion_id) const;
  int64_t tuple_bytes_read(InstructionId value, ShapeRef shape) const;

  Module& module_;
  const OpTable& table_;
  IdMap<InstructionId, XlaCost> instructions_;
  IdMap<ComputationId, XlaCost> computations_;
  UserIndex users_;
  IdMap<InstructionId, uint8_t> visited_;
  IdMap<InstructionId, int64_t> bytes_read_;  // of parameters and tuple elements in fused computations
};

}  // namespace hlosim
