#include "relayout/layout_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/text.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"
#include "memory/occupancy.h"
#include "model/native_layouts.h"
#include "modules/compact.h"
#include "modules/edit.h"
#include "ops/dataflow.h"
#include "relayout/layout_room.h"
#include "relayout/layout_trial.h"

namespace hlosim {
namespace {

/// A module with some choice written into it, and what it takes.
struct Written {
  std::shared_ptr<Module> module;
  LayoutFigures figures;
  bool fits = true;
};

class Tuner {
 public:
  Tuner(const OpTable& table, const Device& device, const LayoutTuneOptions& options)
      : table_(table), device_(device), options_(options) {
    options_.simulate.keep_timeline = false;
  }

  Result<void> prepare(const Module& given) {
    LaidOut laid_out = lay_out(compacted(given, table_), device_);
    given_ = std::make_shared<Module>(std::move(laid_out.module));
    assumptions_.add_all(laid_out.assumptions);
    LayoutProblemOptions arrays = options_.arrays;
    arrays.out_of_time = options_.search.out_of_time;
    auto problem = LayoutProblem::make(*given_, table_, device_.config, arrays);
    if (!problem) return tl::unexpected(problem.error());
    problem_ = std::move(*problem);
    auto first = simulate(problem_->module(), table_, device_, options_.simulate);
    if (!first) return tl::unexpected(first.error());
    const CostOptions cost_options{options_.simulate.custom_calls};
    auto costs = LayoutCosts::make(*problem_, table_, device_, cost_options, *first, options_.objective);
    if (!costs) return tl::unexpected(costs.error());
    costs_ = std::move(*costs);
    costs_->end_when(options_.search.out_of_time);
    Result<Written> before = measure(given_);
    if (!before) return tl::unexpected(before.error());
    before_ = std::move(*before);
    auto trials = LayoutTrials::make(*problem_, *costs_, table_, device_, options_.simulate);
    if (!trials) return tl::unexpected(trials.error());
    trials_ = std::move(*trials);
    return {};
  }

  Result<Written> write(const LayoutChoice& choice) {
    costs_->apply(choice);
    const auto module = std::make_shared<Module>(compacted(problem_->module(), table_));
    problem_->edit().undo();
    if (options_.arrays.free_entry) set_entry_layout(*module);
    return measure(module);
  }

  LayoutScore score(const LayoutFigures& figures) const {
    const int64_t time = figures.time.count(), bytes = figures.hbm.count();
    switch (options_.objective) {
      case LayoutObjective::kTime:
        return {time, bytes};
      case LayoutObjective::kBytes:
        return {bytes, time};
      case LayoutObjective::kMemory:
        break;
    }
    return {figures.peak.count(), time};
  }

  LayoutEvaluation evaluation() {
    return [this](const LayoutChoice& choice) -> std::optional<LayoutScore> {
      if (options_.objective == LayoutObjective::kMemory) return score_of_written(choice);
      trials_->write(choice);
      const Result<LayoutFigures> figures = trials_->figures();
      const bool fits = room_->surely_fits();
      problem_->edit().undo();
      if (!figures) return std::nullopt;
      return fits ? score(*figures) : score_of_written(choice);
    };
  }

  /// Both modules, and what differs between them.
  Result<LayoutTuning> compare(const LayoutChoice& choice) {
    LayoutTuning tuning;
    Result<Written> after = write(choice);
    if (!after) return tl::unexpected(after.error());
    tuning.given = given_, tuning.module = after->module;
    tuning.before = before_.figures, tuning.after = after->figures;
    tuning.arrays = problem_->groups().size();
    tuning.free_arrays = static_cast<int64_t>(problem_->free_groups().size());
    tuning.score = score(after->figures);
    trials_->write(choice);
    tuned_moves_ = moves_now();
    problem_->edit().undo();
    tuning.removed = moves_missing(*given_, *after->module);
    tuning.added = moves_missing(*after->module, *given_);
    tuning.assumptions = assumptions_;
    return tuning;
  }

  /// What one group's layout is good for: everything else stays.
  LayoutChange change_of(int32_t group, const LayoutChoice& choice, const LayoutTuning& tuning) {
    const LayoutGroup& one = problem_->groups()[group];
    LayoutChange change;
    const LayoutSlot* shown = &one.members[0];
    for (const LayoutSlot& slot : one.members)  // what makes it, rather than what hands it on
      if (!problem_->is_relay(slot.id)) {
        shown = &slot;
        break;
      }
    change.value = name_of(*shown);
    change.others = one.members.size() - 1;
    ShapePool& pool = tuning.module->shapes();
    change.before = pool.import(one.array);
    change.after = pool.import(problem_->array_with(group, choice[static_cast<size_t>(group)]));
    if (options_.search.out_of_time && options_.search.out_of_time()) return change;
    LayoutChoice without = choice;
    without[static_cast<size_t>(group)] = problem_->candidates(group)[0];
    trials_->write(without);
    const Result<LayoutFigures> other = trials_->figures();
    const Moves moves = moves_now();
    problem_->edit().undo();
    if (!other) return change;
    change.saved = other->time - tuning.after.time;
    change.saved_hbm = other->hbm - tuning.after.hbm;
    change.why = why(change, missing(moves, tuned_moves_), missing(tuned_moves_, moves));
    return change;
  }

