// The plain values of a device, read from YAML (docs/devices.md, configs/*.yaml) through the fields() list
// of each struct: reading, unknown and missing keys, dumping and the documentation all follow from that one
// list. A number "per core" is multiplied by `cores` for the whole device.
//
//   device->config.memory_space(1)->read.at(device->config.clock);  // VMEM, per core
//   peak_flops(device->config, ElementType::kBF16)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/energy.h"
#include "base/fields.h"
#include "base/units.h"
#include "layout/element_type.h"

namespace hlosim {

enum class MatmulPrecision : uint8_t;  // ops/work.h
enum class VectorOp : uint8_t;         // ops/work.h
struct TilingPolicy;                   // layout/native_tiling.h

/// A memory's rate: absolute ("1228 GB/s") or tied to the core's clock ("8192 B/cycle").
struct Bandwidth {
  double amount = 0;  // bytes per second, or per cycle of the core
  bool per_cycle = false;
  BytesPerSecond at(Hertz clock) const { return BytesPerSecond(per_cycle ? amount * clock.count() : amount); }
  bool operator==(const Bandwidth&) const = default;
};

/// Side lengths of a slice of chips, as in "2x2x1".
struct Topology {
  std::vector<int64_t> sides;
  bool operator==(const Topology&) const = default;
  int64_t chips() const {
    int64_t product = 1;
    for (const int64_t side : sides) product *= side;
    return product;
  }
};

/// How the systolic arrays take one element type that they know.
struct MxuType {
  ElementType type = ElementType::kInvalid;
  int64_t rows = 0;  // left-hand rows per issue
  Cycles cadence{};
  int64_t latch_rows = 0;  // right-hand rows per latch step
  Cycles latch_cadence{};
  Cycles latency{};
  int64_t passes = 1, passes_high = 1, passes_highest = 1;

  static auto& key(auto& self) { return self.type; }
  static void fields(auto& self, auto&& field) {
    field("rows", self.rows, "rows of the left operand that one matmul issue takes");
    field("cadence", self.cadence, "cycles between two matmul issues on one MXU", Range{1, 1e6});
    field("latch_rows", self.latch_rows, "rows of the right operand (weights) loaded by one latch step");
    field("latch_cadence", self.latch_cadence, "cycles between two latch steps", Range{1, 1e6});
    field("latency", self.latency, "cycles from the first issue to the first result");
    field("passes", self.passes, "passes at precision DEFAULT");
    field("passes_high", self.passes_high, "passes at precision HIGH");
    field("passes_highest", self.passes_highest, "passes at precision HIGHEST");
  }
};

/// An element type that the arrays don't know: it is brought into another one, which runs `passes` times.
struct MxuEmulation {
  ElementType type = ElementType::kInvalid;
  ElementType as = ElementType::kInvalid;
  int64_t passes = 0;
  double convert = 0;

  static auto& key(auto& self) { return self.type; }
  static void fields(auto& self, auto&& field) {
    field("as", self.as, "element type, one of mxu.types, that it is brought into");
    field("passes", self.passes, "passes of that type for each pass of this one");
    field("convert", self.convert,
          "vector ALU slots to bring 1024 elements of an operand into it, each time a block is taken up");
  }
};

/// Matrix units of one core.
struct MxuConfig {
  int64_t count = 0, rows = 0, columns = 0;
  std::vector<MxuType> types;
  std::vector<MxuEmulation> emulated;
  double vector_exposed = 0, vector_stalls = 0, kernel_share = 0;
  int64_t block_rows = 0, block_columns = 0, block_depth = 0;
  std::optional<PicojoulesPerFlop> energy;

