#include "memory/aliased.h"

#include <algorithm>
#include <numeric>
#include <utility>

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
    set_of_.resize(count);
    next_.resize(count, kNoValue);
    last_.resize(count);
    std::iota(set_of_.begin(), set_of_.end(), ValueIndex{0});
    std::iota(last_.begin(), last_.end(), ValueIndex{0});
    sizes_.assign(count, 1);
    list_in_place_pairs(era != Era::k2022);
    list_loops();
    for (const Donation& donation : donations(module_, places))
      donors_.emplace_back(donation.output, donation.parameter);
    for (PlacesOf* one : {&input_of_, &output_of_, &donors_}) std::ranges::sort(*one);
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

  /// Appends the values of each set, by number, to `members`, and where it ends to `ends`.
  void list_sets(std::vector<ValueIndex>& members, std::vector<size_t>& ends) const {
    members.reserve(sizes_.size());
    for (size_t set = 0; set < sizes_.size(); ++set) {
      if (sizes_[set] == 0) continue;
      const auto first = std::ssize(members);
      for (auto value = static_cast<ValueIndex>(set); value != kNoValue;
           value = next_[static_cast<size_t>(value)])
        members.push_back(value);
      std::sort(members.begin() + first, members.end());
      ends.push_back(members.size());
    }
  }

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
      input_of_.emplace_back(output, input);
      output_of_.emplace_back(input, output);
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

  using PlacesOf = std::vector<std::pair<Place, Place>>;  // sorted
  void add_all(const PlacesOf& places, Place of) {
    for (auto at = std::lower_bound(places.begin(), places.end(), std::pair(of, kNoPlace));
         at != places.end() && at->first == of; ++at)
      add(at->second);
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
    ValueIndex target = set_of_[static_cast<size_t>(found_[0])];
    for (const ValueIndex value : found_) {
      const ValueIndex set = set_of_[static_cast<size_t>(value)];
      if (sizes_[static_cast<size_t>(set)] > sizes_[static_cast<size_t>(target)]) target = set;
    }
    for (const ValueIndex value : found_)
      if (const ValueIndex set = set_of_[static_cast<size_t>(value)]; set != target) append(set, target);
  }

  /// A set is a list that begins with the value of its number.
  void append(ValueIndex set, ValueIndex target) {
    const auto s = static_cast<size_t>(set), t = static_cast<size_t>(target);
    for (ValueIndex member = set; member != kNoValue; member = next_[static_cast<size_t>(member)])
      set_of_[static_cast<size_t>(member)] = target;
    next_[static_cast<size_t>(last_[t])] = set;
    last_[t] = last_[s];
    sizes_[t] += std::exchange(sizes_[s], 0);
  }

  const ModuleGraph& graph_;
  const Module& module_;
  const Places& places_;
  const Values& values_;
  PlacesOf input_of_, output_of_;  // what is written in place
  PlacesOf donors_;                // of a part of the result
  IdMap<InstructionId, std::vector<InstructionId>> loops_;
  std::vector<ValueIndex> set_of_, next_;  // by value
  std::vector<ValueIndex> last_;           // by set
  std::vector<size_t> sizes_;              // by set; 0: it is part of another one
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
  merger.list_sets(members_, first_member_);
  for (BufferIndex buffer = 0; buffer < size(); ++buffer)
    for (const ValueIndex value : this->values(buffer)) buffer_[static_cast<size_t>(value)] = buffer;
  is_output_.assign(static_cast<size_t>(size()), 0);
  const Place root = places.first(graph.module().entry_computation().root);
  for (Place place = root; place < places.end(root); ++place)
    if (const ValueIndex value = values.at(place); value != kNoValue)
      is_output_[static_cast<size_t>(of(value))] = 1;
}

}  // namespace hlosim
