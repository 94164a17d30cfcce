#include "terms/instruction_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>

#include "base/text.h"
#include "model/custom_call_costs.h"
#include "model/kernel_blocks.h"
#include "model/memory_system.h"
#include "model/pallas/custom_call_cost_source.h"
#include "model/pallas/kernel_bodies.h"
#include "model/time_keys.h"

namespace hlosim {
namespace {

constexpr std::string_view kGivenBlocks = "the module's text";
constexpr std::string_view kOfServers =
    "kernel.served_rows of a group, the whole depth, the columns that fit into VMEM (docs/timing_model.md)";
constexpr std::string_view kBestBlocks = "the best blocks that fit (docs/timing_model.md)";
constexpr std::string_view kOfSlots = "operations of the module x vpu.ops, on padded registers";
constexpr std::string_view kOfBody = "the kernel's body";

constexpr std::string_view kVpuEquation = "(slots + conversions) / (alus x cores) / clock";
constexpr std::string_view kUnitEquation = "operations x cadence / (count x cores) / clock";
constexpr std::string_view kBusEquation = "(read + written) / min(bandwidth, DMA x cores)";
constexpr std::string_view kTurnsEquation =
    "2 x the smaller / min(bandwidth, DMA x cores) + the rest / its own rate";
constexpr std::string_view kPortsEquation = "max(read / read rate, written / write rate, both / bandwidth)";

/// Classes of steps, windows and kinds of steps that are listed one by one.
constexpr size_t kMostListed = 16;

Bytes whole_bytes(double count) { return Bytes(static_cast<int64_t>(std::min(count, 4e18))); }

void add_keys(Term& term, const Device& device, TimeKeySet keys) {
  for_each_key(device.config, keys, [&](std::string_view name, const std::string& path) {
    term.key(device, std::string(name), path);
  });
}

void add_keys(Term& term, const Device& device,
              const std::vector<std::pair<std::string_view, std::string>>& keys) {
  for (const auto& [name, path] : keys) term.key(device, std::string(name), path);
}

// ── a Kernel ──

std::string_view overlap_text(OverlapRule overlap) {
  switch (overlap) {
    case OverlapRule::kHidden:
      return "max(units, transfers)";
    case OverlapRule::kPorts:
    case OverlapRule::kWindows:
    case OverlapRule::kBundles:
      return "(units^p + transfers^p)^(1/p)";
    case OverlapRule::kTurns:
      break;
  }
  return "units + transfers";
}

std::string_view transfers_text(Requests requests) {
  switch (requests) {
    case Requests::kAhead:
      return "bytes / rate";
    case Requests::kWhenFree:
      return "max(bytes / rate, (units + bytes / rate + latency) / 2)";
    case Requests::kAtOnce:
      break;
  }
  return "bytes / rate + latency";
}

/// Alike steps added up, those that take most time first.
std::vector<KernelTerms::Step> merged_steps(std::vector<KernelTerms::Step> all) {
  const auto times = [](const KernelTerms::Step& step) { return std::tuple(step.units, step.transfers); };
  std::ranges::stable_sort(all, {}, times);
  size_t last = 0;
  for (size_t i = 1; i < all.size(); ++i)
    if (times(all[i]) == times(all[last]))
      all[last].count += all[i].count;
    else
      all[++last] = all[i];
  if (!all.empty()) all.resize(last + 1);
  std::ranges::stable_sort(all, std::greater(),
                           [](const KernelTerms::Step& step) { return step.count * step.together; });
  return all;
}

std::string amount_text(double count) {
  return count < 9e15 && count == static_cast<double>(static_cast<int64_t>(count))
             ? grouped(static_cast<int64_t>(count))
             : fmt::format("{:.6g}", count);
}

void add_steps(Term& term, const Kernel& kernel, const std::vector<KernelTerms::Step>& steps) {
  const auto shown = [](double picoseconds) { return to_text(ceil_picoseconds(picoseconds)); };
  for (size_t i = 0; i < std::min(steps.size(), kMostListed); ++i) {
    const KernelTerms::Step& step = steps[i];
    const double count = kernel.requests == Requests::kAtOnce ? kernel.grid_steps : step.count;
    term.adds(fmt::format("{} step{}", amount_text(count), count == 1 ? "" : "s"), step.count * step.together,
              fmt::format("{}units {}, transfers {}", count == step.count ? "each: " : "all: ",
                          shown(step.units), shown(step.transfers)));
  }
  double further = 0, time = 0;
  for (size_t i = kMostListed; i < steps.size(); ++i)
    further += steps[i].count, time += steps[i].count * steps[i].together;
  if (further > 0) term.adds(amount_text(further) + " further steps", time, "all of them");
}

void add_windows(Term& term, const Kernel& kernel) {
  for (size_t i = 0; i < std::min(kernel.windows.size(), kMostListed); ++i) {
    const VmemWindow& window = kernel.windows[i];
    term.fact(window.is_result ? "window out" : "window in",
              fmt::format("{} x {}", to_text(whole_bytes(window.bytes)), amount_text(window.fetches)),
              fmt::format("of one block, and how many are moved; {} buffer{}",
                          static_cast<int>(window.buffers), window.buffers == 1 ? "" : "s"));
  }
}

/// The term of time_of(). `fill`: adds what else is known of the kernel.
template <class Fill>
void record_kernel(RecordedTerms& terms, const Device& device, const TimedKernel& planned, Fill&& fill) {
  const Kernel& kernel = planned.kernel;
  KernelTerms recorded;
  const KernelTime time = time_of(kernel, Core(device.config), recorded);
  const std::string equation =
      fmt::format("first in + sum over the steps of {} + last out{}", overlap_text(kernel.transfers),
                  kernel.waits > 0 ? " + latencies" : "");
  terms.add("blocks", equation, ceil_picoseconds(time.time), [&](Term& term) {
    term.fact("steps", kernel.grid_steps, kernel.blocks.given ? kGivenBlocks : "of a core");
    if (time.first_in > 0) term.adds("first in", time.first_in, "its bytes / rate + read latency");
    add_steps(term, kernel, merged_steps(std::move(recorded.steps)));
    term.fact("transfers", std::string(transfers_text(kernel.requests)), "of a step");
    if (time.last_out > 0) term.adds("last out", time.last_out, "its bytes / rate + write latency");
    if (kernel.waits > 0) term.adds("latencies", kernel.waits, "that nothing hides");
    if (kernel.transfers == OverlapRule::kPorts) term.key(device, "p", "dma.overlap");
    if (kernel.transfers == OverlapRule::kWindows) term.key(device, "p", "kernel.dma_overlap");
    if (kernel.units == OverlapRule::kBundles) term.key(device, "p of units", "kernel.overlap");
    if (kernel.uses_dma()) add_keys(term, device, {TimeKey::kReadLatency, TimeKey::kWriteLatency});
    fill(term);
    if (const double vmem = kernel.vmem(); vmem > 0)
      term.fact("VMEM", whole_bytes(vmem), "windows x buffers, and scratch");
    term.key(device, "scoped limit", "vmem.scoped_limit");
    term.key(device, "kept by the compiler", "vmem.internal_scratch");
  });
}

// ── units ──

class WorkRecorder {
 public:
  WorkRecorder(RecordedTerms& terms, const Device& device, const CostedWork& work)
      : terms_(terms),
        device_(device),
        config_(device.config),
        memory_(device.config),
        work_(work),
        call_(work.known && work.known->kernel ? &*work.known->kernel : nullptr),
        hbm_(work.cost.traffic[memory_.hbm()]) {}

