#include "evaluate/random_evaluation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "algorithms/random_bits.h"
#include "array/convert_array.h"
#include "base/saturating.h"
#include "ops/infer.h"
#include "threads/parallel.h"

namespace hlosim {
namespace {

constexpr int64_t kWordGrain = 16 << 10;  // some 30 µs
constexpr int64_t kPiece = 1024;          // words made at a time

/// f(T()) with the unsigned type of `width` bytes, at most that of a word.
template <class F>
void with_word_type(int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(uint8_t());
    case 2:
      return f(uint16_t());
    default:
      return f(uint32_t());
  }
}

// ── rng-bit-generator ───────────────────────────────────────────

/// Bits of `count` elements of `width` bytes; 64-bit elements are two words each, the low one first.
void philox_bits(uint64_t key, std::array<uint64_t, 2> counter, int64_t count, int64_t width,
                 std::byte* out) {
  const int64_t words = width == 8 ? 2 * count : count;
  with_word_type(width, [&](auto word) {
    using T = decltype(word);
    T* elements = reinterpret_cast<T*>(out);
    parallel_for(words, kWordGrain, [&](int64_t begin, int64_t end) {
      uint32_t piece[kPiece];
      for (int64_t at = begin; at < end; at += kPiece) {
        const int64_t n = std::min(kPiece, end - at);
        philox_words(key, counter, at, n, piece);
        for (int64_t i = 0; i < n; ++i) elements[at + i] = static_cast<T>(piece[i]);
      }
    });
  });
}

// Where ThreeFry's two words of a counter go: neighbours along one dimension, which has `split` elements.
struct SplitShape {
  int64_t outer = 1, split = 1, inner = 1;
  int64_t half() const { return (split + 1) / 2; }
  int64_t counters() const { return outer * half() * inner; }
};

/// The split dimension is the first of even size, else the first of the largest.
SplitShape split_shape(std::span<const int64_t> dimensions) {
  SplitShape shape;
  if (dimensions.empty()) return shape;
  auto split = std::find_if(dimensions.begin(), dimensions.end(), [](int64_t size) { return size % 2 == 0; });
  if (split == dimensions.end()) split = std::max_element(dimensions.begin(), dimensions.end());
  shape.split = *split;
  for (auto d = dimensions.begin(); d != split; ++d) shape.outer = saturating_multiply(shape.outer, *d);
  for (auto d = split + 1; d != dimensions.end(); ++d) shape.inner = saturating_multiply(shape.inner, *d);
  return shape;
}

template <class T>
void threefry_words(uint64_t key, uint64_t counter, const SplitShape& shape, T* out) {
  parallel_for(shape.counters(), kWordGrain, [&](int64_t begin, int64_t end) {
    int64_t inner = begin % shape.inner, half = begin / shape.inner % shape.half();
    T* row = out + (begin / shape.inner / shape.half() * shape.split + 2 * half) * shape.inner;
    for (int64_t j = begin; j < end; ++j) {
      const uint64_t bits = threefry2x32(key, counter + static_cast<uint64_t>(j));
      const bool has_second = 2 * half + 1 < shape.split;
      row[inner] = static_cast<T>(bits);
      if (has_second) row[inner + shape.inner] = static_cast<T>(bits >> 32);
      if (++inner < shape.inner) continue;
      inner = 0;
      row += (has_second ? 2 : 1) * shape.inner;
      half = half + 1 < shape.half() ? half + 1 : 0;
    }
  });
}

void threefry_pairs(uint64_t key, uint64_t counter, int64_t count, std::byte* out) {
  parallel_for(count, kWordGrain, [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j) {
      const uint64_t bits = threefry2x32(key, counter + static_cast<uint64_t>(j));
      std::memcpy(out + 8 * j, &bits, 8);
    }
  });
}

Evaluation threefry_evaluation(int64_t state_words, ShapeRef bits, bool gives_state) {
  const int64_t width = byte_width(bits->element_type), count = bits->element_count();
  const SplitShape split = split_shape(bits->dimensions);
  return [=](Invocation& call) {
    const uint64_t key = call.in<uint64_t>(0)[0], counter = call.in<uint64_t>(0)[1];
    std::byte* out = call.make_result(gives_state ? 1 : 0).bytes();
    if (width == 8)
      threefry_pairs(key, counter, count, out);
    else
      with_word_type(width, [&](auto word) {
        threefry_words(key, counter, split, reinterpret_cast<decltype(word)*>(out));
      });
    if (!gives_state) return;
    uint64_t* state = call.out<uint64_t>(0);
    std::copy_n(call.in<uint64_t>(0), state_words, state);  // what is behind the counter stays
    state[1] = counter + static_cast<uint64_t>(width == 8 ? count : split.counters());
  };
}