  static void fields(auto& self, auto&& field) {
    field("count", self.count, "systolic arrays (MXUs) per core");
    field("rows", self.rows, "depth of one array: contracting elements it holds");
    field("columns", self.columns, "width of one array: output columns it holds");
    field("types", self.types, "element types that the arrays multiply, by HLO name");
    field("emulated", self.emulated, "element types that are brought into one of mxu.types, by HLO name");
    field(
        "vector_exposed", self.vector_exposed,
        "share of the vector work on operands and results of a product for which its bundles leave no slots");
    field("vector_stalls", self.vector_stalls,
          "share of a product's time by which vector work in its loop makes it longer");
    field("kernel_share", self.kernel_share,
          "share of the peak that a kernel's products reach of which nothing but its author's estimate is "
          "known",
          Range{1e-6, 1});
    field("block_rows", self.block_rows,
          "rows of the left operand in the smallest block of a product, or those of one issue",
          Range{1, 1e6});
    field("block_columns", self.block_columns,
          "columns of the right operand in the smallest block, or the array's width", Range{1, 1e6});
    field("block_depth", self.block_depth,
          "contracting elements in the smallest block, or twice the array's depth", Range{1, 1e6});
    field("energy", self.energy,
          "switching energy of matrix products, per FLOP of the module; absent: unknown");
  }
};

/// What one result vreg (lanes x sublanes elements) of an operation class takes of each unit.
struct VectorOpCost {
  double alu = 0;  // ALU slots
  double eup = 0;  // transcendental-unit pushes
  double xlu = 0;  // cross-lane operations

  static void fields(auto& self, auto&& field) {
    field("alu", self.alu, "vector ALU slots per result vreg");
    field("eup", self.eup, "transcendental-unit pushes per result vreg");
    field("xlu", self.xlu, "cross-lane operations per result vreg");
  }
};

/// One cost per VectorOp (ops/work.h).
struct VectorOpCosts {
  VectorOpCost simple, divide, transcendental, expensive, cross_lane, cross_sublane, transpose, lane_stride,
      group_store, group_turn;

  static void fields(auto& self, auto&& field) {
    field("simple", self.simple, "add, multiply, compare, select, logic, 32-bit conversions");
    field("divide", self.divide, "float divide, remainder");
    field("transcendental", self.transcendental, "exponential, logarithm, tanh, square roots");
    field("expensive", self.expensive, "power, sine and cosine, integer divide, erf, other long polynomials");
    field("cross_lane", self.cross_lane, "moves between lanes: lane reductions, lane gathers");
    field("cross_sublane", self.cross_sublane, "moves between sublanes");
    field("transpose", self.transpose, "changes of the minor dimension, per 1024 elements of any width");
    field("lane_stride", self.lane_stride,
          "keeping every second, third, … lane, for one position of a window that steps along lanes");
    field("group_store", self.group_store,
          "results of a ragged product: sums, the mask of the group's rows, read and written again");
    field("group_turn", self.group_turn, "turning round a block of a ragged product's operand");
  }
};

/// What it takes to bring one vreg's worth (1024 elements) of a type to 32 bits, or back.
struct VectorConversion {
  ElementType type = ElementType::kInvalid;
  double alu = 0;

  static auto& key(auto& self) { return self.type; }
  static void fields(auto& self, auto&& field) {
    field("alu", self.alu, "vector ALU slots per 1024 elements converted to or from 32 bits");
  }
};

/// Vector unit of one core.
struct VpuConfig {
  int64_t lanes = 0, sublanes = 0, alus = 0, vregs = 0, reduction_window = 0, most_repeated = 0,
          divisor_repeats = 0;
  double reduction_mask = 0;
  Cycles latency{};
  std::vector<ElementType> native_types;
  std::vector<VectorConversion> convert;
  VectorOpCosts ops;
  std::optional<PicojoulesPerFlop> energy;

