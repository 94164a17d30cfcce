#include "lower/fusions/fusion_stores.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "lower/read_once.h"

namespace hlosim {
namespace {

class StoreRules {
 public:
  StoreRules(FusionGraph& graph, const DeviceConfig& device, const Room& vmem)
      : graph_(graph), device_(device), vmem_(vmem) {}

  void apply() {
    store_what_must_be();
    store_parts_of_lanes();
    for (int32_t i = 0; i < graph_.count(); ++i)
      if (graph_[i].role == FusionRole::kProduct || graph_[i].role == FusionRole::kReduce) grow(i);
    for (int32_t i = 0; i < graph_.count(); ++i)
      if (graph_[i].role == FusionRole::kCopy && graph_[i].owner < 0) round(i);
    store_what_is_long();
    store_what_is_cheaper();
    store_what_reads_what_changes();
  }

 private:
  static size_t at(int32_t place) { return static_cast<size_t>(place); }

  void store_what_must_be() {
    for (int32_t i = 0; i < graph_.count(); ++i) {
      FusionNode& node = graph_[i];
      if (graph_.is_constant(i)) continue;
      node.stored = node.role == FusionRole::kNone || node.role == FusionRole::kCopy ||
                    node.role == FusionRole::kProduct || node.role == FusionRole::kReduce ||
                    i == graph_.root();
      for (const int32_t user : node.users)
        node.stored |= graph_[user].role == FusionRole::kNone && !may_end_in(i, user);
    }
  }

  /// `user` ends a fusion that may compute the value. What it changes in place is there before, or the same
  /// everywhere.
  bool may_end_in(int32_t value, int32_t user) const {
    const FusionNode& end = graph_[user];
    if (!end.end) return false;
    if (end.end->slices_only) return is_slice_in_place(value) && goes_through_once(value, user);
    for (size_t k = 0; k < end.end->first; ++k)
      if (end.operands[k] == value && graph_[value].role != FusionRole::kFill) return false;
    return true;
  }

  /// The second operand of a product, which goes through it once.
  bool goes_through_once(int32_t value, int32_t place) const {
    const FusionNode& product = graph_[place];
    return product.operands[1] == value && product.operands[0] != value &&
           is_read_once(graph_[product.operands[0]].bytes, product.bytes, vmem_);
  }

  /// A dynamic-slice of an array that is there before, in whole tiles, perhaps under other dimensions.
  bool is_slice_in_place(int32_t value) const {
    while (graph_[value].role == FusionRole::kReindex) value = graph_[value].operands[0];
    const Instruction& slice = graph_.instruction(value);
    if (graph_[value].role != FusionRole::kPart || slice.opcode != Opcode::kDynamicSlice) return false;
    const Instruction& source = graph_.instruction(graph_[value].operands[0]);
    const bool is_there = graph_[graph_[value].operands[0]].role == FusionRole::kNone;
    if (!is_there || !source.shape->layout) return false;
    const std::span<const int64_t> order = source.shape->layout->minor_to_major;
    return std::ranges::all_of(order.first(std::min<size_t>(order.size(), 2)),
                               [&](int64_t i) { return slice.shape->dim(i) == source.shape->dim(i); });
  }

  // ── what is changed in place ──

  /// What such a fusion reads of the array that it changes would have to be as before: only the part that it
  /// changes is, and only what is computed of it element by element.
  void store_what_reads_what_changes() {
    for (int32_t i = 0; i < graph_.count(); ++i) {
      const FusionNode& node = graph_[i];
      if (!node.end || node.end->first == 0) continue;
      for (size_t k = node.end->first; k < node.operands.size(); ++k) {
        if (!keeps_off(node.operands[k], i)) graph_[node.operands[k]].stored = true;
      }
    }
  }

