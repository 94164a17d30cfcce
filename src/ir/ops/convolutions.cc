// Convolution: a matrix product over kernel windows and input features.
#include <algorithm>

#include "base/saturating.h"
#include "hlo/op_def.h"
#include "ops/matmul_work.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/sparsity.h"
#include "ops/window.h"
#include "ops/work.h"
#include "ops/xla_cost_rules.h"

namespace hlosim {
namespace {

/// Every number 0..rank-1 once among the two named dimensions and the spatial ones.
bool is_complete(int64_t first, int64_t second, Dimensions spatial) {
  const auto rank = static_cast<int64_t>(spatial.size()) + 2;
  DimensionSet seen(rank);
  if (!seen.in_range(first) || !seen.insert(first) || !seen.in_range(second) || !seen.insert(second))
    return false;
  return std::all_of(spatial.begin(), spatial.end(),
                     [&](int64_t i) { return seen.in_range(i) && seen.insert(i); });
}

bool require_labels(OpContext& op, const ConvolutionDimensions& labels) {
  const size_t spatial = labels.input_spatial.size();
  if (labels.kernel_spatial.size() == spatial && labels.output_spatial.size() == spatial &&
      is_complete(labels.input_batch, labels.input_feature, labels.input_spatial) &&
      is_complete(labels.kernel_input_feature, labels.kernel_output_feature, labels.kernel_spatial) &&
      is_complete(labels.output_batch, labels.output_feature, labels.output_spatial))
    return true;
  op.error(2, "dim_labels={}: expected each dimension of each operand and of the result to have one role",
           labels.text);
  return false;
}

/// An operand with the dimension that sparsity shortens at its full size; null after a report (C4).
ShapeRef materialized(OpContext& op, int64_t operand, const OperandSparsity& sparsity) {
  const ShapeRef shape = op.operand_shape(operand);
  if (!sparsity.present) return shape;
  const std::string_view side = operand == 0 ? "lhs" : "rhs";
  if (sparsity.metadata_operand < 2 || sparsity.metadata_operand >= op.operand_count())
    return op.error(4, "sparsity_config {}: idx {} is out of bounds, expected one of the operands 2 to {}",
                    side, sparsity.metadata_operand, op.operand_count() - 1);
  if (sparsity.dimension >= shape->rank())
    return op.error(4, "sparsity_config {}: {} has no dimension {}", side, text_of(shape),
                    sparsity.dimension);
  if (sparsity.kept < 1 || sparsity.of < sparsity.kept)
    return op.error(4, "sparsity_config {}: {}x{} has to keep between 1 and all of a block", side,
                    sparsity.kept, sparsity.of);
  DimensionList full;
  full.add_all(shape);
  int64_t& size = full[static_cast<size_t>(sparsity.dimension)];
  if (size != Shape::kUnbounded) size = saturating_multiply(size, sparsity.of) / sparsity.kept;
  return full.array(op.shapes(), shape->element_type);
}

/// The operands as the convolution sees them; false after a report.
bool operands_of(OpContext& op, ShapeRef& lhs, ShapeRef& rhs) {
  lhs = op.operand_shape(0), rhs = op.operand_shape(1);
  if (!op.has(AttrKey::kSparsityConfig)) return true;
  const auto sparsity = parse_sparsity(op.text(AttrKey::kSparsityConfig));
  if (!sparsity) {
    op.error(4, "{}", sparsity.error().message);
    return false;
  }
  lhs = materialized(op, 0, (*sparsity)[0]);
  rhs = lhs ? materialized(op, 1, (*sparsity)[1]) : nullptr;
  return rhs != nullptr;
}

bool require_groups(OpContext& op, const ConvolutionDimensions& labels, ShapeRef lhs, ShapeRef rhs) {
  const int64_t feature_groups = op.integer(AttrKey::kFeatureGroupCount, 1);
  const int64_t batch_groups = op.integer(AttrKey::kBatchGroupCount, 1);
  const int64_t inputs = lhs->dim(labels.input_feature), batch = lhs->dim(labels.input_batch);
  const int64_t kernel_inputs = rhs->dim(labels.kernel_input_feature),
                outputs = rhs->dim(labels.kernel_output_feature);
  const auto divides = [](int64_t divisor, int64_t size) {
    return size == Shape::kUnbounded || size % divisor == 0;
  };
  if (!divides(batch_groups, outputs))
    op.error(7, "the {} output features of the kernel {} are not a multiple of batch_group_count={}", outputs,
             text_of(rhs), batch_groups);
  else if (!divides(batch_groups, batch))
    op.error(8, "the input batch of {} in {} is not a multiple of batch_group_count={}", batch, text_of(lhs),
             batch_groups);
  else if (!divides(feature_groups, inputs) ||
           (inputs != Shape::kUnbounded && !sizes_agree(inputs / feature_groups, kernel_inputs)))
    op.error(9,
             "{} input features of {} in feature_group_count={} groups do not match the {} input features of "
             "the kernel {}",
             size_text(inputs), text_of(lhs), feature_groups, size_text(kernel_inputs), text_of(rhs));
  else if (!divides(feature_groups, outputs))
    op.error(10, "the {} output features of the kernel {} are not a multiple of feature_group_count={}",
             outputs, text_of(rhs), feature_groups);
  return !op.failed();
}

// C1  lhs and rhs are arrays
// C2  dim_labels gives each dimension of input, kernel and output one role
// C3  both group counts are positive, at most one of them above 1
// C4  sparsity_config names an existing dimension and an operand behind the first two
// C5  lhs and rhs have the rank of dim_labels
// C6  the window has positive numbers and the kernel's spatial sizes
// C7  output features are a multiple of batch_group_count
// C8  the input batch is a multiple of batch_group_count
// C9  input features = feature_group_count × the kernel's input features
// C10 output features are a multiple of feature_group_count
// C11 the kernel's output features are of fixed size
ShapeRef infer_convolution(OpContext& op) {
  if (!require_arrays(op, 1, 0, 2)) return nullptr;
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  if (!require_labels(op, labels)) return nullptr;
  const int64_t feature_groups = op.integer(AttrKey::kFeatureGroupCount, 1);
  const int64_t batch_groups = op.integer(AttrKey::kBatchGroupCount, 1);
  if (feature_groups <= 0 || batch_groups <= 0 || (feature_groups > 1 && batch_groups > 1))
    return op.error(
        3,
        "feature_group_count={} and batch_group_count={}, expected positive counts and at most one above 1",
        feature_groups, batch_groups);
  ShapeRef lhs, rhs;
  if (!operands_of(op, lhs, rhs)) return nullptr;
  const auto rank = static_cast<int64_t>(labels.input_spatial.size()) + 2;
  if (lhs->rank() != rank || rhs->rank() != rank)
    return op.error(5, "dim_labels={} is for {} dimensions, the operands are {} and {}", labels.text, rank,
                    text_of(lhs), text_of(rhs));
  const auto window = op.window();
  if (!require_window(op, 6, window, rank - 2)) return nullptr;
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t size = rhs->dim(labels.kernel_spatial[i]);
    if (!sizes_agree(window[i].size, size))
      return op.error(6, "window size {} in spatial dimension {}, the kernel {} has {}", window[i].size, i,
                      text_of(rhs), size);
  }
  if (!require_groups(op, labels, lhs, rhs)) return nullptr;
  if (rhs->is_dynamic(labels.kernel_output_feature))
    return op.error(11, "the output features of the kernel {} are of dynamic size", text_of(rhs));

