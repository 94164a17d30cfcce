// Running the executor on the evaluator's values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hlo/module.h"
#include "oracle/evaluator.h"
#include "oracle/value.h"

namespace hlosim::test {

/// Leaves of the executor's result; or why there are none.
struct Outputs {
  std::vector<ValuePtr> leaves;
  std::string error;
};

/// `traced`: with traced_options() (support/execution.h).
Outputs execute(Module& module, std::span<const ValuePtr> inputs, bool traced = false);

/// The second of two runs of one program on inputs that the caller keeps; an error when they change.
Outputs execute_again(Module& module, std::span<const ValuePtr> inputs);

/// The arrays of a value in order.
void append_leaves(const ValuePtr& value, std::vector<ValuePtr>& leaves);

bool same_bits(const Outputs& a, const Outputs& b);

}  // namespace hlosim::test
