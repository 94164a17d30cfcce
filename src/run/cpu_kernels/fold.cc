#include "cpu_kernels/fold.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "base/check.h"
#include "base/rounding.h"
#include "cpu_kernels/strided_copy.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kPiece = kUncutRow;  // elements that one call folds: 10 µs and more
constexpr int64_t kColumns = 4096;     // accumulators at work: at most 32 KiB
constexpr int64_t kManyUnits = 16;     // so many are enough for any number of threads

int fold_type(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return static_cast<int>(FoldType::kF32);
    case ElementType::kF64:
      return static_cast<int>(FoldType::kF64);
    case ElementType::kBF16:
      return static_cast<int>(FoldType::kBF16);
    case ElementType::kS8:
      return static_cast<int>(FoldType::kS8);
    case ElementType::kU8:
    case ElementType::kPred:
      return static_cast<int>(FoldType::kU8);
    case ElementType::kS16:
      return static_cast<int>(FoldType::kS16);
    case ElementType::kU16:
      return static_cast<int>(FoldType::kU16);
    case ElementType::kS32:
      return static_cast<int>(FoldType::kS32);
    case ElementType::kU32:
      return static_cast<int>(FoldType::kU32);
    case ElementType::kS64:
      return static_cast<int>(FoldType::kS64);
    case ElementType::kU64:
      return static_cast<int>(FoldType::kU64);
    default:
      return -1;
  }
}

}  // namespace

FoldKernel fold_kernel(FoldOp op, ElementType type) {
  static const FoldKernels& kernels =
      HLOSIM_PICK_KERNELS(isa_level().value_or(supported_isa_level()), kFolds);
  const int row = fold_type(type);
  if (row < 0) return {};
  if (is_pred(type)) {
    if (op == FoldOp::kAdd) op = FoldOp::kOr;
    if (op == FoldOp::kMultiply) op = FoldOp::kAnd;
  }
  return kernels.kernels[row][static_cast<int>(op)];
}

namespace {

struct Axis {
  int64_t size = 1, stride = 1;
};

int64_t count_of(const std::vector<Axis>& axes) {
  int64_t count = 1;
  for (const Axis& axis : axes) count *= axis.size;
  return count;
}

// Walks the indices of some axes in row-major order.
class Walk {
 public:
  Walk(const std::vector<Axis>& axes, int64_t number) : axes_(axes), digits_(axes.size()) {
    for (size_t i = axes.size(); i-- > 0;) {
      digits_[i] = number % axes[i].size;
      number /= axes[i].size;
      offset_ += digits_[i] * axes[i].stride;
    }
  }
  int64_t offset() const { return offset_; }
  void next() {
    for (size_t i = axes_.size(); i-- > 0;) {
      offset_ += axes_[i].stride;
      if (++digits_[i] < axes_[i].size) return;
      offset_ -= axes_[i].size * axes_[i].stride;
      digits_[i] = 0;
    }
  }

 private:
  const std::vector<Axis>& axes_;
  std::vector<int64_t> digits_;
  int64_t offset_ = 0;
};

// Accumulators of one thread or of one call.
class Accumulators {
 public:
  Accumulators(const FoldKernel& kernel, int64_t count)
      : width_(kernel.accumulator_width),
        bytes_(std::make_unique_for_overwrite<uint64_t[]>(static_cast<size_t>(count * width_ + 7) / 8)) {}
  std::byte* at(int64_t i) const { return reinterpret_cast<std::byte*>(bytes_.get()) + i * width_; }

 private:
  int64_t width_;
  std::unique_ptr<uint64_t[]> bytes_;
};

struct Shape {
  std::vector<Axis> kept, reduced;  // neighbours joined, sizes above 1
};

Shape shape_of(std::span<const int64_t> dimensions, std::span<const int64_t> strides,
               std::span<const uint8_t> is_reduced) {
  Shape shape;
  bool last_reduced = false;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == 1) continue;
    std::vector<Axis>& axes = is_reduced[i] ? shape.reduced : shape.kept;
    const bool joins =
        !axes.empty() && last_reduced == is_reduced[i] && axes.back().stride == strides[i] * dimensions[i];
    if (joins)
      axes.back() = {axes.back().size * dimensions[i], strides[i]};
    else
      axes.push_back({dimensions[i], strides[i]});
    last_reduced = is_reduced[i];
  }
  return shape;
}

