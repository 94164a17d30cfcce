#include "physical/tiled_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/saturating.h"
#include "cpu_kernels/strided_copy.h"
#include "layout/shape_text.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

constexpr int64_t kLargestBlock = 4096;  // elements

tl::unexpected<Diagnostic> refused(ShapeRef array, std::string_view why) {
  return failure(fmt::format("{} can't be laid out in memory: {}", to_text(array), why));
}

}  // namespace

Result<TiledBytes> TiledBytes::make(ShapeRef array) {
  if (const auto problem = validate_layout(array)) return refused(array, problem->message);
  if (array->is_unbounded()) return refused(array, "a dimension ? has no size");
  if (array->layout && !array->layout->splits.empty())
    return refused(array, "the pieces of a split array are in several memories");
  TiledBytes out;
  out.shape_ = array;
  out.bits_ = element_storage_bits(array);
  out.width_ = byte_width(array->element_type);
  if (out.bits_ < bit_width(array->element_type) && !is_pred(array->element_type))
    return refused(array, fmt::format("E({}) is less than the {} bits of {}", out.bits_,
                                      bit_width(array->element_type), to_text(array->element_type)));
  if (out.bits_ > 8 && out.bits_ % 8 != 0)
    return refused(array, fmt::format("E({}) is neither whole bytes nor less than one", out.bits_));
  Result<LayoutMap> map = LayoutMap::make(array);
  if (!map) return refused(array, map.error().message);
  out.exhaustive_ = map->exhaustive();
  const int64_t bits = saturating_multiply(map->extent(), out.bits_);
  if (bits == kTooLarge.count()) return refused(array, "its bytes don't fit 63 bits");
  out.size_ = array_size(array).count();
  out.map_ = std::make_shared<const LayoutMap>(std::move(*map));
  out.make_runs();
  return out;
}

void TiledBytes::make_runs() {
  if (!map_->separable() || (bits_ % 8 != 0 && 8 % bits_ != 0) || shape_->element_count() == 0) return;
  in_runs_ = true;
  int64_t outer = shape_->rank();
  std::vector<int64_t> block = {0};
  // The most minor dimensions, as many as a block takes.
  while (outer > 0) {
    const int64_t size = shape_->dim(outer - 1);
    if (outer < shape_->rank() && size * static_cast<int64_t>(block.size()) > kLargestBlock) break;
    std::vector<int64_t> larger;
    larger.reserve(block.size() * static_cast<size_t>(size));
    for (int64_t i = 0; i < size; ++i) {
      const int64_t part = map_->offset_part(outer - 1, i);
      for (const int64_t offset : block) larger.push_back(part + offset);
    }
    block = std::move(larger);
    --outer;
  }
  block_ = static_cast<int64_t>(block.size());
  for (int64_t i = 0; i < block_;) {
    Run run{i, 1, block[static_cast<size_t>(i)], 1};
    if (i + 1 < block_) run.stride = block[static_cast<size_t>(i) + 1] - run.offset;
    while (i + run.count < block_ &&
           block[static_cast<size_t>(i + run.count)] == run.offset + run.count * run.stride)
      ++run.count;
    if (run.count == 1) run.stride = 1;
    i += run.count;
    runs_.push_back(run);
  }
  bool dense = runs_.size() == 1 && runs_[0].stride == 1 && runs_[0].offset == 0 && bits_ == 8 * width_;
  int64_t stride = block_;
  parts_.resize(static_cast<size_t>(outer));
  for (int64_t d = outer; d-- > 0;) {
    std::vector<int64_t>& part = parts_[static_cast<size_t>(d)];
    for (int64_t i = 0; i < shape_->dim(d); ++i) {
      part.push_back(map_->offset_part(d, i));
      dense = dense && part.back() == i * stride;
    }
    stride *= shape_->dim(d);
  }
  dense_ = dense;
}

// Calls f(number of the block, its offset in slots).
template <class F>
void TiledBytes::for_each_block(F&& f) const {
  std::vector<size_t> index(parts_.size(), 0);
  std::vector<int64_t> base(parts_.size() + 1, 0);  // of the dimensions before
  size_t changed = 0;
  const int64_t blocks = shape_->element_count() / block_;
  for (int64_t number = 0; number < blocks; ++number) {
    for (size_t d = changed; d < parts_.size(); ++d) base[d + 1] = base[d] + parts_[d][index[d]];
    f(number, base.back());
    for (changed = parts_.size(); changed > 0;) {
      --changed;
      if (++index[changed] < parts_[changed].size()) break;
      index[changed] = 0;
    }
  }
}

