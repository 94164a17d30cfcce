// The custom calls __cudnn$conv….
#include <algorithm>
#include <string>

#include "lower/library_calls/custom_call_spellings.h"
#include "ops/custom_calls/gemm_config.h"

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
  const std::string text = labels_of(lhs, "bf") + "_" + labels_of(kernel, "io") + "->" + labels_of(out, "bf");
  labels.text = module.arena().copy(std::string_view(text));
  const ConvolutionDimensions* kept = module.arena().make<ConvolutionDimensions>(labels);
  return Attr::make_struct(AttrKey::kDimLabels, AttrSyntax::kDimLabels, kept);
}

Attr window_of(Module& module, const std::vector<WindowDimension>& dimensions) {
  const Window* kept = module.arena().make<Window>(Window{module.arena().copy(dimensions)});
  return Attr::make_struct(AttrKey::kWindow, AttrSyntax::kWindow, kept);
}

/// A call that is a convolution, and what follows it.
struct Call {
  ShapeRef lhs, rhs, result;
  ElementType sums;
  const ConvolutionDimensions* labels;
  std::span<const WindowDimension> window;
  int64_t groups = 1;

  Part input() const { return {labels->input_batch, labels->input_feature, labels->input_spatial}; }
  Part kernel() const {
    return {labels->kernel_input_feature, labels->kernel_output_feature, labels->kernel_spatial};
  }
  Part output() const { return {labels->output_batch, labels->output_feature, labels->output_spatial}; }
};

/// result = activation(scale · convolution + side_scale · side input + bias)
struct Epilogue {
  double scale = 1, side_scale = 0;
  int64_t activation = 0;  // as the library numbers them; -1: none that is known here
  double slope = 0;        // of a leaky relu below 0
};

constexpr std::string_view kActivations[] = {"kNone", "kSigmoid",  "kRelu", "kRelu6",    "kReluX",
                                             "kTanh", "kBandPass", "kElu",  "kLeakyRelu"};
enum Activation : int64_t {
  kNoActivation,
  kSigmoid,
  kRelu,
  kRelu6,
  kReluX,
  kTanh,
  kBandPass,
  kElu,
  kLeakyRelu
};

int64_t activation_in(std::string_view config) {
  const size_t at = config.find("activation_mode");
  if (at == std::string_view::npos) return kNoActivation;
  size_t begin = config.find_first_not_of("\\\": ", at + std::string_view("activation_mode").size());
  if (begin == std::string_view::npos) return -1;
  const std::string_view word = config.substr(begin, config.find_first_of("\\\",} ", begin) - begin);
  for (size_t i = 0; i < std::size(kActivations); ++i)
    if (word == kActivations[i] || word == std::to_string(i)) return static_cast<int64_t>(i);
  return -1;
}

std::string_view config_of(const Spelling& spelling) {
  const Attr* config = spelling.call().find(AttrKey::kBackendConfig);
  return config ? config->text() : std::string_view();
}

Epilogue epilogue_of(const Spelling& spelling) {
  const std::string_view text = config_of(spelling);
  return {config_number(text, "conv_result_scale", 1), config_number(text, "side_input_scale", 0),
          activation_in(text), config_number(text, "leakyrelu_alpha", 0)};
}

bool is_bare(const Spelling& spelling) {
  const Epilogue epilogue = epilogue_of(spelling);
  return spelling.call().operands.size() == 2 && epilogue.scale == 1 && epilogue.side_scale == 0 &&
         epilogue.activation == kNoActivation;
}

/// The convolution in it; operands behind the first two are handled elsewhere.
std::optional<Call> read_call(const Spelling& spelling) {
  const Instruction& call = spelling.call();
  const ShapeRef result = call.shape->is_tuple() ? call.shape->elements[0] : call.shape;
  const Attr *labels = call.find(AttrKey::kDimLabels), *window = call.find(AttrKey::kWindow);
  if (call.operands.size() < 2 || !labels || !result->is_array() || !result->is_static()) return std::nullopt;
  Call read{spelling.shape_of(spelling.operand(0)),
            spelling.shape_of(spelling.operand(1)),
            result,
            result->element_type,
            &labels->dim_labels(),
            window ? window->window().dimensions : std::span<const WindowDimension>()};
  for (const ShapeRef operand : {read.lhs, read.rhs})
    if (!operand->is_array() || !operand->is_static()) return std::nullopt;
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
  const int64_t padded = (size - 1) * window.base_dilation + 1 + window.padding_low + window.padding_high;
  const int64_t reach = (window.size - 1) * window.window_dilation + 1;
  return padded < reach ? 0 : (padded - reach) / window.stride + 1;
}

