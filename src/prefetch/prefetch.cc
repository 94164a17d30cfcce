#include "prefetch/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <tuple>

#include "buffers/buffer_analysis.h"
#include "memory/occupancy.h"
#include "model/memory_system.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "ops/dataflow.h"
#include "prefetch/prefetch_bound.h"
#include "prefetch/prefetch_model.h"
#include "prefetch/prefetch_order.h"
#include "prefetch/prefetch_pack.h"
#include "prefetch/prefetch_simulator.h"
#include "prefetch/prefetch_strip.h"
#include "prefetch/prefetch_xla.h"

namespace hlosim {

std::string_view to_text(PrefetchAlgorithm algorithm) {
  constexpr std::string_view kNames[] = {"strip", "xla", "greedy", "strong"};
  return kNames[static_cast<size_t>(algorithm)];
}

namespace {

Module scheduled(const Module& given, const OpTable& table, const InstructionOrder& order) {
  Module module = given.copy();
  for (size_t c = 0; c < order.size(); ++c) {
    const ComputationId id{static_cast<int32_t>(c)};
    if (!order[id].empty()) module.computations[id].instructions = order[id];
  }
  mark_scheduled(module);
  return compacted(module, table);
}

/// Operands first in the order of execution, as one that needs little memory.
Result<InstructionOrder> memory_order(const Module& module, const OpTable& table) {
  BufferOptions options;
  options.padded = true;
  const auto analysis = analyse_buffers(module, table, options);
  if (!analysis) return tl::unexpected(analysis.error());
  InstructionOrder order(module.computations.size());
  for (const InstructionId id : (*analysis)->schedule.steps) order[module[id].parent].push_back(id);
  return order;
}

class Tuner {
 public:
  Tuner(const OpTable& table, const Device& device, const PrefetchOptions& options)
      : table_(table),
        device_(device),
        options_(options),
        memory_(device.config),
        simulate_(options.simulate),
        until_(std::chrono::steady_clock::now() +
               std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                   std::chrono::duration<double>(std::clamp(options.budget, 0.0, 1e6)))) {
    simulate_.keep_timeline = false;
    simulate_.cross_program_prefetch_is_done = false;
  }

  Result<PrefetchResult> run(const Module& given) {
    if (on_chip_memory(device_.config).space < 0)
      return failure(
          fmt::format("{} has no on-chip memory that values could be kept in", device_.config.name));
    auto input = prepare(given);
    if (!input) return tl::unexpected(std::move(input.error()));
    const Module stripped = strip(*input);
    const bool has_own = had_copies_;
    if (auto done = keep("input", *input, nullptr, {}, 0); !done)
      return tl::unexpected(std::move(done.error()));
    out_.input = as_given_.value_or(kept_.back().candidate.times);
    if (auto done = keep("stripped", stripped, nullptr, {}, 0); !done)
      return tl::unexpected(std::move(done.error()));
    out_.stripped = kept_.back().candidate.times;
    if (options_.algorithm == PrefetchAlgorithm::kStrip) return finish(1);
    const bool both = has_own && options_.algorithm == PrefetchAlgorithm::kStrong;
    if (auto done = solve("", stripped, both ? 0.6 : 0.9); !done)
      return tl::unexpected(std::move(done.error()));
    if (both && !is_cut())
      if (auto done = solve(" beside what was there", *input, 1); !done)
        return tl::unexpected(std::move(done.error()));
    return finish(best());
  }

 private:
  struct Kept {
    PrefetchCandidate candidate;
    Module module;
    std::shared_ptr<PrefetchModel> model;  // null: nothing was decided
    PackedPlans packed;
  };

  // ── modules ──