  static void fields(auto& self, auto&& field) {
    field("lanes", self.lanes, "lanes of a vreg (the minor-most dimension)");
    field("sublanes", self.sublanes, "sublanes of a vreg (the second-minor dimension)");
    field("alus", self.alus, "vector ALU slots: vreg operations begun per cycle");
    field("vregs", self.vregs, "vector registers");
    field("latency", self.latency, "cycles from an ALU operation to its result");
    field("reduction_window", self.reduction_window,
          "elements along lanes up to which a reduction takes one window; the last window of longer ones is "
          "masked, unless they are whole registers");
    field("reduction_mask", self.reduction_mask, "vector ALU slots per register of such a window");
    field("most_repeated", self.most_repeated,
          "instructions that several kernels compute for themselves before the compiler stores their result");
    field("divisor_repeats", self.divisor_repeats,
          "elements that each value of a divisor has to divide before its reciprocal is computed once");
    field("native_types", self.native_types,
          "element types with arithmetic of their own; others are converted");
    field("convert", self.convert, "conversion costs of other element types, by HLO name");
    field("ops", self.ops, "cost of operation classes");
    field("energy", self.energy, "switching energy per element operation; absent: unknown");
  }
};

/// A unit beside the ALUs: transcendental (EUP), cross-lane (XLU) or scalar.
struct UnitConfig {
  int64_t count = 0;
  Cycles cadence{};

  static void fields(auto& self, auto&& field) {
    field("count", self.count, "units per core");
    field("cadence", self.cadence, "cycles between two operations of one unit", Range{1, 1e6});
  }
};

/// SparseCores of one core: tiled processors that drive collectives beside the TensorCore.
struct SparseCoreConfig {
  int64_t count = 0, subcores = 0, lanes = 0;
  Bytes memory{};
  Cycles cadence{};
  Picoseconds launch{};
  bool offload_gathers = false, offload_reduce_scatters = false;

  static void fields(auto& self, auto&& field) {
    field("count", self.count, "SparseCores per core");
    field("subcores", self.subcores, "vector subcores (tiles) of one SparseCore");
    field("lanes", self.lanes, "32-bit lanes of one subcore; narrower types share a lane");
    field("memory", self.memory, "bytes of one subcore's own memory");
    field("cadence", self.cadence, "TensorCore cycles between two vector operations of one subcore",
          Range{1, 1e6});
    field("launch", self.launch,
          "fixed time of one collective that SparseCores drive: start and synchronisation");
    field("offload_gathers", self.offload_gathers,
          "the compiler gives them gathers from tables larger than VMEM unasked");
    field("offload_reduce_scatters", self.offload_reduce_scatters,
          "they drive reduce-scatters, which then run beside other work");
  }
};

enum class MemoryScope : uint8_t { kCore, kDevice, kHost };

/// A memory space, S(n) in HLO text. Rates and capacity are per `scope`.
/// No rate at all: a host space is as fast as host.pcie; any other one holds flags or scalars, and its
/// traffic takes no time.
struct MemorySpace {
  std::string name;
  std::vector<int64_t> numbers;
  MemoryScope scope = MemoryScope::kDevice;
  std::optional<Bytes> capacity, usable;
  std::optional<double> order_share;
  std::optional<Bandwidth> bandwidth;  // reads and writes together
  std::optional<Bandwidth> read, write;
  std::optional<PicojoulesPerByte> energy;

  static auto& key(auto& self) { return self.name; }
  static void fields(auto& self, auto&& field) {
    field("numbers", self.numbers, "memory-space numbers n of S(n) in HLO text", Range{0, 255});
    field("scope", self.scope, "whose the capacity and rates are: core, device or host");
    field("capacity", self.capacity, "bytes that fit; absent: not sized");
    field("usable", self.usable, "bytes that the runtime leaves to a program; absent: all of capacity");
    field("order_share", self.order_share,
          "share of what a program may take that the order of its instructions may fill; absent: all of it",
          Range{1e-3, 1});
    field("bandwidth", self.bandwidth, "rate that reads and writes share");
    field("read", self.read, "rate of reads alone");
    field("write", self.write, "rate of writes alone");
    field("energy", self.energy, "energy per byte read or written; absent: unknown");
  }
};

/// VMEM as XLA's fusions use it.
struct VmemConfig {
  Bytes scoped_limit{}, internal_scratch{}, transaction{}, least_size{}, kept_back{};
  double tile_move = 0, carried_share = 0;

