// Products of matrices and convolutions.
#include <algorithm>

#include "stablehlo/types.h"
#include "stablehlo/windows.h"

namespace hlosim::stablehlo {
namespace {

/// The words of precision_config in HLO's spelling, where any isn't the default.
std::vector<Attr> precision_of(OpLowering& op) {
  const mlir::Attribute* config = op.find("precision_config");
  if (!config) return {};
  std::vector<std::string> words;
  bool any = false;
  for (const mlir::Attribute* item : config->items) {
    std::string word(item->text);
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    any |= word != "default";
    words.push_back(std::move(word));
  }
  if (words.size() == 1) words.push_back(words[0]);
  if (!any) return {};
  return {op.builder().words(AttrKey::kOperandPrecision, words)};
}

/// The word for `algorithm = <lhs_precision_type = …>`.
std::optional<std::string> algorithm_of(OpLowering& op, const mlir::Attribute& algorithm) {
  const auto type_word = [&](std::string_view name) -> std::string {
    const mlir::Attribute* entry = algorithm.find(name);
    if (!entry) return "";
    if (!entry->type) return std::string(entry->text);
    return std::string(entry->type->word);
  };
  std::string lhs = type_word("lhs_precision_type"), rhs = type_word("rhs_precision_type");
  const std::string sum = type_word("accumulation_type");
  const int64_t operations = op.integer_in(algorithm, "num_primitive_operations", 1);
  const mlir::Attribute* imprecise = algorithm.find("allow_imprecise_accumulation");
  std::string word;
  if (lhs.starts_with("f8") && rhs.starts_with("f8"))
    word = imprecise && imprecise->integer ? "dot_any_f8_any_f8_f32_fast_accum" : "dot_any_f8_any_f8_f32";
  else
    word = fmt::format("dot_{}_{}_{}", lhs, rhs, sum);
  if (operations > 1) word += fmt::format("_x{}", operations);
  return word;
}

void add_roles(OpLowering& op, const mlir::Attribute& numbers, std::vector<Attr>& attrs) {
  const auto add = [&](AttrKey key, std::string_view name) {
    const std::vector<int64_t> dimensions = op.list_in(numbers, name);
    if (!dimensions.empty()) attrs.push_back(op.ints(key, dimensions));
  };
  add(AttrKey::kLhsBatchDims, "lhs_batching_dimensions");
  add(AttrKey::kLhsContractingDims, "lhs_contracting_dimensions");
  add(AttrKey::kRhsBatchDims, "rhs_batching_dimensions");
  add(AttrKey::kRhsContractingDims, "rhs_contracting_dimensions");
}

void lower_dot_general(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const mlir::Attribute* numbers = op.need("dot_dimension_numbers");
  if (!numbers) return;
  std::vector<Attr> attrs;
  add_roles(op, *numbers, attrs);
  for (const Attr& attr : precision_of(op)) attrs.push_back(attr);
  const mlir::Attribute* algorithm = op.find("algorithm");
  if (algorithm && !algorithm->entries.empty())
    if (const auto word = algorithm_of(op, *algorithm)) attrs.push_back(op.word(AttrKey::kAlgorithm, *word));
  const Values operands = op.operands();
  op.give(op.make(Opcode::kDot, operands, attrs, op.result()));
}

void lower_dot(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const Values operands = op.operands();
  if (op.failed()) return;
  const int64_t rank = op.rank(operands[0]);
  if (rank < 1 || op.rank(operands[1]) < 1) {
    op.fail("contracts {} with {}, expected at least one dimension in each",
            to_text_without_layout(op.shape(operands[0])), to_text_without_layout(op.shape(operands[1])));
    return;
  }
  std::vector<Attr> attrs = {op.ints(AttrKey::kLhsContractingDims, {rank - 1}),
                             op.ints(AttrKey::kRhsContractingDims, {0})};
  for (const Attr& attr : precision_of(op)) attrs.push_back(attr);
  op.give(op.make(Opcode::kDot, operands, attrs, op.result()));
}

/// The letters of `ab,bc->ac`; nullopt: an ellipsis, a letter twice in one place, or no such form.
struct EinsumLabels {
  std::string lhs, rhs, out;
};
std::optional<EinsumLabels> einsum_labels(std::string_view config) {
  const size_t comma = config.find(','), arrow = config.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos || comma > arrow)
    return std::nullopt;
  EinsumLabels labels{std::string(config.substr(0, comma)),
                      std::string(config.substr(comma + 1, arrow - comma - 1)),
                      std::string(config.substr(arrow + 2))};
  for (const std::string* part : {&labels.lhs, &labels.rhs, &labels.out})
    for (const char c : *part)
      if (c < 'A' || c > 'z' || std::count(part->begin(), part->end(), c) > 1) return std::nullopt;
  return labels;
}

/// A product whose result is transposed to the order that is asked for.
void lower_einsum(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const auto labels = einsum_labels(op.text("einsum_config"));
  const Values operands = op.operands();
  if (op.failed()) return;
  if (!labels || op.rank(operands[0]) != static_cast<int64_t>(labels->lhs.size()) ||
      op.rank(operands[1]) != static_cast<int64_t>(labels->rhs.size())) {
    op.fail("einsum_config \"{}\" doesn't fit the operands, expected one letter a dimension, as in ab,bc->ac",
            op.text("einsum_config"));
    return;
  }
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  std::string batch, lhs_free, rhs_free;
  for (size_t i = 0; i < labels->lhs.size(); ++i) {
    const char c = labels->lhs[i];
    const size_t other = labels->rhs.find(c);
    const bool kept = labels->out.find(c) != std::string::npos;
    if (other == std::string::npos) {
      lhs_free += c;
    } else if (kept) {
      batch += c, lhs_batch.push_back(static_cast<int64_t>(i)),
          rhs_batch.push_back(static_cast<int64_t>(other));
    } else {
      lhs_contract.push_back(static_cast<int64_t>(i)), rhs_contract.push_back(static_cast<int64_t>(other));
    }
  }
  for (const char c : labels->rhs)
    if (labels->lhs.find(c) == std::string::npos) rhs_free += c;
  const std::string made = batch + lhs_free + rhs_free;
  std::vector<int64_t> order;
  for (const char c : labels->out)
    if (const size_t at = made.find(c); at != std::string::npos) order.push_back(static_cast<int64_t>(at));
  if (order.size() != made.size() || order.size() != labels->out.size()) {
    op.fail("einsum_config \"{}\" sums over a dimension of one operand alone", op.text("einsum_config"));
    return;
  }
  std::vector<Attr> attrs = precision_of(op);
  if (!lhs_batch.empty()) attrs.push_back(op.ints(AttrKey::kLhsBatchDims, lhs_batch));
  attrs.push_back(op.ints(AttrKey::kLhsContractingDims, lhs_contract));
  if (!rhs_batch.empty()) attrs.push_back(op.ints(AttrKey::kRhsBatchDims, rhs_batch));
  attrs.push_back(op.ints(AttrKey::kRhsContractingDims, rhs_contract));
  const InstructionId product = op.make(Opcode::kDot, operands, attrs);
  op.give(std::is_sorted(order.begin(), order.end())
              ? product
              : op.make(Opcode::kTranspose, {product}, {op.ints(AttrKey::kDimensions, order)}));
}

/// The dimensions that each label of `b01f` stands for; false: one is beyond `rank`, or taken.
bool place(std::string& labels, int64_t dimension, char label) {
  if (dimension < 0 || dimension >= static_cast<int64_t>(labels.size())) return false;
  char& place = labels[static_cast<size_t>(dimension)];
  if (place != '?') return false;
  place = label;
  return true;
}

constexpr int64_t kMostSpatial = 10;

std::optional<Attr> dim_labels(OpLowering& op, const mlir::Attribute& numbers, int64_t lhs_rank,
                               int64_t rhs_rank) {
  ConvolutionDimensions d;
  d.input_batch = op.integer_in(numbers, "input_batch_dimension", -1);
  d.input_feature = op.integer_in(numbers, "input_feature_dimension", -1);
  d.kernel_input_feature = op.integer_in(numbers, "kernel_input_feature_dimension", -1);
  d.kernel_output_feature = op.integer_in(numbers, "kernel_output_feature_dimension", -1);
  d.output_batch = op.integer_in(numbers, "output_batch_dimension", -1);
  d.output_feature = op.integer_in(numbers, "output_feature_dimension", -1);
  const std::vector<int64_t> input = op.list_in(numbers, "input_spatial_dimensions"),
                             kernel = op.list_in(numbers, "kernel_spatial_dimensions"),
                             output = op.list_in(numbers, "output_spatial_dimensions");
  std::string in(static_cast<size_t>(lhs_rank), '?'), mid(static_cast<size_t>(rhs_rank), '?');
  std::string out(in);
  bool right = place(in, d.input_batch, 'b') && place(in, d.input_feature, 'f') &&
               place(mid, d.kernel_input_feature, 'i') && place(mid, d.kernel_output_feature, 'o') &&
               place(out, d.output_batch, 'b') && place(out, d.output_feature, 'f') &&
               input.size() == kernel.size() && input.size() == output.size() &&
               static_cast<int64_t>(input.size()) <= kMostSpatial;
  for (size_t i = 0; right && i < input.size(); ++i) {
    const char label = static_cast<char>('0' + i);
    right = place(in, input[i], label) && place(mid, kernel[i], label) && place(out, output[i], label);
  }
  if (!right || op.failed()) {
    op.fail("dimension_numbers name a dimension twice, or one that the operands don't have");
    return std::nullopt;
  }
  Arena& arena = op.arena();
  d.input_spatial = arena.copy(input);
  d.kernel_spatial = arena.copy(kernel);
  d.output_spatial = arena.copy(output);
  d.text = arena.copy(std::string_view(fmt::format("{}_{}->{}", in, mid, out)));
  return Attr::make_struct(AttrKey::kDimLabels, AttrSyntax::kDimLabels,
                           static_cast<const ConvolutionDimensions*>(arena.make<ConvolutionDimensions>(d)));
}

void lower_convolution(OpLowering& op, Opcode) {
  if (op.takes(2)) give_convolution(op, op.has("padding") ? op.table("padding") : IntRows());
}

/// "ab->b": what the result hasn't is summed, as a product with ones.
void lower_unary_einsum(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const auto labels = einsum_labels(fmt::format(",{}", op.text("einsum_config")));
  InstructionId value = op.operand(0);
  if (op.failed()) return;
  if (!labels || op.rank(value) != static_cast<int64_t>(labels->rhs.size())) {
    op.fail("einsum_config \"{}\" doesn't fit the operand, expected one letter a dimension, as in ab->b",
            op.text("einsum_config"));
    return;
  }
  std::vector<int64_t> summed, all, sizes, order;
  std::string kept;
  for (size_t i = 0; i < labels->rhs.size(); ++i) {
    if (labels->out.find(labels->rhs[i]) != std::string::npos) {
      kept += labels->rhs[i];
      continue;
    }
    all.push_back(static_cast<int64_t>(summed.size()));
    summed.push_back(static_cast<int64_t>(i));
    sizes.push_back(op.shape(value)->dim(static_cast<int64_t>(i)));
  }
  for (const char c : labels->out) order.push_back(static_cast<int64_t>(kept.find(c)));
  if (kept.size() != labels->out.size() || std::count(order.begin(), order.end(), -1) > 0) {
    op.fail("einsum_config \"{}\" has a dimension in its result alone", op.text("einsum_config"));
    return;
  }
  if (!summed.empty()) {
    const ElementType type = op.type(value);
    const InstructionId ones = op.splat(op.number(type, 1), op.shapes().array(type, sizes));
    value =
        op.make(Opcode::kDot, {value, ones},
                {op.ints(AttrKey::kLhsContractingDims, summed), op.ints(AttrKey::kRhsContractingDims, all)});
  }
  op.give(
      std::is_sorted(order.begin(), order.end())
          ? value
          : op.make(Opcode::kTranspose, {value}, {op.ints(AttrKey::kDimensions, order)}, op.static_result()));
}

constexpr Row kContractionRows[] = {
    {"stablehlo.convolution", lower_convolution}, {"stablehlo.dot", lower_dot},
    {"stablehlo.einsum", lower_einsum},           {"stablehlo.unary_einsum", lower_unary_einsum},
    {"stablehlo.dot_general", lower_dot_general},
};

}  // namespace

