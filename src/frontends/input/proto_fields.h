// Which field of HloInstructionProto holds which attribute, as data for reading and writing.
//
//   if (const ProtoField* field = proto_field(table[opcode], AttrKey::kDimensions))
//     read(message, field->path);             // "dimensions"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hlo/op_def.h"

namespace hlosim::internal {

/// One attribute of HLO text that one field holds as it is: numbers, lists, flags, words, texts.
struct ProtoField {
  AttrKey key{};
  std::string_view path;                         // "dot_dimension_numbers.lhs_batch_dimensions"
  std::span<const std::string_view> words = {};  // of an enumeration, by number; empty: it is no enumeration
  int64_t silent = 0;                            // the text leaves out numbers up to this one
  bool written_when_empty = false;
  std::optional<AttrKey> beside = {};  // only of opcodes that have this attribute too
  bool is_always_said = false;         // of flags: by protos' texts; true where another text leaves it out
};

/// In the order in which XLA prints them; the first row for an attribute that fits an opcode counts.
std::span<const ProtoField> proto_fields();

/// The row for `key` of an opcode; null: the field needs code of its own, or there is none.
const ProtoField* proto_field(const OpDef& def, AttrKey key);

const AttrSpec* find_spec(const OpDef& def, AttrKey key);

/// Attributes that name computations, in the order of called_computation_ids.
std::span<const AttrKey> calling_attributes();

/// XLA's number of a type; 0: it has none.
int32_t proto_number(ElementType type);
ElementType element_type_of(int32_t number);
inline constexpr int32_t kProtoTuple = 13, kProtoOpaque = 14, kProtoToken = 17, kProtoBuffer = 34;

}  // namespace hlosim::internal
