// HLO values: which instruction made what lies at a place, across tuples, calls and loops.
//
// A value is data made once: at one place, for ever the same. Where several values meet (a loop's state, the
// result of a conditional) stands a phi, a value of its own. Every place holds one value.
//
//   const Result<Values> values = Values::find(graph, places, Era::k2026);
//   const ValueIndex value = values->at(places.first(element));
//   (*values)[value].defined                       // where it was made: an operand of the tuple
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/source.h"
#include "memory/module_graph.h"
#include "memory/places.h"

namespace hlosim {

using ValueIndex = int32_t;  // into Values::all()
inline constexpr ValueIndex kNoValue = -1;

struct ValueUse {
  InstructionId user;
  int32_t operand = 0;
  Place place = kNoPlace;  // of the operand: what is read there
};

/// What is written once: an array or the pointers of a tuple (XLA's HloValue).
struct HloValue {
  int64_t number = 0;  // XLA's id: ascending, with gaps where a phi turned out to be none
  Place defined = kNoPlace;
  bool is_phi = false;
};

/// 2022: values are numbered in the order of the module's lists; now: callees first, operands first.
enum class Era : uint8_t { k2022, k2026 };

class Values {
 public:
  /// Errors: a computation that is called as control flow and once per element.
  static Result<Values> find(const ModuleGraph& graph, const Places& places, Era era);

  const std::vector<HloValue>& all() const { return values_; }
  const HloValue& operator[](ValueIndex value) const { return values_[static_cast<size_t>(value)]; }
  size_t size() const { return values_.size(); }
  /// What lies at a place; kNoValue: nothing that we follow (tokens of asynchronous operations).
  ValueIndex at(Place place) const { return at_[static_cast<size_t>(place)]; }

  /// Where a value is seen: first where it is defined, then by computation, instruction and index.
  std::span<const Place> positions(ValueIndex value) const {
    const auto v = static_cast<size_t>(value);
    return std::span(positions_).subspan(first_position_[v], first_position_[v + 1] - first_position_[v]);
  }
  /// Calls f(ValueUse) for every use, by position, user and operand.
  template <class F>
  void for_each_use(const ModuleGraph& graph, const Places& places, ValueIndex value, F&& f) const {
    // A value that lies in thousands of places of one result is looked for once.
    InstructionId root;
    bool is_at_root = false;
    const auto seen_at = [&](InstructionId user) {
      if (!graph.is_root(user)) return false;
      if (user != root) root = user, is_at_root = is_seen_at_root(graph, places, value, user);
      return is_at_root;
    };
    for (const Place place : positions(value)) {
      const InstructionId at = places.instruction(place);
      for (const OperandSlot slot : places.part(place) == 0 ? graph.slots(at) : element_slots(at)) {
        const UseRule rule = dataflow(graph.module()[slot.user].opcode).use;
        if (rule == UseRule::kAll || (rule == UseRule::kTop && places.part(place) == 0) || seen_at(slot.user))
          f(ValueUse{slot.user, slot.operand, place});
      }
    }
  }

 private:
  friend class ValueFinder;
  /// Where a tuple stands as operand of what may use its elements. A loop's state has thousands of elements,
  /// and as many users that read its pointers only.
  std::span<const OperandSlot> element_slots(InstructionId tuple) const {
    const auto i = static_cast<size_t>(tuple.index);
    return std::span(element_slots_).subspan(first_slot_[i], first_slot_[i + 1] - first_slot_[i]);
  }
  /// A root uses what it hands out.
  bool is_seen_at_root(const ModuleGraph& graph, const Places& places, ValueIndex value,
                       InstructionId root) const;

  std::vector<HloValue> values_;
  std::vector<ValueIndex> at_;    // by place
  std::vector<Place> positions_;  // by value
  std::vector<size_t> first_position_;
  std::vector<OperandSlot> element_slots_;  // by instruction
  std::vector<size_t> first_slot_;
};

}  // namespace hlosim
