// A kernel: what one core executes for one instruction. It is a grid of steps. In each step the units work on
// blocks of arrays that lie in windows of VMEM, while DMA brings in the blocks of the next step and takes
// away those of the one before.
//
// Streams, matrix products, ragged products, attention, losses and the bodies of Pallas kernels are all
// Kernels. model/kernel_time.h has the one equation of their time, model/kernel_blocks.h chooses blocks.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string_view>

#include "model/core.h"

namespace hlosim {

/// Bytes in and out by DMA channel. Arrays in VMEM take none.
struct BlockTraffic {
  std::array<double, kDmaChannels> in{}, out{};
  bool operator==(const BlockTraffic&) const = default;
};

/// Picoseconds of a core's units for `steps` alike steps together.
struct UnitWork {
  double mxu = 0;
  double around = 0;  // bundles of vector work around a product; most of them are free slots of the product's
  double vpu = 0, eup = 0, xlu = 0;
  double scalar = 0;
  double ports = 0;   // loads and stores at VMEM's ports
  double copies = 0;  // DMA beside the windows: from the host, or started by the body of a kernel itself
  double apart = 0;   // vector work on whole blocks, with no product beside it
  double begin = 0;   // steps begin, and wait for their first product
  double waits = 0;   // transfers that the units wait for
  double steps = 1;
  bool operator==(const UnitWork&) const = default;
};

/// Steps that take equally long.
struct StepClass {
  double count = 0;
  uint32_t work = 0;     // index into Kernel::works
  BlockTraffic traffic;  // that DMA moves during one of these steps
};

/// Blocks of one array in VMEM.
struct VmemWindow {
  double bytes = 0;    // of one block
  double fetches = 0;  // blocks that come in or go out, of all cores
  int8_t buffers = 2;
  bool is_result = false;
};

/// The dimension of a product that the cores of a device share.
enum class SharedDimension : uint8_t { kNone, kBatch, kRows, kColumns };

/// "none", "batch", "rows", "columns"
std::string_view to_text(SharedDimension shared);

/// Sizes of a product's blocks: [m,k] x [k,n], `batch` of them. m = 0: it is no product.
struct ProductBlocks {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  bool rows_outside = false;  // blocks of rows change slowest, else blocks of columns
  bool given = false;         // by the module's text
  SharedDimension shared = SharedDimension::kNone;
};

/// When the transfers of a step are asked for.
enum class Requests : uint8_t {
  kAhead,     // early enough that their latency is hidden
  kWhenFree,  // when the last block but one has been worked on and has left: two buffers
  kAtOnce,    // all blocks of the class together, with one latency
};

struct Kernel {
  double cores = 1;                              // that share the work; everything else is of one of them
  OverlapRule units = OverlapRule::kHidden;      // of a step's MXU, vector and other work
  OverlapRule transfers = OverlapRule::kHidden;  // of a step's units and its transfers
  Requests requests = Requests::kAhead;
  BlockTraffic first, last;  // nothing runs beside these
  double waits = 0;          // picoseconds of further latencies that nothing hides
  double scratch = 0;        // bytes of VMEM beside the windows
  double grid_steps = 1;     // of the grid; classes may have several steps together
  ProductBlocks blocks;
  double lhs_times = 1, rhs_times = 1;  // how often the operands of a product are read, by all cores together
  boost::container::small_vector<UnitWork, 1> works;
  boost::container::small_vector<StepClass, 4> steps;
  boost::container::small_vector<VmemWindow, 4> windows;

  /// Some of its blocks come or go by DMA.
  bool uses_dma() const;
  /// Bytes of VMEM that a core needs: all buffers of its windows, and scratch.
  double vmem() const;
};

}  // namespace hlosim
