// Attributes, types and locations of an artifact by their numbers, each decoded when it is first asked for.
//
//   AttributeTable table(file, container, arena, budget, fault);
//   const Type* type = table.read_type(in);  // by the next number of `in`; null after a fault
//   const Location* place = table.read_location(in);
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "mlir/ir.h"
#include "mlir_bytecode/container.h"

namespace hlosim::mlir {

class AttributeTable {
 public:
  AttributeTable(std::string_view file, const Container& container, Arena& arena, Budget& budget,
                 Fault& fault);

  // Each reads a number and yields what it stands for. Null (empty) after a fault.
  const Attribute* read_attribute(ByteReader& in);
  const Type* read_type(ByteReader& in);
  const Location* read_location(ByteReader& in);
  std::string_view read_string(ByteReader& in);
  /// The text of an attribute that has to be a string.
  std::string_view read_string_attribute(ByteReader& in);
  const Resource* read_resource(ByteReader& in);

  const Attribute* attribute(uint32_t index);
  const Type* type(uint32_t index);
  const Location* location(uint32_t index);

  const Container& container() const { return container_; }
  std::string_view file() const { return file_; }

  /// False, with a fault: there isn't memory for that.
  bool reserve(size_t bytes, ByteReader& in) { return budget_.take(bytes, in); }
  /// Room for `count` values; empty, with a fault, where the budget has none.
  template <class T>
  std::span<T> room(size_t count, ByteReader& in) {
    if (count == 0 || !budget_.take(count * sizeof(T), in)) return {};
    T* const first = static_cast<T*>(arena_.allocate(count * sizeof(T), alignof(T)));
    for (size_t i = 0; i < count; ++i) new (first + i) T{};
    return {first, count};
  }
  /// One value; after a fault one that nobody reads.
  template <class T>
  T* make(ByteReader& in) {
    budget_.take(sizeof(T), in);
    return arena_.make<T>();
  }
  Attribute* make(AttributeKind kind, ByteReader& in) {
    auto* const made = make<Attribute>(in);
    made->kind = kind;
    made->offset = static_cast<uint32_t>(in.offset());
    return made;
  }
  std::string_view copy(std::string_view text, ByteReader& in) {
    return budget_.take(text.size(), in) ? arena_.copy(text) : std::string_view{};
  }

  /// The type of numbers that is written so. `word` has to live as long as the file.
  const Type* element_type(std::string_view word, ByteReader& in);

 private:
  bool enter(ByteReader& in);
  ByteReader reader(const EncodedEntry& entry) const;
  const Attribute* decode_attribute(const EncodedEntry& entry, uint32_t index);
  const Type* decode_type(const EncodedEntry& entry);
  const Location* decode_location(const EncodedEntry& entry);

  std::string_view file_;
  const Container& container_;
  Arena& arena_;
  Budget& budget_;
  Fault& fault_;
  std::vector<const Attribute*> attributes_;
  std::vector<const Location*> locations_;  // as numbered as attributes
  std::vector<const Type*> types_;
  std::map<std::string_view, const Type*> element_types_;
  int depth_ = 0;
};

// What the dialects that encode themselves write, each from its code on.
const Attribute* read_builtin_attribute(AttributeTable& table, ByteReader& in, uint32_t index);
const Type* read_builtin_type(AttributeTable& table, ByteReader& in);
const Attribute* read_vhlo_attribute(AttributeTable& table, ByteReader& in);
const Type* read_vhlo_type(AttributeTable& table, ByteReader& in);
const Attribute* read_sdy_attribute(AttributeTable& table, ByteReader& in);
/// Null, without a fault: the attribute that begins here is none.
const Location* read_builtin_location(AttributeTable& table, ByteReader& in);

// Parts that builtin and VHLO write alike.
const Attribute* read_list_attribute(AttributeTable& table, ByteReader& in);
const Attribute* read_dictionary(AttributeTable& table, ByteReader& in);
const Attribute* read_integer_attribute(AttributeTable& table, ByteReader& in);
const Attribute* read_float_attribute(AttributeTable& table, ByteReader& in);
const Attribute* read_dense_attribute(AttributeTable& table, ByteReader& in);
const Attribute* read_type_attribute(AttributeTable& table, ByteReader& in);
std::span<const int64_t> read_shape(AttributeTable& table, ByteReader& in);
std::span<const int64_t> read_integers(AttributeTable& table, ByteReader& in);
std::span<const Type* const> read_types(AttributeTable& table, ByteReader& in);
const Type* read_function_type(AttributeTable& table, ByteReader& in);

}  // namespace hlosim::mlir
