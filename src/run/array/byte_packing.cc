#include "array/byte_packing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace hlosim {
namespace {

/// Calls f(offset of the row in the array, its number) for each row (run of the last dimension) within
/// `sizes`.
template <class F>
void for_each_row(std::span<const int64_t> sizes, std::span<const int64_t> strides, F&& f) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const size_t outer = sizes.empty() ? 0 : sizes.size() - 1;
  std::vector<int64_t> index(outer, 0);
  for (;;) {
    int64_t offset = 0;
    for (size_t d = 0; d < outer; ++d) offset += index[d] * strides[d];
    f(offset, index);
    size_t d = outer;
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

template <size_t kWidth>
void copy_strided(std::byte* out, const std::byte* in, int64_t count, int64_t stride) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(out + static_cast<size_t>(i) * kWidth, in + static_cast<size_t>(i * stride) * kWidth, kWidth);
}

void copy_row(std::byte* out, const std::byte* in, int64_t count, int64_t stride, int64_t width) {
  switch (width) {
    case 1:
      return copy_strided<1>(out, in, count, stride);
    case 2:
      return copy_strided<2>(out, in, count, stride);
    case 4:
      return copy_strided<4>(out, in, count, stride);
    case 8:
      return copy_strided<8>(out, in, count, stride);
    case 16:
      return copy_strided<16>(out, in, count, stride);
    default:
      HLOSIM_CHECK(false, "element of {} bytes", width);
  }
}

}  // namespace

std::vector<int64_t> runtime_sizes(const Array& array) {
  if (array.sizes) return *array.sizes;
  return {array.shape->dimensions.begin(), array.shape->dimensions.end()};
}

void swap_bytes(std::byte* data, int64_t count, ElementType type) {
  const int64_t parts = is_complex(type) ? 2 : 1;
  const int64_t width = byte_width(type) / parts;
  if (width == 1) return;
  for (int64_t i = 0; i < count * parts; ++i) std::reverse(data + i * width, data + (i + 1) * width);
}

Result<void> normalise(std::byte* data, int64_t count, ElementType type) {
  auto* const bytes = reinterpret_cast<uint8_t*>(data);
  if (is_pred(type)) {
    for (int64_t i = 0; i < count; ++i) bytes[i] = bytes[i] != 0;
    return {};
  }
  const int bits = bit_width(type);
  if (bits >= 8) return {};
  const auto mask = static_cast<uint8_t>((1 << bits) - 1);
  const bool is_signed = is_signed_integer(type);
  for (int64_t i = 0; i < count; ++i) {
    const auto low = static_cast<uint8_t>(bytes[i] & mask);
    const bool negative = is_signed && (low >> (bits - 1)) != 0;
    const uint8_t extended = negative ? static_cast<uint8_t>(low | ~mask) : low;
    if (bytes[i] != extended && bytes[i] != low)
      return failure(fmt::format("element {} is {}, which is outside {}", i, bytes[i], to_text(type)));
    bytes[i] = extended;
  }
  return {};
}

void unpack(const std::byte* dense, bool fortran_order, Array& array) {
  const std::vector<int64_t> sizes = runtime_sizes(array);
  std::vector<int64_t> from = dense_strides(sizes);
  if (fortran_order)
    for (size_t d = 0, stride = 1; d < sizes.size(); stride *= static_cast<size_t>(sizes[d++]))
      from[d] = static_cast<int64_t>(stride);
  const int64_t width = byte_width(array.type());
  const int64_t row = sizes.empty() ? 1 : sizes.back();
  for_each_row(sizes, dense_strides(array.shape->dimensions),
               [&](int64_t offset, std::span<const int64_t> index) {
                 int64_t source = 0;
                 for (size_t d = 0; d < index.size(); ++d) source += index[d] * from[d];
                 copy_row(array.bytes() + offset * width, dense + source * width, row,
                          from.empty() ? 1 : from.back(), width);
               });
}

std::vector<std::byte> pack(const Array& array) {
  const std::vector<int64_t> sizes = runtime_sizes(array);
  const int64_t width = byte_width(array.type());
  const int64_t row = sizes.empty() ? 1 : sizes.back();
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  std::vector<std::byte> out(static_cast<size_t>(count * width));
  std::byte* at = out.data();
  for_each_row(sizes, dense_strides(array.shape->dimensions), [&](int64_t offset, std::span<const int64_t>) {
    std::memcpy(at, array.bytes() + offset * width, static_cast<size_t>(row * width));
    at += row * width;
  });
  return out;
}

}  // namespace hlosim
