#include "prefetch/prefetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>

#include "memory/occupancy.h"
#include "ops/dataflow.h"
#include "prefetch/prefetch_bound.h"
#include "prefetch/prefetch_input.h"
#include "prefetch/prefetch_model.h"
#include "prefetch/prefetch_order.h"
#include "prefetch/prefetch_pack.h"
#include "prefetch/prefetch_simulator.h"
#include "prefetch/prefetch_xla.h"
#include "prefetch/search_clock.h"

namespace hlosim {

std::string_view to_text(PrefetchAlgorithm algorithm) {
  constexpr std::string_view kNames[] = {"strip", "xla", "greedy", "strong"};
  return kNames[static_cast<size_t>(algorithm)];
}

namespace {

class Tuner {
 public:
  Tuner(const OpTable& table, const Device& device, const PrefetchOptions& options)
      : table_(table),
        device_(device),
        options_(options),
        measure_(table, device, options.simulate),
        clock_(options.budget, options.clock) {}

  Result<PrefetchResult> run(const Module& given) {
    if (on_chip_memory(device_.config).space < 0)
      return failure(
          fmt::format("{} has no on-chip memory that values could be kept in", device_.config.name));
    auto prepared =
        prepare_prefetch(given, measure_, options_.algorithm != PrefetchAlgorithm::kStrip, clock_);
    if (!prepared) return tl::unexpected(std::move(prepared.error()));
    out_.input = prepared->as_given;
    out_.stripped = prepared->stripped->times;
    out_.removed_copies = prepared->removed_copies;
    out_.cut = prepared->cut;
    out_.assumptions = std::move(prepared->assumptions);
    keep_as_it_is("input", prepared->input);
    keep_as_it_is("stripped", prepared->stripped);
    if (options_.algorithm == PrefetchAlgorithm::kStrip) return finish(1);
    const bool both = prepared->had_copies && options_.algorithm == PrefetchAlgorithm::kStrong;
    if (auto done = solve("", prepared->stripped, both ? 0.6 : 0.9); !done)
      return tl::unexpected(std::move(done.error()));
    if (both)
      if (auto done = solve(" around existing ones", prepared->input, 1); !done)
        return tl::unexpected(std::move(done.error()));
    return finish(best());
  }

 private:
  struct Kept {
    PrefetchCandidate candidate;
    std::shared_ptr<SimulatedModule> as_it_is;  // nothing was decided; null: what follows was
    Module module;
    std::shared_ptr<PrefetchModel> model;
    PackedPlans packed;
  };

  // ── plans ──

  /// What is left to search would end at once, with a plan that is known already.
  bool is_cut() {
    const bool over = is_over();
    out_.cut |= over;
    return over;
  }
  bool is_over() const { return clock_.is_over(part_) || !options_.simulate.go_on(); }

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

  /// All decisions about `from`, in the order that it has; null: the time was over before.
  Result<std::shared_ptr<PrefetchModel>> model_of(const SimulatedModule& from) {
    const InstructionOrder& given = from.simulation.schedule.order;
    const bool reorder = !options_.keep_order && options_.algorithm == PrefetchAlgorithm::kStrong;
    const InstructionOrder order = reorder ? with_free_ones_late(from.tiled, table_, given) : given;
    auto made = make_prefetch_model(from.tiled, table_, device_, order, from.simulation, measure_.options(),
                                    limits(), [this] { return is_over(); });
    if (!made) return tl::unexpected(std::move(made.error()));
    if (made->cut || is_over()) return nullptr;
    auto model = std::make_shared<PrefetchModel>(std::move(*made));
    if (reorder) find_freedom(from.tiled, table_, *model);
    return model;
  }