  void record() {
    if (work_.given)
      terms_.costed_by(fmt::format("the user's \"{}\", {}", work_.given->key, work_.given->place()));
    if (work_.body) terms_.costed_by("its body, step by step of its grid");
    if (work_.known) terms_.costed_by(fmt::format("its {}", work_.known->text(config_)));
    if (work_.known && !call_) {
      estimate(*work_.known->estimate);
    } else if (work_.body || call_) {
      kernel_units();
    } else {
      matmul();
      vector_unit();
      around_product();
      operations(Unit::kEup, work_.compute.slots.eup);
      operations(Unit::kXlu, work_.compute.slots.xlu);
      operations(Unit::kScalar, work_.compute.slots.scalar);
    }
    for (size_t i = 0; i < config_.memory.size(); ++i) memory(i);
    user_and_host();
    const bool is_whole_given = work_.given && work_.given->time;
    if (!is_whole_given) {
      blocks();
      not_hidden();
    }
    whole();
  }

 private:
  Picoseconds busy(Unit unit) const { return work_.cost.busy[index_of(unit)]; }

  /// A unit that is busy.
  template <class Fill>
  void unit(Unit unit, std::string_view equation, Fill&& fill) {
    if (busy(unit).count() == 0) return;
    terms_.add(unit_name(config_, unit), equation, busy(unit), [&](Term& term) {
      term.unit = unit;
      fill(term);
      add_keys(term, device_, unit_keys(config_, unit));
    });
  }

