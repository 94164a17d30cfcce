// The custom calls __cudnn$conv….
#include <string>

#include "ops/custom_call_spellings.h"
#include "ops/gemm_config.h"

namespace hlosim {
namespace {

/// Dimension numbers of an operand or result: -1 in a label's place is not there.
struct Part {
  int64_t first, second;  // batch and feature, or the kernel's input and output feature
  std::span<const int64_t> spatial;
};

/// "bf01": letters of `names` and numbers of spatial dimensions.
std::string labels_of(const Part& part, std::string_view names) {
  std::string text(part.spatial.size() + 2, '?');
  text[static_cast<size_t>(part.first)] = names[0];
  text[static_cast<size_t>(part.second)] = names[1];
  for (size_t i = 0; i < part.spatial.size(); ++i)
    text[static_cast<size_t>(part.spatial[i])] = static_cast<char>('0' + i);
  return text;
}

Attr dim_labels(Module& module, const Part& lhs, const Part& kernel, const Part& out) {
  ConvolutionDimensions labels;
  labels.input_batch = lhs.first, labels.input_feature = lhs.second, labels.input_spatial = lhs.spatial;
  labels.kernel_input_feature = kernel.first, labels.kernel_output_feature = kernel.second;
  labels.kernel_spatial = kernel.spatial;
  labels.output_batch = out.first, labels.output_feature = out.second, labels.output_spatial = out.spatial;
  const std::string text =
      labels_of(lhs, "bf") + "_" + labels_of(kernel, "io") + "->" + labels_of(out, "bf");
  labels.text = module.arena().copy(std::string_view(text));
  const ConvolutionDimensions* kept = module.arena().make<ConvolutionDimensions>(labels);
  return Attr::make_struct(AttrKey::kDimLabels, AttrSyntax::kDimLabels, kept);
}

Attr window_of(Module& module, const std::vector<WindowDimension>& dimensions) {
  const Window* kept = module.arena().make<Window>(Window{module.arena().copy(dimensions)});
  return Attr::make_struct(AttrKey::kWindow, AttrSyntax::kWindow, kept);
}

/// A call that is a convolution and nothing else.
struct Call {
  ShapeRef lhs, rhs, result;
  const ConvolutionDimensions* labels;
  std::span<const WindowDimension> window;
  int64_t groups = 1;

