#include "shrink/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hlo/verifier.h"
#include "layout/bitcast.h"
#include "shrink/layer_loops.h"
#include "shrink/resize.h"
#include "shrink/resized_attributes.h"

namespace hlosim {
namespace {

using Constants = std::vector<std::pair<InstructionId, int64_t>>;

class Shrinker {
 public:
  Shrinker(const Module& module, const OpTable& table, const ShrinkOptions& options)
      : from_(module), table_(table), options_(options), classes_(module, table) {
    limits_.scale = options.scale;
    limits_.min_size = options.min_size;
    for (const ShrinkBound& bound : options.bounds)
      classes_.bound(classes_.of(bound.id, bound.leaf, bound.dimension), bound.number);
  }

  Shrunk run() {
    choose_layers();
    while (true) {
      divisors_ = largest_divisors(classes_, limits_);
      if (drop_layers_that_stay()) continue;
      const Resizer resizer(from_, table_, classes_, divisors_);
      Module made = resizer.module();
      set_layers(made, loops_, constants_, options_.layers);
      if (keep_bitcasts(made) || keep_what_is_refused(made)) continue;
      describe(resizer);
      return {std::move(made), std::move(notes_), std::move(warnings_)};
    }
  }

 private:
  // ── layers ──

  void choose_layers() {
    for (LayerLoop& loop : layer_loops(from_, table_, classes_)) {
      const std::string problem = options_.layers > 0 ? take(loop) : "";
      if (options_.layers > 0 && problem.empty() && loop.trips > options_.layers)
        loops_.push_back(std::move(loop));
      else
        leave(loop, problem);
    }
    spread();
    for (const LayerLoop& loop : loops_)
      for (const DimensionClass c : loop.stacks) limits_.wanted[c] = loop.trips / options_.layers;
  }

  /// Why the loop can't run as often as wanted; empty: it can.
  std::string take(const LayerLoop& loop) {
    if (loop.trips <= options_.layers) return {};
    if (loop.trips % options_.layers != 0)
      return fmt::format("its {} iterations are not a multiple of {}", loop.trips, options_.layers);
    const LayerNumbers numbers = layer_numbers(from_, loop, options_.layers);
    if (!numbers.problem.empty()) return numbers.problem;
    for (const auto& [constant, value] : numbers.constants)
      for (const auto& [other, taken] : constants_)
        if (constant == other && value != taken)
          return fmt::format("{} counts for another loop as well", from_[constant].name);
    constants_.insert(constants_.end(), numbers.constants.begin(), numbers.constants.end());
    return {};
  }

  void leave(const LayerLoop& loop, const std::string& problem) {
    for (const DimensionClass c : loop.stacks) classes_.fix(c);
    if (!problem.empty())
      warnings_.push_back(fmt::format("{} keeps its {} turns: {}", from_[loop.id].name, loop.trips, problem));
  }

