// Overrides that name instructions: which values and uses they mean.
#include <algorithm>
#include <limits>

#include "base/pattern.h"
#include "hlo/printer.h"
#include "layout/sizes.h"
#include "prefetch/prefetch_xla.h"

namespace hlosim {
namespace {

/// One matcher with its expressions compiled.
class Matcher {
 public:
  explicit Matcher(const InstructionMatcher& what) : what_(what) {
    if (what.instruction_name_regex) name_ = Pattern::parse(*what.instruction_name_regex).value();
    if (what.instruction_regex) text_ = Pattern::parse(*what.instruction_regex).value();
  }

  bool matches(const Module& module, const OpTable& table, InstructionId id, ShapeRef array) const {
    if (!name_.matches(module[id].name)) return false;
    if (text_ && !text_->matches(to_text(module, module[id], table))) return false;
    const int64_t bytes = array_size(array).count();
    return (!what_.size_gte || bytes >= *what_.size_gte) && (!what_.size_lte || bytes <= *what_.size_lte);
  }
  bool takes_operand(int64_t operand) const {
    return !what_.operand_number || *what_.operand_number == operand;
  }
  bool takes_element(int64_t element) const {
    return what_.tuple_index.empty() || (what_.tuple_index.size() == 1 && what_.tuple_index[0] == element);
  }

 private:
  const InstructionMatcher& what_;
  Pattern name_;
  std::optional<Pattern> text_;
};

class HintMaker {
 public:
  HintMaker(const Module& module, const OpTable& table, const PrefetchModel& model, const XlaKnobs& knobs)
      : module_(module), table_(table), model_(model), knobs_(knobs) {}

  XlaHints make() {
    XlaHints hints;
    for (const SortOrderOverride& one : knobs_.msa_sort_order_overrides) sort(one, hints);
    for (const PreferredPrefetchOverride& one : knobs_.preferred_prefetch_overrides) prefer(one, hints);
    return hints;
  }

 private:
  ShapeRef array_of(size_t v) const { return module_[model_.origins[v].sources[0]].shape; }

  void sort(const SortOrderOverride& one, XlaHints& hints) {
    const Matcher position(one.position);
    std::optional<Matcher> use;
    if (one.position_use) use.emplace(*one.position_use);
    decided_.resize(model_.origins.size());
    hints.priority.resize(model_.origins.size());
    for (size_t v = 0; v < model_.origins.size(); ++v) {
      const PrefetchOrigin& origin = model_.origins[v];
      const InstructionId maker = origin.maker.valid() ? origin.maker : origin.sources[0];
      if (decided_[v] || !position.takes_element(origin.element) ||
          !position.matches(module_, table_, maker, array_of(v)) || (use && !is_used(*use, v)))
        continue;
      decided_[v] = 1;
      constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
      hints.priority[v] = one.kind == SortOrderOverride::Kind::kFirst  ? -kEnd
                          : one.kind == SortOrderOverride::Kind::kLast ? kEnd
                                                                       : one.value;
    }
  }
  bool is_used(const Matcher& use, size_t v) const {
    for (const auto& slots : model_.origins[v].slots)
      for (const PrefetchOrigin::Slot& slot : slots)
        if (use.takes_operand(slot.operand) && use.matches(module_, table_, slot.user, array_of(v)))
          return true;
    return false;
  }

  void prefer(const PreferredPrefetchOverride& one, XlaHints& hints) {
    const Matcher matcher(one.use);
    hints.preferred_starts.resize(model_.origins.size());
    for (size_t v = 0; v < model_.origins.size(); ++v) {
      const PrefetchValue& value = model_.problem.values[v];
      std::vector<int32_t>& starts = hints.preferred_starts[v];
      starts.resize(value.uses.size(), -1);
      for (size_t i = 0; i < value.uses.size(); ++i) {
        if (starts[i] >= 0 || value.uses[i].bit < 0) continue;
        for (const PrefetchOrigin::Slot& slot : model_.origins[v].slots[i])
          if (matcher.takes_operand(slot.operand) && matcher.takes_element(model_.origins[v].element) &&
              matcher.matches(module_, table_, slot.user, array_of(v)))
            starts[i] = start_of(one, value, value.uses[i].position);
      }
    }
  }

  int32_t start_of(const PreferredPrefetchOverride& one, const PrefetchValue& value, int32_t position) const {
    if (one.prefetch_eagerness) {
      const int32_t first = value.made_at + 1;
      return first +
             static_cast<int32_t>(static_cast<double>(position - first) * (1 - *one.prefetch_eagerness));
    }
    if (one.logical_time) return static_cast<int32_t>(std::clamp<int64_t>(*one.logical_time, 0, position));
    const auto find = [&](const InstructionMatcher& what) {
      const Matcher matcher(what);
      const auto& steps = model_.problem.regions[static_cast<size_t>(value.region)].steps;
      for (size_t p = 0; p < steps.size(); ++p) {
        const InstructionId id = model_.steps[static_cast<size_t>(steps[p])];
        if (matcher.matches(module_, table_, id, array_of_step(id))) return static_cast<int32_t>(p);
      }
      return -1;
    };
    if (one.before_instruction) return find(*one.before_instruction);
    const int32_t after = find(*one.after_instruction);
    return after < 0 ? -1 : after + 1;
  }
  ShapeRef array_of_step(InstructionId id) const {
    ShapeRef first = nullptr;
    for_each_leaf(module_[id].shape, [&](ShapeRef leaf) {
      if (!first && leaf->is_array()) first = leaf;
    });
    return first ? first : no_array_;
  }

  const Module& module_;
  const OpTable& table_;
  const PrefetchModel& model_;
  const XlaKnobs& knobs_;
  ShapePool shapes_;
  const ShapeRef no_array_ = shapes_.scalar(ElementType::kPred);  // of steps without any
  std::vector<uint8_t> decided_;
};

}  // namespace

XlaHints xla_hints(const Module& module, const OpTable& table, const PrefetchModel& model,
                   const XlaKnobs& knobs) {
  return HintMaker(module, table, model, knobs).make();
}

}  // namespace hlosim
