#include "lower/assign_layouts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/contains.h"
#include "hlo/graph.h"
#include "layout/sizes.h"
#include "lower/read_once.h"
#include "lower/straight_layouts.h"
#include "lower/weight_orientation.h"
#include "ops/fusion_role.h"
#include "ops/op_table.h"

namespace hlosim {
namespace {

using Ints = std::vector<int64_t>;

std::span<const int64_t> ints_of(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr ? attr->ints() : std::span<const int64_t>();
}

const Layout* ordered(ShapePool& pool, std::span<const int64_t> minor_to_major) {
  Layout layout;
  layout.minor_to_major = minor_to_major;
  return pool.layout(layout);
}

/// The array in another order; what lies in the host's memory stays there, all else is the compiler's to
/// place.
ShapeRef in_order(ShapePool& pool, ShapeRef array, const Layout* layout) {
  const bool on_host = array->memory_space() == kHostSpace;
  return pool.with_memory_space(pool.with_layout(array, layout), on_host ? kHostSpace : kDefaultMemorySpace);
}

class Assigner {
 public:
  Assigner(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy, const ArrayRoom& room)
      : editor_(editor),
        module_(editor.module()),
        table_(table),
        policy_(policy),
        room_(room),
        straight_(straight_layouts(module_, table, policy, room.vmem)) {}

  /// The same order wherever a shape crosses the border of a computation.
  ShapeRef canonical(ShapeRef shape) {
    if (const auto known = canonical_.find(shape); known != canonical_.end()) return known->second;
    return canonical_[shape] = find_canonical(shape);
  }

  /// `loop` is the while whose body `id` is, if any.
  void run(ComputationId id, InstructionId loop) {
    computation_ = id;
    if (id == module_.entry) turn_arguments();
    const std::vector<InstructionId> order = module_[id].instructions;
    decided_.resize(module_.instructions.size());  // of all computations that were gone through
    turned_.resize(module_.instructions.size());
    carried_ = loop.valid() ? module_[id].parameters[0] : InstructionId{};
    for (const InstructionId at : order) decide(at);
    // Fills follow their users, and so does what a loop carries.
    const bool is_open =
        loop.valid() || std::ranges::any_of(order, [&](InstructionId at) { return !decided_[at]; });
    const Users users = is_open ? users_of(module_, id) : Users();
    for (size_t i = order.size(); i-- > 0;)
      if (!decided_[order[i]]) decided_[order[i]] = follow_user(order[i], users[order[i]]);
    if (loop.valid()) give_carried_layouts(id, loop, users);
    result_.clear();
    copies_.clear();
    for (const InstructionId at : order) put(at);
    const InstructionId root = module_[id].root;
    const InstructionId last =
        module_[root].shape->is_array() ? in_layout(root, canonical(module_[root].shape)) : root;
    Computation& computation = module_.computations[id];
    computation.root = last;
    computation.instructions = result_;
  }

 private:
  ShapeRef shape_of(InstructionId id) const { return module_[id].shape; }
  FusionRole role(InstructionId id) const { return fusion_role(table_, module_[id]); }

  ShapeRef find_canonical(ShapeRef shape) {
    if (shape->is_tuple()) {
      std::vector<ShapeRef> elements;
      for (const ShapeRef element : shape->elements) elements.push_back(canonical(element));
      return module_.shapes().tuple(elements);
    }
    if (!shape->is_array()) return module_.shapes().with_default_layouts(shape);
    const auto straight = straight_.find(shape->logical);
    return in_order(
        module_.shapes(), shape,
        straight != straight_.end() ? straight->second : compact_layout(module_.shapes(), shape, policy_));
  }

  void set_layout(InstructionId id, const Layout* layout) {
    ShapeRef& shape = module_.instructions[id].shape;
    if (shape != last_.from || layout != last_.layout)  // neighbours are often alike
      last_ = {shape, layout, in_order(module_.shapes(), shape, layout)};
    shape = last_.to;
  }

  /// The fastest two dimensions the other way round.
  static Ints turned(std::span<const int64_t> order) {
    Ints result(order.begin(), order.end());
    std::swap(result[0], result[1]);
    return result;
  }

