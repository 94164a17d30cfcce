#include "memory/aliased.h"

#include <algorithm>
#include <unordered_map>

namespace hlosim {
namespace {

/// A leaf of an entry parameter that a part of the result takes over.
struct Donation {
  Place parameter, output;
};

std::vector<Donation> donations(const Module& module, const Places& places) {
  const Attr* attr = module.find(AttrKey::kInputOutputAlias);
  if (!attr) return {};
  const Computation& entry = module.entry_computation();
  std::vector<Donation> found;
  for (const Alias& alias : attr->aliases()) {
    if (alias.parameter >= static_cast<int64_t>(entry.parameters.size())) continue;
    const InstructionId parameter = entry.parameters[static_cast<size_t>(alias.parameter)];
    const Donation donation{places.find(parameter, alias.parameter_index),
                            places.find(entry.root, alias.output_index)};
    if (donation.parameter != kNoPlace && donation.output != kNoPlace) found.push_back(donation);
  }
  return found;
}

class Merger {
 public:
  Merger(const ModuleGraph& graph, const Places& places, const Values& values, Era era)
      : graph_(graph), module_(graph.module()), places_(places), values_(values) {
    const size_t count = values.size();
    sets.resize(count);
    set_of_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      sets[i] = {static_cast<ValueIndex>(i)};
      set_of_[i] = i;
    }
    list_in_place_pairs(era != Era::k2022);
    list_loops();
    for (const Donation& donation : donations(module_, places))
      donors_.emplace(donation.output, donation.parameter);
  }

  void run() {
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto value = static_cast<ValueIndex>(i);
      found_ = {value};
      add_donors(value);
      add_control_flow(value);
      add_in_place(value);
      merge();
    }
  }

  std::vector<std::vector<ValueIndex>> sets;

 private:
  void list_in_place_pairs(bool scatters) {
    for (const ComputationId computation : graph_.computations())
      for (const InstructionId id : graph_.instructions(computation)) list_in_place_pairs(id, scatters);
  }
  void list_in_place_pairs(InstructionId id, bool scatters) {
    for (const InPlacePair& pair : in_place_pairs(module_, module_[id], scatters)) {
      const InstructionId operand = module_[id].operands[static_cast<size_t>(pair.operand)];
      const Place input = places_.find(operand, pair.operand_index);
      const Place output = places_.find(id, pair.output_index);
      if (input == kNoPlace || output == kNoPlace) continue;
      input_of_.emplace(output, input);
      output_of_.emplace(input, output);
    }
  }
  /// Loops by what they begin with: wide tuples have many users, and few of them are loops.
  void list_loops() {
    loops_ = IdMap<InstructionId, std::vector<InstructionId>>(module_.instructions.size());
    for (const ComputationId computation : graph_.computations())
      for (const InstructionId id : graph_.instructions(computation))
        if (rule(id) == ValueRule::kLoop)
          for (const InstructionId operand : module_[id].operands) loops_[operand].push_back(id);
  }

  void add(Place place) {
    if (place == kNoPlace) return;
    const ValueIndex value = values_.at(place);
    if (value != kNoValue) found_.push_back(value);
  }

  using PlacesOf = std::unordered_multimap<Place, Place>;
  void add_all(const PlacesOf& places, Place of) {
    const auto [first, last] = places.equal_range(of);
    for (auto at = first; at != last; ++at) add(at->second);
  }
  void add_donors(ValueIndex value) {
    for (const Place place : values_.positions(value)) add_all(donors_, place);
  }

  /// The same part of a loop's or conditional's result.
  void add_result_of(InstructionId caller, Place place) { add(places_.first(caller) + places_.part(place)); }

  void add_control_flow(ValueIndex value) {
    for (const Place place : values_.positions(value))
      for (const InstructionId loop : loops_[places_.instruction(place)]) add_result_of(loop, place);
    const Place defined = values_[value].defined;
    const InstructionId definer = places_.instruction(defined);
    if (module_[definer].parameter_number >= 0)
      for (const InstructionId caller : graph_.callers(module_[definer].parent))
        if (rule(caller) == ValueRule::kLoop) add_result_of(caller, defined);
    for (const Place place : values_.positions(value)) {
      const InstructionId at = places_.instruction(place);
      if (!graph_.is_root(at)) continue;
      const ComputationId computation = module_[at].parent;
      for (const InstructionId caller : graph_.callers(computation)) {
        const bool is_body = rule(caller) == ValueRule::kLoop && loop_body(module_[caller]) == computation;
        if (is_body || rule(caller) == ValueRule::kConditional) add_result_of(caller, place);
      }
    }
  }

  void add_in_place(ValueIndex value) {
    for (const Place place : values_.positions(value)) add_all(input_of_, place), add_all(output_of_, place);
  }

  ValueRule rule(InstructionId id) const { return dataflow(module_[id].opcode).value; }

  /// Into the largest set; among equals into that of the smallest value.
  void merge() {
    if (found_.size() < 2) return;
    std::sort(found_.begin(), found_.end());
    size_t target = set_of_[static_cast<size_t>(found_[0])];
    for (const ValueIndex value : found_) {
      const size_t set = set_of_[static_cast<size_t>(value)];
      if (sets[set].size() > sets[target].size()) target = set;
    }
    for (const ValueIndex value : found_) {
      const size_t set = set_of_[static_cast<size_t>(value)];
      if (set == target) continue;
      for (const ValueIndex member : sets[set]) {
        set_of_[static_cast<size_t>(member)] = target;
        sets[target].push_back(member);
      }
      sets[set].clear();
    }
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Values& values_;
  PlacesOf input_of_, output_of_;  // what is written in place
  PlacesOf donors_;                // of a part of the result
  IdMap<InstructionId, std::vector<InstructionId>> loops_;
  std::vector<size_t> set_of_;
  std::vector<ValueIndex> found_;
};

}  // namespace

AliasedBuffers::AliasedBuffers(const ModuleGraph& graph, const Places& places, const Values& values, Era era)
    : buffer_(values.size(), -1), is_donated_(values.size(), 0) {
  for (const Donation& donation : donations(graph.module(), places))
    if (const ValueIndex value = values.at(donation.parameter); value != kNoValue)
      is_donated_[static_cast<size_t>(value)] = 1;
  Merger merger(graph, places, values, era);
  merger.run();
  for (std::vector<ValueIndex>& set : merger.sets) {
    if (set.empty()) continue;
    std::sort(set.begin(), set.end());
    for (const ValueIndex value : set) buffer_[static_cast<size_t>(value)] = size();
    members_.push_back(std::move(set));
  }
  is_output_.assign(members_.size(), 0);
  const Place root = places.first(graph.module().entry_computation().root);
  for (Place place = root; place < places.end(root); ++place)
    if (const ValueIndex value = values.at(place); value != kNoValue)
      is_output_[static_cast<size_t>(of(value))] = 1;
}

}  // namespace hlosim