Evaluation philox_evaluation(int64_t state_words, ShapeRef bits, bool gives_state) {
  const int64_t width = byte_width(bits->element_type), count = bits->element_count();
  const bool has_high_word = state_words >= 3;
  return [=](Invocation& call) {
    const uint64_t *old = call.in<uint64_t>(0), key = old[0];
    // Of a state of two words the key is also the counter's high half.
    const std::array<uint64_t, 2> counter = {old[1], has_high_word ? old[2] : key};
    philox_bits(key, counter, count, width, call.make_result(gives_state ? 1 : 0).bytes());
    if (!gives_state) return;
    const int64_t words = width == 8 ? 2 * count : count;
    const auto next = advanced(counter, static_cast<uint64_t>((words + 3) / 4));
    uint64_t* state = call.out<uint64_t>(0);
    std::copy_n(old, state_words, state);
    state[1] = next[0];
    if (has_high_word) state[2] = next[1];
  };
}

}  // namespace

Evaluation evaluate_rng_bit_generator(EvaluateContext& op) {
  const ShapeRef state = op.operand_shape(0);
  const bool gives_state = op.shape()->is_tuple();
  const ShapeRef bits = gives_state ? op.shape()->elements[1] : op.shape();
  if (!state->is_array() || !bits->is_array()) return op.unsupported();
  const int width = bit_width(bits->element_type);
  const bool has_bits = !is_complex(bits->element_type) && !is_pred(bits->element_type) && width >= 8;
  const bool three_fry = op.text(AttrKey::kAlgorithm) == "rng_three_fry";
  const bool has_state = state->element_type == ElementType::kU64 && state->rank() == 1 && state->dim(0) >= 2;
  if (!has_bits || !has_state) return op.unsupported();
  return (three_fry ? threefry_evaluation : philox_evaluation)(state->dim(0), bits, gives_state);
}

// ── rng ─────────────────────────────────────────────────────────

