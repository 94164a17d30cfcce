#include "memory/value_makers.h"

namespace hlosim {
namespace {

/// The element of the outermost table that `part` lies in; -1: the table itself.
int64_t outer_element(const ShapeParts& shape, int32_t part) {
  const auto& parts = shape.parts;
  int64_t element = -1;
  for (int32_t at = part; parts[static_cast<size_t>(at)].parent >= 0;
       at = parts[static_cast<size_t>(at)].parent)
    element = parts[static_cast<size_t>(at)].element;
  return element;
}

}  // namespace

bool makes_value(const ModuleGraph& graph, const Places& places, InstructionId id, int32_t part) {
  const ShapeParts& shape = places.parts(id);
  const bool is_table = shape.parts[static_cast<size_t>(part)].shape->is_tuple();
  const ValueRule rule = dataflow(graph.module()[id].opcode).value;
  switch (rule) {
    case ValueRule::kMakesAll:
      return true;
    case ValueRule::kParameter:
      return graph.context(graph.module()[id].parent) != CallRule::kControlFlow;
    case ValueRule::kTuple:
    case ValueRule::kShallowCopy:
      return part == 0;
    case ValueRule::kForwards:
    case ValueRule::kElement:
    case ValueRule::kLoop:
    case ValueRule::kConditional:
    case ValueRule::kCall:
    case ValueRule::kCopyDone:
      return false;
    case ValueRule::kCopyStart:
      return outer_element(shape, part) != 1;
    case ValueRule::kAsyncStart:
    case ValueRule::kAsyncUpdate:
      return is_table || outer_element(shape, part) > 1;
    case ValueRule::kAsyncDone:
      return is_table;
    case ValueRule::kAllGatherStart:
      return is_table || outer_element(shape, part) == 1;
    case ValueRule::kAllGatherDone:
    case ValueRule::kPermuteDone:
      return part == 0 && is_table;
    case ValueRule::kPermuteStart:
      return outer_element(shape, part) != 0;
    case ValueRule::kSend:
    case ValueRule::kRecvDone:
      return outer_element(shape, part) != 0;
  }
  return true;
}

}  // namespace hlosim
