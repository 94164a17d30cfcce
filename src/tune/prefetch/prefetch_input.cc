#include "prefetch/prefetch_input.h"

#include <algorithm>
#include <utility>

#include "buffers/buffer_analysis.h"
#include "model/memory_system.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "prefetch/prefetch_strip.h"

namespace hlosim {

PrefetchMeasure::PrefetchMeasure(const OpTable& table, const Device& device, const SimulateOptions& options)
    : table_(table), device_(device), options_(options) {
  options_.keep_timeline = false;
  options_.cross_program_prefetch_is_done = false;
}

Module PrefetchMeasure::with_tiles(const Module& written) const { return lay_out(written, device_).module; }

Result<SimulatedModule> PrefetchMeasure::simulated(Module written) const {
  Module tiled = with_tiles(written);
  Result<Simulation> simulation = simulate(tiled, table_, device_, options_);
  if (!simulation) return tl::unexpected(std::move(simulation.error()));
  const Result<PrefetchTimes> found = times(tiled, *simulation);
  if (!found) return tl::unexpected(found.error());
  return SimulatedModule{std::move(written), std::move(tiled), std::move(*simulation), *found};
}

Result<PrefetchTimes> PrefetchMeasure::times(const Module& written) const {
  const Module tiled = with_tiles(written);
  const Result<Simulation> simulation = simulate(tiled, table_, device_, options_);
  if (!simulation) return tl::unexpected(simulation.error());
  return times(tiled, *simulation);
}

Result<PrefetchTimes> PrefetchMeasure::times(const Module& tiled, const Simulation& simulation) const {
  PrefetchTimes times;
  times.time = times.time_prefetched = simulation.totals.makespan;
  times.exposed = simulation.totals.exposed_copies;
  times.hbm_bytes = simulation.totals.traffic[MemorySystem(device_.config).hbm()].total().count();
  const bool across = std::ranges::any_of(
      simulation.transfers, [](const TransferRecord& transfer) { return transfer.cross_program; });
  if (!across) return times;
  SimulateOptions done = options_;
  done.cross_program_prefetch_is_done = true;
  const Result<Simulation> prefetched = simulate(tiled, table_, device_, done);
  if (!prefetched) return tl::unexpected(prefetched.error());
  times.time_prefetched = prefetched->totals.makespan;
  return times;
}

namespace {

Module scheduled(const Module& given, const OpTable& table, const InstructionOrder& order) {
  Module module = given.copy();
  for (size_t c = 0; c < order.size(); ++c) {
    const ComputationId id{static_cast<int32_t>(c)};
    if (!order[id].empty()) module.computations[id].instructions = order[id];
  }
  mark_scheduled(module);
  return compacted(std::move(module), table);
}

/// Operands first in the order of execution, as one that needs little memory.
Result<InstructionOrder> memory_order(const Module& module) {
  BufferOptions options;
  options.padded = true;
  const Result<FlatSchedule> schedule = find_schedule(module, options);
  if (!schedule) return tl::unexpected(schedule.error());
  InstructionOrder order(module.computations.size());
  for (const InstructionId id : schedule->steps) order[module[id].parent].push_back(id);
  return order;
}

class Preparation {
 public:
  Preparation(const PrefetchMeasure& measure, SearchClock& clock)
      : measure_(measure), table_(measure.table()), clock_(clock) {}

  Result<PrefetchInput> run(const Module& given, bool spell_bitcasts) {
    Module module = compacted(given, table_);
    if (spell_bitcasts) module = with_spelled_bitcasts(std::move(module));
    const bool is_scheduled = module.is_scheduled();
    Result<SimulatedModule> found = timed(is_scheduled ? std::move(module) : in_order_of_text(module));
    if (!found) return tl::unexpected(std::move(found.error()));
    out_.as_given = found->times;
    if (!is_scheduled)
      if (auto chosen = choose_order(module, *found); !chosen)
        return tl::unexpected(std::move(chosen.error()));
    out_.input = std::make_shared<SimulatedModule>(std::move(*found));
    if (auto stripped = strip(); !stripped) return tl::unexpected(std::move(stripped.error()));
    return std::move(out_);
  }

 private:
  /// What comes of a plan is simulated, too, after it was written; it has more instructions (guess: twice the
  /// time).
  Result<SimulatedModule> timed(Module module) {
    const double begin = clock_.passed();
    Result<SimulatedModule> found = measure_.simulated(std::move(module));
    slowest_ = std::max(slowest_, clock_.passed() - begin);
    clock_.reserve(2 * slowest_);
    return found;
  }

  /// A text without tiles has bitcasts that move something in the tiles which it is simulated with. These are
  /// work; what is decided about their results has to be true of the text, too.
  Module with_spelled_bitcasts(Module module) {
    if (spell_out_bitcasts_that_move(module, tiling_policy(measure_.device().config)) > 0)
      out_.assumptions.emplace_back(
          "bitcasts that move something in tiles are written as reshapes and transposes");
    return compacted(std::move(module), table_);
  }

  Module in_order_of_text(const Module& module) const {
    return scheduled(module, table_, make_schedule(module, table_).order);
  }

  /// By the text, as `found` has it, or with little memory: whatever is faster.
  Result<void> choose_order(const Module& module, SimulatedModule& found) {
    out_.cut = clock_.is_over();
    bool use_memory = false;
    if (!out_.cut) {
      const Result<InstructionOrder> order = memory_order(measure_.with_tiles(module));
      if (!order) return {};
      Result<SimulatedModule> other = measure_.simulated(scheduled(module, table_, *order));
      if (!other) return tl::unexpected(std::move(other.error()));
      use_memory = other->times.time <= found.times.time;
      if (use_memory) found = std::move(*other);
    }
    out_.assumptions.emplace_back(use_memory
                                      ? "the module is not scheduled: it runs in an order of little memory"
                                      : "the module is not scheduled: it runs in the order of the text");
    return {};
  }

  Result<void> strip() {
    Module module = out_.input->written.copy();
    ModuleEditor editor(module);
    const StripSummary summary = strip_prefetches(editor, table_, measure_.device().config);
    out_.removed_copies = summary.copies;
    out_.had_copies = summary.copies > 0 || summary.values > 0;
    if (!summary.changed) {
      out_.stripped = out_.input;
      return {};
    }
    Result<SimulatedModule> found = timed(compacted(std::move(module), table_));
    if (!found) return tl::unexpected(std::move(found.error()));
    out_.stripped = std::make_shared<SimulatedModule>(std::move(*found));
    return {};
  }

  const PrefetchMeasure& measure_;
  const OpTable& table_;
  SearchClock& clock_;
  double slowest_ = 0;  // seconds that simulating took
  PrefetchInput out_;
};

}  // namespace

Result<PrefetchInput> prepare_prefetch(const Module& given, const PrefetchMeasure& measure,
                                       bool spell_bitcasts, SearchClock& clock) {
  return Preparation(measure, clock).run(given, spell_bitcasts);
}

}  // namespace hlosim
