#include "array/array.h"

#include <cstring>

#include "base/check.h"
#include "base/saturating.h"

namespace hlosim {

int64_t data_bytes(ShapeRef shape) {
  return shape->is_array() ? saturating_multiply(shape->element_count(), byte_width(shape->element_type)) : 0;
}

Array make_array(MemoryPool& pool, ShapeRef shape) {
  Array array;
  array.shape = shape;
  if (shape->is_array()) array.data = pool.allocate(data_bytes(shape));
  return array;
}

int64_t integer_at(const Array& array, int64_t index) {
  const int64_t width = byte_width(array.type());
  HLOSIM_CHECK(is_integer(array.type()) || is_pred(array.type()), "element type {}", to_text(array.type()));
  uint64_t bits = 0;
  std::memcpy(&bits, array.bytes() + index * width, static_cast<size_t>(width));
  if (!is_signed_integer(array.type())) return static_cast<int64_t>(bits);
  const int shift = static_cast<int>(64 - 8 * width);
  return static_cast<int64_t>(bits << shift) >> shift;
}

}  // namespace hlosim
