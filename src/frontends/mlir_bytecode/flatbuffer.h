// Tables of a flatbuffer, read where they lie. What lies outside the file is a fault, and reads as absent.
//
//   Fault fault;
//   const FlatTable root = FlatTable::root(bytes, fault);
//   root.text(1), root.integer<uint32_t>(18), root.table(2)       // fields by number
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "mlir_bytecode/byte_reader.h"

namespace hlosim::mlir {

class FlatTable {
 public:
  static FlatTable root(std::string_view file, Fault& fault);

  bool is_there() const { return at_ != 0; }
  bool has(size_t field) const { return field_at(field) != 0; }

  template <class T>
  T integer(size_t field, T otherwise = 0) const {
    const size_t at = field_at(field);
    return at == 0 ? otherwise : load<T>(at);
  }
  std::string_view text(size_t field) const { return bytes(field, 1); }
  FlatTable table(size_t field) const;

  /// Items of a list; 0: it is empty, or absent.
  size_t count(size_t field) const;
  FlatTable table_of(size_t field, size_t index) const;
  std::string_view text_of(size_t field, size_t index) const;
  template <class T>
  T integer_of(size_t field, size_t index) const {
    const std::string_view all = bytes(field, sizeof(T));
    if ((index + 1) * sizeof(T) > all.size()) return 0;
    T value;
    std::memcpy(&value, all.data() + index * sizeof(T), sizeof(T));
    return value;
  }
  /// The bytes of a list of items of `width` bytes.
  std::string_view bytes(size_t field, size_t width) const;

 private:
  FlatTable(std::string_view file, Fault& fault, size_t at) : file_(file), fault_(&fault), at_(at) {}

  template <class T>
  T load(size_t at) const {
    T value{};
    if (at > file_.size() || file_.size() - at < sizeof(T))
      fault_->set(at, "a part of the file is beyond its end");
    else
      std::memcpy(&value, file_.data() + at, sizeof(T));
    return value;
  }
  size_t field_at(size_t field) const;
  /// Where the offset that stands at `at` leads; 0, with a fault: outside the file.
  size_t follow(size_t at) const;
  std::string_view list_at(size_t at, size_t width) const;

  std::string_view file_;
  Fault* fault_;
  size_t at_;
};

}  // namespace hlosim::mlir
