// Reads types, attributes and locations, with the aliases and resources of their piece of text.
//
//   AttributeReader reader(in, arena);
//   reader.find_aliases();
//   const Attribute* value = reader.attribute();   // `dense<[1, 2]> : tensor<2xi32>`
//
// A null pointer, or false, means that the scanner has the failure.
#pragma once

#include <string_view>
#include <vector>

#include "base/arena.h"
#include "mlir/ir.h"
#include "mlir/scanner.h"
#include "mlir/text_map.h"

namespace hlosim::mlir {

class AttributeReader {
 public:
  AttributeReader(Scanner& in, Arena& arena) : in_(in), arena_(arena) {}

  // ── types (type_reader.cc) ──
  const Type* type();
  bool sees_type() const;
  /// `(T, …)` or, without parentheses, one type.
  bool type_or_list(std::vector<const Type*>& types);
  const Type* make_function(const std::vector<const Type*>& inputs, const std::vector<const Type*>& results);
  /// tensor<n1xn2xWORD>, as if it stood in the text.
  const Type* tensor(std::span<const int64_t> dims, std::string_view word);
  const Type* element(std::string_view word);

  // ── attributes ──
  const Attribute* attribute();
  /// `{k = a, …}`, appended to `entries`; keys may not repeat each other.
  bool dictionary(std::vector<NamedAttribute>& entries);
  /// Whether all names differ; the failure is put at `offset`.
  bool names_differ(const std::vector<NamedAttribute>& entries, uint32_t offset);
  /// `loc(…)`, its word already passed.
  const Location* location();
  /// `[1, 2]`
  bool integer_list(std::vector<int64_t>& values);

  // ── structures (struct_reader.cc) ──
  /// `k = v, …` up to and with `end`.
  const Attribute* entries(std::string_view name, char end);
  /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
  const Attribute* convolution_dimensions();

  // ── attributes made, not read ──
  Attribute* make(AttributeKind kind, uint32_t offset);
  const Attribute* make_integer(int64_t value, std::string_view word, uint32_t offset);
  const Attribute* make_integers(std::span<const int64_t> values, std::string_view word, uint32_t offset);
  const Attribute* make_named(AttributeKind kind, std::string_view name, std::string_view text,
                              uint32_t offset);
  const Attribute* make_text(AttributeKind kind, std::string_view text, uint32_t offset) {
    return make_named(kind, {}, text, offset);
  }
  const Attribute* make_list(const std::vector<const Attribute*>& items, uint32_t offset);
  const Attribute* make_entries(AttributeKind kind, std::string_view name,
                                const std::vector<NamedAttribute>& entries, uint32_t offset);

  // ── the piece's aliases and resources (alias_reader.cc) ──
  /// Notes where aliases are defined: they may be used before.
  void find_aliases();
  /// `#name = …` or `!name = …`
  bool alias_definition();
  /// `{-# … #-}`
  bool resources();
  /// Gives every dense_resource its bytes. Requires: the text is read.
  bool fill_resources();

 private:
  struct Alias {
    const char* body = nullptr;
    const char* end = nullptr;  // of what it stands for, once that is read
    bool being_read = false, defined = false;
    size_t size = 0;  // of its text with all aliases in it written out
    const Attribute* attribute = nullptr;
    const Type* type = nullptr;
  };
  struct Resource {
    Attribute* attribute;
    std::string_view key;
  };

  // type_reader.cc
  std::string_view cached_extent() const;
  const Type* uncached_type();
  const Type* function_type();
  const Type* dialect_type();
  const Type* builtin_type(uint32_t offset);
  bool shape(Type& type);
  bool dimensions(std::vector<int64_t>& dims);
  bool tensor_type(Type& type);
  bool memref_type(Type& type);
  bool members(Type& type);

  const Attribute* number();
  const Attribute* decimal(const char* start);
  const Attribute* typed_integer(int64_t value, bool is_hex, uint32_t offset);
  const Attribute* string_attribute();
  const Attribute* symbol();
  const Attribute* array();
  const Attribute* dictionary_attribute();
  const Attribute* word_attribute();
  const Attribute* dense_array(uint32_t offset);
  const Attribute* dense_array_of_numbers(const Type& element, uint32_t offset);
  const Attribute* dense(uint32_t offset);
  const Attribute* dense_resource(uint32_t offset);
  const Attribute* verbatim(const char* start, uint32_t offset);
  const Attribute* location_attribute(uint32_t offset);
  const Attribute* type_attribute(uint32_t offset);
  bool symbol_name(std::string_view& name);

  const Location* place();
  bool file_place(Location& made);
  const Location* call_site();
  const Location* fused();

  // struct_reader.cc
  const Attribute* dialect_attribute();
  const Attribute* dialect_body(std::string_view name, uint32_t offset);
  const Attribute* legacy_body(std::string_view dialect, uint32_t offset);
  const Attribute* legacy_kind(std::string_view dialect, const char* begin, const char* end, uint32_t offset);
  const Attribute* structure(std::string_view name, uint32_t offset);
  const Attribute* struct_value();
  const Attribute* struct_list();
  const Attribute* sub_axis(uint32_t offset);
  bool labels(std::string_view batch, std::string_view batch_key, std::string_view feature,
              std::string_view feature_key, std::string_view spatial_key,
              std::vector<NamedAttribute>& entries);

  // alias_reader.cc
  const Alias* alias(std::string_view name, uint32_t offset);
  bool read_alias(Alias& alias, std::string_view name);
  bool resource_group(bool kept);
  bool fill_resource(const Resource& resource, std::string_view hex);

  Scanner& in_;
  Arena& arena_;
  TextMap<const Type*> types_;
  TextMap<Alias> aliases_;           // with # or !
  TextMap<std::string_view> blobs_;  // hexadecimal, by key
  std::vector<Resource> resources_;
  size_t expanded_ = 0;  // what the aliases stand for that were met in the definition that is read
};

/// Structural equality; names of values and offsets don't count.
bool same(const Type& a, const Type& b);
bool same(const Attribute& a, const Attribute& b);
bool same(const Location* a, const Location* b);

}  // namespace hlosim::mlir