  DimensionList result;
  for (int64_t i = 0; i < rank; ++i) result.add(0);
  const auto set = [&](int64_t at, int64_t size, bool dynamic) {
    result[static_cast<size_t>(at)] = size;
    result.dynamic(static_cast<size_t>(at)) = dynamic;
  };
  const int64_t batch = lhs->dim(labels.input_batch);
  set(labels.output_batch, batch == Shape::kUnbounded ? batch : batch / batch_groups,
      lhs->is_dynamic(labels.input_batch));
  set(labels.output_feature, rhs->dim(labels.kernel_output_feature), false);
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t input = labels.input_spatial[i], kernel = labels.kernel_spatial[i];
    set(labels.output_spatial[i], window_places(lhs->dim(input), window[i]),
        lhs->is_dynamic(input) || rhs->is_dynamic(kernel));
  }
  const bool chosen = op.shape() && op.shape()->is_array();
  return result.array(
      op, chosen ? op.shape()->element_type : higher_precision(lhs->element_type, rhs->element_type));
}

void check_convolution(OpContext& op) {
  check_packed_nibble(op);
  const Attr* precision = op.find(AttrKey::kOperandPrecision);
  if (!precision || op.failed()) return;
  const auto words = precision->words();
  if (std::count(words.begin(), words.end(), "packed_nibble") == 2 &&
      (op.integer(AttrKey::kFeatureGroupCount, 1) != 1 || op.integer(AttrKey::kBatchGroupCount, 1) != 1))
    op.error(0, "packed_nibble does not go with feature or batch groups");
}