  /// Scheduled.
  Result<Module> prepare(const Module& given) {
    Module module = compacted(given, table_);
    if (options_.algorithm != PrefetchAlgorithm::kStrip) module = with_spelled_bitcasts(std::move(module));
    if (module.is_scheduled()) return module;
    // By the text, or with little memory: whatever is faster.
    const Result<InstructionOrder> order = memory_order(with_tiles(module), table_);
    Module by_text = scheduled(module, table_, make_schedule(module, table_).order);
    if (!order) return by_text;
    Module by_memory = scheduled(module, table_, *order);
    const auto text_time = measure(by_text), memory_time = measure(by_memory);
    if (!text_time) return tl::unexpected(text_time.error());
    if (!memory_time) return tl::unexpected(memory_time.error());
    const bool use_memory = memory_time->time <= text_time->time;
    as_given_ = *text_time;
    out_.assumptions.push_back(use_memory
                                   ? "the module is not scheduled: it runs in an order of little memory"
                                   : "the module is not scheduled: it runs in the order of the text");
    return use_memory ? std::move(by_memory) : std::move(by_text);
  }

  /// A text without tiles has bitcasts that move something in the tiles which it is simulated with. These are
  /// work; what is decided about their results has to be true of the text, too.
  Module with_spelled_bitcasts(Module module) {
    if (spell_out_bitcasts_that_move(module, tiling_policy(device_.config)) > 0)
      add_assumption("bitcasts that move something in tiles are written as reshapes and transposes");
    return compacted(module, table_);
  }

  /// The same, instruction by instruction, as it is simulated: a text without tiles stays one.
  Module with_tiles(const Module& module) const { return lay_out(module, device_).module; }

  Module strip(const Module& input) {
    Module module = input.copy();
    ModuleEditor editor(module);
    const StripSummary summary = strip_prefetches(editor, table_, device_.config);
    out_.removed_copies = summary.copies;
    had_copies_ = summary.copies > 0 || summary.values > 0;
    return compacted(module, table_);
  }

  Result<PrefetchTimes> measure(const Module& written) {
    const Module module = with_tiles(written);
    const Result<Simulation> simulation = simulate(module, table_, device_, simulate_);
    if (!simulation) return tl::unexpected(simulation.error());
    PrefetchTimes times;
    times.time = times.time_prefetched = simulation->totals.makespan;
    times.exposed = simulation->totals.exposed_copies;
    times.hbm_bytes = simulation->totals.traffic[memory_.hbm()].total().count();
    const bool across = std::ranges::any_of(
        simulation->transfers, [](const TransferRecord& transfer) { return transfer.cross_program; });
    if (!across) return times;
    SimulateOptions done = simulate_;
    done.cross_program_prefetch_is_done = true;
    const Result<Simulation> prefetched = simulate(module, table_, device_, done);
    if (!prefetched) return tl::unexpected(prefetched.error());
    times.time_prefetched = prefetched->totals.makespan;
    return times;
  }

  // ── plans ──

  bool out_of_time(double part) const {
    const auto left = std::chrono::duration<double>(until_ - std::chrono::steady_clock::now()).count();
    return left < options_.budget * (1 - part);
  }
  /// What is left to search would end at once, with a plan that is known already.
  bool is_cut() {
    out_.cut |= is_over();
    return is_over();
  }
  bool is_over() const { return out_of_time(part_) || !simulate_.go_on(); }

  PrefetchLimits limits() const {
    const XlaKnobs& knobs = options_.knobs;
    PrefetchLimits limits;
    limits.capacity = knobs.max_size_in_bytes;
    if (knobs.scoped_vmem_limit_kib >= 0) limits.scratch = knobs.scoped_vmem_limit_kib * 1024;
    limits.alignment = knobs.alignment_in_bytes;
    limits.copy_rate = knobs.async_copy_bandwidth_scaling_factor;
    limits.max_prefetches = static_cast<int32_t>(knobs.max_outstanding_prefetches);
    limits.max_evictions = static_cast<int32_t>(knobs.max_outstanding_evictions);
    limits.replace_copies = knobs.enable_sync_copy_replacement;
    limits.replace_slices = knobs.enable_sync_slice_replacement;
    limits.extra_prefetches =
        static_cast<int32_t>(knobs.extend_async_copies_limit_for_sync_mem_op_conversion);
    return limits;
  }

