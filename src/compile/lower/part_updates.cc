#include "lower/part_updates.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hlo/graph.h"
#include "modules/list_rewriter.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

class PartUpdates {
 public:
  PartUpdates(ModuleEditor& editor, const OpTable& table)
      : rewriter_(editor, table), module_(editor.module()) {}

  void run(ComputationId id) {
    find(id);
    if (put_back_.empty()) return;
    rewriter_.run(id, [&](InstructionId at) { return visit(at); });
  }

 private:
  /// What leads from an array to the array with a part of it changed.
  struct Chain {
    InstructionId slice{}, change{}, put_back{};
  };

  const Instruction& at(InstructionId id) const { return module_[id]; }
  bool is(InstructionId id, Opcode opcode) const {
    return at(id).opcode == opcode && at(id).shape->is_array() && at(id).shape->is_static();
  }

  // ── which there are ──

  void find(ComputationId id) {
    put_back_.clear(), instead_.clear();
    const std::vector<InstructionId>& list = module_[id].instructions;
    if (std::ranges::none_of(list, [&](InstructionId one) { return is(one, Opcode::kDynamicUpdateSlice); }))
      return;
    const Users users = users_of(module_, id);
    std::unordered_map<int32_t, size_t> places;
    std::unordered_set<int32_t> ordered;  // by control dependencies
    for (size_t i = 0; i < list.size(); ++i) {
      places[list[i].index] = i;
      if (const Attr* before = at(list[i]).find(AttrKey::kControlPredecessors)) {
        ordered.insert(list[i].index);
        for (const InstructionId other : before->instructions()) ordered.insert(other.index);
      }
    }
    for (const InstructionId one : list) {
      const std::optional<Chain> chain = chain_to(one, users);
      if (!chain || !is_alone(*chain, users, places)) continue;
      if (std::ranges::any_of(
              std::initializer_list<InstructionId>{chain->slice, chain->change, chain->put_back},
              [&](InstructionId part) { return ordered.contains(part.index); }))
        continue;
      put_back_[chain->change.index] = chain->put_back;
    }
  }

  std::optional<Chain> chain_to(InstructionId put_back, const Users& users) const {
    if (!is(put_back, Opcode::kDynamicUpdateSlice)) return std::nullopt;
    const InstructionId change = behind_reshapes(at(put_back).operands[1], users);
    if (!is(change, Opcode::kDynamicUpdateSlice)) return std::nullopt;
    const InstructionId slice = behind_reshapes(at(change).operands[0], users);
    if (!is(slice, Opcode::kDynamicSlice) || users[slice].size() != 1) return std::nullopt;
    const std::span<const InstructionId> taken = at(slice).operands, put = at(put_back).operands;
    const bool same = taken[0] == put[0] && taken.size() + 1 == put.size() &&
                      std::equal(taken.begin() + 1, taken.end(), put.begin() + 2,
                                 [&](InstructionId a, InstructionId b) { return same_start(a, b); }) &&
                      std::ranges::equal(at(slice).shape->dimensions, at(put[1]).shape->dimensions);
    if (!same || !changed_where(slice, change)) return std::nullopt;
    return Chain{slice, change, put_back};
  }

  /// What reshapes that nothing else takes are made of.
  InstructionId behind_reshapes(InstructionId id, const Users& users) const {
    while (is(id, Opcode::kReshape) && users[id].size() == 1) id = at(id).operands[0];
    return id;
  }

  bool same_start(InstructionId a, InstructionId b) const {
    if (a == b) return true;
    const Literal *left = at(a).literal, *right = at(b).literal;
    return left && right && !left->elided && !right->elided && at(a).shape == at(b).shape &&
           std::ranges::equal(left->data, right->data);
  }

  /// Nothing takes the array as it was once the part is changed.
  bool is_alone(const Chain& chain, const Users& users,
                const std::unordered_map<int32_t, size_t>& places) const {
    const size_t changed = places.at(chain.change.index);
    return std::ranges::all_of(users[at(chain.slice).operands[0]], [&](InstructionId user) {
      return user == chain.put_back || places.at(user.index) < changed;
    });
  }

