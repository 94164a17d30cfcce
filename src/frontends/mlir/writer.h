// The pieces of write_text(): a text that grows.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "mlir/write_text.h"

namespace hlosim::mlir {

class Writer {
 public:
  explicit Writer(const WriteOptions& options) : options_(options) {}

  void operation(const Operation& operation, int indent);
  void type(const Type& type);
  void attribute(const Attribute& attribute);
  /// What `{-# … #-}` has to hold for what was written; nothing where it needs none.
  void resources();
  std::string take() { return std::move(out_); }

 private:
  // write_text.cc
  void number_results(const Operation& operation);
  void value(const Value& value);
  void region(const Region& region, int indent);
  void block(const Block& block, bool labelled, int indent);
  void location(const Location& location);

  // write_attributes.cc
  void types(std::span<const Type* const> types);
  void shape(std::string_view word, const Type& type);
  void dictionary(std::span<const NamedAttribute> entries, std::string_view open, std::string_view close);
  void number(const Attribute& attribute);
  void numbers(const Attribute& attribute);
  void structure(const Attribute& attribute);
  void struct_value(const Attribute& attribute);
  void dense(const Attribute& attribute);
  void dense_list(const Type& type, std::string_view bytes, size_t level, size_t& at);
  void element(const Type& type, std::string_view bytes);
  void string(std::string_view text);
  void symbol(const Attribute& attribute);

  const WriteOptions& options_;
  std::string out_;
  std::unordered_map<const void*, size_t> numbers_;  // of operations with results, and of arguments
  size_t results_ = 0, arguments_ = 0, blocks_ = 0;
  std::map<std::string_view, std::string_view> resources_;
};

}  // namespace hlosim::mlir
