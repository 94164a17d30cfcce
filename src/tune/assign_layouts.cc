#include "tune/assign_layouts.h"

#include <algorithm>
#include <numeric>

#include "hlo/graph.h"
#include "layout/sizes.h"
#include "ops/fusion_role.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

bool contains(std::span<const int64_t> list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

std::span<const int64_t> ints_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? attr->ints() : std::span<const int64_t>();
}

const Layout* ordered(ShapePool& pool, std::span<const int64_t> minor_to_major) {
  Layout layout;
  layout.minor_to_major = minor_to_major;
  return pool.layout(layout);
}

class Assigner {
 public:
  Assigner(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy)
      : editor_(editor), module_(editor.module()), table_(table), policy_(policy) {}

  /// The same order wherever a shape crosses the border of a computation.
  ShapeRef canonical(ShapeRef shape) {
    if (shape->is_tuple()) {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(canonical(element));
      return module_.shapes().tuple(elements);
    }
    if (!shape->is_array()) return module_.shapes().with_default_layouts(shape);
    return module_.shapes().with_layout(shape, compact_layout(module_.shapes(), shape, policy_));
  }

  void run(ComputationId id) {
    computation_ = id;
    const std::vector<InstructionId> order = module_[id].instructions;
    decided_ = IdMap<InstructionId, uint8_t>(module_.instructions.size());
    for (const InstructionId at : order) decide(at);
    // Fills follow their users.
    const auto users = users_of(module_, id);
    for (size_t i = order.size(); i-- > 0;)
      if (!decided_[order[i]]) follow_user(order[i], users[order[i]]);
    result_.clear();
    for (const InstructionId at : order) put(at);
    const InstructionId root = module_[id].root;
    Computation& computation = module_.computations[id];
    computation.instructions = result_;
    if (module_[root].shape->is_array()) computation.root = in_layout(root, canonical(module_[root].shape));
    computation.instructions = result_;
  }

 private:
  ShapeRef shape_of(InstructionId id) const { return module_[id].shape; }
  FusionRole role(InstructionId id) const { return fusion_role(table_, module_[id]); }

  void set_layout(InstructionId id, const Layout* layout) {
    Instruction& instruction = module_.instructions[id];
    instruction.shape = module_.shapes().with_layout(instruction.shape, layout);
  }

  /// First pass: the order that comes from operands; false where none has a say.
  void decide(InstructionId id) {
    const Instruction& instruction = module_[id];
    decided_[id] = true;
    switch (role(id)) {
      case FusionRole::kElement: decided_[id] = follow_operand(id); break;
      case FusionRole::kFill: decided_[id] = false; break;
      case FusionRole::kReindex: set_layout(id, reindexed(instruction)); break;
      case FusionRole::kReduce: follow_reduced(id); break;
      case FusionRole::kPart: follow_part(id); break;
      case FusionRole::kProduct: set_layout(id, product_order(instruction)); break;
      case FusionRole::kCopy:
      case FusionRole::kNone: module_.instructions[id].shape = canonical(instruction.shape); break;
    }
    if (!decided_[id]) module_.instructions[id].shape = canonical(module_[id].shape);
  }

  bool follow_operand(InstructionId id) {
    for (const InstructionId operand : module_[id].operands) {
      if (!decided_[operand] || !std::ranges::equal(shape_of(operand)->dimensions, shape_of(id)->dimensions))
        continue;
      set_layout(id, shape_of(operand)->layout);
      return true;
    }
    return false;
  }

  void follow_user(InstructionId id, const std::vector<InstructionId>& users) {
    for (const InstructionId user : users) {
      if (role(user) == FusionRole::kElement &&
          std::ranges::equal(shape_of(user)->dimensions, shape_of(id)->dimensions)) {
        set_layout(id, shape_of(user)->layout);
        return;
      }
      // What is reduced with others keeps their order.
      if (role(user) == FusionRole::kReduce) return;
    }
  }

