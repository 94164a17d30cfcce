#include "lower/straight_layouts.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/assign_layouts.h"
#include "lower/read_once.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

class Finder {
 public:
  Finder(Module& module, const OpTable& table, const TilingPolicy& policy, const Room& room)
      : module_(module), table_(table), policy_(policy), room_(room) {}

  void run(ComputationId computation) {
    const std::vector<InstructionId>& list = module_[computation].instructions;
    const auto updates = [&](InstructionId id) { return module_[id].opcode == Opcode::kDynamicUpdateSlice; };
    const Users users = std::ranges::any_of(list, updates) ? users_of(module_, computation) : Users();
    for (const InstructionId id : list) {
      if (updates(id) && is_read(users[id])) look_at_update(id);
      const std::optional<FusionEnd> end = fusion_end(module_[id]);
      if (end && end->slices_only) look_at_product(id);
    }
  }

  StraightLayouts take() { return std::move(found_); }

 private:
  ShapeRef shape_of(InstructionId id) const { return module_[id].shape; }

  /// By more than what hands it on.
  bool is_read(std::span<const InstructionId> users) const {
    return std::ranges::any_of(
        users, [&](InstructionId user) { return fusion_role(table_, module_[user]) != FusionRole::kNone; });
  }

  int64_t fastest(ShapeRef array) {
    return compact_layout(module_.shapes(), array, policy_)->minor_to_major[0];
  }

  void look_at_product(InstructionId id) {
    const InstructionId weights = module_[id].operands[1];
    const Attr* contracting = module_[id].find(AttrKey::kRhsContractingDims);
    if (!contracting || shape_of(weights)->rank() < 2) return;
    if (std::ranges::count(contracting->ints(), fastest(shape_of(weights))) == 0) return;
    if (is_read_once(compact_bytes(module_[id].operands[0]), compact_bytes(id), room_)) turn_sources(weights);
  }

  void look_at_update(InstructionId id) {
    const ShapeRef array = shape_of(id), part = shape_of(module_[id].operands[1]);
    if (!array->is_array() || array->rank() < 2) return;
    const int64_t line = fastest(array);
    if (part->dim(line) < std::min(array->dim(line), policy_.lanes)) turn_sources(id);
  }

  /// The array, and what it is a slice of.
  void turn_sources(InstructionId id) {
    turn(shape_of(id));
    while (keeps_dimensions(module_[id])) {
      id = module_[id].operands[0];
      turn(shape_of(id));
    }
  }

  /// Work on one array that takes a part of it, changes each element, or adds and drops dimensions of size 1.
  bool keeps_dimensions(const Instruction& instruction) const {
    if (instruction.opcode == Opcode::kDynamicSlice) return true;
    const FusionRole role = fusion_role(table_, instruction);
    if (role == FusionRole::kElement) return instruction.operands.size() == 1;
    return role == FusionRole::kReindex &&
           large_sizes(instruction.shape) == large_sizes(shape_of(instruction.operands[0]));
  }

  /// All but 1.
  static Ints large_sizes(ShapeRef array) {
    Ints sizes(array->dimensions.begin(), array->dimensions.end());
    std::erase(sizes, 1);
    return sizes;
  }

  void turn(ShapeRef array) {
    const Layout* compact = compact_layout(module_.shapes(), array, policy_);
    if (compact->minor_to_major.size() < 2) return;
    Ints order(compact->minor_to_major.begin(), compact->minor_to_major.end());
    if (order[0] > order[1]) return;  // as the front end has it
    std::swap(order[0], order[1]);
    Layout layout;
    layout.minor_to_major = order;
    const Layout* turned = module_.shapes().layout(layout);
    if (tiled_bytes(array, turned) < 2 * tiled_bytes(array, compact)) found_[array->logical] = turned;
  }

  int64_t compact_bytes(InstructionId id) {
    return tiled_bytes(shape_of(id), compact_layout(module_.shapes(), shape_of(id), policy_));
  }

  int64_t tiled_bytes(ShapeRef array, const Layout* layout) {
    const ShapeRef ordered = module_.shapes().with_layout(array, layout);
    return array_size(with_native_tiling(module_.shapes(), ordered, policy_)).count();
  }

  Module& module_;
  const OpTable& table_;
  const TilingPolicy& policy_;
  Room room_;
  StraightLayouts found_;
};

}  // namespace

StraightLayouts straight_layouts(Module& module, const OpTable& table, const TilingPolicy& policy,
                                 const Room& room) {
  Finder finder(module, table, policy, room);
  for (const FlowComputation& flow : flow_computations(module, table)) finder.run(flow.id);
  return finder.take();
}

}  // namespace hlosim
