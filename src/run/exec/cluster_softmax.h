// Softmax of rows among the steps of a cluster.
//
//   fold max of x | wide exp(x - max) | fold sum of that | wide quotient
//   → one step of cpu_kernels/softmax.h
#pragma once

#include <optional>

#include "exec/cluster_rows.h"

namespace hlosim {

/// Joins the first four steps that are one, if nothing else needs what they have in between, and returns the
/// number of the step that they became. Requires: every buffer of the pass is one value's.
std::optional<size_t> join_softmax(RowPass& pass);

}  // namespace hlosim
