#include "modules/list_rewriter.h"

#include <algorithm>
#include <unordered_set>

namespace hlosim {

void ListRewriter::run(ComputationId id, const std::function<InstructionId(InstructionId)>& visit) {
  computation_ = id;
  list_.clear();
  for (const InstructionId before : replaced_) instead_[before] = {};
  replaced_.clear();
  // What is added from here on is the latest there is.
  instead_.resize(module_.instructions.size());
  const std::vector<InstructionId> order = needed_instructions(module_, table_, id);
  std::unordered_set<InstructionId> stays;
  for (const InstructionId at : order)
    if (const Attr* before = module_[at].find(AttrKey::kControlPredecessors)) {
      stays.insert(at);
      if (waited_for_ == WaitedFor::kStays)
        stays.insert(before->instructions().begin(), before->instructions().end());
    }
  list_.reserve(order.size());
  bool is_changed = false;
  for (const InstructionId at : order) {
    forward(at);
    const bool may = module_[at].parameter_number < 0 && (stays.empty() || !stays.contains(at));
    visited_ = at;
    const InstructionId* const operands = module_[at].operands.data();
    const InstructionId instead = may ? visit(at) : at;
    if (instead == at)
      list_.push_back(at);
    else
      instead_[at] = instead, replaced_.push_back(at);
    is_changed = is_changed || instead != at || module_[at].operands.data() != operands;
  }
  Computation& computation = module_.computations[id];
  computation.root = latest(computation.root);
  is_changed = is_changed || list_.size() != order.size();
  computation.instructions = std::move(list_);
  // Where nothing was replaced all is needed that was.
  if (is_changed) computation.instructions = needed_instructions(module_, table_, id);
}

InstructionId ListRewriter::latest(InstructionId id) const {
  const bool is_new = static_cast<size_t>(id.index) >= instead_.size();
  return !is_new && instead_[id].valid() ? instead_[id] : id;
}

/// What the instruction needs or waits for is what has taken its place.
void ListRewriter::forward(InstructionId id) {
  const auto stays = [&](InstructionId operand) { return latest(operand) == operand; };
  if (!std::ranges::all_of(module_[id].operands, stays)) {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    for (InstructionId& operand : operands) operand = latest(operand);
    editor_.set_operands(id, operands);
  }
  const Attr* before = module_[id].find(AttrKey::kControlPredecessors);
  if (!before) return;
  std::vector<InstructionId> predecessors(before->instructions().begin(), before->instructions().end());
  for (InstructionId& predecessor : predecessors) predecessor = latest(predecessor);
  if (!std::ranges::equal(predecessors, before->instructions()))
    editor_.set_attr(id, Attr::make_list(AttrKey::kControlPredecessors, before->syntax,
                                         module_.arena().copy(predecessors)));
}

InstructionId ListRewriter::add(std::string_view name, Opcode opcode, ShapeRef shape,
                                std::span<const InstructionId> operands, std::span<const Attr> attrs) {
  list_.push_back(editor_.add(computation_, opcode, name, shape, operands, attrs));
  editor_.place_like(list_.back(), module_[visited_]);
  return list_.back();
}

InstructionId ListRewriter::add_like(const Instruction& like, std::string_view name, ShapeRef shape,
                                     std::span<const InstructionId> operands) {
  std::vector<Attr> attrs(like.attrs.begin(), like.attrs.end());
  std::erase_if(attrs, [](const Attr& attr) { return attr.key == AttrKey::kSharding; });
  return add(name, like.opcode, shape, operands, attrs);
}

}  // namespace hlosim
