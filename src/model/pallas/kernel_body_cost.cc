#include "model/pallas/kernel_body_cost.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/core.h"
#include "model/fusion_summary.h"
#include "model/memory_system.h"
#include "model/pallas/kernel_cost.h"
#include "ops/work.h"

namespace hlosim {
namespace {

using mosaic::KernelBody;
using mosaic::KernelProduct;
using mosaic::StepWork;
using mosaic::VectorClass;

/// MLIR's word for a number's type; kInvalid: the MXU has none such.
ElementType element_type_of(std::string_view word) {
  constexpr std::pair<std::string_view, ElementType> kWords[] = {
      {"bf16", ElementType::kBF16},
      {"f16", ElementType::kF16},
      {"f32", ElementType::kF32},
      {"i4", ElementType::kS4},
      {"i8", ElementType::kS8},
      {"ui4", ElementType::kU4},
      {"ui8", ElementType::kU8},
      {"i32", ElementType::kS32},
      {"f8E5M2", ElementType::kF8E5M2},
      {"f8E4M3FN", ElementType::kF8E4M3FN},
      {"f8E4M3B11FNUZ", ElementType::kF8E4M3B11FNUZ}};
  for (const auto& [known, type] : kWords)
    if (known == word) return type;
  return ElementType::kInvalid;
}

MatmulPrecision precision_of(std::string_view word) {
  if (word.find("fp32") != std::string_view::npos) return MatmulPrecision::kHighest;
  if (word.find("bf16x3") != std::string_view::npos) return MatmulPrecision::kHigh;
  return MatmulPrecision{};
}

class BodyCost {
 public:
  BodyCost(const KernelBody& body, const DeviceConfig& device)
      : body_(body), device_(device), core_(device), memory_(device) {}

  KernelBodyCost of(Bytes scoped_vmem) {
    share_cores();
    Kernel& kernel = made_.planned.kernel;
    kernel.cores = static_cast<double>(made_.cores);
    kernel.scratch = body_.vmem;
    for (const mosaic::KernelWindow& window : body_.windows) {
      if (!window.is_moved) continue;
      if (window.buffers < 2 && body_.steps > 1) kernel.transfers = OverlapRule::kTurns;
      kernel.windows.push_back({window.bytes, static_cast<double>(window.fetches),
                                static_cast<int8_t>(std::min<int64_t>(window.buffers, 127)),
                                window.is_result});
      kernel.scratch -= window.bytes * kernel.windows.back().buffers;
    }
    kernel.scratch = std::max(kernel.scratch, 0.0);
    for (const StepWork& work : body_.works) kernel.works.push_back(units_of(work));
    add_steps();
    for (const mosaic::KernelLoop& loop : body_.unknown_loops) {
      UnitWork round = units_of(loop.iteration);
      round.begin = 0;
      made_.unknown_loops.push_back(ceil_picoseconds(units_time(round, kernel.units, core_)));
    }
    made_.vmem = Bytes(static_cast<int64_t>(std::min(body_.vmem, 4e18)));
    made_.vmem_allowed = scoped_vmem.count() > 0 ? core_.vmem_budget(scoped_vmem) : core_.vmem_budget();
    return std::move(made_);
  }

 private:
  /// Cores share the steps of a parallel dimension that has as many for each of them.
  void share_cores() {
    for (size_t i = 0; i < body_.grid.size() && i < body_.semantics.size(); ++i)
      if (body_.semantics[i].find("parallel") != std::string::npos && body_.grid[i] % device_.cores == 0)
        made_.cores = device_.cores;
  }