  static void fields(auto& self, auto&& field) {
    field("scoped_limit", self.scoped_limit,
          "VMEM that one instruction may use as scratch (xla_tpu_scoped_vmem_limit_kib)");
    field("internal_scratch", self.internal_scratch, "part of the scoped limit that the compiler keeps",
          Range{0, 1e15});
    field("transaction", self.transaction,
          "smallest window that a pipelined operand occupies; 0: no windows, everything overlaps",
          Range{0, 1e15});
    field("tile_move", self.tile_move,
          "cycles of a core to bring one tile, or the part of it that stays together, from one place in VMEM "
          "to another");
    field("carried_share", self.carried_share,
          "share of the room for values in VMEM that those carried by a loop may take; the rest is for what "
          "its body makes",
          Range{0, 1});
    field("least_size", self.least_size,
          "smallest on-chip memory that a generation is built with: sizes are this and its doubles",
          Range{1, 1e15});
    field("kept_back", self.kept_back, "bytes of such a size that are not there for programs",
          Range{0, 1e15});
  }
};

/// DMA engines of one core, HBM <-> VMEM.
struct DmaConfig {
  BytesPerSecond bandwidth{};
  Picoseconds read_latency{}, write_latency{};
  Bytes granule{}, full_rate_run{};
  Picoseconds short_run{}, short_run_row{};
  int64_t outstanding = 0;
  Cycles issue{};
  double overlap = 0;

  static void fields(auto& self, auto&& field) {
    field("bandwidth", self.bandwidth, "achievable rate per core, all its transfers together");
    field("read_latency", self.read_latency, "HBM -> VMEM, from start to the first bytes");
    field("write_latency", self.write_latency, "VMEM -> HBM, from start to completion of the first bytes");
    field("granule", self.granule, "bytes moved at least; sizes round up to it");
    field("full_rate_run", self.full_rate_run, "contiguous run from which on the full rate is reached");
    field("short_run", self.short_run,
          "of the device: one contiguous run in HBM that is shorter than a register");
    field("short_run_row", self.short_run_row,
          "of the device: further time per group of runs at one distance");
    field("outstanding", self.outstanding, "transfers in flight per core");
    field("issue", self.issue, "scalar-unit cycles to start one transfer");
    field("overlap", self.overlap,
          "exponent p of a product's step and the DMA beside it, (units^p + DMA^p)^(1/p): 1 one after the "
          "other, more hides more",
          Range{1, 100});
  }
};

enum class WrapRule : uint8_t {
  kNever,     // a mesh
  kFullAxis,  // an axis wraps when the slice has its full pod length
  kCubes,     // every axis wraps when all sides are multiples of 4
  kAlways,
};

/// Inter-chip interconnect.
struct IciConfig {
  int64_t links = 0;
  BytesPerSecond bandwidth{};
  std::optional<BytesPerSecond> core_bandwidth;
  Picoseconds hop_latency{}, launch{}, fused_done{};
  Topology pod, default_slice;
  std::vector<Topology> slices;
  WrapRule wrap = WrapRule::kNever;
  bool one_way_rings = false;
  std::optional<BytesPerSecond> die_to_die;
  std::optional<Picoseconds> die_launch;
  std::optional<PicojoulesPerByte> energy;