  void matmul() {
    const MatmulPart& part = work_.compute.matmul;
    if (part.cycles <= 0) return given_product();
    const MatmulWork& work = part.work;
    unit(Unit::kMxu, Core::product_equation(), [&](Term& term) {
      term.fact("product", fmt::format("{} x [{},{}]x[{},{}]", work.batch, work.m, work.k, work.k, work.n));
      if (work.features > 0)
        term.fact("contracted",
                  fmt::format("{} features x {} positions", work.features, work.k / work.features),
                  "the convolution's window, but for padding and holes");
      if (work_.kernel) {
        const ProductBlocks& b = work_.kernel->kernel.blocks;
        const std::string_view from = b.given                                       ? kGivenBlocks
                                      : runs_in_served_kernel(work, config_.kernel) ? kOfServers
                                      : work.ragged ? "kernel.ragged_rows, ragged_columns and ragged_depth"
                                                    : kBestBlocks;
        term.fact("block", fmt::format("{} x [{},{}]x[{},{}]", b.batch, b.m, b.k, b.k, b.n), from);
        term.fact("steps", work_.kernel->kernel.grid_steps, from);
        if (b.shared != SharedDimension::kNone) term.fact("shared by", std::string(to_text(b.shared)), from);
      }
      term.fact("all passes", static_cast<double>(part.rate.passes), "the precision of the module");
      if (work_.compute.mxu_cycles > part.cycles)
        term.fact("further products", fmt::format("{:.6g} cycles", work_.compute.mxu_cycles - part.cycles));
      if (!work_.compute.unmodelled) add_product_keys(term, work);
    });
  }

  void given_product() {
    unit(Unit::kMxu, "FLOPs / peak", [&](Term& term) {
      term.fact("FLOPs", static_cast<double>(work_.cost.flops.count()),
                work_.given ? work_.given->place() : "");
      term.fact("peak", to_text(peak_flops(config_, ElementType::kBF16)), "bf16");
      add_product_keys(term, {.lhs = ElementType::kBF16, .rhs = ElementType::kBF16});
    });
  }

  void add_product_keys(Term& term, const MatmulWork& work) const {
    add_keys(term, device_, operand_keys(config_, work.lhs, work.precision, false));
    for (const auto& [name, path] : operand_keys(config_, work.rhs, work.precision, true))
      if (name.starts_with("latch") || work.lhs != work.rhs) term.key(device_, std::string(name), path);
  }