InstructionId convolution(Spelling& spelling, const Call& call, const Attr& labels,
                          const std::vector<WindowDimension>& window) {
  const ConvolutionDimensions& roles = labels.dim_labels();
  for (size_t i = 0; i < window.size(); ++i) {  // the library pads by itself where sizes don't fit
    const int64_t size = call.lhs->dim(roles.input_spatial[i]);
    if (window[i].size != call.rhs->dim(roles.kernel_spatial[i]) ||
        output_size(size, window[i]) != call.result->dim(roles.output_spatial[i]))
      return {};
  }
  if (call.lhs->dim(roles.input_feature) != call.rhs->dim(roles.kernel_input_feature) * call.groups ||
      call.rhs->dim(roles.kernel_output_feature) != call.result->dim(roles.output_feature) ||
      call.lhs->dim(roles.input_batch) != call.result->dim(roles.output_batch))
    return {};
  std::vector<Attr> attrs{window_of(spelling.module(), window), labels};
  if (call.groups != 1) attrs.push_back(Attr::make_int(AttrKey::kFeatureGroupCount, call.groups));
  const ShapeRef shape = spelling.module().shapes().array(call.sums, call.result->dimensions);
  return spelling.add(Opcode::kConvolution, shape, {spelling.operand(0), spelling.operand(1)}, attrs);
}

/// The call's result where nothing follows the convolution.
InstructionId whole_result(Spelling& spelling, InstructionId value) {
  return value.valid() ? spelling.result(value) : value;
}

std::optional<Call> bare_call(const Spelling& spelling) {
  if (!is_bare(spelling)) return std::nullopt;
  std::optional<Call> call = read_call(spelling);
  if (call && (call->lhs->element_type != call->sums || call->rhs->element_type != call->sums))
    return std::nullopt;
  return call;
}

InstructionId forward(Spelling& spelling, const Call& call) {
  const Attr labels = dim_labels(spelling.module(), call.input(), call.kernel(), call.output());
  return convolution(spelling, call, labels, {call.window.begin(), call.window.end()});
}

InstructionId activated(Spelling& spelling, InstructionId x, const Epilogue& epilogue) {
  const ShapeRef shape = spelling.shape_of(x);
  const auto number = [&](double value) { return spelling.filled(shape, value); };
  const auto above = [&](double least) { return spelling.binary(Opcode::kMaximum, x, number(least)); };
  switch (epilogue.activation) {
    case kNoActivation:
      return x;
    case kSigmoid:
      return spelling.add(Opcode::kLogistic, shape, {x});
    case kRelu:
      return above(0);
    case kRelu6: {
      const InstructionId relu = above(0);
      return spelling.binary(Opcode::kMinimum, relu, number(6));
    }
    case kTanh:
      return spelling.add(Opcode::kTanh, shape, {x});
    default:
      break;
  }
  const InstructionId below = spelling.binary(Opcode::kMinimum, x, number(0));
  const InstructionId rest = epilogue.activation == kElu
                                 ? spelling.add(Opcode::kExpm1, shape, {below})
                                 : spelling.binary(Opcode::kMultiply, below, number(epilogue.slope));
  const InstructionId relu = above(0);
  return spelling.binary(Opcode::kAdd, relu, rest);
}

/// Integers are what fits into them.
InstructionId converted_result(Spelling& spelling, InstructionId value, ElementType type) {
  if (type == ElementType::kS8) {
    const ShapeRef shape = spelling.shape_of(value);
    value = spelling.binary(Opcode::kMaximum, value, spelling.filled(shape, -128));
    value = spelling.binary(Opcode::kMinimum, value, spelling.filled(shape, 127));
  }
  return spelling.converted(value, type);
}

bool has_elements(ShapeRef shape, std::span<const int64_t> dimensions) {
  return shape->is_array() && shape->is_static() && std::ranges::equal(shape->dimensions, dimensions);
}

}  // namespace