  Part input() const { return {labels->input_batch, labels->input_feature, labels->input_spatial}; }
  Part kernel() const {
    return {labels->kernel_input_feature, labels->kernel_output_feature, labels->kernel_spatial};
  }
  Part output() const { return {labels->output_batch, labels->output_feature, labels->output_spatial}; }
};

std::optional<Call> read_call(const Spelling& spelling) {
  const Instruction& call = spelling.call();
  const ShapeRef result = call.shape->is_tuple() ? call.shape->elements[0] : call.shape;
  const Attr *labels = call.find(AttrKey::kDimLabels), *window = call.find(AttrKey::kWindow);
  const Attr* config = call.find(AttrKey::kBackendConfig);
  const std::string_view text = config ? config->text() : std::string_view();
  const bool bare = config_number(text, "conv_result_scale", 1) == 1 &&
                    config_number(text, "side_input_scale", 0) == 0 &&
                    (text.find("activation_mode") == std::string_view::npos ||
                     text.find("kNone") != std::string_view::npos || config_number(text, "activation_mode", 1) == 0);
  if (call.operands.size() != 2 || !labels || !bare || !result->is_array() || !result->is_static())
    return std::nullopt;
  Call read{spelling.shape_of(spelling.operand(0)), spelling.shape_of(spelling.operand(1)), result,
            &labels->dim_labels(), window ? window->window().dimensions : std::span<const WindowDimension>()};
  for (const ShapeRef operand : {read.lhs, read.rhs})
    if (!operand->is_array() || !operand->is_static() || operand->element_type != result->element_type)
      return std::nullopt;
  const size_t rank = read.labels->input_spatial.size() + 2;
  if (read.lhs->dimensions.size() != rank || read.rhs->dimensions.size() != rank ||
      result->dimensions.size() != rank || read.window.size() != rank - 2)
    return std::nullopt;
  for (const Part& part : {read.input(), read.kernel(), read.output()})
    if (part.first < 0 || part.second < 0) return std::nullopt;
  if (const Attr* groups = call.find(AttrKey::kFeatureGroupCount)) read.groups = groups->integer();
  return read;
}

/// Elements that a window of `window.size` gives along an input of `size`.
int64_t output_size(int64_t size, const WindowDimension& window) {
  const int64_t padded =
      (size - 1) * window.base_dilation + 1 + window.padding_low + window.padding_high;
  const int64_t reach = (window.size - 1) * window.window_dilation + 1;
  return padded < reach ? 0 : (padded - reach) / window.stride + 1;
}

InstructionId convolution(Spelling& spelling, const Call& call, const Attr& labels,
                          const std::vector<WindowDimension>& window) {
  const ConvolutionDimensions& roles = labels.dim_labels();
  for (size_t i = 0; i < window.size(); ++i) {  // the library pads by itself where sizes don't fit
    const int64_t size = call.lhs->dim(roles.input_spatial[i]);
    if (output_size(size, window[i]) != call.result->dim(roles.output_spatial[i])) return {};
  }
  if (call.lhs->dim(roles.input_feature) != call.rhs->dim(roles.kernel_input_feature) * call.groups ||
      call.rhs->dim(roles.kernel_output_feature) != call.result->dim(roles.output_feature) ||
      call.lhs->dim(roles.input_batch) != call.result->dim(roles.output_batch))
    return {};
  std::vector<Attr> attrs{window_of(spelling.module(), window), labels};
  if (call.groups != 1) attrs.push_back(Attr::make_int(AttrKey::kFeatureGroupCount, call.groups));
  const ShapeRef shape = spelling.module().shapes().array(call.result->element_type, call.result->dimensions);
  return spelling.result(
      spelling.add(Opcode::kConvolution, shape, {spelling.operand(0), spelling.operand(1)}, attrs));
}

}  // namespace

InstructionId spell_out_convolution_forward(Spelling& spelling) {
  const std::optional<Call> call = read_call(spelling);
  if (!call) return {};
  const Attr labels = dim_labels(spelling.module(), call->input(), call->kernel(), call->output());
  return convolution(spelling, *call, labels, {call->window.begin(), call->window.end()});
}

// The gradient of the input: the output's gradient, spread by the stride, under the reversed kernel.
InstructionId spell_out_convolution_backward_input(Spelling& spelling) {
  const std::optional<Call> call = read_call(spelling);
  if (!call || call->groups != 1) return {};
  std::vector<WindowDimension> window;
  for (size_t i = 0; i < call->window.size(); ++i) {
    const WindowDimension& forward = call->window[i];
    if (forward.base_dilation != 1) return {};
    const int64_t reach = (forward.size - 1) * forward.window_dilation;
    const int64_t spread = (call->lhs->dim(call->labels->output_spatial[i]) - 1) * forward.stride + 1;
    WindowDimension backward = forward;
    backward.stride = 1;
    backward.base_dilation = forward.stride;
    backward.reversal = !forward.reversal;
    backward.padding_low = reach - forward.padding_low;
    backward.padding_high =
        call->result->dim(call->labels->input_spatial[i]) - spread - backward.padding_low + reach;
    window.push_back(backward);
  }
  const Part kernel = call->kernel();
  const Attr labels = dim_labels(spelling.module(), call->output(), {kernel.second, kernel.first, kernel.spatial},
                                 call->input());
  return convolution(spelling, *call, labels, window);
}

// The gradient of the kernel: the input under the output's gradient, batches summed up as features are.
InstructionId spell_out_convolution_backward_filter(Spelling& spelling) {
  const std::optional<Call> call = read_call(spelling);
  if (!call || call->groups != 1) return {};
  std::vector<WindowDimension> window;
  for (size_t i = 0; i < call->window.size(); ++i) {
    const WindowDimension& forward = call->window[i];
    if (forward.base_dilation != 1 || forward.reversal) return {};
    WindowDimension backward;
    backward.size = call->rhs->dim(call->labels->output_spatial[i]);
    backward.stride = forward.window_dilation;
    backward.window_dilation = forward.stride;
    backward.padding_low = forward.padding_low;
    const int64_t reach = (backward.size - 1) * backward.window_dilation + 1;
    backward.padding_high = (call->result->dim(call->labels->kernel_spatial[i]) - 1) * backward.stride + reach -
                            call->lhs->dim(call->labels->input_spatial[i]) - backward.padding_low;
    window.push_back(backward);
  }
  const Part input = call->input(), output = call->output();
  const Attr labels = dim_labels(spelling.module(), {input.second, input.first, input.spatial},
                                 {output.first, output.second, output.spatial}, call->kernel());
  return convolution(spelling, *call, labels, window);
}

}  // namespace hlosim
