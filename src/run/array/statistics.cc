#include "array/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "array/byte_packing.h"
#include "array/element_values.h"
#include "base/intrinsics.h"

namespace hlosim {
namespace {

constexpr int64_t kBlock = 1024;

/// Adds up numbers of any magnitude; what rounding loses is added at the end (Neumaier).
class Sum {
 public:
  void add(double value) {
    const double next = total_ + value;
    lost_ += std::fabs(total_) >= std::fabs(value) ? (total_ - next) + value : (value - next) + total_;
    total_ = next;
  }
  double value() const { return std::isfinite(lost_) ? total_ + lost_ : total_; }

 private:
  double total_ = 0, lost_ = 0;
};

/// Numbers `begin` … of the array's type; integers as doubles.
void decode(ElementType type, const std::byte* data, int64_t begin, int64_t count, double* out) {
  if (!is_integer(type) && !is_pred(type)) return decode_floats(type, data, begin, count, out);
  int64_t values[kBlock];
  decode_integers(type, data, begin, count, values);
  for (int64_t i = 0; i < count; ++i)
    out[i] = type == ElementType::kU64 ? static_cast<double>(static_cast<uint64_t>(values[i]))
                                       : static_cast<double>(values[i]);
}

}  // namespace

uint32_t crc32c(const std::byte* data, int64_t count) {
  uint64_t crc = 0xffffffff;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data + i, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto last = static_cast<uint32_t>(crc);
  for (; i < count; ++i) last = _mm_crc32_u8(last, static_cast<uint8_t>(data[i]));
  return ~last;
}

Statistics statistics(const Array& array) {
  const ElementType type = array.type();
  const std::vector<std::byte> packed = array.sizes ? pack(array) : std::vector<std::byte>();
  const std::byte* const data = array.sizes ? packed.data() : array.bytes();
  int64_t elements = 1;
  for (const int64_t size : runtime_sizes(array)) elements *= size;
  const int64_t parts = is_complex(type) ? 2 : 1;
  Statistics result;
  result.count = elements * parts;
  result.checksum = crc32c(data, elements * byte_width(type));
  double min = std::numeric_limits<double>::infinity(), max = -min;
  Sum sum;
  double values[2 * kBlock];
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    const int64_t count = std::min(kBlock, elements - begin);
    decode(type, data, begin, count, values);
    for (int64_t i = 0; i < count * parts; ++i) {
      if (!std::isfinite(values[i])) {
        ++(std::isnan(values[i]) ? result.nans : result.infinities);
        continue;
      }
      min = std::min(min, values[i]);
      max = std::max(max, values[i]);
      sum.add(values[i]);
    }
  }
  const int64_t finite = result.count - result.nans - result.infinities;
  if (finite == 0) return result;
  result.min = min;
  result.max = max;
  result.mean = sum.value() / static_cast<double>(finite);
  return result;
}

}  // namespace hlosim