Attr window_attr(OpLowering& op, std::span<const WindowDimension> dimensions) {
  const Window* window = op.arena().make<Window>(Window{op.arena().copy(dimensions)});
  return Attr::make_struct(AttrKey::kWindow, AttrSyntax::kWindow, window);
}

std::vector<Attr> precision_attrs(OpLowering& op) { return precision_of(op); }

void give_convolution(OpLowering& op, const IntRows& padding) {
  const mlir::Attribute* numbers = op.need("dimension_numbers");
  const InstructionId lhs = op.operand(0), rhs = op.operand(1);
  if (op.failed()) return;
  if (!op.shape(lhs)->is_array() || !op.shape(rhs)->is_array()) {
    op.fail("expects arrays");
    return;
  }
  const std::optional<Attr> labels = dim_labels(op, *numbers, op.rank(lhs), op.rank(rhs));
  if (!labels) return;
  const auto spatial = labels->dim_labels().kernel_spatial;
  const size_t count = spatial.size();
  const auto ones = [&](std::string_view name) { return op.list_or(name, std::vector<int64_t>(count, 1)); };
  const auto strides = ones("window_strides"), lhs_dilation = ones("lhs_dilation"),
             rhs_dilation = ones("rhs_dilation");
  const auto reversal = op.list_or("window_reversal", std::vector<int64_t>(count, 0));
  if (op.failed()) return;
  if (strides.size() != count || lhs_dilation.size() != count || rhs_dilation.size() != count ||
      reversal.size() != count || (!padding.empty() && padding.size() != count)) {
    op.fail("the window's lists differ in length from the {} spatial dimensions", count);
    return;
  }
  std::vector<WindowDimension> window(count);
  for (size_t i = 0; i < count; ++i) {
    WindowDimension& w = window[i];
    w.size = op.shape(rhs)->dim(spatial[i]);
    w.stride = strides[i];
    if (!padding.empty()) w.padding_low = padding[i][0], w.padding_high = padding[i][1];
    w.base_dilation = lhs_dilation[i];
    w.window_dilation = rhs_dilation[i];
    w.reversal = reversal[i] != 0;
  }
  std::vector<Attr> attrs;
  if (count > 0) attrs.push_back(window_attr(op, window));
  attrs.push_back(*labels);
  for (const auto& [key, name] : {std::pair(AttrKey::kFeatureGroupCount, "feature_group_count"),
                                  std::pair(AttrKey::kBatchGroupCount, "batch_group_count")})
    if (const int64_t groups = op.integer(name, 1); groups != 1) attrs.push_back(Attr::make_int(key, groups));
  for (const Attr& attr : precision_of(op)) attrs.push_back(attr);
  const InstructionId operands[] = {lhs, rhs};
  op.give(op.make(Opcode::kConvolution, operands, attrs, op.result()));
}

std::span<const Row> contraction_rows() { return kContractionRows; }

}  // namespace hlosim::stablehlo
