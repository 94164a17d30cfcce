// What one instruction asks for, and what the body of a fusion asks for as a whole: the work of all its
// instructions, and which parts of its parameters and results go through memory. What stays inside moves
// no bytes.
//
//   AssumptionList assumptions;
//   const ComputeSummary work = summarize_work(work_of(op, core.vector_shape()), core, assumptions);
//   work.mxu_cycles;                          // of all products, on all matrix units
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "hlo/op_def.h"
#include "hlo/same_content.h"
#include "model/assumptions.h"
#include "model/core.h"
#include "model/device.h"
#include "model/instruction_cost.h"
#include "model/strided_access.h"
#include "ops/work.h"

namespace hlosim {

/// Bytes of a part of an array; `whole`: all of it, whatever its layout outside.
struct AccessPattern {
  bool whole = false;
  Bytes padded{}, logical{};
  ShortRuns runs{};      // in memory, where the part cuts through tiles
  int64_t accesses = 0;  // transfers of their own that it takes at data-dependent places
};

/// An array that comes into a fusion, or is an operand of an instruction.
struct ProductSource {
  int32_t parameter = -1, leaf = 0;
  bool operator==(const ProductSource&) const = default;
};

/// An operand of a product: which bytes the MXU takes up from where.
struct ProductOperand {
  int32_t parameter = -1, leaf = 0;    // of the fusion, or operand of the instruction; -1: computed inside
  Bytes bytes{};                       // array size of what is read
  std::vector<ProductSource> sources;  // what is computed inside is computed from these
  double convert = 0;                  // ALU slots to bring all of it into a type that the arrays know, once
  IssueSlots producers;                // of what computes all of it inside, once
};

/// The product of an instruction that takes longest.
struct MatmulPart {
  MatmulWork work;
  MatmulRate rate;
  double cycles = 0;  // of all MXUs, 0: none
  ProductOperand lhs, rhs;
};

/// Stands in ComputeSummary::costs for vpu.ops of one class of operations, and for vpu.convert of one type.
inline constexpr size_t kVectorOps = 10;
constexpr uint64_t cost_bit(VectorOp op) { return uint64_t{1} << static_cast<unsigned>(op); }
constexpr uint64_t cost_bit(ElementType converted) {
  return uint64_t{1} << (kVectorOps + static_cast<unsigned>(converted));
}

/// Work in units of a device.
struct ComputeSummary {
  double mxu_cycles = 0;  // of all products
  MatmulPart matmul;
  IssueSlots slots;
  uint64_t costs = 0;  // whose costs `slots` are: bits of cost_bit()
  Flops flops{};
  int64_t vector_operations = 0;
  int64_t transcendentals = 0;
  bool has_matmul = false, has_vector = false, emulated = false, unmodelled = false;
  double dominant_slots = 0;  // of the operation class that takes most ALU slots
  VectorOp dominant = VectorOp::kSimple;
  int64_t scattered_accesses = 0;
  double moved_tiles = 0;           // change places, each a tile or the part of it that stays together
  double regrouped_tiles = 0;       // those of them that no DMA can move
  bool regroups = false;            // by what it does, not by where its data lie
  ShortRuns hbm_reads, hbm_writes;  // of all windows that cut through tiles in HBM

  ComputeSummary& operator+=(const ComputeSummary& other);
  /// Slots to bring all of `array` from or to 32 bits; returns them.
  IssueSlots add_conversion(const Core& core, ShapeRef array);
};

struct FusionSummary {
  ComputeSummary compute;
  std::vector<std::vector<AccessPattern>> parameters;  // per parameter, per leaf
  std::vector<AccessPattern> results;                  // per leaf of the root
  Traffic constants;                                   // arrays that the body itself holds, read from HBM
  Bytes logical_constants{};
  int32_t forwarded = -1;  // parameter that is the result as it stands
};

/// Compute part of one instruction that is neither free nor a fusion. The operands of its product are taken
/// as those of the instruction.
ComputeSummary summarize_work(const Work& work, const Core& core, AssumptionList& assumptions);

/// A gather's or scatter's work on a table in HBM that has room in VMEM, and fewer bytes than the rows: the
/// table comes and goes as a whole, and rows move there. Post: `work` and `compute`, its summary, say so;
/// else they are as they were.
void move_rows_on_chip(Work& work, ComputeSummary& compute, ShapeRef table, const Core& core);

/// Summaries of every computation that a fusion of a module calls, nested fusions included. Those with
/// the same content share one.
class FusionSummaries {
 public:
  /// All outlive the object. `shapes`: the module's or a copy of them.
  FusionSummaries(const Module& module, ShapePool& shapes, const OpTable& table, const Core& core,
                  AssumptionList& assumptions);
  ~FusionSummaries();

  const FusionSummary& operator[](ComputationId body) const {
    const int32_t at = index_[body];
    return at < 0 ? none_ : summaries_[static_cast<size_t>(at)];
  }
  /// Of the bodies, before any of them was summarized anew.
  const ContentNumbers& contents() const { return contents_; }
  /// Summarizes `body` and the fusions inside it anew: instructions in it have other shapes or opcodes, or
  /// there are others. O(size of the body).
  void invalidate(ComputationId body);

 private:
  class Walk;
  const Module& module_;
  ShapePool& shapes_;
  const OpTable& table_;
  const Core& core_;
  AssumptionList& assumptions_;
  const IdMap<ComputationId, uint8_t> is_body_;
  const ContentNumbers contents_;
  const FusionSummary none_{};
  std::deque<FusionSummary> summaries_;
  IdMap<ComputationId, int32_t> index_;    // in summaries_; -1: no fusion calls it
  IdMap<ComputationId, uint8_t> is_anew_;  // its summary is its own
  std::unique_ptr<Walk> walk_;  // made when a body is first summarized anew: it is as large as the module
};

}  // namespace hlosim