  LayoutProblem& problem() { return *problem_; }
  LayoutCosts& costs() { return *costs_; }
  const Written& before() const { return before_; }

 private:
  /// Instructions that move elements: what they read and make, by which copies are told apart; those of the
  /// module itself stay what they are. In order.
  struct Move {
    InstructionId id, operand;
    ShapeRef shape = nullptr;
    auto operator<=>(const Move&) const = default;
  };
  using Moves = std::vector<Move>;

  /// Of the problem's module as it is now.
  Moves moves_now() const {
    const Module& module = problem_->module();
    Moves moves;
    for (const ComputationId computation : problem_->groups().computations())
      for (const InstructionId id : module[computation].instructions) {
        const Instruction& instruction = module[id];
        if (instruction.operands.size() != 1 || table_[instruction.opcode].has(kFree)) continue;
        const InstructionId operand = instruction.operands[0];
        moves.push_back(problem_->edit().is_copy(id) ? Move{{}, operand, instruction.shape}
                                                     : Move{id, operand, nullptr});
      }
    return moves;
  }

  /// The names of what is moved in `a` and not in `b`.
  std::vector<std::string> missing(const Moves& a, const Moves& b) const {
    const auto key = [](Move move) {
      if (move.id.valid()) move.operand = {};
      return move;
    };
    std::set<Move> there;
    for (const Move& move : b) there.insert(key(move));
    std::vector<std::string> names;
    for (const Move& move : a)
      if (!there.contains(key(move))) names.emplace_back(problem_->module()[move.operand].name);
    return names;
  }

  std::optional<LayoutScore> score_of_written(const LayoutChoice& choice) {
    const Result<Written> written = write(choice);
    if (!written || !written->fits) return std::nullopt;
    return score(written->figures);
  }

  Result<Written> measure(std::shared_ptr<Module> module) {
    auto simulated = simulate(*module, table_, device_, options_.simulate);
    if (!simulated) return tl::unexpected(simulated.error());
    const Occupancy occupancy = memory_occupancy(*module, device_.config, simulated->schedule.order);
    Written written;
    const Totals& totals = simulated->totals;
    written.figures.time = totals.makespan;
    written.figures.padding = totals.padded_bytes - totals.logical_bytes;
    for (size_t i = 0; i < device_.config.memory.size(); ++i)
      if (&device_.config.memory[i] == &device_.config.hbm()) written.figures.hbm = totals.traffic[i].total();
    for (const SpaceOccupancy& space : occupancy.spaces)
      if (space.space == &device_.config.hbm()) written.figures.peak = space.peak;
    if (!room_) {
      assumptions_.add_all(simulated->assumptions);
      room_ = std::make_unique<LayoutRoom>(*problem_, table_, device_.config, occupancy);
    }
    written.fits = room_->fits(occupancy);
    written.module = std::move(module);
    return written;
  }

  /// The header says what arguments and results are.
  static void set_entry_layout(Module& module) {
    const Attr* before = module.find(AttrKey::kEntryComputationLayout);
    if (!before) return;
    std::vector<ShapeRef> shapes;
    for (const InstructionId parameter : module.entry_computation().parameters)
      shapes.push_back(module[parameter].shape);
    shapes.push_back(module.root(module.entry).shape);
    std::vector<Attr> attrs(module.attrs.begin(), module.attrs.end());
    for (Attr& attr : attrs)
      if (attr.key == AttrKey::kEntryComputationLayout)
        attr = Attr::make_list<ShapeRef>(attr.key, attr.syntax,
                                         module.arena().copy(std::span<const ShapeRef>(shapes)));
    module.attrs = module.arena().copy(std::span<const Attr>(attrs));
  }

  std::string name_of(const LayoutSlot& slot) const {
    const ShapeRef shape = problem_->module()[slot.id].shape;
    std::string name(problem_->name_of(slot.id));
    if (!shape->is_tuple()) return name;
    std::vector<int64_t> index;
    int32_t leaf = slot.leaf;
    for (ShapeRef at = shape; at->is_tuple();)
      for (size_t i = 0; i < at->elements.size(); ++i) {
        const auto count = static_cast<int32_t>(leaf_count(at->elements[i]));
        if (leaf >= count) {
          leaf -= count;
          continue;
        }
        index.push_back(static_cast<int64_t>(i));
        at = at->elements[i];
        break;
      }
    return fmt::format("{}{{{}}}", name, fmt::join(index, ","));
  }