  /// Copies of weights in the other order, and their gradients, which are made in it.
  void turn_arguments() {
    const ComputationId entry = module_.entry;
    const std::vector<InstructionId> before = module_[entry].instructions;
    std::map<InstructionId, InstructionId> copies;
    for (const WeightOrientation& weights : arguments_taken_both_ways(module_, table_)) {
      const InstructionId argument = weights.argument;
      const ShapeRef shape = shape_of(argument);
      const Ints plain(shape->layout->minor_to_major.begin(), shape->layout->minor_to_major.end());
      if (tiled_bytes(shape, turned(plain)) > tiled_bytes(shape, plain)) continue;
      const InstructionId operands[] = {argument};
      const ShapeRef other = in_order(module_.shapes(), shape, ordered(module_.shapes(), turned(plain)));
      const InstructionId copy = editor_.add(entry, Opcode::kCopy, "copy", other, operands);
      for (const InstructionId user : weights.users) editor_.replace_operand(user, argument, copy);
      copies[argument] = copy;
      turned_.resize(module_.instructions.size());
      turned_[copy] = true;
      for (const InstructionId product : weights.gradients) turned_[product] = true;
    }
    std::vector<InstructionId> order;
    for (const InstructionId id : before) {
      order.push_back(id);
      if (const auto copy = copies.find(id); copy != copies.end()) order.push_back(copy->second);
    }
    module_.computations[entry].instructions = std::move(order);
  }

