// Pretty forms of matrix products and convolutions.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir/pretty_forms.h"

namespace hlosim::mlir {
namespace {

/// `[DEFAULT, HIGHEST]`
bool read_precision(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  const uint32_t offset = in.offset();
  std::vector<const Attribute*> words;
  if (!in.need('[', "before the precision of operands")) return false;
  while (in.peek() != ']') {
    const uint32_t at = in.offset();
    const std::string_view word = in.word();
    if (word.empty()) return in.expects("a precision, as in HIGHEST");
    words.push_back(reader.attributes().make_named(AttributeKind::kEnum, "stablehlo.precision", word, at));
    if (!in.eat(',')) break;
  }
  if (!in.need(']', "behind the precision of operands")) return false;
  draft.add("precision_config", reader.attributes().make_list(words, offset));
  return true;
}

/// `[0] x [1]`
bool read_pair(OperationReader& reader, std::vector<int64_t>& lhs, std::vector<int64_t>& rhs) {
  return reader.attributes().integer_list(lhs) &&
         reader.in().need('x', "between the dimensions of both operands") &&
         reader.attributes().integer_list(rhs);
}

bool read_algorithm(OperationReader& reader, Draft& draft) {
  if (reader.in().peek() != '<') {
    draft.add("algorithm", reader.attributes().attribute());
    return draft.attributes.back().value != nullptr;
  }
  reader.in().eat('<');
  const Attribute* entries = reader.attributes().entries("stablehlo.dot_algorithm", '>');
  draft.add("algorithm", entries);
  return entries != nullptr;
}

bool read_dot_general(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft)) return false;
  const uint32_t offset = in.offset();
  std::vector<int64_t> batching[2], contracting[2];
  draft.add("dot_dimension_numbers", nullptr);
  while (in.eat(',')) {
    const std::string_view key = in.word();
    if (!in.need('=', "after the attributes of the product")) return false;
    bool read = false;
    if (key == "batching_dims") {
      read = read_pair(reader, batching[0], batching[1]);
    } else if (key == "contracting_dims") {
      read = read_pair(reader, contracting[0], contracting[1]);
    } else if (key == "precision") {
      read = read_precision(reader, draft);
    } else if (key == "algorithm") {
      read = read_algorithm(reader, draft);
    } else {
      return in.fail_at(offset, fmt::format("unexpected '{}' of dot_general", shown(key)),
                        "there are batching_dims, contracting_dims, precision and algorithm");
    }
    if (!read) return false;
  }
  AttributeReader& attributes = reader.attributes();
  draft.attributes[0].value = attributes.make_entries(
      AttributeKind::kStruct, "stablehlo.dot",
      {{"lhs_batching_dimensions", attributes.make_integers(batching[0], {}, offset)},
       {"rhs_batching_dimensions", attributes.make_integers(batching[1], {}, offset)},
       {"lhs_contracting_dimensions", attributes.make_integers(contracting[0], {}, offset)},
       {"rhs_contracting_dimensions", attributes.make_integers(contracting[1], {}, offset)}},
      offset);
  return read_end(reader, draft, TypeRule::kFunctionType);
}

/// `%0, %1[, precision = […]]`
bool read_dot(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands(draft)) return false;
  if (in.eat(',')) {
    if (!in.eat_word("precision") || !in.need('=', "behind 'precision'")) return in.expects("'precision ='");
    if (!read_precision(reader, draft)) return false;
  }
  return read_end(reader, draft, TypeRule::kFunctionType);
}

// ── convolutions ──

/// `[[1, 1], [0, 1]]` as dense elements of a tensor of pairs.
bool read_padding(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  const uint32_t offset = in.offset();
  std::vector<int64_t> all;
  if (!in.need('[', "before the padding")) return false;
  while (in.peek() != ']') {
    const size_t before = all.size();
    if (!reader.attributes().integer_list(all)) return false;
    if (all.size() != before + 2)
      return in.fail_at(offset, "expects pairs of padding, as in [[1, 1], [0, 1]]");
    if (!in.eat(',')) break;
  }
  if (!in.need(']', "behind the padding")) return false;
  Attribute* made = reader.attributes().make(AttributeKind::kDense, offset);
  const int64_t dims[] = {static_cast<int64_t>(all.size() / 2), 2};
  made->type = reader.attributes().tensor(dims, "i64");
  const std::span<const int64_t> kept = reader.arena().copy(all);
  made->elements.bytes = {reinterpret_cast<const char*>(kept.data()), kept.size_bytes()};
  draft.add("padding", made);
  return true;
}

bool read_booleans(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  const uint32_t offset = in.offset();
  std::vector<int64_t> values;
  if (!in.need('[', "before what is reversed")) return false;
  while (in.peek() != ']') {
    if (in.eat_word("true") || in.eat_word("false")) {
      values.push_back(*(in.last_end() - 2) == 'u' ? 1 : 0);
    } else {
      values.push_back(0);
      if (!in.integer(values.back(), "true or false")) return false;
    }
    if (!in.eat(',')) break;
  }
  if (!in.need(']', "behind what is reversed")) return false;
  draft.add("window_reversal", reader.attributes().make_integers(values, "i1", offset));
  return true;
}

bool read_window_part(OperationReader& reader, Draft& draft, std::string_view part) {
  if (part == "pad") return read_padding(reader, draft);
  if (part == "reverse") return read_booleans(reader, draft);
  const std::string_view attribute = part == "stride"       ? "window_strides"
                                     : part == "lhs_dilate" ? "lhs_dilation"
                                     : part == "rhs_dilate" ? "rhs_dilation"
                                                            : "";
  if (attribute.empty())
    return reader.in().fail(fmt::format("unexpected '{}' of a window", shown(part)),
                            "there are stride, pad, lhs_dilate, rhs_dilate and reverse");
  const uint32_t offset = reader.in().offset();
  std::vector<int64_t> values;
  if (!reader.attributes().integer_list(values)) return false;
  draft.add(attribute, reader.attributes().make_integers(values, "i64", offset));
  return true;
}

/// `(%0, %1) dim_numbers = […]x[…]->[…], window = {…} {…} : F`
bool read_convolution(OperationReader& reader, Draft& draft) {
  Scanner& in = reader.in();
  if (!reader.operands_in_parentheses(draft)) return false;
  if (!in.eat_word("dim_numbers")) return in.expects("'dim_numbers ='");
  if (!in.need('=', "behind 'dim_numbers'")) return false;
  const Attribute* dimensions = reader.attributes().convolution_dimensions();
  if (dimensions == nullptr) return false;
  draft.add("dimension_numbers", dimensions);
  if (in.eat(',')) {
    if (!in.eat_word("window")) return in.expects("'window ='");
    if (!in.need('=', "behind 'window'") || !in.need('{', "before the parts of a window")) return false;
    while (in.peek() != '}') {
      const std::string_view part = in.word();
      if (!in.need('=', "behind a part of a window") || !read_window_part(reader, draft, part)) return false;
      if (!in.eat(',')) break;
    }
    if (!in.need('}', "behind the parts of a window")) return false;
  }
  return read_end(reader, draft, TypeRule::kFunctionType);
}

constexpr PrettyForm kProductsForms[] = {
    {"stablehlo.dot_general", read_dot_general},
    {"stablehlo.dot", read_dot},
    {"stablehlo.convolution", read_convolution},
    {"stablehlo.dynamic_conv", read_convolution},
};

}  // namespace

std::span<const PrettyForm> product_forms() { return kProductsForms; }

}  // namespace hlosim::mlir
