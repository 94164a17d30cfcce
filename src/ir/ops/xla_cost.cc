#include "ops/xla_cost.h"

#include <algorithm>

#include "hlo/graph.h"

namespace hlosim {

int64_t xla_byte_size(ShapeRef shape) {
  constexpr int64_t kPointerBytes = 8;
  switch (shape->kind) {
    case ShapeKind::kTuple:
      return kPointerBytes * static_cast<int64_t>(shape->elements.size());
    case ShapeKind::kOpaque:
      return kPointerBytes;
    case ShapeKind::kToken:
      return 0;
    case ShapeKind::kBuffer:
      return xla_byte_size(shape->elements[0]);
    case ShapeKind::kArray:
      break;
  }
  const uint64_t elements = static_cast<uint64_t>(shape->element_count());
  if (shape->layout && shape->layout->element_bits != 0)
    return static_cast<int64_t>((elements * static_cast<uint64_t>(shape->layout->element_bits) + 7) / 8);
  return static_cast<int64_t>(elements * static_cast<uint64_t>(byte_width(shape->element_type)));
}

int64_t xla_leaf_bytes(ShapeRef shape) {
  uint64_t bytes = 0;
  for_each_leaf(shape, [&](ShapeRef leaf) { bytes += static_cast<uint64_t>(xla_byte_size(leaf)); });
  return static_cast<int64_t>(bytes);
}

namespace {

/// A constant counts by the width of its type, whatever its layout says: XLA's literals are unpacked.
int64_t value_bytes(const Instruction& instruction) {
  const ShapeRef shape = instruction.shape;
  if (instruction.opcode != Opcode::kConstant || !shape->is_array()) return xla_byte_size(shape);
  return static_cast<int64_t>(static_cast<uint64_t>(shape->element_count()) *
                              static_cast<uint64_t>(byte_width(shape->element_type)));
}

}  // namespace

XlaCostContext::XlaCostContext(Module& module, const OpTable& table)
    : module_(module),
      table_(table),
      instructions_(module.instructions.size()),
      computations_(module.computations.size()),
      users_(module),
      visited_(module.instructions.size()),
      bytes_read_(module.instructions.size()) {
  IdMap<ComputationId, uint8_t> is_fused(module.computations.size());
  for (const Instruction& instruction : module.instructions)
    if (table[instruction.opcode].has(kFusion))
      for_each_called(instruction, [&](ComputationId called) { is_fused[called] = 1; });
  for (const ComputationId id : callees_first(module)) {
    if (is_fused[id]) measure_reads(id);
    visit(id);
  }
}

// Unused instructions in text order, each after what it needs; then the root likewise.
std::vector<InstructionId> XlaCostContext::visit_order(ComputationId id) {
  const Computation& computation = module_[id];
  std::vector<InstructionId> order, stack;
  order.reserve(computation.instructions.size());
  enum : uint8_t { kNew, kOpen, kDone };
  const auto walk = [&](InstructionId from) {
    stack.push_back(from);
    while (!stack.empty()) {
      const InstructionId current = stack.back();
      uint8_t& state = visited_[current];
      if (state != kNew) {
        stack.pop_back();
        if (state == kOpen) order.push_back(current);
        state = kDone;
        continue;
      }
      state = kOpen;
      const size_t base = stack.size();
      const auto push = [&](InstructionId child) {
        if (visited_[child] == kNew) stack.push_back(child);
      };
      for (const InstructionId operand : module_[current].operands) push(operand);
      if (const Attr* control = module_[current].find(AttrKey::kControlPredecessors))
        for (const InstructionId before : control->instructions()) push(before);
      std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(base), stack.end());
    }
  };
  for (const InstructionId i : computation.instructions)
    if (users_.users(i).empty() && !users_.has_control_successor(i) && i != computation.root) walk(i);
  walk(computation.root);
  return order;
}

void XlaCostContext::visit(ComputationId id) {
  XlaCost sum;
  for (const InstructionId i : visit_order(id)) {
    const Instruction& instruction = module_[i];
    XlaCost& cost = instructions_[i];
    cost.output_bytes = static_cast<float>(xla_leaf_bytes(instruction.shape));
    cost.bytes_accessed = cost.output_bytes;
    cost.operand_bytes.reserve(instruction.operands.size());
    for (const InstructionId operand : instruction.operands) {
      cost.operand_bytes.push_back(static_cast<float>(value_bytes(module_[operand])));
      cost.bytes_accessed += cost.operand_bytes.back();
    }
    const OpDef& def = table_[instruction.opcode];
    if (def.xla_cost) def.xla_cost(OpContext(module_, instruction, table_, nullptr), *this, cost);
    sum.flops += cost.flops;
    sum.transcendentals += cost.transcendentals;
    sum.bytes_accessed += cost.bytes_accessed;
  }
  computations_[id] = std::move(sum);
}