  /// What moves elements in `a` and not in `b`; names are the same in both.
  std::vector<LayoutMove> moves_missing(const Module& a, const Module& b) const {
    std::map<std::string_view, InstructionId> there;
    for (const Computation& computation : b.computations)
      for (const InstructionId id : computation.instructions) there[b[id].name] = id;
    std::vector<LayoutMove> moves;
    for (const FlowComputation& flow : flow_computations(a, table_)) {
      for (const InstructionId id : a[flow.id].instructions) {
        const Instruction& instruction = a[id];
        if (instruction.operands.size() != 1) continue;
        const auto found = there.find(instruction.name);
        const bool bitcast = found != there.end() && b[found->second].opcode != instruction.opcode &&
                             table_[b[found->second].opcode].has(kFree);
        if (table_[instruction.opcode].has(kFree) || (found != there.end() && !bitcast)) continue;
        const Instruction& operand = a[instruction.operands[0]];
        moves.push_back({std::string(instruction.name), std::string(operand.name), operand.shape,
                         instruction.shape, bitcast});
      }
    }
    return moves;
  }

  /// "b and one other"
  static std::string operands_text(const std::vector<std::string>& moved) {
    if (moved.size() == 1) return moved[0];
    if (moved.size() == 2) return moved[0] + " and one other";
    return fmt::format("{} and {} others", moved[0], moved.size() - 1);
  }

  /// `spared`, `needed`: operands of moves that are only there without and with the change.
  static std::string why(const LayoutChange& change, const std::vector<std::string>& spared,
                         const std::vector<std::string>& needed) {
    const Bytes before = array_size(change.before), after = array_size(change.after);
    std::vector<std::string> reasons;
    if (after < before) reasons.push_back(fmt::format("{:.3g} times less memory", before / after));
    if (after > before) reasons.push_back(fmt::format("{:.3g} times the memory", after / before));
    if (!spared.empty()) reasons.push_back("no copy of " + operands_text(spared));
    if (!needed.empty()) reasons.push_back("takes a copy of " + operands_text(needed));
    if (reasons.empty()) reasons.push_back(change.saved.count() < 0 ? "" : "fits those that make and use it");
    return fmt::format("{}", fmt::join(reasons, ", "));
  }

  const OpTable& table_;
  const Device& device_;
  LayoutTuneOptions options_;
  std::shared_ptr<Module> given_;
  std::unique_ptr<LayoutProblem> problem_;
  std::unique_ptr<LayoutCosts> costs_;
  Written before_;
  std::unique_ptr<LayoutRoom> room_;  // by the module as given
  std::unique_ptr<LayoutTrials> trials_;
  Moves tuned_moves_;
  AssumptionList assumptions_;
};

}  // namespace

double LayoutTuning::gap() const {
  return score.first == 0 ? 0 : 1 - static_cast<double>(bound.first) / static_cast<double>(score.first);
}

Result<LayoutTuning> tune_layouts(const Module& module, const OpTable& table, const Device& device,
                                  const LayoutTuneOptions& options) {
  Tuner tuner(table, device, options);
  if (Result<void> ready = tuner.prepare(module); !ready) return tl::unexpected(ready.error());
  LayoutSearch search(tuner.problem(), tuner.costs(), tuner.evaluation(),
                      options.objective != LayoutObjective::kMemory);
  const LayoutSearchResult found = search.run(tuner.score(tuner.before().figures), options.search);
  Result<LayoutTuning> tuning = tuner.compare(found.choice);
  if (!tuning) return tuning;
  tuning->bound = found.bound, tuning->exact = found.exact;
  tuning->moves = found.moves, tuning->evaluations = found.evaluations;
  for (const int32_t group : tuner.problem().free_groups())
    if (found.choice[static_cast<size_t>(group)] != tuner.problem().candidates(group)[0])
      tuning->changes.push_back(tuner.change_of(group, found.choice, *tuning));
  std::stable_sort(tuning->changes.begin(), tuning->changes.end(),
                   [](const LayoutChange& a, const LayoutChange& b) { return a.saved > b.saved; });
  if (options.search.out_of_time && options.search.out_of_time())
    tuning->assumptions.add("the clock ended the search: another run may find other layouts");
  return tuning;
}

// ── questions ───────────────────────────────────────────────────

Result<LayoutQuestion> parse_layout_question(std::string_view text) {
  const auto wrong = [&] {
    return failure(fmt::format("'{}' is not a question about a layout", shown(text)),
                   "as in fusion.3={1,0:T(8,128)} or while.1{2}={0,1}");
  };
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong();
  LayoutQuestion question;
  std::string_view value = text.substr(0, equals);
  question.layout = text.substr(equals + 1);
  if (!value.empty() && value.front() == '%') value.remove_prefix(1);
  if (const size_t brace = value.find('{'); brace != std::string_view::npos) {
    std::string_view index = value.substr(brace + 1);
    if (index.empty() || index.back() != '}') return wrong();
    index.remove_suffix(1);
    while (!index.empty()) {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), number);
      if (error != std::errc() || number < 0) return wrong();
      question.index.push_back(number);
      index.remove_prefix(static_cast<size_t>(end - index.data()));
      if (!index.empty() && index.front() != ',') return wrong();
      if (!index.empty()) index.remove_prefix(1);
    }
    value = value.substr(0, brace);
  }
  question.value = value;
  if (value.empty() || question.layout.size() < 2 || question.layout.front() != '{') return wrong();
  return question;
}