  /// `from` can be computed while `end` writes.
  bool keeps_off(int32_t from, int32_t end) const {
    const int32_t changed = graph_[end].operands[0];
    std::vector<std::pair<int32_t, bool>> open{{from, true}};  // and whether all from there on is elementwise
    std::set<std::pair<int32_t, bool>> seen;
    while (!open.empty()) {
      const auto [place, elementwise] = open.back();
      open.pop_back();
      if (!seen.insert({place, elementwise}).second) continue;
      const FusionNode& node = graph_[place];
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
    const Instruction &read = graph_.instruction(slice), &write = graph_.instruction(end);
    if (read.opcode != Opcode::kDynamicSlice || write.opcode != Opcode::kDynamicUpdateSlice) return false;
    return graph_[slice].operands[0] == graph_[end].operands[0] &&
           std::ranges::equal(read.shape->dimensions, graph_.module()[write.operands[1]].shape->dimensions) &&
           std::ranges::equal(read.operands.subspan(1), write.operands.subspan(2));
  }

  /// A part of an array is all that becomes of it.
  bool is_written_into_place(int32_t value) const {
    while (value != graph_.root() && graph_[value].users.size() == 1) {
      const int32_t user = graph_[value].users[0];
      const FusionNode& next = graph_[user];
      if (graph_.instruction(user).opcode == Opcode::kDynamicUpdateSlice)
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
    std::set<int32_t> next(graph_[hero].users.begin(), graph_[hero].users.end());
    while (!next.empty()) {
      const int32_t i = *next.begin();
      next.erase(next.begin());
      const FusionNode& node = graph_[i];
      // Transposes of convolutions are kernels of their own (seen on v6e).
      const bool turns = graph_.instruction(i).opcode == Opcode::kTranspose;
      const bool fits = (node.role == FusionRole::kElement || node.role == FusionRole::kReindex) &&
                        node.owner < 0 && graph_.elements(i) == graph_.elements(hero) &&
                        (!turns || graph_.instruction(hero).opcode == Opcode::kDot);
      if (!fits || !std::ranges::all_of(node.operands, [&](int32_t operand) {
            return inside.contains(operand) || !(operand == hero || graph_.depends(operand, hero));
          }))
        continue;
      inside.insert(i);
      region.push_back(i);
      next.insert(node.users.begin(), node.users.end());
    }
    std::sort(region.begin(), region.end());
    return region;
  }

  // ── what products compute of their operands ──

  /// The products that `i` goes into, with nothing stored between; empty: it also goes elsewhere, or into
  /// more than `most`.
  Places products_of(int32_t i, size_t most) const {
    Places found;
    std::set<int32_t> seen;
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      for (const int32_t user : graph_[next].users) {
        if (!seen.insert(user).second) continue;
        if (!graph_[user].stored) {
          open.push_back(user);
          continue;
        }
        const int32_t hero = graph_[user].owner >= 0 ? graph_[user].owner : user;
        if (graph_[hero].role != FusionRole::kProduct || found.size() == most) return {};
        found.push_back(user);
      }
      if (seen.size() > most_repeated()) return {};
    }
    return found;
  }

  /// Bytes of the stored values that `i` is computed from, element by element; nothing where it takes other
  /// work or too many instructions.
  std::optional<int64_t> read_element_by_element(int32_t i) const {
    std::set<int32_t> seen;
    Places open{i};
    int64_t bytes = 0;
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      if (!seen.insert(next).second) continue;
      if (next != i && graph_[next].stored) {
        bytes += graph_[next].bytes;
        continue;
      }
      const FusionRole role = graph_[next].role;
      if (role == FusionRole::kFill) continue;
      if ((role != FusionRole::kElement && role != FusionRole::kReindex) || seen.size() > most_repeated())
        return std::nullopt;
      open.insert(open.end(), graph_[next].operands.begin(), graph_[next].operands.end());
    }
    return bytes;
  }
  size_t most_repeated() const {
    return static_cast<size_t>(std::max<int64_t>(device_.vpu.most_repeated, 0));
  }

  /// Only products take it, and if each computes it again fewer bytes move than if it is stored.
  bool is_cheaper_in_products(int32_t i) const {
    constexpr size_t kMost = 8;  // guess: a bound of the search
    const Places products = products_of(i, kMost);
    const std::optional<int64_t> read = products.empty() ? std::nullopt : read_element_by_element(i);
    const auto n = static_cast<int64_t>(products.size());
    return read && n * *read < *read + (1 + n) * graph_[i].bytes;
  }

  /// Work on a product's result that the next products do on their operands: the result is stored as it is
  /// (seen in train steps of v6e).
  bool is_left_to_products(int32_t i, int32_t hero) const {
    return graph_[hero].role == FusionRole::kProduct && i != hero && !graph_[i].stored &&
           is_cheaper_in_products(i);
  }

  /// Moves the place where the hero's result is stored to where least is stored, and all the rest of what
  /// uses the hero follows.
  void grow(int32_t hero) {
    if (!graph_.instruction(hero).shape->is_array() || hero == graph_.root()) return;
    const Places region = region_of(hero);
    int32_t cut = hero;
    int32_t last_use = hero;  // of what comes before
    constexpr int32_t kOutside = std::numeric_limits<int32_t>::max();
    for (const int32_t i : region) {
      const bool may_end = last_use <= i && graph_[i].bytes <= graph_[cut].bytes;
      if (may_end && (graph_[i].bytes < graph_[cut].bytes || !is_left_to_products(i, hero))) cut = i;
      if (i == graph_.root()) last_use = kOutside;
      for (const int32_t user : graph_[i].users)
        last_use =
            std::max(last_use, std::binary_search(region.begin(), region.end(), user) ? user : kOutside);
    }
    const bool written = graph_[hero].role == FusionRole::kProduct && is_written_into_place(cut);
    if (cut == hero && !written) return;
    graph_[hero].stored = false;
    for (const int32_t i : region) {
      if (i > cut) break;
      graph_[i].owner = hero;
      graph_[i].stored = i == cut && !written;
    }
  }

