// The attributes of AttributeReader that stand for themselves; structures are in struct_reader.cc, dense
// elements in dense_reader.cc.
#include "mlir/attribute_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/text.h"
#include "hlo/number.h"
#include "mlir/dense_reader.h"
#include "mlir/element_format.h"

namespace hlosim::mlir {

// ── made ──

Attribute* AttributeReader::make(AttributeKind kind, uint32_t offset) {
  Attribute* made = arena_.make<Attribute>();
  made->kind = kind;
  made->offset = offset;
  return made;
}

const Attribute* AttributeReader::make_integer(int64_t value, std::string_view word, uint32_t offset) {
  Attribute* made = make(AttributeKind::kInteger, offset);
  made->integer = value;
  made->type = element(word);
  return made;
}

const Attribute* AttributeReader::make_integers(std::span<const int64_t> values, std::string_view word,
                                                uint32_t offset) {
  Attribute* made = make(AttributeKind::kIntegers, offset);
  made->integers = arena_.copy(values);
  if (!word.empty()) made->type = element(word);
  return made;
}

const Attribute* AttributeReader::make_named(AttributeKind kind, std::string_view name, std::string_view text,
                                             uint32_t offset) {
  Attribute* made = make(kind, offset);
  made->name = name;
  made->text = text;
  return made;
}

const Attribute* AttributeReader::make_list(const std::vector<const Attribute*>& items, uint32_t offset) {
  Attribute* made = make(AttributeKind::kArray, offset);
  made->items = arena_.copy(items);
  return made;
}

const Attribute* AttributeReader::make_entries(AttributeKind kind, std::string_view name,
                                               const std::vector<NamedAttribute>& entries, uint32_t offset) {
  Attribute* made = make(kind, offset);
  made->name = name;
  made->entries = arena_.copy(entries);
  return made;
}

// ── read ──

const Attribute* AttributeReader::attribute() {
  const Nesting nesting(in_);
  if (!nesting.entered()) return nullptr;
  const char c = in_.peek();
  if (c == '-' || Scanner::is_digit(c)) return number();
  if (c == '"') return string_attribute();
  if (c == '@') return symbol();
  if (c == '[') return array();
  if (c == '{') return dictionary_attribute();
  if (c == '#') return dialect_attribute();
  if (c == '!' || c == '(') return type_attribute(in_.offset());
  if (Scanner::starts_word(c)) return word_attribute();
  in_.expects("an attribute");
  return nullptr;
}

const Attribute* AttributeReader::type_attribute(uint32_t offset) {
  const Type* read = type();
  if (read == nullptr) return nullptr;
  Attribute* made = make(AttributeKind::kType, offset);
  made->type = read;
  return made;
}

const Attribute* AttributeReader::number() {
  const char* start = in_.position();
  const uint32_t offset = in_.offset();
  size_t i = in_.peek() == '-' ? 1 : 0;
  const bool is_hex = in_.peek(i) == '0' && in_.peek(i + 1) == 'x';
  while (!is_hex && Scanner::is_digit(in_.peek(i))) ++i;
  if (!is_hex && in_.peek(i) == '.' && i > 0 && Scanner::is_digit(in_.peek(i - 1))) return decimal(start);
  int64_t value = 0;
  if (!in_.integer(value, "a number")) return nullptr;
  return typed_integer(value, is_hex, offset);
}

const Attribute* AttributeReader::typed_integer(int64_t value, bool is_hex, uint32_t offset) {
  Attribute* made = make(AttributeKind::kInteger, offset);
  made->integer = value;
  if (!in_.eat(':')) return made;
  made->type = type();
  if (made->type == nullptr) return nullptr;
  const std::optional<ElementFormat> format = element_format(*made->type);
  if (!format || !is_float(format->type)) return made;
  made->kind = AttributeKind::kFloat;
  made->integer = 0;
  if (is_hex) {
    made->bits = static_cast<uint64_t>(value);
    made->has_bits = true;
    made->number = decode_float(format->type, made->bits);
  } else {
    made->number = static_cast<double>(value);
  }
  return made;
}

const Attribute* AttributeReader::decimal(const char* start) {
  const uint32_t offset = in_.offset();
  Attribute* made = make(AttributeKind::kFloat, offset);
  const char* end = read_decimal(start, start + in_.rest().size(), made->number);
  if (end == nullptr || !std::isfinite(made->number))
    return in_.expects("a number that a double holds"), nullptr;
  in_.move_to(end);
  if (!in_.eat(':')) return made;
  made->type = type();
  return made->type == nullptr ? nullptr : made;
}

const Attribute* AttributeReader::string_attribute() {
  const uint32_t offset = in_.offset();
  Attribute* made = make(AttributeKind::kString, offset);
  if (!in_.string(made->text, arena_)) return nullptr;
  if (!in_.eat(':')) return made;
  made->type = type();
  return made->type == nullptr ? nullptr : made;
}

bool AttributeReader::symbol_name(std::string_view& name) {
  if (!in_.eat('@')) return in_.expects("a symbol");
  if (in_.peek() == '"') return in_.string(name, arena_);
  name = in_.suffix();
  return !name.empty() || in_.expects("a name behind '@'");
}

const Attribute* AttributeReader::symbol() {
  Attribute* made = make(AttributeKind::kSymbol, in_.offset());
  if (!symbol_name(made->text)) return nullptr;
  std::vector<const Attribute*> nested;
  while (in_.eat("::")) {
    Attribute* inner = make(AttributeKind::kSymbol, in_.offset());
    if (!symbol_name(inner->text)) return nullptr;
    nested.push_back(inner);
  }
  made->items = arena_.copy(nested);
  return made;
}

const Attribute* AttributeReader::array() {
  const uint32_t offset = in_.offset();
  std::vector<const Attribute*> items;
  in_.eat('[');
  if (in_.eat(']')) return make_list(items, offset);
  do {
    items.push_back(attribute());
    if (items.back() == nullptr) return nullptr;
  } while (in_.eat(','));
  if (!in_.need(']', "at the end of the list")) return nullptr;
  return make_list(items, offset);
}

bool AttributeReader::names_differ(const std::vector<NamedAttribute>& entries, uint32_t offset) {
  std::string_view twice;
  if (entries.size() <= 8) {
    for (size_t i = 1; i < entries.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (entries[i].name == entries[j].name) twice = entries[i].name;
  } else {
    std::vector<std::string_view> names;
    for (const NamedAttribute& entry : entries) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
    const auto at = std::adjacent_find(names.begin(), names.end());
    if (at != names.end()) twice = *at;
  }
  return twice.data() == nullptr || in_.fail_at(offset, fmt::format("'{}' is given twice", shown(twice)));
}

bool AttributeReader::dictionary(std::vector<NamedAttribute>& entries) {
  const uint32_t offset = in_.offset();
  if (!in_.need('{', "before attributes")) return false;
  if (in_.eat('}')) return true;
  do {
    NamedAttribute entry;
    const uint32_t key_offset = in_.offset();
    if (in_.peek() == '"') {
      if (!in_.string(entry.name, arena_)) return false;
    } else {
      entry.name = in_.word();
      if (entry.name.empty()) return in_.expects("the name of an attribute");
    }
    entry.value = in_.eat('=') ? attribute() : make(AttributeKind::kUnit, key_offset);
    if (entry.value == nullptr) return false;
    entries.push_back(entry);
  } while (in_.eat(','));
  return in_.need('}', "at the end of the attributes") && names_differ(entries, offset);
}

const Attribute* AttributeReader::dictionary_attribute() {
  const uint32_t offset = in_.offset();
  std::vector<NamedAttribute> entries;
  if (!dictionary(entries)) return nullptr;
  return make_entries(AttributeKind::kDictionary, {}, entries, offset);
}

/// Brackets that are kept as they stand, with the word before them.
const Attribute* AttributeReader::verbatim(const char* start, uint32_t offset) {
  std::string_view body;
  if (in_.peek() != '<') return in_.expects("'<'"), nullptr;
  if (!in_.balanced(body)) return nullptr;
  return make_text(AttributeKind::kAffineMap, in_.since(start), offset);
}

const Attribute* AttributeReader::word_attribute() {
  const char* start = in_.position();
  const uint32_t offset = in_.offset();
  if (in_.eat_word("true") || in_.eat_word("false")) {
    Attribute* made = make(AttributeKind::kBool, offset);
    made->integer = *start == 't' ? 1 : 0;
    return made;
  }
  if (in_.eat_word("unit")) return make(AttributeKind::kUnit, offset);
  if (in_.eat_word("dense")) return dense(offset);
  if (in_.eat_word("array")) return dense_array(offset);
  if (in_.eat_word("dense_resource")) return dense_resource(offset);
  if (in_.eat_word("loc")) return location_attribute(offset);
  if (in_.eat_word("affine_map") || in_.eat_word("affine_set") || in_.eat_word("strided"))
    return verbatim(start, offset);
  return type_attribute(offset);
}

bool AttributeReader::integer_list(std::vector<int64_t>& values) {
  if (!in_.need('[', "before a list of integers")) return false;
  if (in_.eat(']')) return true;
  do {
    values.push_back(0);
    if (!in_.integer(values.back())) return false;
  } while (in_.eat(','));
  return in_.need(']', "at the end of the integers");
}

const Attribute* AttributeReader::dense_array(uint32_t offset) {
  if (!in_.need('<', "behind 'array'")) return nullptr;
  const Type* element = type();
  if (element == nullptr) return nullptr;
  const std::optional<ElementFormat> format = element_format(*element);
  if (!format || format->parts > 1) return in_.fail("an array has integers or floats"), nullptr;
  Attribute* made = make(AttributeKind::kIntegers, offset);
  made->type = element;
  if (in_.eat('>')) {
    if (is_float(format->type)) made->kind = AttributeKind::kFloats;
    return made;
  }
  if (!in_.need(':', "behind the type of the elements")) return nullptr;
  if (is_float(format->type)) return dense_array_of_numbers(*element, offset);
  std::vector<int64_t> values;
  do {
    if (in_.eat_word("true") || in_.eat_word("false")) {
      values.push_back(*(in_.last_end() - 2) == 'u' ? 1 : 0);
      continue;
    }
    values.push_back(0);
    if (!in_.integer(values.back())) return nullptr;
  } while (in_.eat(','));
  if (!in_.need('>', "at the end of the array")) return nullptr;
  made->integers = arena_.copy(values);
  return made;
}

const Attribute* AttributeReader::dense_array_of_numbers(const Type& element, uint32_t offset) {
  Attribute* made = make(AttributeKind::kFloats, offset);
  made->type = &element;
  DenseReader reader(in_, arena_);
  if (!reader.read_array(element, made->elements) || !in_.need('>', "at the end of the array"))
    return nullptr;
  return made;
}

/// `<L> : T`: the type stands behind the elements, and says how to read them.
const Attribute* AttributeReader::dense(uint32_t offset) {
  if (in_.peek() != '<') return in_.need('<', "behind 'dense'"), nullptr;
  const char* body = in_.position() + 1;
  const char* end = DenseReader::find_end(in_);
  if (end == nullptr) return in_.fail("the elements have no end"), nullptr;
  in_.move_to(end + 1);
  Attribute* made = make(AttributeKind::kDense, offset);
  if (!in_.need(':', "and the type of dense elements")) return nullptr;
  made->type = type();
  if (made->type == nullptr) return nullptr;
  const char* type_end = in_.last_end();
  in_.move_to(body);
  DenseReader reader(in_, arena_);
  if (!reader.read(*made->type, end, made->elements)) return nullptr;
  in_.move_to(type_end);
  return made;
}

const Attribute* AttributeReader::dense_resource(uint32_t offset) {
  Attribute* made = make(AttributeKind::kDenseResource, offset);
  made->elements.is_given = false;
  if (!in_.need('<', "behind 'dense_resource'")) return nullptr;
  made->text = in_.word();
  if (made->text.empty() && !in_.string(made->text, arena_, "the name of a resource")) return nullptr;
  if (!in_.need('>', "behind the name of a resource") || !in_.need(':', "and the type of the resource"))
    return nullptr;
  const Scanner::State before = in_.state();
  made->type = type();
  if (made->type == nullptr) return nullptr;
  if (made->type->element == nullptr) {
    in_.back_to(before);
    return in_.expects("the type of a tensor, as in tensor<2xf32>"), nullptr;
  }
  resources_.push_back({made, made->text});
  return made;
}

// ── locations ──

const Attribute* AttributeReader::location_attribute(uint32_t offset) {
  Attribute* made = make(AttributeKind::kLocation, offset);
  made->location = location();
  return made->location == nullptr ? nullptr : made;
}

const Location* AttributeReader::location() {
  if (!in_.need('(', "behind 'loc'")) return nullptr;
  const Location* read = place();
  return read != nullptr && in_.need(')', "at the end of the location") ? read : nullptr;
}

const Location* AttributeReader::place() {
  const Nesting nesting(in_);
  if (!nesting.entered()) return nullptr;
  if (in_.peek() == '#') {
    const char* start = in_.position();
    const uint32_t offset = in_.offset();
    in_.move_to(start + 1);
    const std::string_view name = in_.word();
    const Alias* found = alias({start, name.size() + 1}, offset);
    if (found == nullptr) return nullptr;
    if (found->attribute->location == nullptr)
      return in_.fail_at(offset, fmt::format("#{} is not a location", shown(name))), nullptr;
    return found->attribute->location;
  }
  if (in_.eat_word("callsite")) return call_site();
  if (in_.eat_word("fused")) return fused();
  Location* made = arena_.make<Location>();
  if (in_.eat_word("unknown")) return made;
  if (!in_.string(made->text, arena_, "a location")) return nullptr;
  made->kind = LocationKind::kName;
  if (in_.eat(':')) return file_place(*made) ? made : nullptr;
  if (!in_.eat('(')) return made;
  const Location* inner[] = {place()};
  if (inner[0] == nullptr || !in_.need(')', "behind the place of a name")) return nullptr;
  made->inner = arena_.copy(std::span<const Location* const>(inner));
  return made;
}

/// `line:col[ to [line]:col]`
bool AttributeReader::file_place(Location& made) {
  made.kind = LocationKind::kFile;
  if (!in_.integer(made.line, "a line") || !in_.need(':', "behind the line")) return false;
  if (!in_.integer(made.column, "a column")) return false;
  if (!in_.eat_word("to")) return true;
  int64_t skipped = 0;
  if (in_.peek() != ':' && !in_.integer(skipped, "a line")) return false;
  return in_.need(':', "behind the last line") && in_.integer(skipped, "a column");
}

const Location* AttributeReader::call_site() {
  Location* made = arena_.make<Location>();
  made->kind = LocationKind::kCallSite;
  const Location* inner[2] = {};
  if (!in_.need('(', "behind 'callsite'")) return nullptr;
  inner[0] = place();
  if (inner[0] == nullptr) return nullptr;
  if (!in_.eat_word("at")) return in_.expects("'at' and the place of the caller"), nullptr;
  inner[1] = place();
  if (inner[1] == nullptr || !in_.need(')', "at the end of a call's place")) return nullptr;
  made->inner = arena_.copy(std::span<const Location* const>(inner));
  return made;
}

const Location* AttributeReader::fused() {
  Location* made = arena_.make<Location>();
  made->kind = LocationKind::kFused;
  if (in_.eat('<')) {
    if (attribute() == nullptr || !in_.need('>', "behind what a fused location knows")) return nullptr;
  }
  std::vector<const Location*> inner;
  if (!in_.need('[', "before the parts of a fused location")) return nullptr;
  while (in_.peek() != ']') {
    inner.push_back(place());
    if (inner.back() == nullptr) return nullptr;
    if (!in_.eat(',')) break;
  }
  made->inner = arena_.copy(inner);
  return in_.need(']', "at the end of a fused location") ? made : nullptr;
}

}  // namespace hlosim::mlir