  void vector_unit() {
    const MatmulPart& part = work_.compute.matmul;
    const bool by_visits = walks_visits(part.work, config_.kernel);
    unit(Unit::kVpu, kVpuEquation, [&](Term& term) {
      term.fact(by_visits ? "slots around the product" : "slots", work_.compute.slots.alu, kOfSlots);
      if (by_visits)
        for (const auto& [name, path] : {std::pair("of its steps: sums", "kernel.accumulator"),
                                         {"of its steps: rows of other groups", "kernel.mask"},
                                         {"of its steps: beyond the depth, masks", "kernel.masked_operand"}})
          term.key(device_, name, path);
      if (part.lhs.convert + part.rhs.convert > 0)
        term.fact("conversions",
                  fmt::format("left {} once per block of columns, right {} once per block of rows",
                              amount_text(part.lhs.convert), amount_text(part.rhs.convert)),
                  "mxu.emulated.TYPE.convert");
      add_keys(term, device_, cost_keys(config_, Unit::kVpu, work_.compute.costs));
    });
  }

  /// What the vector unit does to the operands and results of a product, and what of it finds no slots.
  void around_product() {
    if (!work_.kernel || work_.kernel->kernel.works.front().around <= 0) return;
    const UnitWork& work = work_.kernel->kernel.works.front();
    const double exposed = Core(config_).exposed_vector(work.around, work.mxu);
    terms_.add("vector work around the product", "exposed x bundles + stalls x MXU",
               ceil_picoseconds(exposed), [&](Term& term) {
                 const auto slots = [&](const char* operand, const IssueSlots& some) {
                   if (some.alu + some.eup + some.xlu > 0)
                     term.fact(operand,
                               fmt::format("{} ALU, {} EUP, {} XLU", amount_text(some.alu),
                                           amount_text(some.eup), amount_text(some.xlu)),
                               "slots: operations of the module x vpu.ops");
                 };
                 slots("left operand, once", work_.compute.matmul.lhs.producers);
                 slots("right operand, once", work_.compute.matmul.rhs.producers);
                 term.fact("bundles", to_text(ceil_picoseconds(work.around)),
                           "operands anew for each block of the other one, and results");
                 term.key(device_, "exposed", "mxu.vector_exposed");
                 term.key(device_, "stalls", "mxu.vector_stalls");
                 add_keys(term, device_, {TimeKey::kAlus, TimeKey::kEupCadence, TimeKey::kEupCount});
               });
  }

  void operations(Unit of, double count) {
    unit(of, kUnitEquation, [&](Term& term) {
      if (count > 0) term.fact("operations", count, kOfSlots);
      if (of == Unit::kScalar) {
        if (work_.compute.scattered_accesses > 0)
          term.fact("accesses", static_cast<double>(work_.compute.scattered_accesses));
        add_keys(term, device_, access_keys(nullptr, config_, work_.compute, hbm_));
      } else {
        add_keys(term, device_, cost_keys(config_, of, work_.compute.costs));
      }
    });
  }

  /// A custom call's kernel: its units work on all steps.
  void kernel_units() {
    for (const Unit of : {Unit::kMxu, Unit::kVpu, Unit::kEup, Unit::kXlu, Unit::kScalar})
      unit(of, "sum over the steps of the grid", [&](Term& term) {
        if (of == Unit::kMxu)
          term.fact("FLOPs", static_cast<double>(work_.cost.flops.count()), "in blocks that are computed");
        if (of == Unit::kMxu && work_.body) add_product_keys(term, work_.compute.matmul.work);
        if (!call_) return;
        const IssueSlots& slots = call_->cost.slots;
        if (of == Unit::kVpu) term.fact("slots", slots.alu, "scores, sums and blocks of results");
        if (of == Unit::kEup) term.fact("operations", slots.eup, "exponentials and other functions");
        if (of == Unit::kXlu) term.fact("operations", slots.xlu, "along lanes");
      });
  }

  void estimate(const CostEstimate& given) {
    constexpr std::string_view kEstimate = "the call's cost_estimate";
    unit(Unit::kMxu, "FLOPs / (peak x share)", [&](Term& term) {
      term.fact("FLOPs", given.flops, kEstimate);
      term.fact("peak", to_text(peak_flops(config_, ElementType::kBF16)), "bf16");
      term.key(device_, "share", "mxu.kernel_share");
      add_product_keys(term, {.lhs = ElementType::kBF16, .rhs = ElementType::kBF16});
    });
    unit(Unit::kEup, "exponentials / register x cadence / (count x cores) / clock",
         [&](Term& term) { term.fact("exponentials", given.transcendentals, kEstimate); });
  }

