#include "lower/fusions/fusion_graph.h"

#include <algorithm>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/roundings.h"
#include "model/core.h"

namespace hlosim {
namespace {

IdMap<InstructionId, int32_t> places_of(const Module& module, const std::vector<InstructionId>& order) {
  IdMap<InstructionId, int32_t> places(module.instructions.size(), -1);
  for (size_t i = 0; i < order.size(); ++i) places[order[i]] = static_cast<int32_t>(i);
  return places;
}

/// A transpose whose layouts undo it: the dimensions have other numbers, their order in memory is the same.
bool is_same_order(std::span<const int64_t> from, std::span<const int64_t> to,
                   std::span<const int64_t> permutation) {
  return std::ranges::equal(from, to,
                            [&](int64_t a, int64_t b) { return a == permutation[static_cast<size_t>(b)]; });
}

std::span<const int32_t> part(const Places& all, const std::vector<size_t>& first, size_t i) {
  return std::span(all).subspan(first[i], first[i + 1] - first[i]);
}

}  // namespace

FusionGraph::FusionGraph(Module& module, const OpTable& table, const DeviceConfig& device, ComputationId id)
    : module_(module), device_(device), order_(module[id].instructions), place_(places_of(module, order_)) {
  list_operands_and_users(id);
  ancestors_ = Ancestors(first_operand_, operands_);
  std::set<InstructionId> waited_for;  // others run after them
  for (const InstructionId at : order_)
    if (const Attr* before = module[at].find(AttrKey::kControlPredecessors))
      waited_for.insert(before->instructions().begin(), before->instructions().end());
  nodes_.reserve(order_.size());
  ShapeRef last_shape = nullptr;
  int64_t last_bytes = 0;
  for (size_t i = 0; i < order_.size(); ++i) {
    FusionNode node = node_of(table, order_[i], waited_for.contains(order_[i]));
    if (const ShapeRef shape = module[order_[i]].shape; shape != last_shape)  // neighbours are often alike
      last_shape = shape, last_bytes = total_array_size(shape).count();
    node.bytes = last_bytes;
    node.operands = part(operands_, first_operand_, i), node.users = part(users_, first_user_, i);
    nodes_.push_back(node);
  }
  root_ = place_[module[id].root];
}

FusionNode FusionGraph::node_of(const OpTable& table, InstructionId id, bool waited_for) const {
  const Instruction& instruction = module_[id];
  FusionNode node;
  node.role = waited_for ? FusionRole::kNone : fusion_role(table, instruction);
  // Scalars are the scalar unit's, and loop counters keep their form.
  if (instruction.shape->is_scalar() && node.role != FusionRole::kReduce &&
      node.role != FusionRole::kProduct && !instruction.literal && node.role != FusionRole::kFill)
    node.role = FusionRole::kNone;
  // Where elements really move, the compiler makes a copy.
  if (node.role == FusionRole::kReindex && !moves_nothing(module_, instruction, device_))
    node.role = FusionRole::kCopy;
  if (node.role == FusionRole::kPart && only_renames(instruction)) node.role = FusionRole::kReindex;
  if (!waited_for) node.end = fusion_end(instruction);
  return node;
}

void FusionGraph::list_operands_and_users(ComputationId id) {
  const Users users = users_of(module_, id);
  for (const InstructionId at : order_) {
    first_operand_.push_back(operands_.size()), first_user_.push_back(users_.size());
    for (const InstructionId operand : module_[at].operands) operands_.push_back(place_[operand]);
    for (const InstructionId user : users[at]) users_.push_back(place_[user]);
  }
  first_operand_.push_back(operands_.size()), first_user_.push_back(users_.size());
}

bool FusionGraph::only_renames(const Instruction& part) const {
  if (part.opcode != Opcode::kTranspose) return false;
  const ShapeRef from = module_[part.operands[0]].shape, to = part.shape;
  const auto same = [](const Tile& a, const Tile& b) {
    return std::ranges::equal(a.dimensions, b.dimensions);
  };
  return from->layout && to->layout && std::ranges::equal(from->layout->tiles, to->layout->tiles, same) &&
         is_same_order(from->layout->minor_to_major, to->layout->minor_to_major,
                       part.find(AttrKey::kDimensions)->ints());
}

int64_t FusionGraph::elements(int32_t place) const {
  const ShapeRef shape = instruction(place).shape;
  return shape->is_tuple() ? shape->elements[0]->element_count() : shape->element_count();
}

std::set<int32_t> FusionGraph::sources(int32_t place) const {
  std::set<int32_t> found, seen;
  Places open((*this)[place].operands.begin(), (*this)[place].operands.end());
  while (!open.empty()) {
    const int32_t operand = open.back();
    open.pop_back();
    if (!seen.insert(operand).second) continue;
    if ((*this)[operand].stored)
      found.insert(operand);
    else
      open.insert(open.end(), (*this)[operand].operands.begin(), (*this)[operand].operands.end());
  }
  return found;
}

bool FusionGraph::only_elementwise_from(int32_t place, int32_t source) const {
  std::set<int32_t> seen;
  Places open((*this)[place].operands.begin(), (*this)[place].operands.end());
  while (!open.empty()) {
    const int32_t operand = open.back();
    open.pop_back();
    if (operand == source || !seen.insert(operand).second || (*this)[operand].stored) continue;
    if (!depends(operand, source)) continue;
    const FusionRole role = (*this)[operand].role;
    if (role != FusionRole::kElement && role != FusionRole::kReindex) return false;
    open.insert(open.end(), (*this)[operand].operands.begin(), (*this)[operand].operands.end());
  }
  return true;
}

int FusionGraph::lane_change(int32_t place) const {
  if ((*this)[place].role != FusionRole::kPart) return 0;
  const bool is_large = static_cast<double>(elements(place)) > Core(device_).register_elements();
  return is_large ? lane_change_of(module_, instruction(place), device_.vpu.lanes) : 0;
}

}  // namespace hlosim