// ── the minor dimension is reduced ──────────────────────────────

// Rows of a few elements, as many outputs as there are rows: turned, a block at a time, so that outputs are
// neighbours.
void fold_short_rows(const FoldKernel& kernel, int64_t row, int64_t outputs, const std::byte* in,
                     const std::byte* init, std::byte* out) {
  constexpr int64_t kBlock = 256;
  const auto turned = [&](int64_t n) {
    const int64_t dimensions[] = {row, n}, from[] = {1, row}, to[] = {kBlock, 1};
    return StridedCopy(dimensions, from, to, kernel.width);
  };
  const StridedCopy whole = turned(kBlock), rest = turned(outputs % kBlock);
  parallel_for(outputs, std::max<int64_t>(1, kPiece / (row * kBlock)) * kBlock,
               [&](int64_t begin, int64_t end) {
                 Accumulators totals(kernel, kBlock), room(kernel, row * kBlock);
                 for (int64_t first = begin; first < end; first += kBlock) {
                   const int64_t n = std::min(kBlock, end - first);
                   (n == kBlock ? whole : rest).run_here(in + first * row * kernel.width, room.at(0));
                   kernel.widen(init, 1, totals.at(0));
                   for (int64_t j = 1; j < n; ++j)
                     std::memcpy(totals.at(j), totals.at(0), static_cast<size_t>(kernel.accumulator_width));
                   kernel.columns(room.at(0), kBlock * kernel.width, row, n, totals.at(0));
                   kernel.finish(totals.at(0), n, out + first * kernel.width);
                 }
               });
}

// Each output is `start` and its pieces, in their order.
void combine_pieces(const FoldKernel& kernel, const Accumulators& start, const Accumulators& partial,
                    int64_t outputs, int64_t pieces, std::byte* out) {
  for (int64_t output = 0; output < outputs; ++output) {
    alignas(16) std::byte total[16];
    std::memcpy(total, start.at(0), static_cast<size_t>(kernel.accumulator_width));
    for (int64_t piece = 0; piece < pieces; ++piece)
      kernel.combine(partial.at(output * pieces + piece), 1, total);
    kernel.finish(total, 1, out + output * kernel.width);
  }
}

// Folds rows of `row` elements; the other reduced axes are walked. Work is cut into pieces of whole rows or
// parts of a row.
void fold_rows(const FoldKernel& kernel, const Shape& shape, const std::byte* in, const std::byte* init,
               std::byte* out) {
  std::vector<Axis> outer = shape.reduced;
  const int64_t row = outer.back().size;
  outer.pop_back();
  const int64_t outputs = count_of(shape.kept), rows = count_of(outer);
  constexpr int64_t kShort = 7;  // row() takes so few one after the other, as columns() does
  if (outer.empty() && row <= kShort && outputs >= 256 && shape.kept.size() == 1 &&
      shape.kept[0].stride == row)
    return fold_short_rows(kernel, row, outputs, in, init, out);
  const int64_t cuts = ceil_div(row, kPiece);                   // of each row
  const int64_t together = std::max<int64_t>(1, kPiece / row);  // rows of a piece
  // Many outputs are not cut at all.
  const bool whole = outputs >= kManyUnits;
  const int64_t pieces = whole ? 1 : (cuts > 1 ? rows * cuts : ceil_div(rows, together));
  Accumulators start(kernel, 1), partial(kernel, pieces == 1 ? 1 : outputs * pieces);
  kernel.widen(init, 1, start.at(0));
  const auto width = static_cast<size_t>(kernel.accumulator_width);

  const auto fold_piece = [&](const std::byte* from, int64_t piece, void* total) {
    int64_t first_row = 0, last_row = rows, begin = 0, end = row;
    if (pieces > 1 && cuts > 1) {
      first_row = piece / cuts;
      last_row = first_row + 1;
      begin = piece % cuts * kPiece;
      end = std::min(row, begin + kPiece);
    } else if (pieces > 1) {
      first_row = piece * together;
      last_row = std::min(rows, first_row + together);
    }
    if (outer.empty()) return kernel.row(from + begin * kernel.width, end - begin, total);
    Walk walk(outer, first_row);
    for (int64_t r = first_row; r < last_row; ++r, walk.next())
      kernel.row(from + (walk.offset() + begin) * kernel.width, end - begin, total);
  };
  const int64_t unit_elements = std::max<int64_t>(1, rows * row / pieces);
  parallel_for(outputs * pieces, std::max<int64_t>(1, kPiece / unit_elements),
               [&](int64_t begin, int64_t end) {
                 Walk walk(shape.kept, begin / pieces);
                 alignas(16) std::byte total[16];
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t output = unit / pieces, piece = unit % pieces;
                   if (pieces == 1) {
                     std::memcpy(total, start.at(0), width);
                     fold_piece(in + walk.offset() * kernel.width, piece, total);
                     kernel.finish(total, 1, out + output * kernel.width);
                   } else {
                     kernel.clear(partial.at(unit), 1);
                     fold_piece(in + walk.offset() * kernel.width, piece, partial.at(unit));
                   }
                   if (piece + 1 == pieces) walk.next();
                 }
               });
  if (pieces > 1) combine_pieces(kernel, start, partial, outputs, pieces, out);
}

