// Types and attributes as text.
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "hlo/number.h"
#include "mlir/dense_reader.h"
#include "mlir/element_format.h"
#include "mlir/scanner.h"
#include "mlir/writer.h"

namespace hlosim::mlir {
namespace {

bool is_bare(std::string_view name) {
  bool bare = !name.empty() && Scanner::starts_word(name[0]);
  for (const char c : name) bare = bare && Scanner::continues_word(c);
  return bare;
}

void append_hex(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) out += fmt::format("{:02X}", static_cast<unsigned char>(byte));
}

/// A decimal that MLIR reads as a float: there is always a point in it.
std::string with_point(std::string text) {
  if (text.find('.') != std::string::npos) return text;
  const size_t exponent = text.find('e');
  return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

/// The shortest decimal, or the bits where no decimal reads back as them.
std::string float_text(ElementType type, uint64_t bits) {
  std::string text;
  append_float(text, type, bits);
  const double value = decode_float(type, bits);
  if (std::isfinite(value)) {
    text = with_point(std::move(text));
    double back = 0;
    bool overflow = false;
    const char* end = read_decimal(text.data(), text.data() + text.size(), back);
    if (end == text.data() + text.size() && encode_float(type, back, overflow) == bits) return text;
  }
  return fmt::format("0x{:0{}X}", bits, 2 * byte_width(type));
}

uint64_t load(std::string_view bytes, int64_t width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), std::min(bytes.size(), static_cast<size_t>(width)));
  return bits;
}

}  // namespace

// ── types ──

void Writer::types(std::span<const Type* const> types) {
  const char* separator = "";
  for (const Type* inner : types) {
    out_ += separator;
    type(*inner);
    separator = ", ";
  }
}

void Writer::shape(std::string_view word, const Type& type) {
  out_ += fmt::format("{}<", word);
  for (const int64_t dim : type.dims) out_ += dim == kDynamic ? "?x" : fmt::format("{}x", dim);
  this->type(*type.element);
  for (const Attribute* part : {type.attribute, type.space}) {
    if (part == nullptr) continue;
    out_ += ", ";
    attribute(*part);
  }
  out_ += '>';
}

void Writer::type(const Type& type) {
  switch (type.kind) {
    case TypeKind::kElement:
    case TypeKind::kOpaque:
      out_ += type.word;
      return;
    case TypeKind::kToken:
      out_ += "!stablehlo.token";
      return;
    case TypeKind::kComplex:
    case TypeKind::kTuple:
      out_ += type.kind == TypeKind::kTuple ? "tuple<" : "complex<";
      types(type.members);
      out_ += '>';
      return;
    case TypeKind::kTensor:
      return shape("tensor", type);
    case TypeKind::kMemRef:
      return shape("memref", type);
    case TypeKind::kVector:
      return shape("vector", type);
    case TypeKind::kUnrankedTensor:
      out_ += "tensor<*x";
      this->type(*type.element);
      out_ += '>';
      return;
    case TypeKind::kFunction: {
      out_ += '(';
      types(type.members);
      const bool alone = type.results.size() == 1 && type.results[0]->kind != TypeKind::kFunction;
      out_ += alone ? ") -> " : ") -> (";
      types(type.results);
      if (!alone) out_ += ')';
      return;
    }
  }
}

// ── attributes ──

void Writer::dictionary(std::span<const NamedAttribute> entries, std::string_view open,
                        std::string_view close) {
  out_ += open;
  const char* separator = "";
  for (const NamedAttribute& entry : entries) {
    out_ += separator;
    if (is_bare(entry.name)) {
      out_ += entry.name;
    } else {
      string(entry.name);
    }
    separator = ", ";
    if (entry.value->kind == AttributeKind::kUnit) continue;
    out_ += " = ";
    attribute(*entry.value);
  }
  out_ += close;
}

void Writer::symbol(const Attribute& attribute) {
  out_ += '@';
  if (is_bare(attribute.text)) {
    out_ += attribute.text;
  } else {
    string(attribute.text);
  }
  for (const Attribute* nested : attribute.items) {
    out_ += "::";
    symbol(*nested);
  }
}

