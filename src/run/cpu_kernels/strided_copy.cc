#include "cpu_kernels/strided_copy.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "base/rounding.h"
#include "cpu_kernels/transpose.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kUnitBytes = 64 << 10;     // of one piece: well inside L2
constexpr int64_t kThreadBytes = 256 << 10;  // about 20 µs
constexpr int64_t kTileBytes =
    1024;  // of a row of the source in a tile: a few lines that are fetched together
constexpr int64_t kStreamBytes = 16 << 20;  // larger results leave the caches before anyone reads them

struct Wide {
  uint64_t words[2];
};

const TransposeKernels& transpose_kernels() {
  static const TransposeKernels& kernels =
      HLOSIM_PICK_KERNELS(isa_level().value_or(supported_isa_level()), kTranspose);
  return kernels;
}

// Calls f(T()) with the unsigned type of that width.
template <class F>
void with_width(int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    case 4:
      return f(uint32_t());
    case 8:
      return f(uint64_t());
    case 16:
      return f(Wide());
  }
  HLOSIM_CHECK(false, "elements of {} bytes", width);
}

template <class T>
void copy_strided_row(const std::byte* source, int64_t source_stride, std::byte* destination,
                      int64_t destination_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(destination + i * destination_stride, source + i * source_stride, sizeof(T));
}

template <class T>
void fill_row(std::byte* destination, const std::byte* value, int64_t count) {
  T element;
  std::memcpy(&element, value, sizeof(T));
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(destination + i * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
}

// Rows of a few bytes, without a call for each.
template <class T>
void copy_rows_of(const std::byte* source, int64_t source_stride, std::byte* destination,
                  int64_t destination_stride, int64_t rows) {
  copy_strided_row<T>(source, source_stride, destination, destination_stride, rows);
}

void copy_rows(const std::byte* source, int64_t source_stride, std::byte* destination,
               int64_t destination_stride, int64_t rows, int64_t bytes) {
  switch (bytes) {
    case 1:
      return copy_rows_of<uint8_t>(source, source_stride, destination, destination_stride, rows);
    case 2:
      return copy_rows_of<uint16_t>(source, source_stride, destination, destination_stride, rows);
    case 4:
      return copy_rows_of<uint32_t>(source, source_stride, destination, destination_stride, rows);
    case 8:
      return copy_rows_of<uint64_t>(source, source_stride, destination, destination_stride, rows);
    case 16:
      return copy_rows_of<Wide>(source, source_stride, destination, destination_stride, rows);
  }
  for (int64_t r = 0; r < rows; ++r)
    std::memcpy(destination + r * destination_stride, source + r * source_stride, static_cast<size_t>(bytes));
}

}  // namespace

StridedCopy::StridedCopy(std::span<const int64_t> dimensions, std::span<const int64_t> source_strides,
                         std::span<const int64_t> destination_strides, int64_t width)
    : width_(width) {
  std::vector<Loop> loops;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == 0) return;
    if (dimensions[i] > 1)
      loops.push_back({dimensions[i], source_strides[i] * width, destination_strides[i] * width});
  }
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) {
    return std::abs(a.destination) > std::abs(b.destination);
  });
  // Neighbours that step as one.
  std::vector<Loop> joined;
  for (const Loop& loop : loops) {
    if (!joined.empty() && joined.back().source == loop.source * loop.size &&
        joined.back().destination == loop.destination * loop.size) {
      joined.back() = {joined.back().size * loop.size, loop.source, loop.destination};
    } else {
      joined.push_back(loop);
    }
  }
  // Short runs of neighbours are wider elements.
  if (joined.size() > 1) {
    const Loop& last = joined.back();
    const int64_t bytes = last.size * width_;
    if (last.source == width_ && last.destination == width_ && bytes <= 16 &&
        std::has_single_bit(static_cast<uint64_t>(bytes))) {
      width_ = bytes;
      joined.pop_back();
    }
  }
  choose_kind(joined);
  choose_pieces();
}

void StridedCopy::choose_kind(std::vector<Loop>& loops) {
  if (loops.empty()) {
    kind_ = Kind::kRows;
    column_ = {1, width_, width_};
    contiguous_ = width_;
    return;
  }
  column_ = loops.back();
  loops.pop_back();
  const bool dense = column_.destination == width_;
  if (dense && column_.source == width_)
    kind_ = Kind::kRows;
  else if (dense && column_.source == 0)
    kind_ = Kind::kFill;
  else if (dense && column_.source == -width_)
    kind_ = Kind::kReverse;
  else
    kind_ = Kind::kStrided;
  if (kind_ == Kind::kRows && loops.empty()) contiguous_ = column_.size * width_;
  auto row = loops.end();
  if (kind_ == Kind::kStrided && dense && width_ < 16) {
    row = std::find_if(loops.begin(), loops.end(), [&](const Loop& l) { return l.source == width_; });
    if (row != loops.end()) kind_ = Kind::kTranspose;
  }
  if (row == loops.end() && !loops.empty()) row = loops.end() - 1;
  if (row != loops.end()) {
    row_ = *row;
    loops.erase(row);
  }
  outer_ = std::move(loops);
}