  // ── where in the array the change is ──

  struct Where {
    Ints sizes;                         // of the change, in the array's dimensions
    std::vector<InstructionId> starts;  // of it
  };

  /// The dimensions of a slice that aren't 1 are those of the part that is changed, in the same order. Along
  /// each the slice or the change begins at 0, as it is as large as there is room.
  std::optional<Where> changed_where(InstructionId slice, InstructionId change) const {
    const std::span<const int64_t> whole = at(at(slice).operands[0]).shape->dimensions,
                                   taken = at(slice).shape->dimensions, part = at(change).shape->dimensions,
                                   changed = at(at(change).operands[1]).shape->dimensions;
    Where where;
    size_t p = 0;
    const auto skip_ones = [&] {
      while (p < part.size() && part[p] == 1) ++p;
    };
    for (size_t d = 0; d < taken.size(); ++d) {
      InstructionId start = at(slice).operands[d + 1];
      int64_t size = 1;
      if (taken[d] != 1) {
        skip_ones();
        if (p == part.size() || part[p] != taken[d]) return std::nullopt;
        size = changed[p];
        if (size != part[p] && taken[d] != whole[d]) return std::nullopt;
        if (size != part[p]) start = at(change).operands[p + 2];
        ++p;
      }
      where.sizes.push_back(size);
      where.starts.push_back(start);
    }
    skip_ones();
    const auto type = [&](InstructionId id) { return at(id).shape->element_type; };
    const bool fits = p == part.size() && std::ranges::all_of(where.starts, [&](InstructionId start) {
                        return type(start) == type(where.starts[0]);
                      });
    return fits ? std::optional(where) : std::nullopt;
  }

  // ── rewriting ──

  InstructionId visit(InstructionId id) {
    if (const auto known = instead_.find(id.index); known != instead_.end()) return known->second;
    const auto chain = put_back_.find(id.index);
    return chain == put_back_.end() ? id : changed_in_place(id, chain->second);
  }

  /// Takes the place of the changed part; that of the array with the part put back is known from then on.
  InstructionId changed_in_place(InstructionId change, InstructionId put_back) {
    InstructionId slice = at(change).operands[0];
    while (!is(slice, Opcode::kDynamicSlice)) slice = at(slice).operands[0];
    const Where where = *changed_where(slice, change);
    const ShapeRef whole = at(put_back).shape;
    InstructionId update = at(change).operands[1];
    if (!std::ranges::equal(at(update).shape->dimensions, where.sizes))
      update =
          rewriter_.add(Opcode::kReshape, module_.shapes().array(whole->element_type, where.sizes), {update});
    std::vector<InstructionId> operands{at(slice).operands[0], update};
    operands.insert(operands.end(), where.starts.begin(), where.starts.end());
    const Instruction original = at(put_back);
    const InstructionId updated = rewriter_.add("dynamic-update-slice", original.opcode, whole, operands);
    rewriter_.editor().place_like(updated, original);
    instead_[put_back.index] = updated;

    const Instruction taken = at(slice);
    std::vector<InstructionId> from(taken.operands.begin(), taken.operands.end());
    from[0] = updated;
    const InstructionId part = rewriter_.add("dynamic-slice", taken.opcode, taken.shape, from, taken.attrs);
    const ShapeRef shape = at(change).shape;
    return shape->logical == taken.shape->logical ? part : rewriter_.add(Opcode::kReshape, shape, {part});
  }

  ListRewriter rewriter_;
  Module& module_;
  std::unordered_map<int32_t, InstructionId> put_back_;  // by what changes the part: what puts it back
  std::unordered_map<int32_t, InstructionId> instead_;   // of what puts it back
};

}  // namespace

void update_parts_in_place(ModuleEditor& editor, const OpTable& table) {
  PartUpdates updates(editor, table);
  for (const FlowComputation& flow : flow_computations(editor.module(), table))
    if (!flow.is_condition) updates.run(flow.id);
}

}  // namespace hlosim