  static void fields(auto& self, auto&& field) {
    field("links", self.links, "links per chip");
    field("bandwidth", self.bandwidth, "achievable rate of one link in one direction");
    field("hop_latency", self.hop_latency, "latency per hop");
    field("core_bandwidth", self.core_bandwidth,
          "rate of one link in one direction while TensorCores drive a collective, which take one axis of "
          "the torus after the other; absent: all links at once");
    field("launch", self.launch, "fixed time of one collective: start and synchronisation");
    field("fused_done", self.fused_done,
          "end of an asynchronous collective that is a fusion of its own, when nothing is waited for");
    field("pod", self.pod, "sides of the largest torus [chips]");
    field("wrap", self.wrap,
          "when the links of an axis close to a ring: never, full_axis, cubes (all sides "
          "multiples of 4) or always");
    field("one_way_rings", self.one_way_rings,
          "all-gathers, reduce-scatters and all-reduces go one way round closed rings, where TensorCores do "
          "not drive them");
    field("default_slice", self.default_slice, "sides of the slice used without --topology [chips]");
    field("slices", self.slices,
          "sides of the slice of each size on offer, the smallest first [chips]; empty: not known");
    field("die_to_die", self.die_to_die, "one-way rate between two devices of one chip");
    field("die_launch", self.die_launch,
          "fixed time of a collective within one chip, each time its devices wait for each other; absent: "
          "launch");
    field("energy", self.energy, "energy per byte that a device sends; absent: unknown");
  }
};

/// A path out of the chip.
struct LinkConfig {
  BytesPerSecond bandwidth{};
  Picoseconds latency{};

  static void fields(auto& self, auto&& field) {
    field("bandwidth", self.bandwidth, "rate in one direction");
    field("latency", self.latency, "latency of one transfer");
  }
};

struct HostConfig {
  int64_t chips = 0;
  std::optional<Picoseconds> serving_step, sglang_step;
  double slowest_flow = 0;
  LinkConfig pcie, dcn;

  static void fields(auto& self, auto&& field) {
    field("chips", self.chips, "chips per host");
    field("serving_step", self.serving_step,
          "time that the host of a model server adds between two steps of the devices; absent: none");
    field("sglang_step", self.sglang_step,
          "further time that it adds where the server is SGLang; absent: none");
    field("slowest_flow", self.slowest_flow,
          "exponent p of the hosts of a slice, n: sums between slices wait for the slowest of n flows, n^p "
          "latencies of dcn",
          Range{0, 1});
    field("pcie", self.pcie, "chip <-> host memory, per chip");
    field("dcn", self.dcn, "host <-> data-centre network, per host");
  }
};

struct OverheadConfig {
  Picoseconds instruction{}, smallest_fusion{}, smallest_write{}, loop_iteration{}, grid_step{};
  Bytes loaded_memory{};

  static void fields(auto& self, auto&& field) {
    field("instruction", self.instruction, "start of one top-level instruction, never hidden");
    field("smallest_fusion", self.smallest_fusion, "least time of an instruction that reads HBM");
    field("smallest_write", self.smallest_write, "least time of an instruction that only writes HBM");
    field("loop_iteration", self.loop_iteration,
          "condition, jump and carried scalars of one while iteration");
    field("grid_step", self.grid_step, "one step of the grid of a Pallas kernel");
    field("loaded_memory", self.loaded_memory,
          "bytes of an instruction from which on DMA's latencies are those of a loaded memory",
          Range{1, 1e12});
  }
};

enum class RaggedWalk : uint8_t {
  kGroups,  // tiles begin with the rows of each group
  kVisits,  // tiles of all rows, visited once for each group in them: megablox and tokamax
  kServed,  // tiles of kernel.served_rows of each group, with weights ahead: kernels of model servers
};

/// What Pallas kernels take beside the work that their operations are counted as (model/pallas).
struct KernelConfig {
  double overlap = 0, dma_overlap = 0, block_end = 0, row_pick = 0;
  double loss = 0, loss_gradient = 0, block_scale = 0, block_add = 0;
  double score = 0, known_maximum = 0, natural_exponential = 0, mask = 0, segment = 0, bias = 0, soft_cap = 0;
  double score_row = 0, accumulator = 0, score_gradient = 0, cache_read = 0;
  double group_list = 0, masked_operand = 0, merged_row = 0;
  int64_t ragged_rows = 0, ragged_columns = 0, ragged_depth = 0, ragged_turn_columns = 0;
  int64_t served_rows = 0, served_buffers = 0, paged_block_scale = 1;
  RaggedWalk ragged_walk = RaggedWalk::kGroups;