  /// `part` of the budget may be gone when it is done.
  Result<void> solve(const std::string& suffix, const Module& module, double part) {
    part_ = part;
    tiled_.push_back(std::make_unique<Module>(with_tiles(module)));
    Module& tiled = *tiled_.back();
    const Result<Simulation> baseline = simulate(tiled, table_, device_, simulate_);
    if (!baseline) return tl::unexpected(baseline.error());
    const bool reorder = !options_.keep_order && options_.algorithm == PrefetchAlgorithm::kStrong;
    const InstructionOrder order =
        reorder ? with_free_ones_late(tiled, table_, baseline->schedule.order) : baseline->schedule.order;
    auto made = make_prefetch_model(tiled, table_, device_, order, *baseline, simulate_, limits());
    if (!made) return tl::unexpected(std::move(made.error()));
    const auto model = std::make_shared<PrefetchModel>(std::move(*made));
    if (reorder) find_freedom(tiled, table_, *model);
    const PrefetchProblem& problem = model->problem;
    const double bound = lower_bound_of(problem).time();
    bound_ = bound_ < 0 ? bound : std::min(bound_, bound);
    out_.sites = std::max<int64_t>(out_.sites, problem.sites());
    out_.values = std::max<int64_t>(out_.values, static_cast<int64_t>(problem.values.size()));
    out_.capacity = problem.capacity;
    for (const std::string& text : model->assumptions) add_assumption(text);
    kept_[suffix.empty() ? 1 : 0].candidate.objective = PrefetchSimulator(problem).time();
    if (options_.algorithm != PrefetchAlgorithm::kGreedy) {
      const XlaPlans xla =
          xla_prefetch(problem, options_.knobs, xla_hints(tiled, table_, *model, options_.knobs));
      const int32_t across = xla.cross_program.empty() ? -1 : xla.cross_program[0];
      if (auto done = keep("xla" + suffix, module, model, xla.plans, 0, across, xla.offsets); !done)
        return done;
      if (options_.algorithm == PrefetchAlgorithm::kXla) return {};
    }
    return search(suffix, module, model);
  }

  Result<void> search(const std::string& suffix, const Module& module,
                      const std::shared_ptr<PrefetchModel>& model) {
    const PrefetchProblem& problem = model->problem;
    PrefetchSearchOptions search;
    search.seed = options_.seed;
    // Bytes first, but a plan among those that move equally little should still be short.
    if (options_.objective == PrefetchObjective::kBytes) search.traffic_weight = 1000;
    search.moves = options_.moves.value_or(std::clamp<int64_t>(int64_t{400} * problem.sites(), 2000, 200000));
    search.out_of_time = [this] { return is_over(); };
    PrefetchPlans found = greedy_prefetch(problem, search);
    const auto note = [&] {
      out_.cut |= found.cut;
      out_.evaluations += found.evaluations;
    };
    note();
    if (auto done = keep("greedy" + suffix, module, model, found.plans, found.time); !done) return done;
    if (options_.algorithm == PrefetchAlgorithm::kGreedy || is_cut()) return {};
    found = improve_prefetch(problem, found, search);
    const PrefetchPlans annealed = found;
    note();
    if (auto done = keep("annealed" + suffix, module, model, found.plans, found.time); !done) return done;
    if (is_cut()) return {};
    // From XLA's plan, too.
    PrefetchPlans start;
    for (const Kept& kept : kept_)
      if (kept.candidate.name == "xla" + suffix) start.plans = kept.packed.plans;
    ++search.seed;
    search.moves /= 2;
    found = improve_prefetch(problem, start, search);
    note();
    if (auto done = keep("annealed from xla" + suffix, module, model, found.plans, found.time); !done)
      return done;
    if (auto done = reorder(suffix, module, model, found.time < annealed.time ? found : annealed, search);
        !done)
      return done;
    if (problem.sites() > options_.most_exact_sites) return {};
    return solve_exactly(suffix, module, model, found);
  }