/// As a matrix product: m = batch × places, k = window × input features of a group, n = output features
/// of a group, one product a group. In each spatial dimension
///   - places that see only padding are left out of m;
///   - k counts the window positions that see an element, per place on average, rounded up: positions that
///     see only padding or holes do not count, the edges of a padded image hardly do;
///   - a dimension in which no window position serves two places is a batch dimension of the product, or
///     further output features where all places see the same input element (heads of attention).
void convolution_work(const OpContext& op, Work& work) {
  OpContext quiet = op.of(op.instruction());
  ShapeRef lhs, rhs;
  if (!operands_of(quiet, lhs, rhs)) return;
  const ConvolutionDimensions& labels = op.find(AttrKey::kDimLabels)->dim_labels();
  const int64_t feature_groups = op.integer(AttrKey::kFeatureGroupCount, 1);
  const int64_t batch_groups = op.integer(AttrKey::kBatchGroupCount, 1);
  const auto size = [](ShapeRef shape, int64_t i) { return std::max<int64_t>(shape->dim(i), 0); };
  int64_t batch = saturating_multiply(feature_groups, batch_groups);
  int64_t m = size(lhs, labels.input_batch) / batch_groups;
  const int64_t features = size(lhs, labels.input_feature) / feature_groups;
  int64_t k = features;
  int64_t n = size(rhs, labels.kernel_output_feature) / (feature_groups * batch_groups);
  const auto window = op.window();
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t base = size(lhs, labels.input_spatial[i]);
    const WindowReach reach = window_reach(base, window[i]);
    int64_t& places_in = !reach.is_batch() ? m : base == 1 ? n : batch;
    places_in = saturating_multiply(places_in, reach.places);
    k = saturating_multiply(k, reach.depth());
  }
  add_matmul(op, work, batch, m, n, k);
  for (MatmulWork& matmul : work.matmuls) matmul.features = features;
}

}  // namespace

constexpr AttrSpec kConvolutionAttrs[] = {
    {AttrKey::kWindow, AttrSyntax::kWindow},         {AttrKey::kDimLabels, AttrSyntax::kDimLabels, true},
    {AttrKey::kFeatureGroupCount, AttrSyntax::kInt}, {AttrKey::kBatchGroupCount, AttrSyntax::kInt},
    {AttrKey::kConvolutionKind, AttrSyntax::kWord},  {AttrKey::kOperandPrecision, AttrSyntax::kWords},
    {AttrKey::kAlgorithm, AttrSyntax::kWord},        {AttrKey::kSparsityConfig, AttrSyntax::kBraces},
};
const OpDef kConvolutionOp = {
    .name = "convolution",
    .arity = at_least(2),
    .attrs = kConvolutionAttrs,
    .infer_shape = infer_convolution,
    .check = check_convolution,
    .xla_cost = xla_cost_convolution,
    .work = convolution_work,
    .evaluation = EvaluationKind::kConvolution,
    .rules = {FusionRule::kProduct, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kConvolution}};

}  // namespace hlosim
