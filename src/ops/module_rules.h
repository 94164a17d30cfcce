// Rules that take the view of a whole module: async chains, channels, buffers.
#pragma once

#include "base/source.h"
#include "hlo/module.h"
#include "hlo/op_def.h"

namespace hlosim {

/// Adds what breaks the rules below to `diagnostics`; true when nothing does. Requires: verify() found
/// no fault, so shapes and calls can be relied on.
///
/// Async chains (async_chains.cc)
///   every start of a generic pair is ended by a done, and by one only;
///   every update and done goes back to a start, and names its computation where it names one;
///   copy-start, all-gather-start, all-reduce-start and collective-permute-start are used by their
///   own done alone, and a done ends its own kind of start.
/// Channels: host transfers that share a channel move the same shape; what shares a channel is of one
///   opcode, or all of it sends and receives.
/// All-reduces: with a constrained layout all or none (XLA's rule for its layout assignment).
/// Buffers (buffer_rules.cc)
///   Pin, Unpin and the like alias their buffer; a buffer operand of a custom call comes out again;
///   a buffer value is written at most once.
bool check_module_rules(Module& module, const OpTable& table, DiagnosticList& diagnostics);

void check_async_chains(Module& module, const OpTable& table, DiagnosticList& diagnostics);
void check_channels(Module& module, const OpTable& table, DiagnosticList& diagnostics);
void check_constrained_layouts(Module& module, const OpTable& table, DiagnosticList& diagnostics);
void check_buffers(Module& module, const OpTable& table, DiagnosticList& diagnostics);

}  // namespace hlosim