  /// From the best plan so far, with other orders of the steps.
  Result<void> reorder(const std::string& suffix, const Module& module,
                       const std::shared_ptr<PrefetchModel>& model, const PrefetchPlans& start,
                       PrefetchSearchOptions search) {
    if (!model->problem.freedom.any() || is_cut()) return {};
    ++search.seed;
    search.moves *= 2;
    search.reorder = true;
    const PrefetchPlans found = improve_prefetch(model->problem, start, search);
    out_.cut |= found.cut;
    out_.evaluations += found.evaluations;
    if (found.order.empty() || std::is_sorted(found.order.begin(), found.order.end()))
      return keep("annealed longer" + suffix, module, model, found.plans, found.time);
    const auto other = std::make_shared<PrefetchModel>(in_order(*tiled_.back(), *model, found.order));
    return keep_reordered("reordered" + suffix, module, other, found);
  }

  /// Unless that order needs more of HBM than there is, and than the module did.
  Result<void> keep_reordered(std::string name, const Module& module,
                              const std::shared_ptr<PrefetchModel>& model, const PrefetchPlans& found) {
    if (auto done = keep(std::move(name), module, model, found.plans, found.time); !done) return done;
    const SpaceOccupancy now = hbm_of(kept_.back().module), before = hbm_of(module);
    if (now.capacity && now.peak > *now.capacity && now.peak > before.peak) kept_.pop_back();
    return {};
  }
  SpaceOccupancy hbm_of(const Module& module) {
    const Module tiled = with_tiles(module);
    const Occupancy occupancy = memory_occupancy(tiled, device_.config, make_schedule(tiled, table_).order);
    for (const SpaceOccupancy& space : occupancy.spaces)
      if (space.number == kDefaultMemorySpace) return space;
    return {};
  }

  /// In every order, where there are few.
  Result<void> solve_exactly(const std::string& suffix, const Module& module,
                             const std::shared_ptr<PrefetchModel>& model, const PrefetchPlans& start) {
    const ExactPrefetch exact = exact_prefetch(model->problem, start, kExactNodes);
    int64_t nodes = exact.nodes;
    bool proven = exact.proven;
    if (auto done = keep("exact" + suffix, module, model, exact.best.plans, exact.best.time); !done)
      return done;
    const std::vector<std::vector<int32_t>> orders = all_orders(model->problem, kExactOrders);
    proven = proven && (!model->problem.freedom.any() || !orders.empty());
    std::shared_ptr<PrefetchModel> best;
    PrefetchPlans plans = exact.best;
    for (size_t i = 1; i < orders.size() && nodes < kExactNodes; ++i) {
      const auto other = std::make_shared<PrefetchModel>(in_order(*tiled_.back(), *model, orders[i]));
      PrefetchPlans none;
      none.plans.resize(other->problem.values.size());
      none.time = plans.time;  // only what is faster than that is looked for
      ExactPrefetch solved = exact_prefetch(other->problem, none, kExactNodes - nodes);
      nodes += solved.nodes;
      proven = proven && solved.proven;
      if (solved.best.time >= plans.time * (1 - 1e-12)) continue;
      plans = std::move(solved.best);
      best = other;
    }
    if (orders.size() > 1 && nodes >= kExactNodes) proven = false;
    out_.evaluations += nodes;
    out_.proven |= proven && suffix.empty();
    return best ? keep_reordered("exact, reordered" + suffix, module, best, plans) : Result<void>();
  }

