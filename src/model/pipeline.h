// The inside of one instruction: blocks of its operands come from HBM into VMEM, the units work on them,
// blocks of the result go back; two blocks of each are held, so that the next one comes in and the last one
// goes out while the units work.
//
//   time = first blocks in + one step's work + last block out
//        + Σ over the other steps of work of a step and blocks in and out of a step, side by side
//
// Side by side is the longer of the two for a stream; of a product (a^p + b^p)^(1/p), p = dma.overlap, as
// blocks that come and go take turns with the arrays at VMEM's ports and don't come at even distances.
//
// Block sizes are powers of two, or a little less so that all of a dimension's are as long, or the whole
// dimension; of those that fit into the scratch part of VMEM the best are taken, so that more of anything
// never makes it slower. docs/timing_model.md has the equations.
//
// All times are picoseconds of one core: a device of several cores splits a product by rows, columns or
// batch, and anything else evenly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/units.h"
#include "model/core.h"
#include "ops/work.h"

namespace hlosim {

/// A place that DMA reaches: HBM, or on-chip memory beside VMEM; of one core.
struct DmaChannel {
  BusRate bus;
  double read_latency = 0, write_latency = 0;  // picoseconds
};
inline constexpr size_t kDmaChannels = 2;  // HBM, and one on-chip memory that is not VMEM

/// Bytes in and out by channel; what lies in VMEM takes none.
struct BlockTraffic {
  std::array<double, kDmaChannels> in{}, out{};
};

/// One operand of a product, or its result.
struct PipelineOperand {
  double bytes = 0;     // of the whole array as it lies in memory
  int8_t channel = -1;  // DMA channel; -1: in VMEM already
};

/// What one core's pipeline has to do.
struct PipelineTask {
  const MatmulWork* matmul = nullptr;  // null: a stream of independent blocks
  const MatmulRate* rate = nullptr;
  PipelineOperand lhs, rhs;
  double extra_mxu = 0;                     // further products of the instruction, all cores
  double lhs_convert = 0, rhs_convert = 0;  // vector unit, all of the operand once, all cores
  // Bundles in which the vector unit computes all of an operand once, all cores.
  double lhs_bundles = 0, rhs_bundles = 0;
  double epilogue_bundles = 0;  // and what becomes of the results
  BlockTraffic other;           // everything else, all cores
  double vector = 0;            // vector unit, all cores, conversions of operands left out
  double others = 0;            // the longest of the other units, all cores
  double other_bytes = 0;       // all of `other`: what a step has of it lies in VMEM
  bool in_few_blocks = false;   // a stream in the largest blocks that fit
};

/// Blocks of a product.
struct Blocks {
  int64_t batch = 1, m = 1, n = 1, k = 1;  // numbers of blocks, all cores
};

/// How the work goes, and how long it takes.
struct PipelinePlan {
  int64_t steps = 1;  // of one core
  Blocks blocks;      // of one core
  int64_t block_batch = 1, block_m = 0, block_n = 0, block_k = 0;
  char split = '-';           // dimension that cores share: b, m, n; '-': one core, or a stream
  bool rows_outside = false;  // rows change slowest, else columns
  double time = 0;            // the whole
  double first_in = 0, last_out = 0;
  double step_work = 0;                      // units
  double step_dma = 0;                       // typical step
  double mxu = 0, vector = 0;                // all steps of one core
  double operand_work = 0, result_work = 0;  // vector unit around a product, one core
  double exposed = 0;                        // by which it makes the product longer
  double lhs_times = 1, rhs_times = 1;       // how often the operand is read, all cores together
  double vmem = 0;                           // bytes held
};

/// Numbers of blocks that a module's text states, all cores together, and what cores share ('m', 'n'; '-':
/// not said).
struct GivenBlocks {
  int64_t m = 0, n = 0, k = 0;
  char split = '-';
};

class PipelineModel {
 public:
  /// `channels`: HBM, then the other one; without rates where there is none.
  PipelineModel(const Core& core, const std::array<DmaChannel, kDmaChannels>& channels);

  /// The plan that takes least time; with `given`, the one with these blocks.
  PipelinePlan plan(const PipelineTask& task, const std::optional<GivenBlocks>& given = {}) const;

 private:
  struct Search;
  PipelinePlan stream(const PipelineTask& task) const;
  PipelinePlan product(const PipelineTask& task, const std::optional<GivenBlocks>& given) const;
  PipelinePlan ragged(const PipelineTask& task) const;
  void consider(const PipelineTask& task, char split, const GivenBlocks* given, PipelinePlan& best) const;
  double transfer(const BlockTraffic& block) const;
  double dma(const BlockTraffic& block) const;  // and its latencies

  Core core_;
  std::array<DmaChannel, kDmaChannels> channels_{};
  double cores_ = 1;
  double scratch_ = 0;  // bytes of VMEM per core
};

}  // namespace hlosim