void Writer::number(const Attribute& attribute) {
  const bool is_unsigned = attribute.type != nullptr && attribute.type->word.starts_with('u');
  if (attribute.kind == AttributeKind::kInteger) {
    out_ += is_unsigned ? fmt::format("{}", static_cast<uint64_t>(attribute.integer))
                        : fmt::format("{}", attribute.integer);
  } else if (attribute.has_bits || !std::isfinite(attribute.number)) {
    const ElementType type =
        attribute.type == nullptr ? ElementType::kF64 : element_type(attribute.type->word);
    bool overflow = false;
    const bool known = type != ElementType::kInvalid && is_float(type);
    const uint64_t bits =
        attribute.has_bits || !known ? attribute.bits : encode_float(type, attribute.number, overflow);
    out_ += fmt::format("0x{:0{}X}", bits, known ? 2 * byte_width(type) : 16);
    if (attribute.type == nullptr) out_ += " : f64";
  } else {
    out_ += with_point(fmt::format("{}", attribute.number));
  }
  if (attribute.type == nullptr) return;
  out_ += " : ";
  type(*attribute.type);
}

/// array<…>, or the bare list that structures have.
void Writer::numbers(const Attribute& attribute) {
  const bool is_bool = attribute.type != nullptr && attribute.type->word == "i1";
  if (attribute.type == nullptr) {
    out_ += '[';
  } else {
    out_ += fmt::format("array<{}", attribute.type->word);
    if (!attribute.integers.empty() || !attribute.elements.bytes.empty()) out_ += ": ";
  }
  const char* separator = "";
  for (const int64_t value : attribute.integers) {
    out_ += separator;
    out_ += is_bool ? (value != 0 ? "true" : "false") : fmt::format("{}", value);
    separator = ", ";
  }
  if (attribute.kind == AttributeKind::kFloats) {
    const std::optional<ElementFormat> format = element_format(*attribute.type);
    const size_t width = format ? static_cast<size_t>(format->bytes()) : 8;
    for (size_t at = 0; at + width <= attribute.elements.bytes.size(); at += width) {
      out_ += separator;
      element(*attribute.type, attribute.elements.bytes.substr(at, width));
      separator = ", ";
    }
  }
  out_ += attribute.type == nullptr ? ']' : '>';
}

/// What may stand in a structure without saying what it is.
void Writer::struct_value(const Attribute& attribute) {
  if (attribute.kind == AttributeKind::kArray) {
    out_ += '[';
    const char* separator = "";
    for (const Attribute* item : attribute.items) {
      out_ += separator;
      struct_value(*item);
      separator = ", ";
    }
    out_ += ']';
  } else if (attribute.kind == AttributeKind::kEnum && attribute.name.empty()) {
    out_ += attribute.text;
  } else {
    this->attribute(attribute);
  }
}

void Writer::structure(const Attribute& attribute) {
  if (!attribute.name.empty()) out_ += fmt::format("#{}", attribute.name);
  out_ += attribute.name.ends_with(".conv") && !attribute.entries.empty() ? "<raw " : "<";
  const char* separator = "";
  for (const NamedAttribute& entry : attribute.entries) {
    out_ += fmt::format("{}{} = ", separator, entry.name);
    struct_value(*entry.value);
    separator = ", ";
  }
  out_ += '>';
}

void Writer::element(const Type& type, std::string_view bytes) {
  const std::optional<ElementFormat> format = element_format(type);
  if (!format) return;
  if (format->parts == 2) out_ += '(';
  for (int part = 0; part < format->parts; ++part) {
    const uint64_t bits =
        load(bytes.substr(static_cast<size_t>(part * format->part_bytes)), format->part_bytes);
    if (part > 0) out_ += ", ";
    const int shift = 64 - static_cast<int>(8 * format->part_bytes);
    if (is_pred(format->type)) {
      out_ += bits != 0 ? "true" : "false";
    } else if (is_float(format->type)) {
      out_ += float_text(format->type, bits);
    } else if (is_signed_integer(format->type)) {
      out_ += fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
    } else {
      out_ += fmt::format("{}", bits);
    }
  }
  if (format->parts == 2) out_ += ')';
}

