// Batch normalization over all dimensions but the feature dimension.
#include "hlo/op_def.h"
#include "ops/op_table.h"
#include "ops/require.h"
#include "ops/work.h"

namespace hlosim {
namespace {

// C1 all operands are arrays
// C2 feature_index is a dimension of operand 0
// C3 operand 0 is of floating point, and so are the others
// C4 the operands in between have one dimension, of the feature dimension's size
// C5 (grad) the last operand has the shape of operand 0
bool require_batch_norm(OpContext& op, bool last_is_gradient) {
  if (!require_arrays(op, 1)) return false;
  const ShapeRef input = op.operand_shape(0);
  const int64_t feature = op.integer(AttrKey::kFeatureIndex);
  if (!require_dimension(op, 2, "feature_index", feature, input->rank())) return false;
  for (int64_t i = 0; i < op.operand_count(); ++i) {
    const ShapeRef operand = op.operand_shape(i);
    if (!is_float(operand->element_type)) {
      op.error(3, "operand {} is {}, expected a floating-point type", i, text_of(operand));
      return false;
    }
    const bool is_gradient = last_is_gradient && i == op.operand_count() - 1;
    if (i == 0 || is_gradient) continue;
    if (operand->rank() != 1 || !sizes_agree(operand->dim(0), input->dim(feature))) {
      op.error(4, "operand {} is {}, expected one value for each of the {} features", i, text_of(operand),
               size_text(input->dim(feature)));
      return false;
    }
  }
  if (!last_is_gradient) return true;
  const ShapeRef gradient = op.operand_shape(op.operand_count() - 1);
  bool same = gradient->rank() == input->rank();
  for (int64_t i = 0; same && i < input->rank(); ++i) same = sizes_agree(gradient->dim(i), input->dim(i));
  if (!same)
    op.error(5, "the gradient is {}, expected the dimensions of {}", text_of(gradient), text_of(input));
  return same;
}

/// (like operand 0, one value a feature, one value a feature)
ShapeRef with_two_feature_results(OpContext& op) {
  const ShapeRef input = op.operand_shape(0);
  const int64_t feature = op.integer(AttrKey::kFeatureIndex);
  DimensionList features;
  features.add(input->dim(feature), input->is_dynamic(feature));
  const ShapeRef per_feature = features.array(op.shapes(), input->element_type);
  const ShapeRef results[] = {input->logical, per_feature, per_feature};
  return op.shapes().tuple(results);
}

ShapeRef infer_training(OpContext& op) {
  return require_batch_norm(op, false) ? with_two_feature_results(op) : nullptr;
}
ShapeRef infer_grad(OpContext& op) {
  return require_batch_norm(op, true) ? with_two_feature_results(op) : nullptr;
}
ShapeRef infer_inference(OpContext& op) {
  return require_batch_norm(op, false) ? op.operand_shape(0) : nullptr;
}

/// `per_element` operations on the input, a few and one rsqrt on the features.
void add_batch_norm(const OpContext& op, Work& work, double per_element) {
  work.vectors.push_back({VectorOp::kSimple, op.operand_shape(0), per_element});
  work.vectors.push_back({VectorOp::kSimple, op.operand_shape(1), 4});
  work.vectors.push_back({VectorOp::kTranscendental, op.operand_shape(1), 1});
}

// x·a + b with a, b per feature.
void inference_work(const OpContext& op, Work& work) { add_batch_norm(op, work, 2); }
// Σx, Σx² (an add, a multiply, an add), then as for inference.
void training_work(const OpContext& op, Work& work) { add_batch_norm(op, work, 5); }
// Σdy, Σdy·(x-mean) (two adds, a subtract, a multiply), then dx from a·dy + b·(x-mean) + c.
void grad_work(const OpContext& op, Work& work) { add_batch_norm(op, work, 9); }

}  // namespace

constexpr AttrSpec kBatchNormGradAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormGradOp = {
    .name = "batch-norm-grad",
    .arity = exactly(5),
    .attrs = kBatchNormGradAttrs,
    .infer_shape = infer_grad,
    .work = grad_work,
    .evaluation = EvaluationKind::kBatchNormGrad,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kBatchNorm}};

constexpr AttrSpec kBatchNormInferenceAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormInferenceOp = {
    .name = "batch-norm-inference",
    .arity = exactly(5),
    .attrs = kBatchNormInferenceAttrs,
    .infer_shape = infer_inference,
    .work = inference_work,
    .evaluation = EvaluationKind::kBatchNormInference,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kBatchNorm}};

constexpr AttrSpec kBatchNormTrainingAttrs[] = {
    {AttrKey::kEpsilon, AttrSyntax::kNumber, true},
    {AttrKey::kFeatureIndex, AttrSyntax::kInt, true},
};
const OpDef kBatchNormTrainingOp = {
    .name = "batch-norm-training",
    .arity = exactly(3),
    .attrs = kBatchNormTrainingAttrs,
    .infer_shape = infer_training,
    .work = training_work,
    .evaluation = EvaluationKind::kBatchNormTraining,
    .rules = {FusionRule::kNever, LayoutRole::kKeep, ValueRule::kMakesAll, UseRule::kAll, CallRule::kNone,
              InPlaceRule::kNone, OverwriteRule::kNever, AsyncKind::kCompute, AsyncPart::kNone,
              BufferRule::kForbidden, NumberRule::kComputed, Identity::kNone, DimensionRule::kBatchNorm}};

}  // namespace hlosim
