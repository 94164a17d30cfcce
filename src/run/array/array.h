// The value of one array, token or other leaf while a module runs.
//
//   Array zeros = make_array(pool, shape);             // f32[2,3]
//   std::fill_n(zeros.as<float>(), zeros.count(), 0.0F);
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "array/memory_pool.h"
#include "layout/shape.h"
#include "layout/strided_view.h"

namespace hlosim {

/// Dense elements in row-major order of the logical index, whatever the layout says, each
/// byte_width(type) bytes: sub-byte types take a byte (sign- or zero-extended, f4 and f6 in the low
/// bits), pred is 0 or 1, complex is (real, imaginary).
struct Array {
  ShapeRef shape = nullptr;  // an array or token; its layout says nothing about `data`
  Buffer data;               // null for tokens and values not there yet
  /// Runtime sizes of all dimensions where some differ from the bounds of `shape`; else null.
  /// What lies beyond them is unspecified, and strides are still those of the bounds.
  std::shared_ptr<const std::vector<int64_t>> sizes;

  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data.data());
  }
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data.data());
  }
  std::byte* bytes() const { return data.data(); }
  int64_t count() const { return shape->element_count(); }
  ElementType type() const { return shape->element_type; }
  /// Runtime size of dimension i.
  int64_t size(int64_t i) const { return sizes ? (*sizes)[static_cast<size_t>(i)] : shape->dim(i); }
};

/// Bytes of an array's data, saturating; 0 for tokens.
int64_t data_bytes(ShapeRef shape);

/// An array of `shape` with uninitialised elements.
Array make_array(MemoryPool& pool, ShapeRef shape);

/// Element `index` of an integer or pred array as int64 (u64 wraps).
int64_t integer_at(const Array& array, int64_t index);

}  // namespace hlosim