  /// Of one step, one core.
  UnitWork units_of(const StepWork& work) {
    UnitWork times;
    for (const KernelProduct& product : work.products) times.mxu += mxu_of(product);
    IssueSlots slots;
    for (size_t i = 0; i < mosaic::kVectorClasses; ++i) {
      const VectorOp op = class_of(static_cast<VectorClass>(i));
      const double registers = registers_of(work.vector[i]);
      slots += core_.slots(op, registers);
      if (registers > 0) made_.costs |= cost_bit(op);
    }
    times.vpu = core_.picoseconds(core_.alu_cycles(slots.alu));
    times.eup = core_.picoseconds(core_.eup_cycles(slots.eup));
    times.xlu = core_.picoseconds(core_.xlu_cycles(slots.xlu));
    times.scalar = core_.picoseconds(core_.scalar_cycles(work.scalar));
    const size_t vmem = memory_.space_of(1);
    const auto cores = static_cast<double>(device_.cores);
    if (vmem != kUnknownSpace)
      times.ports = cores * memory_.busy_exactly(vmem, {bytes_of(work.loaded), bytes_of(work.stored)});
    times.copies = transfer(work.copied / 2 + work.sent, work.copied / 2);
    if (!body_.grid.empty()) times.begin = static_cast<double>(device_.overhead.grid_step.count());
    if (!work.products.empty()) times.begin += core_.picoseconds(latency_of(work.products.front()));
    return times;
  }

  static Bytes bytes_of(double count) { return Bytes(static_cast<int64_t>(std::min(count, 1e18))); }

  static VectorOp class_of(VectorClass of) {
    constexpr VectorOp kClasses[] = {VectorOp::kSimple,    VectorOp::kDivide,    VectorOp::kTranscendental,
                                     VectorOp::kExpensive, VectorOp::kCrossLane, VectorOp::kCrossSublane};
    return kClasses[static_cast<size_t>(of)];
  }

  /// Sixteen-bit elements take half a register each where the unit calculates in them.
  double registers_of(const mosaic::VectorAmount& amount) const {
    return amount.words + amount.halves * (core_.is_native(ElementType::kBF16) ? 0.5 : 1);
  }

  std::optional<MatmulRate> rate_of(const KernelProduct& product) {
    MatmulWork types{.lhs = element_type_of(product.lhs),
                     .rhs = element_type_of(product.rhs),
                     .precision = precision_of(product.precision)};
    auto rate = core_.matmul_rate(types.lhs, types.rhs, types.precision);
    if (!rate) {
      types = {.lhs = ElementType::kBF16, .rhs = ElementType::kBF16};
      rate = core_.matmul_rate(types.lhs, types.rhs, types.precision);
      made_.is_emulated = true;
    }
    if (made_.product.k == 0) made_.product = types, made_.product.k = product.k;
    if (rate) made_.is_emulated |= rate->emulated;
    return rate;
  }

  double mxu_of(const KernelProduct& product) {
    const auto rate = rate_of(product);
    if (!rate) return 0;
    const MatmulWork one{.m = product.m, .n = product.n, .k = product.k};
    return product.times * static_cast<double>(product.batch) *
           core_.picoseconds(core_.product_in_loop(one, *rate));
  }

  double latency_of(const KernelProduct& product) {
    const auto rate = rate_of(product);
    return rate ? static_cast<double>(rate->latency.count()) : 0;
  }

  /// Of one core, while the others move as much.
  double transfer(double in, double out) const {
    return core_.hbm_bus(static_cast<double>(made_.cores)).time(in, out) * static_cast<double>(made_.cores);
  }

  /// Blocks come in and leave over HBM's channel alone.
  static BlockTraffic traffic(double in, double out) {
    BlockTraffic block;
    block.in[0] = in, block.out[0] = out;
    return block;
  }