  /// Writes the plan into the module and simulates that.
  Result<void> keep(std::string name, const Module& module, const std::shared_ptr<PrefetchModel>& model,
                    const std::vector<ValuePlan>& plans, double objective, int32_t cross_program = -1,
                    const std::vector<std::vector<int64_t>>& offsets = {}) {
    Kept kept;
    kept.candidate.name = std::move(name);
    kept.candidate.objective = objective;
    kept.model = model;
    if (model) {
      kept.packed = pack_plans(*model, plans, offsets, [this] { return is_over(); });
      out_.cut |= kept.packed.cut;
      const int32_t across = cross_program >= 0 ? cross_program : first_parameter(*model, kept.packed.plans);
      kept.module = apply_prefetches(module, table_, *model, kept.packed.plans, across);
    } else {
      kept.module = module.copy();
    }
    const Result<PrefetchTimes> times = measure(kept.module);
    if (!times) return tl::unexpected(times.error());
    kept.candidate.times = *times;
    kept_.push_back(std::move(kept));
    return {};
  }

  /// The largest parameter whose copy begins with the program: the run before may as well have made it.
  int32_t first_parameter(const PrefetchModel& model, const std::vector<ValuePlan>& plans) const {
    int32_t best = -1;
    if (!options_.knobs.enable_cross_program_prefetch) return best;
    for (size_t v = 0; v < plans.size(); ++v) {
      const PrefetchValue& value = model.problem.values[v];
      if (!value.is_parameter || plans[v].copies.empty() || plans[v].copies[0].start != 0 ||
          plans[v].copies[0].second >= 0)
        continue;
      if (best < 0 || value.bytes > model.problem.values[static_cast<size_t>(best)].bytes)
        best = static_cast<int32_t>(v);
    }
    return best;
  }

  /// By the objective, of what takes no longer than the input.
  size_t best() const {
    if (options_.algorithm != PrefetchAlgorithm::kStrong) return kept_.size() - 1;
    const auto rank = [&](const Kept& kept) {
      const PrefetchTimes& times = kept.candidate.times;
      const int64_t time = times.time.count(), bytes = times.hbm_bytes;
      const bool by_bytes = options_.objective == PrefetchObjective::kBytes;
      return std::tuple(times.time > kept_[0].candidate.times.time, by_bytes ? bytes : time,
                        by_bytes ? time : bytes);
    };
    const auto is_better = [&](const Kept& a, const Kept& b) { return rank(a) < rank(b); };
    return static_cast<size_t>(std::min_element(kept_.begin(), kept_.end(), is_better) - kept_.begin());
  }

  // ── result ──

  Result<PrefetchResult> finish(size_t chosen) {
    Kept& kept = kept_[chosen];
    out_.chosen = kept.candidate.name;
    out_.tuned = kept.candidate.times;
    for (const Kept& one : kept_) out_.candidates.push_back(one.candidate);
    // Rounding of sums of doubles is far below a picosecond.
    out_.bound = Picoseconds(static_cast<int64_t>(std::max(std::floor(bound_ * (1 - 1e-12)), 0.0)));
    if (kept.model) describe(kept);
    // Exhaustion looks for the shortest plan.
    out_.proven &= options_.objective == PrefetchObjective::kTime;
    if (out_.cut) add_assumption("the clock ended the search: another run may find another plan");
    out_.module = std::move(kept.module);
    return std::move(out_);
  }

  void describe(const Kept& kept) {
    const PrefetchModel& model = *kept.model;
    const PrefetchProblem& problem = model.problem;
    ChipSpace space(problem);
    std::vector<std::pair<int32_t, PrefetchRow>> rows;
    for (size_t v = 0; v < problem.values.size(); ++v) {
      const PrefetchValue& value = problem.values[v];
      const ValuePlan& plan = kept.packed.plans[v];
      space.add(value, plan);
      const std::vector<Stay> all = stays(value, plan);
      for (size_t i = 0; i < all.size(); ++i) {
        const Stay at = in_steps(problem, value.region, all[i]);
        PrefetchRow row;
        row.value = std::string(value.name);
        row.computation = std::string(kept.module[model.regions[static_cast<size_t>(value.region)]].name);
        row.offset = kept.packed.offsets[v][i];
        row.size = all[i].bytes;
        row.first = at.first, row.last = at.last;
        row.from = std::string(problem.steps[static_cast<size_t>(at.first)].name);
        row.to = std::string(problem.steps[static_cast<size_t>(at.last)].name);
        row.reason = reason(value, plan, all[i]);
        rows.emplace_back(at.first, std::move(row));
      }
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [step, row] : rows) out_.rows.push_back(std::move(row));
    for (const PrefetchStep& step : problem.steps) out_.steps.emplace_back(step.name);
    out_.on_chip = space.used();
    out_.peak = space.peak();
    out_.packed = kept.packed.size;
    if (kept.packed.dropped > 0)
      add_assumption(fmt::format("{} values went back to HBM: no gap was large enough", kept.packed.dropped));
  }

