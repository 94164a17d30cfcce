#include "lower/place.h"

#include <algorithm>
#include <map>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/on_chip.h"
#include "modules/trip_count.h"
#include "ops/dataflow.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

/// A value and the steps of its computation during which it lives.
struct Candidate {
  InstructionId id;
  int64_t bytes = 0, uses = 0;
  size_t begin = 0, end = 0;
};

class Placer {
 public:
  Placer(ModuleEditor& editor, const OpTable& table, const OnChip& home, bool takes_sliced)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        space_(home.space),
        scratch_(home.scratch),
        takes_sliced_(takes_sliced),
        callers_(caller_counts(module_)) {}

  void run(ComputationId entry, int64_t room) {
    room_ = room_in_loops(module_, space_, room);
    place_in(entry, room);
  }

 private:
  struct Loop {
    InstructionId id;
    int64_t bytes = 0;
  };

  /// Places the values of a computation within `budget` bytes; returns how much of it is taken at most. What
  /// is the body of several loops is gone through once.
  int64_t place_in(ComputationId id, int64_t budget) {
    if (const auto done = taken_in_.find(id); done != taken_in_.end()) return done->second;
    budget = std::min(budget, room_.at(id));
    std::vector<Loop> loops;
    for (const InstructionId at : std::vector<InstructionId>(module_[id].instructions))
      if (module_[at].find(AttrKey::kCondition) && module_[at].find(AttrKey::kBody)) {
        Loop loop{at, 2 * bytes_in(module_[at].shape,
                                   space_)};  // slices that come one iteration ahead: this one and the next
        if (takes_sliced_) {  // inner loops first: what they want on the chip may as well come from outside
          loop.bytes += place_in(called(at, AttrKey::kBody), budget - loop.bytes);
          loop.bytes += place_carried(id, at, budget - loop.bytes);
        } else {
          loop.bytes += place_carried(id, at, budget - loop.bytes);
          loop.bytes += place_in(called(at, AttrKey::kBody), budget - loop.bytes);
        }
        loops.push_back(loop);
      }
    const std::vector<InstructionId> order = module_[id].instructions;
    const auto users = users_of(module_, id);
    IdMap<InstructionId, size_t> step(module_.instructions.size());
    for (size_t i = 0; i < order.size(); ++i) step[order[i]] = i;
    std::vector<int64_t> taken = taken_around(loops, order.size(), users, step);
    for (const Loop& loop : loops) taken[step[loop.id]] += loop.bytes;
    std::vector<Candidate> candidates;
    for (const InstructionId at : order) {
      if (!may_move(at, id, users[at]) || is_too_large(at, id)) continue;
      Candidate one{at, array_size(module_[at].shape).count(), 0, step[maker(at)], step[at]};
      for (const InstructionId user : users[at]) {
        one.end = std::max(one.end, step[user]);
        ++one.uses;
      }
      candidates.push_back(one);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.uses > b.uses; });
    for (const Candidate& one : candidates) {
      const auto first = taken.begin() + static_cast<std::ptrdiff_t>(one.begin);
      const auto last = taken.begin() + static_cast<std::ptrdiff_t>(one.end) + 1;
      if (*std::max_element(first, last) + one.bytes > budget) continue;
      for (auto at = first; at != last; ++at) *at += one.bytes;
      move(one.id, users[one.id]);
    }
    return taken_in_[id] = taken.empty() ? 0 : *std::max_element(taken.begin(), taken.end());
  }

  /// Bytes, step by step, of what loops begin with from where it is made, and of what they leave up to where
  /// it is used last.
  std::vector<int64_t> taken_around(const std::vector<Loop>& loops, size_t steps, const Users& users,
                                    const IdMap<InstructionId, size_t>& step) const {
    std::vector<int64_t> change(steps + 1);
    const auto add = [&](size_t begin, size_t end, int64_t bytes) {
      if (begin >= end) return;
      change[begin] += bytes;
      change[end] -= bytes;
    };
    const auto is_loop = [&](InstructionId id) { return module_[id].find(AttrKey::kBody) != nullptr; };
    for (const Loop& loop : loops) {
      const InstructionId init = module_[loop.id].operands[0];
      if (is_tuple(init))
        for (const InstructionId value : module_[init].operands)
          if (!(is_element(value) && is_loop(module_[value].operands[0])))
            add(step[maker(value)], step[loop.id], own_bytes(value));
      for (const InstructionId left : users[loop.id]) {
        if (!is_element(left)) continue;
        size_t last = step[loop.id];
        for (const InstructionId user : users[left]) {
          last = std::max(last, step[user]);
          for (const InstructionId next : users[user])  // the next loop has it from there on
            if (is_tuple(user) && is_loop(next)) last = std::max(last, step[next] - 1);
        }
        add(step[loop.id] + 1, last + 1, own_bytes(left));
      }
    }
    for (size_t i = 1; i < change.size(); ++i) change[i] += change[i - 1];
    change.resize(steps);
    return change;
  }
  int64_t own_bytes(InstructionId id) const {
    return module_[id].shape->is_array() ? bytes_in(module_[id].shape, space_) : 0;
  }

  /// What a loop makes anew each time and is as large as the scratch of an instruction stays in HBM.
  bool is_too_large(InstructionId id, ComputationId computation) const {
    return computation != module_.entry && scratch_ > 0 && array_size(module_[id].shape).count() >= scratch_;
  }

  bool is_fusion(InstructionId id) const { return table_[module_[id].opcode].has(kFusion); }
  bool is_tuple(InstructionId id) const { return hlosim::is_tuple(module_[id]); }
  bool is_element(InstructionId id) const { return is_tuple_element(module_[id]); }
  size_t index_of_element(InstructionId id) const {
    return static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
  }
  InstructionId maker(InstructionId id) const {
    return is_element(id) && is_fusion(module_[id].operands[0]) ? module_[id].operands[0] : id;
  }
  bool is_kernel(InstructionId id) const {
    if (is_fusion(id)) return has_alone(id, AttrKey::kCalls);
    return fusion_role(table_, module_[id]) != FusionRole::kNone;
  }
  /// A kernel that reads the value and doesn't write its result in its place.
  bool only_reads(InstructionId user, InstructionId value) const {
    return is_kernel(user) &&
           std::ranges::none_of(in_place_pairs(module_, module_[user]), [&](const InPlacePair& pair) {
             return module_[user].operands[static_cast<size_t>(pair.operand)] == value;
           });
  }
  ComputationId called(InstructionId id, AttrKey key) const {
    return module_[id].find(key)->computations()[0];
  }
  /// Nothing else calls that computation: it may learn where its parameters lie.
  bool has_alone(InstructionId id, AttrKey key) const { return callers_[called(id, key)] == 1; }

  /// Made by a kernel and used by kernels only.
  bool may_move(InstructionId id, ComputationId computation, std::span<const InstructionId> users) const {
    return made_by_kernel(id) && id != module_[computation].root && !users.empty() &&
           std::ranges::all_of(users, [&](InstructionId user) { return only_reads(user, id); });
  }
  bool made_by_kernel(InstructionId id) const {
    const Instruction& instruction = module_[id];
    return instruction.shape->is_array() && instruction.shape->rank() > 0 && !instruction.literal &&
           is_kernel(maker(id)) && instruction.shape->memory_space() != space_ && has_place_of_its_own(id);
  }
  /// Not one that something else was changed in; an element that the kernel's body puts into its tuple.
  bool has_place_of_its_own(InstructionId id) const {
    const InstructionId made_by = maker(id);
    if (made_by != id && !is_tuple(module_[called(made_by, AttrKey::kCalls)].root)) return false;
    return in_place_pairs(module_, module_[made_by]).empty();
  }

  void set_space(InstructionId id, int64_t space) {
    Instruction& instruction = module_.instructions[id];
    instruction.shape = module_.shapes().with_memory_space(instruction.shape, space);
  }

  /// The value gets its home on the chip; the fusions that make and use it know.
  void move(InstructionId id, std::span<const InstructionId> users) {
    set_space(id, space_);
    const InstructionId made_by = maker(id);
    if (is_fusion(made_by)) {
      const InstructionId root = module_[called(made_by, AttrKey::kCalls)].root;
      if (made_by == id) {
        set_space(root, space_);
      } else {
        const size_t index = index_of_element(id);
        set_space(module_[root].operands[index], space_);
        set_element_space(made_by, index);
        set_element_space(root, index);
      }
    }
    for (const InstructionId user : users) tell(user, id);
  }

  void tell(InstructionId user, InstructionId value) {
    if (!is_fusion(user)) return;
    const ComputationId body = called(user, AttrKey::kCalls);
    // There may be more operands than the body takes.
    for (size_t i = 0; i < module_[body].parameters.size(); ++i)
      if (module_[user].operands[i] == value)
        set_space(module_[body].parameters[i], module_[value].shape->memory_space());
  }

  void set_element_space(InstructionId tuple, size_t index) {
    const ShapeRef shape = module_[tuple].shape;
    std::vector<ShapeRef> elements(shape->elements.begin(), shape->elements.end());
    elements[index] = module_.shapes().with_memory_space(elements[index], space_);
    module_.instructions[tuple].shape = module_.shapes().tuple(elements);
  }

  // ── what loops carry ──

  /// A value in another space, made just before `user`.
  void copy_operand(ComputationId id, InstructionId user, size_t operand, int64_t space) {
    std::vector<InstructionId> operands(module_[user].operands.begin(), module_[user].operands.end());
    const InstructionId from[] = {operands[operand]};
    const ShapeRef shape = module_.shapes().with_memory_space(module_[operands[operand]].shape, space);
    operands[operand] = editor_.add(id, Opcode::kCopy, "copy", shape, from);
    editor_.set_operands(user, operands);
    std::vector<InstructionId>& list = module_.computations[id].instructions;
    list.insert(std::find(list.begin(), list.end(), user), operands[operand]);
  }

  /// Element `index` of `tuple` lives on the chip.
  void feed(ComputationId id, InstructionId tuple, size_t index) {
    const InstructionId value = module_[tuple].operands[index];
    const auto users = users_of(module_, id);
    const bool alone = made_by_kernel(value) && value != module_[id].root &&
                       std::ranges::count(module_[tuple].operands, value) == 1 &&
                       std::ranges::all_of(users[value], [&](InstructionId user) {
                         return user == tuple || only_reads(user, value);
                       });
    if (alone)
      move(value, users[value]);
    else if (module_[value].shape->memory_space() != space_)
      copy_operand(id, tuple, index, space_);
    set_element_space(tuple, index);
  }

  /// The value at `index` of `tuple` (a loop, or the parameter of its body) is on the chip: so it is for
  /// kernels and for tuples; all others get a copy.
  void follow_elements(ComputationId id, InstructionId tuple, size_t index, bool carried_on) {
    const auto users = users_of(module_, id);
    for (const InstructionId element : users[tuple]) {
      if (!is_element(element) || index_of_element(element) != index) continue;
      set_space(element, space_);
      for (const InstructionId user : users[element]) {
        if (only_reads(user, element)) {
          tell(user, element);
          continue;
        }
        const bool same_place = carried_on && user == module_[id].root && is_tuple(user) &&
                                module_[user].operands[index] == element &&
                                std::ranges::count(module_[user].operands, element) == 1;
        if (same_place) continue;
        for (size_t k = 0; k < module_[user].operands.size(); ++k)
          if (module_[user].operands[k] == element && !(carried_on && user == module_[id].root && k == index))
            copy_operand(id, user, k, kDefaultMemorySpace);
      }
    }
  }

  /// The computation's result, if it is that element of the loop, comes back to HBM.
  void copy_result_out(ComputationId id, InstructionId loop, size_t index) {
    const InstructionId result = module_[id].root;
    if (!is_element(result) || module_[result].operands[0] != loop || index_of_element(result) != index)
      return;
    const InstructionId from[] = {result};
    const ShapeRef shape = module_.shapes().with_memory_space(module_[result].shape, kDefaultMemorySpace);
    module_.computations[id].root = editor_.add(id, Opcode::kCopy, "copy", shape, from);
    module_.computations[id].instructions.push_back(module_[id].root);
  }

  bool runs_again(InstructionId loop) const {
    const TripCount trips = trip_count(module_, module_[loop]);
    return trips.known() && trips.count > 1;
  }

  bool only_taken_apart(ComputationId id, InstructionId tuple) const {
    const auto users = users_of(module_, id);
    return tuple != module_[id].root &&
           std::ranges::all_of(users[tuple], [&](InstructionId user) { return is_element(user); });
  }

  /// The loop only ever looks at parts of the value, and hands it on as it is: it is as well read where it
  /// lies.
  bool only_sliced(const Users& users, InstructionId parameter, InstructionId last, size_t index) const {
    bool sliced = false;
    for (const InstructionId element : users[parameter]) {
      if (!is_element(element) || index_of_element(element) != index) continue;
      for (const InstructionId user : users[element]) {
        if (user == last) {
          if (module_[last].operands[index] != element) return false;
        } else if (!slices(user, element)) {
          return false;
        } else {
          sliced = true;
        }
      }
    }
    return sliced;
  }

  /// Somebody in the body would need a copy in HBM: what is updated in place, collectives, inner loops.
  bool needs_copies(const Users& users, InstructionId parameter, InstructionId last, size_t index) const {
    for (const InstructionId element : users[parameter]) {
      if (!is_element(element) || index_of_element(element) != index) continue;
      for (const InstructionId user : users[element])
        if (!only_reads(user, element) && !(user == last && module_[last].operands[index] == element))
          return true;
    }
    const InstructionId next = module_[last].operands[index];
    const bool same =
        is_element(next) && module_[next].operands[0] == parameter && index_of_element(next) == index;
    return !same && !made_by_kernel(next);
  }

  /// The body copies the carried value to where it would be anyway.
  bool comes_onto_the_chip(const Users& users, InstructionId parameter, size_t index) const {
    return std::ranges::any_of(users[parameter], [&](InstructionId element) {
      return is_element(element) && index_of_element(element) == index &&
             std::ranges::any_of(users[element],
                                 [&](InstructionId user) { return is_copy_of(user, element, space_); });
    });
  }
  bool is_copy_of(InstructionId user, InstructionId value, int64_t space) const {
    return module_[user].opcode == Opcode::kCopy &&
           module_[user].shape == module_.shapes().with_memory_space(module_[value].shape, space);
  }
  void drop_copies(ComputationId body, InstructionId parameter, size_t index) {
    const auto users = users_of(module_, body);
    for (const InstructionId element : users[parameter]) {
      if (!is_element(element) || index_of_element(element) != index) continue;
      for (const InstructionId user : users[element]) {
        if (!is_copy_of(user, element, space_)) continue;
        editor_.replace_everywhere(body, user, element);
        std::erase(module_.computations[body].instructions, user);
      }
    }
  }

  bool slices(InstructionId user, InstructionId value) const {
    if (module_[user].opcode == Opcode::kDynamicSlice) return module_[user].operands[0] == value;
    if (!is_fusion(user)) return false;
    const ComputationId body = called(user, AttrKey::kCalls);
    const auto users = users_of(module_, body);
    for (size_t i = 0; i < module_[body].parameters.size(); ++i) {
      if (module_[user].operands[i] != value) continue;
      for (const InstructionId inner : users[module_[body].parameters[i]])
        if (module_[inner].opcode != Opcode::kDynamicSlice) return false;
    }
    return true;
  }

  /// The smallest values that a loop carries, up to a part of the budget; returns their bytes.
  int64_t place_carried(ComputationId id, InstructionId loop, int64_t budget) {
    constexpr double kPart = 0.75;  // the rest is for what the body makes
    const ComputationId body = called(loop, AttrKey::kBody), condition = called(loop, AttrKey::kCondition);
    const InstructionId init = module_[loop].operands[0], last = module_[body].root;
    const InstructionId parameter = module_[body].parameters[0];
    const InstructionId condition_parameter = module_[condition].parameters[0];
    if (!has_alone(loop, AttrKey::kBody) || !has_alone(loop, AttrKey::kCondition) || !is_tuple(init) ||
        !is_tuple(last) || users_of(module_, id)[init].size() != 1 || !only_taken_apart(id, loop) ||
        !only_taken_apart(body, parameter) || !only_taken_apart(condition, condition_parameter))
      return 0;
    const Users users = users_of(module_, body);
    std::vector<std::pair<int64_t, size_t>> sizes;
    for (size_t k = 0; k < module_[init].operands.size(); ++k) {
      const ShapeRef shape = module_[loop].shape->elements[k];
      const InstructionId result = module_[id].root;
      const bool is_result =
          is_element(result) && module_[result].operands[0] == loop && index_of_element(result) == k;
      // A result that the loop makes again and again is copied out at the end.
      const bool stays = is_result && !runs_again(loop);
      if (shape->is_array() && shape->rank() > 0 && !stays &&
          (takes_sliced_ || !only_sliced(users, parameter, last, k)) &&
          !needs_copies(users, parameter, last, k))
        sizes.push_back({comes_onto_the_chip(users, parameter, k) ? 0 : array_size(shape).count(), k});
    }
    std::sort(sizes.begin(), sizes.end());
    int64_t bytes = 0;
    for (const auto& [size, k] : sizes) {
      if (static_cast<double>(bytes + size) > kPart * static_cast<double>(budget)) break;
      bytes += size;
      feed(id, init, k);
      for (const InstructionId tuple : {loop, parameter, condition_parameter}) set_element_space(tuple, k);
      follow_elements(body, parameter, k, true);
      drop_copies(body, parameter, k);
      follow_elements(condition, condition_parameter, k, false);
      follow_elements(id, loop, k, false);
      copy_result_out(id, loop, k);
      feed(body, last, k);
    }
    return bytes;
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  int64_t space_, scratch_;
  bool takes_sliced_;  // of what loops carry, also what their bodies only take slices of
  const IdMap<ComputationId, int32_t> callers_;
  std::map<ComputationId, int64_t> room_, taken_in_;  // bytes, of the entry and the bodies of loops
};

}  // namespace

void place_values(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, bool takes_sliced) {
  const OnChip home = on_chip_memory(device);
  if (home.room() > 0) Placer(editor, table, home, takes_sliced).run(editor.module().entry, home.room());
}

}  // namespace hlosim
