#include "exec/cluster_load.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace hlosim {
namespace {

constexpr int64_t kLongestPeriod = 1024;
constexpr int64_t kShortestRow = 192;  // below, ending blocks with rows makes too many of them
constexpr int64_t kShortestUniformRow = 32;
constexpr int64_t kSeveralRows = 512;  // up to this length blocks hold several

struct Wide {
  uint64_t words[2];
};

template <class T>
void copy_as(const std::byte* source, int64_t stride, std::byte* destination, int64_t n) {
  const T* from = reinterpret_cast<const T*>(source);
  T* to = reinterpret_cast<T*>(destination);
  if (stride == 0)
    std::fill_n(to, n, *from);
  else
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
}

// n elements, `stride` elements apart.
void copy(const std::byte* source, int64_t stride, int64_t width, std::byte* destination, int64_t n) {
  if (stride == 1) {
    std::memcpy(destination, source, static_cast<size_t>(n * width));
    return;
  }
  switch (width) {
    case 1:
      return copy_as<uint8_t>(source, stride, destination, n);
    case 2:
      return copy_as<uint16_t>(source, stride, destination, n);
    case 4:
      return copy_as<uint32_t>(source, stride, destination, n);
    case 8:
      return copy_as<uint64_t>(source, stride, destination, n);
    case 16:
      return copy_as<Wide>(source, stride, destination, n);
  }
  HLOSIM_CHECK(false, "elements of {} bytes", width);
}

}  // namespace

LoadPlan::LoadPlan(const StridedView& view, int64_t width) : view_(collapsed(view)), width_(width) {
  const size_t rank = view_.dimensions.size();
  const auto stride = [&](size_t from_last) { return view_.strides[rank - 1 - from_last]; };
  if (rank == 0 || (rank == 1 && stride(0) == 1))
    kind_ = Kind::kDense;
  else if (rank == 1 && stride(0) == 0)
    kind_ = Kind::kSplat;
  else if (rank == 2 && stride(0) == 1 && stride(1) == 0 && view_.dimensions[1] <= kLongestPeriod)
    kind_ = Kind::kPeriodic;
  else
    kind_ = Kind::kRows;
}

int64_t LoadPlan::row() const {
  if (kind_ != Kind::kRows) return 0;
  const int64_t length = view_.dimensions.back(), stride = view_.strides.back();
  return length >= kShortestRow && (stride == 0 || stride == 1) ? length : 0;
}

bool LoadPlan::is_uniform(int64_t row) const {
  return is_splat() || (kind_ == Kind::kRows && view_.strides.back() == 0 && view_.dimensions.back() == row);
}

int64_t LoadPlan::uniform_row() const {
  if (kind_ != Kind::kRows || view_.strides.back() != 0) return 0;
  const int64_t length = view_.dimensions.back();
  return length >= kShortestUniformRow ? length : 0;
}

void BlockRows::add(const LoadPlan& plan) {
  const int64_t uniform = plan.uniform_row(), row = plan.row();
  if (uniform > 0 && uniform <= kSeveralRows && (length == 0 || (several && uniform == length))) {
    length = uniform;
    several = true;
    return;
  }
  if (row == 0 && uniform == 0) return;
  // Of different lengths, or too long for several.
  const int64_t before = several && length < kShortestRow ? 0 : length;
  several = false;
  length = before > 0 && row > 0 ? std::min(before, row) : std::max(before, row);
}

BlockLoad::BlockLoad(const LoadPlan& plan, int64_t block, bool first_only, BlockRows rows)
    : plan_(&plan),
      block_(block),
      first_only_(first_only && !(rows.several && plan.is_splat())),
      per_row_(first_only && rows.several && !plan.is_splat()) {
  int64_t elements = 0;
  if (plan.kind_ == LoadPlan::Kind::kPeriodic)
    elements = block + plan.view_.dimensions[1];
  else if (!plan.is_dense())
    elements = block;
  constexpr int64_t kAlignment = 64;
  storage_ =
      std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(elements * plan.width_ + kAlignment));
  const auto address = reinterpret_cast<uintptr_t>(storage_.get());
  buffer_ = storage_.get() + (kAlignment - static_cast<int64_t>(address % kAlignment)) % kAlignment;
  if (plan.kind_ == LoadPlan::Kind::kRows) index_.resize(plan.view_.dimensions.size() - 1);
}

