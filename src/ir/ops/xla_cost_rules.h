// The rules of XLA's HloCostAnalysis, one function per kind of opcode; rows of the opcode table name
// theirs. Each starts from the default (no flops, bytes of all operands and the result) and says only
// what differs.
#pragma once

#include "ops/xla_cost.h"

namespace hlosim {

using XlaCostRule = void(const OpContext&, const XlaCostContext&, XlaCost&);

// ── elementwise ─────────────────────────────────────────────────
XlaCostRule xla_cost_flop_per_element;
XlaCostRule xla_cost_transcendental_per_element;

// ── no traffic ──────────────────────────────────────────────────
/// Nothing at all: parameter, constant, get-tuple-element, bitcast, after-all, add-dependency, domain.
XlaCostRule xla_cost_nothing;
/// The table of pointers.
XlaCostRule xla_cost_tuple;

// ── data movement ───────────────────────────────────────────────
XlaCostRule xla_cost_slice;
XlaCostRule xla_cost_dynamic_slice;
XlaCostRule xla_cost_dynamic_update_slice;
/// Nothing when the layouts make it a change of names only.
XlaCostRule xla_cost_transpose;
XlaCostRule xla_cost_gather;
XlaCostRule xla_cost_scatter;

// ── contraction and linear algebra ──────────────────────────────
XlaCostRule xla_cost_dot;
XlaCostRule xla_cost_ragged_dot;
XlaCostRule xla_cost_convolution;
XlaCostRule xla_cost_fft;
XlaCostRule xla_cost_triangular_solve;
XlaCostRule xla_cost_cholesky;

// ── computations applied over elements ──────────────────────────
XlaCostRule xla_cost_map;
XlaCostRule xla_cost_reduce;
XlaCostRule xla_cost_reduce_window;
XlaCostRule xla_cost_select_and_scatter;
XlaCostRule xla_cost_sort;
XlaCostRule xla_cost_scan;

// ── control flow ────────────────────────────────────────────────
/// call and async-start: the called computation, nothing else.
XlaCostRule xla_cost_call;
XlaCostRule xla_cost_while;
XlaCostRule xla_cost_conditional;
XlaCostRule xla_cost_fusion;
/// -1 for flops and bytes: unknown.
XlaCostRule xla_cost_custom_call;

// ── the rest ────────────────────────────────────────────────────
/// all-reduce and all-reduce-start: one flop per element, as if there were two replicas.
XlaCostRule xla_cost_all_reduce;
XlaCostRule xla_cost_rng;
XlaCostRule xla_cost_infeed;
XlaCostRule xla_cost_outfeed;

}  // namespace hlosim
