// Moving elements of any width between two arrangements of memory: the work of transposes, slices,
// broadcasts, concatenations, pads and gathers.
//
//   const int64_t sizes[] = {2, 3}, from[] = {3, 1}, to[] = {1, 2};
//   const StridedCopy transpose(sizes, from, to, 4);       // of f32[2,3]
//   transpose.run(source, destination);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hlosim {

/// A copy planned once and run many times.
class StridedCopy {
 public:
  StridedCopy() = default;
  /// Element (i0, i1, …) goes from source + Σ i·source_stride to destination + Σ i·destination_stride.
  /// Strides count elements of `width` bytes (1, 2, 4, 8 or 16) and may be 0 or negative; no two elements go
  /// to the same place.
  StridedCopy(std::span<const int64_t> dimensions, std::span<const int64_t> source_strides,
              std::span<const int64_t> destination_strides, int64_t width);

  /// On several threads when it is worth it.
  void run(const std::byte* source, std::byte* destination) const;
  /// On this thread.
  void run_here(const std::byte* source, std::byte* destination) const;

  /// All of it is one piece of this many bytes in either memory; 0: it is not.
  int64_t contiguous_bytes() const { return contiguous_; }

 private:
  // Strides in bytes.
  struct Loop {
    int64_t size = 1, source = 0, destination = 0;
  };
  enum class Kind : uint8_t { kNothing, kRows, kFill, kReverse, kStrided, kTranspose };

  int64_t units() const { return outer_count_ * row_pieces_ * column_pieces_; }
  void run_units(const std::byte* source, std::byte* destination, int64_t begin, int64_t end) const;
  void run_piece(const std::byte* source, std::byte* destination, int64_t rows, int64_t columns) const;
  void choose_kind(std::vector<Loop>& loops);
  void choose_pieces();

  Kind kind_ = Kind::kNothing;
  int64_t width_ = 1;
  int64_t contiguous_ = 0;
  std::vector<Loop> outer_;  // most major first
  Loop row_, column_;        // the two innermost: each kind moves a rectangle at once
  // The rectangle in pieces, so that a unit of work is neither tiny nor beyond the cache.
  int64_t outer_count_ = 1, row_pieces_ = 1, column_pieces_ = 1, rows_ = 1, columns_ = 1;
  int64_t grain_ = 1;  // units that are worth a thread
};

/// Element i of `count`, `width` bytes each, from source + i·source_step to destination + i·destination_step;
/// steps in elements.
void copy_spaced(int64_t width, const std::byte* source, int64_t source_step, std::byte* destination,
                 int64_t destination_step, int64_t count);

/// Writes the element `value` of `width` bytes `count` times, on several threads when it is worth it.
void fill_elements(std::byte* destination, const std::byte* value, int64_t width, int64_t count);

}  // namespace hlosim
