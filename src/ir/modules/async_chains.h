// Chains of asynchronous operations: a start, updates, one done, possibly with tuples, copies, barriers
// and the state of loops between them.
#pragma once

#include <optional>

#include "hlo/user_index.h"

namespace hlosim {

/// The nearest instruction that began or updated what `value` stands for: `value` itself or one found
/// backwards through get-tuple-element, tuple, opt-barrier, copy, annotating custom calls and the state of
/// while loops. Null: none is found.
const Instruction* async_producer(const Module& module, const UserIndex& users, InstructionId value);

/// The computation that an async-start, -update or -done wraps: its own `calls`, else that of its chain's
/// start. Empty optional: the chain has no start.
std::optional<ComputationId> async_wrapped_computation(const Module& module, const UserIndex& users,
                                                       const Instruction& instruction);

/// Adds what breaks the rules of chains: parts used elsewhere, starts without or with several dones,
/// operands that are not bound, parts of different computations, transfers used more than once.
void check_async_chains(const Module& module, const UserIndex& users, DiagnosticList& diagnostics);

}  // namespace hlosim