  /// Dimensions of size 1 come and go, the others keep their order; else row-major.
  const Layout* reindexed(const Instruction& instruction) {
    const ShapeRef from = shape_of(instruction.operands[0]), to = instruction.shape;
    Ints large_from, large_to;
    for (int64_t i = 0; i < from->rank(); ++i)
      if (from->dim(i) != 1) large_from.push_back(i);
    for (int64_t i = 0; i < to->rank(); ++i)
      if (to->dim(i) != 1) large_to.push_back(i);
    const auto sizes = [](ShapeRef shape, const Ints& dims) {
      Ints result;
      for (const int64_t i : dims) result.push_back(shape->dim(i));
      return result;
    };
    Ints order;
    if (sizes(from, large_from) == sizes(to, large_to)) {
      for (const int64_t i : from->layout->minor_to_major) {
        const auto at = std::find(large_from.begin(), large_from.end(), i);
        if (at != large_from.end()) order.push_back(large_to[static_cast<size_t>(at - large_from.begin())]);
      }
    } else {
      for (size_t i = large_to.size(); i-- > 0;) order.push_back(large_to[i]);
    }
    for (int64_t i = to->rank() - 1; i >= 0; --i)
      if (to->dim(i) == 1) order.push_back(i);
    return ordered(module_.shapes(), order);
  }

  void follow_reduced(InstructionId id) {
    const Instruction& instruction = module_[id];
    const ShapeRef input = shape_of(instruction.operands[0]);
    const std::span<const int64_t> reduced = ints_of(instruction, AttrKey::kDimensions);
    Ints order;
    for (const int64_t i : input->layout->minor_to_major) {
      if (contains(reduced, i)) continue;
      const auto before = std::count_if(reduced.begin(), reduced.end(), [&](int64_t r) { return r < i; });
      order.push_back(i - before);
    }
    const Layout* layout = ordered(module_.shapes(), order);
    if (!instruction.shape->is_tuple()) return set_layout(id, layout);
    std::vector<ShapeRef> elements;
    for (const ShapeRef element : instruction.shape->elements)
      elements.push_back(module_.shapes().with_layout(element, layout));
    module_.instructions[id].shape = module_.shapes().tuple(elements);
  }

  void follow_part(InstructionId id) {
    const Instruction& instruction = module_[id];
    const ShapeRef input = shape_of(instruction.operands[0]);
    if (instruction.opcode != Opcode::kTranspose) return set_layout(id, input->layout);
    const std::span<const int64_t> from = ints_of(instruction, AttrKey::kDimensions);
    Ints order;  // nothing moves
    for (const int64_t i : input->layout->minor_to_major)
      order.push_back(std::find(from.begin(), from.end(), i) - from.begin());
    set_layout(id, ordered(module_.shapes(), order));
  }

  /// Row-major, sizes of 1 last.
  const Layout* product_order(const Instruction& instruction) {
    Ints order;
    for (int64_t i = instruction.shape->rank() - 1; i >= 0; --i)
      if (instruction.shape->dim(i) != 1) order.push_back(i);
    for (int64_t i = instruction.shape->rank() - 1; i >= 0; --i)
      if (instruction.shape->dim(i) == 1) order.push_back(i);
    return ordered(module_.shapes(), order);
  }

  // ── copies ──

  InstructionId in_layout(InstructionId id, ShapeRef wanted) {
    if (shape_of(id) == wanted || !wanted->is_array() || wanted->rank() < 2) return id;
    if (std::ranges::equal(shape_of(id)->layout->minor_to_major, wanted->layout->minor_to_major)) return id;
    if (role(id) == FusionRole::kFill) {  // as well made in that order
      set_layout(id, wanted->layout);
      return id;
    }
    for (const auto& [from, shape, copy] : copies_)
      if (from == id && shape == wanted) return copy;
    const InstructionId operands[] = {id};
    const InstructionId copy = editor_.add(computation_, Opcode::kCopy, "copy", wanted, operands);
    result_.push_back(copy);
    copies_.push_back({id, wanted, copy});
    return copy;
  }

  void put(InstructionId id) {
    const FusionRole here = role(id);
    if (here == FusionRole::kNone && module_[id].parameter_number < 0) {
      std::vector<InstructionId> operands;
      for (const InstructionId operand : module_[id].operands)
        operands.push_back(in_layout(operand, canonical(shape_of(operand))));
      editor_.set_operands(id, operands);
    } else if (here == FusionRole::kProduct && module_[id].opcode == Opcode::kDot) {
      put_product_operands(id);
    } else if (here == FusionRole::kElement) {
      std::vector<InstructionId> operands;
      for (const InstructionId operand : module_[id].operands) {
        const bool same = std::ranges::equal(shape_of(operand)->dimensions, shape_of(id)->dimensions);
        operands.push_back(
            same ? in_layout(operand, module_.shapes().with_layout(shape_of(operand), shape_of(id)->layout))
                 : operand);
      }
      editor_.set_operands(id, operands);
    }
    result_.push_back(id);
  }