  void memory(size_t space) {
    const Traffic& traffic = work_.cost.traffic[space];
    const MemorySpace& config = config_.memory[space];
    if (config.scope == MemoryScope::kHost) return;
    const bool is_hbm = &config == &config_.hbm(), is_vmem = &config == &config_.vmem_space();
    unit(memory_unit(space),
         !is_hbm                       ? kPortsEquation
         : config.read || config.write ? kTurnsEquation
                                       : kBusEquation,
         [&](Term& term) {
           term.fact("read", traffic.read, "the module; what comes in again included");
           term.fact("written", traffic.written);
           if (work_.kernel && !is_vmem) {
             const Kernel& kernel = work_.kernel->kernel;
             if (kernel.lhs_times > 1) term.fact("left operand comes in", kernel.lhs_times, kBestBlocks);
             if (kernel.rhs_times > 1) term.fact("right operand comes in", kernel.rhs_times, kBestBlocks);
           }
           if (work_.given && work_.given->time && busy(memory_unit(space)) == *work_.given->time)
             term.fact("at most", to_text(*work_.given->time), work_.given->place());
           if (is_hbm) slower_rates(term, config);
           if (is_hbm) short_runs(term);
           if (is_vmem) moves(term);
           if (is_hbm && work_.compute.scattered_accesses > 0)
             term.fact("accesses", static_cast<double>(work_.compute.scattered_accesses));
           add_keys(term, device_, access_keys(&config, config_, work_.compute, hbm_));
         });
  }

  /// Of HBM's bandwidth and that of DMA, the one that is no limit is no key of the term.
  void slower_rates(Term& term, const MemorySpace& hbm) const {
    bool by_dma = false, by_hbm = false;
    for_each_key(
        config_, unit_keys(config_, memory_.unit_of(memory_.hbm())),
        [&](std::string_view name, const auto&) { by_dma |= name == "DMA", by_hbm |= name == "bandwidth"; });
    if (!by_hbm && hbm.bandwidth)
      term.fact("bandwidth", to_text(hbm.bandwidth->at(config_.clock)), "of the memory, no limit");
    if (!by_dma) term.fact("DMA", to_text(config_.dma.bandwidth), "of a core, no limit");
  }

  void short_runs(Term& term) const {
    const auto runs = [&](const char* what, const ShortRuns& some) {
      if (some.runs > 0)
        term.fact(what, fmt::format("{} in {} rows", amount_text(some.runs), amount_text(some.rows)),
                  "window_runs() of the layouts; at least runs x short run + rows x row");
    };
    runs("short runs read", work_.compute.hbm_reads);
    runs("short runs written", work_.compute.hbm_writes);
  }

  void moves(Term& term) const {
    const double tiles =
        hbm_.total().count() == 0 ? work_.compute.moved_tiles : work_.compute.regrouped_tiles;
    if (tiles > 0)
      term.fact("tiles that move", tiles, "the smaller tiles of both layouts; at least tiles x tile move");
  }

  void user_and_host() {
    unit(Unit::kCustom, "time", [&](Term& term) {
      term.fact("time", to_text(busy(Unit::kCustom)), work_.given ? work_.given->place() : "");
    });
    unit(Unit::kHost, "bytes / PCIe", [](Term&) {});
  }

  // ── what nothing hides, and the whole ──

  void blocks() {
    if (work_.kernel) record_kernel(terms_, device_, *work_.kernel, [&](Term& term) { windows(term); });
    if (call_) record_kernel(terms_, device_, call_->cost.planned, [&](Term& term) { call(term); });
    if (work_.body) {
      record_kernel(terms_, device_, work_.body->cost.planned, [&](Term& term) { body(term); });
      for (size_t i = 0; i < std::min(work_.body->body.works.size(), kMostListed); ++i) step(i);
    }
  }

