// One instruction that is being partitioned, as its rule sees it, and what rules are made with.
//
//   std::optional<SpmdValues> transposed(Rules& rules, const RuleCall& call);   // nullopt: not by this rule
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "loop_factors/factors.h"
#include "partition/resharder.h"

namespace hlosim {

using SpmdValues = std::vector<SpmdValue>;  // leaf by leaf

struct RuleCall {
  OpContext op;                               // of the original
  SpmdValues operands;                        // leaves of all operands
  std::vector<ShapeRef> results;              // leaves, of the whole
  std::vector<std::optional<Tiling>> wanted;  // of the results; nullopt: any
  AxisSet manual = 0;                         // of operands and results
};

/// What rules work with.
struct Rules {
  Emitter& emit;
  Resharder& reshard;
  const DeviceAxes& axes;
  const PartitionOptions& options;
};

/// A tiling without cuts.
inline Tiling whole(const RuleCall& call, ShapeRef shape) {
  Tiling tiling(shape->is_array() ? shape->rank() : 0);
  tiling.manual = call.manual;
  return tiling;
}

/// The original with operands of one device: results have these tilings. Sizes in attributes follow.
SpmdValues emit_local(Rules& rules, const RuleCall& call, std::span<const InstructionId> leaves,
                      std::span<const Tiling> results, std::span<const Attr> changed = {});

// ── which axes walk along which factor ──────────────────────────

enum class FactorUse : uint8_t {
  kLocal,    // each device walks through its part of it
  kPartial,  // and what comes out are summands
  kWhole,    // every device walks through all of it
};

/// The axes of each factor, and what follows for operands and results.
struct FactorAxes {
  std::vector<AxisList> factors;
  std::vector<Tiling> operands, results;  // needed, made
  int64_t bytes = 0;                      // that resharding to and from these sends
};

/// What decides before the bytes do: nothing, or axes that an operand and a result have along one factor.
enum class Prefer : uint8_t { kCheapest, kAgreed };

/// The cheapest of those that the operands' and the results' tilings suggest.
FactorAxes choose_axes(Rules& rules, const RuleCall& call, const Factors& factors,
                       std::span<const FactorUse> uses, PartialKind partial = PartialKind::kSum,
                       Prefer prefer = Prefer::kCheapest);

/// As the kinds of the factors say: along locally, sums partially.
std::vector<FactorUse> plain_uses(const Factors& factors);

/// Operands as `axes` needs them.
SpmdValues resharded(Rules& rules, const RuleCall& call, const FactorAxes& axes);

// ── the rules; tables in rules.cc say which opcode has which ────

using PartitionRule = std::optional<SpmdValues> (*)(Rules&, const RuleCall&);
PartitionRule rule_of(const OpContext& op);

// by_factors.cc
std::optional<SpmdValues> by_factors(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> product_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> forwarded_rule(Rules& rules, const RuleCall& call);
/// Along its features; along the rest too, if nothing is summed.
std::optional<SpmdValues> batch_norm_rule(Rules& rules, const RuleCall& call);
/// Every device does all of it.
SpmdValues replicated_rule(Rules& rules, const RuleCall& call);
// reduce_rule.cc
std::optional<SpmdValues> reduce_rule(Rules& rules, const RuleCall& call);
std::optional<PartialKind> partial_kind_of(const OpContext& op, ComputationId reducer);
/// Do reductions of several arrays, which compare the first, start from constants that nothing is beyond?
bool starts_are_neutral(const RuleCall& call);
// parts_rules.cc
std::optional<SpmdValues> slice_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> shifted_slices_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> pad_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> concatenate_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> reverse_rule(Rules& rules, const RuleCall& call);
// dynamic_rules.cc
std::optional<SpmdValues> dynamic_slice_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> dynamic_update_rule(Rules& rules, const RuleCall& call);
// indexing_rules.cc
std::optional<SpmdValues> gather_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> scatter_rule(Rules& rules, const RuleCall& call);
// window_rules.cc
std::optional<SpmdValues> reduce_window_rule(Rules& rules, const RuleCall& call);
// convolution_rule.cc
std::optional<SpmdValues> convolution_rule(Rules& rules, const RuleCall& call);
// select_and_scatter_rule.cc
std::optional<SpmdValues> select_and_scatter_rule(Rules& rules, const RuleCall& call);
// source_rules.cc
std::optional<SpmdValues> iota_rule(Rules& rules, const RuleCall& call);
std::optional<SpmdValues> source_rule(Rules& rules, const RuleCall& call);
// call_rules.cc
std::optional<SpmdValues> custom_call_rule(Rules& rules, const RuleCall& call);

}  // namespace hlosim
