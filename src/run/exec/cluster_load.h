// Operands of a pass, block by block, out of the memory that a view shows.
//
//   const LoadPlan plan(view, 4);                   // f32
//   BlockLoad load(plan, 256);
//   load.begin(array.bytes());
//   const std::byte* block = load.at(512, 256);    // elements 512 to 767 of the view, dense
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "layout/strided_view.h"

namespace hlosim {

/// How blocks of a view come about; made once.
class LoadPlan {
 public:
  /// The elements of `view` in row-major order, `width` bytes each.
  LoadPlan(const StridedView& view, int64_t width);

  /// Neighbours in memory from first to last: no block is ever copied.
  bool is_dense() const { return kind_ == Kind::kDense; }
  bool is_splat() const { return kind_ == Kind::kSplat; }
  int64_t offset() const { return view_.offset; }
  int64_t width() const { return width_; }
  /// Rows of this length hold one element many times.
  bool is_uniform(int64_t row) const;
  /// Elements after which a row of the view ends; blocks that end there too are seldom copied. 0: no matter.
  int64_t row() const;
  /// The length of rows that hold one element many times, if they are long enough to be worth it. Else 0.
  int64_t uniform_row() const;

 private:
  friend class BlockLoad;
  enum class Kind : uint8_t { kDense, kSplat, kPeriodic, kRows };
  Kind kind_;
  StridedView view_;  // collapsed
  int64_t width_;
};

/// Rows that the blocks of several inputs follow.
struct BlockRows {
  int64_t length = 0;    // 0: none
  bool several = false;  // a block is made of whole rows; else it is a piece of one

  /// Takes in one input more.
  void add(const LoadPlan& plan);
};

/// Blocks of one operand for one thread.
class BlockLoad {
 public:
  /// `block`: most elements that at() will be asked for. `first_only`: one element is enough of those that
  /// are the same, in the whole block, or in each row of `rows` if blocks have several.
  BlockLoad(const LoadPlan& plan, int64_t block, bool first_only = false, BlockRows rows = {});

  /// Elements come from the array at `base` from now on.
  void begin(const std::byte* base);
  /// Elements [position, position + n) of the view, dense, until the next call.
  const std::byte* at(int64_t position, int64_t n);

 private:
  const std::byte* element(int64_t index) const { return base_ + index * plan_->width_; }
  void seek(int64_t position);
  void next_row();
  const std::byte* rows(int64_t position, int64_t n);
  const std::byte* one_per_row(int64_t position, int64_t n);

  const LoadPlan* plan_;
  int64_t block_;
  bool first_only_;
  bool per_row_;  // one element for each row of a block
  const std::byte* base_ = nullptr;
  std::unique_ptr<std::byte[]> storage_;
  std::byte* buffer_ = nullptr;  // 64-byte aligned
  // Of a view in rows: the place of the next element.
  std::vector<int64_t> index_;  // of all dimensions but the last
  int64_t position_ = -1, row_start_ = 0, column_ = 0;
  int64_t spread_from_ = -1, spread_ = 0;  // the element that fills the buffer, so many times
};

}  // namespace hlosim