  static void fields(auto& self, auto&& field) {
    attention_fields(self, field);
    ragged_fields(self, field);
    field("paged_block_scale", self.paged_block_scale,
          "default blocks of paged attention over prompts, as a multiple of v6e's", Range{1, 100});
  }

 private:
  /// Attention and losses.
  static void attention_fields(auto& self, auto&& field) {
    field("overlap", self.overlap,
          "exponent p of a loop's time, (MXU^p + vector^p)^(1/p); 1: one after the other", Range{1, 100});
    field("dma_overlap", self.dma_overlap, "the same exponent for a step and the DMA of its blocks",
          Range{1, 100});
    field("block_end", self.block_end,
          "cycles per register of a result block: begun with zeros, scaled, rounded, stored");
    field("row_pick", self.row_pick, "reading one value out of each row of 128, against reading the rows");
    field("loss", self.loss, "ALU slots per register of logits: labels, maximum, exponential, sums");
    field("loss_gradient", self.loss_gradient, "ALU slots per register of logits: softmax less labels");
    field("block_scale", self.block_scale,
          "cycles per register of a gradient block that is scaled when its sum is complete");
    field("block_add", self.block_add, "cycles per register of a gradient block that is added to");
    field("score", self.score,
          "ALU slots per register of scores: maximum, subtraction, sum, exponential of base 2");
    field("known_maximum", self.known_maximum, "of score, where a bound takes the place of the maximum");
    field("natural_exponential", self.natural_exponential, "the same beside score for base e");
    field("mask", self.mask, "ALU slots per register of masked scores: position, comparison, choice");
    field("segment", self.segment, "ALU slots per register of scores with segments");
    field("bias", self.bias, "ALU slots per register of scores with a bias");
    field("soft_cap", self.soft_cap,
          "ALU slots per register of capped scores, next to the tanh; twice that in gradients");
    field("score_row", self.score_row,
          "ALU slots per register of running maxima and sums of rows, per block of keys");
    field("accumulator", self.accumulator,
          "ALU slots per register of a result rescaled and added to, per block of keys");
    field("score_gradient", self.score_gradient,
          "ALU slots per register of scores in gradients: exponential, product, rounding");
    field("cache_read", self.cache_read,
          "share of memory.hbm.bandwidth for decode attention on a paged cache", Range{1e-3, 1});
    field("merged_row", self.merged_row,
          "cycles per register of a new row that latent attention merges into a page", Range{0, 1e6});
  }

  /// Grouped products.
  static void ragged_fields(auto& self, auto&& field) {
    field("group_list", self.group_list, "instructions that list a grouped product's tiles", Range{0, 1e6});
    field("masked_operand", self.masked_operand,
          "masks per register of both operands where a tile ends beyond the depth", Range{0, 1e6});
    field("ragged_rows", self.ragged_rows, "rows in a tile of a ragged product", Range{1, 1e6});
    field("ragged_columns", self.ragged_columns, "columns in a tile of a ragged product", Range{1, 1e6});
    field("ragged_depth", self.ragged_depth, "contracting elements in a tile of a ragged product",
          Range{1, 1e6});
    field("ragged_turn_columns", self.ragged_turn_columns,
          "columns for which rows that a ragged product turns round are turned again", Range{1, 1e6});
    field("ragged_walk", self.ragged_walk,
          "how a ragged product's kernel walks its rows: by groups, by visits of tiles, or as the kernels of "
          "model servers do (docs/kernels.md)");
    field("served_rows", self.served_rows,
          "rows in a tile of a server's grouped product; smaller groups run in that kernel by groups, too",
          Range{1, 1e6});
    field("served_buffers", self.served_buffers, "buffers for weights of a server's kernel", Range{1, 100});
  }
};

enum class SecondMinorCompaction : uint8_t { kOff, kF32, kPacked };

/// Which tiled layouts the compiler gives to arrays whose text names none (layouts: docs/devices.md).
struct TilingConfig {
  SecondMinorCompaction compact_second_minor = SecondMinorCompaction::kOff;
  bool large_second_minor = false;
  Bytes rank1_granule{};
  bool packed_rank1 = false;

