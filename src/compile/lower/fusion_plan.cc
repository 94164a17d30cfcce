#include "lower/fusion_plan.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "hlo/graph.h"
#include "layout/bitcast.h"
#include "layout/sizes.h"
#include "lower/on_chip.h"
#include "lower/read_once.h"
#include "lower/roundings.h"
#include "lower/working_set.h"
#include "model/core.h"
#include "modules/ancestors.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

/// Places in the list stand for instructions.
using Places = std::vector<int32_t>;

class Planner {
 public:
  Planner(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem,
          ComputationId id)
      : module_(module),
        table_(table),
        device_(device),
        vmem_(vmem),
        order_(module[id].instructions),
        place_(make_places()),
        ancestors_(module, order_, place_) {
    list_operands_and_users(id);
    std::set<InstructionId> waited_for;  // others run after them
    for (const InstructionId at : order_)
      if (const Attr* before = module[at].find(AttrKey::kControlPredecessors))
        waited_for.insert(before->instructions().begin(), before->instructions().end());
    nodes_.reserve(order_.size());
    ShapeRef last_shape = nullptr;
    int64_t last_bytes = 0;
    for (size_t i = 0; i < order_.size(); ++i) {
      const InstructionId at = order_[i];
      Node node;
      node.role = waited_for.contains(at) ? FusionRole::kNone : fusion_role(table, module[at]);
      // Scalars are the scalar unit's, and loop counters keep their form.
      if (module[at].shape->is_scalar() && node.role != FusionRole::kReduce &&
          node.role != FusionRole::kProduct && !module[at].literal && node.role != FusionRole::kFill)
        node.role = FusionRole::kNone;
      // Where elements really move, the compiler makes a copy.
      if (node.role == FusionRole::kReindex && !moves_nothing(module, module[at], device))
        node.role = FusionRole::kCopy;
      if (node.role == FusionRole::kPart && only_renames(module[at])) node.role = FusionRole::kReindex;
      if (!waited_for.contains(at)) node.end = fusion_end(module[at]);
      if (module[at].shape != last_shape)  // neighbours are often alike
        last_shape = module[at].shape, last_bytes = total_array_size(last_shape).count();
      node.bytes = last_bytes;
      node.operands = part(operands_, first_operand_, i), node.users = part(users_, first_user_, i);
      nodes_.push_back(node);
    }
    root_ = place_[module[id].root];
  }

  FusionPlan plan() {
    store_what_must_be();
    for (int32_t i = 0; i < count(); ++i)
      if (nodes_[at(i)].role == FusionRole::kProduct || nodes_[at(i)].role == FusionRole::kReduce) grow(i);
    for (int32_t i = 0; i < count(); ++i)
      if (nodes_[at(i)].role == FusionRole::kCopy && nodes_[at(i)].owner < 0) round(i);
    store_what_is_long();
    store_what_is_cheaper();
    store_what_reads_what_changes();
    group_.assign(nodes_.size(), -1);
    for (int32_t i = 0; i < count(); ++i)
      if (nodes_[at(i)].stored) group_[at(i)] = i;
    join_reductions();
    take_apart_what_does_not_fit();
    FusionPlan plan;
    if (emit(plan)) return plan;
    for (int32_t i = 0; i < count(); ++i)  // joined in a circle: every value alone
      if (nodes_[at(i)].stored) group_[at(i)] = i;
    take_apart_what_does_not_fit();
    plan.groups.clear();
    HLOSIM_CHECK(emit(plan));
    return plan;
  }

 private:
  struct Node {
    FusionRole role{};
    int64_t bytes = 0;
    std::span<const int32_t> operands, users;
    std::optional<FusionEnd> end;
    bool stored = false;
    int32_t owner = -1;  // the product or reduction whose fusion alone computes it
  };

  /// Those of all nodes in two lists: as many small ones take longer to make than all the rest.
  void list_operands_and_users(ComputationId id) {
    const Users users = users_of(module_, id);
    for (const InstructionId at : order_) {
      first_operand_.push_back(operands_.size()), first_user_.push_back(users_.size());
      for (const InstructionId operand : module_[at].operands) operands_.push_back(place_[operand]);
      for (const InstructionId user : users[at]) users_.push_back(place_[user]);
    }
    first_operand_.push_back(operands_.size()), first_user_.push_back(users_.size());
  }
  static std::span<const int32_t> part(const Places& all, const std::vector<size_t>& first, size_t i) {
    return std::span(all).subspan(first[i], first[i + 1] - first[i]);
  }

