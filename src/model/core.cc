#include "model/core.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rounding.h"
#include "layout/sizes.h"
#include "ops/work.h"

namespace hlosim {
namespace {

double ceil_div(double a, double b) { return std::ceil(a / b); }

double cycles_per_operation(const UnitConfig& unit) {
  return as_double(unit.cadence.count()) / as_double(std::max<int64_t>(unit.count, 1));
}

/// What one product is for one MXU: `stream` cycles for the rows of the left operand through one tile of the
/// right one, `latch` cycles to load a tile.
struct TileWork {
  double issues = 0, tiles = 0, latch = 0;
};

TileWork tiles_of(const MatmulWork& work, const MatmulRate& rate, const MxuConfig& mxu) {
  const double depth = as_double(mxu.rows), k = as_double(work.k);
  // A tile that is not full deep loads fewer rows.
  return {ceil_div(as_double(work.m), as_double(rate.rows)),
          as_double(work.batch) * ceil_div(k, depth) * ceil_div(as_double(work.n), as_double(mxu.columns)),
          as_double(rate.latch_cadence.count()) * ceil_div(std::min(k, depth), as_double(rate.latch_rows))};
}

bool is_empty(const MatmulWork& work) { return work.batch == 0 || work.m == 0 || work.n == 0 || work.k == 0; }

}  // namespace

double BusRate::time(double bytes_read, double bytes_written) const {
  if (!takes_turns)
    return std::max({bytes_read * read, bytes_written * write, (bytes_read + bytes_written) * total});
  const double both = std::min(bytes_read, bytes_written);
  return both * std::max(2 * total, read + write) + (bytes_read - both) * read +
         (bytes_written - both) * write;
}

Core::Core(const DeviceConfig& device)
    : device_(&device),
      clock_(device.clock.count()),
      cores_(as_double(device.cores)),
      alus_(as_double(std::max<int64_t>(device.vpu.alus, 1))),
      eup_(cycles_per_operation(device.eup)),
      xlu_(cycles_per_operation(device.xlu)),
      scalar_(cycles_per_operation(device.scalar)) {
  for (const MemorySpace& space : device.memory) {
    if (&space == &device.hbm() || &space == &device.vmem_space() || space.scope == MemoryScope::kHost)
      continue;
    const BusRate rate = bus(space);
    if (rate.read + rate.write + rate.total <= 0) continue;
    other_memory_ = &space;
    break;
  }
  channels_ = channels(cores_);
}

// ── matrix unit ──

ElementType Core::matmul_type() const {
  return device_->mxu.types.empty() ? ElementType::kInvalid : device_->mxu.types.front().type;
}

MxuCycles Core::product_on(const MatmulWork& work, const MatmulRate& rate, int64_t units) const {
  if (is_empty(work)) return {};
  const TileWork tile = tiles_of(work, rate, device_->mxu);
  const auto passes = as_double(rate.passes);
  MxuCycles best;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t parts = 1; parts <= units; ++parts) {
    const auto split = as_double(parts);
    if (parts > 1 && split > tile.issues) break;
    const double stream = as_double(rate.cadence.count()) * ceil_div(tile.issues, split);
    // Loading a tile hides behind the stream through the one before, or hides it.
    const MxuCycles cycles = {
        std::max(stream, tile.latch) * ceil_div(tile.tiles * split, as_double(units)) * passes,
        (std::min(stream, tile.latch) + as_double(rate.latency.count())) * passes};
    if (cycles.alone() < least) best = cycles, least = cycles.alone();
  }
  return best;
}

MxuCycles Core::product(const MatmulWork& work, const MatmulRate& rate) const {
  return product_on(work, rate, device_->mxu.count);
}

std::string_view Core::product_equation() {
  return "steps x passes x (cadence x issues x t + latch + max(latch - cadence x issues, 0) x (t - 1) "
         "+ latency) / clock,\n"
         "issues = ceil(bm / rows / r), t = ceil(tiles x r / count), tiles = batch x ceil(bk / depth) x "
         "ceil(bn / width),\n"
         "latch = latch cadence x ceil(min(bk, depth) / latch rows), r the best of 1 ... count";
}

double Core::product_of_all_cores(const MatmulWork& work, const MatmulRate& rate) const {
  return product_on(work, rate, device_->mxu.count * device_->cores).alone();
}

double Core::product_in_loop(const MatmulWork& work, const MatmulRate& rate) const {
  if (is_empty(work)) return 0;
  const TileWork tile = tiles_of(work, rate, device_->mxu);
  const double stream = as_double(rate.cadence.count()) * tile.issues;
  return tile.tiles * std::max(stream, tile.latch) / as_double(device_->mxu.count) * as_double(rate.passes);
}

double Core::exposed_vector(double vector, double mxu) const {
  return device_->mxu.vector_exposed * vector + device_->mxu.vector_stalls * mxu;
}

// ── vector units ──

double Core::vector_cycles(const IssueSlots& slots) const {
  return std::max({alu_cycles(slots.alu), eup_cycles(slots.eup), xlu_cycles(slots.xlu)});
}

double Core::bundle_cycles(const IssueSlots& slots) const {
  return std::max({alu_cycles(slots.alu), eup_cycles(slots.eup), 0.0});
}

double Core::register_elements() const { return as_double(device_->vpu.lanes * device_->vpu.sublanes); }

bool Core::is_native(ElementType type) const {
  const std::vector<ElementType>& native = device_->vpu.native_types;
  return std::find(native.begin(), native.end(), type) != native.end();
}

