// Depthwise convolutions of f32 whose places of the innermost dimension are neighbours in memory: [batch,
// channel, …, x].
//
// A line is what the innermost dimension goes over. The lines of the input that a few lines of the result
// need are copied with their padding, a phase of the stride after the other, so that each tap reads
// neighbours:
//
//     x0 x1 x2 x3 x4, padding 1, stride 2  →  0 x1 x3 0 | x0 x2 x4 0       taps 0 and 2: the first phase
//
// Phases that no tap reads are left out. The lines stay in a ring, which is as long as the window: in the L1
// cache, or the L2 cache where the window is large. Windows that reach farther aren't computed this way.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/rounding.h"
#include "convolution/convolution_geometry.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kPiece = 2048;      // places of a line at a time
constexpr int64_t kLeastPlaces = 32;  // of a line: shorter ones cost more to copy than turning the image
constexpr int64_t kLinesTaskWork = 1 << 18;  // multiplications that are worth a thread
constexpr size_t kMostLines = 4;             // of the result at a time
constexpr int64_t kMostRing = 1 << 16;       // floats of a thread's ring

class DepthwiseLinesConvolution {
 public:
  DepthwiseLinesConvolution(const Convolution& convolution, const ConvolutionLevel& level)
      : convolution_(convolution),
        kernels_(*level.lines),
        x_(convolution.spatial.back()),
        outer_(convolution.spatial.first(convolution.spatial.size() - 1)),
        piece_(std::min(x_.output, kPiece)),
        at_once_(kernels_.lines_at_once(ceil_div(piece_, kernels_.lanes))) {}

  /// To be called before run(); false: the ring would be too large.
  bool prepare() {
    if (!find_phases()) return false;
    find_lines();
    find_ring();
    if ((slots_ + 1) > kMostRing / pitch_) return false;
    pack();
    return true;
  }

  void run() const {
    const int64_t pieces = ceil_div(x_.output, piece_), lines = static_cast<int64_t>(results_.size());
    const int64_t work = lines * piece_ * outer_taps_ * x_.kernel;
    parallel_for(convolution_.batch * convolution_.groups * pieces, ceil_div(kLinesTaskWork, work),
                 [&](int64_t begin, int64_t end) {
                   const int64_t bytes = (slots_ + 1) * pitch_ * 4;  // the last line is all padding
                   Scratch ring(bytes);
                   std::vector<const float*> rows(static_cast<size_t>(outer_taps_ * at_once_));
                   int64_t cleared = -1;  // place whose padding stands in the ring
                   for (int64_t i = begin; i < end; ++i) {
                     const int64_t place = i % pieces * piece_;
                     if (place != cleared) std::memset(ring.as<float>(), 0, static_cast<size_t>(bytes));
                     cleared = place;
                     run_piece(i / pieces / convolution_.groups, i / pieces % convolution_.groups, place,
                               ring.as<float>(), rows);
                   }
                 });
  }

 private:
  /// False: a line is too long.
  bool find_phases() {
    const int64_t beyond = (x_.kernel - 1) * x_.window_dilation / x_.stride;
    if (beyond > kMostRing || x_.kernel > kMostRing) return false;
    phase_ = round_up(piece_, kernels_.lanes) + beyond;
    for (int64_t tap = 0; tap < x_.kernel; ++tap) phases_.push_back(tap * x_.window_dilation % x_.stride);
    std::ranges::sort(phases_);
    phases_.erase(std::unique(phases_.begin(), phases_.end()), phases_.end());
    pitch_ = phase_ * static_cast<int64_t>(phases_.size());
    if (pitch_ > kMostRing) return false;
    for (int64_t tap = 0; tap < x_.kernel; ++tap) {
      const int64_t at = tap * x_.window_dilation;
      const auto phase = std::ranges::lower_bound(phases_, at % x_.stride) - phases_.begin();
      offsets_.push_back(phase * phase_ + at / x_.stride);
    }
    return true;
  }

