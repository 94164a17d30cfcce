// The rates of one core: cycles of its units for an amount of work, the buses that DMA moves data over, and
// the VMEM that one instruction may use. Nothing else reads the device's keys of units, of DMA and of VMEM's
// windows.
//
//   const Core core(device.config);
//   core.picoseconds(core.product(work, rate).alone())      // on the MXUs of the core
//   core.picoseconds(core.vector_cycles(core.slots(work)))  // beside products
//   core.hbm_bus().time(bytes_read, bytes_written)          // of the whole device
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "layout/shape.h"
#include "model/device.h"

namespace hlosim {

struct MatmulWork;  // ops/work.h
struct VectorShape;
struct VectorWork;

/// Operations of the units that work on vectors, of all cores together.
struct IssueSlots {
  double alu = 0;     // ALU slots
  double eup = 0;     // pushes to the transcendental unit
  double xlu = 0;     // cross-lane operations
  double scalar = 0;  // operations of the scalar unit: all work on rank-0 arrays

  IssueSlots& operator+=(const IssueSlots& other) {
    alu += other.alu, eup += other.eup, xlu += other.xlu, scalar += other.scalar;
    return *this;
  }
};

/// Cycles of the MXUs of a core for one product: `steady` in a loop over products, where the next one fills
/// the arrays while this one leaves them, and `fill` once.
struct MxuCycles {
  double steady = 0, fill = 0;
  double alone() const { return steady + fill; }
};

/// A bus or port: picoseconds per byte of reads, of writes, and of both together.
struct BusRate {
  double read = 0, write = 0, total = 0;
  bool takes_turns =
      false;  // one bus: bytes read and written at the same time alternate at the rate of `total`
  /// Of bytes that are read and written at the same time.
  double time(double bytes_read, double bytes_written) const;
  /// Of one of `parts` that share it evenly.
  BusRate shared_by(double parts) const { return {read * parts, write * parts, total * parts, takes_turns}; }
};

/// A memory that DMA reaches, for one core.
struct DmaChannel {
  BusRate bus;
  double read_latency = 0, write_latency = 0;  // picoseconds
};
inline constexpr size_t kDmaChannels = 2;  // HBM, and one on-chip memory that is not VMEM
using DmaChannels = std::array<DmaChannel, kDmaChannels>;

/// How two kinds of work share the time of one loop: (a^p + b^p)^(1/p).
enum class OverlapRule : uint8_t {
  kHidden,   // the longer one hides the other: p is infinite, the result is the longer one
  kPorts,    // an XLA product and its DMA take turns at VMEM's ports: p = dma.overlap
  kWindows,  // the same of a Pallas kernel: p = kernel.dma_overlap
  kBundles,  // products and vector work of one loop share its bundles: p = kernel.overlap
  kTurns,    // one after the other: p = 1
};

/// (a^p + b^p)^(1/p), p = `exponent` >= 1: between the longer of the two and their sum, nearer to the longer
/// one the more they differ.
double power_mean(double a, double b, double exponent);

class Core {
 public:
  /// The device outlives the core.
  explicit Core(const DeviceConfig& device);
  /// Other memories behind DMA than those of the device, for a device whose cores share the work.
  Core(const DeviceConfig& device, const DmaChannels& channels) : Core(device) { channels_ = channels; }

  const DeviceConfig& device() const { return *device_; }
  /// Cores that make one device.
  double cores() const { return cores_; }
  double picoseconds(double cycles) const { return cycles * 1e12 / clock_; }
  /// The same, rounded up.
  Picoseconds time(double cycles) const { return ceil_picoseconds(picoseconds(cycles)); }

  // ── matrix unit ──

  /// Null where the device multiplies no such types.
  std::optional<MatmulRate> matmul_rate(ElementType lhs, ElementType rhs, MatmulPrecision precision) const {
    return hlosim::matmul_rate(device_->mxu, lhs, rhs, precision);
  }
  /// A type that the arrays know; invalid: there are none.
  ElementType matmul_type() const;
  /// One MXU holds a rows × columns tile of the right operand; loading a tile (latch) hides behind the rows
  /// that stream through the one before, if there are enough. The pieces are dealt out to the core's MXUs, by
  /// tiles and, where there are fewer tiles than MXUs, by rows. Operands are in VMEM. Source: openxla/xla
  /// benchmarks/pallas_microbenchmarks/cost_model.py (docs/timing_model.md).
  MxuCycles product(const MatmulWork& work, const MatmulRate& rate) const;
  /// The equation of these cycles, in names of device keys.
  static std::string_view product_equation();
  /// Cycles of all MXUs of a device that share one product.
  double product_of_all_cores(const MatmulWork& work, const MatmulRate& rate) const;
  /// The tiles of many products, one behind the other: no MXU waits for the others at the end of one.
  double product_in_loop(const MatmulWork& work, const MatmulRate& rate) const;
  /// Columns and rows of one MXU: what a block of a product is a multiple of.
  int64_t mxu_columns() const { return device_->mxu.columns; }
  int64_t mxu_rows() const { return device_->mxu.rows; }
  /// Blocks of a product aren't cut smaller: rows and columns of the result, and what is summed over. `rows`:
  /// of the left operand that one issue takes.
  struct ProductBlock {
    int64_t m = 0, n = 0, k = 0;
  };
  ProductBlock smallest_block(int64_t rows) const {
    const MxuConfig& mxu = device_->mxu;
    return {std::max(mxu.block_rows, rows), std::max(mxu.block_columns, mxu.columns),
            std::max(mxu.block_depth, 2 * mxu.rows)};
  }
  /// Vector work of a product that its own bundles have no slots for, in the unit of the arguments: `vector`
  /// is what it takes in bundles of its own, `mxu` the product.
  double exposed_vector(double vector, double mxu) const;