double Core::registers(ShapeRef array) const {
  if (!array->is_array() || array->rank() == 0) return 0;
  const VpuConfig& vpu = device_->vpu;
  const double whole = register_elements();
  double elements = 0;
  if (array->layout && !array->layout->tiles.empty()) {
    elements = static_cast<double>(allocated_elements(array));
  } else {
    const auto dimension = [&](int64_t k) {  // the k-th fastest
      if (k >= array->rank()) return int64_t{1};
      return array->dim(array->layout ? array->layout->minor_to_major[static_cast<size_t>(k)]
                                      : array->rank() - 1 - k);
    };
    const auto minor = static_cast<double>(dimension(0)), second = static_cast<double>(dimension(1));
    if (minor <= 0 || second <= 0) return 0;
    elements = array->rank() == 1 ? minor
                                  : static_cast<double>(array->element_count()) / (minor * second) *
                                        ceil_div(minor, static_cast<double>(vpu.lanes)) *
                                        ceil_div(second, static_cast<double>(vpu.sublanes)) * whole;
  }
  const int bits = is_native(array->element_type) ? bit_width(array->element_type)
                                                  : std::max(bit_width(array->element_type), 32);
  return std::ceil(elements * bits / 32 / whole);
}

IssueSlots Core::slots(VectorOp op, double registers) const {
  const VectorOpCost& cost = op_cost(device_->vpu, op);
  return {.alu = registers * cost.alu, .eup = registers * cost.eup, .xlu = registers * cost.xlu};
}

VectorShape Core::vector_shape() const {
  const VpuConfig& vpu = device_->vpu;
  return {vpu.lanes,          vpu.sublanes,       vpu.reduction_window, device_->kernel.ragged_turn_columns,
          vpu.reduction_mask, vpu.divisor_repeats};
}

IssueSlots Core::slots(const VectorWork& work) const {
  if (!work.shape) return {};
  if (work.shape->is_scalar()) return {.scalar = work.per_element};
  // The cross-lane units take lanes x sublanes elements of a transpose as long whatever their width. A kernel
  // that turns its own operand widens it no further than to a type with arithmetic.
  const int bits = bit_width(work.shape->element_type);
  const bool is_packed = bits < 32 && is_native(work.shape->element_type);
  double width = 1;
  if (work.op == VectorOp::kTranspose && is_packed) width = 32.0 / bits;
  if (work.op == VectorOp::kGroupTurn && bits < 32 && !is_packed) {
    int narrowest = 32;
    for (const ElementType type : device_->vpu.native_types)
      if (bit_width(type) >= bits) narrowest = std::min(narrowest, bit_width(type));
    width = narrowest / 32.0;
  }
  return slots(work.op, registers(work.shape) * work.per_element * width);
}

IssueSlots Core::conversion(ShapeRef array) const {
  if (!array->is_array() || array->rank() == 0) return {};
  const double per_register = conversion_slots(array->element_type);
  return {.alu = per_register > 0 ? registers(array) * per_register : 0};
}

// ── DMA and VMEM ──

BusRate Core::hbm_bus(double cores) const {
  const SpaceRates own = device_rates(*device_, device_->hbm());
  const double alone =
      1e12 / own.total.count();  // of the memory itself, no faster than that in either direction
  BusRate bus{.total = std::max(alone, 1e12 / (device_->dma.bandwidth.count() * cores)), .takes_turns = true};
  // A direction's own rate is that of all cores together.
  const auto direction = [&](const std::optional<Bandwidth>& given, BytesPerSecond rate) {
    return given ? std::max(1e12 / rate.count() * cores_ / cores, alone) : bus.total;
  };
  bus.read = direction(device_->hbm().read, own.read);
  bus.write = direction(device_->hbm().write, own.write);
  return bus;
}

BusRate Core::bus(const MemorySpace& space) const {
  if (&space == &device_->hbm()) return hbm_bus();
  const SpaceRates rates = device_rates(*device_, space);
  return {1e12 / rates.read.count(), 1e12 / rates.write.count(), 1e12 / rates.total.count()};
}

Picoseconds Core::dma_latency(bool reads, bool writes) const {
  return (reads ? device_->dma.read_latency : Picoseconds(0)) +
         (writes ? device_->dma.write_latency : Picoseconds(0));
}

double Core::transfers_in_flight() const {
  return as_double(std::max<int64_t>(device_->dma.outstanding, 1)) * cores_;
}

Picoseconds Core::latency_in_flight(double transfers, Picoseconds latency) const {
  return ceil_picoseconds(transfers * as_double(latency.count()) / transfers_in_flight());
}

double Core::issue_cycles(double transfers) const {
  return transfers * as_double(device_->dma.issue.count()) / cores_;
}

Bytes Core::scattered_bytes(double accesses) const {
  return Bytes(
      static_cast<int64_t>(std::min(accesses * as_double(device_->dma.full_rate_run.count()), 4e18)));
}

Picoseconds Core::short_runs_time(double runs, double rows) const {
  return ceil_picoseconds(runs * as_double(device_->dma.short_run.count()) +
                          rows * as_double(device_->dma.short_run_row.count()));
}

double Core::tile_move_cycles(double tiles) const { return tiles * device_->vmem.tile_move / cores_; }

DmaChannels Core::channels(double cores) const {
  const auto in = as_double(dma_latency(true, false).count()),
             out = as_double(dma_latency(false, true).count());
  DmaChannels channels;
  channels[0] = {hbm_bus(cores).shared_by(cores), in, out};
  if (other_memory_) channels[1] = {bus(*other_memory_).shared_by(cores), in, out};
  return channels;
}

double power_mean(double a, double b, double exponent) {
  if (exponent == 2) return std::hypot(a, b);
  const double longer = std::max(a, b), shorter = std::min(a, b);
  if (longer <= 0 || shorter <= 0 || !std::isfinite(longer)) return longer;
  return longer * std::pow(1 + std::pow(shorter / longer, exponent), 1 / exponent);
}

}  // namespace hlosim