InstructionId spell_out_convolution_forward(Spelling& spelling) {
  const std::optional<Call> call = bare_call(spelling);
  return call ? whole_result(spelling, forward(spelling, *call)) : InstructionId{};
}

// A graph of the library's that the text doesn't show may be anything.
InstructionId spell_out_convolution_graph(Spelling& spelling) {
  const bool shows_all = config_of(spelling).find("serialized_graph") == std::string_view::npos;
  return shows_all ? spell_out_convolution_forward(spelling) : InstructionId{};
}

InstructionId spell_out_convolution_fused(Spelling& spelling) {
  std::optional<Call> call = read_call(spelling);
  const Epilogue epilogue = epilogue_of(spelling);
  const size_t operands = 3 + (epilogue.side_scale != 0 ? 1 : 0);
  const bool known = epilogue.activation >= 0 && epilogue.activation != kReluX &&
                     epilogue.activation != kBandPass &&
                     config_of(spelling).find("serialized_graph") == std::string_view::npos &&
                     config_of(spelling).find("reordered_int8_nchw_vect\\\":true") == std::string_view::npos;
  if (!call || !known || spelling.call().operands.size() != operands ||
      call->lhs->element_type != call->rhs->element_type)
    return {};
  const ElementType in = call->lhs->element_type, out = call->result->element_type;
  const bool whole_numbers = in == ElementType::kS8;
  if ((!whole_numbers && in != out) ||
      (whole_numbers && out != ElementType::kS8 && out != ElementType::kF32) ||
      (!whole_numbers && !is_float(in)))
    return {};
  const int64_t features[] = {call->result->dim(call->labels->output_feature)};
  const ShapeRef bias = spelling.shape_of(spelling.operand(2));
  if (!has_elements(bias, features) || !is_float(bias->element_type) ||
      (operands == 4 && !has_elements(spelling.shape_of(spelling.operand(3)), call->result->dimensions)))
    return {};

  const ElementType real = in == ElementType::kF64 ? in : ElementType::kF32;
  call->sums = whole_numbers ? ElementType::kS32 : real;
  const InstructionId sums = forward(spelling, *call);
  if (!sums.valid()) return {};
  InstructionId value = spelling.converted(sums, real);
  const ShapeRef shape = spelling.shape_of(value);
  const auto scaled = [&](InstructionId x, double factor) {
    return factor == 1 ? x : spelling.binary(Opcode::kMultiply, x, spelling.filled(shape, factor));
  };
  value = scaled(value, epilogue.scale);
  if (operands == 4)
    value = spelling.binary(Opcode::kAdd, value,
                            scaled(spelling.converted(spelling.operand(3), real), epilogue.side_scale));
  const int64_t where[] = {call->labels->output_feature};
  value = spelling.binary(Opcode::kAdd, value,
                          spelling.broadcast(spelling.converted(spelling.operand(2), real), shape, where));
  return spelling.result(converted_result(spelling, activated(spelling, value, epilogue), out));
}

// The gradient of the input: the output's gradient, spread by the stride, under the reversed kernel.
InstructionId spell_out_convolution_backward_input(Spelling& spelling) {
  const std::optional<Call> call = bare_call(spelling);
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
  const Attr labels = dim_labels(spelling.module(), call->output(),
                                 {kernel.second, kernel.first, kernel.spatial}, call->input());
  return whole_result(spelling, convolution(spelling, *call, labels, window));
}

// The gradient of the kernel: the input under the output's gradient, batches summed up as features are.
InstructionId spell_out_convolution_backward_filter(Spelling& spelling) {
  const std::optional<Call> call = bare_call(spelling);
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
    backward.padding_high = (call->result->dim(call->labels->kernel_spatial[i]) - 1) * backward.stride +
                            reach - call->lhs->dim(call->labels->input_spatial[i]) - backward.padding_low;
    window.push_back(backward);
  }
  const Part input = call->input(), output = call->output();
  const Attr labels = dim_labels(spelling.module(), {input.second, input.first, input.spatial},
                                 {output.first, output.second, output.spatial}, call->kernel());
  return whole_result(spelling, convolution(spelling, *call, labels, window));
}

}  // namespace hlosim
