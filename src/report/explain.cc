#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "hlo/user_index.h"
#include "layout/shape_text.h"
#include "model/custom_call_costs.h"
#include "model/memory_system.h"
#include "model/pallas/custom_call_cost_source.h"
#include "model/strided_access.h"
#include "report/explain_kernel.h"
#include "report/explain_kernel_body.h"
#include "report/explain_transfer.h"
#include "text/json.h"
#include "text/text_builder.h"

namespace hlosim {
namespace {

constexpr std::string_view kTerms = "of the terms above";
constexpr std::string_view kGivenBlocks = "the module's window_config";
constexpr std::string_view kPlan = "the best blocks that fit (docs/timing_model.md)";

/// What an instruction's own time is made of.
enum class Role : uint8_t { kWork, kOnLinks, kStart, kDone, kCaller, kNothing };

/// `on_links`: a collective that the TensorCore waits for.
Role role_of(const OpDef& def, bool on_links) {
  if (def.has(kAsyncStart)) return Role::kStart;
  if (def.has(kAsyncDone) || def.has(kAsyncUpdate)) return Role::kDone;
  if (def.has(kCallsInline)) return Role::kCaller;
  if (def.has(kFree)) return Role::kNothing;
  return on_links ? Role::kOnLinks : Role::kWork;
}

class Explainer {
 public:
  /// `launch`: of the collective, in what isn't hidden. `given`: the user's cost of a custom call, or null;
  /// `given_by`: where it stands.
  Explainer(const Device& device, const CostDetails& details, Role role, Picoseconds launch,
            const CustomCallCost* given, std::string given_by)
      : device_(device),
        config_(device.config),
        core_(device.config),
        cost_(details.cost),
        compute_(details.compute),
        kernel_(details.kernel ? &*details.kernel : nullptr),
        fixed_(details.fixed),
        role_(role),
        launch_(launch),
        given_(given),
        given_by_(std::move(given_by)) {}

  /// Of a kernel's body, which says what the units do.
  std::vector<ExplainedTerm> terms_with(const KernelOfCall& kernel) {
    terms_ = terms_of_kernel(device_, kernel);
    for (size_t i = 0; i < config_.memory.size(); ++i) memory(i);
    body_not_hidden(kernel.cost.time);
    whole();
    return std::move(terms_);
  }

  std::vector<ExplainedTerm> terms() {
    if (role_ != Role::kWork && role_ != Role::kOnLinks) {
      issue();
      return std::move(terms_);
    }
    matmul();
    vector_unit();
    around_product();
    beside(Unit::kEup, compute_.slots.eup);
    beside(Unit::kXlu, compute_.slots.xlu);
    beside(Unit::kScalar, compute_.slots.scalar);
    for (size_t i = 0; i < config_.memory.size(); ++i) memory(i);
    user();
    if (!(given_ && given_->time)) {
      if (kernel_) terms_.push_back(kernel_term(device_, *kernel_, "blocks"));
      not_hidden();
    }
    whole();
    return std::move(terms_);
  }

 private:
  /// Starts, dones and calls: what they do themselves.
  void issue() {
    const char* const formula = role_ == Role::kStart    ? "issue / clock; what it starts runs beside"
                                : role_ == Role::kDone   ? "nothing but waiting for what was started"
                                : role_ == Role::kCaller ? "instruction; what it calls has times of its own"
                                                         : "nothing moves";
    const bool takes_time = cost_.time().count() > 0;
    ExplainedTerm& term =
        add("time", role_ == Role::kCaller && !takes_time ? "what it calls has times of its own" : formula,
            cost_.time());
    if (!takes_time) return;
    if (role_ == Role::kStart) {
      key(term, "issue", "dma.issue");
      key(term, "clock", "clock");
    } else {
      key(term, "instruction", "overhead.instruction");
    }
  }

