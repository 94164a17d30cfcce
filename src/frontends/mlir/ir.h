// MLIR as plain values: operations with regions, whatever form they stood in (pretty or generic text,
// bytecode).
//
//   DiagnosticList findings;
//   const mlir::File file = mlir::read_text(source, findings);
//   for (const mlir::Operation& op : file.top->regions[0].blocks[0]->operations) … op.name, op.operands
//
// All of it lives in the arena of its File and refers to each other by pointers; nothing changes once it is
// read. An operation has the attributes of its generic form, also when it was written prettily: `add %0, %1`
// and
// `"stablehlo.add"(%0, %1)` are the same value, and so is what a portable artifact (VHLO) was upgraded to.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "base/arena.h"
#include "base/source.h"

namespace hlosim::mlir {

struct Attribute;
struct Operation;
struct Region;

inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();  // `?` in a shape

enum class TypeKind : uint8_t {
  kElement,         // a number's type by its word: i1, ui8, bf16, f8E4M3FN, index, none, …
  kComplex,         // members[0]
  kTensor,          // element, dims, attribute: the encoding or null
  kUnrankedTensor,  // element
  kMemRef,          // element, dims, attribute: the layout or null, space: the memory space or null
  kVector,          // element, dims
  kTuple,           // members
  kFunction,        // members: inputs; results
  kToken,
  kOpaque,  // any other `!dialect.name<…>`, quantized types among them: word is the whole text
};

struct Type {
  TypeKind kind = TypeKind::kElement;
  std::string_view word;
  const Type* element = nullptr;
  std::span<const int64_t> dims;
  std::span<const Type* const> members;
  std::span<const Type* const> results;
  const Attribute* attribute = nullptr;
  const Attribute* space = nullptr;
  uint32_t offset = 0;  // into the text, as everywhere below; 0 in bytecode
};

struct NamedAttribute {
  std::string_view name;
  const Attribute* value = nullptr;
};

enum class AttributeKind : uint8_t {
  kUnit,
  kBool,           // integer
  kInteger,        // integer; type (null: i64)
  kFloat,          // number, and bits where the text gave them; type
  kString,         // text, escapes resolved
  kSymbol,         // text without @; items: nested symbols
  kType,           // type
  kArray,          // items
  kDictionary,     // entries
  kIntegers,       // integers: array<i64: …>, array<i1: …>; type: the element's
  kFloats,         // array<f32: …>: bytes as in kDense; type: the element's
  kDense,          // dense<…>: type is the tensor's; see `elements`
  kDenseResource,  // as kDense; text: the key; elements empty where the value was left out
  kAffineMap,      // text: all of it
  kEnum,           // #stablehlo<comparison_direction LT>: name "stablehlo.comparison_direction", text "LT"
  kStruct,         // #stablehlo.gather<offset_dims = [1], …>: name "stablehlo.gather", entries
  kSharding,       // what sdy writes, text: brackets and all, read by who needs it; name "sdy.sharding", …
  kLocation,       // location
  kOpaque,         // any other: name "dialect.name" or "dialect", text: brackets and all
};

/// The elements of a dense attribute: little endian, row major, as wide as numpy would store them (i1, i2,
/// i4: a byte each; complex: two parts). One element's bytes stand for all of them where `is_splat`.
struct Elements {
  std::string_view bytes;
  bool is_splat = false;
  bool is_given = true;  // false: dense_resource<__elided__>, or a key that the file has not
};

struct Location;

struct Attribute {
  AttributeKind kind = AttributeKind::kUnit;
  std::string_view name, text;
  int64_t integer = 0;
  double number = 0;
  uint64_t bits = 0;  // kFloat: as the type's width stores it, where has_bits
  bool has_bits = false;
  const Type* type = nullptr;
  std::span<const int64_t> integers;
  std::span<const Attribute* const> items;
  std::span<const NamedAttribute> entries;
  Elements elements;
  const Location* location = nullptr;
  uint32_t offset = 0;

  /// The entry of a dictionary or structure; null: none of that name.
  const Attribute* find(std::string_view key) const {
    for (const NamedAttribute& entry : entries)
      if (entry.name == key) return entry.value;
    return nullptr;
  }
};

enum class LocationKind : uint8_t { kUnknown, kFile, kName, kCallSite, kFused };

struct Location {
  LocationKind kind = LocationKind::kUnknown;
  std::string_view text;                   // the file's or the name's
  int64_t line = 0, column = 0;            // kFile
  std::span<const Location* const> inner;  // kName: the place, if any; kCallSite: callee, caller; kFused: all
};

/// A result of an operation or an argument of a block. Its address is its identity.
struct Value {
  const Type* type = nullptr;
  std::string_view name;               // as written, without % and #; empty in bytecode
  const Operation* owner = nullptr;    // null: an argument of a block
  uint32_t number = 0;                 // which of its owner's results, or of its block's arguments
  const Location* location = nullptr;  // of an argument
};

struct Block {
  std::span<const Value* const> arguments;
  std::span<const Operation* const> operations;
};

struct Region {
  std::span<const Block* const> blocks;
};

struct Operation {
  std::string_view name;  // with its dialect: "stablehlo.add", "func.func", "builtin.module", "tpu.matmul"
  std::span<const Value* const> operands;
  std::span<const Value* const> results;
  std::span<const NamedAttribute> attributes;  // properties and discardable ones, in the order met
  std::span<const Region> regions;
  const Location* location = nullptr;  // null: unknown
  uint32_t offset = 0;                 // of its name in the text; of the operation in bytecode

  const Attribute* find(std::string_view key) const {
    for (const NamedAttribute& entry : attributes)
      if (entry.name == key) return entry.value;
    return nullptr;
  }
};

/// One file, or one piece of a text that `// -----` splits.
struct File {
  SourcePtr source;
  Arena arena;
  const Operation* top = nullptr;  // builtin.module, written or implied
  bool is_bytecode = false;
  std::string_view producer;  // of bytecode: "StableHLO_v1.13.1"
};

}  // namespace hlosim::mlir