  void add_steps() {
    Kernel& kernel = made_.planned.kernel;
    const auto cores = static_cast<double>(made_.cores);
    const auto add = [&](double count, size_t work, double in, double out) {
      if (count > 0) kernel.steps.push_back({count / cores, static_cast<uint32_t>(work), traffic(in, out)});
    };
    double read = 0, written = 0, flops = 0, before = 0;
    UnitWork busy;
    if (!body_.runs.empty()) kernel.first = traffic(body_.runs.front().in / cores, 0);
    for (size_t r = 0; r < body_.runs.size(); ++r) {
      const mosaic::StepRun& run = body_.runs[r];
      const auto count = static_cast<double>(run.count);
      const double next = r + 1 < body_.runs.size() ? body_.runs[r + 1].in : 0;
      // Inside a run the block of the next step is one of the run's own, and so is what the one before left.
      add(1, run.work, run.count > 1 ? run.in : next, before);
      add(count - 2, run.work, run.in, run.out);
      add(run.count > 1 ? 1 : 0, run.work, next, run.out);
      before = run.out;
      read += count * run.in, written += count * run.out;
      add_work(body_.works[run.work], kernel.works[run.work], count, busy, flops);
    }
    kernel.last = traffic(0, before / cores);
    cut_between_cores();
    kernel.grid_steps = static_cast<double>(body_.steps) / cores;
    made_.planned.time = time_of(kernel, core_);
    made_.time = ceil_picoseconds(made_.planned.time.time);
    const auto set_busy = [&](Unit unit, double of_all) {
      made_.busy[index_of(unit)] = ceil_picoseconds(of_all / cores);
    };
    set_busy(Unit::kMxu, busy.mxu);
    set_busy(Unit::kVpu, busy.vpu);
    set_busy(Unit::kEup, busy.eup);
    set_busy(Unit::kXlu, busy.xlu);
    set_busy(Unit::kScalar, busy.scalar);
    made_.read = bytes_of(read + copied_ / 2), made_.written = bytes_of(written + copied_ / 2);
    made_.flops = Flops(static_cast<int64_t>(std::min(flops, 9e18)));
  }

  /// One core begins where another one ends: its first block is fetched before its first step, the other's
  /// last one leaves after its last step. The steps are cut among the most numerous ones.
  void cut_between_cores() {
    Kernel& kernel = made_.planned.kernel;
    if (made_.cores <= 1 || kernel.steps.empty()) return;
    const auto most = std::ranges::max_element(kernel.steps, {}, &StepClass::count);
    const double cuts = std::min(1 - 1 / static_cast<double>(made_.cores), most->count / 2);
    const StepClass inside = *most;
    const double in = inside.traffic.in[0], out = inside.traffic.out[0];
    most->count -= 2 * cuts;
    kernel.first.in[0] += cuts * in, kernel.last.out[0] += cuts * out;
    for (const BlockTraffic& at_end : {traffic(in, 0), traffic(0, out)}) {
      const auto same = std::ranges::find_if(kernel.steps, [&](const StepClass& step) {
        return step.work == inside.work && step.traffic == at_end;
      });
      if (same != kernel.steps.end())
        same->count += cuts;
      else
        kernel.steps.push_back({cuts, inside.work, at_end});
    }
  }

  void add_work(const StepWork& work, const UnitWork& step, double count, UnitWork& busy, double& flops) {
    busy.mxu += count * step.mxu, busy.vpu += count * step.vpu, busy.eup += count * step.eup;
    busy.xlu += count * step.xlu, busy.scalar += count * step.scalar;
    copied_ += count * work.copied;
    for (const KernelProduct& p : work.products)
      flops += count * p.times * 2 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
               static_cast<double>(p.n) * static_cast<double>(p.k);
    double elements = 0;
    const double per_register = core_.register_elements();
    for (const mosaic::VectorAmount& amount : work.vector)
      elements += (amount.words + amount.halves) * per_register;
    const auto& exponentials = work.vector[static_cast<size_t>(VectorClass::kTranscendental)];
    made_.vector_operations += static_cast<int64_t>(std::min(count * elements, 1e18));
    made_.transcendentals += static_cast<int64_t>(
        std::min(count * (exponentials.words + exponentials.halves) * per_register, 1e18));
  }

  const KernelBody& body_;
  const DeviceConfig& device_;
  Core core_;
  MemorySystem memory_;
  double copied_ = 0;
  KernelBodyCost made_;
};

}  // namespace

KernelBodyCost kernel_body_cost(const KernelBody& body, const DeviceConfig& device, Bytes scoped_vmem) {
  return BodyCost(body, device).of(scoped_vmem);
}

}  // namespace hlosim