  ExplainedTerm& add(std::string name, std::string formula, Picoseconds result) {
    terms_.push_back({std::move(name), std::move(formula), {}, result});
    return terms_.back();
  }
  void key(ExplainedTerm& term, std::string name, const std::string& path) const {
    term.add_key(device_, std::move(name), path);
  }
  void cores(ExplainedTerm& term) const {
    if (config_.cores > 1) key(term, "cores", "cores");
  }
  Picoseconds busy(Unit unit) const { return cost_.busy[index_of(unit)]; }
  static std::string count(double value) {
    return value < 1e15 && value == static_cast<double>(static_cast<int64_t>(value))
               ? grouped(static_cast<int64_t>(value))
               : fmt::format("{:.6g}", value);
  }

  void matmul() {
    const MatmulPart& part = compute_.matmul;
    if (part.cycles <= 0) return;
    ExplainedTerm& term =
        add("MXU",
            "steps x passes x (cadence x issues x t + latch + max(latch - cadence x issues, 0) x (t - 1) + "
            "latency) / clock,\n"
            "issues = ceil(bm / rows / r), t = ceil(tiles x r / count), tiles = batch x ceil(bk / depth) x "
            "ceil(bn / width),\n"
            "latch = latch cadence x ceil(min(bk, depth) / latch rows), r the best of 1 ... count",
            busy(Unit::kMxu));
    const MatmulWork& work = part.work;
    term.add("product", fmt::format("{} x [{},{}]x[{},{}]", work.batch, work.m, work.k, work.k, work.n));
    if (kernel_) {
      const ProductBlocks& b = kernel_->kernel.blocks;
      const std::string_view from = b.given       ? kGivenBlocks
                                    : work.ragged ? "kernel.ragged_rows, ragged_columns and ragged_depth"
                                                  : kPlan;
      term.add("block", fmt::format("{} x [{},{}]x[{},{}]", b.batch, b.m, b.k, b.k, b.n), from);
      term.add("steps", count(kernel_->kernel.grid_steps), from);
    }
    const std::string type = fmt::format("mxu.types.{}.", to_text(part.rate.lhs));
    term.add(
        "passes", count(static_cast<double>(part.rate.passes)),
        part.rate.emulated ? "mxu.emulated, and the precision of the module" : "the precision of the module");
    for (const char* name : {"cadence", "rows", "latency"}) key(term, name, type + name);
    const std::string weights = fmt::format("mxu.types.{}.", to_text(part.rate.rhs));
    key(term, "latch rows", weights + "latch_rows");
    key(term, "latch cadence", weights + "latch_cadence");
    key(term, "depth", "mxu.rows");
    key(term, "width", "mxu.columns");
    key(term, "count", "mxu.count");
    key(term, "clock", "clock");
    cores(term);
    if (kernel_ && kernel_->kernel.blocks.shared != SharedDimension::kNone)
      term.add("shared by", std::string(to_text(kernel_->kernel.blocks.shared)),
               kernel_->kernel.blocks.given ? kGivenBlocks : kPlan);
    if (compute_.mxu_cycles > part.cycles)
      term.add("further products", count(compute_.mxu_cycles - part.cycles) + " cycles of all arrays", kPlan);
  }

  void vector_unit() {
    if (busy(Unit::kVpu).count() == 0) return;
    const MatmulPart& part = compute_.matmul;
    ExplainedTerm& term = add("VPU", "(slots + conversions) / (alus x cores) / clock", busy(Unit::kVpu));
    term.add("slots", count(compute_.slots.alu), "operations of the module x vpu.ops, on padded registers");
    if (part.lhs.convert + part.rhs.convert > 0)
      term.add("conversions",
               fmt::format("left {} once per block of columns, right {} once per block of rows",
                           count(part.lhs.convert), count(part.rhs.convert)),
               "mxu.emulated.TYPE.convert");
    key(term, "alus", "vpu.alus");
    key(term, "clock", "clock");
    cores(term);
  }

  /// What the vector unit does to the operands and results of a product, and what of it finds no slots.
  void around_product() {
    if (!kernel_ || kernel_->kernel.works.front().around <= 0) return;
    const UnitWork& work = kernel_->kernel.works.front();
    ExplainedTerm& term = add("vector work around the product", "exposed x bundles + stalls x MXU",
                              ceil_picoseconds(core_.exposed_vector(work.around, work.mxu)));
    producers(term, "left operand, once", compute_.matmul.lhs.producers);
    producers(term, "right operand, once", compute_.matmul.rhs.producers);
    term.add("bundles", to_text(ceil_picoseconds(work.around)),
             "operands anew for each block of the other one, and results");
    key(term, "exposed", "mxu.vector_exposed");
    key(term, "stalls", "mxu.vector_stalls");
    key(term, "ALU slots of a bundle", "vpu.alus");
    key(term, "EUP slots", "eup.count");
    cores(term);
  }

