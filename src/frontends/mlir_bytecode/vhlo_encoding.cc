// What VHLO, the dialect of portable artifacts, writes for its attributes and types. They come out as those
// of StableHLO: an enum, a structure, a number as the text of an operation of today would have them.
#include <fmt/format.h>

#include <iterator>

#include "base/text.h"
#include "mlir_bytecode/attribute_table.h"
#include "mlir_bytecode/numbers.h"
#include "mlir_bytecode/vhlo_operations.h"

namespace hlosim::mlir {
namespace {

enum VhloAttribute : uint8_t {
  kArrayCode = 1,
  kBooleanCode,
  kComparisonDirectionCode,
  kComparisonTypeCode,
  kApiVersionCode,
  kDictionaryCode,
  kFftTypeCode,
  kFloatCode,
  kIntegerCode,
  kOutputOperandAliasCode,
  kPrecisionCode,
  kRngAlgorithmCode,
  kRngDistributionCode,
  kStringCode,
  kTensorCode,
  kTransposeCode,
  kTypeCode,
  kTypeExtensionsCode,
  kAccuracyModeCode,
  kResultAccuracyCode,
  kSubAxisCode,
  kAxisCode,
  kReplicaGroupMeshAxesCode,
  kMeshAxisCode,
  kMeshCode,
};

struct EnumWords {
  VhloAttribute code;
  std::string_view name;
  std::string_view words[7];  // by value; empty: no such value
};
constexpr EnumWords kEnums[] = {
    {kComparisonDirectionCode, "stablehlo.comparison_direction", {"EQ", "NE", "GE", "GT", "LE", "LT"}},
    {kComparisonTypeCode,
     "stablehlo.comparison_type",
     {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
    {kFftTypeCode, "stablehlo.fft_type", {"FFT", "IFFT", "RFFT", "IRFFT"}},
    {kPrecisionCode, "stablehlo.precision", {"DEFAULT", "HIGH", "HIGHEST"}},
    {kRngAlgorithmCode, "stablehlo.rng_algorithm", {"DEFAULT", "THREE_FRY", "PHILOX"}},
    {kRngDistributionCode, "stablehlo.rng_distribution", {"", "UNIFORM", "NORMAL"}},
    {kTransposeCode, "stablehlo.transpose", {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}},
    {kAccuracyModeCode, "stablehlo.result_accuracy_mode", {"DEFAULT", "HIGHEST", "TOLERANCE"}},
};

const Attribute* read_enum(AttributeTable& table, ByteReader& in, const EnumWords& known) {
  Attribute* const made = table.make(AttributeKind::kEnum, in);
  made->name = known.name;
  made->text = known.words[in.index(std::size(known.words), known.name)];
  if (in.ok() && made->text.empty()) in.fail(fmt::format("no value of {}", known.name));
  return made;
}

/// A structure whose entries are made by `put`.
class Structure {
 public:
  Structure(AttributeTable& table, ByteReader& in, std::string_view name, size_t entries)
      : table_(table), in_(in), made_(table.make(AttributeKind::kStruct, in)) {
    made_->name = name;
    room_ = table.room<NamedAttribute>(entries, in);
  }
  void put(std::string_view name, const Attribute* value) {
    if (in_.ok() && value && used_ < room_.size()) room_[used_++] = {name, value};
  }
  void put(std::string_view name, int64_t integer) {
    Attribute* const value = table_.make(AttributeKind::kInteger, in_);
    value->integer = integer;
    put(name, value);
  }
  void put(std::string_view name, std::span<const int64_t> integers) {
    Attribute* const value = table_.make(AttributeKind::kIntegers, in_);
    value->integers = integers;
    put(name, value);
  }
  const Attribute* done() {
    made_->entries = std::span<const NamedAttribute>(room_).first(used_);
    return made_;
  }

 private:
  AttributeTable& table_;
  ByteReader& in_;
  Attribute* made_;
  std::span<NamedAttribute> room_;
  size_t used_ = 0;
};

const Attribute* read_output_operand_alias(AttributeTable& table, ByteReader& in) {
  Structure made(table, in, "stablehlo.output_operand_alias", 3);
  made.put("output_tuple_indices", read_integers(table, in));
  made.put("operand_index", in.svarint());
  made.put("operand_tuple_indices", read_integers(table, in));
  return made.done();
}

const Attribute* read_number(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kFloat, in);
  made->bits = static_cast<uint64_t>(in.svarint());
  made->has_bits = true;
  made->number = number_of(made->bits, "f64");
  made->type = table.element_type("f64", in);
  return made;
}

const Attribute* read_result_accuracy(AttributeTable& table, ByteReader& in) {
  Structure made(table, in, "stablehlo.result_accuracy", 4);
  made.put("atol", read_number(table, in));
  made.put("rtol", read_number(table, in));
  made.put("ulps", in.svarint());
  made.put("mode", table.read_attribute(in));
  return made.done();
}

/// The bounds of a tensor's dimensions, as its encoding is written.
const Attribute* read_type_extensions(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kOpaque, in);
  made->name = "stablehlo.bounds";
  const std::span<const int64_t> bounds = read_shape(table, in);
  std::string text;
  for (const int64_t bound : bounds) {
    if (!text.empty()) text += ", ";
    text += bound == kDynamic ? "?" : std::to_string(bound);
  }
  made->text = table.copy(fmt::format("<{}>", text), in);
  return made;
}

/// Names are strings, and attributes that hold such.
const Attribute* named_symbol(AttributeTable& table, ByteReader& in) {
  const Attribute* const named = table.read_attribute(in);
  if (!named || named->kind != AttributeKind::kString) return named;
  Attribute* const made = table.make(AttributeKind::kSymbol, in);
  made->text = named->text;
  return made;
}

const Attribute* read_mesh_part(AttributeTable& table, ByteReader& in, uint64_t code) {
  if (code == kSubAxisCode) {
    Structure made(table, in, "stablehlo.sub_axis_info", 2);
    made.put("pre_size", in.svarint());
    made.put("size", in.svarint());
    return made.done();
  }
  if (code == kAxisCode) {
    Structure made(table, in, "stablehlo.axis_ref", 2);
    made.put("name", table.read_attribute(in));
    if (in.varint() != 0) made.put("sub_axis_info", table.read_attribute(in));
    return made.done();
  }
  if (code == kReplicaGroupMeshAxesCode) {
    Structure made(table, in, "stablehlo.replica_group_mesh_axes", 2);
    made.put("mesh", named_symbol(table, in));
    made.put("axes", table.read_attribute(in));
    return made.done();
  }
  if (code == kMeshAxisCode) {
    Structure made(table, in, "stablehlo.mesh_axis", 2);
    made.put("name", table.read_attribute(in));
    made.put("size", in.svarint());
    return made.done();
  }
  Structure made(table, in, "stablehlo.mesh", 2);
  made.put("axes", table.read_attribute(in));
  const size_t at = in.offset();
  if (const uint64_t word = in.varint(); word & 1) {
    if (word >> 1 >= table.container().attributes.size())
      in.fail_at(at, fmt::format("names attribute {}", word >> 1));
    else
      made.put("device_ids", table.attribute(static_cast<uint32_t>(word >> 1)));
  }
  return made.done();
}

const Attribute* read_boolean(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kBool, in);
  made->integer = in.varint() != 0;
  return made;
}

const Attribute* read_api_version(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kInteger, in);
  made->type = table.element_type("i32", in);
  made->integer = in.index(8, "API version");
  return made;
}