// ── the minor dimension is kept ─────────────────────────────────

// Adds rows [first, last) of `stacked` to n accumulators. Narrow rows that follow each other are folded
// several at a time as one wide row.
void fold_stack(const FoldKernel& kernel, const std::byte* in, Axis stacked, int64_t first, int64_t last,
                int64_t n, void* totals) {
  const int64_t stride = stacked.stride * kernel.width;
  const std::byte* at = in + first * stride;
  int64_t rows = last - first;
  const int64_t group = 1024 / n;
  if (stacked.stride == n && group >= 4 && rows >= 4 * group) {
    Accumulators wide(kernel, group * n);
    kernel.clear(wide.at(0), group * n);
    const int64_t groups = rows / group;
    kernel.columns(at, group * stride, groups, group * n, wide.at(0));
    for (int64_t g = 0; g < group; ++g) kernel.combine(wide.at(g * n), n, totals);
    at += groups * group * stride;
    rows -= groups * group;
  }
  kernel.columns(at, stride, rows, n, totals);
}

// Folds blocks of neighbouring columns; of the reduced axes the last is stacked, the others are walked. Where
// there are few blocks, the stacks of each are cut into pieces with accumulators of their own.
class ColumnFold {
 public:
  ColumnFold(const FoldKernel& kernel, const Shape& shape)
      : kernel_(kernel), outer_kept_(shape.kept), outer_reduced_(shape.reduced) {
    if (!outer_kept_.empty() && outer_kept_.back().stride == 1) {
      columns_ = outer_kept_.back();
      outer_kept_.pop_back();
    }
    if (!outer_reduced_.empty()) {
      stacked_ = outer_reduced_.back();
      outer_reduced_.pop_back();
    }
    blocks_ = ceil_div(columns_.size, kColumns);
    block_columns_ = std::min(columns_.size, kColumns);
    units_ = count_of(outer_kept_) * blocks_;
    stacks_ = count_of(outer_reduced_);
    piece_rows_ = std::max<int64_t>(1, 4 * kPiece / block_columns_);
    cuts_ = units_ >= kManyUnits ? 1 : ceil_div(stacked_.size, piece_rows_);
    together_ = units_ >= kManyUnits || cuts_ > 1
                    ? stacks_
                    : std::max<int64_t>(1, 4 * kPiece / (block_columns_ * stacked_.size));
    pieces_ = cuts_ > 1 ? stacks_ * cuts_ : ceil_div(stacks_, together_);
  }

