#include "layout/window_runs.h"

#include <algorithm>
#include <numeric>

#include "base/rounding.h"
#include "layout/layout_map.h"
#include "layout/sizes.h"

namespace hlosim {
namespace {

constexpr int64_t kWordBits = 32;

/// Values that one digit of the layout takes on in a window of `size` of the dimension's `whole` elements;
/// all of its slots if that is all there are.
int64_t values_of(const LayoutMap::Digit& digit, int64_t size, int64_t whole) {
  const int64_t steps = ceil_div(size, digit.divisor);
  const bool all = size == whole || (digit.modulus != 0 && steps >= digit.modulus);
  return all ? digit.size : steps;
}

/// Collects runs from the fastest digit on.
class RunCounter {
 public:
  explicit RunCounter(double element_bytes) { result_ = {1, 1, element_bytes}; }

  void add(const LayoutMap::Digit& digit, int64_t values) {
    const double there = static_cast<double>(values);
    if (whole_) {
      result_.run_bytes *= there;
      whole_ = values == digit.size;
      return;
    }
    if (values <= 1) return;
    result_.runs *= there;
    (strided_ ? result_.rows : distance_) *= there;
    strided_ = true;
  }
  WindowRuns result() const { return result_; }

 private:
  WindowRuns result_;
  double distance_ = 1;  // runs in a row
  bool whole_ = true;    // all digits so far are taken wholly
  bool strided_ = false;
};

}  // namespace

WindowRuns window_runs(ShapeRef array, std::span<const int64_t> sizes) {
  if (std::ranges::any_of(sizes, [](int64_t size) { return size == 0; })) return {};
  const int64_t bits = element_storage_bits(array);
  const double element_bytes = static_cast<double>(bits) / 8;
  const auto map = LayoutMap::make(array);
  if (!map || !map->separable()) {
    double all = element_bytes;
    for (const int64_t size : sizes) all *= static_cast<double>(size);
    return {1, 1, all};
  }
  RunCounter runs(element_bytes);
  const std::span<const LayoutMap::Digit> digits = map->digits();
  for (size_t i = digits.size(); i-- > 0;) {
    const LayoutMap::Digit& digit = digits[i];
    const auto dimension = static_cast<size_t>(digit.source);
    const bool in_word = digit.stride * bits < kWordBits && digit.size * digit.stride * bits <= kWordBits;
    runs.add(digit, in_word ? digit.size : values_of(digit, sizes[dimension], array->dim(digit.source)));
  }
  return runs.result();
}

double tile_bytes(ShapeRef array) {
  if (!array->is_array() || !array->layout || array->layout->tiles.empty()) return 0;
  double elements = 1;
  for (const int64_t size : array->layout->tiles[0].dimensions)
    if (size != Tile::kCombine) elements *= static_cast<double>(size);
  return elements * static_cast<double>(element_storage_bits(array)) / 8;
}

double moved_tiles(ShapeRef from, ShapeRef to) {
  const double before = tile_bytes(from), after = tile_bytes(to);
  if (before == 0 && after == 0) return 0;
  const bool by_result = before == 0 || (after != 0 && after <= before);
  return static_cast<double>(array_size(by_result ? to : from).count()) / (by_result ? after : before);
}

int64_t bank_conflicts(ShapeRef from, ShapeRef to, int64_t lanes) {
  constexpr int64_t kBanks = 8;
  const int64_t row_bits = lanes * kWordBits;
  const int64_t bits = element_storage_bits(to);
  if (bits >= kWordBits || tile_bytes(to) * 8 != static_cast<double>(row_bits) ||
      tile_bytes(from) <= tile_bytes(to))
    return 1;
  if (from->rank() < 2) return 1;
  const auto map = LayoutMap::make(to);
  if (!map) return 1;
  const int64_t rows = from->layout->minor_to_major[1];
  for (const LayoutMap::Digit& digit : map->digits())
    if (digit.source == rows && digit.divisor == 1 && digit.stride * bits % row_bits == 0)
      return std::gcd(digit.stride * bits / row_bits, kBanks);
  return 1;
}

}  // namespace hlosim
