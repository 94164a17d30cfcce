// Pretty forms of operations without regions: operands, a few attributes, types.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "mlir/pretty_forms.h"

namespace hlosim::mlir {
namespace {

/// `KEY =`
bool key(OperationReader& reader, std::string_view key) {
  if (!reader.in().eat_word(key)) return reader.in().expects(fmt::format("'{} ='", key));
  return reader.in().eat('=') || reader.in().expects(fmt::format("'=' behind '{}'", key));
}

/// `, KEY =` behind operands
bool next_key(OperationReader& reader, std::string_view word) {
  if (!reader.in().eat(',')) return reader.in().expects(fmt::format("',' and '{} ='", word));
  return key(reader, word);
}

bool add_list(OperationReader& reader, Draft& draft, std::string_view attribute) {
  const uint32_t offset = reader.in().offset();
  std::vector<int64_t> values;
  if (!reader.attributes().integer_list(values)) return false;
  draft.add(attribute, reader.attributes().make_integers(values, "i64", offset));
  return true;
}

bool add_integer(OperationReader& reader, Draft& draft, std::string_view attribute,
                 std::string_view type = "i64") {
  const uint32_t offset = reader.in().offset();
  int64_t value = 0;
  if (!reader.in().integer(value)) return false;
  draft.add(attribute, reader.attributes().make_integer(value, type, offset));
  return true;
}

/// A bare word as an enumeration's value.
bool add_word(OperationReader& reader, Draft& draft, std::string_view attribute, std::string_view name) {
  const uint32_t offset = reader.in().offset();
  const std::string_view word = reader.in().word();
  if (word.empty()) return reader.in().expects(fmt::format("a word for {}", attribute));
  draft.add(attribute, reader.attributes().make_named(AttributeKind::kEnum, name, word, offset));
  return true;
}

bool add_attribute(OperationReader& reader, Draft& draft, std::string_view attribute) {
  const Attribute* value = reader.attributes().attribute();
  draft.add(attribute, value);
  return value != nullptr;
}

/// Operands and `, KEY = [1, 2]` as a list, then what every operation ends with.
bool read_with_list(OperationReader& reader, Draft& draft, std::string_view word,
                    std::string_view attribute) {
  return reader.operands(draft) && next_key(reader, word) && add_list(reader, draft, attribute) &&
         read_end(reader, draft, TypeRule::kSame);
}

bool read_with_integer(OperationReader& reader, Draft& draft, std::string_view word,
                       std::string_view attribute) {
  return reader.operands(draft) && next_key(reader, word) && add_integer(reader, draft, attribute) &&
         read_end(reader, draft, TypeRule::kSame);
}

// ── elementwise ──

bool read_compare(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!add_word(reader, draft, "comparison_direction", "stablehlo.comparison_direction")) return false;
  if (!in.need(',', "behind the direction") || !reader.operands(draft)) return false;
  if (in.eat(',') && !add_word(reader, draft, "compare_type", "stablehlo.comparison_type")) return false;
  return read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_select(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && read_end(reader, draft, TypeRule::kSelect);
}

bool read_complex(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && read_end(reader, draft, TypeRule::kParts);
}

/// `%0, format = e5m10`
bool read_reduce_precision(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft) || !next_key(reader, "format")) return false;
  const uint32_t offset = in.offset();
  const std::string_view word = in.word();
  int64_t parts[2] = {-1, -1};
  size_t at = 0;
  const auto part = [&](char letter, int64_t& value) {
    if (at >= word.size() || word[at] != letter) return;
    for (++at; at < word.size() && Scanner::is_digit(word[at]) && value < 1000; ++at)
      value = 10 * std::max<int64_t>(value, 0) + (word[at] - '0');
  };
  part('e', parts[0]);
  part('m', parts[1]);
  if (parts[0] < 0 || parts[1] < 0 || at != word.size())
    return in.fail_at(offset, fmt::format("expects a format as in e5m10, but sees '{}'", shown(word)));
  draft.add("exponent_bits", reader.attributes().make_integer(parts[0], "i32", offset));
  draft.add("mantissa_bits", reader.attributes().make_integer(parts[1], "i32", offset));
  return read_end(reader, draft, TypeRule::kSame);
}

// ── constants ──

/// `[{…}] dense<…> : T`; in old texts `() {value = …} : () -> T`.
bool read_constant(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (in.eat('(')) {
    if (!in.need(')', "of a constant without operands")) return false;
    if (in.eat('<') &&
        (!reader.attributes().dictionary(draft.attributes) || !in.need('>', "behind the properties")))
      return false;
    return read_end(reader, draft, TypeRule::kFunctionType);
  }
  std::vector<NamedAttribute> before;
  if (in.peek() == '{' && !reader.attributes().dictionary(before)) return false;
  const uint32_t offset = in.offset();
  if (!add_attribute(reader, draft, "value")) return false;
  for (const NamedAttribute& entry : before)
    if (entry.name != "value") draft.attributes.push_back(entry);
  const Type* type = draft.attributes[0].value->type;
  if (type == nullptr)
    return in.fail_at(offset, "expects the elements of a constant, as in dense<0> : tensor<i32>");
  if (in.peek() == ':') return read_end(reader, draft, TypeRule::kSame);
  draft.results = {type};
  return true;
}