  /// A transpose whose layouts undo it: the dimensions have other numbers, their order in memory is the same.
  static bool is_same_order(std::span<const int64_t> from, std::span<const int64_t> to,
                            std::span<const int64_t> permutation) {
    return std::ranges::equal(from, to,
                              [&](int64_t a, int64_t b) { return a == permutation[static_cast<size_t>(b)]; });
  }

  bool only_renames(const Instruction& part) const {
    if (part.opcode != Opcode::kTranspose) return false;
    const ShapeRef from = module_[part.operands[0]].shape, to = part.shape;
    const auto same = [](const Tile& a, const Tile& b) {
      return std::ranges::equal(a.dimensions, b.dimensions);
    };
    return from->layout && to->layout && std::ranges::equal(from->layout->tiles, to->layout->tiles, same) &&
           is_same_order(from->layout->minor_to_major, to->layout->minor_to_major,
                         part.find(AttrKey::kDimensions)->ints());
  }

  using Joined = std::unordered_map<int32_t, Places>;

  static size_t at(int32_t place) { return static_cast<size_t>(place); }
  int32_t count() const { return static_cast<int32_t>(nodes_.size()); }
  const Instruction& instruction(int32_t place) const { return module_[order_[at(place)]]; }
  int64_t elements(int32_t place) const {
    const ShapeRef shape = instruction(place).shape;
    return shape->is_tuple() ? shape->elements[0]->element_count() : shape->element_count();
  }

  IdMap<InstructionId, int32_t> make_places() const {
    IdMap<InstructionId, int32_t> places(module_.instructions.size(), -1);
    for (size_t i = 0; i < order_.size(); ++i) places[order_[i]] = static_cast<int32_t>(i);
    return places;
  }

  bool is_constant(int32_t i) const {
    return instruction(i).literal && nodes_[at(i)].role == FusionRole::kFill;
  }

  void store_what_must_be() {
    for (int32_t i = 0; i < count(); ++i) {
      Node& node = nodes_[at(i)];
      if (is_constant(i)) continue;
      node.stored = node.role == FusionRole::kNone || node.role == FusionRole::kCopy ||
                    node.role == FusionRole::kProduct || node.role == FusionRole::kReduce || i == root_;
      for (const int32_t user : node.users)
        node.stored |= nodes_[at(user)].role == FusionRole::kNone && !may_end_in(i, user);
    }
  }

  /// `user` ends a fusion that may compute the value. What it changes in place is there before, or the same
  /// everywhere.
  bool may_end_in(int32_t value, int32_t user) const {
    const Node& end = nodes_[at(user)];
    if (!end.end) return false;
    if (end.end->slices_only) return is_slice_in_place(value) && goes_through_once(value, user);
    for (size_t k = 0; k < end.end->first; ++k)
      if (end.operands[k] == value && nodes_[at(value)].role != FusionRole::kFill) return false;
    return true;
  }

  /// The second operand of a product, which goes through it once.
  bool goes_through_once(int32_t value, int32_t place) const {
    const Node& product = nodes_[at(place)];
    return product.operands[1] == value && product.operands[0] != value &&
           is_read_once(nodes_[at(product.operands[0])].bytes, product.bytes, vmem_);
  }

  /// A dynamic-slice of an array that is there before, in whole tiles, perhaps under other dimensions.
  bool is_slice_in_place(int32_t value) const {
    while (nodes_[at(value)].role == FusionRole::kReindex) value = nodes_[at(value)].operands[0];
    const Instruction& slice = instruction(value);
    if (nodes_[at(value)].role != FusionRole::kPart || slice.opcode != Opcode::kDynamicSlice) return false;
    const Instruction& source = instruction(nodes_[at(value)].operands[0]);
    const bool is_there = nodes_[at(nodes_[at(value)].operands[0])].role == FusionRole::kNone;
    if (!is_there || !source.shape->layout) return false;
    const std::span<const int64_t> order = source.shape->layout->minor_to_major;
    return std::ranges::all_of(order.first(std::min<size_t>(order.size(), 2)),
                               [&](int64_t i) { return slice.shape->dim(i) == source.shape->dim(i); });
  }