  static void producers(ExplainedTerm& term, std::string name, const IssueSlots& slots) {
    if (slots.alu + slots.eup + slots.xlu <= 0) return;
    term.add(std::move(name),
             fmt::format("{} ALU, {} EUP, {} XLU", count(slots.alu), count(slots.eup), count(slots.xlu)),
             "slots: operations of the module x vpu.ops");
  }

  void beside(Unit unit, double operations) {
    if (busy(unit).count() == 0) return;
    const std::string section(unit_row(unit).section);
    ExplainedTerm& term =
        add(std::string(unit_row(unit).name), "operations x cadence / (count x cores) / clock", busy(unit));
    term.add("operations", count(operations), "operations of the module x vpu.ops, on padded registers");
    if (compute_.scattered_accesses > 0 && unit == Unit::kScalar) {
      term.add("accesses", count(static_cast<double>(compute_.scattered_accesses)));
      key(term, "issue", "dma.issue");
    }
    key(term, "cadence", section + ".cadence");
    key(term, "count", section + ".count");
    key(term, "clock", "clock");
    cores(term);
  }

  void memory(size_t space) {
    const Traffic& traffic = cost_.traffic[space];
    const Unit unit = memory_unit(space);
    const MemorySpace& config = config_.memory[space];
    if (busy(unit).count() == 0 || config.scope == MemoryScope::kHost) return;
    const bool is_hbm = &config == &config_.hbm();
    const bool turns = is_hbm && (config.read || config.write);
    ExplainedTerm& term =
        add(unit_name(config_, unit),
            turns    ? "2 x the smaller / min(bandwidth, DMA x cores) + the rest / its own rate"
            : is_hbm ? "(read + written) / min(bandwidth, DMA x cores)"
                     : "max(read / read rate, written / write rate, both / bandwidth)",
            busy(unit));
    term.add("read", to_text(traffic.read), "the module; what comes in again included");
    term.add("written", to_text(traffic.written));
    const auto comes_in = [&](const char* operand, double times) {
      if (times > 1) term.add(operand, fmt::format("{:g} times", times), kPlan);
    };
    const bool is_vmem = &config == config_.memory_space(int64_t{1});
    if (kernel_ && !is_vmem) comes_in("left operand comes in", kernel_->kernel.lhs_times);
    if (kernel_ && !is_vmem) comes_in("right operand comes in", kernel_->kernel.rhs_times);
    const std::string path = "memory." + config.name;
    key(term, "bandwidth", path + ".bandwidth");
    key(term, "read rate", path + ".read");
    key(term, "write rate", path + ".write");
    if (is_hbm) {
      key(term, "DMA", "dma.bandwidth");
      cores(term);
    }
    if (given_ && given_->time && busy(unit) == *given_->time)
      term.add("at most", to_text(*given_->time), given_by_);
    if (is_hbm) short_runs(term);
    if (is_vmem) moves(term);
    if (is_hbm && compute_.scattered_accesses > 0) {
      term.add("accesses", count(static_cast<double>(compute_.scattered_accesses)));
      key(term, "least per access", "dma.full_rate_run");
    }
  }

  /// Windows that cut through tiles take the DMA engines longer than their bytes say.
  void short_runs(ExplainedTerm& term) const {
    const auto runs = [&](const char* what, const ShortRuns& some) {
      if (some.runs > 0)
        term.add(what, fmt::format("{} in {} rows", count(some.runs), count(some.rows)),
                 "window_runs() of the layouts; at least runs x short run + rows x row");
    };
    runs("short runs read", compute_.hbm_reads);
    runs("short runs written", compute_.hbm_writes);
    if (compute_.hbm_reads.runs + compute_.hbm_writes.runs == 0) return;
    key(term, "short run", "dma.short_run");
    key(term, "row", "dma.short_run_row");
  }