  void windows(Term& term) const {
    const Kernel& kernel = work_.kernel->kernel;
    add_windows(term, kernel);
    if (kernel.blocks.m == 0 || kernel.blocks.given) return;
    if (work_.compute.matmul.work.ragged) term.key(device_, "step, at least", "overhead.grid_step");
    if (runs_in_served_kernel(work_.compute.matmul.work, config_.kernel)) {
      term.key(device_, "rows of a tile", "kernel.served_rows");
      term.key(device_, "buffers of weights", "kernel.served_buffers");
      if (config_.kernel.ragged_walk == RaggedWalk::kGroups)
        term.key(device_, "rows of a group, below", "kernel.ragged_rows");
    } else if (work_.compute.matmul.work.ragged) {
      for (const char* key : {"kernel.ragged_rows", "kernel.ragged_columns", "kernel.ragged_depth"})
        term.key(device_, "tile", key);
    } else {
      for (const char* key : {"mxu.block_rows", "mxu.block_columns", "mxu.block_depth"})
        term.key(device_, "smallest block", key);
    }
  }

  void call(Term& term) const {
    const KernelCost& kernel = call_->cost;
    const std::string_view source = call_->blocks_given ? "the call's kernel_metadata" : "the best that fit";
    for (const auto& [name, size] : kernel.blocks) term.fact(name, std::to_string(size), source);
    term.fact("grid", fmt::format("{}", fmt::join(kernel.grid, " x ")), "shapes and blocks");
    term.fact("blocks computed", fmt::format("{}, {} of them masked", kernel.computed, kernel.masked),
              "shapes, blocks and mask");
    term.fact("blocks skipped", grouped(kernel.skipped), "shapes, blocks and mask");
    if (!kernel.fits()) term.fact("fits", "no", "into the scoped limit");
    term.part("units together", kernel.together, "of all steps");
    term.part("blocks as a whole", kernel.apart,
              "initialized, accumulated, finished: not overlapped with matmuls");
    term.part("beginnings", kernel.step_overhead, "of all steps");
    term.part("transfers not hidden", kernel.waits, "pipeline prologue and epilogue, stalls");
    term.key(device_, "step", "overhead.grid_step");
  }

  void body(Term& term) const {
    const mosaic::KernelBody& body = work_.body->body;
    term.fact("bounds", fmt::format("[{}]", fmt::join(body.grid, ",")), kOfBody);
    if (!body.semantics.empty())
      term.fact("semantics", fmt::format("{}", fmt::join(body.semantics, ", ")), kOfBody);
    if (work_.body->cost.cores > 1)
      term.fact("cores", grouped(work_.body->cost.cores), "share a parallel dimension");
    for (size_t i = 0; i < std::min(body.windows.size(), kMostListed); ++i) {
      const mosaic::KernelWindow& window = body.windows[i];
      const std::string block = fmt::format("{}[{}]", window.element, fmt::join(window.block, ","));
      if (!window.is_moved)
        term.fact(fmt::format("window {}", i), block, "the body reads it in place, or copies it itself");
      else
        term.fact(
            fmt::format("window {} {}", i, window.is_result ? "out" : "in"), block,
            fmt::format("{} x {}, {} buffer{}{}", grouped(window.fetches), to_text(whole_bytes(window.bytes)),
                        window.buffers, window.buffers == 1 ? "" : "s",
                        window.is_unknown ? "; its index depends on data that isn't known" : ""));
    }
    term.fact("VMEM allowed", work_.body->cost.vmem_allowed, "the call's limit, or the device's");
    for (const std::string& assumed : body.assumptions) term.fact("assumed", assumed, "");
    term.key(device_, "step", "overhead.grid_step");
  }