  // ── what is changed in place ──

  /// What such a fusion reads of the array that it changes would have to be as before: only the part that it
  /// changes is, and only what is computed of it element by element.
  void store_what_reads_what_changes() {
    for (int32_t i = 0; i < count(); ++i) {
      const Node& node = nodes_[at(i)];
      if (!node.end || node.end->first == 0) continue;
      for (size_t k = node.end->first; k < node.operands.size(); ++k) {
        if (!keeps_off(node.operands[k], i)) nodes_[at(node.operands[k])].stored = true;
      }
    }
  }

  /// `from` can be computed while `end` writes.
  bool keeps_off(int32_t from, int32_t end) const {
    const int32_t changed = nodes_[at(end)].operands[0];
    std::vector<std::pair<int32_t, bool>> open{{from, true}};  // and whether all from there on is elementwise
    std::set<std::pair<int32_t, bool>> seen;
    while (!open.empty()) {
      const auto [place, elementwise] = open.back();
      open.pop_back();
      if (!seen.insert({place, elementwise}).second) continue;
      const Node& node = nodes_[at(place)];
      if (node.stored && place == changed) return false;
      if (node.stored || (elementwise && reads_what_it_writes(place, end))) continue;
      const bool goes_on =
          elementwise && (node.role == FusionRole::kElement || node.role == FusionRole::kReindex);
      for (const int32_t operand : node.operands) open.emplace_back(operand, goes_on);
    }
    return true;
  }

  /// The slice that a dynamic-update-slice replaces.
  bool reads_what_it_writes(int32_t slice, int32_t end) const {
    const Instruction &read = instruction(slice), &write = instruction(end);
    if (read.opcode != Opcode::kDynamicSlice || write.opcode != Opcode::kDynamicUpdateSlice) return false;
    return nodes_[at(slice)].operands[0] == nodes_[at(end)].operands[0] &&
           std::ranges::equal(read.shape->dimensions, module_[write.operands[1]].shape->dimensions) &&
           std::ranges::equal(read.operands.subspan(1), write.operands.subspan(2));
  }

  /// A part of an array is all that becomes of it.
  bool is_written_into_place(int32_t value) const {
    while (value != root_ && nodes_[at(value)].users.size() == 1) {
      const int32_t user = nodes_[at(value)].users[0];
      const Node& next = nodes_[at(user)];
      if (instruction(user).opcode == Opcode::kDynamicUpdateSlice)
        return next.end && next.operands[1] == value;
      if (next.role != FusionRole::kReindex || next.owner >= 0) return false;
      value = user;
    }
    return false;
  }

  /// Elementwise work on the hero's result, all of whose operands are the hero's or come from elsewhere.
  Places region_of(int32_t hero) const {
    Places region{hero};
    std::set<int32_t> inside{hero};
    std::set<int32_t> next(nodes_[at(hero)].users.begin(), nodes_[at(hero)].users.end());
    while (!next.empty()) {
      const int32_t i = *next.begin();
      next.erase(next.begin());
      const Node& node = nodes_[at(i)];
      // Transposes of convolutions are kernels of their own (seen on v6e).
      const bool turns = instruction(i).opcode == Opcode::kTranspose;
      const bool fits = (node.role == FusionRole::kElement || node.role == FusionRole::kReindex) &&
                        node.owner < 0 && elements(i) == elements(hero) &&
                        (!turns || instruction(hero).opcode == Opcode::kDot);
      if (!fits || !std::ranges::all_of(node.operands, [&](int32_t operand) {
            return inside.contains(operand) || !(operand == hero || ancestors_.depends(operand, hero));
          }))
        continue;
      inside.insert(i);
      region.push_back(i);
      next.insert(node.users.begin(), node.users.end());
    }
    std::sort(region.begin(), region.end());
    return region;
  }