  /// First pass: the order that comes from operands; false where none has a say.
  void decide(InstructionId id) {
    const Instruction& instruction = module_[id];
    decided_[id] = true;
    if (turned_[id] && role(id) == FusionRole::kCopy) return;
    switch (role(id)) {
      case FusionRole::kElement:
        decided_[id] = follow_operand(id);
        break;
      case FusionRole::kFill:
        decided_[id] = false;
        break;
      case FusionRole::kReindex:
        set_layout(id, reindexed(instruction));
        break;
      case FusionRole::kReduce:
        follow_reduced(id);
        break;
      case FusionRole::kPart:
        decided_[id] = decided_[instruction.operands[0]] || instruction.opcode != Opcode::kDynamicSlice;
        follow_part(id);
        return;
      case FusionRole::kProduct:
        set_layout(id, product_order(id));
        break;
      case FusionRole::kCopy:
      case FusionRole::kNone:
        decided_[id] = !is_carried(id);
        module_.instructions[id].shape = border_shape(id);
        return;
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

  bool is_carried(InstructionId id) const {
    return carried_.valid() && module_[id].find(AttrKey::kIndex) && module_[id].operands[0] == carried_ &&
           module_[id].shape->is_array();
  }

  /// What is made and taken at borders has an order of its own, or that of the loop it belongs to.
  ShapeRef border_shape(InstructionId id) {
    const auto found = tuples_.find(id);
    if (found != tuples_.end()) return found->second;
    const Attr* index = module_[id].find(AttrKey::kIndex);
    if (index && module_[id].operands.size() == 1 && shape_of(module_[id].operands[0])->is_tuple())
      return shape_of(module_[id].operands[0])->elements[static_cast<size_t>(index->integer())];
    return canonical(module_[id].shape);
  }

  bool follow_user(InstructionId id, std::span<const InstructionId> users) {
    const bool fill = role(id) == FusionRole::kFill;
    for (const InstructionId user : users) {
      const FusionRole how = role(user);
      const ShapeRef other = shape_of(user);
      const Layout* layout = nullptr;
      if (how == FusionRole::kElement && std::ranges::equal(other->dimensions, shape_of(id)->dimensions)) {
        if (fill || decided_[user]) layout = other->layout;
      } else if (how == FusionRole::kReduce && fill) {
        return false;  // what is reduced with others keeps their order
      } else if (how == FusionRole::kPart && !fill && decided_[user] &&
                 module_[user].opcode == Opcode::kDynamicSlice && module_[user].operands[0] == id) {
        layout = other->layout;
      } else if (how == FusionRole::kProduct && !fill && module_[user].opcode == Opcode::kDot) {
        const size_t side = module_[user].operands[0] == id ? 0 : 1;
        if (shape_of(id)->rank() >= 2) layout = product_operand_order(user, side, shape_of(id));
      } else if (how == FusionRole::kNone && tuples_.contains(user) && user != module_[computation_].root) {
        const auto at = std::find(module_[user].operands.begin(), module_[user].operands.end(), id);
        const auto index = static_cast<size_t>(at - module_[user].operands.begin());
        if (other->is_tuple() && index < other->elements.size()) layout = other->elements[index]->layout;
      }
      if (!layout) continue;
      set_layout(id, layout);
      return true;
    }
    return false;
  }

  /// Everything that is the loop's tuple gets the orders that the body has chosen for what it carries.
  void give_carried_layouts(ComputationId id, InstructionId loop, const Users& users) {
    const ComputationId condition = module_[loop].find(AttrKey::kCondition)->computations()[0];
    const InstructionId init = module_[loop].operands[0], last = module_[id].root;
    ShapeRef shape = canonical(module_[loop].shape);
    const bool can_change = is_tuple(module_[init]) && is_tuple(module_[last]);
    std::vector<ShapeRef> elements(shape->elements.begin(), shape->elements.end());
    std::vector<uint8_t> chosen(elements.size());
    for (const InstructionId element : users[carried_]) {
      if (!is_carried(element)) continue;
      const auto index = static_cast<size_t>(module_[element].find(AttrKey::kIndex)->integer());
      if (can_change && decided_[element] && !chosen[index])
        elements[index] = shape_of(element), chosen[index] = true;
    }
    for (const InstructionId element : users[carried_])
      if (is_carried(element))
        module_.instructions[element].shape =
            elements[static_cast<size_t>(module_[element].find(AttrKey::kIndex)->integer())];
    shape = module_.shapes().tuple(elements);
    const InstructionId condition_parameter = module_[condition].parameters[0];
    for (const InstructionId tuple : {loop, init, carried_, last, condition_parameter}) {
      if (!can_change && (tuple == init || tuple == last)) continue;
      tuples_[tuple] = shape;
      module_.instructions[tuple].shape = shape;
    }
    for (const InstructionId other : module_[condition].instructions)
      if (module_[other].find(AttrKey::kIndex) && module_[other].operands[0] == condition_parameter)
        module_.instructions[other].shape = border_shape(other);
  }

  /// Dimensions of size 1 come and go, the others keep their order; else what needs least memory.
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
      return compact_layout(module_.shapes(), to, policy_);
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
      elements.push_back(in_order(module_.shapes(), element, layout));
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

  /// Of dots row-major, sizes of 1 last, or with the fastest two the other way round (the operands change
  /// places) if that needs less memory or is that of what they are the gradient of; of convolutions what
  /// needs least memory.
  const Layout* product_order(InstructionId id) {
    const Instruction& instruction = module_[id];
    if (instruction.opcode != Opcode::kDot)
      return compact_layout(module_.shapes(), instruction.shape, policy_);
    Ints order;
    for (int64_t i = instruction.shape->rank() - 1; i >= 0; --i)
      if (instruction.shape->dim(i) != 1) order.push_back(i);
    for (int64_t i = instruction.shape->rank() - 1; i >= 0; --i)
      if (instruction.shape->dim(i) == 1) order.push_back(i);
    const auto batches = static_cast<int64_t>(ints_of(instruction, AttrKey::kLhsBatchDims).size());
    if (order.size() >= 2 && order[0] >= batches && order[1] >= batches) {
      const Ints other = turned(order);
      if (turned_[id] || tiled_bytes(instruction.shape, other) < tiled_bytes(instruction.shape, order))
        order = other;
    }
    return ordered(module_.shapes(), order);
  }

  int64_t tiled_bytes(ShapeRef array, const Ints& order) {
    const ShapeRef in_this_order = module_.shapes().with_layout(array, ordered(module_.shapes(), order));
    return array_size(with_native_tiling(module_.shapes(), in_this_order, policy_)).count();
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
    const InstructionId copy = widens(id) ? widened_copy(id, wanted) : copied(id, wanted);
    copies_.push_back({id, wanted, copy});
    return copy;
  }

  /// A convert to a wider type: its operand moves fewer bytes.
  bool widens(InstructionId id) const {
    if (module_[id].opcode != Opcode::kConvert) return false;
    const ShapeRef from = shape_of(module_[id].operands[0]);
    return element_storage_bits(from) < element_storage_bits(shape_of(id));
  }

  InstructionId widened_copy(InstructionId id, ShapeRef wanted) {
    ShapePool& shapes = module_.shapes();
    const InstructionId narrow = module_[id].operands[0];
    const ShapeRef order = shapes.with_layout(shape_of(narrow), wanted->layout);
    const InstructionId operands[] = {in_layout(narrow, order)};
    const std::vector<Attr> attrs(module_[id].attrs.begin(), module_[id].attrs.end());
    const InstructionId convert =
        editor_.add(computation_, Opcode::kConvert, "convert", wanted, operands, attrs);
    result_.push_back(convert);
    return convert;
  }

  void put(InstructionId id) {
    const FusionRole here = role(id);
    std::vector<InstructionId>& operands = operands_;
    operands.assign(module_[id].operands.begin(), module_[id].operands.end());
    if (here == FusionRole::kNone && module_[id].parameter_number < 0) {
      const bool has_elements = tuples_.contains(id) && is_tuple(module_[id]);
      for (size_t i = 0; i < operands.size(); ++i) {
        if (shape_of(operands[i])->is_tuple()) continue;
        operands[i] = in_layout(operands[i],
                                has_elements ? shape_of(id)->elements[i] : canonical(shape_of(operands[i])));
      }
    } else if (here == FusionRole::kProduct && module_[id].opcode == Opcode::kDot) {
      for (size_t side = 0; side < 2; ++side) {
        const ShapeRef shape = shape_of(operands[side]);
        if (shape->rank() < 2 || is_read_as_it_lies(id, side)) continue;
        const Layout* wanted = product_operand_order(id, side, shape);
        operands[side] = in_layout(operands[side], module_.shapes().with_layout(shape, wanted));
      }
    } else if (here == FusionRole::kElement) {
      for (InstructionId& operand : operands)
        if (shape_of(operand)->layout != shape_of(id)->layout &&
            std::ranges::equal(shape_of(operand)->dimensions, shape_of(id)->dimensions))
          operand = in_layout(operand, module_.shapes().with_layout(shape_of(operand), shape_of(id)->layout));
    }
    if (!std::ranges::equal(operands, module_[id].operands)) editor_.set_operands(id, operands);
    result_.push_back(id);
  }

  /// A cache whose copy would have no room on the chip: to HBM and back is further than any product has to go
  /// for what lies apart. And weights that a product goes through once, whatever their size.
  bool is_read_as_it_lies(InstructionId dot, size_t side) {
    InstructionId id = module_[dot].operands[side];
    const int64_t bytes = tiled_bytes(id);
    while (role(id) == FusionRole::kReindex || module_[id].opcode == Opcode::kDynamicSlice)
      id = module_[id].operands[0];
    constexpr AttrKey kBatch[] = {AttrKey::kLhsBatchDims, AttrKey::kRhsBatchDims};
    return (module_[id].opcode == Opcode::kDynamicUpdateSlice && !room_.copies.holds(bytes)) ||
           (is_weight(id) && ints_of(module_[dot], kBatch[side]).empty() &&
            is_read_once(tiled_bytes(module_[dot].operands[1 - side]), tiled_bytes(dot), room_.vmem));
  }
  int64_t tiled_bytes(InstructionId id) {
    return total_array_size(with_native_tiling(module_.shapes(), shape_of(id), policy_)).count();
  }

  /// What comes into the program, or a loop that hands it on as it is.
  bool is_weight(InstructionId id) const {
    if (module_[id].parameter_number >= 0) return computation_ == module_.entry;
    if (!is_carried(id)) return false;
    const Instruction& last = module_[module_[computation_].root];
    const auto index = static_cast<size_t>(module_[id].find(AttrKey::kIndex)->integer());
    return is_tuple(last) && last.operands[index] == id;
  }

  /// The contracting and the free dimension fastest, in the order that they have; batches slowest.
  const Layout* product_operand_order(InstructionId dot, size_t side, ShapeRef shape) {
    constexpr AttrKey kBatch[] = {AttrKey::kLhsBatchDims, AttrKey::kRhsBatchDims};
    constexpr AttrKey kContracting[] = {AttrKey::kLhsContractingDims, AttrKey::kRhsContractingDims};
    const std::span<const int64_t> batch = ints_of(module_[dot], kBatch[side]);
    const std::span<const int64_t> contracting = ints_of(module_[dot], kContracting[side]);
    const std::span<const int64_t> now = shape->layout->minor_to_major;
    const auto is_batch = [&](int64_t i) { return contains(batch, i) || shape->dim(i) == 1; };
    Ints order(now.begin(), now.end());
    std::stable_partition(order.begin(), order.end(), [&](int64_t i) { return !is_batch(i); });
    // The second fastest is free where the fastest is contracted, and the other way round.
    const auto other = std::find_if(order.begin() + 1, order.end(), [&](int64_t i) {
      return !is_batch(i) && contains(contracting, i) != contains(contracting, order[0]);
    });
    if (other != order.end()) std::rotate(order.begin() + 1, other, other + 1);
    return ordered(module_.shapes(), order);
  }

  InstructionId copied(InstructionId id, ShapeRef shape) {
    const InstructionId operands[] = {id};
    const InstructionId copy = editor_.add(computation_, Opcode::kCopy, "copy", shape, operands);
    result_.push_back(copy);
    return copy;
  }

  struct Ordered {
    ShapeRef from = nullptr;
    const Layout* layout = nullptr;
    ShapeRef to = nullptr;
  };
  struct Copy {
    InstructionId from;
    ShapeRef shape;
    InstructionId copy;
  };

  ModuleEditor& editor_;
  Module& module_;
  const OpTable& table_;
  const TilingPolicy& policy_;
  const ArrayRoom room_;
  const StraightLayouts straight_;
  ComputationId computation_;
  InstructionId carried_;                     // the parameter of a loop's body
  std::map<InstructionId, ShapeRef> tuples_;  // of loops: what they carry
  IdMap<InstructionId, uint8_t> decided_;
  IdMap<InstructionId, uint8_t> turned_;  // copies of arguments in the other order, and their gradients
  std::vector<InstructionId> result_;
  std::vector<InstructionId> operands_;  // of put()
  std::vector<Copy> copies_;
  std::unordered_map<ShapeRef, ShapeRef> canonical_;
  Ordered last_;  // of set_layout()
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

void assign_layouts(ModuleEditor& editor, const OpTable& table, const TilingPolicy& policy,
                    const ArrayRoom& room) {
  Module& module = editor.module();
  Assigner assigner(editor, table, policy, room);
  const std::vector<FlowComputation> flows = flow_computations(module, table);
  for (Computation& computation : module.computations)
    for (const InstructionId id : computation.instructions)
      module.instructions[id].shape = assigner.canonical(module[id].shape);
  // Bodies before their loops: what they carry follows what they do with it.
  IdMap<ComputationId, InstructionId> loop_of(module.computations.size());
  const IdMap<ComputationId, int32_t> callers = caller_counts(module);
  const auto alone = [&](InstructionId id, AttrKey key) {
    return callers[module[id].find(key)->computations()[0]] == 1;
  };
  for (const FlowComputation& flow : flows)
    for (const InstructionId id : module[flow.id].instructions)
      if (module[id].find(AttrKey::kCondition) && module[id].find(AttrKey::kBody) &&
          module[id].shape->is_tuple() && alone(id, AttrKey::kBody) && alone(id, AttrKey::kCondition))
        loop_of[module[id].find(AttrKey::kBody)->computations()[0]] = id;
  for (size_t i = flows.size(); i-- > 0;)
    if (!flows[i].is_condition) assigner.run(flows[i].id, loop_of[flows[i].id]);
}

}  // namespace hlosim
