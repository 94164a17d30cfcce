// rng-bit-generator by the published definitions of Threefry2x32 and Philox4x32.
#include <array>

#include "oracle/elementwise.h"
#include "oracle/evaluator.h"

namespace hlosim::test {
namespace {

uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }
uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {low(key), high(key), low(key) ^ high(key) ^ 0x1BD11BDA};
  uint32_t x0 = low(counter) + keys[0], x1 = high(counter) + keys[1];
  for (uint32_t block = 0; block < 5; ++block) {
    for (const int rotation : kRotations[block % 2]) {
      x0 += x1;
      x1 = rotated(x1, rotation) ^ x0;
    }
    x0 += keys[(block + 1) % 3];
    x1 += keys[(block + 2) % 3] + block + 1;
  }
  return {x0, x1};
}

std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_low, uint64_t counter_high) {
  std::array<uint32_t, 4> x = {low(counter_low), high(counter_low), low(counter_high), high(counter_high)};
  uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x[0], p1 = uint64_t{0xCD9E8D57} * x[2];
    x = {high(p1) ^ x[1] ^ k0, low(p1), high(p0) ^ x[3] ^ k1, low(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return x;
}

void fill_threefry(Value& bits, uint64_t key, uint64_t& counter) {
  const ElementType type = bits.type();
  if (bit_width(type) == 64) {
    for (Element& element : bits.data) {
      const auto words = threefry(key, counter++);
      element = integer_element(type, words[0] | uint64_t{words[1]} << 32);
    }
    return;
  }
  if (bits.rank() == 0) {
    bits.data[0] = integer_element(type, threefry(key, counter++)[0]);
    return;
  }
  // Neighbours along the first even dimension, else the largest, share a block.
  const auto dimensions = bits.shape->dimensions;
  size_t split = 0;
  while (split < dimensions.size() && dimensions[split] % 2 != 0) ++split;
  if (split == dimensions.size()) {
    split = 0;
    for (size_t d = 1; d < dimensions.size(); ++d)
      if (dimensions[d] > dimensions[split]) split = d;
  }
  Index half(dimensions.begin(), dimensions.end());
  half[split] = (half[split] + 1) / 2;
  for_each_index(half, [&](const Index& index) {
    const auto words = threefry(key, counter++);
    Index place = index;
    for (int64_t k = 0; k < 2; ++k) {
      place[split] = 2 * index[split] + k;
      if (place[split] < dimensions[split])
        bits.at(place) = integer_element(type, words[static_cast<size_t>(k)]);
    }
  });
}

void fill_philox(Value& bits, uint64_t key, uint64_t& counter_low, uint64_t& counter_high) {
  const ElementType type = bits.type();
  const size_t words_each = bit_width(type) == 64 ? 2 : 1, in_block = 4 / words_each;
  for (size_t begin = 0; begin < bits.data.size(); begin += in_block) {
    const auto words = philox(key, counter_low, counter_high);
    for (size_t k = 0; k < in_block && begin + k < bits.data.size(); ++k) {
      const uint64_t value = words_each == 1 ? words[k] : words[2 * k] | uint64_t{words[2 * k + 1]} << 32;
      bits.data[begin + k] = integer_element(type, value);
    }
    if (++counter_low == 0) ++counter_high;
  }
}

}  // namespace

ValuePtr evaluate_rng_bit_generator(Operation& op) {
  const std::string_view algorithm = op.text(AttrKey::kAlgorithm);
  const Value& old_state = op.operand(0);
  if (!op.shape()->is_tuple()) return op.fail("a result without a state is not supported");
  if (algorithm == "rng_default" || old_state.any_unknown()) return unknown_value(op.shape());
  auto state = std::make_shared<Value>(old_state);
  auto bits = zero_value(op.shape()->elements[1]);
  const bool words_of_64 = bit_width(old_state.type()) == 64;
  if (!words_of_64 || is_float(bits->type()))
    return op.fail("a state or bits of this type are not supported");
  if (state->data.size() < 2) return op.fail("the state has no counter");
  const uint64_t key = state->data[0].bits;
  if (algorithm == "rng_three_fry") {
    fill_threefry(*bits, key, state->data[1].bits);
  } else {
    uint64_t upper = state->data.size() >= 3 ? state->data[2].bits : key;
    fill_philox(*bits, key, state->data[1].bits, upper);
    if (state->data.size() >= 3) state->data[2].bits = upper;
  }
  auto tuple = zero_value(op.shape());
  tuple->elements = {state, bits};
  return tuple;
}

}  // namespace hlosim::test