  static std::string reason(const PrefetchValue& value, const ValuePlan& plan, const Stay& stay) {
    const auto uses = [](int64_t count) { return fmt::format("{} use{}", count, count == 1 ? "" : "s"); };
    if (stay.copy < 0) {
      std::string text =
          plan.kept_until < 0 ? "made here" : fmt::format("made here for {}", uses(plan.kept_until + 1));
      if (plan.evict_done >= 0) text += ", then written back";
      return text;
    }
    const PlannedCopy& copy = plan.copies[static_cast<size_t>(stay.copy)];
    const int32_t ahead = value.uses[static_cast<size_t>(copy.first)].position - stay.first;
    const std::string_view how = plan.replaced   ? "made by a copy"
                                 : stay.half < 0 ? "copied in"
                                                 : "half copied in";
    return fmt::format("{} {} step{} ahead for {}", how, ahead, ahead == 1 ? "" : "s",
                       uses(copy.last - copy.first + 1));
  }

  void add_assumption(const std::string& text) {
    if (std::ranges::count(out_.assumptions, text) == 0) out_.assumptions.push_back(text);
  }

  static constexpr int64_t kExactNodes = 200000;
  static constexpr size_t kExactOrders = 100;
  const OpTable& table_;
  const Device& device_;
  const PrefetchOptions& options_;
  const MemorySystem memory_;
  SimulateOptions simulate_;
  std::chrono::steady_clock::time_point until_;
  PrefetchResult out_;
  std::vector<Kept> kept_;
  std::vector<std::unique_ptr<Module>> tiled_;  // names in problems are views into them
  std::optional<PrefetchTimes> as_given_;       // of a module without a schedule
  double bound_ = -1;
  double part_ = 1;  // of the budget, for what is being solved
  bool had_copies_ = false;
};

/// A computation that one caller runs step by step and a fusion has inside: copies for the first make no
/// sense to the second.
Result<void> check_calls(const Module& module) {
  IdMap<ComputationId, std::array<InstructionId, 2>> callers(module.computations.size());
  for (size_t i = 0; i < module.instructions.size(); ++i) {
    const InstructionId id{static_cast<int32_t>(i)};
    const Dataflow flow = dataflow(module[id].opcode);
    if (!flow.is_fusion && flow.call != CallRule::kControlFlow) continue;
    for (const ComputationId called : called_in_order(module[id])) callers[called][flow.is_fusion] = id;
  }
  for (size_t i = 0; i < module.computations.size(); ++i) {
    const ComputationId id{static_cast<int32_t>(i)};
    const auto& [by_flow, by_fusion] = callers[id];
    if (!by_flow.valid() || !by_fusion.valid()) continue;
    Diagnostic shared =
        failure(
            fmt::format("{} is run by {} and is inside of the fusion {}: prefetches need a copy of it for "
                        "each",
                        module[id].name, module[by_flow].name, module[by_fusion].name))
            .value();
    shared.source = module.source;
    shared.offset = module[by_fusion].offset;
    return tl::unexpected(std::move(shared));
  }
  return {};
}

}  // namespace

Result<PrefetchResult> tune_prefetch(const Module& module, const OpTable& table, const Device& device,
                                     const PrefetchOptions& options) {
  if (Result<void> calls = check_calls(module); !calls) return tl::unexpected(std::move(calls.error()));
  return Tuner(table, device, options).run(module);
}

}  // namespace hlosim