  void moves(ExplainedTerm& term) const {
    const bool on_chip = cost_.traffic[MemorySystem(config_).hbm()].total().count() == 0;
    const double tiles = on_chip ? compute_.moved_tiles : compute_.regrouped_tiles;
    if (tiles <= 0) return;
    term.add("tiles that move", count(tiles),
             "the smaller tiles of both layouts; at least tiles x tile move");
    key(term, "tile move", "vmem.tile_move");
  }

  void user() {
    if (busy(Unit::kCustom).count() > 0) {
      ExplainedTerm& term = add("custom call", "time", busy(Unit::kCustom));
      term.add("time", to_text(busy(Unit::kCustom)), given_by_);
    }
    if (busy(Unit::kHost).count() > 0) {
      ExplainedTerm& term = add("host", "bytes / PCIe", busy(Unit::kHost));
      key(term, "PCIe", "host.pcie.bandwidth");
    }
  }

  void body_not_hidden(Picoseconds grid) {
    ExplainedTerm& fixed = add("not hidden", "grid + instruction - longest unit", cost_.fixed);
    fixed.add("grid", to_text(grid), kTerms);
    key(fixed, "instruction", "overhead.instruction");
    fixed.add("longest unit", to_text(cost_.stream), kTerms);
  }

  void not_hidden() {
    const FixedTime& parts = fixed_;
    const bool on_links = role_ == Role::kOnLinks, has_least = parts.smallest.count() > 0;
    const Traffic& hbm = cost_.traffic[MemorySystem(config_).hbm()];
    const std::string unit = on_links ? "longest unit but for links" : "longest unit";
    std::string formula = kernel_ ? "max(blocks - " + unit + ", 0)" : "";
    const auto plus = [&](bool is_there, std::string_view name) {
      if (is_there) formula += fmt::format("{}{}", formula.empty() ? "" : " + ", name);
      return is_there;
    };
    const bool begins = plus(parts.instruction.count() > 0, "instruction");
    const bool waits = plus(parts.latency.count() > 0, "latencies");
    const bool ends = plus(parts.fused_done.count() > 0, "end of the collective");
    if (parts.unloaded_latency_credit.count() > 0) formula += " - idle gain";
    if (has_least) formula += ", at least smallest - " + unit;
    if (on_links) formula += formula.empty() ? "launch" : ", + launch";
    ExplainedTerm& term = add("not hidden", formula.empty() ? "nothing" : formula, cost_.fixed);
    if (kernel_) term.add("blocks", to_text(parts.kernel), kTerms);
    if (kernel_ || has_least) term.add(unit, to_text(parts.longest), kTerms);
    if (begins) key(term, "instruction", "overhead.instruction");
    if (waits) term.add("latencies", to_text(parts.latency), latency_keys(hbm));
    if (ends) key(term, "end of the collective", "ici.fused_done");
    if (parts.unloaded_latency_credit.count() > 0)
      term.add("idle gain", to_text(parts.unloaded_latency_credit),
               "its latencies - those of a loaded memory");
    if (has_least)
      key(term, "smallest", hbm.read.count() > 0 ? "overhead.smallest_fusion" : "overhead.smallest_write");
    if (on_links) term.add("launch", to_text(launch_), kTerms);
  }

  std::string latency_keys(const Traffic& hbm) const {
    std::vector<std::string> keys;
    if (hbm.read.count() > 0) keys.emplace_back("dma.read_latency");
    if (hbm.written.count() > 0) keys.emplace_back("dma.write_latency");
    std::string text = fmt::format("{}", fmt::join(keys, " + "));
    if (fixed_.is_scattered)
      text = fmt::format("{} accesses x {} / dma.outstanding / cores", grouped(compute_.scattered_accesses),
                         keys.size() > 1 ? "(" + text + ")" : text);
    if (cost_.category == CostCategory::kHost)
      text += (text.empty() ? "" : " + ") + std::string("host.pcie.latency");
    return text;
  }

