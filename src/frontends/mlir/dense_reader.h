// Reads the elements of dense attributes into bytes (ir.h's Elements).
//
//   DenseReader reader(in, arena);                 // at `[[1, 2], [3, 4]]> : tensor<2x2xi32>`
//   Elements elements;
//   if (!reader.read(type, end, elements)) …       // in.failure()
#pragma once

#include <string_view>

#include "base/arena.h"
#include "mlir/element_format.h"
#include "mlir/ir.h"
#include "mlir/scanner.h"

namespace hlosim::mlir {

/// Reads `1.5e-3` from [start, end); gives where it ends, null where there is no number.
const char* read_decimal(const char* start, const char* end, double& value);

class DenseReader {
 public:
  DenseReader(Scanner& in, Arena& arena) : in_(in), arena_(arena) {}

  /// The '>' that ends the elements, for a scanner at the '<' before them; null: there is none.
  static const char* find_end(const Scanner& in);

  /// Elements of `type`, a tensor's or vector's, up to the '>' at `end`.
  bool read(const Type& type, const char* end, Elements& elements);
  /// `1.0, 2.0`, as they stand in array<f32: …>.
  bool read_array(const Type& element, Elements& elements);
  /// Bytes from hexadecimal digits without their 0x. The failure, if any, is put at `offset`.
  bool read_hex(const Type& type, std::string_view digits, uint32_t offset, Elements& elements);

 private:
  bool read_list(size_t level);
  bool read_rows(size_t level);
  bool wrong_count(size_t level, int64_t seen);
  bool read_element();
  bool read_part(bool& fits);
  bool read_integer();
  bool read_float();
  void append(uint64_t bits);

  Scanner& in_;
  Arena& arena_;
  const Type* type_ = nullptr;
  ElementFormat format_;
  char* out_ = nullptr;
};

}  // namespace hlosim::mlir