int64_t XlaCostContext::fusion_operand_bytes(ComputationId fused, size_t parameter) const {
  const std::vector<InstructionId>& parameters = module_[fused].parameters;
  if (parameter >= parameters.size()) return 0;  // an operand that the body doesn't take
  const InstructionId id = parameters[parameter];
  const ShapeRef shape = module_[id].shape;
  return shape->is_tuple() ? tuple_bytes_read(id, shape) : bytes_read_[id];
}

void XlaCostContext::measure_reads(ComputationId fused) {
  for (const InstructionId i : module_[fused].instructions) {
    const Opcode opcode = module_[i].opcode;
    if (opcode == Opcode::kParameter || opcode == Opcode::kGetTupleElement) bytes_read_[i] = bytes_read(i);
  }
}

// Every leaf of a tuple parameter is read as the get-tuple-element that takes it apart is; where there
// is none, as the innermost tuple that one leads to.
int64_t XlaCostContext::tuple_bytes_read(InstructionId value, ShapeRef shape) const {
  if (!shape->is_tuple()) return bytes_read_[value];
  int64_t bytes = 0;
  for (size_t index = 0; index < shape->elements.size(); ++index) {
    InstructionId element = value;
    for (const InstructionId user : users_.users(value)) {
      const Instruction& gte = module_[user];
      if (gte.opcode != Opcode::kGetTupleElement) continue;
      if (gte.find(AttrKey::kIndex)->integer() != static_cast<int64_t>(index)) continue;
      element = user;
      break;
    }
    bytes += tuple_bytes_read(element, shape->elements[index]);
  }
  return bytes;
}

int64_t XlaCostContext::bytes_read(InstructionId value) const {
  const int64_t whole = xla_byte_size(module_[value].shape);
  int64_t bytes = 0;
  bool shared_read = false;
  for (const InstructionId id : users_.users(value)) {
    const Instruction& user = module_[id];
    switch (user.opcode) {
      case Opcode::kFusion:
        bytes += bytes_read_by_fusion(value, id);
        break;
      case Opcode::kSlice:
        bytes += xla_byte_size(user.shape);
        break;
      case Opcode::kBroadcast:
      case Opcode::kReshape:
        bytes += whole;
        break;
      case Opcode::kDynamicSlice:
        if (user.operands[0] == value)
          bytes += xla_byte_size(user.shape);
        else
          shared_read = true;
        break;
      case Opcode::kDynamicUpdateSlice:
        shared_read |= user.operands[0] != value;
        break;
      default:
        shared_read = true;
    }
  }
  return shared_read ? bytes + whole : bytes;
}

// A fusion inside a fusion: where its root is fed by the parameter directly, slices of its result
// decide what is read; any other user makes it read what its body reads, once.
int64_t XlaCostContext::bytes_read_by_fusion(InstructionId value, InstructionId fusion_id) const {
  const Instruction& fusion = module_[fusion_id];
  const Computation& body = module_[fusion.find(AttrKey::kCalls)->computations()[0]];
  const Instruction& root = module_[body.root];
  const int64_t result_bytes = xla_byte_size(fusion.shape);
  int64_t bytes = 0;
  for (size_t i = 0; i < body.parameters.size(); ++i) {
    if (fusion.operands[i] != value) continue;
    const InstructionId parameter = body.parameters[i];
    const bool direct = root.operands.empty() || root.operands[0] == parameter;
    bool shared_read = false;
    const auto read_once = [&](int64_t amount) {
      if (!shared_read) bytes += amount;
      shared_read = true;
    };
    for (const InstructionId id : users_.users(fusion_id)) {
      const Instruction& user = module_[id];
      const bool sliced = !user.operands.empty() && user.operands[0] == fusion_id;
      if (direct && user.opcode == Opcode::kSlice)
        bytes += xla_byte_size(user.shape);
      else if (direct && user.opcode == Opcode::kDynamicSlice && sliced)
        bytes += xla_byte_size(user.shape);
      else if (direct && user.opcode == Opcode::kDynamicSlice)
        read_once(result_bytes);
      else if (direct && user.opcode == Opcode::kDynamicUpdateSlice && sliced)
        continue;
      else if (direct && user.opcode == Opcode::kDynamicUpdateSlice)
        read_once(result_bytes);
      else
        read_once(bytes_read_[parameter]);
    }
  }
  return bytes;
}

}  // namespace hlosim