  /// Line of the input under outer tap `tap` of the result's line `line`; -1: padding or a hole.
  int64_t input_line(int64_t line, int64_t tap) const {
    int64_t found = 0, scale = 1;
    for (size_t i = outer_.size(); i-- > 0;) {
      const ConvolutionSpatial& d = outer_[i];
      const int64_t at = line % d.output * d.stride - d.padding_low + tap % d.kernel * d.window_dilation;
      if (at < 0 || at % d.base_dilation != 0 || at / d.base_dilation >= d.input) return -1;
      found += at / d.base_dilation * scale;
      scale *= d.input;
      line /= d.output;
      tap /= d.kernel;
    }
    return found;
  }

  void find_lines() {
    int64_t lines = 1, input_lines = 1;
    for (const ConvolutionSpatial& d : outer_) {
      lines *= d.output;
      input_lines *= d.input;
      outer_taps_ *= d.kernel;
    }
    const auto offset = [&](int64_t line, auto size, auto stride) {
      int64_t sum = 0;
      for (size_t i = outer_.size(); i-- > 0; line /= outer_[i].*size)
        sum += line % (outer_[i].*size) * (outer_[i].*stride);
      return sum;
    };
    for (int64_t line = 0; line < input_lines; ++line)
      inputs_.push_back(offset(line, &ConvolutionSpatial::input, &ConvolutionSpatial::input_stride));
    for (int64_t line = 0; line < lines; ++line) {
      results_.push_back(offset(line, &ConvolutionSpatial::output, &ConvolutionSpatial::output_stride));
      for (int64_t tap = 0; tap < outer_taps_; ++tap) under_.push_back(input_line(line, tap));
    }
  }

  /// Lines of the result [begin, begin + at_once_) need those of the input from first_[begin] on, and they
  /// and all before them those up to end_[begin].
  void find_ring() {
    const auto lines = static_cast<int64_t>(results_.size()), blocks = ceil_div(lines, at_once_);
    first_.assign(static_cast<size_t>(blocks), static_cast<int64_t>(inputs_.size()));
    end_.assign(static_cast<size_t>(blocks), 0);
    for (size_t i = 0; i < under_.size(); ++i) {
      if (under_[i] < 0) continue;
      const size_t block = i / static_cast<size_t>(outer_taps_ * at_once_);
      first_[block] = std::min(first_[block], under_[i]);
      end_[block] = std::max(end_[block], under_[i] + 1);
    }
    for (size_t b = first_.size() - 1; b-- > 0;) first_[b] = std::min(first_[b], first_[b + 1]);
    for (size_t b = 1; b < end_.size(); ++b) end_[b] = std::max(end_[b], end_[b - 1]);
    for (size_t b = 0; b < end_.size(); ++b)
      slots_ = std::max(slots_, end_[std::min(b + 1, end_.size() - 1)] - first_[b]);
    for (size_t line = 0; line < inputs_.size(); ++line)
      slot_offsets_.push_back(static_cast<int64_t>(line) % slots_ * pitch_);
    for (const int64_t line : under_)
      row_offsets_.push_back(line < 0 ? slots_ * pitch_ : slot_offsets_[static_cast<size_t>(line)]);
  }

  void pack() {
    const Geometry geometry(convolution_);
    std::vector<int64_t> offsets;
    for (int64_t tap = 0; tap < geometry.taps(); ++tap) offsets.push_back(geometry.kernel_offset(tap));
    weights_.reserve(offsets.size() * static_cast<size_t>(convolution_.groups));
    for (int64_t group = 0; group < convolution_.groups; ++group)
      for (const int64_t offset : offsets)
        weights_.push_back(static_cast<const float*>(
            convolution_.kernel)[group * convolution_.kernel_group_stride + offset]);
  }