void Writer::dense_list(const Type& type, std::string_view bytes, size_t level, size_t& at) {
  if (level == type.dims.size()) {
    const size_t width = static_cast<size_t>(element_format(*type.element)->bytes());
    element(*type.element, bytes.substr(at, width));
    at += width;
    return;
  }
  out_ += '[';
  for (int64_t i = 0; i < type.dims[level]; ++i) {
    if (i > 0) out_ += ", ";
    dense_list(type, bytes, level + 1, at);
  }
  out_ += ']';
}

void Writer::dense(const Attribute& attribute) {
  const Type& type = *attribute.type;
  const Elements& elements = attribute.elements;
  const std::optional<ElementFormat> format = element_format(*type.element);
  const std::optional<int64_t> count = count_elements(type.dims);
  if (attribute.kind == AttributeKind::kDenseResource) {
    out_ += "dense_resource<";
    is_bare(attribute.text) ? static_cast<void>(out_ += attribute.text) : string(attribute.text);
    if (elements.is_given) resources_[attribute.text] = elements.bytes;
  } else if (!elements.is_given || !format || !count) {
    out_ += "dense_resource<__elided__";
  } else if (out_ += "dense<"; elements.is_splat) {
    element(*type.element, elements.bytes);
  } else if (*count > options_.longest_list) {
    out_ += "\"0x";
    append_hex(out_, elements.bytes);
    out_ += '"';
  } else if (*count * format->bytes() == static_cast<int64_t>(elements.bytes.size()) && *count > 0) {
    size_t at = 0;
    dense_list(type, elements.bytes, 0, at);
  }
  out_ += "> : ";
  this->type(type);
}

void Writer::attribute(const Attribute& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kUnit:
      out_ += "unit";
      return;
    case AttributeKind::kBool:
      out_ += attribute.integer != 0 ? "true" : "false";
      return;
    case AttributeKind::kInteger:
    case AttributeKind::kFloat:
      return number(attribute);
    case AttributeKind::kString:
      string(attribute.text);
      if (attribute.type == nullptr) return;
      out_ += " : ";
      return type(*attribute.type);
    case AttributeKind::kSymbol:
      return symbol(attribute);
    case AttributeKind::kType:
      return type(*attribute.type);
    case AttributeKind::kArray:
      return struct_value(attribute);
    case AttributeKind::kDictionary:
      return dictionary(attribute.entries, "{", "}");
    case AttributeKind::kIntegers:
    case AttributeKind::kFloats:
      return numbers(attribute);
    case AttributeKind::kDense:
    case AttributeKind::kDenseResource:
      return dense(attribute);
    case AttributeKind::kAffineMap:
      out_ += attribute.text;
      return;
    case AttributeKind::kEnum: {
      const size_t dot = attribute.name.find('.');
      const std::string_view dialect = attribute.name.substr(0, dot);
      const bool within =
          dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo" || dialect == "sdy";
      if (within && dot != std::string_view::npos) {
        out_ += fmt::format("#{}<{} {}>", dialect, attribute.name.substr(dot + 1), attribute.text);
      } else {
        out_ += fmt::format("#{}<{}>", attribute.name, attribute.text);
      }
      return;
    }
    case AttributeKind::kStruct:
      return structure(attribute);
    case AttributeKind::kSharding:
    case AttributeKind::kOpaque:
      if (!attribute.name.empty()) out_ += fmt::format("#{}", attribute.name);
      out_ += attribute.text;
      return;
    case AttributeKind::kLocation:
      return location(*attribute.location);
  }
}

void Writer::resources() {
  if (resources_.empty()) return;
  out_ += "{-#\n  dialect_resources: {\n    builtin: {\n";
  const char* separator = "";
  for (const auto& [key, bytes] : resources_) {
    out_ += fmt::format("{}      ", separator);
    is_bare(key) ? static_cast<void>(out_ += key) : string(key);
    out_ += ": \"0x01000000";
    append_hex(out_, bytes);
    out_ += '"';
    separator = ",\n";
  }
  out_ += "\n    }\n  }\n#-}\n";
}

}  // namespace hlosim::mlir