  static void fields(auto& self, auto&& field) {
    field("compact_second_minor", self.compact_second_minor,
          "fewer tile rows for small second-minor dimensions: off, f32 (32-bit types only) or packed (all)");
    field("large_second_minor", self.large_second_minor,
          "tiles of sublanes x (32 / bits) rows for packed types");
    field("rank1_granule", self.rank1_granule, "smallest tile of one-dimensional arrays and scalars");
    field("packed_rank1", self.packed_rank1,
          "one-dimensional arrays of packed types get (128)(32 / bits, 1) inside their tile");
  }
};

/// What a generation, its slices and its chips are called. Upper and lower case are alike.
struct NamesConfig {
  std::vector<std::string> accelerators, kinds, profiler;

  static void fields(auto& self, auto&& field) {
    field("accelerators", self.accelerators,
          "accelerator types: names that \"-\" and a number of TensorCores, or the sides of a slice, may "
          "follow");
    field("kinds", self.kinds, "JAX's device_kind, and other names without a slice");
    field("profiler", self.profiler, "device types in profiles, the first as the profiler writes it");
  }
};

/// How far measured times were from simulated ones, over the cases that mostly consist of one kind of work.
struct ErrorConfig {
  int64_t cases = 0;
  double low = 1, high = 1;

  static void fields(auto& self, auto&& field) {
    field("cases", self.cases, "measured cases that the range holds for");
    field("low", self.low, "lower end of measured time, as part of the simulated time", Range{0, 1e3});
    field("high", self.high, "upper end of measured time, as part of the simulated time", Range{0, 1e3});
  }
};

/// One range per kind of work (CostCategory), and one of whole steps. Of kinds without one the time counts as
/// exact.
struct ErrorsConfig {
  std::optional<ErrorConfig> matmul, vector, data, collective, host, custom_call, control, step;

  static void fields(auto& self, auto&& field) {
    field("matmul", self.matmul, "products and convolutions");
    field("vector", self.vector, "other computations");
    field("data", self.data, "moves of data, and waiting for them");
    field("collective", self.collective, "collectives, and waiting for them");
    field("host", self.host, "transfers to and from the host");
    field("custom_call", self.custom_call, "custom calls");
    field("control", self.control, "loops, branches and calls themselves");
    field("step", self.step, "whole steps over several devices, in place of what their kinds add up to");
  }
};

struct DeviceConfig {
  std::string name, generation, description;
  std::optional<NamesConfig> names;
  int64_t cores = 0, cores_per_chip = 0;
  Hertz clock{};
  std::vector<Hertz> p_states;
#define HLOSIM_UNIT(Name, name, section, Type, ...) Type section;
#include "model/unit.def"
  std::vector<MemorySpace> memory;
  VmemConfig vmem;
  DmaConfig dma;
  IciConfig ici;
  HostConfig host;
  OverheadConfig overhead;
  KernelConfig kernel;
  TilingConfig tiling;
  std::optional<ErrorsConfig> errors;

