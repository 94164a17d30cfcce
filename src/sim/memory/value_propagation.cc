#include "memory/value_propagation.h"

#include <algorithm>

#include "memory/value_makers.h"

namespace hlosim {

void ValueFlow::define(InstructionId id) {
  const Place first = places_.first(id);
  const int32_t count = places_.parts(id).size();
  for (int32_t part = 0; part < count; ++part)
    if (makes_value(graph_, places_, id, part))
      at_[static_cast<size_t>(first + part)] = add_value(first + part, false);
}

ValueIndex ValueFlow::add_value(Place place, bool is_phi) {
  all_.push_back({static_cast<int64_t>(all_.size()), place, is_phi});
  return static_cast<ValueIndex>(all_.size() - 1);
}

bool ValueFlow::set(Place place, ValueIndex value) {
  ValueIndex& at = at_[static_cast<size_t>(place)];
  if (at == value || value == kNoValue) return false;
  at = value;
  return true;
}

bool ValueFlow::forward(Place from, Place to, bool leaves_only) {
  if (from == kNoPlace || to == kNoPlace) return false;
  const int32_t count = std::min(places_.end(from) - from, places_.end(to) - to);
  bool changed = false;
  for (int32_t i = 0; i < count; ++i)
    if (!leaves_only || !places_.shape(to + i)->is_tuple())
      changed |= set(to + i, at_[static_cast<size_t>(from + i)]);
  return changed;
}

Place ValueFlow::top_of_operand(InstructionId id, size_t i) const {
  const auto operands = module_[id].operands;
  return i < operands.size() ? top(operands[i]) : kNoPlace;
}
Place ValueFlow::inside(Place place, std::initializer_list<int64_t> index) const {
  for (const int64_t element : index)
    if (place != kNoPlace) place = places_.child(place, element);
  return place;
}

bool ValueFlow::update(InstructionId id) {
  const Instruction& instruction = module_[id];
  const Place here = top(id), operand = top_of_operand(id, 0);
  switch (rule(id)) {
    case ValueRule::kMakesAll:
      return false;
    case ValueRule::kParameter:
      return update_parameter(id);
    case ValueRule::kTuple: {
      bool changed = false;
      for (size_t i = 0; i < instruction.operands.size(); ++i)
        changed |= forward(top_of_operand(id, i), inside(here, {static_cast<int64_t>(i)}));
      return changed;
    }
    case ValueRule::kShallowCopy:
      return forward_elements(operand, here);
    case ValueRule::kForwards:
      return forward(operand, here);
    case ValueRule::kElement:
      return forward(inside(operand, {instruction.find(AttrKey::kIndex)->integer()}), here);
    case ValueRule::kLoop:
      return phi(id, {top(module_[loop_body(instruction)].root), operand});
    case ValueRule::kConditional: {
      std::vector<Place> results;
      for (const ComputationId branch : called_in_order(instruction))
        results.push_back(top(module_[branch].root));
      return phi(id, results);
    }
    case ValueRule::kCall:
      return forward(top(module_[called_in_order(instruction)[0]].root), here);
    case ValueRule::kCopyStart:
      return forward(operand, inside(here, {1}));
    case ValueRule::kCopyDone:
      return forward(inside(operand, {0}), here);
    case ValueRule::kAsyncStart:
    case ValueRule::kAsyncUpdate:
    case ValueRule::kAsyncDone:
      return update_async(id);
    case ValueRule::kAllGatherStart:
    case ValueRule::kPermuteStart:
      return update_collective_start(id);
    case ValueRule::kAllGatherDone:
    case ValueRule::kPermuteDone:
      return forward(inside(operand, {1}), here, true);
    case ValueRule::kSend:
      return forward(operand, inside(here, {0}));
    case ValueRule::kRecvDone:
      return forward(inside(operand, {0}), inside(here, {0}));
  }
  return false;
}

bool ValueFlow::forward_elements(Place from, Place to) {
  bool changed = false;
  for (Place at = to + 1; at < places_.end(to); ++at)
    changed |= set(at, at_[static_cast<size_t>(from + (at - to))]);
  return changed;
}

bool ValueFlow::update_collective_start(InstructionId id) {
  const Place sources = inside(top(id), {0});
  const size_t count = module_[id].operands.size();
  const bool one =
      count == 1 || (count == 4 && places_.shape(sources) == module_[module_[id].operands[0]].shape);
  if (one || !places_.shape(sources)->is_tuple()) return forward(top_of_operand(id, 0), sources, count == 1);
  bool changed = false;
  for (size_t i = 0; i < count; ++i)
    changed |= forward(top_of_operand(id, i), inside(sources, {static_cast<int64_t>(i)}), true);
  return changed;
}

bool ValueFlow::update_async(InstructionId id) {
  const ValueRule how = rule(id);
  const ComputationId wrapped = graph_.wrapped(id);
  const Place here = top(id), before = top_of_operand(id, 0);
  const Place result = wrapped.valid() ? top(module_[wrapped].root) : kNoPlace;
  bool changed = false;
  if (how == ValueRule::kAsyncDone) {
    changed |= forward(inside(before, {1}), here, true);
    if (result != kNoPlace && same_size(result, here)) changed |= forward(result, here, true);
    return changed;
  }
  size_t bound = 0;
  if (how == ValueRule::kAsyncUpdate) {
    for (const int64_t element : {0, 1})
      changed |= forward(inside(before, {element}), inside(here, {element}), true);
    bound = places_.shape(inside(before, {0}))->elements.size();
  }
  const size_t first_new = how == ValueRule::kAsyncUpdate ? 1 : 0;
  for (size_t i = first_new; i < module_[id].operands.size(); ++i)
    changed |=
        forward(top_of_operand(id, i), inside(here, {0, static_cast<int64_t>(bound + i - first_new)}), true);
  if (result != kNoPlace && same_size(result, inside(here, {1})))
    changed |= forward(result, inside(here, {1}), true);
  return changed;
}

bool ValueFlow::same_size(Place a, Place b) const {
  return a != kNoPlace && b != kNoPlace && places_.end(a) - a == places_.end(b) - b;
}

bool ValueFlow::update_parameter(InstructionId id) {
  const ComputationId computation = module_[id].parent;
  if (graph_.context(computation) != CallRule::kControlFlow) return false;
  const int64_t number = module_[id].parameter_number;
  std::vector<Place> inputs;
  bool meets = false;
  for (const InstructionId caller : graph_.callers(computation)) {
    switch (rule(caller)) {
      case ValueRule::kLoop: {
        inputs.push_back(top_of_operand(caller, 0));
        const InstructionId result = module_[loop_body(module_[caller])].root;
        if (result != id) inputs.push_back(top(result));
        meets = true;
        break;
      }
      case ValueRule::kConditional: {
        const std::vector<ComputationId> branches = called_in_order(module_[caller]);
        for (size_t i = 0; i < branches.size(); ++i)
          if (branches[i] == computation) inputs.push_back(top_of_operand(caller, i + 1));
        meets = true;
        break;
      }
      case ValueRule::kAsyncStart:
      case ValueRule::kAsyncUpdate:
      case ValueRule::kAsyncDone:
        inputs.push_back(bound_operand(caller, number));
        break;
      default:
        inputs.push_back(top_of_operand(caller, static_cast<size_t>(number)));
    }
  }
  inputs.erase(std::remove(inputs.begin(), inputs.end(), kNoPlace), inputs.end());
  if (meets) return phi(id, inputs);
  // Called from several places: each call brings its own, and the first one stands for all.
  return !inputs.empty() && forward(inputs[0], top(id));
}

Place ValueFlow::bound_operand(InstructionId part, int64_t number) const {
  const size_t count = module_[part].operands.size();
  if (rule(part) == ValueRule::kAsyncStart) {
    if (number < static_cast<int64_t>(count)) return top_of_operand(part, static_cast<size_t>(number));
    for (const InstructionId user : graph_.users(part)) {
      const ValueRule how = rule(user);
      if (how == ValueRule::kAsyncUpdate || how == ValueRule::kAsyncDone) return bound_operand(user, number);
    }
    return kNoPlace;
  }
  const ShapeRef before = module_[module_[part].operands[0]].shape;
  const int64_t bound = static_cast<int64_t>(before->elements[0]->elements.size());
  if (number < bound) return inside(top_of_operand(part, 0), {0, number});
  if (number - bound + 1 < static_cast<int64_t>(count))
    return top_of_operand(part, static_cast<size_t>(number - bound + 1));
  for (const InstructionId user : graph_.users(part))
    if (rule(user) != ValueRule::kMakesAll) return bound_operand(user, number);
  return kNoPlace;
}

bool ValueFlow::phi(InstructionId id, const std::vector<Place>& inputs) {
  bool changed = false;
  std::vector<ValueIndex> reaching;
  for (int32_t part = 0; part < places_.parts(id).size(); ++part) {
    const Place place = top(id) + part;
    reaching.clear();
    for (const Place input : inputs)
      if (input + part < places_.end(input))
        if (const ValueIndex value = at_[static_cast<size_t>(input + part)]; value != kNoValue)
          reaching.push_back(value);
    if (reaching.empty()) continue;
    const ValueIndex current = at_[static_cast<size_t>(place)];
    const bool own = current != kNoValue && all_[static_cast<size_t>(current)].defined == place;
    if (reaching.size() == 1) {
      if (reaching[0] == current) continue;
      at_[static_cast<size_t>(place)] = reaching[0];
      changed = true;
    } else if (!own) {
      const ValueIndex made = add_value(place, true);
      at_[static_cast<size_t>(place)] = made;
      phis_.set(made, reaching);
      changed = true;
    } else if (phis_.inputs(current) != reaching) {
      phis_.set(current, reaching);
      changed = true;
    }
  }
  return changed;
}

std::vector<ValueIndex> ValueFlow::finish() {
  phis_.simplify();
  for (ValueIndex& value : at_)
    if (value != kNoValue) value = phis_.replacement(value);
  return std::move(at_);
}

}  // namespace hlosim