namespace {

// Any number will do, so long as it stays the same.
constexpr uint64_t kRngKey = 0x243F6A8885A308D3;

uint64_t word_pair(const std::array<uint32_t, 4>& words, int64_t pair) {
  return words[static_cast<size_t>(2 * pair)] | uint64_t{words[static_cast<size_t>(2 * pair) + 1]} << 32;
}
double unit_interval(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// Element i from the first or second pair of words of block i / 2.
template <class T, class F>
void fill_from_pairs(std::array<uint64_t, 2> counter, int64_t count, T* out, F&& element) {
  parallel_for(count, kWordGrain / 2, [&](int64_t begin, int64_t end) {
    std::array<uint32_t, 4> words{};
    for (int64_t i = begin; i < end; ++i) {
      if (i % 2 == 0 || i == begin) {
        const auto at = advanced(counter, static_cast<uint64_t>(i / 2));
        words = philox4x32(kRngKey, at[0], at[1]);
      }
      out[i] = element(words, i % 2);
    }
  });
}

double normal(const std::array<uint32_t, 4>& words, int64_t which) {
  const double radius = std::sqrt(-2 * std::log(1 - unit_interval(word_pair(words, 0))));
  const double angle = 2 * std::numbers::pi * unit_interval(word_pair(words, 1));
  return radius * (which == 0 ? std::cos(angle) : std::sin(angle));
}

/// Floats in T, to be rounded to the element type.
template <class T>
void fill_floats(std::array<uint64_t, 2> counter, bool is_normal, T a, T b, int64_t count, T* out) {
  if (is_normal)
    return fill_from_pairs(counter, count, out, [=](const auto& words, int64_t which) {
      return static_cast<T>(static_cast<double>(a) + static_cast<double>(b) * normal(words, which));
    });
  fill_from_pairs(counter, count, out, [=](const auto& words, int64_t which) {
    const uint64_t bits = word_pair(words, which);
    const T unit =
        sizeof(T) == 8 ? static_cast<T>(unit_interval(bits)) : static_cast<T>(bits >> 40) * T(0x1p-24);
    return unit * (b - a) + a;
  });
}

Evaluation float_rng(EvaluateContext& op, bool is_normal) {
  const ElementType type = op.shape()->element_type, given = op.operand_shape(0)->element_type;
  const ElementType inner = type == ElementType::kF64 ? type : ElementType::kF32;
  if (!can_convert(given, inner) || !can_convert(inner, type)) return op.unsupported();
  const int64_t count = op.shape()->element_count();
  return [=](Invocation& call) {
    MemoryPool& pool = call.device().pool();
    const Buffer a = converted(pool, call.operand(0).data, given, inner, 1);
    const Buffer b = converted(pool, call.operand(1).data, given, inner, 1);
    Buffer out = pool.allocate(count * byte_width(inner));
    auto& state = call.device().rng_state;
    const auto fill = [&](auto* elements) {
      using T = std::remove_pointer_t<decltype(elements)>;
      fill_floats(state, is_normal, *reinterpret_cast<const T*>(a.data()),
                  *reinterpret_cast<const T*>(b.data()), count, elements);
    };
    inner == ElementType::kF64 ? fill(reinterpret_cast<double*>(out.data()))
                               : fill(reinterpret_cast<float*>(out.data()));
    state = advanced(state, static_cast<uint64_t>((count + 1) / 2));
    call.result().data = converted(pool, std::move(out), inner, type, count);
  };
}

template <class T>
Evaluation integer_rng(int64_t count, bool is_coin) {
  return [=](Invocation& call) {
    const int64_t a = integer_at(call.operand(0), 0), b = integer_at(call.operand(1), 0);
    const bool is_empty =
        std::is_same_v<T, uint64_t> ? static_cast<uint64_t>(b) <= static_cast<uint64_t>(a) : b <= a;
    const uint64_t range = is_coin ? 2 : is_empty ? 1 : static_cast<uint64_t>(b) - static_cast<uint64_t>(a);
    const uint64_t first = is_coin ? 0 : static_cast<uint64_t>(a);
    auto& state = call.device().rng_state;
    fill_from_pairs(state, count, call.out<T>(), [=](const auto& words, int64_t which) {
      return static_cast<T>(first + word_pair(words, which) % range);
    });
    state = advanced(state, static_cast<uint64_t>((count + 1) / 2));
  };
}

}  // namespace

Evaluation evaluate_rng(EvaluateContext& op) {
  const ElementType type = op.shape()->element_type;
  const int64_t count = op.shape()->element_count();
  if (is_float(type)) return float_rng(op, op.text(AttrKey::kDistribution) == "rng_normal");
  if (is_complex(type)) return op.unsupported();
  const bool is_coin = is_pred(type);
  const bool is_signed = is_signed_integer(type);
  switch (byte_width(type)) {
    case 1:
      return is_signed ? integer_rng<int8_t>(count, false) : integer_rng<uint8_t>(count, is_coin);
    case 2:
      return is_signed ? integer_rng<int16_t>(count, false) : integer_rng<uint16_t>(count, false);
    case 4:
      return is_signed ? integer_rng<int32_t>(count, false) : integer_rng<uint32_t>(count, false);
    default:
      return is_signed ? integer_rng<int64_t>(count, false) : integer_rng<uint64_t>(count, false);
  }
}

// ── the device's own ────────────────────────────────────────────

Evaluation evaluate_rng_state(EvaluateContext& op) {
  const auto delta = static_cast<uint64_t>(op.integer(AttrKey::kDelta));
  return [delta](Invocation& call) {
    auto& state = call.device().rng_state;
    std::copy_n(state.begin(), 2, call.out<uint64_t>());
    state = advanced(state, delta);
  };
}

Evaluation evaluate_partition_id(EvaluateContext&) {
  return [](Invocation& call) { *call.out<uint32_t>() = static_cast<uint32_t>(call.device().partition_id); };
}
Evaluation evaluate_replica_id(EvaluateContext&) {
  return [](Invocation& call) { *call.out<uint32_t>() = static_cast<uint32_t>(call.device().replica_id); };
}

}  // namespace hlosim
