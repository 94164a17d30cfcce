#include "mlir_bytecode/vhlo_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"
#include "mlir_bytecode/numbers.h"

namespace hlosim::mlir {
namespace {

/// An operation with its newest version and its attributes in alphabetical order. `name@2` is there from
/// version 2 on, `name<2` up to the one before.
struct Row {
  std::string_view name;
  int newest;
  std::string_view attributes;
};

#define CONVOLUTION_NUMBERS                                                                                \
  "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension " \
  "kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension "         \
  "output_feature_dimension output_spatial_dimensions "

constexpr Row kRows[] = {
    {"abs", 1, ""},
    {"add", 1, ""},
    {"after_all", 1, ""},
    {"all_gather", 2, "all_gather_dim channel_id replica_groups use_global_device_ids"},
    {"all_reduce", 2, "channel_id replica_groups use_global_device_ids"},
    {"all_to_all", 2, "channel_id concat_dimension replica_groups split_count split_dimension"},
    {"and", 1, ""},
    {"async_done", 1, ""},
    {"async_start", 1, ""},
    {"atan2", 1, ""},
    {"batch_norm_grad", 1, "epsilon feature_index"},
    {"batch_norm_inference", 1, "epsilon feature_index"},
    {"batch_norm_training", 1, "epsilon feature_index"},
    {"bitcast_convert", 1, ""},
    {"broadcast", 1, "broadcast_sizes"},
    {"broadcast_in_dim", 1, "broadcast_dimensions"},
    {"call", 1, "callee"},
    {"case", 1, ""},
    {"cbrt", 2, "result_accuracy@2"},
    {"ceil", 1, ""},
    {"cholesky", 1, "lower"},
    {"clamp", 1, ""},
    {"collective_broadcast", 2, "channel_id has_dynamic_root@2 replica_groups"},
    {"collective_permute", 1, "channel_id source_target_pairs"},
    {"collective_reduce", 1, "channel_id has_dynamic_root replica_groups use_global_device_ids"},
    {"compare", 1, "compare_type comparison_direction"},
    {"complex", 1, ""},
    {"composite", 2, "composite_attributes decomposition name version"},
    {"concatenate", 1, "dimension"},
    {"constant", 1, "value"},
    {"convert", 1, ""},
    {"convolution", 1,
     "batch_group_count feature_group_count " CONVOLUTION_NUMBERS
     "padding precision_config rhs_dilation window_reversal window_strides"},
    {"cosine", 2, "result_accuracy@2"},
    {"count_leading_zeros", 1, ""},
    {"create_token", 1, ""},
    {"cross-replica-sum", 1, "replica_groups"},
    {"custom_call", 2,
     "api_version backend_config call_target_name called_computations has_side_effect operand_layouts "
     "output_operand_aliases result_layouts result_tilings@2"},
    {"divide", 1, ""},
    {"dot", 1, "precision_config"},
    {"dot_general", 2,
     "accumulation_type@2 allow_imprecise_accumulation@2 lhs_batching_dimensions lhs_component_count@2 "
     "lhs_contracting_dimensions lhs_precision_type@2 num_primitive_operations@2 precision_config "
     "rhs_batching_dimensions rhs_component_count@2 rhs_contracting_dimensions rhs_precision_type@2"},
    {"dynamic_broadcast_in_dim", 1,
     "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions"},
    {"dynamic_conv", 2,
     "batch_group_count feature_group_count " CONVOLUTION_NUMBERS
     "padding<2 precision_config rhs_dilation window_reversal window_strides"},
    {"dynamic_gather", 2,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 "
     "start_index_map start_indices_batching_dims@2"},
    {"dynamic_iota", 1, "iota_dimension"},
    {"dynamic_pad", 1, ""},
    {"dynamic_reshape", 1, ""},
    {"dynamic_slice", 1, "slice_sizes"},
    {"dynamic_update_slice", 1, ""},
    {"einsum", 1, "einsum_config"},
    {"exponential", 2, "result_accuracy@2"},
    {"exponential_minus_one", 2, "result_accuracy@2"},
    {"fft", 1, "fft_length fft_type"},
    {"floor", 1, ""},
    {"func", 1, "arg_attrs function_type res_attrs sym_name sym_visibility"},
    {"gather", 2,
     "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims@2 "
     "slice_sizes "
     "start_index_map start_indices_batching_dims@2"},
    {"get_dimension_size", 1, "dimension"},
    {"get_tuple_element", 1, "index"},
    {"if", 1, ""},
    {"imag", 1, ""},
    {"infeed", 1, "infeed_config layout"},
    {"iota", 1, "iota_dimension"},
    {"is_finite", 1, ""},
    {"log", 2, "result_accuracy@2"},
    {"log_plus_one", 2, "result_accuracy@2"},
    {"logistic", 2, "result_accuracy@2"},
    {"map", 1, "dimensions"},
    {"maximum", 1, ""},
    {"minimum", 1, ""},
    {"multiply", 1, ""},
    {"negate", 1, ""},
    {"not", 1, ""},
    {"optimization_barrier", 1, ""},
    {"or", 1, ""},
    {"outfeed", 1, "outfeed_config"},
    {"pad", 1, "edge_padding_high edge_padding_low interior_padding"},
    {"partition_id", 1, ""},
    {"popcnt", 1, ""},
    {"power", 1, ""},
    {"real", 1, ""},
    {"real_dynamic_slice", 1, ""},
    {"recv", 2, "channel_id channel_type is_host_transfer source_target_pairs@2"},
    {"reduce", 1, "dimensions"},
    {"reduce_precision", 1, "exponent_bits mantissa_bits"},
    {"reduce_scatter", 1, "channel_id replica_groups scatter_dimension use_global_device_ids"},
    {"reduce_window", 1, "base_dilations padding window_dilations window_dimensions window_strides"},
    {"remainder", 1, ""},
    {"replica_id", 1, ""},
    {"reshape", 1, ""},
    {"return", 1, ""},
    {"reverse", 1, "dimensions"},
    {"rng", 1, "rng_distribution"},
    {"rng_bit_generator", 1, "rng_algorithm"},
    {"round_nearest_afz", 1, ""},
    {"round_nearest_even", 1, ""},
    {"rsqrt", 2, "result_accuracy@2"},
    {"scatter", 2,
     "index_vector_dim indices_are_sorted input_batching_dims@2 inserted_window_dims "
     "scatter_dims_to_operand_dims scatter_indices_batching_dims@2 unique_indices update_window_dims"},
    {"select", 1, ""},
    {"select_and_scatter", 1, "padding window_dimensions window_strides"},
    {"send", 2, "channel_id channel_type is_host_transfer source_target_pairs@2"},
    {"set_dimension_size", 1, "dimension"},
    {"shift_left", 1, ""},
    {"shift_right_arithmetic", 1, ""},
    {"shift_right_logical", 1, ""},
    {"sign", 1, ""},
    {"sine", 2, "result_accuracy@2"},
    {"slice", 1, "limit_indices start_indices strides"},
    {"sort", 1, "dimension is_stable"},
    {"sqrt", 2, "result_accuracy@2"},
    {"subtract", 1, ""},
    {"tan", 2, "result_accuracy@2"},
    {"tanh", 2, "result_accuracy@2"},
    {"torch_index_select", 1, "batch_dims dim"},
    {"transpose", 1, "permutation"},
    {"triangular_solve", 1, "left_side lower transpose_a unit_diagonal"},
    {"tuple", 1, ""},
    {"unary_einsum", 1, "einsum_config"},
    {"uniform_dequantize", 1, ""},
    {"uniform_quantize", 1, ""},
    {"while", 1, ""},
    {"xor", 1, ""},
};
#undef CONVOLUTION_NUMBERS

/// Names of today, where they aren't "stablehlo." and VHLO's.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"call", "func.call"}, {"func", "func.func"}, {"return", "return"}};

/// Attributes that are one structure in StableHLO.
struct Fold {
  std::string_view operations;  // between blanks
  std::string_view attribute;
  std::string_view structure;
  std::string_view entries;  // in the order in which texts have them
};
constexpr Fold kFolds[] = {
    {" gather dynamic_gather ", "dimension_numbers", "stablehlo.gather",
     "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map "
     "index_vector_dim"},
    {" scatter ", "scatter_dimension_numbers", "stablehlo.scatter",
     "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims "
     "scatter_dims_to_operand_dims index_vector_dim"},
    {" dot_general ", "dot_dimension_numbers", "stablehlo.dot",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions"},
    {" dot_general ", "algorithm", "stablehlo.dot_algorithm",
     "lhs_precision_type rhs_precision_type accumulation_type lhs_component_count rhs_component_count "
     "num_primitive_operations allow_imprecise_accumulation"},
    {" convolution dynamic_conv ", "dimension_numbers", "stablehlo.conv",
     "input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension "
     "kernel_output_feature_dimension kernel_spatial_dimensions output_batch_dimension "
     "output_feature_dimension output_spatial_dimensions"},
    {" send recv ", "channel_handle", "stablehlo.channel_handle", "channel_id:handle channel_type:type"},
    {" all_gather all_reduce all_to_all collective_broadcast collective_permute collective_reduce "
     "reduce_scatter ",
     "channel_handle", "stablehlo.channel_handle", "channel_id:handle"},
};

/// What stays a tensor where other lists of numbers don't.
constexpr std::string_view kTensors[] = {"value", "padding", "replica_groups", "source_target_pairs"};
/// Strings that name functions.
constexpr std::string_view kSymbols[] = {"callee", "decomposition"};

/// The words of `list`, one after the other.
template <class Use>
void for_each_word(std::string_view list, Use use) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(' '), list.size());
    use(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

template <class List>
bool has(const List& list, std::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

/// Attributes of the operation's version: `name@2` and `name<2` are told by it.
std::vector<std::string_view> attributes_of(const Row& row, int version) {
  std::vector<std::string_view> made;
  for_each_word(row.attributes, [&](std::string_view word) {
    const size_t mark = word.find_first_of("@<");
    if (mark != std::string_view::npos) {
      const int from = word[mark + 1] - '0';
      if ((word[mark] == '@') != (version >= from)) return;
    }
    made.push_back(word.substr(0, mark));
  });
  return made;
}

std::string_view name_today(std::string_view name) {
  for (const auto& [vhlo, today] : kOtherNames)
    if (name == vhlo) return today;
  return {};
}

bool is_none(const Attribute& value) {
  return value.kind == AttributeKind::kType && value.type && value.type->word == "none";
}

class Upgrade {
 public:
  Upgrade(const VhloOperation& operation, AttributeTable& table, ByteReader& in)
      : operation_(operation), table_(table), in_(in) {}

  std::span<const NamedAttribute> of(std::span<const NamedAttribute> given) {
    given_ = given;
    made_ = table_.room<NamedAttribute>(given.size() + 2, in_);
    if (made_.empty()) return {};
    const std::string word = fmt::format(" {} ", operation_.name.substr(operation_.name.find('.') + 1));
    for (const Fold& fold : kFolds)
      if (fold.operations.find(word) != std::string_view::npos) put(fold.attribute, folded(fold));
    for (const NamedAttribute& entry : given) {
      if (!in_.ok() || !entry.value || has(folded_, entry.name)) continue;
      put(entry.name, has(operation_.attributes, entry.name) ? of_operation(entry) : entry.value);
    }
    return std::span<const NamedAttribute>(made_).first(used_);
  }

 private:
  void put(std::string_view name, const Attribute* value) {
    if (value && used_ < made_.size()) made_[used_++] = {name, value};
  }

  const Attribute* given(std::string_view name) const {
    for (const NamedAttribute& entry : given_)
      if (entry.name == name) return entry.value;
    return nullptr;
  }

  /// Null: none of its entries is there, or says anything.
  const Attribute* folded(const Fold& fold) {
    Attribute* const made = table_.make(AttributeKind::kStruct, in_);
    made->name = fold.structure;
    const auto words = 1 + std::count(fold.entries.begin(), fold.entries.end(), ' ');
    const std::span<NamedAttribute> entries = table_.room<NamedAttribute>(static_cast<size_t>(words), in_);
    size_t used = 0;
    for_each_word(fold.entries, [&](std::string_view word) {
      const size_t colon = word.find(':');
      const std::string_view name = word.substr(0, colon);
      folded_.push_back(name);
      const Attribute* const value = given(name);
      if (!value || is_none(*value) || entries.empty()) return;
      made->offset = value->offset;
      entries[used++] = {colon == std::string_view::npos ? name : word.substr(colon + 1), as_entry(value)};
    });
    const bool is_channel = fold.attribute == "channel_handle";
    if (used == 0 ||
        (is_channel && fold.entries.find(' ') == std::string_view::npos && handle(entries[0]) == 0))
      return nullptr;
    made->entries = std::span<const NamedAttribute>(entries).first(used);
    return made;
  }

  static int64_t handle(const NamedAttribute& entry) { return entry.value ? entry.value->integer : 0; }

  const Attribute* as_entry(const Attribute* value) {
    return value->kind == AttributeKind::kDense ? as_list(*value, nullptr) : value;
  }

  /// A tensor of numbers as a list of them.
  const Attribute* as_list(const Attribute& tensor, const Type* element) {
    if (!tensor.type || !tensor.type->element || tensor.type->dims.size() != 1) {
      in_.fail_at(tensor.offset, "a tensor where a list of numbers has to stand");
      return &tensor;
    }
    const size_t width = element_bytes(*tensor.type->element);
    const auto count = static_cast<size_t>(tensor.type->dims[0]);
    if (is_float_word(tensor.type->element->word) || width == 0) {
      in_.fail_at(tensor.offset, "a tensor where a list of integers has to stand");
      return &tensor;
    }
    // A splat says in few bytes that there are many of it; no list of an operation is long.
    if (tensor.elements.is_splat && count > in_.left() + 4096) {
      in_.fail_at(tensor.offset, fmt::format("a list of {} numbers", count));
      return &tensor;
    }
    Attribute* const made = table_.make(AttributeKind::kIntegers, in_);
    made->offset = tensor.offset;
    made->type = element;
    const std::span<int64_t> integers = table_.room<int64_t>(count, in_);
    for (size_t i = 0; i < integers.size(); ++i)
      integers[i] = integer_at(tensor.elements.bytes.data() + (tensor.elements.is_splat ? 0 : i * width),
                               *tensor.type->element);
    made->integers = integers;
    return made;
  }

  const Attribute* symbol(const Attribute& name) {
    if (name.kind != AttributeKind::kString) return &name;
    Attribute* const made = table_.make(AttributeKind::kSymbol, in_);
    made->offset = name.offset;
    made->text = name.text;
    return made;
  }

  const Attribute* symbols(const Attribute& names) {
    if (names.kind != AttributeKind::kArray || names.items.empty()) return nullptr;
    Attribute* const made = table_.make(AttributeKind::kArray, in_);
    made->offset = names.offset;
    const std::span<const Attribute*> items = table_.room<const Attribute*>(names.items.size(), in_);
    for (size_t i = 0; i < items.size(); ++i) items[i] = symbol(*names.items[i]);
    made->items = items;
    return made;
  }

  /// An attribute that is the operation's own; null: it says nothing.
  const Attribute* of_operation(const NamedAttribute& entry) {
    const Attribute& value = *entry.value;
    if (is_none(value) || is_default(entry)) return nullptr;
    if (has(kSymbols, entry.name)) return symbol(value);
    if (entry.name == "called_computations") return symbols(value);
    if (entry.name == "use_global_device_ids" && value.kind == AttributeKind::kBool)
      return table_.make(AttributeKind::kUnit, in_);
    const bool is_list = value.kind == AttributeKind::kDense && !has(kTensors, entry.name) && value.type &&
                         value.type->dims.size() == 1;
    return is_list ? as_list(value, value.type->element) : &value;
  }

  /// Does it say what holds where nothing is said?
  bool is_default(const NamedAttribute& entry) const {
    const Attribute& value = *entry.value;
    const std::string_view name = entry.name;
    switch (value.kind) {
      case AttributeKind::kBool:
        return value.integer == 0 && name != "left_side" && name != "unit_diagonal" &&
               name != "allow_imprecise_accumulation" &&
               !(name == "lower" && operation_.attributes.size() > 1);
      case AttributeKind::kString:
        return value.text.empty() && (name == "sym_visibility" || name == "backend_config" ||
                                      name == "infeed_config" || name == "outfeed_config");
      case AttributeKind::kArray:
        return value.items.empty() || (name == "precision_config" && all_default(value));
      case AttributeKind::kEnum:
        return name == "compare_type" && value.text == "NOTYPE";
      case AttributeKind::kStruct:
        return name == "result_accuracy" && says_default(value);
      case AttributeKind::kInteger:
        return (name == "api_version" && value.integer == 1) ||
               (name == "dimension" && value.integer == -1 && has(operation_.attributes, "is_stable"));
      default:
        return false;
    }
  }

  static bool all_default(const Attribute& precisions) {
    return std::all_of(precisions.items.begin(), precisions.items.end(),
                       [](const Attribute* item) { return item->text == "DEFAULT"; });
  }
  static bool says_default(const Attribute& accuracy) {
    const Attribute* const mode = accuracy.find("mode");
    return mode && mode->text == "DEFAULT";
  }

  const VhloOperation& operation_;
  AttributeTable& table_;
  ByteReader& in_;
  std::span<const NamedAttribute> given_;
  std::span<NamedAttribute> made_;
  size_t used_ = 0;
  std::vector<std::string_view> folded_;
};

}  // namespace

VhloOperation vhlo_operation(std::string_view name) {
  constexpr std::string_view kPrefix = "vhlo.";
  const size_t mark = name.rfind("_v");
  VhloOperation made;
  if (!name.starts_with(kPrefix) || mark == std::string_view::npos || mark < kPrefix.size()) return made;
  int version = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + mark + 2, end, version);
  const std::string_view word = name.substr(kPrefix.size(), mark - kPrefix.size());
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& known) { return known.name == word; });
  if (read.ec != std::errc{} || read.ptr != end || row == std::end(kRows)) return made;
  if (version < 1 || version > row->newest) return made;
  made.name = name_today(word);
  if (made.name.empty()) made.name = row->name;
  made.attributes = attributes_of(*row, version);
  return made;
}

std::span<const NamedAttribute> upgraded(const VhloOperation& operation,
                                         std::span<const NamedAttribute> given, AttributeTable& table,
                                         ByteReader& in) {
  return Upgrade(operation, table, in).of(given);
}

std::string newest_known(const Container& container) {
  return fmt::format("written by {}; VHLO is known up to 1.20.0", shown(container.producer));
}

}  // namespace hlosim::mlir