void BlockLoad::begin(const std::byte* base) {
  base_ = base;
  position_ = -1;
  spread_from_ = -1;
  const StridedView& view = plan_->view_;
  if (plan_->is_splat() && !first_only_) copy(element(view.offset), 0, plan_->width_, buffer_, block_);
  if (plan_->kind_ == LoadPlan::Kind::kPeriodic) {
    const int64_t period = view.dimensions[1];
    for (int64_t at = 0; at < block_ + period; at += period)
      copy(element(view.offset), 1, plan_->width_, buffer_ + at * plan_->width_,
           std::min(period, block_ + period - at));
  }
}

const std::byte* BlockLoad::at(int64_t position, int64_t n) {
  switch (plan_->kind_) {
    case LoadPlan::Kind::kDense:
      return element(plan_->view_.offset + position);
    case LoadPlan::Kind::kSplat:
      return first_only_ ? element(plan_->view_.offset) : buffer_;
    case LoadPlan::Kind::kPeriodic:
      return buffer_ + position % plan_->view_.dimensions[1] * plan_->width_;
    case LoadPlan::Kind::kRows:
      break;
  }
  return per_row_ ? one_per_row(position, n) : rows(position, n);
}

const std::byte* BlockLoad::one_per_row(int64_t position, int64_t n) {
  const StridedView& view = plan_->view_;
  const int64_t length = view.dimensions.back(), first = position / length;
  if (view.dimensions.size() == 2 && view.strides[0] == 1) return element(view.offset + first);
  seek(position);
  for (int64_t row = first; row * length < position + n; ++row, next_row())
    std::memcpy(buffer_ + (row - first) * plan_->width_, element(row_start_),
                static_cast<size_t>(plan_->width_));
  position_ = -1;
  return buffer_;
}

void BlockLoad::seek(int64_t position) {
  const StridedView& view = plan_->view_;
  size_t d = view.dimensions.size() - 1;
  column_ = position % view.dimensions[d];
  int64_t left = position / view.dimensions[d];
  row_start_ = view.offset;
  while (d-- > 0) {
    index_[d] = left % view.dimensions[d];
    left /= view.dimensions[d];
    row_start_ += index_[d] * view.strides[d];
  }
  position_ = position;
}

void BlockLoad::next_row() {
  const StridedView& view = plan_->view_;
  column_ = 0;
  for (size_t d = index_.size(); d-- > 0;) {
    row_start_ += view.strides[d];
    if (++index_[d] < view.dimensions[d]) return;
    row_start_ -= view.strides[d] * view.dimensions[d];
    index_[d] = 0;
  }
}

const std::byte* BlockLoad::rows(int64_t position, int64_t n) {
  const StridedView& view = plan_->view_;
  const int64_t length = view.dimensions.back(), stride = view.strides.back();
  if (position != position_) seek(position);
  position_ = position + n;
  if (n <= length - column_) {  // all in one row
    const int64_t from = row_start_ + column_ * stride;
    column_ += n;
    if (column_ == length) next_row();
    if (stride == 1 || (stride == 0 && first_only_)) return element(from);
    if (stride == 0 && from == spread_from_ && n <= spread_) return buffer_;
    copy(element(from), stride, plan_->width_, buffer_, n);
    spread_from_ = stride == 0 ? from : -1;
    spread_ = n;
    return buffer_;
  }
  spread_from_ = -1;
  for (int64_t done = 0; done < n;) {
    const int64_t piece = std::min(n - done, length - column_);
    copy(element(row_start_ + column_ * stride), stride, plan_->width_, buffer_ + done * plan_->width_,
         piece);
    done += piece;
    column_ += piece;
    if (column_ == length) next_row();
  }
  return buffer_;
}

}  // namespace hlosim
