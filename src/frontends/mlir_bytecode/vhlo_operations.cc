#include "mlir_bytecode/vhlo_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "mlir/stable_operations.h"
#include "mlir_bytecode/numbers.h"

namespace hlosim::mlir {
namespace {

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
      in_.fail_at(tensor.offset, "a tensor instead of a list of numbers");
      return &tensor;
    }
    const size_t width = element_bytes(*tensor.type->element);
    const auto count = static_cast<size_t>(tensor.type->dims[0]);
    if (is_float_word(tensor.type->element->word) || width == 0) {
      in_.fail_at(tensor.offset, "a tensor instead of a list of integers");
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
  constexpr std::string_view kPrefix = "vhlo.", kStable = "stablehlo.";
  const size_t mark = name.rfind("_v");
  VhloOperation made;
  if (!name.starts_with(kPrefix) || mark == std::string_view::npos || mark < kPrefix.size()) return made;
  int version = 0;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + mark + 2, end, version);
  const std::string_view word = name.substr(kPrefix.size(), mark - kPrefix.size());
  const StableOperation* operation = nullptr;
  for (const std::string_view dialect : {kStable, std::string_view("func."), std::string_view()})
    if (!operation) operation = stable_operation(fmt::format("{}{}", dialect, word));
  if (read.ec != std::errc{} || read.ptr != end || !operation) return made;
  if (version < 1 || version > operation->newest) return made;
  made.name = operation->name;
  if (made.name.starts_with(kStable)) made.name.remove_prefix(kStable.size());
  made.attributes = operation->vhlo_attributes(version);
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
