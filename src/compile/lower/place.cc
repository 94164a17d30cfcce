#include "lower/place.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/on_chip.h"
#include "lower/step_load.h"
#include "lower/tracked_users.h"
#include "modules/trip_count.h"
#include "ops/dataflow.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

/// A value and the steps of its computation during which it lives.
struct PlacedValue {
  InstructionId id;
  int64_t bytes = 0, uses = 0;
  size_t begin = 0, end = 0;
};

class Placer {
 public:
  Placer(ModuleEditor& editor, const OpTable& table, const OnChip& home, double carried_share,
         bool takes_sliced, RoomNeeds& needs)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        space_(home.space),
        scratch_(home.scratch),
        carried_share_(carried_share),
        takes_sliced_(takes_sliced),
        needs_(needs),
        callers_(caller_counts(module_)) {}

  void run(ComputationId entry, int64_t room) {
    whole_ = room;
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
    std::optional<TrackedUsers> tracked;
    for (const InstructionId at : std::vector<InstructionId>(module_[id].instructions))
      if (module_[at].find(AttrKey::kCondition) && module_[at].find(AttrKey::kBody)) {
        if (!tracked) tracked.emplace(editor_, id);
        Loop loop{at, 2 * bytes_in(module_[at].shape,
                                   space_)};  // slices that come one iteration ahead: this one and the next
        if (takes_sliced_) {  // inner loops first: what they want on the chip may as well come from outside
          loop.bytes += place_in(called(at, AttrKey::kBody), budget - loop.bytes);
          loop.bytes += place_carried(*tracked, at, budget - loop.bytes);
        } else {
          loop.bytes += place_carried(*tracked, at, budget - loop.bytes);
          loop.bytes += place_in(called(at, AttrKey::kBody), budget - loop.bytes);
        }
        loops.push_back(loop);
      }
    if (tracked) tracked->write();
    const std::vector<InstructionId> order = module_[id].instructions;
    const auto users = users_of(module_, id);
    IdMap<InstructionId, size_t>& step = step_;  // of this computation's instructions; the others' are stale
    step.resize(module_.instructions.size());
    for (size_t i = 0; i < order.size(); ++i) step[order[i]] = i;
    std::vector<int64_t> taken = taken_around(loops, order.size(), users, step);
    for (const Loop& loop : loops) taken[step[loop.id]] += loop.bytes;
    StepLoad load(taken);
    std::vector<PlacedValue> candidates;
    for (const InstructionId at : order) {
      if (!may_move(at, id, users[at]) || is_too_large(at, id)) continue;
      PlacedValue one{at, array_size(module_[at].shape).count(), 0, step[maker(at)], step[at]};
      for (const InstructionId user : users[at]) {
        one.end = std::max(one.end, step[user]);
        ++one.uses;
      }
      candidates.push_back(one);
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const PlacedValue& a, const PlacedValue& b) { return a.uses > b.uses; });
    for (const PlacedValue& one : candidates) {
      if (!is_within(load.most(one.begin, one.end) + one.bytes, budget)) continue;
      load.add(one.begin, one.end, one.bytes);
      move(one.id, users[one.id]);
    }
    return taken_in_[id] = order.empty() ? 0 : load.most(0, order.size() - 1);
  }

  /// Budgets are the whole room but for what was decided before, so that they shrink with it.
  bool is_within(int64_t bytes, int64_t budget) {
    if (bytes > budget) return false;
    needs_.needs(space_, bytes + (whole_ - budget));
    return true;
  }
  /// The same for `carried_share_` of the budget.
  bool is_within_share(int64_t bytes, int64_t budget) {
    if (static_cast<double>(bytes) > carried_share_ * static_cast<double>(budget)) return false;
    const double least = bytes > 0 ? std::ceil(static_cast<double>(bytes) / carried_share_) + 1 : 0;
    needs_.needs(space_, static_cast<int64_t>(least) + (whole_ - budget));
    return true;
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
    return computation != module_.entry && scratch_ > 0 &&
           array_size(module_[id].shape).count() >= scratch_ && !is_fetched(id, computation);
  }

  /// Made by a kernel that takes a part of what the loop carries, in another order or type at most, and
  /// computes nothing: such a part comes onto the chip for its users, as a program's arguments do.
  bool is_fetched(InstructionId id, ComputationId computation) const {
    const InstructionId kernel = maker(id);
    const std::span<const InstructionId> operands = module_[kernel].operands;
    if (!std::ranges::all_of(operands, [&](InstructionId operand) {
          return module_[operand].shape->is_scalar() || is_carried(operand, computation);
        }))
      return false;
    if (!is_fusion(kernel)) return only_moves(kernel);
    return std::ranges::all_of(
        module_[called(kernel, AttrKey::kCalls)].instructions, [&](InstructionId inner) {
          return module_[inner].parameter_number >= 0 || module_[inner].literal || only_moves(inner);
        });
  }
  /// An element of the loop's state, also after something was changed in it.
  bool is_carried(InstructionId id, ComputationId computation) const {
    const InstructionId from = is_element(id) ? module_[id].operands[0] : id;
    return (is_element(id) && from == module_[computation].parameters[0]) ||
           !in_place_pairs(module_, module_[from]).empty();
  }
  bool only_moves(InstructionId id) const {
    const FusionRole role = fusion_role(table_, module_[id]);
    return role == FusionRole::kPart || role == FusionRole::kReindex || role == FusionRole::kCopy ||
           module_[id].opcode == Opcode::kConvert;
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

  void set_element_space(InstructionId tuple, size_t index) { set_element_spaces(tuple, {index}); }
  void set_element_spaces(InstructionId tuple, const std::vector<size_t>& indices) {
    const ShapeRef shape = module_[tuple].shape;
    std::vector<ShapeRef> elements(shape->elements.begin(), shape->elements.end());
    for (const size_t index : indices)
      elements[index] = module_.shapes().with_memory_space(elements[index], space_);
    module_.instructions[tuple].shape = module_.shapes().tuple(elements);
  }

  // ── what loops carry ──

  /// A value in another space, made just before `user`.
  void copy_operand(TrackedUsers& users, InstructionId user, size_t operand, int64_t space) {
    const InstructionId from[] = {module_[user].operands[operand]};
    const ShapeRef shape = module_.shapes().with_memory_space(module_[from[0]].shape, space);
    users.insert_before(user, operand, editor_.add(users.computation(), Opcode::kCopy, "copy", shape, from));
  }

  /// Element `index` of `tuple` lives on the chip.
  void feed(TrackedUsers& users, InstructionId tuple, size_t index) {
    const InstructionId value = module_[tuple].operands[index];
    const bool alone = made_by_kernel(value) && value != module_[users.computation()].root &&
                       std::ranges::count(module_[tuple].operands, value) == 1 &&
                       std::ranges::all_of(users[value], [&](InstructionId user) {
                         return user == tuple || only_reads(user, value);
                       });
    if (alone)
      move(value, users[value]);
    else if (module_[value].shape->memory_space() != space_)
      copy_operand(users, tuple, index, space_);
  }

  /// The value at `index` of `tuple` (a loop, or the parameter of its body) is on the chip: so it is for
  /// kernels and for tuples; all others get a copy.
  void follow_elements(TrackedUsers& users, InstructionId tuple, size_t index, bool carried_on) {
    const InstructionId root = module_[users.computation()].root;
    for (const InstructionId element : users.elements(tuple, index)) {
      set_space(element, space_);
      const auto now = users[element];
      for (const InstructionId user : std::vector<InstructionId>(now.begin(), now.end())) {
        if (only_reads(user, element)) {
          tell(user, element);
          continue;
        }
        const bool same_place = carried_on && user == root && is_tuple(user) &&
                                module_[user].operands[index] == element &&
                                std::ranges::count(module_[user].operands, element) == 1;
        if (same_place) continue;
        for (size_t k = 0; k < module_[user].operands.size(); ++k)
          if (module_[user].operands[k] == element && !(carried_on && user == root && k == index))
            copy_operand(users, user, k, kDefaultMemorySpace);
      }
    }
  }

  /// The computation's result, if it is that element of the loop, comes back to HBM.
  void copy_result_out(TrackedUsers& users, InstructionId loop, size_t index) {
    const ComputationId id = users.computation();
    const InstructionId result = module_[id].root;
    if (!is_element(result) || module_[result].operands[0] != loop || index_of_element(result) != index)
      return;
    const InstructionId from[] = {result};
    const ShapeRef shape = module_.shapes().with_memory_space(module_[result].shape, kDefaultMemorySpace);
    module_.computations[id].root = editor_.add(id, Opcode::kCopy, "copy", shape, from);
    users.append(module_[id].root);
  }

  bool runs_again(InstructionId loop) const {
    const TripCount trips = trip_count(module_, module_[loop]);
    return trips.known() && trips.count > 1;
  }

  bool only_taken_apart(const TrackedUsers& users, InstructionId tuple) const {
    return tuple != module_[users.computation()].root &&
           std::ranges::all_of(users[tuple], [&](InstructionId user) { return is_element(user); });
  }

  /// The loop only ever looks at parts of the value, and hands it on as it is: it is as well read where it
  /// lies.
  bool only_sliced(TrackedUsers& users, InstructionId parameter, InstructionId last, size_t index) {
    bool sliced = false;
    for (const InstructionId element : users.elements(parameter, index)) {
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
  bool needs_copies(TrackedUsers& users, InstructionId parameter, InstructionId last, size_t index) const {
    for (const InstructionId element : users.elements(parameter, index)) {
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
  bool comes_onto_the_chip(TrackedUsers& users, InstructionId parameter, size_t index) const {
    return std::ranges::any_of(users.elements(parameter, index), [&](InstructionId element) {
      return std::ranges::any_of(users[element],
                                 [&](InstructionId user) { return is_copy_of(user, element, space_); });
    });
  }
  bool is_copy_of(InstructionId user, InstructionId value, int64_t space) const {
    return module_[user].opcode == Opcode::kCopy &&
           module_[user].shape == module_.shapes().with_memory_space(module_[value].shape, space);
  }
  void drop_copies(TrackedUsers& users, InstructionId parameter, size_t index) {
    for (const InstructionId element : users.elements(parameter, index)) {
      const auto now = users[element];
      for (const InstructionId user : std::vector<InstructionId>(now.begin(), now.end()))
        if (is_copy_of(user, element, space_)) users.replace_and_remove(user, element);
    }
  }

  bool slices(InstructionId user, InstructionId value) {
    if (module_[user].opcode == Opcode::kDynamicSlice) return module_[user].operands[0] == value;
    if (!is_fusion(user)) return false;
    const ComputationId body = called(user, AttrKey::kCalls);
    const auto [entry, is_first] = sliced_in_.try_emplace(body);
    if (is_first) entry->second = sliced_parameters(body);
    for (size_t i = 0; i < entry->second.size(); ++i)
      if (module_[user].operands[i] == value && !entry->second[i]) return false;
    return true;
  }
  /// For each parameter of a fusion's body: it only takes slices of it.
  std::vector<bool> sliced_parameters(ComputationId body) const {
    const auto users = users_of(module_, body);
    std::vector<bool> sliced;
    for (const InstructionId parameter : module_[body].parameters)
      sliced.push_back(std::ranges::all_of(users[parameter], [&](InstructionId inner) {
        return module_[inner].opcode == Opcode::kDynamicSlice;
      }));
    return sliced;
  }

  /// The smallest values that a loop carries, up to vmem.carried_share of the budget; returns their bytes.
  int64_t place_carried(TrackedUsers& around, InstructionId loop, int64_t budget) {
    const InstructionId init = module_[loop].operands[0];
    const InstructionId last = module_[called(loop, AttrKey::kBody)].root;
    if (!has_alone(loop, AttrKey::kBody) || !has_alone(loop, AttrKey::kCondition) || !is_tuple(init) ||
        !is_tuple(last) || around[init].size() != 1 || !only_taken_apart(around, loop))
      return 0;
    TrackedUsers body(editor_, called(loop, AttrKey::kBody));
    TrackedUsers condition(editor_, called(loop, AttrKey::kCondition));
    const InstructionId parameter = module_[body.computation()].parameters[0];
    const InstructionId condition_parameter = module_[condition.computation()].parameters[0];
    if (!only_taken_apart(body, parameter) || !only_taken_apart(condition, condition_parameter)) return 0;
    std::vector<std::pair<int64_t, size_t>> sizes;
    for (size_t k = 0; k < module_[init].operands.size(); ++k) {
      const ShapeRef shape = module_[loop].shape->elements[k];
      const InstructionId result = module_[around.computation()].root;
      const bool is_result =
          is_element(result) && module_[result].operands[0] == loop && index_of_element(result) == k;
      // A result that the loop makes again and again is copied out at the end.
      const bool stays = is_result && !runs_again(loop);
      if (shape->is_array() && shape->rank() > 0 && !stays &&
          (takes_sliced_ || !only_sliced(body, parameter, last, k)) &&
          !needs_copies(body, parameter, last, k))
        sizes.push_back({comes_onto_the_chip(body, parameter, k) ? 0 : array_size(shape).count(), k});
    }
    std::sort(sizes.begin(), sizes.end());
    int64_t bytes = 0;
    std::vector<size_t> placed;
    for (const auto& [size, k] : sizes) {
      if (!is_within_share(bytes + size, budget)) break;
      bytes += size;
      feed(around, init, k);
      follow_elements(body, parameter, k, true);
      drop_copies(body, parameter, k);
      follow_elements(condition, condition_parameter, k, false);
      follow_elements(around, loop, k, false);
      copy_result_out(around, loop, k);
      feed(body, last, k);
      placed.push_back(k);
    }
    if (!placed.empty())
      for (const InstructionId tuple : {init, loop, parameter, condition_parameter, last})
        set_element_spaces(tuple, placed);
    body.write();
    condition.write();
    return bytes;
  }

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  int64_t space_, scratch_;
  double carried_share_;
  int64_t whole_ = 0;  // room of the entry
  bool takes_sliced_;  // of what loops carry, also what their bodies only take slices of
  RoomNeeds& needs_;
  const IdMap<ComputationId, int32_t> callers_;
  IdMap<InstructionId, size_t> step_;                     // of instructions in their computations
  std::map<ComputationId, std::vector<bool>> sliced_in_;  // bodies of fusions: see sliced_parameters()
  std::map<ComputationId, int64_t> room_, taken_in_;      // bytes, of the entry and the bodies of loops
};

}  // namespace

void place_values(ModuleEditor& editor, const OpTable& table, const DeviceConfig& device, bool takes_sliced,
                  RoomNeeds& needs) {
  const OnChip home = needs.home(device);
  if (home.room() <= 0) return;
  Placer(editor, table, home, device.vmem.carried_share, takes_sliced, needs)
      .run(editor.module().entry, home.room());
}

}  // namespace hlosim