bool read_iota(OperationReader& reader, Draft& draft) {
  return key(reader, "dim") && add_integer(reader, draft, "iota_dimension") &&
         read_end(reader, draft, TypeRule::kSame);
}

bool read_rng(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && next_key(reader, "distribution") &&
         add_word(reader, draft, "rng_distribution", "stablehlo.rng_distribution") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_rng_bit_generator(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && next_key(reader, "algorithm") &&
         add_word(reader, draft, "rng_algorithm", "stablehlo.rng_algorithm") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

// ── data movement ──

/// `%0 [1:2, 0:4:2]`
bool read_slice(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft)) return false;
  const uint32_t offset = in.offset();
  std::vector<int64_t> starts, limits, strides;
  if (!in.need('[', "before the bounds of a slice")) return false;
  bool more = in.peek() != ']';
  while (more) {
    int64_t start = 0, limit = 0, stride = 1;
    if (!in.integer(start) || !in.need(':', "behind the start of a slice") || !in.integer(limit))
      return false;
    if (in.eat(':') && !in.integer(stride)) return false;
    starts.push_back(start);
    limits.push_back(limit);
    strides.push_back(stride);
    more = in.eat(',');
  }
  if (!in.need(']', "behind the bounds of a slice")) return false;
  draft.add("start_indices", reader.attributes().make_integers(starts, "i64", offset));
  draft.add("limit_indices", reader.attributes().make_integers(limits, "i64", offset));
  draft.add("strides", reader.attributes().make_integers(strides, "i64", offset));
  return read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_pad(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && next_key(reader, "low") && add_list(reader, draft, "edge_padding_low") &&
         next_key(reader, "high") && add_list(reader, draft, "edge_padding_high") &&
         next_key(reader, "interior") && add_list(reader, draft, "interior_padding") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_get_tuple_element(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  return reader.operands(draft) && in.need('[', "before the number of the member") &&
         add_integer(reader, draft, "index", "i32") && in.need(']', "behind the number of the member") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_tuple(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && read_end(reader, draft, TypeRule::kTuple);
}

bool read_torch_index_select(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && next_key(reader, "dim") && add_integer(reader, draft, "dim") &&
         next_key(reader, "batch_dims") && add_integer(reader, draft, "batch_dims") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_einsum(OperationReader& reader, Draft& draft) {
  if (!reader.operands(draft) || !next_key(reader, "config")) return false;
  const uint32_t offset = reader.in().offset();
  std::string_view config;
  if (!reader.in().string(config, reader.arena())) return false;
  draft.add("einsum_config", reader.attributes().make_text(AttributeKind::kString, config, offset));
  return read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_fft(OperationReader& reader, Draft& draft) {
  return reader.operands(draft) && next_key(reader, "type") &&
         add_word(reader, draft, "fft_type", "stablehlo.fft_type") && next_key(reader, "length") &&
         add_list(reader, draft, "fft_length") && read_end(reader, draft, TypeRule::kFunctionType);
}

bool read_cholesky(OperationReader& reader, Draft& draft) {
  if (!reader.operands(draft)) return false;
  if (reader.in().eat(',') && !(key(reader, "lower") && add_attribute(reader, draft, "lower"))) return false;
  return read_end(reader, draft, TypeRule::kSame);
}

// ── calls ──

/// `@target(%0) {…} : F`
bool read_custom_call(OperationReader& reader, Draft& draft) {
  const Attribute* target = reader.attributes().attribute();
  if (target == nullptr) return false;
  if (target->kind != AttributeKind::kSymbol)
    return reader.in().fail_at(target->offset, "expects the target of a custom call, as in @target");
  draft.add("call_target_name",
            reader.attributes().make_text(AttributeKind::kString, target->text, target->offset));
  return reader.operands_in_parentheses(draft) && read_end(reader, draft, TypeRule::kFunctionType);
}

/// `"name" %0, … {…} : F`
bool read_composite(OperationReader& reader, Draft& draft) {
  const uint32_t offset = reader.in().offset();
  std::string_view name;
  if (!reader.in().string(name, reader.arena(), "the name of a composite")) return false;
  draft.add("name", reader.attributes().make_text(AttributeKind::kString, name, offset));
  return reader.operands(draft) && read_end(reader, draft, TypeRule::kFunctionType);
}

/// `%0, … : T, …`; without operands `()`.
bool read_barrier(OperationReader& reader, Draft& draft) {
  if (!reader.optional_attributes(draft) || !reader.operands(draft)) return false;
  if (draft.operands.empty())
    return reader.in().need('(', "or operands") && reader.in().need(')', "of no operands") &&
           reader.optional_attributes(draft);
  return read_end(reader, draft, TypeRule::kList);
}

/// `(%0, k = 8) : F`
bool read_top_k(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  return in.need('(', "before the operand") && reader.operands(draft) && next_key(reader, "k") &&
         add_integer(reader, draft, "k") && in.need(')', "behind the number of values") &&
         read_end(reader, draft, TypeRule::kFunctionType);
}

// ── checks ──

/// `%a, %b[, key = value]*`
bool read_check(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft)) return false;
  while (in.eat(',')) {
    const std::string_view name = in.word();
    if (name.empty()) return in.expects("the name of an attribute");
    if (!in.need('=', "behind the name of an attribute")) return false;
    const bool is_float = name == "tolerance";
    if (is_float) {
      const uint32_t offset = in.offset();
      Attribute* value = reader.attributes().make(AttributeKind::kFloat, offset);
      if (!in.number(value->number)) return false;
      draft.add(name, value);
    } else if (!add_integer(reader, draft, name)) {
      return false;
    }
  }
  return read_end(reader, draft, TypeRule::kEachOperand);
}

/// `%a, dense<…>[, tolerance = 1.0e-3] : T`: the elements have no type of their own.
bool read_check_const(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft) || !in.need(',', "and the expected elements")) return false;
  if (!add_attribute(reader, draft, "value")) return false;
  const Attribute& value = *draft.attributes[0].value;
  if (in.eat(',')) {
    if (!key(reader, "tolerance")) return false;
    Attribute* tolerance = reader.attributes().make(AttributeKind::kFloat, in.offset());
    if (!in.number(tolerance->number)) return false;
    draft.add("tolerance", tolerance);
  }
  if (!reader.optional_attributes(draft)) return false;
  if (in.peek() == ':') return reader.signature(draft, TypeRule::kEachOperand);
  if (value.type == nullptr)
    return in.fail_at(value.offset, "expects elements, as in dense<0> : tensor<i32>");
  draft.types.assign(draft.operands.size(), value.type);
  return true;
}

#define HLOSIM_LIST_FORM(name, word, attribute)                                                              \
  {                                                                                                          \
    name,                                                                                                    \
        [](OperationReader& reader, Draft& draft) { return read_with_list(reader, draft, word, attribute); } \
  }
#define HLOSIM_INTEGER_FORM(name, word, attribute)              \
  {                                                             \
    name, [](OperationReader& reader, Draft& draft) {           \
      return read_with_integer(reader, draft, word, attribute); \
    }                                                           \
  }

constexpr PrettyForm kPlainForms[] = {
    HLOSIM_LIST_FORM("stablehlo.broadcast", "sizes", "broadcast_sizes"),
    HLOSIM_LIST_FORM("stablehlo.broadcast_in_dim", "dims", "broadcast_dimensions"),
    HLOSIM_LIST_FORM("stablehlo.dynamic_broadcast_in_dim", "dims", "broadcast_dimensions"),
    HLOSIM_LIST_FORM("stablehlo.dynamic_slice", "sizes", "slice_sizes"),
    HLOSIM_LIST_FORM("stablehlo.reverse", "dims", "dimensions"),
    HLOSIM_LIST_FORM("stablehlo.transpose", "dims", "permutation"),
    HLOSIM_INTEGER_FORM("stablehlo.concatenate", "dim", "dimension"),
    HLOSIM_INTEGER_FORM("stablehlo.dynamic_iota", "dim", "iota_dimension"),
    HLOSIM_INTEGER_FORM("stablehlo.get_dimension_size", "dim", "dimension"),
    HLOSIM_INTEGER_FORM("stablehlo.set_dimension_size", "dim", "dimension"),
    {"stablehlo.compare", read_compare},
    {"stablehlo.select", read_select},
    {"stablehlo.complex", read_complex},
    {"stablehlo.reduce_precision", read_reduce_precision},
    {"stablehlo.constant", read_constant},
    {"chlo.constant", read_constant},
    {"sdy.constant", read_constant},
    {"arith.constant", read_constant},
    {"stablehlo.iota", read_iota},
    {"stablehlo.rng", read_rng},
    {"stablehlo.rng_bit_generator", read_rng_bit_generator},
    {"stablehlo.slice", read_slice},
    {"stablehlo.pad", read_pad},
    {"stablehlo.get_tuple_element", read_get_tuple_element},
    {"stablehlo.tuple", read_tuple},
    {"stablehlo.torch_index_select", read_torch_index_select},
    {"stablehlo.einsum", read_einsum},
    {"stablehlo.unary_einsum", read_einsum},
    {"stablehlo.fft", read_fft},
    {"stablehlo.cholesky", read_cholesky},
    {"stablehlo.custom_call", read_custom_call},
    {"stablehlo.composite", read_composite},
    {"stablehlo.optimization_barrier", read_barrier},
    {"chlo.top_k", read_top_k},
    {"check.expect_eq", read_check},
    {"check.expect_almost_eq", read_check},
    {"check.expect_close", read_check},
    {"check.expect_eq_const", read_check_const},
    {"check.expect_almost_eq_const", read_check_const},
};

}  // namespace

std::span<const PrettyForm> plain_forms() { return kPlainForms; }

}  // namespace hlosim::mlir
