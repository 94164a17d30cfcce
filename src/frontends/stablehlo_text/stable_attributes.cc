// Types, constants and attributes of StableHLO operations.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hlo/escapes.h"
#include "mlir/element_format.h"
#include "mlir/read_text.h"
#include "mlir/write_text.h"
#include "stablehlo_text/stable_writer.h"

namespace hlosim {
namespace {

std::string list(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string array(std::span<const int64_t> values) {
  return values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(values, ", "));
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::span<const int64_t> ints(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr == nullptr ? std::span<const int64_t>() : attr->ints();
}

int64_t integer(const Instruction& instruction, AttrKey key, int64_t otherwise = 0) {
  const Attr* attr = instruction.find(key);
  return attr == nullptr ? otherwise : attr->integer();
}

bool flag(const Instruction& instruction, AttrKey key) {
  const Attr* attr = instruction.find(key);
  return attr != nullptr && attr->flag();
}

std::string precision(const Instruction& instruction) {
  const Attr* attr = instruction.find(AttrKey::kOperandPrecision);
  if (attr == nullptr) return "";
  std::vector<std::string> words;
  for (const std::string_view word : attr->words())
    words.push_back(fmt::format("#stablehlo<precision {}>", upper(word)));
  return fmt::format(", precision_config = [{}]", fmt::join(words, ", "));
}

std::string flags(const Instruction& instruction,
                  std::initializer_list<std::pair<AttrKey, const char*>> keys) {
  std::string out;
  for (const auto& [key, name] : keys)
    if (flag(instruction, key)) out += fmt::format(", {} = true", name);
  return out;
}

std::string nested(const std::vector<std::vector<int64_t>>& rows, size_t width) {
  std::vector<std::string> texts;
  for (const std::vector<int64_t>& row : rows) texts.push_back(list(row));
  return fmt::format("dense<{}> : tensor<{}x{}xi64>",
                     rows.empty() ? "" : fmt::format("[{}]", fmt::join(texts, ", ")), rows.size(), width);
}

/// window_dimensions and what else of a window isn't as usual; null: scalars have none.
std::string reduction_window(const Attr* attr, bool only_strides) {
  const Window window = attr ? attr->window() : Window();
  std::vector<int64_t> sizes, strides, base, dilation;
  std::vector<std::vector<int64_t>> padding;
  for (const WindowDimension& dimension : window.dimensions) {
    sizes.push_back(dimension.size);
    strides.push_back(dimension.stride);
    base.push_back(dimension.base_dilation);
    dilation.push_back(dimension.window_dilation);
    padding.push_back({dimension.padding_low, dimension.padding_high});
  }
  std::string out = fmt::format("window_dimensions = {}, window_strides = {}, padding = {}", array(sizes),
                                array(strides), nested(padding, 2));
  if (!only_strides)
    out += fmt::format(", base_dilations = {}, window_dilations = {}", array(base), array(dilation));
  return out;
}

}  // namespace

std::string StableWriter::type(ShapeRef shape) {
  if (shape->is_token()) return "!stablehlo.token";
  if (shape->is_tuple()) {
    std::vector<std::string> parts;
    for (const ShapeRef part : shape->elements) parts.push_back(type(part));
    return fmt::format("tuple<{}>", fmt::join(parts, ", "));
  }
  std::string dims;
  std::vector<std::string> bounds;
  for (int64_t i = 0; i < shape->rank(); ++i) {
    const bool dynamic = shape->is_dynamic(i);
    dims += dynamic ? "?x" : fmt::format("{}x", shape->dim(i));
    bounds.push_back(dynamic ? fmt::to_string(shape->dim(i)) : "?");
  }
  const std::string encoding =
      shape->is_static() ? "" : fmt::format(", #stablehlo.bounds<{}>", fmt::join(bounds, ", "));
  return fmt::format("tensor<{}{}{}>", dims, mlir::type_word(shape->element_type), encoding);
}

std::optional<std::string> StableWriter::constant(const Instruction& instruction) {
  const Literal& literal = *instruction.literal;
  if (!instruction.shape->is_array()) return std::nullopt;
  const std::string type_text = type(instruction.shape);
  if (literal.elided) return fmt::format("value = dense_resource<__elided__> : {}", type_text);
  Arena arena;
  const Result<const mlir::Type*> read = mlir::read_type(type_text, arena);
  if (!read) return std::nullopt;
  const size_t width = static_cast<size_t>(byte_width(instruction.shape->element_type));
  std::string bytes(reinterpret_cast<const char*>(literal.data.data()), literal.data.size());
  bytes.resize(width * static_cast<size_t>(instruction.shape->element_count()));
  mlir::Attribute value;
  value.kind = mlir::AttributeKind::kDense;
  value.type = *read;
  bool alike = bytes.size() >= width;
  for (size_t at = width; alike && at < bytes.size(); at += width)
    alike = bytes.compare(at, width, bytes, 0, width) == 0;
  value.elements.is_splat = alike;
  value.elements.bytes = std::string_view(bytes).substr(0, alike ? width : bytes.size());
  return fmt::format("value = {}", mlir::to_text(value));
}

std::string StableWriter::convolution(const Instruction& instruction) const {
  const ConvolutionDimensions& dims = instruction.find(AttrKey::kDimLabels)->dim_labels();
  std::string out = fmt::format(
      "dimension_numbers = #stablehlo.conv<raw input_batch_dimension = {}, input_feature_dimension = {}, "
      "input_spatial_dimensions = {}, kernel_input_feature_dimension = {}, kernel_output_feature_dimension = "
      "{}, "
      "kernel_spatial_dimensions = {}, output_batch_dimension = {}, output_feature_dimension = {}, "
      "output_spatial_dimensions = {}>",
      dims.input_batch, dims.input_feature, list(dims.input_spatial), dims.kernel_input_feature,
      dims.kernel_output_feature, list(dims.kernel_spatial), dims.output_batch, dims.output_feature,
      list(dims.output_spatial));
  out += fmt::format(", batch_group_count = {} : i64, feature_group_count = {} : i64",
                     integer(instruction, AttrKey::kBatchGroupCount, 1),
                     integer(instruction, AttrKey::kFeatureGroupCount, 1));
  if (const Attr* window = instruction.find(AttrKey::kWindow)) {
    std::vector<int64_t> strides, base, dilation;
    std::vector<std::string> reversal;
    std::vector<std::vector<int64_t>> padding;
    for (const WindowDimension& dimension : window->window().dimensions) {
      strides.push_back(dimension.stride);
      base.push_back(dimension.base_dilation);
      dilation.push_back(dimension.window_dilation);
      reversal.push_back(dimension.reversal ? "true" : "false");
      padding.push_back({dimension.padding_low, dimension.padding_high});
    }
    out += fmt::format(", window_strides = {}, padding = {}, lhs_dilation = {}, rhs_dilation = {}",
                       array(strides), nested(padding, 2), array(base), array(dilation));
    if (!reversal.empty()) out += fmt::format(", window_reversal = array<i1: {}>", fmt::join(reversal, ", "));
  }
  return out + precision(instruction);
}

/// Groups and channel; short groups are filled up with -1.
std::string StableWriter::collective(const Instruction& instruction) const {
  std::vector<std::vector<int64_t>> groups;
  if (const Attr* attr = instruction.find(AttrKey::kReplicaGroups)) {
    const ReplicaGroups& given = attr->replica_groups();
    if (given.form != ReplicaGroups::Form::kList || !given.groups.empty())
      groups = expand_replica_groups(given, module_.replica_count() * module_.num_partitions());
  }
  size_t width = 0;
  for (const std::vector<int64_t>& group : groups) width = std::max(width, group.size());
  for (std::vector<int64_t>& group : groups) group.resize(width, -1);
  std::string out = fmt::format("replica_groups = {}", nested(groups, width));
  if (const Attr* channel = instruction.find(AttrKey::kChannelId))
    out += fmt::format(", channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>",
                       channel->integer());
  if (flag(instruction, AttrKey::kUseGlobalDeviceIds)) out += ", use_global_device_ids";
  return out;
}

/// Where split and joined along one dimension; the other form has a tuple.
std::optional<std::string> StableWriter::all_to_all(const Instruction& instruction) const {
  const std::span<const int64_t> dimensions = ints(instruction, AttrKey::kDimensions);
  const Attr* groups = instruction.find(AttrKey::kReplicaGroups);
  if (dimensions.empty() || instruction.shape->is_tuple()) return std::nullopt;
  const int64_t everybody = module_.replica_count() * module_.num_partitions();
  const auto expanded = groups == nullptr ? std::vector<std::vector<int64_t>>()
                                          : expand_replica_groups(groups->replica_groups(), everybody);
  const int64_t count = expanded.empty() ? everybody : static_cast<int64_t>(expanded[0].size());
  return fmt::format(
      "split_dimension = {0} : i64, concat_dimension = {0} : i64, split_count = {1} : i64, {2}",
      dimensions[0], count, collective(instruction));
}

/// Sharding and frontend attributes, behind the operation's own.
std::string StableWriter::discardable(const Instruction& instruction, const std::string& properties) {
  std::string out = properties;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  if (const Attr* sharding = instruction.find(AttrKey::kSharding))
    add(fmt::format("mhlo.sharding = {}", mlir_string(sharding->text())));
  std::vector<std::string> entries;
  for (const auto& [key, value] : frontend_attributes(instruction))
    if (!key.starts_with("composite."))
      entries.push_back(fmt::format("{} = {}", mlir_string(key), mlir_string(value)));
  if (!entries.empty()) add(fmt::format("mhlo.frontend_attributes = {{{}}}", fmt::join(entries, ", ")));
  return out;
}

std::map<std::string, std::string> frontend_attributes(const Instruction& instruction) {
  std::map<std::string, std::string> out;
  const Attr* attr = instruction.find(AttrKey::kFrontendAttributes);
  if (attr == nullptr) return out;
  std::string_view text = attr->text();
  size_t at = 1;
  while (at < text.size()) {
    const size_t equals = text.find('=', at);
    if (equals == std::string_view::npos) break;
    std::string key(text.substr(at, equals - at)), value;
    key.erase(0, key.find_first_not_of(" \n,"));
    at = equals + 1;
    if (at < text.size() && text[at] == '"') {
      const size_t start = ++at;
      for (; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value = unescaped(text.substr(start, std::min(at, text.size()) - start));
      ++at;
    } else {
      const size_t start = at;
      for (int open = 0; at < text.size(); ++at) {
        if (text[at] == '{') ++open;
        if ((text[at] == '}' && --open < 0) || (text[at] == ',' && open == 0)) break;
      }
      value = text.substr(start, at - start);
    }
    out[key] = value;
    while (at < text.size() && (text[at] == ',' || text[at] == ' ' || text[at] == '}')) ++at;
  }
  return out;
}

namespace {

std::string gather(const Instruction& instruction) {
  return fmt::format(
      "dimension_numbers = #stablehlo.gather<offset_dims = {}, collapsed_slice_dims = {}, "
      "operand_batching_dims = "
      "{}, start_indices_batching_dims = {}, start_index_map = {}, index_vector_dim = {}>, slice_sizes = "
      "{}{}",
      list(ints(instruction, AttrKey::kOffsetDims)), list(ints(instruction, AttrKey::kCollapsedSliceDims)),
      list(ints(instruction, AttrKey::kOperandBatchingDims)),
      list(ints(instruction, AttrKey::kStartIndicesBatchingDims)),
      list(ints(instruction, AttrKey::kStartIndexMap)), integer(instruction, AttrKey::kIndexVectorDim),
      array(ints(instruction, AttrKey::kSliceSizes)),
      flags(instruction, {{AttrKey::kIndicesAreSorted, "indices_are_sorted"}}));
}

std::string scatter(const Instruction& instruction) {
  return fmt::format(
      "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {}, inserted_window_dims = {}, "
      "input_batching_dims = {}, scatter_indices_batching_dims = {}, scatter_dims_to_operand_dims = {}, "
      "index_vector_dim = {}>{}",
      list(ints(instruction, AttrKey::kUpdateWindowDims)),
      list(ints(instruction, AttrKey::kInsertedWindowDims)),
      list(ints(instruction, AttrKey::kInputBatchingDims)),
      list(ints(instruction, AttrKey::kScatterIndicesBatchingDims)),
      list(ints(instruction, AttrKey::kScatterDimsToOperandDims)),
      integer(instruction, AttrKey::kIndexVectorDim),
      flags(instruction, {{AttrKey::kIndicesAreSorted, "indices_are_sorted"},
                          {AttrKey::kUniqueIndices, "unique_indices"}}));
}

std::string dot(const Instruction& instruction) {
  return fmt::format(
      "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, "
      "lhs_contracting_dimensions = {}, rhs_contracting_dimensions = {}>{}",
      list(ints(instruction, AttrKey::kLhsBatchDims)), list(ints(instruction, AttrKey::kRhsBatchDims)),
      list(ints(instruction, AttrKey::kLhsContractingDims)),
      list(ints(instruction, AttrKey::kRhsContractingDims)), precision(instruction));
}

std::string slice(const Instruction& instruction) {
  std::vector<int64_t> starts, limits, strides;
  for (const std::span<const int64_t> bound : instruction.find(AttrKey::kSlice)->int_lists()) {
    starts.push_back(bound[0]);
    limits.push_back(bound[1]);
    strides.push_back(bound[2]);
  }
  return fmt::format("start_indices = {}, limit_indices = {}, strides = {}", array(starts), array(limits),
                     array(strides));
}

std::string pad(const Instruction& instruction) {
  std::vector<int64_t> low, high, interior;
  for (const std::span<const int64_t> edge : instruction.find(AttrKey::kPadding)->int_lists()) {
    low.push_back(edge[0]);
    high.push_back(edge[1]);
    interior.push_back(edge[2]);
  }
  return fmt::format("edge_padding_low = {}, edge_padding_high = {}, interior_padding = {}", array(low),
                     array(high), array(interior));
}

std::string compare(const Instruction& instruction) {
  const Attr* type = instruction.find(AttrKey::kType);
  return fmt::format(
      "comparison_direction = #stablehlo<comparison_direction {}>{}",
      instruction.find(AttrKey::kDirection)->text(),
      type == nullptr ? "" : fmt::format(", compare_type = #stablehlo<comparison_type {}>", type->text()));
}

/// A string as HLO writes it, with its quotes or as a block in braces, as one of MLIR.
std::string string_of(const Attr& attr) {
  const std::string_view text = attr.text();
  const bool is_quoted = text.size() >= 2 && text.front() == '"';
  return mlir_string(is_quoted ? unescaped(text.substr(1, text.size() - 2)) : std::string(text));
}

std::optional<std::string> custom_call(const Instruction& instruction) {
  std::string out =
      fmt::format("call_target_name = {}", string_of(*instruction.find(AttrKey::kCustomCallTarget)));
  if (flag(instruction, AttrKey::kCustomCallHasSideEffect)) out += ", has_side_effect = true";
  const Attr* config = instruction.find(AttrKey::kBackendConfig);
  if (instruction.find(AttrKey::kCalledComputations) != nullptr ||
      instruction.find(AttrKey::kToApply) != nullptr)
    return std::nullopt;
  if (config != nullptr && string_of(*config) != "\"\"")
    out += fmt::format(", backend_config = {}", string_of(*config));
  return out;
}

std::string pairs(const Instruction& instruction) {
  std::vector<std::vector<int64_t>> rows;
  for (const std::span<const int64_t> pair : instruction.find(AttrKey::kSourceTargetPairs)->int_lists())
    rows.emplace_back(pair.begin(), pair.end());
  std::string out = fmt::format("source_target_pairs = {}", nested(rows, 2));
  if (const Attr* channel = instruction.find(AttrKey::kChannelId))
    out += fmt::format(", channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>",
                       channel->integer());
  return out;
}

std::string word(const Instruction& instruction, AttrKey key, std::string_view otherwise) {
  const Attr* attr = instruction.find(key);
  return attr == nullptr ? std::string(otherwise) : upper(attr->text());
}

std::string triangular_solve(const Instruction& instruction) {
  return fmt::format("left_side = {}, lower = {}, unit_diagonal = {}, transpose_a = #stablehlo<transpose {}>",
                     flag(instruction, AttrKey::kLeftSide), flag(instruction, AttrKey::kLower),
                     flag(instruction, AttrKey::kUnitDiagonal),
                     word(instruction, AttrKey::kTransposeA, "NO_TRANSPOSE"));
}

}  // namespace

/// Nothing where the attributes have no form.
std::optional<std::string> StableWriter::properties(const Instruction& instruction, StableForm form) {
  const std::span<const int64_t> dimensions = ints(instruction, AttrKey::kDimensions);
  const int64_t first = dimensions.empty() ? 0 : dimensions[0];
  switch (form) {
    case StableForm::kCompare:
      return compare(instruction);
    case StableForm::kConstant:
      return constant(instruction);
    case StableForm::kIota:
      return fmt::format("iota_dimension = {} : i64", integer(instruction, AttrKey::kIotaDimension));
    case StableForm::kBroadcast:
      return fmt::format("broadcast_dimensions = {}", array(dimensions));
    case StableForm::kPermutation:
      return fmt::format("permutation = {}", array(dimensions));
    case StableForm::kReverse:
    case StableForm::kReduce:
    case StableForm::kMap:
      return fmt::format("dimensions = {}", array(dimensions));
    case StableForm::kConcatenate:
    case StableForm::kDimensionSize:
      return fmt::format("dimension = {} : i64", first);
    case StableForm::kSlice:
      return slice(instruction);
    case StableForm::kDynamicSlice:
      return fmt::format("slice_sizes = {}", array(ints(instruction, AttrKey::kDynamicSliceSizes)));
    case StableForm::kPad:
      return pad(instruction);
    case StableForm::kDot:
      if (instruction.find(AttrKey::kAlgorithm) || instruction.find(AttrKey::kSparsityConfig))
        return std::nullopt;
      return dot(instruction);
    case StableForm::kConvolution:
      return convolution(instruction);
    case StableForm::kReduceWindow:
    case StableForm::kSelectAndScatter:
      return reduction_window(instruction.find(AttrKey::kWindow), form == StableForm::kSelectAndScatter);
    case StableForm::kGather:
      return gather(instruction);
    case StableForm::kScatter:
      return scatter(instruction);
    case StableForm::kSort:
      return fmt::format("dimension = {} : i64, is_stable = {}", first,
                         flag(instruction, AttrKey::kIsStable));
    case StableForm::kCustomCall:
      return custom_call(instruction);
    default:
      return of_libraries(instruction, form);
  }
}

/// The rest: what libraries and other devices do.
std::optional<std::string> StableWriter::of_libraries(const Instruction& instruction, StableForm form) {
  const std::span<const int64_t> dimensions = ints(instruction, AttrKey::kDimensions);
  const int64_t first = dimensions.empty() ? 0 : dimensions[0];
  switch (form) {
    case StableForm::kReducePrecision:
      return fmt::format("exponent_bits = {} : i32, mantissa_bits = {} : i32",
                         integer(instruction, AttrKey::kExponentBits),
                         integer(instruction, AttrKey::kMantissaBits));
    case StableForm::kFft:
      return fmt::format("fft_type = #stablehlo<fft_type {}>, fft_length = {}",
                         word(instruction, AttrKey::kFftType, "FFT"),
                         array(ints(instruction, AttrKey::kFftLength)));
    case StableForm::kCholesky:
      return fmt::format("lower = {}", flag(instruction, AttrKey::kLower));
    case StableForm::kTriangularSolve:
      return triangular_solve(instruction);
    case StableForm::kRngBits: {
      std::string algorithm = word(instruction, AttrKey::kAlgorithm, "RNG_DEFAULT");
      if (algorithm.starts_with("RNG_")) algorithm.erase(0, 4);
      return fmt::format("rng_algorithm = #stablehlo<rng_algorithm {}>", algorithm);
    }
    case StableForm::kTopK: {
      if (instruction.find(AttrKey::kLargest) && !flag(instruction, AttrKey::kLargest)) return std::nullopt;
      return fmt::format("k = {} : i64", integer(instruction, AttrKey::kK));
    }
    case StableForm::kBatchNorm:
      return fmt::format("epsilon = {:.9e} : f32, feature_index = {} : i64",
                         instruction.find(AttrKey::kEpsilon)->number(),
                         integer(instruction, AttrKey::kFeatureIndex));
    case StableForm::kAllReduce:
    case StableForm::kCollectiveBroadcast:
      return collective(instruction);
    case StableForm::kAllGather:
      return fmt::format("all_gather_dim = {} : i64, {}", first, collective(instruction));
    case StableForm::kReduceScatter:
      return fmt::format("scatter_dimension = {} : i64, {}", first, collective(instruction));
    case StableForm::kAllToAll:
      return all_to_all(instruction);
    case StableForm::kPermute:
      return pairs(instruction);
    default:
      return "";
  }
}

}  // namespace hlosim
