#include "ops/custom_calls/custom_call_targets.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "base/saturating.h"
#include "ops/custom_calls/gemm_config.h"
#include "ops/infer.h"
#include "ops/matmul_work.h"

namespace hlosim {
namespace {

using WorkRule = void (*)(const OpContext&, Work&);

// ── kinds of work ───────────────────────────────────────────────

/// Annotations and views: the result is the operand.
void nothing(const OpContext&, Work& work) {
  work.operand_read.assign(work.operand_read.size(), nullptr);
  work.result_written = nullptr;
}

/// Reads the operands and writes the result, nothing else.
void copies(const OpContext&, Work&) {}

ShapeRef first_array(ShapeRef shape) {
  return shape->is_tuple() && !shape->elements.empty() ? shape->elements[0] : shape;
}

/// A long polynomial per element of the result.
void function_per_element(const OpContext& op, Work& work) {
  const ShapeRef shape = first_array(op.shape());
  if (shape->is_array()) work.vectors.push_back({VectorOp::kExpensive, shape, 1});
}

/// A sorting network along the last dimension, as for the topk instruction.
void top_k(const OpContext& op, Work& work) {
  if (op.operand_count() == 0 || !op.operand_shape(0)->is_array() || op.operand_shape(0)->rank() == 0) return;
  const ShapeRef operand = op.operand_shape(0);
  const auto last = static_cast<uint64_t>(std::max<int64_t>(operand->dim(operand->rank() - 1), 1));
  const double levels = static_cast<double>(std::bit_width(last - 1));
  const double stages = 2 * (levels * (levels + 1) / 2 + levels + 1);
  work.vectors.push_back({VectorOp::kCrossLane, operand, stages});
  work.vectors.push_back({VectorOp::kSimple, operand, 3 * stages});
}

bool within(const std::vector<int64_t>& dimensions, ShapeRef array) {
  return std::all_of(dimensions.begin(), dimensions.end(), [&](int64_t d) { return d < array->rank(); });
}

int64_t product(ShapeRef array, const std::vector<int64_t>& dimensions) {
  int64_t size = 1;
  for (const int64_t d : dimensions) size = saturating_multiply(size, array->dim(d));
  return size;
}

/// cuBLAS products: operands 0 and 1, dimensions by gemm_backend_config's dot_dimension_numbers; a plain
/// matrix product without.
void gemm(const OpContext& op, Work& work) {
  if (op.operand_count() < 2 || !op.operand_shape(0)->is_array() || !op.operand_shape(1)->is_array()) return;
  const ShapeRef lhs = op.operand_shape(0), rhs = op.operand_shape(1);
  const std::string_view config = op.text(AttrKey::kBackendConfig);
  const auto lhs_depth =
      config_numbers(config, "lhs_contracting_dimensions").value_or(std::vector<int64_t>{lhs->rank() - 1});
  const auto lhs_batch = config_numbers(config, "lhs_batch_dimensions").value_or(std::vector<int64_t>{});
  const auto rhs_depth =
      config_numbers(config, "rhs_contracting_dimensions").value_or(std::vector<int64_t>{rhs->rank() - 2});
  const auto rhs_batch = config_numbers(config, "rhs_batch_dimensions").value_or(std::vector<int64_t>{});
  if (lhs->rank() < 2 || rhs->rank() < 2) return;
  if (!within(lhs_depth, lhs) || !within(lhs_batch, lhs) || !within(rhs_depth, rhs) ||
      !within(rhs_batch, rhs))
    return;
  const int64_t batch = product(lhs, lhs_batch), k = product(lhs, lhs_depth);
  const int64_t lhs_fixed = saturating_multiply(batch, k);
  const int64_t rhs_fixed = saturating_multiply(product(rhs, rhs_batch), product(rhs, rhs_depth));
  if (lhs_fixed <= 0 || rhs_fixed <= 0) return;
  add_matmul(op, work, batch, lhs->element_count() / lhs_fixed, rhs->element_count() / rhs_fixed, k);
}

/// cuDNN convolutions with the parts that operands and result play, forward or backward.
void convolution_of(const OpContext& op, ShapeRef input, ShapeRef kernel, ShapeRef output, Work& work) {
  const Attr* attr = op.find(AttrKey::kDimLabels);
  if (!attr || !input->is_array() || !kernel->is_array() || !output->is_array()) return;
  const ConvolutionDimensions& labels = attr->dim_labels();
  const auto size = [](ShapeRef shape, int64_t d) {
    return d >= 0 && d < shape->rank() ? std::max<int64_t>(shape->dim(d), 0) : 1;
  };
  const int64_t groups = std::max<int64_t>(1, op.integer(AttrKey::kFeatureGroupCount, 1));
  int64_t m = size(output, labels.output_batch), k = size(input, labels.input_feature) / groups;
  for (size_t i = 0; i < labels.output_spatial.size(); ++i) {
    m = saturating_multiply(m, size(output, labels.output_spatial[i]));
    k = saturating_multiply(k, size(kernel, labels.kernel_spatial[i]));
  }
  add_matmul(op, work, groups, m, size(output, labels.output_feature) / groups, k);
}

void convolution_forward(const OpContext& op, Work& work) {
  if (op.operand_count() >= 2)
    convolution_of(op, op.operand_shape(0), op.operand_shape(1), first_array(op.shape()), work);
}
void convolution_backward_input(const OpContext& op, Work& work) {
  if (op.operand_count() >= 2)
    convolution_of(op, first_array(op.shape()), op.operand_shape(1), op.operand_shape(0), work);
}
void convolution_backward_filter(const OpContext& op, Work& work) {
  if (op.operand_count() >= 2)
    convolution_of(op, op.operand_shape(0), first_array(op.shape()), op.operand_shape(1), work);
}

// ── the table ───────────────────────────────────────────────────
// Names as XLA and JAX write them; `*` at the end stands for any rest.

struct Target {
  std::string_view name;
  WorkRule work;              // null: not modelled
  EvaluationKind evaluation;  // kNone: what it computes isn't public, or isn't done here
  LibraryCall library_call;   // kNone: it stays a call
};

constexpr std::string_view kConcatBitcast = "ConcatBitcast";

constexpr Target kTargets[] = {
    // Annotations of partitioning, placement, layout and inlining.
    {"Sharding", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"SPMDFullToShardShape", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"SPMDShardToFullShape", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"LocalToGlobalShape", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"GlobalToLocalShape", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"xla.sdy.*", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"annotate_device_placement", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"LayoutConstraint", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"ShardBarrierFrom", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"ShardBarrierTo", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"__xla_internal_call_marker_*", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"control_dep", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"AssumeGatherIndicesInBound", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"xla.debug.Log", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    // What `run` compares (evaluate/custom_calls/check_calls.h).
    {"check.*", nothing, EvaluationKind::kNone, LibraryCall::kNone},
    // Places in the order of a TPU program, and preparations of what runs beside its TensorCore: no data.
    {"Noop", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"PrepareAsyncCallStart", nothing, EvaluationKind::kAllocateBufferCall, LibraryCall::kNone},
    {"PrepareAsyncCallDone", nothing, EvaluationKind::kAllocateBufferCall, LibraryCall::kNone},
    // Buffers: references, not values.
    {"AllocateBuffer", nothing, EvaluationKind::kAllocateBufferCall, LibraryCall::kNone},
    {"CreateBuffer", nothing, EvaluationKind::kNone, LibraryCall::kNone},
    {"Pin", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"Unpin", nothing, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    // Slices that a compiler has fetched one by one, side by side.
    {kConcatBitcast, nothing, EvaluationKind::kConcatBitcastCall, LibraryCall::kNone},
    // Moves.
    {"MoveToHost", copies, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"MoveToDevice", copies, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"PadToStatic", copies, EvaluationKind::kPadToStaticCall, LibraryCall::kNone},
    {"SliceToDynamic", copies, EvaluationKind::kSliceToDynamicCall, LibraryCall::kNone},
    {"GetRngSeed", copies, EvaluationKind::kRngSeedCall, LibraryCall::kNone},
    // Computations.
    {"TopK", top_k, EvaluationKind::kTopKCall, LibraryCall::kNone},
    {"__cublas$gemm", gemm, EvaluationKind::kGemmCall, LibraryCall::kGemm},
    {"__cublas$lt$matmul", gemm, EvaluationKind::kGemmCall, LibraryCall::kGemm},
    {"__cublas$lt$matmul$f8", gemm, EvaluationKind::kNone, LibraryCall::kNone},
    {"__cudnn$convForward", convolution_forward, EvaluationKind::kNone, LibraryCall::kConvolutionForward},
    {"__cudnn$convBiasActivationForward", convolution_forward, EvaluationKind::kNone,
     LibraryCall::kConvolutionFused},
    {"__cudnn$convForwardGraph", convolution_forward, EvaluationKind::kNone, LibraryCall::kConvolutionGraph},
    {"__cudnn$convBackwardInput", convolution_backward_input, EvaluationKind::kNone,
     LibraryCall::kConvolutionBackwardInput},
    {"__cudnn$convBackwardFilter", convolution_backward_filter, EvaluationKind::kNone,
     LibraryCall::kConvolutionBackwardFilter},
    {"xla_builder.math.*", function_per_element, EvaluationKind::kBuilderMathCall, LibraryCall::kNone},
    {"xla_builder.*", nullptr, EvaluationKind::kCalledComputationCall, LibraryCall::kNone},
    {"__op$dequantize", nullptr, EvaluationKind::kDequantizeCall, LibraryCall::kNone},
    {"__op$block_scaled_dot", nullptr, EvaluationKind::kBlockScaledDotCall, LibraryCall::kNone},
    {"HostExecute", nullptr, EvaluationKind::kCalledComputationCall, LibraryCall::kNone},
    {"PinToDevice", nullptr, EvaluationKind::kIdentityCall, LibraryCall::kNone},
    {"SetBound", nullptr, EvaluationKind::kIdentityCall, LibraryCall::kNone},
};

bool matches(std::string_view pattern, std::string_view target) {
  if (pattern.ends_with('*')) return target.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == target;
}

const Target* find_target(std::string_view target) {
  if (target.empty()) return nullptr;  // most instructions are no custom calls
  for (const Target& known : kTargets)
    if (matches(known.name, target)) return &known;
  return nullptr;
}

}  // namespace

std::string_view custom_call_target(const Instruction& instruction) {
  const Attr* attr = instruction.find(AttrKey::kCustomCallTarget);
  const std::string_view quoted = attr ? attr->text() : std::string_view();
  return quoted.size() >= 2 ? quoted.substr(1, quoted.size() - 2) : quoted;
}

std::string_view custom_call_target(const OpContext& op) { return custom_call_target(op.instruction()); }

bool is_concat_bitcast(const Instruction& instruction) {
  return custom_call_target(instruction) == kConcatBitcast;
}

void custom_call_work(const OpContext& op, Work& work) {
  const std::string_view target = custom_call_target(op);
  if (const Target* known = find_target(target); known && known->work) return known->work(op, work);
  work.unmodelled = target;
}

LibraryCall library_call(const Instruction& instruction) {
  const Target* known = find_target(custom_call_target(instruction));
  return known ? known->library_call : LibraryCall::kNone;
}

bool is_of_other_device(const Module& module) {
  return std::ranges::any_of(module.instructions, [](const Instruction& instruction) {
    const Attr *target = instruction.find(AttrKey::kCustomCallTarget),
               *config = instruction.find(AttrKey::kBackendConfig);
    const std::string_view name = target ? target->text() : std::string_view();
    const auto calls = [&](std::string_view library) { return name.starts_with(library); };
    return calls("\"__cu") || calls("\"__onednn$") || calls("\"__triton") || calls("\"__gpu$") ||
           (config && config->text().find("_backend_config") != std::string_view::npos);
  });
}

EvaluationKind custom_call_evaluation(const OpContext& op) {
  const Target* known = find_target(custom_call_target(op));
  return known ? known->evaluation : EvaluationKind::kNone;
}

}  // namespace hlosim
