#include "evaluate/sliding_fold.h"

#include <algorithm>
#include <cstring>

#include "base/rounding.h"
#include "cpu_kernels/strided_copy.h"
#include "ops/window.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kLongWindow = 32;
constexpr int64_t kLanes = 256;  // neighbours that slide together

// One strip of neighbours. Positions count from the first place's window on; those that are no elements are
// left out. Positions are cut into blocks as long as the window, so that a window is the end of one block and
// the beginning of the next: partial results from each block's end backwards meet those from its beginning
// forwards.
class Strip {
 public:
  Strip(const SlidingFold& fold, Applier& applier, int64_t width, int64_t lanes, const std::byte* in,
        std::byte* out)
      : fold_(fold),
        applier_(applier),
        lanes_(lanes),
        row_bytes_(static_cast<size_t>(lanes * width)),
        step_(fold.inner * width),
        in_(in),
        out_(out),
        total_(row_bytes_) {}

  void run(const std::byte* init) {
    for (int64_t block = 0; block < fold_.places; block += fold_.window) {
      backwards(block);
      forwards(block + fold_.window);
    }
    for (int64_t place = 0; place < fold_.places; ++place) {
      std::byte* const to = out_ + place * step_;
      if (holds_elements(place, place + fold_.window))
        combine(init, to, to);
      else
        std::memcpy(to, init, row_bytes_);
    }
  }

 private:
  bool is_element(int64_t position) const {
    return position >= fold_.before && position < fold_.before + fold_.size;
  }
  bool holds_elements(int64_t begin, int64_t end) const {
    return std::max(begin, fold_.before) < std::min(end, fold_.before + fold_.size);
  }
  const std::byte* element(int64_t position) const { return in_ + (position - fold_.before) * step_; }

  void combine(const std::byte* a, const std::byte* b, std::byte* to) {
    const void* arguments[] = {a, b};
    void* results[] = {to};
    applier_.run(arguments, results, lanes_);
  }
  // out[p] ← elements p … end of the block, for the places of a block.
  void backwards(int64_t block) {
    bool empty = true;
    for (int64_t p = std::min(block + fold_.window, fold_.before + fold_.size) - 1; p >= block; --p) {
      if (is_element(p)) {
        if (empty)
          std::memcpy(total_.data(), element(p), row_bytes_);
        else
          combine(element(p), total_.data(), total_.data());
        empty = false;
      }
      if (!empty && p < fold_.places) std::memcpy(out_ + p * step_, total_.data(), row_bytes_);
    }
  }
  // out[p] op= elements of the next block that place p's window reaches.
  void forwards(int64_t block) {
    bool empty = true;
    for (int64_t p = block; p < block + fold_.window - 1; ++p) {
      const int64_t place = p - fold_.window + 1;
      if (place >= fold_.places) return;
      if (is_element(p)) {
        if (empty)
          std::memcpy(total_.data(), element(p), row_bytes_);
        else
          combine(total_.data(), element(p), total_.data());
        empty = false;
      }
      if (empty) continue;
      std::byte* const to = out_ + place * step_;
      if (holds_elements(place, block))
        combine(to, total_.data(), to);
      else
        std::memcpy(to, total_.data(), row_bytes_);
    }
  }

  const SlidingFold& fold_;
  Applier& applier_;
  int64_t lanes_;
  size_t row_bytes_;
  int64_t step_;
  const std::byte* in_;
  std::byte* out_;
  std::vector<std::byte> total_;
};

// [outer, size, inner] to [size, outer, inner], or back.
void turn(const SlidingFold& fold, int64_t size, int64_t width, const std::byte* from, std::byte* to,
          bool back) {
  const int64_t dimensions[] = {size, fold.outer, fold.inner};
  const int64_t apart[] = {fold.inner, size * fold.inner, 1},
                together[] = {fold.outer * fold.inner, fold.inner, 1};
  StridedCopy(dimensions, back ? together : apart, back ? apart : together, width).run(from, to);
}

}  // namespace

std::optional<SlidingFold> SlidingFold::make(std::span<const int64_t> base,
                                             std::span<const WindowDimension> window) {
  std::optional<SlidingFold> found;
  SlidingFold fold;
  for (size_t i = 0; i < base.size(); ++i) {
    const WindowDimension& w = window[i];
    const bool dense = w.stride == 1 && w.base_dilation == 1 && w.window_dilation == 1;
    if (!dense) return std::nullopt;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) {
      (found ? fold.inner : fold.outer) *= base[i];
      continue;
    }
    if (found || w.size < kLongWindow) return std::nullopt;
    fold.size = base[i];
    fold.places = window_places(base[i], w);
    fold.window = w.size;
    fold.before = w.padding_low;
    found = fold;
  }
  if (!found || base.empty()) return std::nullopt;
  fold.size = found->size;
  return fold;
}

void SlidingFold::run(const AppliedComputation& op, DeviceState& device, const std::byte* in,
                      const std::byte* init, std::byte* out) const {
  const int64_t width = byte_width(op.wanted()[0]);
  if (outer * places * inner == 0) return;
  if (inner < kLanes && outer > 1) {
    // Too few neighbours: those of all outer indices come together.
    SlidingFold turned = *this;
    turned.outer = 1;
    turned.inner = outer * inner;
    const Buffer turned_in = device.pool().allocate(outer * size * inner * width);
    const Buffer turned_out = device.pool().allocate(outer * places * inner * width);
    turn(*this, size, width, in, turned_in.data(), false);
    turned.run(op, device, turned_in.data(), init, turned_out.data());
    turn(*this, places, width, turned_out.data(), out, true);
    return;
  }
  const int64_t strips = ceil_div(inner, kLanes);
  std::vector<std::byte> inits(static_cast<size_t>(kLanes * width));
  fill_elements(inits.data(), init, width, kLanes);
  parallel_for(outer * strips, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, size)),
               [&](int64_t begin, int64_t end) {
                 Applier applier(op, device);
                 for (int64_t unit = begin; unit < end; ++unit) {
                   const int64_t first = unit % strips * kLanes, o = unit / strips;
                   Strip(*this, applier, width, std::min(kLanes, inner - first),
                         in + (o * size * inner + first) * width, out + (o * places * inner + first) * width)
                       .run(inits.data());
                 }
               });
}

}  // namespace hlosim