  /// Moves the place where the hero's result is stored to where least is stored, and all the rest of what
  /// uses the hero follows.
  void grow(int32_t hero) {
    if (!instruction(hero).shape->is_array() || hero == root_) return;
    const Places region = region_of(hero);
    int32_t cut = hero;
    int32_t last_use = hero;  // of what comes before
    constexpr int32_t kOutside = std::numeric_limits<int32_t>::max();
    for (const int32_t i : region) {
      if (last_use <= i && nodes_[at(i)].bytes <= nodes_[at(cut)].bytes) cut = i;
      if (i == root_) last_use = kOutside;
      for (const int32_t user : nodes_[at(i)].users)
        last_use =
            std::max(last_use, std::binary_search(region.begin(), region.end(), user) ? user : kOutside);
    }
    const bool written = nodes_[at(hero)].role == FusionRole::kProduct && is_written_into_place(cut);
    if (cut == hero && !written) return;
    nodes_[at(hero)].stored = false;
    for (const int32_t i : region) {
      if (i > cut) break;
      nodes_[at(i)].owner = hero;
      nodes_[at(i)].stored = i == cut && !written;
    }
  }

  /// What moves elements rounds them if nothing needs them as they were (gated linear units of v5p).
  void round(int32_t copy) {
    if (copy == root_ || nodes_[at(copy)].users.size() != 1) return;
    const int32_t user = nodes_[at(copy)].users[0];
    Node& rounded = nodes_[at(user)];
    if (instruction(user).opcode != Opcode::kConvert || rounded.owner >= 0) return;
    if (rounded.role != FusionRole::kElement || rounded.bytes >= nodes_[at(copy)].bytes) return;
    nodes_[at(copy)].stored = false;
    nodes_[at(copy)].owner = rounded.owner = copy;
    rounded.stored = true;
  }

  /// The stored values that an instruction is computed from.
  std::set<int32_t> sources(int32_t i) const {
    std::set<int32_t> found, seen;
    Places open(nodes_[at(i)].operands.begin(), nodes_[at(i)].operands.end());
    while (!open.empty()) {
      const int32_t operand = open.back();
      open.pop_back();
      if (!seen.insert(operand).second) continue;
      if (nodes_[at(operand)].stored)
        found.insert(operand);
      else
        open.insert(open.end(), nodes_[at(operand)].operands.begin(), nodes_[at(operand)].operands.end());
    }
    return found;
  }

  /// Of a set of places: which one, where there is one, and whether there are more.
  class FewUses {
   public:
    void add(int32_t place) {
      if (first_ < 0) first_ = place;
      several_ |= place != first_;
    }
    void add(const FewUses& others) {
      if (others.first_ >= 0) add(others.first_);
      several_ |= others.several_;
    }
    bool are_several() const { return several_; }

   private:
    int32_t first_ = -1;
    bool several_ = false;
  };

  /// The stored values that are made of `i`. Requires: those of its users are known.
  FewUses uses_of(int32_t i, const std::vector<FewUses>& used_in) const {
    FewUses uses;
    for (const int32_t user : nodes_[at(i)].users) {
      if (nodes_[at(user)].stored)
        uses.add(user);
      else
        uses.add(used_in[at(user)]);
    }
    return uses;
  }
  bool may_be_stored(const Node& node) const {
    return !node.stored && node.owner < 0 && node.role != FusionRole::kFill;
  }

