// What MLIR's builtin dialect writes for its own attributes and types.
#include <fmt/format.h>

#include "base/text.h"
#include "mlir_bytecode/attribute_table.h"
#include "mlir_bytecode/numbers.h"

namespace hlosim::mlir {
namespace {

enum BuiltinAttribute : uint8_t {
  kArrayCode,
  kDictionaryCode,
  kStringCode,
  kTypedStringCode,
  kSymbolCode,
  kNestedSymbolCode,
  kTypeCode,
  kUnitCode,
  kIntegerCode,
  kFloatCode,
  kCallSiteCode,
  kFileCode,
  kFusedCode,
  kFusedWithMetadataCode,
  kNameCode,
  kUnknownCode,
  kResourceCode,
  kDenseArrayCode,
  kDenseCode,
  kStringElementsCode,
  kSparseCode,
  kDistinctCode,
  kFileRangeCode,
};

enum BuiltinType : uint8_t {
  kIntegerType,
  kIndexType,
  kFunctionType,
  kBf16Type,
  kF16Type,
  kF32Type,
  kF64Type,
  kF80Type,
  kF128Type,
  kComplexType,
  kMemRefType,
  kMemRefInSpaceType,
  kNoneType,
  kTensorType,
  kEncodedTensorType,
  kTupleType,
  kUnrankedMemRefType,
  kUnrankedMemRefInSpaceType,
  kUnrankedTensorType,
  kVectorType,
  kScalableVectorType,
};

bool is_location_code(uint64_t code) {
  return (code >= kCallSiteCode && code <= kUnknownCode) || code == kFileRangeCode;
}

const Attribute* read_symbol(AttributeTable& table, ByteReader& in, bool is_nested) {
  Attribute* const made = table.make(AttributeKind::kSymbol, in);
  made->text = table.read_string_attribute(in);
  if (!is_nested) return made;
  const std::span<const Attribute*> items = table.room<const Attribute*>(in.count("symbols"), in);
  for (const Attribute*& item : items) {
    item = table.read_attribute(in);
    if (!in.ok()) break;
  }
  made->items = items;
  return made;
}

/// The type of elements: a tensor's, or a fault.
const Type* read_tensor_type(AttributeTable& table, ByteReader& in) {
  const Type* const type = table.read_type(in);
  if (type && type->element && (type->kind == TypeKind::kTensor || type->kind == TypeKind::kVector))
    return type;
  in.fail("elements of a type that is not a tensor");
  return nullptr;
}

const Attribute* read_resource(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kDenseResource, in);
  made->type = read_tensor_type(table, in);
  const Resource* const resource = table.read_resource(in);
  if (!in.ok()) return made;
  made->text = resource->key;
  made->elements = {resource->bytes, false, resource->is_given};
  if (resource->is_given) made->elements = elements_of(table, *made->type, resource->bytes, in);
  return made;
}

const Attribute* read_dense_array(AttributeTable& table, ByteReader& in) {
  const Type* const type = table.read_type(in);
  const uint64_t count = in.varint();
  const size_t at = in.offset();
  const std::string_view bytes = in.take(in.varint(), "an array");
  const size_t width = in.ok() ? element_bytes(*type) : 0;
  const bool is_float = in.ok() && is_float_word(type->word);
  Attribute* const made = table.make(is_float ? AttributeKind::kFloats : AttributeKind::kIntegers, in);
  if (!in.ok()) return made;
  made->type = type;
  if (width == 0 || bytes.size() % width != 0 || bytes.size() / width != count) {
    in.fail_at(at, fmt::format("an array of {} {} in {} bytes", count, shown(type->word), bytes.size()));
    return made;
  }
  if (is_float) {
    made->elements = {bytes, false, true};
    return made;
  }
  const std::span<int64_t> integers = table.room<int64_t>(count, in);
  for (size_t i = 0; i < integers.size(); ++i) integers[i] = integer_at(bytes.data() + i * width, *type);
  made->integers = integers;
  return made;
}

/// Attributes that nothing here reads: kept, so that what holds them can be read.
const Attribute* keep_unread(AttributeTable& table, ByteReader& in, std::string_view name) {
  Attribute* const made = table.make(AttributeKind::kOpaque, in);
  made->name = name;
  in.take(in.left(), "");
  return made;
}

const Attribute* read_coded(AttributeTable& table, ByteReader& in, uint64_t code) {
  switch (code) {
    case kArrayCode:
      return read_list_attribute(table, in);
    case kDictionaryCode:
      return read_dictionary(table, in);
    case kStringCode:
    case kTypedStringCode: {
      Attribute* const made = table.make(AttributeKind::kString, in);
      made->text = table.read_string(in);
      if (code == kTypedStringCode) made->type = table.read_type(in);
      return made;
    }
    case kSymbolCode:
    case kNestedSymbolCode:
      return read_symbol(table, in, code == kNestedSymbolCode);
    case kTypeCode:
      return read_type_attribute(table, in);
    case kUnitCode:
      return table.make(AttributeKind::kUnit, in);
    case kIntegerCode:
      return read_integer_attribute(table, in);
    case kFloatCode:
      return read_float_attribute(table, in);
    case kResourceCode:
      return read_resource(table, in);
    case kDenseArrayCode:
      return read_dense_array(table, in);
    case kDenseCode:
      return read_dense_attribute(table, in);
    case kStringElementsCode: {
      // Texts have no width: as in texts a kDense whose elements aren't given.
      Attribute* const made = table.make(AttributeKind::kDense, in);
      made->type = read_tensor_type(table, in);
      made->elements.is_given = false;
      in.take(in.left(), "");
      return made;
    }
    case kSparseCode:
      return keep_unread(table, in, "builtin.sparse");
    case kDistinctCode:
      return keep_unread(table, in, "builtin.distinct");
    default:
      in.fail(fmt::format("a builtin attribute of code {} isn't known", code));
      return nullptr;
  }
}

/// Is it `affine_map<(d0, d1) -> (d0, d1)>`, the layout that needs no words?
bool is_identity_map(const Attribute& layout) {
  if (layout.kind != AttributeKind::kAffineMap) return false;
  const std::string_view text = layout.text;
  const size_t open = text.find('('), close = text.find(')'), arrow = text.find("-> (");
  if (open == std::string_view::npos || close == std::string_view::npos || arrow == std::string_view::npos)
    return false;
  const size_t end = text.find(')', arrow);
  return end != std::string_view::npos && close > open &&
         text.substr(open + 1, close - open - 1) == text.substr(arrow + 4, end - arrow - 4);
}

const Type* read_integer_type(AttributeTable& table, ByteReader& in) {
  const size_t at = in.offset();
  const uint64_t word = in.varint();
  const uint64_t width = word >> 2, sign = word & 3;
  if (sign == 3 || width > kWidestInteger) {
    in.fail_at(at, "no integer type");
    return nullptr;
  }
  constexpr std::string_view kPrefixes[] = {"i", "si", "ui"};
  const std::string text = fmt::format("{}{}", kPrefixes[sign], width);
  return table.element_type(table.copy(text, in), in);
}

const Type* read_shaped(AttributeTable& table, ByteReader& in, uint64_t code) {
  auto* const made = table.make<Type>(in);
  const bool is_memref = code == kMemRefType || code == kMemRefInSpaceType;
  made->kind = is_memref                                            ? TypeKind::kMemRef
               : code == kVectorType || code == kScalableVectorType ? TypeKind::kVector
                                                                    : TypeKind::kTensor;
  if (code == kEncodedTensorType) made->attribute = table.read_attribute(in);
  if (code == kMemRefInSpaceType) made->space = table.read_attribute(in);
  if (code == kScalableVectorType) read_integers(table, in);
  made->dims = read_shape(table, in);
  made->element = table.read_type(in);
  if (is_memref) {
    const Attribute* const layout = table.read_attribute(in);
    if (layout && !is_identity_map(*layout)) made->attribute = layout;
  }
  return made;
}

const Type* read_unranked(AttributeTable& table, ByteReader& in, uint64_t code) {
  auto* const made = table.make<Type>(in);
  made->kind = TypeKind::kUnrankedTensor;
  if (code == kUnrankedMemRefInSpaceType) made->space = table.read_attribute(in);
  made->element = table.read_type(in);
  if (code != kUnrankedTensorType) {
    made->kind = TypeKind::kOpaque;
    made->word = "memref<*>";
  }
  return made;
}

const Type* read_coded_type(AttributeTable& table, ByteReader& in, uint64_t code) {
  switch (code) {
    case kIntegerType:
      return read_integer_type(table, in);
    case kFunctionType:
      return read_function_type(table, in);
    case kComplexType:
    case kTupleType: {
      auto* const made = table.make<Type>(in);
      made->kind = code == kTupleType ? TypeKind::kTuple : TypeKind::kComplex;
      if (code == kTupleType) {
        made->members = read_types(table, in);
      } else {
        const std::span<const Type*> members = table.room<const Type*>(1, in);
        for (const Type*& member : members) member = table.read_type(in);
        made->members = members;
      }
      return made;
    }
    case kMemRefType:
    case kMemRefInSpaceType:
    case kTensorType:
    case kEncodedTensorType:
    case kVectorType:
    case kScalableVectorType:
      return read_shaped(table, in, code);
    case kUnrankedMemRefType:
    case kUnrankedMemRefInSpaceType:
    case kUnrankedTensorType:
      return read_unranked(table, in, code);
    default:
      break;
  }
  constexpr std::pair<BuiltinType, std::string_view> kWords[] = {
      {kIndexType, "index"}, {kBf16Type, "bf16"}, {kF16Type, "f16"},   {kF32Type, "f32"},
      {kF64Type, "f64"},     {kF80Type, "f80"},   {kF128Type, "f128"}, {kNoneType, "none"}};
  for (const auto& [known, word] : kWords)
    if (known == code) return table.element_type(word, in);
  in.fail(fmt::format("a builtin type of code {} isn't known", code));
  return nullptr;
}

std::span<const Location* const> read_locations(AttributeTable& table, ByteReader& in, size_t count) {
  const std::span<const Location*> places = table.room<const Location*>(count, in);
  for (const Location*& place : places) {
    place = table.read_location(in);
    if (!in.ok()) break;
  }
  return places;
}

}  // namespace