  /// One of alike steps of a body.
  void step(size_t number) {
    const mosaic::KernelBody& body = work_.body->body;
    const Kernel& kernel = work_.body->cost.planned.kernel;
    const UnitWork& times = kernel.works[number];
    const double time = units_time(times, kernel.units, Core(config_));
    terms_.add(fmt::format("step {}", number), "the longest of its units, and its beginning",
               ceil_picoseconds(time), [&](Term& term) {
                 int64_t count = 0;
                 for (const mosaic::StepRun& run : body.runs)
                   if (run.work == number) count += run.count;
                 term.fact("steps alike", grouped(count), kOfBody);
                 for (const mosaic::KernelProduct& p : body.works[number].products)
                   term.fact("product",
                             fmt::format("{:g} x {} x [{},{}]x[{},{}]", p.times, p.batch, p.m, p.k, p.k, p.n),
                             fmt::format("{}, {}", p.lhs, p.rhs));
                 const std::pair<const char*, double> units[] = {{"MXU", times.mxu},
                                                                 {"VPU", times.vpu},
                                                                 {"EUP", times.eup},
                                                                 {"XLU", times.xlu},
                                                                 {"scalar", times.scalar},
                                                                 {"VMEM", times.ports},
                                                                 {"copies of its own", times.copies}};
                 for (const auto& [name, of_unit] : units)
                   if (of_unit > 0) term.part(name, ceil_picoseconds(of_unit), "of one step");
                 if (times.begin > 0) term.part("beginning", ceil_picoseconds(times.begin), "of one step");
               });
  }

  std::string latency_text() const {
    std::vector<std::string> keys;
    if (hbm_.read.count() > 0) keys.emplace_back("dma.read_latency");
    if (hbm_.written.count() > 0) keys.emplace_back("dma.write_latency");
    std::string text = fmt::format("{}", fmt::join(keys, " + "));
    if (work_.fixed.is_scattered)
      text =
          fmt::format("{} accesses x {} / dma.outstanding / cores", grouped(work_.compute.scattered_accesses),
                      keys.size() > 1 ? "(" + text + ")" : text);
    if (work_.cost.category == CostCategory::kHost)
      text += (text.empty() ? "" : " + ") + std::string("host.pcie.latency");
    return text;
  }

  /// Its inputs are the parts of FixedTime::total(): what adds up, or where that is less, the smallest time.
  void not_hidden() {
    const FixedTime& parts = work_.fixed;
    const Picoseconds shorter = std::min(parts.longest, parts.smallest);
    const bool is_smallest = parts.smallest.count() > 0 && work_.cost.fixed == parts.smallest - shorter;
    terms_.add("not hidden", is_smallest ? "smallest - longest unit" : "the sum of these", work_.cost.fixed,
               [&](Term& term) {
                 if (is_smallest) {
                   const char* path =
                       hbm_.read.count() > 0 ? "overhead.smallest_fusion" : "overhead.smallest_write";
                   term.adds_key(device_, "smallest", path, parts.smallest);
                   term.adds("longest unit", -static_cast<double>(shorter.count()));
                   term.fact("more than", "the sum of what follows");
                 }
                 add_parts(term, is_smallest);
                 fixed_keys_of(term, is_smallest);
               });
  }

  void add_parts(Term& term, bool is_smallest) const {
    const FixedTime& parts = work_.fixed;
    const auto add = [&](const char* name, Picoseconds time, std::string_view source) {
      if (time.count() == 0) return;
      is_smallest ? term.part(name, time, source) : term.adds(name, time, source);
    };
    const auto add_key = [&](const char* name, const char* path, Picoseconds time) {
      if (time.count() == 0) return;
      // The idle gain, too, depends on the start of an instruction.
      const bool is_linear = parts.unloaded_latency_credit.count() == 0;
      is_smallest ? term.key(device_, name, path) : term.adds_key(device_, name, path, time, is_linear);
    };
    const bool is_custom = work_.body || call_;
    add("blocks beyond the longest unit",
        is_custom ? work_.cost.fixed - parts.instruction
                  : parts.kernel - std::min(parts.kernel, parts.longest),
        kTermsAbove);
    add_key("instruction", "overhead.instruction", parts.instruction);
    add("latencies", parts.latency, latency_text());
    add_key("end of the collective", "ici.fused_done", parts.fused_done);
    const Picoseconds credit = parts.unloaded_latency_credit;
    constexpr std::string_view kGain = "its latencies - those of a loaded memory";
    if (credit.count() > 0 && is_smallest) term.part("idle gain", credit, kGain);
    if (credit.count() > 0 && !is_smallest)
      term.adds("idle gain", -static_cast<double>(credit.count()), kGain);
  }