  /// `part` of the budget may be gone when it is done.
  Result<void> solve(const std::string& suffix, const std::shared_ptr<SimulatedModule>& from, double part) {
    part_ = part;
    from_ = from;
    if (is_cut()) return {};
    const auto made = model_of(*from);
    if (!made) return tl::unexpected(made.error());
    const std::shared_ptr<PrefetchModel>& model = *made;
    if (!model || is_cut()) {
      out_.cut = true;
      return {};
    }
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
          xla_prefetch(problem, options_.knobs, xla_hints(from->tiled, table_, *model, options_.knobs),
                       [this] { return is_over(); });
      out_.cut |= xla.cut;
      const int32_t across = xla.cross_program.empty() ? -1 : xla.cross_program[0];
      if (auto done = keep("xla" + suffix, from->written, model, xla.plans, 0, across, xla.offsets); !done)
        return done;
      if (options_.algorithm == PrefetchAlgorithm::kXla || is_cut()) return {};
    }
    return search(suffix, from->written, model);
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
    search.is_late = [this] { return clock_.is_late(part_); };
    PrefetchPlans found = greedy_prefetch(problem, search);
    const auto keep_found = [&](const std::string& name, const std::vector<ValuePlan>& start) {
      out_.cut |= found.cut;
      out_.evaluations += found.evaluations;
      // Where the time was over at once, it is a plan that is there already.
      const bool is_known = found.cut && found.plans == start;
      return is_known ? Result<void>() : keep(name + suffix, module, model, found.plans, found.time);
    };
    if (auto done = keep_found("greedy", std::vector<ValuePlan>(problem.values.size())); !done) return done;
    if (options_.algorithm == PrefetchAlgorithm::kGreedy || is_cut()) return {};
    PrefetchPlans start = found;
    found = improve_prefetch(problem, start, search);
    const PrefetchPlans annealed = found;
    if (auto done = keep_found("annealed", start.plans); !done) return done;
    if (is_cut()) return {};
    // From XLA's plan, too.
    start = {};
    for (const Kept& kept : kept_)
      if (kept.candidate.name == "xla" + suffix) start.plans = kept.packed.plans;
    ++search.seed;
    search.moves /= 2;
    found = improve_prefetch(problem, start, search);
    if (auto done = keep_found("annealed from xla", start.plans); !done) return done;
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
    const bool as_before = found.order.empty() || std::is_sorted(found.order.begin(), found.order.end());
    if (as_before && found.cut && found.plans == start.plans) return {};
    if (as_before) return keep("annealed longer" + suffix, module, model, found.plans, found.time);
    const auto other = std::make_shared<PrefetchModel>(in_order(from_->tiled, *model, found.order));
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
    const Module tiled = measure_.with_tiles(module);
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
      const auto other = std::make_shared<PrefetchModel>(in_order(from_->tiled, *model, orders[i]));
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

  void keep_as_it_is(std::string name, const std::shared_ptr<SimulatedModule>& module) {
    Kept kept;
    kept.candidate.name = std::move(name);
    kept.candidate.times = module->times;
    kept.as_it_is = module;
    kept_.push_back(std::move(kept));
  }

  /// Writes the plan into the module and simulates that.
  Result<void> keep(std::string name, const Module& module, const std::shared_ptr<PrefetchModel>& model,
                    const std::vector<ValuePlan>& plans, double objective, int32_t cross_program = -1,
                    const std::vector<std::vector<int64_t>>& offsets = {}) {
    const double begin = clock_.passed();
    Kept kept;
    kept.candidate.name = std::move(name);
    kept.candidate.objective = objective;
    kept.model = model;
    kept.packed = pack_plans(*model, plans, offsets, [this] { return is_over(); });
    out_.cut |= kept.packed.cut;
    const int32_t across = cross_program >= 0 ? cross_program : first_parameter(*model, kept.packed.plans);
    kept.module = apply_prefetches(module, table_, *model, kept.packed.plans, across);
    const Result<PrefetchTimes> times = measure_.times(kept.module);
    if (!times) return tl::unexpected(times.error());
    kept.candidate.times = *times;
    kept_.push_back(std::move(kept));
    clock_.reserve(clock_.passed() - begin);  // the next one takes as long
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

  /// By the objective, of what takes no longer than the input. An algorithm that was asked for by name has
  /// the last word, unless the budget took it away.
  size_t best() const {
    if (options_.algorithm != PrefetchAlgorithm::kStrong && !out_.cut) return kept_.size() - 1;
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
    if (out_.cut)
      add_assumption(
          "the budget ended the search before all plans were looked at: another run may find another one");
    out_.module = std::move(kept.as_it_is ? kept.as_it_is->written : kept.module);
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
  const PrefetchMeasure measure_;
  SearchClock clock_;
  PrefetchResult out_;
  std::vector<Kept> kept_;
  std::shared_ptr<SimulatedModule> from_;  // what is being solved; names in problems are views into these
  double bound_ = -1;
  double part_ = 1;  // of the budget, for what is being solved
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