const Attribute* read_builtin_attribute(AttributeTable& table, ByteReader& in, uint32_t index) {
  const size_t at = in.offset();
  const uint64_t code = in.varint();
  if (is_location_code(code)) {
    Attribute* const made = table.make(AttributeKind::kLocation, in);
    made->location = table.location(index);
    return made;
  }
  const Attribute* const made = read_coded(table, in, code);
  if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes too many of attribute {}", in.left(), index));
  if (made && in.ok()) const_cast<Attribute*>(made)->offset = static_cast<uint32_t>(at);
  return made;
}

const Type* read_builtin_type(AttributeTable& table, ByteReader& in) {
  const Type* const made = read_coded_type(table, in, in.varint());
  if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes too many of a type", in.left()));
  return made;
}

const Location* read_builtin_location(AttributeTable& table, ByteReader& in) {
  const uint64_t code = in.varint();
  if (!is_location_code(code)) return nullptr;
  auto* const made = table.make<Location>(in);
  switch (code) {
    case kCallSiteCode:
      made->kind = LocationKind::kCallSite;
      made->inner = read_locations(table, in, 2);
      break;
    case kFileCode:
      made->kind = LocationKind::kFile;
      made->text = table.read_string_attribute(in);
      made->line = static_cast<int64_t>(in.varint());
      made->column = static_cast<int64_t>(in.varint());
      break;
    case kFileRangeCode: {
      made->kind = LocationKind::kFile;
      made->text = table.read_string_attribute(in);
      const size_t count = in.count("lines and columns");
      for (size_t i = 0; i < count && in.ok(); ++i) {
        const auto number = static_cast<int64_t>(in.varint());
        if (i == 0) made->line = number;
        if (i == 1) made->column = number;
      }
      break;
    }
    case kFusedCode:
    case kFusedWithMetadataCode:
      made->kind = LocationKind::kFused;
      made->inner = read_locations(table, in, in.count("locations"));
      if (code == kFusedWithMetadataCode) in.index(table.container().attributes.size(), "attribute");
      break;
    case kNameCode:
      made->kind = LocationKind::kName;
      made->text = table.read_string_attribute(in);
      made->inner = read_locations(table, in, 1);
      break;
    default:
      break;
  }
  if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes too many of a location", in.left()));
  return made;
}

}  // namespace hlosim::mlir