  // ── vector units: operations to cycles ──

  double alu_cycles(double slots) const { return slots / alus_; }
  double eup_cycles(double pushes) const { return pushes * eup_; }
  double xlu_cycles(double crossings) const { return crossings * xlu_; }
  double scalar_cycles(double operations) const { return operations * scalar_; }
  /// The longest of ALUs, EUP and XLU.
  double vector_cycles(const IssueSlots& slots) const;
  /// In bundles with all their ALU and EUP slots.
  double bundle_cycles(const IssueSlots& slots) const;

  // ── vector units: work to operations ──

  int64_t lanes() const { return device_->vpu.lanes; }
  int64_t sublanes() const { return device_->vpu.sublanes; }
  VectorShape vector_shape() const;
  /// 32-bit elements of one register.
  double register_elements() const;
  /// Registers of 32-bit lanes that hold the array as it lies in memory, padding included: two per register
  /// of 64-bit elements, half of one where the vector unit has arithmetic for a 16-bit type. Arrays without
  /// tiles are taken as if padded to whole registers. 0 for scalars.
  double registers(ShapeRef array) const;
  IssueSlots slots(const VectorWork& work) const;
  IssueSlots slots(VectorOp op, double registers) const;
  /// ALU slots to bring one register from or to 32 bits; none for types with arithmetic of their own.
  double conversion_slots(ElementType type) const { return hlosim::conversion_slots(device_->vpu, type); }
  /// To bring all of `array` from or to 32 bits; nothing for types with arithmetic of their own.
  IssueSlots conversion(ShapeRef array) const;
  /// The vector unit calculates in the type.
  bool is_native(ElementType type) const;

  // ── DMA and VMEM ──

  /// HBM as DMA of `cores` cores reaches it, all of them together.
  BusRate hbm_bus(double cores) const;
  BusRate hbm_bus() const { return hbm_bus(cores_); }
  /// The ports of a memory space, of the whole device.
  BusRate bus(const MemorySpace& space) const;
  /// Until the first bytes have come, and until the last ones have arrived.
  Picoseconds dma_latency(bool reads, bool writes) const;
  /// To issue one transfer.
  Picoseconds issue_time() const { return duration(device_->dma.issue, device_->clock); }
  /// Transfers that may be under way at once, of all cores.
  double transfers_in_flight() const;
  /// How long `transfers` of `latency` each take that don't wait for each other.
  Picoseconds latency_in_flight(double transfers, Picoseconds latency) const;
  /// Scalar-unit cycles to issue `transfers`, if all cores share them.
  double issue_cycles(double transfers) const;
  /// What scattered accesses occupy of HBM at least: a transfer is never shorter than a run at the full rate.
  Bytes scattered_bytes(double accesses) const;
  /// Of runs in HBM that are shorter than a register, in groups of `rows` at one distance; of the whole
  /// device.
  Picoseconds short_runs_time(double runs, double rows) const;
  /// To move tiles, or parts of them, from one place in VMEM to another: cycles if all cores share them.
  double tile_move_cycles(double tiles) const;
  /// The index of a memory space in DmaChannels; -1: no DMA, or none that takes time.
  int channel_of(const MemorySpace* space) const {
    return space == &device_->hbm() ? 0 : space && space == other_memory_ ? 1 : -1;
  }
  /// What one of all cores reaches while the others move as much.
  const DmaChannels& channels() const { return channels_; }
  /// The same for one of `cores` cores.
  DmaChannels channels(double cores) const;

  // ── overlap ──

  /// Of two kinds of work in one loop, in the unit of the arguments.
  double overlapped(double a, double b, OverlapRule overlap) const {
    if (overlap == OverlapRule::kHidden) return std::max(a, b);
    if (overlap == OverlapRule::kTurns) return a + b;
    if (overlap == OverlapRule::kPorts) return power_mean(a, b, device_->dma.overlap);
    return power_mean(
        a, b, overlap == OverlapRule::kWindows ? device_->kernel.dma_overlap : device_->kernel.overlap);
  }
  /// VMEM that one instruction may use for its blocks: the scoped limit without the part that the compiler
  /// keeps.
  Bytes vmem_budget() const { return vmem_budget(device_->vmem.scoped_limit); }
  /// The same under another scoped limit.
  Bytes vmem_budget(Bytes scoped_limit) const {
    return std::max(scoped_limit - device_->vmem.internal_scratch, Bytes(0));
  }
  /// Whether instructions stream their operands through windows of VMEM, none of them smaller than
  /// smallest_window().
  bool has_windows() const { return device_->vmem.transaction.count() > 0; }
  Bytes smallest_window() const { return std::max(device_->vmem.transaction, Bytes(1)); }

 private:
  MxuCycles product_on(const MatmulWork& work, const MatmulRate& rate, int64_t units) const;

  const DeviceConfig* device_;
  const MemorySpace* other_memory_ = nullptr;  // on the chip beside VMEM, if its traffic takes time
  DmaChannels channels_;                       // of each of cores() cores
  double clock_, cores_, alus_;
  double eup_, xlu_, scalar_;  // cycles per operation, all units of the kind together
};

}  // namespace hlosim
