// Matrix products over named dimensions: dot and its ragged and scaled variants.
#include <algorithm>
#include <cmath>

#include "base/rounding.h"
#include "base/saturating.h"
#include "hlo/op_def.h"
#include "ops/infer.h"
#include "ops/matmul_work.h"
#include "ops/op_table.h"
#include "ops/ragged_notes.h"
#include "ops/reducer.h"
#include "ops/require.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// The roles that dimension numbers give to the dimensions of the two operands.
struct Contraction {
  explicit Contraction(const OpContext& op)
      : lhs(op.operand_shape(0)),
        rhs(op.operand_shape(1)),
        lhs_contracting(op.ints(AttrKey::kLhsContractingDims)),
        rhs_contracting(op.ints(AttrKey::kRhsContractingDims)),
        lhs_batch(op.ints(AttrKey::kLhsBatchDims)),
        rhs_batch(op.ints(AttrKey::kRhsBatchDims)) {}

  ShapeRef lhs, rhs;
  Dimensions lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;

  bool lhs_is_free(int64_t i) const { return !holds(lhs_contracting, i) && !holds(lhs_batch, i); }
  bool rhs_is_free(int64_t i) const { return !holds(rhs_contracting, i) && !holds(rhs_batch, i); }
};

int64_t product(ShapeRef shape, Dimensions dimensions) {
  int64_t result = 1;
  for (const int64_t i : dimensions)
    result = saturating_multiply(result, std::max<int64_t>(shape->dim(i), 0));
  return result;
}

/// C2: every dimension number below the rank; C3: none named twice.
bool require_roles(OpContext& op, ShapeRef shape, Dimensions contracting, Dimensions batch,
                   std::string_view side) {
  DimensionSet seen(shape->rank());
  for (const Dimensions list : {contracting, batch}) {
    for (const int64_t i : list) {
      if (!seen.in_range(i)) {
        op.error(2, "{} has no dimension {} in {}", side, i, text_of(shape));
        return false;
      }
      if (!seen.insert(i)) {
        op.error(3, "dimension {} of {} {} is named twice, expected one role a dimension", i, side,
                 text_of(shape));
        return false;
      }
    }
  }
  return true;
}

/// Pairs of dimensions with one role: as many on both sides (`count`), of one size (`size`).
bool require_pairs(OpContext& op, const Contraction& c, Dimensions lhs, Dimensions rhs, std::string_view role,
                   int count, int size) {
  if (lhs.size() != rhs.size()) {
    op.error(count, "{} {} dimensions of {} against {} of {}", lhs.size(), role, text_of(c.lhs), rhs.size(),
             text_of(c.rhs));
    return false;
  }
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (sizes_agree(c.lhs->dim(lhs[i]), c.rhs->dim(rhs[i]))) continue;
    op.error(size, "{} sizes differ: dimension {} of {} is {}, dimension {} of {} is {}", role, lhs[i],
             text_of(c.lhs), size_text(c.lhs->dim(lhs[i])), rhs[i], text_of(c.rhs),
             size_text(c.rhs->dim(rhs[i])));
    return false;
  }
  return true;
}

// C1 the operands are arrays
// C2 every dimension number is a dimension of its operand
// C3 no dimension is named twice
// C4 as many contracting dimensions on both sides
// C5 contracting dimensions have the same sizes
// C6 as many batch dimensions on both sides
// C7 batch dimensions have the same sizes
bool require_contraction(OpContext& op, const Contraction& c) {
  return require_arrays(op, 1) && require_roles(op, c.lhs, c.lhs_contracting, c.lhs_batch, "lhs") &&
         require_roles(op, c.rhs, c.rhs_contracting, c.rhs_batch, "rhs") &&
         require_pairs(op, c, c.lhs_contracting, c.rhs_contracting, "contracting", 4, 5) &&
         require_pairs(op, c, c.lhs_batch, c.rhs_batch, "batch", 6, 7);
}