  void run(const std::byte* in, const std::byte* init, std::byte* out) const {
    Accumulators start(kernel_, 1), partial(kernel_, pieces_ == 1 ? 1 : units_ * pieces_ * block_columns_);
    kernel_.widen(init, 1, start.at(0));
    const int64_t unit_elements = block_columns_ * std::max<int64_t>(1, stacks_ * stacked_.size / pieces_);
    parallel_for(units_ * pieces_, std::max<int64_t>(1, kPiece / unit_elements),
                 [&](int64_t begin, int64_t end) {
                   Accumulators totals(kernel_, block_columns_);
                   for (int64_t k = begin; k < end; ++k) {
                     const Place at = place(k / pieces_);
                     const std::byte* from = in + at.in * kernel_.width;
                     if (pieces_ == 1) {
                       begin_with(start, totals.at(0), at.count);
                       fold_piece(from, 0, at.count, totals.at(0));
                       kernel_.finish(totals.at(0), at.count, out + at.out * kernel_.width);
                     } else {
                       kernel_.clear(partial.at(k * block_columns_), at.count);
                       fold_piece(from, k % pieces_, at.count, partial.at(k * block_columns_));
                     }
                   }
                 });
    if (pieces_ == 1) return;
    Accumulators totals(kernel_, block_columns_);
    for (int64_t unit = 0; unit < units_; ++unit) {
      const Place at = place(unit);
      begin_with(start, totals.at(0), at.count);
      for (int64_t piece = 0; piece < pieces_; ++piece)
        kernel_.combine(partial.at((unit * pieces_ + piece) * block_columns_), at.count, totals.at(0));
      kernel_.finish(totals.at(0), at.count, out + at.out * kernel_.width);
    }
  }

 private:
  // Where a block of columns lies, in elements.
  struct Place {
    int64_t count, in, out;
  };
  Place place(int64_t unit) const {
    const int64_t first = unit % blocks_ * kColumns;
    const int64_t offset = Walk(outer_kept_, unit / blocks_).offset();
    return {std::min(kColumns, columns_.size - first), offset + first,
            unit / blocks_ * columns_.size + first};
  }
  void begin_with(const Accumulators& start, std::byte* totals, int64_t n) const {
    const auto width = static_cast<size_t>(kernel_.accumulator_width);
    for (int64_t j = 0; j < n; ++j) std::memcpy(totals + static_cast<size_t>(j) * width, start.at(0), width);
  }
  void fold_piece(const std::byte* from, int64_t piece, int64_t n, void* totals) const {
    int64_t first_stack = 0, last_stack = stacks_, first = 0, last = stacked_.size;
    if (cuts_ > 1) {
      first_stack = piece / cuts_;
      last_stack = first_stack + 1;
      first = piece % cuts_ * piece_rows_;
      last = std::min(stacked_.size, first + piece_rows_);
    } else if (pieces_ > 1) {
      first_stack = piece * together_;
      last_stack = std::min(stacks_, first_stack + together_);
    }
    Walk walk(outer_reduced_, first_stack);
    for (int64_t s = first_stack; s < last_stack; ++s, walk.next())
      fold_stack(kernel_, from + walk.offset() * kernel_.width, stacked_, first, last, n, totals);
  }

  const FoldKernel& kernel_;
  std::vector<Axis> outer_kept_, outer_reduced_;
  Axis columns_{1, 1}, stacked_{1, 0};
  int64_t blocks_ = 1, block_columns_ = 1;  // of the columns
  int64_t units_ = 1;                       // blocks of all outputs
  int64_t stacks_ = 1, cuts_ = 1, piece_rows_ = 1,
          together_ = 1;  // stacks, cuts of each, or stacks of a piece
  int64_t pieces_ = 1;    // of a unit
};

}  // namespace

void fold(const FoldKernel& kernel, std::span<const int64_t> dimensions, std::span<const int64_t> strides,
          std::span<const uint8_t> is_reduced, const std::byte* in, const std::byte* init, std::byte* out) {
  HLOSIM_CHECK(kernel && dimensions.size() == strides.size() && dimensions.size() == is_reduced.size(),
               "{} dimensions", dimensions.size());
  int64_t outputs = 1, folded = 1;
  for (size_t i = 0; i < dimensions.size(); ++i) (is_reduced[i] ? folded : outputs) *= dimensions[i];
  if (outputs == 0) return;
  if (folded == 0) {
    for (int64_t i = 0; i < outputs; ++i)
      std::memcpy(out + i * kernel.width, init, static_cast<size_t>(kernel.width));
    return;
  }
  const Shape shape = shape_of(dimensions, strides, is_reduced);
  if (!shape.reduced.empty() && shape.reduced.back().stride == 1)
    fold_rows(kernel, shape, in, init, out);
  else
    ColumnFold(kernel, shape).run(in, init, out);
}

}  // namespace hlosim