  /// More than vpu.most_repeated instructions lead from stored values to `i`.
  bool is_long(int32_t i) const {
    std::unordered_set<int32_t> seen{i};
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      for (const int32_t operand : nodes_[at(next)].operands)
        if (!nodes_[at(operand)].stored && seen.insert(operand).second) open.push_back(operand);
      if (static_cast<int64_t>(seen.size()) > device_.vpu.most_repeated) return true;
    }
    return false;
  }

  /// A value that several fusions use isn't computed again in each where that takes many instructions.
  void store_what_is_long() {
    std::vector<FewUses> used_in(nodes_.size());
    for (int32_t i = count() - 1; i >= 0; --i) used_in[at(i)] = uses_of(i, used_in);
    for (int32_t i = 0; i < count(); ++i) {
      Node& node = nodes_[at(i)];
      if (may_be_stored(node) && used_in[at(i)].are_several()) node.stored = is_long(i);
    }
  }

  /// Otherwise it is computed again in each if that reads no more than the value.
  void store_what_is_cheaper() {
    std::vector<FewUses> used_in(nodes_.size());
    for (int32_t i = count() - 1; i >= 0; --i) {
      Node& node = nodes_[at(i)];
      used_in[at(i)] = uses_of(i, used_in);
      if (!may_be_stored(node) || !used_in[at(i)].are_several()) continue;
      int64_t bytes = 0;
      for (const int32_t source : sources(i)) bytes += nodes_[at(source)].bytes;
      node.stored = static_cast<double>(bytes) > 1.05 * static_cast<double>(node.bytes);
    }
  }

  /// What is computed between the stored values and `i`, both ends left out, is work element by element.
  bool only_elementwise_from(int32_t i, int32_t source) const {
    std::set<int32_t> seen;
    Places open(nodes_[at(i)].operands.begin(), nodes_[at(i)].operands.end());
    while (!open.empty()) {
      const int32_t operand = open.back();
      open.pop_back();
      if (operand == source || !seen.insert(operand).second || nodes_[at(operand)].stored) continue;
      if (operand != source && !ancestors_.depends(operand, source)) continue;
      const FusionRole role = nodes_[at(operand)].role;
      if (role != FusionRole::kElement && role != FusionRole::kReindex) return false;
      open.insert(open.end(), nodes_[at(operand)].operands.begin(), nodes_[at(operand)].operands.end());
    }
    return true;
  }

  int32_t input_of(int32_t reduction) const { return nodes_[at(reduction)].operands[0]; }
  /// The reduction whose result, or what is made of it, is stored at `i`; -1: none.
  int32_t reduction_at(int32_t i) const {
    const int32_t hero = nodes_[at(i)].owner >= 0 ? nodes_[at(i)].owner : i;
    return nodes_[at(hero)].role == FusionRole::kReduce ? hero : -1;
  }

  /// Nothing in the group of `leader` depends on `i` or the other way round. `joined`: who went into a group
  /// of another.
  bool independent(int32_t i, int32_t leader, const Joined& joined) const {
    const auto apart = [&](int32_t k) {
      return k == i || group_[at(k)] != leader || !(ancestors_.depends(i, k) || ancestors_.depends(k, i));
    };
    const auto others = joined.find(leader);
    return apart(leader) && (others == joined.end() || std::ranges::all_of(others->second, apart));
  }

  /// All sources of `i` but `from` are there before `from` is computed.
  bool only_waits_for(int32_t i, int32_t from) const {
    for (const int32_t source : sources(i))
      if (source != from && ancestors_.depends(source, from)) return false;
    return true;
  }

  void join_reductions() {
    Joined readers;  // reductions so far, by the stored values that they are computed from
    Joined joined;
    for (int32_t i = 0; i < count(); ++i) {
      if (!nodes_[at(i)].stored) continue;
      const int32_t reduction = reduction_at(i);
      if (reduction < 0) continue;
      const int64_t input = elements(input_of(reduction));
      const std::set<int32_t> from = sources(i);
      for (const int32_t source : from) {
        if (elements(source) != input) continue;
        if (join_producer(i, source, reduction) || join_sibling(i, readers[source], input, joined)) break;
      }
      if (group_[at(i)] != i) joined[group_[at(i)]].push_back(i);
      for (const int32_t source : from) readers[source].push_back(i);
    }
  }

  /// With the fusion that makes what is reduced.
  bool join_producer(int32_t i, int32_t source, int32_t reduction) {
    const FusionRole role = nodes_[at(source)].role;
    const bool made_by_fusion =
        nodes_[at(source)].owner >= 0 || role == FusionRole::kProduct || role == FusionRole::kElement;
    if (!made_by_fusion || group_[at(source)] != source || !only_waits_for(i, source)) return false;
    if (!only_elementwise_from(reduction, source)) return false;
    group_[at(i)] = source;
    return true;
  }

  /// With another reduction that reads the same array.
  bool join_sibling(int32_t i, const Places& readers, int64_t input, const Joined& joined) {
    for (const int32_t k : readers) {
      if (group_[at(k)] != k || elements(input_of(reduction_at(k))) != input) continue;
      if (!independent(i, k, joined)) continue;
      group_[at(i)] = k;
      return true;
    }
    return false;
  }

  using Members = Places;  // what one fusion computes, in order

  /// Adds what is computed in the fusion that stores `i` and has no mark yet.
  void collect(int32_t i, Members& members) const {
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      if (!mark(next)) continue;
      members.push_back(next);
      for (const int32_t operand : nodes_[at(next)].operands)
        if (!nodes_[at(operand)].stored) open.push_back(operand);
    }
  }

  /// Takes all marks away.
  void unmark() const { ++round_, marks_.resize(nodes_.size(), 0); }
  bool is_marked(int32_t i) const { return marks_[at(i)] == round_; }
  /// False: it had one.
  bool mark(int32_t i) const { return std::exchange(marks_[at(i)], round_) != round_; }

  /// The stored values of each fusion, by the one that stands for it.
  std::map<int32_t, Places> outputs_of_groups() const {
    std::map<int32_t, Places> stored_by;
    for (int32_t i = 0; i < count(); ++i)
      if (nodes_[at(i)].stored) stored_by[group_[at(i)]].push_back(i);
    return stored_by;
  }

  /// Requires: they alone have marks. Where they stand close together these say their order.
  void put_in_order(Members& members) const {
    const auto [first, last] = std::ranges::minmax(members);
    const auto range = static_cast<size_t>(last - first) + 1;
    if (range > 8 * members.size()) {
      std::ranges::sort(members);
      return;
    }
    members.clear();
    for (int32_t i = first; i <= last; ++i)
      if (is_marked(i)) members.push_back(i);
  }

  Members members_of(const Places& outputs) const {
    Members members;
    unmark();
    for (const int32_t i : outputs)
      if (nodes_[at(i)].role != FusionRole::kNone || nodes_[at(i)].end) collect(i, members);
    // Within one fusion a stored value is at hand.
    for (const int32_t i : outputs)
      if (mark(i)) members.push_back(i);
    put_in_order(members);
    // Numbers alone are nothing to fuse.
    const bool computes = !nodes_[at(outputs[0])].end || std::ranges::any_of(members, [&](int32_t i) {
      return i != outputs[0] && !is_constant(i);
    });
    if (!computes) members = {outputs[0]};
    return members;
  }

  /// By another fusion than the one that stores it, or at the end.
  bool is_wanted(int32_t i) const {
    if (i == root_) return true;
    unmark();
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      for (const int32_t user : nodes_[at(next)].users) {
        if (nodes_[at(user)].stored && group_[at(user)] != group_[at(i)]) return true;
        if (!nodes_[at(user)].stored && mark(user)) open.push_back(user);
      }
    }
    return false;
  }

  /// A value that all its users joined stays in the kernel; all, where nobody wants any.
  Places wanted_of(const Places& outputs) const {
    if (outputs.size() == 1) return outputs;
    Places kept;
    std::ranges::copy_if(outputs, std::back_inserter(kept), [&](int32_t i) { return is_wanted(i); });
    return kept.empty() ? outputs : kept;
  }

  // ── what fits into VMEM ──

  int64_t working_set(const Members& members, const Places& outputs) const {
    const auto ids = [&](const auto& places) {
      std::vector<InstructionId> found;
      for (const int32_t i : places) found.push_back(order_[at(i)]);
      return found;
    };
    return least_working_set(module_, table_, device_, ids(members), ids(outputs));
  }

  /// Fusions that need more VMEM at once than there is: their outputs go apart, then the largest part of one
  /// that fits is stored.
  void take_apart_what_does_not_fit() {
    const int64_t limit = working_set_limit(device_);
    std::map<int32_t, Places> open = outputs_of_groups();
    while (!open.empty()) {
      std::map<int32_t, Places> again;
      for (const auto& [leader, outputs] : open) {
        const Members members = members_of(outputs);
        if (members.size() == 1 || working_set(members, wanted_of(outputs)) <= limit) continue;
        if (outputs.size() > 1) {
          for (const int32_t i : outputs) group_[at(i)] = i, again[i] = {i};
        } else if (const int32_t part = largest_fitting_part(members, leader, limit); part >= 0) {
          nodes_[at(part)].stored = true;
          group_[at(part)] = part;
          again[leader] = outputs;
        }
      }
      open = std::move(again);
    }
  }

  /// Of what fits in a fusion that doesn't: the value whose computation needs most, of these the smallest.
  /// -1: none that would help.
  int32_t largest_fitting_part(const Members& members, int32_t output, int64_t limit) const {
    int32_t best = -1;
    int64_t most = 0;
    for (const int32_t i : members) {
      const Node& node = nodes_[at(i)];
      if (i == output || node.stored || node.role == FusionRole::kFill) continue;
      Members part;
      unmark();
      collect(i, part);
      std::sort(part.begin(), part.end());
      const int64_t need = working_set(part, {i});
      if (need > limit || need < most || (need == most && best >= 0 && node.bytes >= nodes_[at(best)].bytes))
        continue;
      most = need, best = i;
    }
    return best;
  }

  /// False where groups wait for each other in a circle.
  bool emit(FusionPlan& plan) const {
    const std::map<int32_t, Places> stored_by = outputs_of_groups();
    struct Group {
      Members members;
      Places outputs, followers;
      size_t waits_for = 0;
      int32_t first = 0;
    };
    std::map<int32_t, Group> groups;
    for (const auto& [leader, outputs] : stored_by) {
      Group& group = groups[leader];
      group.outputs = outputs;
      group.first = outputs.back();
      group.members = members_of(outputs);
    }
    for (auto& [leader, group] : groups) {
      std::set<int32_t> before;
      unmark();
      for (const int32_t member : group.members) mark(member);
      const auto wait = [&](int32_t operand) {
        if (!is_marked(operand) && nodes_[at(operand)].stored) before.insert(group_[at(operand)]);
      };
      for (const int32_t member : group.members) {
        for (const int32_t operand : nodes_[at(member)].operands) wait(operand);
        if (const Attr* control = instruction(member).find(AttrKey::kControlPredecessors))
          for (const InstructionId predecessor : control->instructions()) wait(place_[predecessor]);
      }
      before.erase(leader);
      group.waits_for = before.size();
      for (const int32_t other : before) groups[other].followers.push_back(leader);
    }
    using Entry = std::pair<int32_t, int32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (const auto& [leader, group] : groups)
      if (group.waits_for == 0) ready.push({group.first, leader});
    while (!ready.empty()) {
      const Group& group = groups[ready.top().second];
      ready.pop();
      plan.groups.push_back(make_group(group.members, wanted_of(group.outputs)));
      for (const int32_t follower : group.followers)
        if (--groups[follower].waits_for == 0) ready.push({groups[follower].first, follower});
    }
    return plan.groups.size() == groups.size();
  }

  FusionGroup make_group(const Members& members, const Places& outputs) const {
    FusionGroup group;
    bool product = false, reduction = false;  // or another end that is more than a loop over its result
    for (const int32_t i : members) {
      group.members.push_back(order_[at(i)]);
      const std::optional<FusionEnd>& end = nodes_[at(i)].end;
      product |= nodes_[at(i)].role == FusionRole::kProduct || (end && end->slices_only);
      reduction |= nodes_[at(i)].role == FusionRole::kReduce ||
                   (end && instruction(i).opcode != Opcode::kDynamicUpdateSlice);
    }
    for (const int32_t i : outputs) group.outputs.push_back(order_[at(i)]);
    group.kind = product ? "kOutput" : reduction ? "kInput" : "kLoop";
    return group;
  }

  Module& module_;
  const OpTable& table_;
  const DeviceConfig& device_;
  const Room vmem_;
  std::vector<InstructionId> order_;
  IdMap<InstructionId, int32_t> place_;
  Ancestors ancestors_;
  Places operands_, users_;  // of all nodes, one after the other
  std::vector<size_t> first_operand_, first_user_;
  std::vector<Node> nodes_;
  std::vector<int32_t> group_;  // of a stored value: the one that stands for its fusion
  int32_t root_ = 0;
  mutable std::vector<uint32_t> marks_;  // by place: the round in which it got one
  mutable uint32_t round_ = 0;
};

}  // namespace

FusionPlan plan_fusions(Module& module, const OpTable& table, const DeviceConfig& device, const Room& vmem,
                        ComputationId id) {
  return Planner(module, table, device, vmem, id).plan();
}

}  // namespace hlosim