void StridedCopy::choose_pieces() {
  for (const Loop& loop : outer_) outer_count_ *= loop.size;
  if (kind_ == Kind::kTranspose) {
    rows_ = std::min(row_.size, kTileBytes / width_);
    columns_ = std::min(column_.size, kTileBytes / width_);
  } else {
    columns_ = std::min(column_.size, std::max<int64_t>(1, kUnitBytes / width_));
    rows_ = std::min(row_.size, std::max<int64_t>(1, kUnitBytes / (columns_ * width_)));
  }
  row_pieces_ = ceil_div(row_.size, rows_);
  column_pieces_ = ceil_div(column_.size, columns_);
  grain_ = std::max<int64_t>(1, kThreadBytes / (rows_ * columns_ * width_));
}

void StridedCopy::run(const std::byte* source, std::byte* destination) const {
  if (kind_ == Kind::kNothing) return;
  parallel_for(units(), grain_,
               [&](int64_t begin, int64_t end) { run_units(source, destination, begin, end); });
}

void StridedCopy::run_here(const std::byte* source, std::byte* destination) const {
  if (kind_ == Kind::kNothing) return;
  if (contiguous_ > 0) {
    std::memcpy(destination, source, static_cast<size_t>(contiguous_));
    return;
  }
  run_units(source, destination, 0, units());
}

void StridedCopy::run_units(const std::byte* source, std::byte* destination, int64_t begin,
                            int64_t end) const {
  // Digits of a unit's number: outer loops, then the piece of rows, then that of columns.
  constexpr size_t kInline = 16;
  int64_t inline_digits[kInline];
  std::vector<int64_t> more;
  int64_t* digits = inline_digits;
  if (outer_.size() > kInline) {
    more.resize(outer_.size());
    digits = more.data();
  }
  int64_t rest = begin;
  int64_t column_piece = rest % column_pieces_;
  rest /= column_pieces_;
  int64_t row_piece = rest % row_pieces_;
  rest /= row_pieces_;
  for (size_t i = outer_.size(); i-- > 0;) {
    digits[i] = rest % outer_[i].size;
    rest /= outer_[i].size;
    source += digits[i] * outer_[i].source;
    destination += digits[i] * outer_[i].destination;
  }
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t row = row_piece * rows_, column = column_piece * columns_;
    run_piece(source + row * row_.source + column * column_.source,
              destination + row * row_.destination + column * column_.destination,
              std::min(rows_, row_.size - row), std::min(columns_, column_.size - column));
    if (++column_piece < column_pieces_) continue;
    column_piece = 0;
    if (++row_piece < row_pieces_) continue;
    row_piece = 0;
    for (size_t i = outer_.size(); i-- > 0;) {
      source += outer_[i].source;
      destination += outer_[i].destination;
      if (++digits[i] < outer_[i].size) break;
      source -= outer_[i].size * outer_[i].source;
      destination -= outer_[i].size * outer_[i].destination;
      digits[i] = 0;
    }
  }
}

void StridedCopy::run_piece(const std::byte* source, std::byte* destination, int64_t rows,
                            int64_t columns) const {
  const int log_width = std::countr_zero(static_cast<uint64_t>(width_));
  switch (kind_) {
    case Kind::kNothing:
      return;
    case Kind::kRows:
      return copy_rows(source, row_.source, destination, row_.destination, rows, columns * width_);
    case Kind::kTranspose: {
      const bool stream = outer_count_ * row_.size * column_.size * width_ >= kStreamBytes &&
                          reinterpret_cast<uintptr_t>(destination) % 64 == 0 && row_.destination % 64 == 0;
      return transpose_kernels().transpose[log_width](source, column_.source, destination, row_.destination,
                                                      rows, columns, stream);
    }
    case Kind::kReverse:
      for (int64_t r = 0; r < rows; ++r)
        transpose_kernels().reverse[log_width](source + r * row_.source, destination + r * row_.destination,
                                               columns);
      return;
    case Kind::kFill:
      return with_width(width_, [&]<class T>(T) {
        for (int64_t r = 0; r < rows; ++r)
          fill_row<T>(destination + r * row_.destination, source + r * row_.source, columns);
      });
    case Kind::kStrided:
      return with_width(width_, [&]<class T>(T) {
        for (int64_t r = 0; r < rows; ++r)
          copy_strided_row<T>(source + r * row_.source, column_.source, destination + r * row_.destination,
                              column_.destination, columns);
      });
  }
}

void copy_spaced(int64_t width, const std::byte* source, int64_t source_step, std::byte* destination,
                 int64_t destination_step, int64_t count) {
  with_width(width, [&]<class T>(T) {
    copy_strided_row<T>(source, source_step * width, destination, destination_step * width, count);
  });
}

void fill_elements(std::byte* destination, const std::byte* value, int64_t width, int64_t count) {
  with_width(width, [&]<class T>(T) {
    parallel_for(count, kThreadBytes / width, [&](int64_t begin, int64_t end) {
      fill_row<T>(destination + begin * width, value, end - begin);
    });
  });
}

}  // namespace hlosim