  /// The contracting and the free dimension fastest, in the order that they have; batches slowest.
  void put_product_operands(InstructionId id) {
    std::vector<InstructionId> operands(module_[id].operands.begin(), module_[id].operands.end());
    constexpr AttrKey kBatch[] = {AttrKey::kLhsBatchDims, AttrKey::kRhsBatchDims};
    constexpr AttrKey kContracting[] = {AttrKey::kLhsContractingDims, AttrKey::kRhsContractingDims};
    for (size_t side = 0; side < 2; ++side) {
      const ShapeRef shape = shape_of(operands[side]);
      if (shape->rank() < 2) continue;
      const std::span<const int64_t> batch = ints_of(module_[id], kBatch[side]);
      const std::span<const int64_t> now = shape->layout->minor_to_major;
      const auto is_batch = [&](int64_t i) { return contains(batch, i) || shape->dim(i) == 1; };
      const std::span<const int64_t> contracting = ints_of(module_[id], kContracting[side]);
      Ints order(now.begin(), now.end());
      std::stable_partition(order.begin(), order.end(), [&](int64_t i) { return !is_batch(i); });
      // The second fastest is free where the fastest is contracted, and the other way round.
      const auto other = std::find_if(order.begin() + 1, order.end(), [&](int64_t i) {
        return !is_batch(i) && contains(contracting, i) != contains(contracting, order[0]);
      });
      if (other != order.end()) std::rotate(order.begin() + 1, other, other + 1);
      operands[side] =
          in_layout(operands[side], module_.shapes().with_layout(shape, ordered(module_.shapes(), order)));
    }
    editor_.set_operands(id, operands);
  }

  struct Copy {
    InstructionId from;
    ShapeRef shape;
    InstructionId copy;
  };

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  const TilingPolicy& policy_;
  ComputationId computation_;
  IdMap<InstructionId, uint8_t> decided_;
  std::vector<InstructionId> result_;
  std::vector<Copy> copies_;
};

}  // namespace

const Layout* compact_layout(ShapePool& pool, ShapeRef array, const TilingPolicy& policy) {
  Ints order;  // row-major, sizes of 1 slowest
  for (int64_t i = array->rank() - 1; i >= 0; --i)
    if (array->dim(i) != 1) order.push_back(i);
  for (int64_t i = array->rank() - 1; i >= 0; --i)
    if (array->dim(i) == 1) order.push_back(i);
  const auto size = [&](const Ints& candidate) {
    const ShapeRef ordered_array = pool.with_layout(array, ordered(pool, candidate));
    return array_size(with_native_tiling(pool, ordered_array, policy)).count();
  };
  const Ints plain = order;
  int64_t least = size(plain);
  const auto large = static_cast<size_t>(
      std::count_if(plain.begin(), plain.end(), [&](int64_t i) { return array->dim(i) != 1; }));
  // Every choice of the fastest two, the rest as it was.
  for (size_t first = 0; first < large; ++first) {
    for (size_t second = 0; second < large; ++second) {
      if (first == second) continue;
      Ints candidate{plain[first], plain[second]};
      for (const int64_t i : plain)
        if (i != plain[first] && i != plain[second]) candidate.push_back(i);
      const int64_t bytes = size(candidate);
      if (bytes < least) least = bytes, order = candidate;
    }
  }
  return ordered(pool, order);
}

void assign_layouts(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy) {
  Module& module = editor.module();
  Assigner assigner(editor, table, policy);
  const std::vector<FlowComputation> flows = flow_computations(module, table);
  IdMap<ComputationId, uint8_t> is_flow(module.computations.size());
  for (const FlowComputation& flow : flows) is_flow[flow.id] = !flow.is_condition;
  for (Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      module.instructions[id].shape = assigner.canonical(module[id].shape);
  for (const FlowComputation& flow : flows)
    if (!flow.is_condition) assigner.run(flow.id);
}

}  // namespace hlosim
