// Comparisons of sort that compare one key of each side.
//
//   const auto order = sort_comparator_pattern(op);  // of compare(a, b), direction=LT
//   order->operand, order->order.descending          // 0, false
#pragma once

#include <memory>
#include <optional>

#include "algorithms/sort_keys.h"
#include "elementwise/element_program.h"
#include "evaluate/evaluate.h"

namespace hlosim {

/// compare(f(a), f(b)) with LT or GT, where a and b are the two elements of one operand.
struct RecognisedOrder {
  size_t operand = 0;
  std::shared_ptr<const ElementProgram> key;  // f; null: the element itself
  KeyOrder order;                             // of the keys
};

std::optional<RecognisedOrder> sort_comparator_pattern(const OpContext& op);

}  // namespace hlosim