  /// Loops that share stacked arrays with one that stays, stay as well.
  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = 0; i < loops_.size(); ++i) {
        const auto& stacks = loops_[i].stacks;
        if (std::none_of(stacks.begin(), stacks.end(), [&](DimensionClass c) { return classes_[c].fixed; }))
          continue;
        leave(loops_[i], "its arrays are stacked with others that keep their number");
        loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
        break;
      }
    }
    Constants left;
    for (const LayerLoop& loop : loops_)
      for (const auto& constant : layer_numbers(from_, loop, options_.layers).constants)
        left.push_back(constant);
    constants_ = std::move(left);
  }

  /// True when a stack couldn't shrink as the layers do: then its loops stay as they are.
  bool drop_layers_that_stay() {
    bool dropped = false;
    for (const auto& [c, divisor] : limits_.wanted) {
      if (divisors_[static_cast<size_t>(c)] == divisor) continue;
      classes_.fix(c);
      dropped = true;
    }
    if (!dropped) return false;
    limits_.wanted.clear();
    spread();
    for (const LayerLoop& loop : loops_)
      for (const DimensionClass c : loop.stacks) limits_.wanted[c] = loop.trips / options_.layers;
    return true;
  }

  // ── what smaller sizes would break ──

  /// A bitcast that moved nothing still moves nothing: tiles pad small arrays. True when a divisor has to be
  /// lowered for that.
  bool keep_bitcasts(const Module& made) {
    bool lowered = false;
    for (const Computation& computation : from_.computations)
      for (const InstructionId id : computation.instructions) {
        if (table_[from_[id].opcode].rules.dimensions != DimensionRule::kBitcast) continue;
        const InstructionId operand = from_[id].operands[0];
        const ShapeRef was_of = from_[operand].shape, was = from_[id].shape, of = made[operand].shape,
                       now = made[id].shape;
        if (!was->is_array() || !was_of->is_array() || (was == now && was_of == of)) continue;
        const bool stays = !bitcast_problem(of, now) || bitcast_problem(was_of, was);
        if (stays && (classify_bitcast(of, now).is_no_op() || !classify_bitcast(was_of, was).is_no_op()))
          continue;
        const bool lowered_operand = lower_minor_most(operand), lowered_result = lower_minor_most(id);
        lowered |= lowered_operand || lowered_result;
      }
    return lowered;
  }

  bool lower_minor_most(InstructionId id) {
    const ShapeRef shape = from_[id].shape;
    for (int64_t k = 0; k < shape->rank(); ++k) {
      const int64_t i =
          shape->layout ? shape->layout->minor_to_major[static_cast<size_t>(k)] : shape->rank() - 1 - k;
      const DimensionClass c = classes_.of(id, 0, i);
      const int64_t divisor = divisors_[static_cast<size_t>(c)];
      if (divisor == 1 || limits_.wanted.contains(c)) continue;
      limits_.at_most[c] = divisor / smallest_prime(divisor);
      return true;
    }
    return false;
  }

  /// True when the verifier refuses instructions: they keep their sizes then.
  bool keep_what_is_refused(Module& made) {
    DiagnosticList found(1000);
    if (verify(made, table_, found)) return false;
    bool fixed = false;
    for (const Diagnostic& diagnostic : found.items())
      for (size_t i = 0; i < from_.instructions.size(); ++i) {
        const Instruction& instruction = from_[InstructionId{static_cast<int32_t>(i)}];
        if (instruction.opcode_offset != diagnostic.offset && instruction.offset != diagnostic.offset)
          continue;
        fixed |= keep(InstructionId{static_cast<int32_t>(i)});
        for (const InstructionId operand : instruction.operands) fixed |= keep(operand);
      }
    if (!fixed) {
      HLOSIM_CHECK(!all_kept_, "the verifier refuses the module as it was: {}", found.items()[0].message);
      all_kept_ = true;
      for (size_t c = 0; c < classes_.size(); ++c) classes_.fix(static_cast<DimensionClass>(c));
      warnings_.push_back("nothing is smaller: " + found.items()[0].message);
    }
    return true;
  }

  bool keep(InstructionId id) {
    bool changed = false;
    classes_.for_each(id, [&](DimensionClass c) { changed |= divisors_[static_cast<size_t>(c)] != 1; });
    if (changed) classes_.fix(id);
    return changed;
  }

  // ── what to say ──

  void describe(const Resizer& resizer) {
    std::map<std::string, int64_t> fixed, unknown;
    int64_t at_places = 0, constants = 0, blocks = 0;
    for (const Computation& computation : from_.computations)
      for (const InstructionId id : computation.instructions) {
        const Instruction& instruction = from_[id];
        const OpDef& def = table_[instruction.opcode];
        const DimensionRule rule = def.rules.dimensions;
        bool has_dimensions = false;
        classes_.for_each(id, [&](DimensionClass) { has_dimensions = true; });
        if ((rule == DimensionRule::kFixed || instruction.find(AttrKey::kNumCarries)) && has_dimensions)
          ++fixed[std::string(def.name)];
        if (!resizer.changes(id)) continue;
        if (const Attr* target = instruction.find(AttrKey::kCustomCallTarget))
          if (instruction.find(AttrKey::kBackendConfig)) ++unknown[std::string(target->text())];
        if (const Attr* config = instruction.find(AttrKey::kBackendConfig))
          blocks += without_window_config(config->text()) != config->text();
        at_places += rule == DimensionRule::kDynamicSlice || rule == DimensionRule::kDynamicUpdate ||
                     rule == DimensionRule::kGather || rule == DimensionRule::kScatter;
        constants += instruction.literal != nullptr && !instruction.shape->is_scalar();
      }
    if (at_places > 0)
      notes_.push_back(
          fmt::format("{} reads and writes at computed places: numbers that these are computed from "
                      "keep their values, and are clamped where arrays end",
                      at_places));
    if (constants > 0)
      notes_.push_back(fmt::format("{} constants keep every so many of their elements", constants));
    if (blocks > 0)
      notes_.push_back(
          fmt::format("{} instructions don't state the blocks any more that a compiler chose for their "
                      "old sizes (window_config)",
                      blocks));
    for (const auto& [target, count] : unknown)
      notes_.push_back(fmt::format("custom call {}, {} of them: sizes in the backend_config are the old ones",
                                   target, count));
    for (const auto& [opcode, count] : fixed)
      notes_.push_back(fmt::format("{}, {} of them: keeps its sizes", opcode, count));
  }

  const Module& from_;
  const OpTable& table_;
  const ShrinkOptions& options_;
  DimensionClasses classes_;
  DivisorLimits limits_;
  Divisors divisors_;
  std::vector<LayerLoop> loops_;
  Constants constants_;
  std::vector<std::string> notes_, warnings_;
  bool all_kept_ = false;
};

}  // namespace

Result<Shrunk> shrink(const Module& module, const OpTable& table, const ShrinkOptions& options) {
  if (options.scale < 1) return failure(fmt::format("scale is {}, expected 1 or more", options.scale));
  if (options.min_size < 1)
    return failure(fmt::format("min-size is {}, expected 1 or more", options.min_size));
  if (options.layers < 0) return failure(fmt::format("layers is {}, expected 0 or more", options.layers));
  return Shrinker(module, table, options).run();
}

}  // namespace hlosim