  void whole() {
    if (given_ && given_->time) {
      add("time", "time", cost_.time()).add("time", to_text(cost_.time()), given_by_);
      return;
    }
    ExplainedTerm& all = add("time", "longest unit + not hidden", cost_.time());
    all.add("longest unit", to_text(cost_.stream), kTerms);
    all.add("not hidden", to_text(cost_.fixed), kTerms);
  }

  const Device& device_;
  const DeviceConfig& config_;
  const Core core_;
  const InstructionCost& cost_;
  const ComputeSummary& compute_;
  const TimedKernel* const kernel_;  // null: it does not go in blocks
  const FixedTime& fixed_;
  const Role role_;
  const Picoseconds launch_;
  const CustomCallCost* const given_;
  const std::string given_by_;
  std::vector<ExplainedTerm> terms_;
};

/// What the run says of the instruction; `cost`: its own, where that of the run is not what links take.
void add_run(const Module& module, const OpDef& def, const DeviceConfig& device, InstructionId id,
             const Simulation& simulation, Explanation& result, InstructionCost& cost) {
  Unit bound_by = Unit::kNone;
  for (const InstructionRecord& record : simulation.instructions) {
    if (record.id != id) continue;
    result.executions += record.executions;
    result.in_run += record.time;
    result.waited += record.exposed;
    result.computation = std::string(module[record.computation].name);
    bound_by = record.bound_by;
    if (record.waited_for >= 0)
      result.waited_for =
          module[simulation.transfers[static_cast<size_t>(record.waited_for)].start_instruction].name;
    // Links are no part of cost_details().
    const bool on_links = record.cost.busy[index_of(Unit::kIci)].count() > 0;
    if ((def.has(kCollective) && !def.has(kAsyncStart)) || on_links) cost = record.cost;
  }
  const Picoseconds rest = result.in_run - result.waited;
  const auto alone = static_cast<double>(cost.time().count()) * static_cast<double>(result.executions);
  const bool is_work = !def.has(kCallsInline) && result.executions > 0 && alone < 9e18;
  if (is_work && rest > Picoseconds(static_cast<int64_t>(alone))) {
    result.shared = rest - Picoseconds(static_cast<int64_t>(alone));
    result.bound_in_run = unit_name(device, bound_by);
  }
  for (const LoopRecord& loop : simulation.loops)
    if (loop.id == id) result.loop = &loop;
}

/// Fusions, calls and starts that run a computation's instructions, and that run themselves.
void add_runners(const Module& module, ComputationId computation, const UserIndex& users,
                 const std::unordered_set<InstructionId>& running, std::unordered_set<ComputationId>& seen,
                 std::vector<std::string>& names) {
  if (!seen.insert(computation).second) return;
  for (const InstructionId caller : users.callers(computation)) {
    if (!running.contains(caller))
      add_runners(module, module[caller].parent, users, running, seen, names);
    else if (std::find(names.begin(), names.end(), module[caller].name) == names.end())
      names.emplace_back(module[caller].name);
  }
}

std::unordered_set<InstructionId> running_in(const Simulation& simulation) {
  std::unordered_set<InstructionId> running;
  for (const InstructionRecord& record : simulation.instructions)
    if (record.executions > 0) running.insert(record.id);
  return running;
}

/// A collective inside of a wrapper takes what it takes on the links; the wrapper's start moves its bytes.
bool is_wrapped(const Explanation& e) {
  return e.executions == 0 && e.transfers.size() == 1 && e.transfers[0].collectives.size() == 1 &&
         e.transfers[0].collectives[0].instruction == e.instruction;
}

void explain_wrapped(const Device& device, Explanation& e) {
  const CollectiveCost& collective = e.transfers[0].collectives[0].cost;
  const Unit driver = collective.driver == Unit::kNone ? Unit::kIci : collective.driver;
  e.cost = {};
  e.cost.stream = collective.stream(), e.cost.fixed = collective.launch;
  e.bound_by = unit_name(device.config, driver);
  e.terms = terms_of(e.transfers[0], device);
  const std::string launch = e.cost.fixed.count() > 0 ? "launch + " : "";
  e.terms.push_back({"time", launch + "links, or what drives them if that is longer", {}, e.cost.time()});
}

std::vector<ExplainedTerm> terms_of_cost(const Module& module, const Device& device,
                                         const CostOptions& options, const CostDetails& own, Role role,
                                         Picoseconds launch, const Instruction& instruction,
                                         std::string& given_by) {
  const CustomCallCost* given = options.custom_calls ? options.custom_calls->find(instruction) : nullptr;
  if (given) given_by = fmt::format("the user's \"{}\", {}", given->key, given->place());
  KernelBodies kernels(device.config, options.custom_calls);
  std::string problem;
  const KernelOfCall* const body = given ? nullptr : kernels.find(module, instruction, problem);
  if (body) given_by = "its body, step by step of its grid";
  const CustomCallCostSource known =
      given || body ? CustomCallCostSource{} : custom_call_cost_source(module, instruction, device.config);
  if (known) given_by = fmt::format("its {}", known.text(device.config));
  Explainer explainer(device, own, role, launch, given, given_by);
  if (body) return explainer.terms_with(*body);
  if (known.kernel) return kernel_terms(device, *known.kernel, own.cost);
  if (known.estimate) return estimate_terms(device, *known.estimate, own.cost);
  return explainer.terms();
}

}  // namespace

void ExplainedTerm::add_key(const Device& device, std::string number, const std::string& key) {
  if (const DeviceValue* value = device.value(key))
    numbers.push_back({std::move(number), value->text, key, value->source});
}

InstructionId find_instruction(const Module& module, const Simulation& simulation, std::string_view name,
                               std::string_view computation) {
  const auto bare = [](std::string_view text) { return text.starts_with('%') ? text.substr(1) : text; };
  const std::unordered_set<InstructionId> running = running_in(simulation);
  InstructionId first;
  for (const Computation& one : module.computations) {
    if (!computation.empty() && bare(one.name) != bare(computation)) continue;
    for (const InstructionId id : one.instructions) {
      if (bare(module[id].name) != bare(name)) continue;
      if (running.contains(id)) return id;
      if (!first.valid()) first = id;
    }
  }
  return first;
}

Result<Explanation> explain(const Module& module, const OpTable& table, const Device& device,
                            const CostOptions& options, InstructionId id, const Simulation& simulation) {
  const Result<CostDetails> details = cost_details(module, table, device, options, id);
  if (!details) return tl::unexpected(details.error());
  const Instruction& instruction = module[id];
  const OpDef& def = table[instruction.opcode];
  CostDetails own = *details;
  Explanation result;
  result.instruction = std::string(instruction.name);
  result.opcode = std::string(def.name);
  result.device = device.config.name;
  result.computation = std::string(module[instruction.parent].name);
  add_run(module, def, device.config, id, simulation, result, own.cost);
  result.cost = own.cost;
  result.bound_by = unit_name(device.config, own.cost.bound_by);
  if (result.executions == 0) {
    std::unordered_set<ComputationId> seen;
    add_runners(module, instruction.parent, UserIndex(module), running_in(simulation), seen, result.run_by);
  }
  const bool on_links = own.cost.busy[index_of(Unit::kIci)].count() > 0 ||
                        (def.has(kCollective) && result.executions > 0);  // even if it goes nowhere
  const Role role = role_of(def, on_links);
  result.transfers = transfers_of(module, table, simulation, id);
  Picoseconds launch{};
  if (role == Role::kOnLinks)
    for (const ExplainedTransfer& transfer : result.transfers)
      if (transfer.record.collective) launch += transfer.record.collective->launch;
  result.terms = terms_of_cost(module, device, options, own, role, launch, instruction, result.given_by);
  if (is_wrapped(result)) {
    explain_wrapped(device, result);
    return result;
  }
  for (const ExplainedTransfer& transfer : result.transfers) {
    std::vector<ExplainedTerm> terms = terms_of(transfer, device);
    // The instruction's own time comes last; what a collective takes on the links is part of it.
    const bool is_own = role == Role::kOnLinks;
    result.terms.insert(result.terms.end() - (is_own ? 2 : 1), std::make_move_iterator(terms.begin()),
                        std::make_move_iterator(terms.end()));
  }
  return result;
}

}  // namespace hlosim