  void fixed_keys_of(Term& term, bool is_smallest) const {
    for_each_key(config_, fixed_keys(work_.fixed, hbm_, work_.cost.category),
                 [&](std::string_view name, const std::string& path) {
                   const bool is_listed = path == "overhead.instruction" || path == "ici.fused_done" ||
                                          (is_smallest && name == "smallest");
                   if (!is_listed) term.key(device_, std::string(name), path);
                 });
  }

  void whole() {
    terms_.add("time", "longest unit + not hidden", work_.cost.time(), [&](Term& term) {
      term.adds("longest unit", work_.cost.stream);
      term.adds("not hidden", work_.cost.fixed);
    });
  }

  RecordedTerms& terms_;
  const Device& device_;
  const DeviceConfig& config_;
  const MemorySystem memory_;
  const CostedWork& work_;
  const KernelCall* const call_;
  const Traffic& hbm_;
};

class TermRecorder : public CostRecorder {
 public:
  TermRecorder(RecordedTerms& terms, const Device& device) : terms_(terms), device_(device) {}

  void work(const CostedWork& work) override { WorkRecorder(terms_, device_, work).record(); }

  void issue(IssueKind kind, const InstructionCost& cost) override {
    const bool takes_time = cost.time().count() > 0;
    const char* const equation =
        kind == IssueKind::kStart  ? "issue / clock; the started operation runs concurrently"
        : kind == IssueKind::kDone ? "only the stall until the started operation ends"
        : kind == IssueKind::kFree ? "nothing moves"
        : takes_time               ? "instruction; called computations have their own times"
                                   : "called computations have their own times";
    terms_.add("time", equation, cost.time(), [&](Term& term) {
      if (!takes_time) return;
      if (kind == IssueKind::kStart)
        add_keys(term, device_, {TimeKey::kIssue, TimeKey::kClock});
      else
        term.adds_key(device_, "instruction", "overhead.instruction", cost.time());
    });
  }

 private:
  RecordedTerms& terms_;
  const Device& device_;
};

}  // namespace

Result<InstructionCost> cost_with_terms(const Module& module, const OpTable& table, const Device& device,
                                        const CostOptions& options, InstructionId id, RecordedTerms& terms) {
  TermRecorder recorder(terms, device);
  return record_cost(module, table, device, options, id, recorder);
}

void record_beside(RecordedTerms& terms, std::vector<Term> beside) {
  std::vector<Term>& all = terms.all();
  all.insert(all.end() - 1, std::make_move_iterator(beside.begin()), std::make_move_iterator(beside.end()));
}

void record_links(RecordedTerms& terms, std::vector<Term> links, Picoseconds launch,
                  const InstructionCost& cost) {
  std::vector<Term>& all = terms.all();
  if (all.size() < 2) return record_beside(terms, std::move(links));  // the user gave the time of the whole
  Term &hidden = all[all.size() - 2], &whole = all.back();
  // Of one collective the launch is that of a key, but for what its bytes hide.
  double left = static_cast<double>(launch.count());
  for (const Term& term : links)
    for (const TermInput& input : term.inputs)
      if (input.is_linear && launch.count() > 0) hidden.inputs.push_back(input), left -= *input.adds;
  if (left != 0) hidden.adds(left < 0 ? "hidden part of the launch" : "launch", left);
  hidden.value = cost.fixed;
  whole.value = cost.time();
  whole.inputs.clear();
  whole.adds("longest unit", cost.stream);
  whole.adds("not hidden", cost.fixed);
  all.insert(all.end() - 2, std::make_move_iterator(links.begin()), std::make_move_iterator(links.end()));
}

}  // namespace hlosim