  /// What moves elements rounds them if nothing needs them as they were (gated linear units of v5p).
  void round(int32_t copy) {
    if (copy == graph_.root() || graph_[copy].users.size() != 1) return;
    const int32_t user = graph_[copy].users[0];
    FusionNode& rounded = graph_[user];
    if (graph_.instruction(user).opcode != Opcode::kConvert || rounded.owner >= 0) return;
    if (rounded.role != FusionRole::kElement || rounded.bytes >= graph_[copy].bytes) return;
    graph_[copy].stored = false;
    graph_[copy].owner = rounded.owner = copy;
    rounded.stored = true;
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
    for (const int32_t user : graph_[i].users) {
      if (graph_[user].stored)
        uses.add(user);
      else
        uses.add(used_in[at(user)]);
    }
    return uses;
  }

  bool may_be_stored(const FusionNode& node) const {
    return !node.stored && node.owner < 0 && node.role != FusionRole::kFill;
  }

  /// More than vpu.most_repeated instructions lead from stored values to `i`.
  bool is_long(int32_t i) const {
    std::unordered_set<int32_t> seen{i};
    Places open{i};
    while (!open.empty()) {
      const int32_t next = open.back();
      open.pop_back();
      for (const int32_t operand : graph_[next].operands)
        if (!graph_[operand].stored && seen.insert(operand).second) open.push_back(operand);
      if (static_cast<int64_t>(seen.size()) > device_.vpu.most_repeated) return true;
    }
    return false;
  }

  /// A value that several fusions use isn't computed again in each where that takes many instructions.
  void store_what_is_long() {
    std::vector<FewUses> used_in(static_cast<size_t>(graph_.count()));
    for (int32_t i = graph_.count() - 1; i >= 0; --i) used_in[at(i)] = uses_of(i, used_in);
    for (int32_t i = 0; i < graph_.count(); ++i) {
      FusionNode& node = graph_[i];
      if (may_be_stored(node) && used_in[at(i)].are_several()) node.stored = is_long(i);
    }
  }

  /// A slice of a value that has other users, too: where that is stored, the slice reads no more than it has.
  bool is_part_of_shared(int32_t i) const {
    if (graph_[i].role != FusionRole::kPart) return false;
    const int32_t whole = graph_[i].operands[0];
    return may_be_stored(graph_[whole]) && graph_[whole].users.size() > 1 &&
           graph_.elements(i) < graph_.elements(whole);
  }

  /// Otherwise it is computed again in each if that reads no more than the value.
  void store_what_is_cheaper() {
    std::vector<FewUses> used_in(static_cast<size_t>(graph_.count()));
    for (int32_t i = graph_.count() - 1; i >= 0; --i) {
      FusionNode& node = graph_[i];
      used_in[at(i)] = uses_of(i, used_in);
      if (!may_be_stored(node) || !used_in[at(i)].are_several() || is_part_of_shared(i)) continue;
      int64_t bytes = 0;
      for (const int32_t source : graph_.sources(i)) bytes += graph_[source].bytes;
      node.stored =
          static_cast<double>(bytes) > 1.05 * static_cast<double>(node.bytes) && !is_cheaper_in_products(i);
    }
  }

  // ── parts of lanes ──

  /// Computed from a slice along lanes, element by element, in no more instructions than vpu.most_repeated.
  bool is_of_lane_slice(int32_t i) const {
    std::set<int32_t> seen;
    Places open{i};
    while (!open.empty() && seen.size() <= most_repeated()) {
      const int32_t next = open.back();
      open.pop_back();
      if (graph_[next].stored || !seen.insert(next).second) continue;
      if (graph_.narrows(next)) return true;
      const FusionRole role = graph_[next].role;
      if (role == FusionRole::kElement || role == FusionRole::kReindex)
        open.insert(open.end(), graph_[next].operands.begin(), graph_[next].operands.end());
    }
    return false;
  }

  /// What is cut out of lanes and what fills them again are two kernels (seen in rotary positions on v6e).
  void store_parts_of_lanes() {
    for (int32_t i = 0; i < graph_.count(); ++i) {
      if (!graph_.widens(i)) continue;
      for (const int32_t operand : graph_[i].operands) {
        if (!is_of_lane_slice(operand)) continue;
        graph_[operand].stored = true;
        graph_[operand].is_lane_part = true;
      }
    }
  }

  FusionGraph& graph_;
  const DeviceConfig& device_;
  const Room& vmem_;
};

}  // namespace

void choose_stored(FusionGraph& graph, const DeviceConfig& device, const Room& vmem) {
  StoreRules(graph, device, vmem).apply();
}

}  // namespace hlosim
