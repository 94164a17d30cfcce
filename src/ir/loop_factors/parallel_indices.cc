#include "loop_factors/parallel_indices.h"

#include <algorithm>

#include "ops/custom_calls/custom_call_targets.h"

namespace hlosim {
namespace {

/// So far instructions are looked through.
constexpr int kMostSteps = 16;

/// Which dimension of an array its elements count: element (i, j, …) is i, or j; -1: none that is known.
class CountedDimension {
 public:
  explicit CountedDimension(const OpContext& op) : op_(op) {}

  /// Of component `component` along dimension `along`, which may be behind the last one.
  int64_t of_component(const Instruction& indices, int64_t along, int64_t component) const {
    const Instruction* part = &indices;
    while (along < part->shape->rank() && part->shape->dim(along) > 1) {
      if (rule(*part) != DimensionRule::kConcatenate || dimensions(*part)[0] != along) return -1;
      int64_t before = 0;
      size_t i = 0;
      while (component >= before + operand(*part, i).shape->dim(along))
        before += operand(*part, i++).shape->dim(along);
      component -= before;
      part = &operand(*part, i);
    }
    const int64_t counted = of(*part, 0);
    return counted == along ? -1 : counted;
  }

 private:
  int64_t of(const Instruction& instruction, int steps) const {
    if (steps == kMostSteps) return -1;
    if (const Attr* along = instruction.find(AttrKey::kIotaDimension))
      return holds(instruction.shape, along->integer()) ? along->integer() : -1;
    if (instruction.operands.size() != 1 || !instruction.shape->is_array()) return -1;
    const OpDef& def = op_.table()[instruction.opcode];
    const bool is_same = def.rules.identity == Identity::kKeepsUnits ||
                         def.rules.value == ValueRule::kShallowCopy ||
                         def.rules.dimensions == DimensionRule::kReshape ||
                         custom_call_evaluation(op_.of(instruction)) == EvaluationKind::kIdentityCall;
    if (!is_same) return -1;
    const int64_t counted = of(operand(instruction, 0), steps + 1);
    if (counted < 0) return -1;
    const int64_t now = moved(instruction, counted);
    return now >= 0 && holds(instruction.shape, now) ? now : -1;
  }

  /// Where dimension `i` of the operand is in the result; -1: nowhere as such.
  int64_t moved(const Instruction& instruction, int64_t i) const {
    const ShapeRef from = operand(instruction, 0).shape, to = instruction.shape;
    const auto listed = dimensions(instruction);
    switch (rule(instruction)) {
      case DimensionRule::kBroadcast:
        return listed[static_cast<size_t>(i)];
      case DimensionRule::kTranspose:
        return std::find(listed.begin(), listed.end(), i) - listed.begin();
      case DimensionRule::kReshape:
        return moved_by_reshape(from, to, i);
      default:
        return std::ranges::equal(from->dimensions, to->dimensions) ? i : -1;
    }
  }

  static int64_t moved_by_reshape(ShapeRef from, ShapeRef to, int64_t i) {
    int64_t before = 1, reached = 1;
    for (int64_t k = 0; k < i; ++k) before *= from->dim(k);
    for (int64_t k = 0; k < to->rank(); ++k) {
      if (reached == before && to->dim(k) == from->dim(i)) return k;
      reached *= to->dim(k);
    }
    return -1;
  }

  /// Are all its indices numbers of that type?
  static bool holds(ShapeRef shape, int64_t along) {
    const ElementType type = shape->element_type;
    if (!is_integer(type)) return false;
    const int bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
    return bits >= 31 || shape->dim(along) <= int64_t{1} << bits;
  }

  DimensionRule rule(const Instruction& instruction) const {
    return op_.table()[instruction.opcode].rules.dimensions;
  }
  const Instruction& operand(const Instruction& instruction, size_t i) const {
    return op_.module()[instruction.operands[i]];
  }
  static std::span<const int64_t> dimensions(const Instruction& instruction) {
    const Attr* attr = instruction.find(AttrKey::kDimensions);
    return attr ? attr->ints() : std::span<const int64_t>();
  }

  const OpContext& op_;
};

}  // namespace

std::vector<ParallelIndex> parallel_indices(const OpContext& op, int64_t indices,
                                            std::span<const int64_t> map) {
  const CountedDimension counted(op);
  const ShapeRef array = op.operand_shape(0), shape = op.operand_shape(indices);
  std::vector<ParallelIndex> found;
  for (size_t c = 0; c < map.size(); ++c) {
    const auto component = static_cast<int64_t>(c);
    const int64_t dimension =
        counted.of_component(op.operand(indices), op.integer(AttrKey::kIndexVectorDim), component);
    if (dimension < 0 || shape->dim(dimension) != array->dim(map[c])) continue;
    const bool taken = std::any_of(found.begin(), found.end(),
                                   [&](const ParallelIndex& one) { return one.indices == dimension; });
    if (!taken) found.push_back({component, map[c], dimension});
  }
  return found;
}

}  // namespace hlosim
