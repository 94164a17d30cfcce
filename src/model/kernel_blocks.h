// Kernels of instructions without a body of their own: streams, matrix products and ragged products, in the
// blocks that take least time.
//
// Block sizes are powers of two, or a little less so that all of a dimension's blocks are equally long, or
// the whole dimension. Of those that fit into the VMEM budget the fastest are taken, so that more of any
// resource never makes an instruction slower. docs/timing_model.md derives the candidates.
//
//   const TimedKernel planned = product_kernel(core, work);
//   planned.time.time                              // picoseconds of one core
#pragma once

#include <optional>

#include "model/kernel_time.h"
#include "ops/work.h"

namespace hlosim {

/// What streams past the units, of all cores: bytes, and picoseconds of units. `units.mxu` is not used.
struct StreamWork {
  BlockTraffic bytes;
  UnitWork units;
  bool in_few_blocks = false;  // in the largest blocks that fit
  bool operator==(const StreamWork&) const = default;
};

/// An operand of a product.
struct ProductInput {
  double bytes = 0;     // of the whole array as it lies in memory
  int8_t channel = -1;  // DMA channel; -1: in VMEM already
  double convert = 0;   // picoseconds of the vector unit to convert all of it once, all cores
  double bundles = 0;   // picoseconds of bundles in which the vector unit computes all of it once, all cores
  bool operator==(const ProductInput&) const = default;
};

/// A product, of all cores.
struct ProductWork {
  MatmulWork matmul;
  MatmulRate rate;
  ProductInput lhs, rhs;
  double further_mxu = 0;       // picoseconds of other products of the instruction
  double groups = 0;            // of rows that have any, in a product of groups of rows
  double epilogue_bundles = 0;  // picoseconds of bundles for the results
  StreamWork other;             // all other bytes and units
  bool operator==(const ProductWork&) const = default;
};

/// Numbers of blocks that a module's text gives, of all cores together, and what the cores share, if it says.
struct GivenBlocks {
  int64_t m = 0, n = 0, k = 0;
  SharedDimension shared = SharedDimension::kNone;
  bool operator==(const GivenBlocks&) const = default;
};

TimedKernel stream_kernel(const Core& core, const StreamWork& work);

/// With `given`, the blocks are these, whether they fit or not.
TimedKernel product_kernel(const Core& core, const ProductWork& work,
                           const std::optional<GivenBlocks>& given = {});

/// A product of groups of rows runs in the kernel of model servers: all with kernel.ragged_walk = served, and
/// by groups those of one tile of that kernel (kernel.served_rows) that fill no tile of kernel.ragged_rows.
/// What bounds these is reading weights.
/// A product whose text states tiles is neither, unless all are servers'.
bool runs_in_served_kernel(const MatmulWork& work, const KernelConfig& config);

/// The kernel goes through the visits of tiles (pallas/grouped_product.h): with kernel.ragged_walk = visits,
/// and where the text states the tiles.
bool walks_visits(const MatmulWork& work, const KernelConfig& config);

/// A product whose groups have sizes that are data: the kernel walks over the tiles of one group after the
/// other. Units take turns, as sums, masks and stores wait for the products; the weights of the next group
/// come when it begins. Fitted as a sum to ragged dots of v7x and v5p: with units that overlap it is three
/// times too fast. Where it walks_visits() it is the kernel of pallas/grouped_product.h.
///
/// Servers' kernel (vllm-project/tpu-inference, kernels/megablox/gmm_v2.py) has tiles of kernel.served_rows
/// of a group and of the whole depth, with as many columns as fit into VMEM beside kernel.served_buffers of
/// weights, so that the next groups' weights come while this one has its product. Weights of the whole depth
/// stay for all tiles of their group.
TimedKernel ragged_kernel(const Core& core, const ProductWork& work);

}  // namespace hlosim