  /// Copies a line for places of the result from `place` on, between the padding that is there.
  void fill(const float* line, int64_t place, float* to) const {
    const int64_t low = x_.padding_low - place * x_.stride;  // of the padding in front of them
    for (const int64_t phase : phases_) {
      // Position j · stride + phase of the padded line is element j · stride + phase - low.
      const int64_t begin = std::clamp<int64_t>(ceil_div_any(low - phase, x_.stride), 0, phase_);
      const int64_t end = std::clamp<int64_t>(ceil_div_any(low - phase + x_.input, x_.stride), begin, phase_);
      kernels_.every(line + begin * x_.stride + phase - low, x_.stride, end - begin, to + begin);
      to += phase_;
    }
  }
  static int64_t ceil_div_any(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

  void run_piece(int64_t batch, int64_t group, int64_t place, float* ring,
                 std::vector<const float*>& rows) const {
    const float* input = static_cast<const float*>(convolution_.input) +
                         batch * convolution_.input_batch_stride + group * convolution_.input_group_stride;
    float* result = static_cast<float*>(convolution_.result) + batch * convolution_.output_batch_stride +
                    group * convolution_.output_group_stride + place;
    const auto lines = static_cast<int64_t>(results_.size());
    std::array<float*, kMostLines> results{};
    DepthwiseLines work{.outer_taps = outer_taps_,
                        .inner_taps = x_.kernel,
                        .lines = rows.data(),
                        .offsets = offsets_.data(),
                        .weights = weights_.data() + group * outer_taps_ * x_.kernel,
                        .results = results.data(),
                        .count = std::min(piece_, x_.output - place)};
    int64_t filled = 0;
    const auto fill_for = [&](size_t block) {
      for (filled = std::max(filled, first_[block]); filled < end_[block]; ++filled)
        fill(input + inputs_[static_cast<size_t>(filled)], place,
             ring + slot_offsets_[static_cast<size_t>(filled)]);
    };
    fill_for(0);
    for (int64_t line = 0; line < lines; line += at_once_) {
      const auto block = static_cast<size_t>(line / at_once_);
      // A block ahead: what was just written can't be read yet across the borders of its vectors.
      if (block + 1 < end_.size()) fill_for(block + 1);
      const int64_t count = std::min(at_once_, lines - line);
      for (int64_t i = 0; i < count * outer_taps_; ++i)
        rows[static_cast<size_t>(i)] = ring + row_offsets_[static_cast<size_t>(line * outer_taps_ + i)];
      for (int64_t i = 0; i < count; ++i)
        results[static_cast<size_t>(i)] = result + results_[static_cast<size_t>(line + i)];
      multiply(work, count);
    }
  }

  void multiply(DepthwiseLines& work, int64_t count) const {
    if (count == at_once_)
      return (count == 4 ? kernels_.four : count == 2 ? kernels_.two : kernels_.one)(work);
    for (int64_t i = 0; i < count; ++i) {
      DepthwiseLines one = work;
      one.lines += i * outer_taps_;
      one.results += i;
      kernels_.one(one);
    }
  }

  const Convolution& convolution_;
  const ConvolutionLineKernels& kernels_;
  const ConvolutionSpatial& x_;
  std::span<const ConvolutionSpatial> outer_;
  int64_t piece_, at_once_;  // places and lines
  int64_t outer_taps_ = 1;
  int64_t phase_ = 0, pitch_ = 0;                    // floats of a phase and of all of a line's
  int64_t slots_ = 1;                                // lines of the ring
  std::vector<int64_t> phases_;                      // that taps read, ascending
  std::vector<int64_t> offsets_;                     // of inner taps in a line
  std::vector<int64_t> inputs_, results_;            // offsets of lines
  std::vector<int64_t> under_;                       // [line of the result][outer tap]: line of the input
  std::vector<int64_t> slot_offsets_, row_offsets_;  // in the ring: of lines of the input, and of under_
  std::vector<int64_t> first_, end_;
  std::vector<float> weights_;  // [group][tap]
};

/// Lines of neighbours, long enough.
bool has_lines(const Convolution& convolution) {
  if (convolution.spatial.empty() || convolution.input_type != ElementType::kF32 ||
      convolution.kernel_type != ElementType::kF32 || convolution.result_type != ElementType::kF32)
    return false;
  const ConvolutionSpatial& x = convolution.spatial.back();
  return x.input_stride == 1 && x.output_stride == 1 && x.base_dilation == 1 && x.output >= kLeastPlaces;
}

}  // namespace

bool depthwise_lines(const Convolution& convolution, const ConvolutionLevel& level) {
  if (!has_lines(convolution)) return false;
  DepthwiseLinesConvolution lines(convolution, level);
  if (!lines.prepare()) return false;
  lines.run();
  return true;
}

}  // namespace hlosim
