#include "advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "advise/deadline.h"
#include "base/check.h"
#include "base/quantity_text.h"
#include "lower/lower.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

// Smaller shares are below what the simulation can tell apart.
constexpr double kLeastGain = 0.005;
constexpr double kLeastMemory = 0.01;
// Parts of the budget after which trials, their combination and proofs end.
constexpr double kTrialsEnd = 0.6, kTogetherEnd = 0.75, kProofsEnd = 0.95;
constexpr size_t kMostTogether = 8;

/// Seconds since it was made.
class Stopwatch {
 public:
  double passed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  /// What is left until `part` of `budget`; above 0, and 0 for no limit.
  double left(double budget, double part) const {
    constexpr double kLeast = 1e-3;
    return budget <= 0 ? 0 : std::max(kLeast, budget * part - passed());
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};

/// What a simulation says of a setup, as far as advice needs it.
struct TrialFigures {
  Picoseconds time{};
  TimeByKind kinds{};
  Bytes peak{};
  bool fits = true;
};

TrialFigures figures_of(const Estimate& estimate) {
  TrialFigures figures;
  figures.time = estimate.simulation->totals.makespan;
  figures.kinds = kinds_of(estimate.simulation->totals);
  for (const SpaceOccupancy& space : estimate.occupancy.spaces) {
    if (space.number == kDefaultMemorySpace) figures.peak = space.peak;
    if (space.capacity && space.peak > *space.capacity) figures.fits = false;
  }
  return figures;
}

struct Trial {
  const AdviceKind* kind = nullptr;
  Proposal proposal;
  size_t rank = 0;  // among those of its kind
  bool done = false;
  std::string problem;  // why it couldn't be tried
  TrialFigures figures;
  TrialSetup setup;  // after the change
};

/// The 80 % interval of a saving, by the errors measured for the kinds of work that it changes.
void set_interval(Advice& advice, const TrialFigures& before, const TrialFigures& after, double work,
                  const std::optional<ErrorsConfig>& errors) {
  TimeByKind change{};
  Picoseconds sum{};
  for (size_t i = 0; i < change.size(); ++i) {
    const int64_t difference =
        before.kinds[i].count() - TextForm<Picoseconds>::scaled(after.kinds[i], 1 / work).count();
    change[i] = Picoseconds(std::abs(difference));
    sum += change[i];
  }
  const std::optional<TimeRange> range = time_range(errors, change);
  if (!range) return;
  advice.saved_low = advice.saved() - (sum - range->low);
  advice.saved_high = advice.saved() + (range->high - sum);
}

class Adviser {
 public:
  Adviser(const TrialSetup& setup, const OpTable& table, const AdviceOptions& options)
      : setup_(setup), table_(table), options_(options) {}

  Result<AdviceReport> run() {
    TrialSetup bare = setup_;
    bare.options.simulate.stop = options_.stop;
    Result<Estimate> estimate = hlosim::estimate(bare, table_);
    if (!estimate) return tl::unexpected(std::move(estimate.error()));
    before_ = figures_of(*estimate);
    describe(*estimate);
    const double alone = watch_.passed();
    find({setup_, *estimate, table_, !is_plain(*setup_.module)});
    try_all();
    if (options_.stop && options_.stop->asked()) return failure(options_.stop->why());
    choose();
    combine();
    prove_all();
    if (options_.stop && options_.stop->asked()) return failure(options_.stop->why());
    if (options_.worth > 0 && watch_.left(options_.budget, 1) * 2 > (options_.budget > 0 ? alone : 0))
      report_.worth = worth_of_lines(*estimate, table_, setup_.device, bare.options.simulate, options_.worth);
    report_.seconds = watch_.passed();
    return std::move(report_);
  }

 private:
  void describe(const Estimate& estimate) {
    report_.module_name = std::string(setup_.module->name);
    if (setup_.module->source) report_.module_file = setup_.module->source->name();
    report_.device_name = setup_.device.config.name;
    report_.time = before_.time;
    report_.peak = before_.peak;
    report_.fits = before_.fits;
    report_.range = time_range(setup_.device.config.errors, *estimate.simulation);
  }

  bool is_wanted(const AdviceKind& kind) const {
    if (options_.kinds.empty()) return !kind.on_request;
    return std::ranges::find(options_.kinds, kind.name) != options_.kinds.end();
  }

  /// The first proposals of all kinds, then the second ones: no kind takes the budget of the others.
  void find(const AdviceSubject& subject) {
    for (const AdviceKind& kind : advice_kinds()) {
      if (!is_wanted(kind)) continue;
      size_t rank = 0;
      for (Proposal& proposal : kind.find(subject)) {
        Trial& trial = trials_.emplace_back();
        trial.kind = &kind;
        trial.proposal = std::move(proposal);
        trial.rank = rank++;
      }
    }
    std::ranges::stable_sort(trials_, {}, &Trial::rank);
  }