const Attribute* read_string(AttributeTable& table, ByteReader& in) {
  Attribute* const made = table.make(AttributeKind::kString, in);
  made->text = table.read_string(in);
  return made;
}

const Attribute* read_coded(AttributeTable& table, ByteReader& in, uint64_t code) {
  for (const EnumWords& known : kEnums)
    if (known.code == code) return read_enum(table, in, known);
  switch (code) {
    case kArrayCode:
      return read_list_attribute(table, in);
    case kBooleanCode:
      return read_boolean(table, in);
    case kApiVersionCode:
      return read_api_version(table, in);
    case kDictionaryCode:
      return read_dictionary(table, in);
    case kFloatCode:
      return read_float_attribute(table, in);
    case kIntegerCode:
      return read_integer_attribute(table, in);
    case kOutputOperandAliasCode:
      return read_output_operand_alias(table, in);
    case kStringCode:
      return read_string(table, in);
    case kTensorCode:
      return read_dense_attribute(table, in);
    case kTypeCode:
      return read_type_attribute(table, in);
    case kTypeExtensionsCode:
      return read_type_extensions(table, in);
    case kResultAccuracyCode:
      return read_result_accuracy(table, in);
    case kSubAxisCode:
    case kAxisCode:
    case kReplicaGroupMeshAxesCode:
    case kMeshAxisCode:
    case kMeshCode:
      return read_mesh_part(table, in, code);
    default:
      in.fail(fmt::format("a VHLO attribute of code {} isn't known", code), newest_known(table.container()));
      return nullptr;
  }
}

