#include "algorithms/sort_keys.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/check.h"

namespace hlosim {
namespace {

constexpr int64_t kRadixFrom = 1024;  // elements; below comparisons are faster

// A key and where it comes from: as one number where both fit.
struct WideEntry {
  uint64_t key;
  uint64_t index;
  bool operator<(const WideEntry& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};

uint64_t key_of(uint64_t entry) { return entry >> 32; }
uint64_t key_of(const WideEntry& entry) { return entry.key; }
uint32_t index_of(uint64_t entry) { return static_cast<uint32_t>(entry); }
uint32_t index_of(const WideEntry& entry) { return static_cast<uint32_t>(entry.index); }
void set(uint64_t& entry, uint64_t key, int64_t index) { entry = key << 32 | static_cast<uint64_t>(index); }
void set(WideEntry& entry, uint64_t key, int64_t index) { entry = {key, static_cast<uint64_t>(index)}; }

template <class Bits, class Entry>
void make_entries_of(const KeyOrder& order, const std::byte* elements, int64_t n, Entry* entries) {
  const int bits = is_float(order.type) ? bit_width(order.type) : 8 * static_cast<int>(sizeof(Bits));
  const Bits mask = static_cast<Bits>(~Bits{0}) >> (8 * static_cast<int>(sizeof(Bits)) - bits);
  const auto sign = static_cast<Bits>(Bits{1} << (bits - 1));
  const bool is_signed = is_signed_integer(order.type);
  // f8e8m0fnu holds powers of two and has no sign.
  const bool floats = is_float(order.type) && order.type != ElementType::kF8E8M0FNU;
  // Without -0 its bits are the one NaN, which comes last.
  const bool without_minus_zero = order.type == ElementType::kF8E4M3FNUZ ||
                                  order.type == ElementType::kF8E5M2FNUZ ||
                                  order.type == ElementType::kF8E4M3B11FNUZ;
  const Bits flip = order.descending ? mask : Bits{0};
  for (int64_t i = 0; i < n; ++i) {
    Bits value;
    std::memcpy(&value, elements + i * static_cast<int64_t>(sizeof(Bits)), sizeof(Bits));
    value &= mask;
    if (without_minus_zero) {
      value = static_cast<Bits>(value == sign         ? mask
                                : (value & sign) != 0 ? ~value & mask
                                                      : (value | sign) - 1);
    } else if (floats) {
      if (!order.total && value == sign) value = 0;
      value = static_cast<Bits>((value & sign) != 0 ? ~value & mask : value | sign);
    } else if (is_signed) {
      value ^= sign;
    }
    set(entries[i], static_cast<Bits>(value ^ flip), i);
  }
}

template <class Entry>
void make_entries(const KeyOrder& order, const std::byte* elements, int64_t n, Entry* entries) {
  switch (byte_width(order.type)) {
    case 1:
      return make_entries_of<uint8_t>(order, elements, n, entries);
    case 2:
      return make_entries_of<uint16_t>(order, elements, n, entries);
    case 4:
      return make_entries_of<uint32_t>(order, elements, n, entries);
    default:
      return make_entries_of<uint64_t>(order, elements, n, entries);
  }
}

// Sorts by the keys' bytes, the lowest first, keeping the order of equals; `entries` or `room` has the
// result.
template <class Entry>
Entry* radix_sort(Entry* entries, Entry* room, int64_t n, int key_bytes) {
  std::array<std::array<uint32_t, 256>, 8> counts{};
  for (int64_t i = 0; i < n; ++i)
    for (int b = 0; b < key_bytes; ++b) ++counts[static_cast<size_t>(b)][key_of(entries[i]) >> (8 * b) & 255];
  for (int b = 0; b < key_bytes; ++b) {
    std::array<uint32_t, 256>& count = counts[static_cast<size_t>(b)];
    if (count[key_of(entries[0]) >> (8 * b) & 255] == n) continue;  // all the same
    uint32_t place = 0;
    for (uint32_t& c : count) {
      const uint32_t here = c;
      c = place;
      place += here;
    }
    for (int64_t i = 0; i < n; ++i) room[count[key_of(entries[i]) >> (8 * b) & 255]++] = entries[i];
    std::swap(entries, room);
  }
  return entries;
}

template <class Entry>
void order_entries(const KeyOrder& order, const std::byte* elements, int64_t n, int64_t k,
                   uint32_t* permutation) {
  const bool radix = k == n && n >= kRadixFrom;
  const auto storage = std::make_unique_for_overwrite<Entry[]>(static_cast<size_t>(radix ? 2 * n : n));
  Entry* entries = storage.get();
  make_entries(order, elements, n, entries);
  // Entries are all different: no sort has to be stable.
  if (radix)
    entries = radix_sort(entries, entries + n, n, static_cast<int>(byte_width(order.type)));
  else if (k == n)
    std::sort(entries, entries + n);
  else
    std::partial_sort(entries, entries + k, entries + n);
  for (int64_t i = 0; i < k; ++i) permutation[i] = index_of(entries[i]);
}

}  // namespace

bool has_key_order(ElementType type) { return is_integer(type) || is_pred(type) || is_float(type); }

void first_in_order(const KeyOrder& order, const std::byte* elements, int64_t n, int64_t k,
                    uint32_t* permutation) {
  HLOSIM_CHECK(n < int64_t{1} << 32 && has_key_order(order.type), "{} elements of type {}", n,
               to_text(order.type));
  if (byte_width(order.type) <= 4)
    order_entries<uint64_t>(order, elements, n, k, permutation);
  else
    order_entries<WideEntry>(order, elements, n, k, permutation);
}

void sorted_order(const KeyOrder& order, const std::byte* elements, int64_t n, uint32_t* permutation) {
  first_in_order(order, elements, n, n, permutation);
}

}  // namespace hlosim
