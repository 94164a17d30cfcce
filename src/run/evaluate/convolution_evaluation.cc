#include "evaluate/convolution_evaluation.h"

#include <algorithm>
#include <limits>

#include "convolution/convolution.h"
#include "evaluate/dot_plan.h"
#include "evaluate/sparse_operand.h"
#include "ops/window.h"

namespace hlosim {
namespace {

using Sizes = std::vector<int64_t>;

// ── Types ───────────────────────────────────────────────────────

/// Every value of `from` is one of `to`.
bool holds_all(ElementType from, ElementType to) {
  if (from == to) return true;
  if (is_pred(from)) return is_integer(to);
  if (!is_integer(from) || !is_integer(to)) return is_float(from) && converts_losslessly(from, to);
  const int room = bit_width(to) - (is_signed_integer(to) ? 1 : 0);
  if (is_unsigned_integer(from)) return bit_width(from) <= room;
  return is_signed_integer(to) && bit_width(from) <= bit_width(to);
}

/// What the sums of a result type are in, at the most general.
ElementType sum_type(ElementType result) {
  if (is_complex(result) || result == ElementType::kF64) return result;
  return is_float(result) ? ElementType::kF32 : ElementType::kS64;
}

struct Types {
  std::vector<ElementType> input, kernel;  // what operands become, one after another
  ElementType sums;
};

/// `terms`: products in a sum.
Types types_of(ElementType input, ElementType kernel, ElementType result, int64_t terms) {
  const ElementType widest = sum_type(result);
  if (!holds_all(input, result)) input = result;
  if (!holds_all(kernel, result)) kernel = result;
  if (widest != ElementType::kS64) {
    if (matmul_supports(input, kernel, result)) return {{input}, {kernel}, result};
    if (matmul_supports(input, kernel, widest)) return {{input}, {kernel}, widest};
  } else if (byte_width(input) == 1 && byte_width(kernel) == 1 &&
             terms <= std::numeric_limits<int32_t>::max() >> 16) {
    return {{input}, {kernel}, ElementType::kS32};  // exact
  }
  return {{input, widest}, {kernel, widest}, widest};
}

template <class Sum, class Element>
void saturate_as(const Sum* sums, Element* elements, int64_t count, int64_t low, int64_t high) {
  for (int64_t i = 0; i < count; ++i)
    elements[i] = static_cast<Element>(std::clamp(static_cast<int64_t>(sums[i]), low, high));
}

/// Sums of s32 or s64 as elements of an integer type.
template <class Sum>
void saturate(const Sum* sums, std::byte* elements, ElementType type, int64_t count) {
  const int bits = bit_width(type);
  if (is_pred(type)) {
    for (int64_t i = 0; i < count; ++i) elements[i] = std::byte{sums[i] != 0};
    return;
  }
  // Sums of 64 bits have wrapped where they had to.
  const bool is_signed = is_signed_integer(type);
  const int64_t high =
      bits == 64 ? std::numeric_limits<int64_t>::max() : (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const int64_t low = bits == 64 ? std::numeric_limits<int64_t>::min() : is_signed ? -high - 1 : 0;
  switch (byte_width(type)) {
    case 1:
      return saturate_as(sums, reinterpret_cast<int8_t*>(elements), count, low, high);
    case 2:
      return saturate_as(sums, reinterpret_cast<int16_t*>(elements), count, low, high);
    case 4:
      return saturate_as(sums, reinterpret_cast<int32_t*>(elements), count, low, high);
    default:
      return saturate_as(sums, reinterpret_cast<int64_t*>(elements), count, low, high);
  }
}

// ── The plan ────────────────────────────────────────────────────

/// Where the dimensions of the operands and the result lie.
struct Labels {
  explicit Labels(const ConvolutionDimensions& d)
      : input_batch(d.input_batch),
        input_feature(d.input_feature),
        kernel_input(d.kernel_input_feature),
        kernel_output(d.kernel_output_feature),
        output_batch(d.output_batch),
        output_feature(d.output_feature),
        input_spatial(d.input_spatial.begin(), d.input_spatial.end()),
        kernel_spatial(d.kernel_spatial.begin(), d.kernel_spatial.end()),
        output_spatial(d.output_spatial.begin(), d.output_spatial.end()) {}

  int64_t input_batch, input_feature, kernel_input, kernel_output, output_batch, output_feature;
  Sizes input_spatial, kernel_spatial, output_spatial;
};

int64_t at(const Sizes& list, int64_t i) { return list[static_cast<size_t>(i)]; }

Sizes bounds_of(ShapeRef shape) { return {shape->dimensions.begin(), shape->dimensions.end()}; }

class ConvolutionPlan {
 public:
  /// Operands that are stored sparsely, or null.
  ConvolutionPlan(const EvaluateContext& op, std::optional<SparseOperand> sparse_input,
                  std::optional<SparseOperand> sparse_kernel)
      : labels_(op.find(AttrKey::kDimLabels)->dim_labels()),
        window_(op.window().begin(), op.window().end()),
        feature_groups_(op.integer(AttrKey::kFeatureGroupCount, 1)),
        batch_groups_(op.integer(AttrKey::kBatchGroupCount, 1)),
        sparse_input_(std::move(sparse_input)),
        sparse_kernel_(std::move(sparse_kernel)),
        input_bounds_(sparse_input_ ? sparse_input_->dimensions() : bounds_of(op.operand_shape(0))),
        kernel_bounds_(sparse_kernel_ ? sparse_kernel_->dimensions() : bounds_of(op.operand_shape(1))),
        input_strides_(dense_strides(input_bounds_)),
        kernel_strides_(dense_strides(kernel_bounds_)),
        output_strides_(dense_strides(op.shape()->dimensions)) {
    const ElementType input = op.operand_shape(0)->element_type, kernel = op.operand_shape(1)->element_type;
    const ElementType result = op.shape()->element_type;
    int64_t terms = at(kernel_bounds_, labels_.kernel_input);
    for (const WindowDimension& dimension : window_) terms *= dimension.size;
    const Types types = types_of(input, kernel, result, terms);
    input_type_ = types.input.back();
    kernel_type_ = types.kernel.back();
    sum_type_ = types.sums;
    supported_ = append_conversions(input, types.input, input_conversions_) &&
                 append_conversions(kernel, types.kernel, kernel_conversions_);
    saturates_ = !is_float(result) && !is_complex(result) && result != sum_type_;
    if (!saturates_ && result != sum_type_) {
      to_result_ = ConvertElements(sum_type_, result);
      supported_ = supported_ && to_result_->supported();
    }
    supported_ = supported_ && matmul_supports(input_type_, kernel_type_, sum_type_);
  }

  bool supported() const { return supported_; }

  void run(Invocation& call) const {
    MemoryPool& pool = call.device().pool();
    const Array &input = call.operand(0), &kernel = call.operand(1);
    Array& result = call.make_result();
    const Sizes input_sizes = input.sizes ? *input.sizes : input_bounds_;
    const Sizes kernel_sizes = kernel.sizes ? *kernel.sizes : kernel_bounds_;
    std::vector<ConvolutionSpatial> spatial;
    Convolution convolution = description(input_sizes, kernel_sizes, spatial);
    if (input.sizes || kernel.sizes) {
      Sizes sizes(output_strides_.size());
      sizes[static_cast<size_t>(labels_.output_batch)] = convolution.batch;
      sizes[static_cast<size_t>(labels_.output_feature)] = at(kernel_sizes, labels_.kernel_output);
      for (size_t i = 0; i < spatial.size(); ++i)
        sizes[static_cast<size_t>(labels_.output_spatial[i])] = spatial[i].output;
      result.sizes = std::make_shared<const Sizes>(std::move(sizes));
    }
    Buffer input_kept, kernel_kept, sums;
    if (!prepare(call, 0, sparse_input_, input_bounds_, input_conversions_, input_kept, convolution.input) ||
        !prepare(call, 1, sparse_kernel_, kernel_bounds_, kernel_conversions_, kernel_kept,
                 convolution.kernel))
      return call.fail("an index of the sparsity's metadata is outside of its block");
    convolution.result = result.bytes();
    const int64_t count = result.count();
    if (saturates_ || to_result_) {
      sums = pool.allocate(count * byte_width(sum_type_));
      convolution.result = sums.data();
    }
    hlosim::convolution(convolution);
    if (to_result_) to_result_->run(sums.data(), result.bytes(), count);
    if (!saturates_) return;
    if (sum_type_ == ElementType::kS32)
      saturate(reinterpret_cast<const int32_t*>(sums.data()), result.bytes(), result.type(), count);
    else
      saturate(reinterpret_cast<const int64_t*>(sums.data()), result.bytes(), result.type(), count);
  }

 private:
  /// The elements of an operand at their full size and converted; false when its metadata is wrong.
  static bool prepare(Invocation& call, size_t operand, const std::optional<SparseOperand>& sparse,
                      const Sizes& bounds, const std::vector<ConvertElements>& conversions, Buffer& kept,
                      const void*& elements) {
    MemoryPool& pool = call.device().pool();
    const Array& array = call.operand(operand);
    const std::byte* data = array.bytes();
    if (sparse) {
      kept = sparse->expand(array, call.operand(sparse->metadata_operand()), pool);
      data = kept.data();
      if (!kept) return false;
    }
    int64_t count = 1;
    for (const int64_t size : bounds) count *= size;
    for (const ConvertElements& conversion : conversions) {
      Buffer next = pool.allocate(count * byte_width(conversion.to));
      conversion.run(data, next.data(), count);
      kept = std::move(next);
      data = kept.data();
    }
    elements = data;
    return true;
  }

  Convolution description(const Sizes& input, const Sizes& kernel,
                          std::vector<ConvolutionSpatial>& spatial) const {
    for (size_t i = 0; i < window_.size(); ++i) {
      const WindowDimension& window = window_[i];
      const int64_t size = at(input, labels_.input_spatial[i]);
      spatial.push_back({.input = size,
                         .kernel = at(kernel, labels_.kernel_spatial[i]),
                         .output = window_places(size, window),
                         .stride = window.stride,
                         .padding_low = window.padding_low,
                         .base_dilation = window.base_dilation,
                         .window_dilation = window.window_dilation,
                         .reversed = window.reversal,
                         .input_stride = at(input_strides_, labels_.input_spatial[i]),
                         .kernel_stride = at(kernel_strides_, labels_.kernel_spatial[i]),
                         .output_stride = at(output_strides_, labels_.output_spatial[i])});
    }
    const int64_t groups = feature_groups_ * batch_groups_;
    Convolution convolution;
    convolution.input_type = input_type_;
    convolution.kernel_type = kernel_type_;
    convolution.result_type = sum_type_;
    convolution.batch = at(input, labels_.input_batch) / batch_groups_;
    convolution.input_batch_stride = at(input_strides_, labels_.input_batch);
    convolution.output_batch_stride = at(output_strides_, labels_.output_batch);
    convolution.groups = groups;
    convolution.input_features = at(input, labels_.input_feature) / feature_groups_;
    convolution.output_features = at(kernel, labels_.kernel_output) / groups;
    convolution.input_feature_stride = at(input_strides_, labels_.input_feature);
    convolution.output_feature_stride = at(output_strides_, labels_.output_feature);
    convolution.kernel_input_feature_stride = at(kernel_strides_, labels_.kernel_input);
    convolution.kernel_output_feature_stride = at(kernel_strides_, labels_.kernel_output);
    convolution.input_group_stride = batch_groups_ > 1
                                         ? convolution.batch * convolution.input_batch_stride
                                         : convolution.input_features * convolution.input_feature_stride;
    convolution.kernel_group_stride = convolution.output_features * convolution.kernel_output_feature_stride;
    convolution.output_group_stride = convolution.output_features * convolution.output_feature_stride;
    convolution.spatial = spatial;
    return convolution;
  }

  Labels labels_;
  std::vector<WindowDimension> window_;
  int64_t feature_groups_, batch_groups_;
  std::optional<SparseOperand> sparse_input_, sparse_kernel_;
  Sizes input_bounds_, kernel_bounds_;
  Sizes input_strides_, kernel_strides_, output_strides_;
  ElementType input_type_, kernel_type_, sum_type_;
  std::vector<ConvertElements> input_conversions_, kernel_conversions_;
  std::optional<ConvertElements> to_result_;
  bool saturates_ = false, supported_ = false;
};

}  // namespace

Evaluation evaluate_convolution(EvaluateContext& op) {
  std::optional<SparseOperand> sparse[2];
  if (op.has(AttrKey::kSparsityConfig)) {
    const auto config = parse_sparsity(op.text(AttrKey::kSparsityConfig));
    for (size_t i = 0; config && i < 2; ++i) {
      const OperandSparsity& sparsity = (*config)[i];
      if (!sparsity.present) continue;
      sparse[i] = SparseOperand::make(sparsity, op.operand_shape(static_cast<int64_t>(i)),
                                      op.operand_shape(sparsity.metadata_operand));
      if (!sparse[i]) return op.unsupported("sparsity with a stride, or with packed metadata");
    }
  }
  ConvolutionPlan plan(op, std::move(sparse[0]), std::move(sparse[1]));
  if (!plan.supported()) return op.unsupported();
  return [plan = std::move(plan)](Invocation& call) { plan.run(call); };
}

}  // namespace hlosim