// Calls f(number of the element, its slot), whatever the layout.
template <class F>
void TiledBytes::for_each_element(F&& f) const {
  std::vector<int64_t> index(shape_->dimensions.size(), 0);
  for (int64_t k = 0; k < shape_->element_count(); ++k) {
    f(k, map_->offset(index));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape_->dimensions[d]) break;
      index[d] = 0;
    }
  }
}

void TiledBytes::put(int64_t slot, const std::byte* element, std::byte* memory) const {
  if (bits_ % 8 == 0) {
    std::byte* to = memory + slot * (bits_ / 8);
    std::memcpy(to, element, static_cast<size_t>(width_));
    if (bits_ > 8 * width_) std::memset(to + width_, 0, static_cast<size_t>(bits_ / 8 - width_));
    return;
  }
  // At most two bytes, the low bits first.
  const int64_t at = slot * bits_;
  const auto mask = ((1u << bits_) - 1) << at % 8;
  const auto value = static_cast<unsigned>(*element) << at % 8 & mask;
  for (int byte = 0; byte < 2; ++byte) {
    const auto here = static_cast<std::byte>(mask >> 8 * byte);
    if (here == std::byte{0}) continue;
    std::byte& to = memory[at / 8 + byte];
    to = (to & ~here) | static_cast<std::byte>(value >> 8 * byte);
  }
}

void TiledBytes::get(int64_t slot, const std::byte* memory, std::byte* element) const {
  if (bits_ % 8 == 0) {
    std::memcpy(element, memory + slot * (bits_ / 8), static_cast<size_t>(width_));
    return;
  }
  const int64_t at = slot * bits_;
  auto value = static_cast<unsigned>(memory[at / 8]) >> at % 8;
  if (at % 8 + bits_ > 8) value |= static_cast<unsigned>(memory[at / 8 + 1]) << (8 - at % 8);
  value &= (1u << bits_) - 1;
  const int bits = bit_width(shape_->element_type);
  if (bits < 8) {
    value &= (1u << bits) - 1;
    if (is_signed_integer(shape_->element_type) && (value >> (bits - 1) & 1) != 0) value |= ~0u << bits;
  }
  *element = static_cast<std::byte>(value);
}

void TiledBytes::write(const std::byte* dense, std::byte* memory) const {
  if (dense_) {
    std::memcpy(memory, dense, static_cast<size_t>(shape_->element_count() * width_));
    return;
  }
  if (!in_runs_) {
    for_each_element([&](int64_t k, int64_t slot) { put(slot, dense + k * width_, memory); });
    return;
  }
  const bool is_plain = bits_ == 8 * width_;
  for_each_block([&](int64_t number, int64_t base) {
    const std::byte* from = dense + number * block_ * width_;
    for (const Run& run : runs_) {
      const std::byte* source = from + run.first * width_;
      if (!is_plain) {
        for (int64_t i = 0; i < run.count; ++i)
          put(base + run.offset + i * run.stride, source + i * width_, memory);
        continue;
      }
      std::byte* target = memory + (base + run.offset) * width_;
      if (run.stride == 1)
        std::memcpy(target, source, static_cast<size_t>(run.count * width_));
      else
        copy_spaced(width_, source, 1, target, run.stride, run.count);
    }
  });
}

void TiledBytes::read(const std::byte* memory, std::byte* dense) const {
  if (dense_) {
    std::memcpy(dense, memory, static_cast<size_t>(shape_->element_count() * width_));
    return;
  }
  if (!in_runs_) {
    for_each_element([&](int64_t k, int64_t slot) { get(slot, memory, dense + k * width_); });
    return;
  }
  const bool is_plain = bits_ == 8 * width_;
  for_each_block([&](int64_t number, int64_t base) {
    std::byte* to = dense + number * block_ * width_;
    for (const Run& run : runs_) {
      if (!is_plain) {
        for (int64_t i = 0; i < run.count; ++i)
          get(base + run.offset + i * run.stride, memory, to + (run.first + i) * width_);
        continue;
      }
      const std::byte* source = memory + (base + run.offset) * width_;
      std::byte* target = to + run.first * width_;
      if (run.stride == 1)
        std::memcpy(target, source, static_cast<size_t>(run.count * width_));
      else
        copy_spaced(width_, source, run.stride, target, 1, run.count);
    }
  });
}

}  // namespace hlosim