namespace {

Result<LayoutSlot> slot_of(const LayoutProblem& problem, const Module& module,
                           const LayoutQuestion& question) {
  std::vector<std::string_view> names;
  for (const ComputationId computation : problem.groups().computations()) {
    for (const InstructionId id : module[computation].instructions) {
      names.push_back(module[id].name);
      if (module[id].name != question.value) continue;
      const ShapeRef part = subshape(module[id].shape, question.index);
      if (!part || !part->is_array())
        return failure(
            fmt::format("{} is {}, not an array", question.value, to_text_without_layout(module[id].shape)),
            "an element of a tuple is named as in while.1{2}");
      return LayoutSlot{id, leaf_number(module[id].shape, question.index)};
    }
  }
  for (const Instruction& instruction : module.instructions)
    if (instruction.name == question.value)
      return failure(
          fmt::format("{} is inside a fusion: only what is stored has a layout to choose", question.value));
  return failure(fmt::format("the module has no value '{}'", shown(question.value)),
                 did_you_mean(question.value, names));
}

Result<ShapeRef> asked_shape(const LayoutProblem& problem, Module& module, ShapeRef array,
                             const LayoutQuestion& question) {
  ShapePool& pool = module.shapes();
  const std::string text = to_text_without_layout(array) + question.layout;
  Result<ShapeRef> shape = parse_shape(pool, text);
  if (!shape) return failure(fmt::format("{}: {}", text, shape.error().message));
  ShapeRef requested = laid_out_as(pool, *shape, (*shape)->layout);
  Layout layout = *requested->layout;
  layout.memory_space = array->memory_space();
  if (layout.element_bits == 0) layout.element_bits = array->layout->element_bits;
  requested = pool.with_layout(requested, pool.layout(layout));
  if (const auto problem_found = validate_layout(requested))
    return failure(fmt::format("{}: {}", text, problem_found->message));
  return layout.tiles.empty() ? problem.relations().ordered(requested, layout.minor_to_major) : requested;
}

}  // namespace

Result<LayoutTuning> ask_layouts(const Module& module, const OpTable& table, const Device& device,
                                 const LayoutTuneOptions& options,
                                 const std::vector<LayoutQuestion>& questions) {
  Tuner tuner(table, device, options);
  if (Result<void> ready = tuner.prepare(module); !ready) return tl::unexpected(ready.error());
  LayoutProblem& problem = tuner.problem();
  LayoutChoice choice = problem.as_given();
  std::vector<int32_t> requested;
  for (const LayoutQuestion& question : questions) {
    const Result<LayoutSlot> slot = slot_of(problem, problem.module(), question);
    if (!slot) return tl::unexpected(slot.error());
    const int32_t group = problem.groups().of(slot->id, slot->leaf);
    const LayoutGroup& one = problem.groups()[group];
    if (!one.fixed.empty())
      return failure(
          fmt::format("{} can't have another layout: {}", question.value, one.fixed),
          one.is_argument || one.is_result ? "--free-entry lets arguments and results change" : "");
    const Result<ShapeRef> shape = asked_shape(problem, problem.module(), one.array, question);
    if (!shape) return tl::unexpected(shape.error());
    choice[static_cast<size_t>(group)] = problem.add_candidate(group, *shape);
    requested.push_back(group);
  }
  Result<LayoutTuning> tuning = tuner.compare(choice);
  if (!tuning) return tuning;
  for (const int32_t group : requested) tuning->changes.push_back(tuner.change_of(group, choice, *tuning));
  tuning->bound = tuning->score;
  return tuning;
}

}  // namespace hlosim