/// By code; empty: what has parts, or isn't known.
constexpr std::string_view kTypeWords[] = {
    "i1",       "",         "bf16",     "f16",        "f32",        "f64",
    "f8E4M3FN", "f8E5M2",   "",         "index",      "i4",         "i8",
    "i16",      "i32",      "i64",      "ui4",        "ui8",        "ui16",
    "ui32",     "ui64",     "",         "",           "",           "",
    "",         "",         "",         "f8E4M3FNUZ", "f8E5M2FNUZ", "f8E4M3B11FNUZ",
    "",         "i2",       "ui2",      "none",       "tf32",       "f8E4M3",
    "f8E3M4",   "f4E2M1FN", "f6E2M3FN", "f6E3M2FN",   "f8E8M0FNU"};

enum VhloType : uint8_t {
  kComplexType = 1,
  kFunctionType = 8,
  kTensorType = 20,
  kEncodedTensorType,
  kTokenType,
  kTupleType,
  kQuantizedType,
  kUnrankedTensorType,
  kWitnessType,
  kQuantizedPerAxisType = 30,
  kBufferType = 41,
  kFutureType,
};

const Type* opaque_type(AttributeTable& table, ByteReader& in, std::string_view word) {
  auto* const made = table.make<Type>(in);
  made->kind = TypeKind::kOpaque;
  made->word = word;
  in.take(in.left(), "");
  return made;
}

const Type* read_compound_type(AttributeTable& table, ByteReader& in, uint64_t code) {
  auto* const made = table.make<Type>(in);
  if (code == kTokenType) {
    made->kind = TypeKind::kToken;
  } else if (code == kTupleType) {
    made->kind = TypeKind::kTuple;
    made->members = read_types(table, in);
  } else if (code == kComplexType) {
    made->kind = TypeKind::kComplex;
    const std::span<const Type*> members = table.room<const Type*>(1, in);
    for (const Type*& member : members) member = table.read_type(in);
    made->members = members;
  } else if (code == kUnrankedTensorType) {
    made->kind = TypeKind::kUnrankedTensor;
    made->element = table.read_type(in);
  } else {
    made->kind = TypeKind::kTensor;
    if (code == kEncodedTensorType) made->attribute = table.read_attribute(in);
    made->dims = read_shape(table, in);
    made->element = table.read_type(in);
  }
  return made;
}

const Type* read_coded_type(AttributeTable& table, ByteReader& in, uint64_t code) {
  if (code < std::size(kTypeWords) && !kTypeWords[code].empty())
    return table.element_type(kTypeWords[code], in);
  switch (code) {
    case kFunctionType:
      return read_function_type(table, in);
    case kComplexType:
    case kTensorType:
    case kEncodedTensorType:
    case kTokenType:
    case kTupleType:
    case kUnrankedTensorType:
      return read_compound_type(table, in, code);
    case kQuantizedType:
      return opaque_type(table, in, "!quant.uniform<quantized>");
    case kQuantizedPerAxisType:
      return opaque_type(table, in, "!quant.uniform<quantized per axis>");
    case kWitnessType:
      return opaque_type(table, in, "!shape.witness");
    case kBufferType:
      return opaque_type(table, in, "!stablehlo.buffer");
    case kFutureType:
      return opaque_type(table, in, "!stablehlo.future");
    default:
      in.fail(fmt::format("a VHLO type of code {} isn't known", code), newest_known(table.container()));
      return nullptr;
  }
}

}  // namespace

const Attribute* read_vhlo_attribute(AttributeTable& table, ByteReader& in) {
  const size_t at = in.offset();
  const Attribute* const made = read_coded(table, in, in.varint());
  if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes too many of an attribute", in.left()));
  if (made && in.ok()) const_cast<Attribute*>(made)->offset = static_cast<uint32_t>(at);
  return made;
}

const Type* read_vhlo_type(AttributeTable& table, ByteReader& in) {
  const Type* const made = read_coded_type(table, in, in.varint());
  if (in.ok() && in.left() > 0) in.fail(fmt::format("{} bytes too many of a type", in.left()));
  return made;
}

}  // namespace hlosim::mlir
