// Compiled modules: layouts, order, and values in VMEM, by the tuners.
#include <fmt/format.h>

#include <memory>

#include "advise/kinds/kinds.h"
#include "base/stop.h"
#include "prefetch/prefetch.h"
#include "relayout/layout_tuner.h"
#include "schedule/latency_schedule.h"

namespace hlosim {
namespace {

/// An edit that works on the module as it is simulated.
template <class F>
Edit edit_of_compiled(const OpTable& table, F&& rewrite) {
  return [&table, rewrite = std::forward<F>(rewrite)](TrialSetup& setup) -> Result<void> {
    const Result<Prepared> prepared = prepare(*setup.module, table, setup.device, setup.options);
    if (!prepared) return tl::unexpected(prepared.error());
    Result<std::shared_ptr<const Module>> made = rewrite(setup, *prepared);
    if (!made) return tl::unexpected(made.error());
    setup.module = std::move(*made);
    setup.options.mesh.reset();  // it is one device's program now
    return {};
  };
}

Edit layout_edit(const OpTable& table, bool free_entry) {
  return edit_of_compiled(
      table,
      [&table, free_entry](const TrialSetup& setup,
                           const Prepared& prepared) -> Result<std::shared_ptr<const Module>> {
        LayoutTuneOptions options;
        options.arrays.free_entry = free_entry;
        options.simulate = setup.options.simulate;
        if (const Stop* stop = options.simulate.stop)
          options.search.out_of_time = [stop] { return stop->asked(); };
        Result<LayoutTuning> tuned = tune_layouts(*prepared.module, table, setup.device, options);
        if (!tuned) return tl::unexpected(tuned.error());
        return std::shared_ptr<const Module>(tuned->module);
      });
}

Proposal compiled_proposal(Edit edit, std::string name) {
  Proposal one;
  one.stage = EditStage::kCompiled;
  one.edit = std::move(edit);
  one.name = std::move(name);
  one.proof = ProofKind::kSameResults;
  return one;
}

}  // namespace

std::vector<Proposal> find_layouts(const AdviceSubject& subject) {
  std::vector<Proposal> found;
  if (!subject.is_compiled || subject.setup.model) return found;
  Proposal entry = compiled_proposal(layout_edit(subject.table, true), "layouts of arguments too");
  entry.problem = "copies and transposes bring arrays into other layouts, arguments and results among them";
  entry.change =
      "jax.jit(f, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO)), then pass arrays "
      "in compiled.input_formats; --apply writes the module with the layouts";
  entry.reason = "an array in the layout that its readers want need not be copied";
  found.push_back(std::move(entry));
  Proposal inner = compiled_proposal(layout_edit(subject.table, false), "layouts");
  inner.problem = "copies and transposes bring arrays into other layouts";
  inner.change =
      "the compiler chose these layouts: reorder the dimensions of the arrays in the program, or report "
      "the module that --apply writes";
  inner.reason = "an array in the layout that its readers want need not be copied";
  found.push_back(std::move(inner));
  return found;
}

std::vector<Proposal> find_schedule(const AdviceSubject& subject) {
  if (!subject.is_compiled || subject.setup.model) return {};
  if (subject.estimate.simulation->totals.exposed().count() == 0) return {};
  Proposal one = compiled_proposal(
      edit_of_compiled(
          subject.table,
          [&table = subject.table](const TrialSetup& setup,
                                   const Prepared& prepared) -> Result<std::shared_ptr<const Module>> {
            LatencyScheduleOptions options;
            options.simulate = setup.options.simulate;
            Result<LatencySchedule> tuned = tune_schedule(*prepared.written, table, setup.device, options);
            if (!tuned) return tl::unexpected(tuned.error());
            return std::make_shared<const Module>(std::move(tuned->module));
          }),
      "latency-hiding order");
  one.problem = fmt::format("the TensorCore stalls {} on transfers",
                            to_text(subject.estimate.simulation->totals.exposed()));
  one.change =
      "LIBTPU_INIT_ARGS=\"--xla_tpu_enable_latency_hiding_scheduler=true "
      "--xla_tpu_enable_async_collective_fusion=true\"; --apply writes the module in the new order";
  one.reason = "transfers that start earlier overlap with independent work";
  return {one};
}

std::vector<Proposal> find_on_chip(const AdviceSubject& subject) {
  if (!subject.is_compiled || subject.setup.model) return {};
  if (!subject.setup.device.config.memory_space(kVmemSpace)) return {};
  Proposal one = compiled_proposal(
      edit_of_compiled(
          subject.table,
          [&table = subject.table](const TrialSetup& setup,
                                   const Prepared& prepared) -> Result<std::shared_ptr<const Module>> {
            constexpr double kSeconds = 4;
            constexpr int64_t kMoves = 2000;
            PrefetchOptions options;
            options.simulate = setup.options.simulate;
            options.budget = kSeconds;
            options.moves = kMoves;
            options.keep_order = true;
            Result<PrefetchResult> tuned = tune_prefetch(*prepared.module, table, setup.device, options);
            if (!tuned) return tl::unexpected(tuned.error());
            return std::make_shared<const Module>(std::move(tuned->module));
          }),
      "placement in VMEM");
  one.problem = "values that are written and read again go through HBM although VMEM has room";
  one.change =
      "the compiler places values: --apply writes the module with copies and S(1) layouts, for "
      "`hlosim diff` or a report to the compiler's authors; in Pallas, memory_space=pltpu.VMEM";
  one.reason = "VMEM is many times faster than HBM, and prefetches overlap with other work";
  return {one};
}

}  // namespace hlosim
