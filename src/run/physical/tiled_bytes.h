// Between the dense elements of an Array and the bytes that they are in memory: in tiles, packed, with
// padding.
//
//   const Result<TiledBytes> tiled = TiledBytes::make(shape);          // f32[5,3]{1,0:T(8,128)}
//   std::vector<std::byte> memory(static_cast<size_t>(tiled->size()), kPoison);      // 4096 bytes
//   tiled->write(array.bytes(), memory.data());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/source.h"
#include "layout/layout_map.h"

namespace hlosim {

/// What fills padding and memory that holds nothing: a NaN in every float format.
inline constexpr std::byte kPoison{0xFF};

class TiledBytes {
 public:
  /// Errors, each naming the shape: split arrays, sparse ones, `?` dimensions, elements stored in fewer bits
  /// than they have or in bits that fill no bytes, more bytes than 63 bits count.
  static Result<TiledBytes> make(ShapeRef array);

  /// Of the whole array, padding included.
  int64_t size() const { return size_; }
  bool has_padding() const { return !exhaustive_; }

  /// Slots of padding, and bits beside those of the elements, are left as they are.
  void write(const std::byte* dense, std::byte* memory) const;
  void read(const std::byte* memory, std::byte* dense) const;

 private:
  // Elements of one block that lie at equal steps.
  struct Run {
    int64_t first = 0, count = 0;    // of the block
    int64_t offset = 0, stride = 1;  // in slots
  };

  void make_runs();
  template <class F>
  void for_each_block(F&& f) const;
  template <class F>
  void for_each_element(F&& f) const;
  void put(int64_t slot, const std::byte* element, std::byte* memory) const;
  void get(int64_t slot, const std::byte* memory, std::byte* element) const;

  ShapeRef shape_ = nullptr;
  std::shared_ptr<const LayoutMap> map_;
  int64_t size_ = 0;
  int64_t bits_ = 8, width_ = 1;  // of an element, in memory and dense
  bool exhaustive_ = true;
  bool dense_ = false;  // memory begins with the dense elements as they are
  // Elements that don't cross bytes and a sum over dimensions: the minor dimensions as one block of runs,
  // offsets of the others.
  bool in_runs_ = false;
  std::vector<Run> runs_;
  int64_t block_ = 1;                        // elements
  std::vector<std::vector<int64_t>> parts_;  // offsets of the outer dimensions, major first
};

}  // namespace hlosim
