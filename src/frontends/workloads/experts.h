// Experts of a layer: which tokens each is given, and how their products run.
//
//   const Routing routing = route(scope, x);
//   const Expr out = sorted_experts(scope, x, routing);            // [batch, length, d_model]
#pragma once

#include "workloads/layer.h"

namespace hlosim {

struct Routing {
  Expr experts;  // s32[b, l, k]
  Expr weights;  // [b, l, k]
  Expr choice;   // one-hot [b, l, k, experts]
};
Routing route(const LayerScope& scope, Expr x);

/// Nothing dropped: rows sorted by expert, grouped products, in a region of one device's tokens.
Expr sorted_experts(const LayerScope& scope, Expr x, const Routing& routing);
/// Slots for each expert and sequence; tokens beyond them are dropped. One-hot products carry tokens there
/// and back.
Expr slotted_experts(const LayerScope& scope, Expr x, const Routing& routing);

/// a x b in groups of rows, in f8 where the options say so. `narrow_b`: b in e4m3, where it is there already;
/// b is
/// then what its gradient goes to.
Expr grouped_product(const LayerScope& scope, Expr a, Expr b, RowGroups groups,
                     std::optional<Expr> narrow_b = {});
/// Weights in e4m3, as grouped_product() takes them.
Expr narrowed_weights(ExpressionGraph& graph, Expr weights);
/// Rows times weights [experts, in, out] as they are stored, before their scales: the kernel widens tiles on
/// the chip. The result has the type of the rows.
Expr stored_grouped_product(const LayerScope& scope, Expr rows, Expr weights, RowGroups groups);

}  // namespace hlosim
