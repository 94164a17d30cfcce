#include "array/strided_view.h"

#include <cstring>

#include "array/array.h"
#include "base/check.h"

namespace hlosim {

int64_t StridedView::count() const {
  int64_t count = 1;
  for (const int64_t n : dimensions) count *= n;
  return count;
}

bool StridedView::is_dense() const {
  int64_t expected = 1;
  for (size_t i = dimensions.size(); i-- > 0;) {
    if (dimensions[i] != 1 && strides[i] != expected) return count() == 0;
    expected *= dimensions[i];
  }
  return true;
}

StridedView dense_view(std::span<const int64_t> dimensions) {
  return {0, {dimensions.begin(), dimensions.end()}, dense_strides(dimensions)};
}

StridedView collapsed(const StridedView& view) {
  StridedView result{view.offset, {}, {}};
  for (size_t i = 0; i < view.dimensions.size(); ++i) {
    const int64_t size = view.dimensions[i], stride = view.strides[i];
    if (size == 1) continue;
    if (!result.dimensions.empty() && result.strides.back() == stride * size) {
      result.dimensions.back() *= size;
      result.strides.back() = stride;
    } else {
      result.dimensions.push_back(size);
      result.strides.push_back(stride);
    }
  }
  return result;
}

std::optional<StridedView> reshaped(const StridedView& view, std::span<const int64_t> dimensions) {
  StridedView result{view.offset, {dimensions.begin(), dimensions.end()}, {}};
  result.strides.assign(dimensions.size(), 0);
  if (view.count() == 0) return result;
  // Walk both lists from the minor end; a run of the view's dimensions that steps evenly takes
  // as many of the new dimensions as multiply to its size.
  const StridedView runs = collapsed(view);
  size_t to = dimensions.size();
  for (size_t from = runs.dimensions.size(); from-- > 0;) {
    int64_t left = runs.dimensions[from], stride = runs.strides[from];
    while (left > 1) {
      if (to == 0) return std::nullopt;
      const int64_t size = dimensions[--to];
      if (left % size != 0) return std::nullopt;
      result.strides[to] = stride;
      stride *= size;
      left /= size;
    }
  }
  return result;
}

namespace {

template <class T>
void copy_row(const T* source, int64_t stride, T* destination, int64_t count) {
  if (stride == 1) {
    std::memcpy(destination, source, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) destination[i] = source[i * stride];
  }
}

struct Wide {
  uint64_t words[2];
};

template <class T>
void copy_dimension(const StridedView& view, size_t dimension, const T* source, T*& destination) {
  if (view.dimensions.empty()) {
    *destination++ = *source;
    return;
  }
  const int64_t size = view.dimensions[dimension], stride = view.strides[dimension];
  if (dimension + 1 == view.dimensions.size()) {
    copy_row(source, stride, destination, size);
    destination += size;
    return;
  }
  for (int64_t i = 0; i < size; ++i) copy_dimension(view, dimension + 1, source + i * stride, destination);
}

template <class T>
void copy_as(const StridedView& view, const std::byte* source, std::byte* destination) {
  T* out = reinterpret_cast<T*>(destination);
  copy_dimension(view, 0, reinterpret_cast<const T*>(source) + view.offset, out);
}

}  // namespace

void copy_strided(const StridedView& view, int64_t width, const std::byte* source, std::byte* destination) {
  if (view.count() == 0) return;
  const StridedView simple = collapsed(view);
  switch (width) {
    case 1: return copy_as<uint8_t>(simple, source, destination);
    case 2: return copy_as<uint16_t>(simple, source, destination);
    case 4: return copy_as<uint32_t>(simple, source, destination);
    case 8: return copy_as<uint64_t>(simple, source, destination);
    case 16: return copy_as<Wide>(simple, source, destination);
  }
  HLOSIM_CHECK(false, "elements of {} bytes", width);
}

}  // namespace hlosim