  void try_all() {
    if (options_.budget > 0 && watch_.passed() >= options_.budget * kTrialsEnd) {
      report_.cut = !trials_.empty();
      return;
    }
    const Deadline deadline(watch_.left(options_.budget, kTrialsEnd), options_.stop);
    std::atomic<size_t> next = 0;
    parallel_for(thread_count(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t worker = begin; worker < end; ++worker)
        for (size_t i = next++; i < trials_.size() && !deadline.is_over(); i = next++)
          try_one(trials_[i], deadline.stop());
    });
    report_.cut = std::ranges::any_of(trials_, [](const Trial& trial) { return !trial.done; });
  }

  void try_one(Trial& trial, const Stop& stop) const {
    trial.setup = setup_;
    trial.setup.options.simulate.stop = &stop;
    const Result<void> made = trial.proposal.edit(trial.setup);
    const auto failed = [&](const Diagnostic& problem) {
      trial.problem = problem.message;
      trial.done = !stop.asked();
    };
    if (!made) return failed(made.error());
    const Result<Estimate> run = estimate(trial.setup, table_);
    if (!run) return failed(run.error());
    trial.figures = figures_of(*run);
    trial.setup.options.simulate.stop = options_.stop;
    trial.done = true;
  }

  void add_attempt(const Trial& trial, AdviceAttempt::Outcome outcome, std::string note = {}) {
    AdviceAttempt attempt{trial.kind, trial.proposal.name, outcome, {}, {}, std::move(note)};
    if (trial.done && trial.problem.empty()) {
      attempt.before = before_.time;
      attempt.after = TextForm<Picoseconds>::scaled(trial.figures.time, 1 / trial.proposal.work);
    }
    report_.attempts.push_back(std::move(attempt));
  }

  /// What pays becomes advice, ranked; the rest attempts.
  void choose() {
    using Outcome = AdviceAttempt::Outcome;
    std::vector<std::pair<Advice, Trial*>> paying;
    for (Trial& trial : trials_) {
      if (!trial.done) {
        add_attempt(trial, Outcome::kNoTime);
      } else if (!trial.problem.empty()) {
        add_attempt(trial, Outcome::kNotPossible, trial.problem);
      } else {
        Advice advice = advice_of(trial);
        if (before_.fits && !advice.fits_after)
          add_attempt(trial, Outcome::kDoesNotFit);
        else if (!pays(advice))
          add_attempt(trial, Outcome::kNoGain);
        else
          paying.emplace_back(std::move(advice), &trial);
      }
    }
    std::ranges::stable_sort(paying,
                             [](const auto& a, const auto& b) { return comes_before(a.first, b.first); });
    for (auto& [advice, trial] : paying) {
      const std::string_view group = advice.kind->group;
      const bool is_taken =
          !group.empty() && std::ranges::any_of(report_.advice, [group](const Advice& other) {
            return other.kind->group == group;
          });
      if (is_taken) {
        add_attempt(*trial, Outcome::kBetterOne);
        continue;
      }
      report_.advice.push_back(std::move(advice));
      chosen_.push_back(trial);
    }
  }

  Advice advice_of(const Trial& trial) const {
    Advice advice;
    advice.kind = trial.kind;
    advice.proposal = trial.proposal;
    advice.before = before_.time;
    advice.after = TextForm<Picoseconds>::scaled(trial.figures.time, 1 / trial.proposal.work);
    advice.peak_before = before_.peak, advice.peak_after = trial.figures.peak;
    advice.fits_before = before_.fits, advice.fits_after = trial.figures.fits;
    set_interval(advice, before_, trial.figures, trial.proposal.work, setup_.device.config.errors);
    return advice;
  }

  static bool pays(const Advice& advice) {
    if (!advice.fits_before && advice.fits_after) return true;
    if (advice.proposal.for_memory) {
      const double memory = static_cast<double>((advice.peak_before - advice.peak_after).count());
      return memory >= kLeastMemory * static_cast<double>(advice.peak_before.count()) && memory > 0 &&
             advice.share() > -kLeastGain;
    }
    if (!advice.fits_before && advice.peak_after > advice.peak_before) return false;
    const bool may_lose = advice.saved_low && advice.saved_low->count() <= 0;  // within the measured errors
    return advice.share() >= std::max(kLeastGain, advice.proposal.least_share) && !may_lose;
  }

  static bool comes_before(const Advice& a, const Advice& b) {
    const bool a_fits = !a.fits_before && a.fits_after, b_fits = !b.fits_before && b.fits_after;
    if (a_fits != b_fits) return a_fits;
    const bool a_same = a.proposal.work == 1, b_same = b.proposal.work == 1;
    if (a_same != b_same) return a_same;
    if (a.saved() != b.saved()) return a.saved() > b.saved();
    if (a.peak_after != b.peak_after) return a.peak_after < b.peak_after;
    return a.kind < b.kind;  // rows of one table, in which the smaller change comes first
  }

