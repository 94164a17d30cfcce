// How operations are written that go on while others run: which start and done an opcode has, and which of
// them compete for the same thing.
//
//   async_form(Opcode::kAllReduce)->start          // Opcode::kAllReduceStart
//   async_form(Opcode::kAdd)                       // nullopt: no synchronous collective
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// A collective as a start and a done.
struct AsyncForm {
  Opcode start{}, done{};
  bool wraps = false;  // async-start around a computation that holds the operation
};

/// Null for what isn't a synchronous collective.
std::optional<AsyncForm> async_form(Opcode opcode);

/// The done of a start with an opcode of its own, and the start of such a done. Null for everything else.
std::optional<Opcode> async_partner(Opcode opcode);

/// What a start does while others run: the collective, copy, or call of what it wraps. Null for sends,
/// receives, and what is no start.
std::optional<Opcode> synchronous_form(Opcode start);

/// Starts and updates: what they give is taken by one instruction, and may not be spread among several.
bool is_in_flight(Opcode opcode);

/// The shape of the start: results alone, (operands, results) or ((operands), results).
/// Requires: a verified collective that async_form() knows.
ShapeRef async_start_shape(Module& module, const Instruction& collective);

/// "all-gather", "copy", "computation", "send/recv", …
std::string_view to_text(AsyncKind kind);

/// Of an asynchronous start; kNone for everything else.
AsyncKind async_kind(const Module& module, const OpTable& table, const Instruction& start);

}  // namespace hlosim