/// Batch, then free dimensions of lhs, then of rhs (but for `group_dimensions`); the element type is
/// the text's choice, else that of more precision.
ShapeRef contraction_result(const OpContext& op, const Contraction& c, DimensionList& dimensions,
                            Dimensions group_dimensions = {}) {
  for (const int64_t i : c.lhs_batch) dimensions.add(c.lhs->dim(i), c.lhs->is_dynamic(i));
  for (int64_t i = 0; i < c.lhs->rank(); ++i)
    if (c.lhs_is_free(i)) dimensions.add(c.lhs->dim(i), c.lhs->is_dynamic(i));
  for (int64_t i = 0; i < c.rhs->rank(); ++i)
    if (c.rhs_is_free(i) && !holds(group_dimensions, i)) dimensions.add(c.rhs->dim(i), c.rhs->is_dynamic(i));
  const bool chosen = op.shape() && op.shape()->is_array();
  const ElementType type =
      chosen ? op.shape()->element_type : higher_precision(c.lhs->element_type, c.rhs->element_type);
  return dimensions.array(op, type);
}

/// Sizes as the MXU sees them.
struct MatmulSizes {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

MatmulSizes matmul_sizes(const Contraction& c) {
  MatmulSizes sizes;
  sizes.batch = product(c.lhs, c.lhs_batch);
  sizes.k = product(c.lhs, c.lhs_contracting);
  for (int64_t i = 0; i < c.lhs->rank(); ++i)
    if (c.lhs_is_free(i)) sizes.m = saturating_multiply(sizes.m, std::max<int64_t>(c.lhs->dim(i), 0));
  for (int64_t i = 0; i < c.rhs->rank(); ++i)
    if (c.rhs_is_free(i)) sizes.n = saturating_multiply(sizes.n, std::max<int64_t>(c.rhs->dim(i), 0));
  return sizes;
}

// ── dot ─────────────────────────────────────────────────────────

ShapeRef infer_dot(OpContext& op) {
  const Contraction c(op);
  if (!require_contraction(op, c)) return nullptr;
  DimensionList dimensions;
  return contraction_result(op, c, dimensions);
}

void dot_work(const OpContext& op, Work& work) {
  const MatmulSizes sizes = matmul_sizes(Contraction(op));
  add_matmul(op, work, sizes.batch, sizes.m, sizes.n, sizes.k);
}

// ── ragged-dot ──────────────────────────────────────────────────
// One dimension of lhs is cut into groups of rows whose sizes are data:
//   m, a free dimension:  [b,m,k] · [g,b,k,n] → [b,m,n]    each group of rows has its own rhs
//   k, contracting:       [b,m,k] · [b,k,n] → [g,b,m,n]    each group of terms has its own result
//   b, batch:             [b,m,k] · [b,k,n] → [b,m,n]      batches beyond the groups are 0

enum class RaggedRole { kFree, kContracting, kBatch };

RaggedRole ragged_role(const Contraction& c, int64_t ragged) {
  if (holds(c.lhs_batch, ragged)) return RaggedRole::kBatch;
  return holds(c.lhs_contracting, ragged) ? RaggedRole::kContracting : RaggedRole::kFree;
}

/// The sizes of lhs that group_sizes repeats in front of its group dimension.
void add_group_prefix(const Contraction& c, int64_t ragged, RaggedRole role, DimensionList& prefix) {
  const auto add_until_ragged = [&](Dimensions dimensions) {
    for (const int64_t i : dimensions) {
      if (i == ragged) return;
      prefix.add(c.lhs->dim(i));
    }
  };
  if (role == RaggedRole::kBatch) return add_until_ragged(c.lhs_batch);
  for (const int64_t i : c.lhs_batch) prefix.add(c.lhs->dim(i));
  if (role == RaggedRole::kContracting) return add_until_ragged(c.lhs_contracting);
  for (int64_t i = 0; i < ragged; ++i)
    if (c.lhs_is_free(i)) prefix.add(c.lhs->dim(i));
}

bool require_group_sizes(OpContext& op, const Contraction& c, int64_t ragged, RaggedRole role) {
  const ShapeRef sizes = op.operand_shape(2);
  DimensionList prefix;
  add_group_prefix(c, ragged, role, prefix);
  bool fits = sizes->rank() == 1;
  if (!fits && sizes->rank() == static_cast<int64_t>(prefix.size()) + 1) {
    fits = true;
    for (size_t i = 0; i < prefix.size(); ++i)
      fits = fits && sizes_agree(prefix[i], sizes->dim(static_cast<int64_t>(i)));
  }
  if (fits) return true;
  op.error(10, "group_sizes is {}, expected one dimension of groups, alone or behind {}", text_of(sizes),
           list_text(prefix.sizes()));
  return false;
}

// C1 … C7 as for dot
// C8  lhs_ragged_dims names exactly one dimension of lhs
// C9  rhs_group_dims: one free dimension of rhs if the ragged dimension is free, else none
// C10 group_sizes holds integers and has the shape [g] or [outer dimensions of lhs, g]
// C11 the group dimension of rhs has size g
// C12 ragged_dot_tiling among the frontend attributes is three whole numbers from 1 on
// C13 hlosim.row_groups among them is a number from 1 on
// C14 hlosim.one_core among them is true or false
ShapeRef infer_ragged_dot(OpContext& op) {
  const Contraction c(op);
  if (!require_contraction(op, c)) return nullptr;
  const Dimensions ragged_list = op.ints(AttrKey::kLhsRaggedDims);
  if (ragged_list.size() != 1)
    return op.error(8, "lhs_ragged_dims is {}, expected one dimension", list_text(ragged_list));
  const int64_t ragged = ragged_list[0];
  if (!require_dimension(op, 8, "lhs_ragged_dims", ragged, c.lhs->rank())) return nullptr;
  const RaggedRole role = ragged_role(c, ragged);
  const Dimensions groups = op.ints(AttrKey::kRhsGroupDims);
  if (!require_in_range(op, 9, "rhs_group_dims", groups, c.rhs->rank())) return nullptr;
  for (const int64_t i : groups)
    if (!c.rhs_is_free(i))
      return op.error(9, "rhs_group_dims names dimension {}, which is a batch or contracting dimension", i);
  const size_t expected = role == RaggedRole::kFree ? 1 : 0;
  if (groups.size() != expected)
    return op.error(9, "rhs_group_dims is {}, expected {} when the ragged dimension {} is {}",
                    list_text(groups), expected == 1 ? "one dimension" : "none", ragged,
                    role == RaggedRole::kFree    ? "free"
                    : role == RaggedRole::kBatch ? "a batch dimension"
                                                 : "contracting");
  if (!require_integral(op, 10, 2)) return nullptr;
  if (op.operand_shape(2)->rank() < 1)
    return op.error(10, "group_sizes is {}, expected at least one dimension", text_of(op.operand_shape(2)));
  if (!require_group_sizes(op, c, ragged, role)) return nullptr;
  const ShapeRef sizes = op.operand_shape(2);
  const int64_t last = sizes->rank() - 1;
  if (!groups.empty() && !sizes_agree(sizes->dim(last), c.rhs->dim(groups[0])))
    return op.error(11, "group_sizes {} has {} groups, dimension {} of rhs {} has {}", text_of(sizes),
                    size_text(sizes->dim(last)), groups[0], text_of(c.rhs), size_text(c.rhs->dim(groups[0])));
  if (const RaggedNotes notes = ragged_notes(op.instruction()); !notes.fault.empty())
    return op.error(notes.constraint, "{}", notes.fault);
  DimensionList dimensions;
  if (role == RaggedRole::kContracting) dimensions.add(sizes->dim(last), sizes->is_dynamic(last));
  return contraction_result(op, c, dimensions, groups);
}

/// Groups that have rows or terms, and how many they have together. Sizes of groups are data: every row is
/// assumed to be of each of `all` groups with the same probability. These are the groups themselves, or as
/// many as `hlosim.row_groups` states: with those of other devices, or in place of rows that are of no group.
struct GroupLoad {
  int64_t groups = 1, rows = 0;
};
GroupLoad expected_load(int64_t groups, double all, int64_t rows) {
  all = std::max(all, static_cast<double>(groups));
  const double part = static_cast<double>(groups) / all;
  const double none = std::pow(1 - 1 / all, static_cast<double>(rows));
  constexpr double kDigits = 1e-6;  // of a row, that a number of groups in decimals leaves open
  GroupLoad load;
  load.rows = std::min(rows, static_cast<int64_t>(std::ceil(static_cast<double>(rows) * part - kDigits)));
  load.groups = std::clamp(static_cast<int64_t>(std::llround(static_cast<double>(groups) * (1 - none))),
                           int64_t{1}, std::max<int64_t>(load.rows, 1));
  return load;
}

/// `array` with `size` along `dimension`.
ShapeRef part_along(const OpContext& op, ShapeRef array, int64_t dimension, int64_t size) {
  if (array->dim(dimension) <= size) return array;
  DimensionList dimensions;
  for (int64_t i = 0; i < array->rank(); ++i) dimensions.add(i == dimension ? size : array->dim(i), false);
  return resized(op, array, dimensions.sizes());
}

/// Where the ragged dimension, a free one of lhs, is in the result.
int64_t ragged_result_dimension(const Contraction& c, int64_t ragged) {
  auto at = static_cast<int64_t>(c.lhs_batch.size());
  for (int64_t i = 0; i < ragged; ++i) at += c.lhs_is_free(i) ? 1 : 0;
  return at;
}

/// Weights of groups without rows are not read, and rows of no group neither read nor written.
void read_used_parts(const OpContext& op, const Contraction& c, int64_t ragged, GroupLoad load, Work& work) {
  work.operand_read[0] = part_along(op, c.lhs, ragged, load.rows);
  if (const Dimensions groups = op.ints(AttrKey::kRhsGroupDims); !groups.empty()) {
    work.operand_read[1] = part_along(op, c.rhs, groups[0], load.groups);
    work.result_written = part_along(op, op.shape(), ragged_result_dimension(c, ragged), load.rows);
    return;
  }
  for (size_t i = 0; i < c.lhs_contracting.size(); ++i)
    if (c.lhs_contracting[i] == ragged)
      work.operand_read[1] = part_along(op, c.rhs, c.rhs_contracting[i], load.rows);
}

void ragged_dot_work(const OpContext& op, Work& work) {
  const Contraction c(op);
  MatmulSizes sizes = matmul_sizes(c);
  const ShapeRef group_sizes = op.operand_shape(2);
  const int64_t groups = std::max<int64_t>(group_sizes->dim(group_sizes->rank() - 1), 1);
  const int64_t ragged = op.ints(AttrKey::kLhsRaggedDims)[0];
  const RaggedRole role = ragged_role(c, ragged);
  if (role == RaggedRole::kBatch) return add_matmul(op, work, sizes.batch, sizes.m, sizes.n, sizes.k);
  if (role == RaggedRole::kFree) sizes.n /= groups;  // n holds the group dimension, which no row sees twice
  const RaggedNotes notes = ragged_notes(op.instruction());
  int64_t& shared = role == RaggedRole::kFree ? sizes.m : sizes.k;
  const GroupLoad load = expected_load(groups, notes.row_groups, shared);
  const int64_t each = load.rows / load.groups, larger = load.rows % load.groups;
  shared = each + 1;
  add_matmul(op, work, saturating_multiply(sizes.batch, larger), sizes.m, sizes.n, sizes.k);
  shared = each;
  add_matmul(op, work, saturating_multiply(sizes.batch, load.groups - larger), sizes.m, sizes.n, sizes.k);
  read_used_parts(op, c, ragged, load, work);
  for (MatmulWork& matmul : work.matmuls)
    matmul.ragged = true, matmul.ragged_terms = role == RaggedRole::kContracting, matmul.tile = notes.tile;
  work.vectors.push_back({VectorOp::kGroupStore, work.result_written});
  const auto turns = static_cast<double>(ceil_div(sizes.n, work.vector.turn_columns));
  if (role == RaggedRole::kContracting)
    work.vectors.push_back({VectorOp::kGroupTurn, work.operand_read[0], turns});
  else if (holds(c.rhs_contracting, minor_dimension(c.rhs, 0)))
    work.vectors.push_back({VectorOp::kGroupTurn, c.rhs});
}

// ── scaled-dot ──────────────────────────────────────────────────

/// A scalar scale stands for no scaling.
bool require_scale(OpContext& op, int64_t operand) {
  const ShapeRef shape = op.operand_shape(operand), scale = op.operand_shape(operand + 2);
  if (scale->is_scalar()) return true;
  if (scale->rank() != shape->rank()) {
    op.error(9, "scale {} has {} dimensions, its operand {} has {}", text_of(scale), scale->rank(),
             text_of(shape), shape->rank());
    return false;
  }
  for (int64_t i = 0; i < scale->rank(); ++i) {
    const int64_t size = shape->dim(i), blocks = scale->dim(i);
    if (size == Shape::kUnbounded || blocks == Shape::kUnbounded || size == blocks) continue;
    if (blocks > 0 && size % blocks == 0) continue;
    op.error(10, "dimension {} of operand {} is {}, expected a multiple of the scale's {} in {}", i,
             text_of(shape), size, blocks, text_of(scale));
    return false;
  }
  return true;
}

// C1 … C7 as for dot
// C8  one of the scales is no scalar
// C9  a scale that is no scalar has the rank of its operand
// C10 each size of an operand is a multiple of its scale's
// C11 an operand with a scale is contracted along one dimension
ShapeRef infer_scaled_dot(OpContext& op) {
  const Contraction c(op);
  if (!require_contraction(op, c)) return nullptr;
  if (op.operand_shape(2)->is_scalar() && op.operand_shape(3)->is_scalar())
    return op.error(8, "both scales are scalars ({} and {}), expected at least one array",
                    text_of(op.operand_shape(2)), text_of(op.operand_shape(3)));
  if (!require_scale(op, 0) || !require_scale(op, 1)) return nullptr;
  if (const size_t contracted = op.ints(AttrKey::kLhsContractingDims).size(); contracted != 1)
    return op.error(11, "contracts {} dimensions, expected one", contracted);
  DimensionList dimensions;
  return contraction_result(op, c, dimensions);
}

/// One multiply an element for each operand that has a scale, then the product.
void scaled_dot_work(const OpContext& op, Work& work) {
  dot_work(op, work);
  for (int64_t i = 0; i < 2; ++i)
    if (!op.operand_shape(i + 2)->is_scalar())
      work.vectors.push_back({VectorOp::kSimple, op.operand_shape(i), 1});
}

}  // namespace

