// Parts of attributes and types that builtin and VHLO write alike.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir_bytecode/attribute_table.h"
#include "mlir_bytecode/numbers.h"

namespace hlosim::mlir {
namespace {

/// An integer of `width` bits: a byte, a number, or a list of them, the lowest first.
uint64_t read_bits(ByteReader& in, uint32_t width) {
  if (width <= 8) return in.byte();
  if (width <= 64) return static_cast<uint64_t>(in.svarint());
  const size_t count = in.count("words of an integer");
  uint64_t lowest = 0;
  for (size_t i = 0; i < count && in.ok(); ++i) {
    const auto word = static_cast<uint64_t>(in.svarint());
    if (i == 0) lowest = word;
  }
  return lowest;
}

/// The width of the type of a number that stands alone; 0, with a fault: it is none.
uint32_t width_or_fault(const Type* type, ByteReader& in, bool wants_float) {
  if (!type || !in.ok()) return 0;
  const std::optional<uint32_t> width =
      type->kind == TypeKind::kElement ? width_of(type->word) : std::nullopt;
  if (width && is_float_word(type->word) == wants_float) return *width;
  in.fail(fmt::format("a value of type {}, which is no {} type", shown(type->word),
                      wants_float ? "float" : "integer"));
  return 0;
}

}  // namespace

const Attribute* read_list_attribute(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kArray, in);
  const std::span<const Attribute*> items = table.room<const Attribute*>(in.count("items"), in);
  for (const Attribute*& item : items) {
    item = table.read_attribute(in);
    if (!in.ok()) break;
  }
  made->items = items;
  return made;
}

const Attribute* read_dictionary(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kDictionary, in);
  const std::span<NamedAttribute> entries = table.room<NamedAttribute>(in.count("entries"), in);
  for (NamedAttribute& entry : entries) {
    entry.name = table.read_string_attribute(in);
    entry.value = table.read_attribute(in);
    if (!in.ok()) break;
  }
  made->entries = entries;
  return made;
}

const Attribute* read_integer_attribute(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kInteger, in);
  made->type = table.read_type(in);
  const uint32_t width = width_or_fault(made->type, in, false);
  const uint64_t bits = read_bits(in, width);
  if (!in.ok()) return made;
  if (made->type->word == "i1") made->kind = AttributeKind::kBool;
  char bytes[8];
  std::memcpy(bytes, &bits, sizeof(bits));
  made->integer = integer_at(bytes, *made->type);
  if (made->kind == AttributeKind::kBool) made->type = nullptr;
  return made;
}

const Attribute* read_float_attribute(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kFloat, in);
  made->type = table.read_type(in);
  const uint32_t width = width_or_fault(made->type, in, true);
  made->bits = read_bits(in, width);
  if (!in.ok()) return made;
  if (width < 64) made->bits &= (uint64_t{1} << width) - 1;
  made->has_bits = width <= 64;
  made->number = number_of(made->bits, made->type->word);
  return made;
}

const Attribute* read_dense_attribute(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kDense, in);
  made->type = table.read_type(in);
  const std::string_view bytes = in.take(in.varint(), "a tensor");
  if (in.ok()) made->elements = elements_of(table, *made->type, bytes, in);
  return made;
}

const Attribute* read_type_attribute(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kType, in);
  made->type = table.read_type(in);
  return made;
}

std::span<const int64_t> read_integers(AttributeTable& table, ByteReader& in) {
  const std::span<int64_t> values = table.room<int64_t>(in.count("numbers"), in);
  for (int64_t& value : values) {
    value = in.svarint();
    if (!in.ok()) break;
  }
  return values;
}

std::span<const int64_t> read_shape(AttributeTable& table, ByteReader& in) {
  const size_t at = in.offset();
  const std::span<const int64_t> dims = read_integers(table, in);
  for (const int64_t& dim : dims) {
    if (dim >= 0 || dim == kDynamic) continue;
    if (dim != -1) in.fail_at(at, fmt::format("a dimension of {}", dim));
    const_cast<int64_t&>(dim) = kDynamic;  // as old files write it
  }
  return dims;
}

std::span<const Type* const> read_types(AttributeTable& table, ByteReader& in) {
  const std::span<const Type*> types = table.room<const Type*>(in.count("types"), in);
  for (const Type*& type : types) {
    type = table.read_type(in);
    if (!in.ok()) break;
  }
  return types;
}

const Type* read_function_type(AttributeTable& table, ByteReader& in) {
  auto* const made = table.make<Type>(in);
  made->kind = TypeKind::kFunction;
  made->members = read_types(table, in);
  made->results = read_types(table, in);
  return made;
}

}  // namespace hlosim::mlir