  static void fields(auto& self, auto&& field) {
    field("name", self.name, "full name");
    field("generation", self.generation, "short name of the generation");
    field("description", self.description, "what one device is");
    field("names", self.names, "what the generation is called");
    field("cores", self.cores, "TensorCores that make one device", Range{1, 64});
    field("cores_per_chip", self.cores_per_chip, "TensorCores per chip", Range{1, 64});
    field("clock", self.clock, "TensorCore clock");
    field("p_states", self.p_states, "clocks of xla_tpu_dvfs_p_state 0, 1, ...; empty: one clock only");
#define HLOSIM_UNIT(Name, name, section, Type, meaning, ...) field(#section, self.section, meaning);
#include "model/unit.def"
    field("memory", self.memory, "memory spaces, by name");
    field("vmem", self.vmem, "VMEM as scratch");
    field("dma", self.dma, "DMA between HBM and VMEM");
    field("ici", self.ici, "inter-chip interconnect");
    field("host", self.host, "host and networks");
    field("overhead", self.overhead, "fixed costs");
    field("kernel", self.kernel, "Pallas kernels");
    field("tiling", self.tiling, "native tiled layouts");
    field("errors", self.errors,
          "ranges of measured times by kind of work, 80 % of like programs; absent: reports give none");
  }

  /// The space numbered S(number), or null when the device has none.
  const MemorySpace* memory_space(int64_t number) const;
  /// The space called `space_name`, or null.
  const MemorySpace* memory_space(std::string_view space_name) const;
  const MemorySpace& hbm() const { return *memory_space(int64_t{0}); }  // validated to exist
  const MemorySpace& vmem_space() const { return *memory_space(int64_t{1}); }
  int64_t devices_per_chip() const { return cores_per_chip / cores; }
};

/// How one core multiplies operands of two element types.
struct MatmulRate {
  int64_t rows = 0;        // left-hand rows per issue
  Cycles cadence{};        // per issue and MXU
  int64_t latch_rows = 0;  // right-hand rows per latch step
  Cycles latch_cadence{};
  Cycles latency{};
  int64_t passes = 1;                       // of everything above
  double lhs_convert = 0, rhs_convert = 0;  // vector ALU slots per 1024 elements that a block brings in
  ElementType lhs = ElementType::kInvalid;  // as which the operands enter the array
  ElementType rhs = ElementType::kInvalid;
  bool emulated = false;
  bool operator==(const MatmulRate&) const = default;
};

/// Null when the device file has neither `lhs` nor `rhs` among mxu.types or mxu.emulated.
std::optional<MatmulRate> matmul_rate(const MxuConfig& mxu, ElementType lhs, ElementType rhs,
                                      MatmulPrecision precision);

/// Peak of the MXUs of one device: 2 * rows * columns * MXUs * cores * rows per cycle * clock / passes;
/// 0 when the device doesn't multiply `type`.
FlopsPerSecond peak_flops(const DeviceConfig& config, ElementType type,
                          MatmulPrecision precision = MatmulPrecision{});  // DEFAULT
/// Peak of the vector ALUs of one device for 32-bit operations.
FlopsPerSecond peak_vector_flops(const DeviceConfig& config);

/// What a vreg of class `op` takes.
const VectorOpCost& op_cost(const VpuConfig& vpu, VectorOp op);
/// The native layouts of the device.
TilingPolicy tiling_policy(const DeviceConfig& config);
/// Vector ALU slots to convert 1024 elements of `type` to or from 32 bits: 0 for native types; for one that
/// vpu.convert doesn't list, the largest cost listed for its width, else the largest of all.
double conversion_slots(const VpuConfig& vpu, ElementType type);

/// Rate of one memory space for the whole device (per-core rates times cores): reads, writes, both
/// together. The share of a part whose rate the file leaves out is unlimited (infinity).
struct SpaceRates {
  BytesPerSecond read, write, total;
};
SpaceRates device_rates(const DeviceConfig& config, const MemorySpace& space);
/// Bytes of `space` per device that a program may take (`usable`, else `capacity`), if sized.
std::optional<Bytes> device_capacity(const DeviceConfig& config, const MemorySpace& space);
/// Bytes of `space` per device that the runtime keeps, if the file says what it leaves to programs.
std::optional<Bytes> runtime_bytes(const DeviceConfig& config, const MemorySpace& space);

}  // namespace hlosim