constexpr AttrSpec kDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts}, {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},       {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},  {AttrKey::kAlgorithm, AttrSyntax::kWord},
};
const OpDef kDotOp = {.name = "dot",
                      .arity = exactly(2),
                      .attrs = kDotAttrs,
                      .infer_shape = infer_dot,
                      .check = check_packed_nibble,
                      .xla_cost = xla_cost_dot,
                      .work = dot_work,
                      .evaluation = EvaluationKind::kDot,
                      .rules = {FusionRule::kProduct, LayoutRole::kProduct, ValueRule::kMakesAll,
                                UseRule::kAll, CallRule::kNone, InPlaceRule::kNone, OverwriteRule::kNever,
                                AsyncKind::kCompute, AsyncPart::kNone, BufferRule::kForbidden,
                                NumberRule::kComputed, Identity::kNone, DimensionRule::kProduct}};

constexpr AttrSpec kRaggedDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts}, {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},       {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},  {AttrKey::kLhsRaggedDims, AttrSyntax::kInts},
    {AttrKey::kRhsGroupDims, AttrSyntax::kInts},
};
const OpDef kRaggedDotOp = {
    .name = "ragged-dot",
    .arity = exactly(3),
    .attrs = kRaggedDotAttrs,
    .infer_shape = infer_ragged_dot,
    .xla_cost = xla_cost_ragged_dot,
    .work = ragged_dot_work,
    .evaluation = EvaluationKind::kRaggedDot,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kProduct}};

constexpr AttrSpec kScaledDotAttrs[] = {
    {AttrKey::kLhsContractingDims, AttrSyntax::kInts}, {AttrKey::kRhsContractingDims, AttrSyntax::kInts},
    {AttrKey::kLhsBatchDims, AttrSyntax::kInts},       {AttrKey::kRhsBatchDims, AttrSyntax::kInts},
    {AttrKey::kOperandPrecision, AttrSyntax::kWords},  {AttrKey::kAlgorithm, AttrSyntax::kWord},
};
const OpDef kScaledDotOp = {
    .name = "scaled-dot",
    .arity = exactly(4),
    .attrs = kScaledDotAttrs,
    .infer_shape = infer_scaled_dot,
    .xla_cost = xla_cost_dot,
    .work = scaled_dot_work,
    .evaluation = EvaluationKind::kScaledDot,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kProduct}};

}  // namespace hlosim