  /// Adds one advice after the other, as long as the step gets shorter.
  void combine() {
    const Deadline deadline(watch_.left(options_.budget, kTogetherEnd), options_.stop);
    AdviceReport::Together together;
    for (size_t i = 0; i < std::min(chosen_.size(), kMostTogether); ++i) {
      const Advice& one = report_.advice[i];
      if (one.proposal.work != 1 || one.saved().count() <= 0 || deadline.is_over()) continue;
      if (together.advice.empty()) {
        together = {{i}, one.after};
        continue;
      }
      std::vector<size_t> wanted = together.advice;
      wanted.push_back(i);
      TrialSetup start = setup_;
      start.options.simulate.stop = &deadline.stop();
      const Result<TrialSetup> all = with_advice(start, report_, wanted);
      if (!all) continue;
      const Result<Estimate> run = estimate(*all, table_);
      if (!run) continue;
      const TrialFigures figures = figures_of(*run);
      if (figures.time < together.after && (figures.fits || !before_.fits)) together = {wanted, figures.time};
    }
    if (together.advice.size() > 1) report_.together = std::move(together);
  }

  void prove_all() {
    if (!options_.prove) return;
    const Deadline deadline(watch_.left(options_.budget, kProofsEnd), options_.stop);
    std::vector<bool> refuted(chosen_.size());
    for (size_t i = 0; i < chosen_.size(); ++i) {
      Proof& proof = report_.advice[i].proof;
      if (deadline.is_over() && chosen_[i]->proposal.proof != ProofKind::kSameProgram) {
        proof = {Proof::State::kNotTried, "the budget was over before it could be executed"};
        continue;
      }
      proof = prove(setup_, chosen_[i]->setup, chosen_[i]->proposal, table_, &deadline.stop());
      if (deadline.is_over() && proof.state == Proof::State::kNotPossible)
        proof = {Proof::State::kNotTried, "the budget was over while it was executed"};
      refuted[i] = proof.state == Proof::State::kRefuted;
    }
    drop(refuted);
  }

  /// Advice that computes something else is none; nothing is known of what it was combined with.
  void drop(const std::vector<bool>& refuted) {
    if (std::ranges::find(refuted, true) == refuted.end()) return;
    std::vector<Advice> kept;
    for (size_t i = 0; i < refuted.size(); ++i) {
      if (refuted[i])
        add_attempt(*chosen_[i], AdviceAttempt::Outcome::kOtherResults, report_.advice[i].proof.text);
      else
        kept.push_back(std::move(report_.advice[i]));
    }
    report_.advice = std::move(kept);
    report_.together.reset();
  }

  const TrialSetup& setup_;
  const OpTable& table_;
  const AdviceOptions& options_;
  const Stopwatch watch_;
  TrialFigures before_;
  std::vector<Trial> trials_;
  std::vector<Trial*> chosen_;  // by advice
  AdviceReport report_;
};

}  // namespace

double Advice::share() const {
  return before.count() > 0 ? static_cast<double>(saved().count()) / static_cast<double>(before.count()) : 0;
}

Picoseconds AdviceReport::largest_saving() const {
  Picoseconds largest{};
  for (const Advice& one : advice) largest = std::max(largest, one.saved());
  return largest;
}

std::string_view to_text(AdviceAttempt::Outcome outcome) {
  using Outcome = AdviceAttempt::Outcome;
  switch (outcome) {
    case Outcome::kNoGain:
      return "no gain beyond the measured errors";
    case Outcome::kNotPossible:
      return "not possible";
    case Outcome::kDoesNotFit:
      return "does not fit";
    case Outcome::kOtherResults:
      return "other results";
    case Outcome::kBetterOne:
      return "another one saves more";
    case Outcome::kNoTime:
      return "not tried";
  }
  HLOSIM_CHECK(false, "outcome");
}

Result<AdviceReport> advise(const TrialSetup& setup, const OpTable& table, const AdviceOptions& options) {
  return Adviser(setup, table, options).run();
}

Result<TrialSetup> with_advice(const TrialSetup& setup, const AdviceReport& report,
                               const std::vector<size_t>& advice) {
  TrialSetup changed = setup;
  for (const EditStage stage :
       {EditStage::kModel, EditStage::kModule, EditStage::kSetting, EditStage::kCompiled})
    for (const size_t index : advice) {
      const Proposal& proposal = report.advice[index].proposal;
      if (proposal.stage != stage) continue;
      if (Result<void> made = proposal.edit(changed); !made) {
        Diagnostic problem = made.error();
        problem.message = fmt::format("advice {} ({}): {}", index + 1, proposal.name, problem.message);
        return tl::unexpected(std::move(problem));
      }
    }
  return changed;
}

}  // namespace hlosim
