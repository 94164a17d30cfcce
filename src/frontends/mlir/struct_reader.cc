// The attributes of dialects: `#stablehlo.gather<…>`, `#stablehlo<precision DEFAULT>`, `#sdy.sharding<…>`.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir/attribute_reader.h"
#include "mlir/element_format.h"

namespace hlosim::mlir {
namespace {

/// The text within the outer brackets.
std::string_view inside(std::string_view bracketed) { return bracketed.substr(1, bracketed.size() - 2); }

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool is_word(std::string_view text) {
  bool is = !text.empty() && Scanner::starts_word(text[0]);
  for (const char c : text) is = is && Scanner::continues_word(c);
  return is;
}

}  // namespace

const Attribute* AttributeReader::dialect_attribute() {
  const char* start = in_.position();
  const uint32_t offset = in_.offset();
  in_.move_to(start + 1);
  const std::string_view name = in_.word();
  if (name.empty()) return in_.expects("the name of an attribute behind '#'"), nullptr;
  const bool bracket = in_.last_end() == in_.position() && in_.peek() == '<';
  if (name.find('.') != std::string_view::npos) {
    if (bracket) return dialect_body(name, offset);
    return make_named(AttributeKind::kOpaque, name, {}, offset);
  }
  if (bracket) return legacy_body(name, offset);
  const Alias* found = alias({start, name.size() + 1}, offset);
  return found == nullptr ? nullptr : found->attribute;
}

/// `<…>` behind `#dialect.name`
const Attribute* AttributeReader::dialect_body(std::string_view name, uint32_t offset) {
  const Scanner::State before = in_.state();
  std::string_view text;
  if (!in_.balanced(text)) return nullptr;
  const char* end = in_.last_end();
  const std::string_view body = trim(inside(text));
  if (is_word(body)) return make_named(AttributeKind::kEnum, name, body, offset);
  if (name.starts_with("sdy.")) return make_named(AttributeKind::kSharding, name, text, offset);
  in_.back_to(before);
  if (const Attribute* read = structure(name, offset); read != nullptr && in_.last_end() == end) return read;
  in_.back_to(before);
  in_.move_to(end);
  return make_named(AttributeKind::kOpaque, name, text, offset);
}

/// Entries; null, with a failure that means nothing, where it is something else.
const Attribute* AttributeReader::structure(std::string_view name, uint32_t offset) {
  in_.eat('<');
  if (name.ends_with(".conv")) {
    if (in_.peek() == '[') {
      const Attribute* read = convolution_dimensions();
      if (read == nullptr || !in_.eat('>')) return nullptr;
      return make_entries(AttributeKind::kStruct, name, {read->entries.begin(), read->entries.end()}, offset);
    }
    in_.eat_word("raw");
  }
  return entries(name, '>');
}

const Attribute* AttributeReader::entries(std::string_view name, char end) {
  const uint32_t offset = in_.offset();
  std::vector<NamedAttribute> entries;
  while (in_.peek() != end) {
    NamedAttribute entry;
    entry.name = in_.word();
    if (entry.name.empty()) return in_.expects("the name of an entry"), nullptr;
    if (!in_.need('=', "behind the name of an entry")) return nullptr;
    entry.value = struct_value();
    if (entry.value == nullptr) return nullptr;
    entries.push_back(entry);
    if (!in_.eat(',')) break;
  }
  if (!in_.need(end, "at the end of the entries") || !names_differ(entries, offset)) return nullptr;
  return make_entries(AttributeKind::kStruct, name, entries, offset);
}

const Attribute* AttributeReader::struct_value() {
  const Nesting nesting(in_);
  if (!nesting.entered()) return nullptr;
  const uint32_t offset = in_.offset();
  if (in_.peek() == '[') return struct_list();
  if (in_.peek() == '<') return dialect_body({}, offset);
  if (in_.peek() == '(') return sub_axis(offset);
  if (!Scanner::starts_word(in_.peek())) return attribute();
  const Scanner::State before = in_.state();
  const std::string_view word = in_.word();
  const bool is_attribute = in_.peek() == '<' || word == "true" || word == "false" || is_type_word(word);
  if (!is_attribute) return make_named(AttributeKind::kEnum, {}, word, offset);
  in_.back_to(before);
  return attribute();
}

/// `(2)4`: the part of a mesh's axis that has size 4 under parts of size 2.
const Attribute* AttributeReader::sub_axis(uint32_t offset) {
  std::vector<NamedAttribute> entries;
  int64_t before = 0, size = 0;
  in_.eat('(');
  if (!in_.integer(before) || !in_.need(')', "behind the size of the parts before") || !in_.integer(size))
    return nullptr;
  entries.push_back({"pre_size", make_integer(before, "i64", offset)});
  entries.push_back({"size", make_integer(size, "i64", offset)});
  return make_entries(AttributeKind::kStruct, "stablehlo.sub_axis_info", entries, offset);
}

const Attribute* AttributeReader::struct_list() {
  const uint32_t offset = in_.offset();
  const Scanner::State before = in_.state();
  in_.eat('[');
  if (in_.peek() == ']' || in_.sees_integer()) {
    in_.back_to(before);
    std::vector<int64_t> values;
    if (integer_list(values)) return make_integers(values, {}, offset);
    in_.back_to(before);
    in_.eat('[');
  }
  std::vector<const Attribute*> items;
  while (in_.peek() != ']') {
    items.push_back(struct_value());
    if (items.back() == nullptr) return nullptr;
    if (!in_.eat(',')) break;
  }
  if (!in_.need(']', "at the end of the list")) return nullptr;
  return make_list(items, offset);
}

/// `<kind WORD>` and whatever else stands behind `#dialect`. `#dialect<kind<…>>` is `#dialect.kind<…>`.
const Attribute* AttributeReader::legacy_body(std::string_view dialect, uint32_t offset) {
  std::string_view text;
  if (!in_.balanced(text)) return nullptr;
  const Scanner::State after = in_.state();
  const char* const end = in_.last_end() - 1;
  const Attribute* read = legacy_kind(dialect, text.data() + 1, end, offset);
  in_.back_to(after);
  return read != nullptr ? read : make_named(AttributeKind::kOpaque, dialect, text, offset);
}

/// From `begin` to the closing bracket at `end`; null: nothing of what begins with a kind.
const Attribute* AttributeReader::legacy_kind(std::string_view dialect, const char* begin, const char* end,
                                              uint32_t offset) {
  in_.move_to(begin);
  const std::string_view kind = in_.word();
  if (kind.empty()) return nullptr;
  const std::string_view name = arena_.copy(std::string_view(fmt::format("{}.{}", dialect, kind)));
  const char* const behind = in_.last_end();
  const Scanner::State before = in_.state();
  std::string_view inner;
  if (in_.peek() == '<' && in_.balanced(inner) && in_.position() == end) {
    in_.back_to(before);
    return dialect_body(name, offset);
  }
  in_.back_to(before);
  const std::string_view word = in_.word();
  if (!word.empty() && in_.position() == end) return make_named(AttributeKind::kEnum, name, word, offset);
  if (dialect == "sdy") {
    const std::string whole =
        fmt::format("<{}>", std::string_view(behind, static_cast<size_t>(end - behind)));
    return make_named(AttributeKind::kSharding, name, arena_.copy(std::string_view(whole)), offset);
  }
  in_.back_to(before);
  if (in_.position() == end) return nullptr;
  const Attribute* read = structure(name, offset);
  return read != nullptr && in_.last_end() == end + 1 ? read : nullptr;
}

// ── convolutions ──

/// `[b, 0, 1, f]`: entries for the two letters, and one for the places of the spatial dimensions.
bool AttributeReader::labels(std::string_view batch, std::string_view batch_key, std::string_view feature,
                             std::string_view feature_key, std::string_view spatial_key,
                             std::vector<NamedAttribute>& entries) {
  const uint32_t offset = in_.offset();
  std::vector<std::pair<int64_t, int64_t>> spatial;  // which one, where
  int64_t batch_at = -1, feature_at = -1;
  if (!in_.need('[', "before the labels of dimensions")) return false;
  for (int64_t place = 0; in_.peek() != ']'; ++place) {
    if (in_.sees_integer()) {
      spatial.emplace_back(0, place);
      if (!in_.integer(spatial.back().first)) return false;
    } else if (in_.eat_word(batch)) {
      batch_at = place;
    } else if (in_.eat_word(feature)) {
      feature_at = place;
    } else if (!in_.eat('?')) {
      return in_.expects(fmt::format("'{}', '{}', a number or '?'", batch, feature));
    }
    if (!in_.eat(',')) break;
  }
  if (!in_.need(']', "behind the labels of dimensions")) return false;
  if (batch_at < 0 || feature_at < 0)
    return in_.fail_at(offset, fmt::format("expects '{}' and '{}' among the labels", batch, feature));
  std::vector<int64_t> places(spatial.size(), -1);
  for (const auto& [which, place] : spatial) {
    if (which < 0 || which >= static_cast<int64_t>(spatial.size()) || places[static_cast<size_t>(which)] >= 0)
      return in_.fail_at(offset, fmt::format("expects the numbers 0 to {} once each", spatial.size() - 1));
    places[static_cast<size_t>(which)] = place;
  }
  for (const auto& [key, place] : {std::pair(batch_key, batch_at), std::pair(feature_key, feature_at)}) {
    Attribute* made = make(AttributeKind::kInteger, offset);
    made->integer = place;
    entries.push_back({key, made});
  }
  entries.push_back({spatial_key, make_integers(places, {}, offset)});
  return true;
}

const Attribute* AttributeReader::convolution_dimensions() {
  const uint32_t offset = in_.offset();
  std::vector<NamedAttribute> entries;
  if (!labels("b", "input_batch_dimension", "f", "input_feature_dimension", "input_spatial_dimensions",
              entries) ||
      !in_.need('x', "between the labels of input and kernel") ||
      !labels("i", "kernel_input_feature_dimension", "o", "kernel_output_feature_dimension",
              "kernel_spatial_dimensions", entries) ||
      !in_.need("->", "before the labels of the result") ||
      !labels("b", "output_batch_dimension", "f", "output_feature_dimension", "output_spatial_dimensions",
              entries))
    return nullptr;
  return make_entries(AttributeKind::kStruct, "stablehlo.conv", entries, offset);
}

}  // namespace hlosim::mlir
