// Clusters: what runs as one pass over memory.
//
// A graph's nodes are single operations. Run one after another, each would read and write whole arrays;
// memory is what they would wait for. So elementwise operations that depend on each other become one node,
// run block by block with everything between its loads and its stores in the L1 cache:
//
//     a ──────────┐                                          block of 256 … 1024 elements
//     b ─reshape─┐│                                     ┌─────────────────────────────────────┐
//     s ─bcast──┐││                                 a ──┤ dense: pointer into a               │
//               ▼▼▼                                 b ──┤ reshaped: pointer into b            │
//         m = a · b                                 s ──┤ broadcast: one value, spread once   │
//         n = m + s        ─── one cluster ───►         │ r1 = in0·in1; out0 = r1+in2;        ├── n
//         o = tanh(n)                                   │ r1 = tanh(out0); out1 = r1·in1      ├── p
//         p = o · b                                     └─────────────────────────────────────┘
//       results: n, p                                   m and o never are in memory
//
// * Space. All that counts for an elementwise operation is how many elements there are, in row-major order;
//   a reshape that moves nothing is no obstacle (exec/cluster_views.h).
// * Loads. Operands that come through broadcasts, slices, transposes … are read through the composed view
//   of the memory behind them; nothing is copied first (exec/cluster_load.h).
// * Rows. A reduce of the minor dimensions joins what it reads and what reads it again: softmax and layer
//   norm take each row through all of it while it is in the cache (exec/cluster_rows.h).
// * Which operations join (exec/cluster_groups.h) follows from levels: an edge inside a cluster keeps the
//   level, every way out of one raises it, so no cluster can wait for itself. Everything else stays in its
//   old order.
// * Each operation rounds as it would alone. Clusters change no bit of any result, but maybe the sign of
//   a NaN.
// * Clusters never raise the bytes alive at once: one that would is taken apart again.
#pragma once

#include "exec/step_graph.h"

namespace hlosim {

/// Replaces groups of nodes of `graph` by one node with an evaluation each. Values that no node makes any
/// more stay in the list. Requires: evaluations of nodes that could join are not made yet.
void make_clusters(ComputationGraph& graph, Module& module, const OpTable& table, ProgramServices& services);

}  // namespace hlosim
