// Conversions between element types.
#include "cpu_kernels/element/element_loops.h"
#include "cpu_kernels/float_formats.h"

namespace hlosim::HLOSIM_ISA {
namespace {

// ── floats to integers ──────────────────────────────────────────

template <class T>
constexpr bool kSigned = T(-1) < T(0);
template <class T>
constexpr int kBits = 8 * sizeof(T);
template <class T>
constexpr T kMost = kSigned<T> ? static_cast<T>((uint64_t{1} << (kBits<T> - 1)) - 1) : static_cast<T>(-1);
template <class T>
constexpr T kLeast = static_cast<T>(kSigned<T> ? -kMost<T> - 1 : 0);

/// Truncated toward zero, the nearest value of T where that is out of range; of NaN 0.
template <class T>
struct Saturate {
  template <class F>
  static T of(F x) {
    const F number = x == x ? x : F{0};
    if constexpr (kBits<T> < 32) {
      // Any result is an int, and the bounds are floats.
      const F low = number < F(kLeast<T>) ? F(kLeast<T>) : number;
      return static_cast<T>(static_cast<int32_t>(low > F(kMost<T>) ? F(kMost<T>) : low));
    } else if constexpr (kBits<T> == 32) {
      // f64 has all integers; added to 1.5 · 2^52 they stand in the low bits.
      const double wide = number;
      const double low = wide < double{kLeast<T>} ? double{kLeast<T>} : wide;
      const double whole = __builtin_trunc(low > double{kMost<T>} ? double{kMost<T>} : low);
      return static_cast<T>(__builtin_bit_cast(uint64_t, whole + 0x1.8p52));
    } else {
      constexpr F kEnd = kSigned<T> ? F(0x1p63) : F(0x1p64);  // one more than the largest
      if (number >= kEnd) return kMost<T>;
      if (number <= (kSigned<T> ? F(-0x1p63) : F(0))) return kLeast<T>;
      return static_cast<T>(number);
    }
  }
};

template <class To>
struct Cast {
  template <class From>
  static To of(From x) {
    return static_cast<To>(x);
  }
};
struct NotZero {
  template <class T>
  static bool of(T x) {
    return x != T{0};
  }
};

// ── small floats ────────────────────────────────────────────────

template <const FloatFormat& F, class Code>
void decode_all(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<float>*>(out);
  const auto* const a = operand<Code>(in[0]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) o[i] = decode<F>(a[i]);
}
template <const FloatFormat& F, class Code>
void encode_all(void* out, const void* const in[], uint64_t, int64_t n) {
  auto* const o = static_cast<Stored<Code>*>(out);
  const auto* const a = operand<float>(in[0]);
  HLOSIM_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) o[i] = static_cast<Code>(encode<F>(a[i]));
}

/// The f32 on the side of zero, with its last bit set if anything is lost: it lies on the same side of all
/// values of a small format, and of the middles between them, as x.
void round_to_odd(float* out, const Stored<double>* in, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double x = in[i];
    const float nearest = static_cast<float>(x);
    const double back = nearest;
    uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
    bits -= __builtin_fabs(back) > __builtin_fabs(x) ? 1 : 0;
    bits |= back < x || back > x ? 1 : 0;
    out[i] = __builtin_bit_cast(float, bits);
  }
}

// ── tables ──────────────────────────────────────────────────────

template <class F>
constexpr void add_integers_to(ConversionTable& t) {
  t[ElementType::kPred] = t[ElementType::kU8] = unary<Cast<F>, uint8_t, F>;
  t[ElementType::kU1] = t[ElementType::kU2] = t[ElementType::kU4] = t[ElementType::kU8];
  t[ElementType::kS8] = unary<Cast<F>, int8_t, F>;
  t[ElementType::kS1] = t[ElementType::kS2] = t[ElementType::kS4] = t[ElementType::kS8];
  t[ElementType::kS16] = unary<Cast<F>, int16_t, F>;
  t[ElementType::kS32] = unary<Cast<F>, int32_t, F>;
  t[ElementType::kS64] = unary<Cast<F>, int64_t, F>;
  t[ElementType::kU16] = unary<Cast<F>, uint16_t, F>;
  t[ElementType::kU32] = unary<Cast<F>, uint32_t, F>;
  t[ElementType::kU64] = unary<Cast<F>, uint64_t, F>;
}
template <class F>
constexpr void add_integers_from(ConversionTable& t) {
  t[ElementType::kPred] = unary<NotZero, F, uint8_t>;
  t[ElementType::kS8] = unary<Saturate<int8_t>, F, int8_t>;
  t[ElementType::kS1] = t[ElementType::kS2] = t[ElementType::kS4] = t[ElementType::kS8];
  t[ElementType::kU8] = unary<Saturate<uint8_t>, F, uint8_t>;
  t[ElementType::kU1] = t[ElementType::kU2] = t[ElementType::kU4] = t[ElementType::kU8];
  t[ElementType::kS16] = unary<Saturate<int16_t>, F, int16_t>;
  t[ElementType::kS32] = unary<Saturate<int32_t>, F, int32_t>;
  t[ElementType::kS64] = unary<Saturate<int64_t>, F, int64_t>;
  t[ElementType::kU16] = unary<Saturate<uint16_t>, F, uint16_t>;
  t[ElementType::kU32] = unary<Saturate<uint32_t>, F, uint32_t>;
  t[ElementType::kU64] = unary<Saturate<uint64_t>, F, uint64_t>;
}

template <const FloatFormat& F, class Code>
constexpr void add_format(ConversionTable& t, ElementType type, bool decodes) {
  t[type] = decodes ? decode_all<F, Code> : encode_all<F, Code>;
}
constexpr void add_formats(ConversionTable& t, bool decodes) {
  add_format<kBf16, uint16_t>(t, ElementType::kBF16, decodes);
  add_format<kF16, uint16_t>(t, ElementType::kF16, decodes);
  add_format<kF8E5M2, uint8_t>(t, ElementType::kF8E5M2, decodes);
  add_format<kF8E4M3, uint8_t>(t, ElementType::kF8E4M3, decodes);
  add_format<kF8E3M4, uint8_t>(t, ElementType::kF8E3M4, decodes);
  add_format<kF8E4M3Fn, uint8_t>(t, ElementType::kF8E4M3FN, decodes);
  add_format<kF8E4M3Fnuz, uint8_t>(t, ElementType::kF8E4M3FNUZ, decodes);
  add_format<kF8E4M3B11Fnuz, uint8_t>(t, ElementType::kF8E4M3B11FNUZ, decodes);
  add_format<kF8E5M2Fnuz, uint8_t>(t, ElementType::kF8E5M2FNUZ, decodes);
  add_format<kF8E8M0, uint8_t>(t, ElementType::kF8E8M0FNU, decodes);
  add_format<kF6E2M3, uint8_t>(t, ElementType::kF6E2M3FN, decodes);
  add_format<kF6E3M2, uint8_t>(t, ElementType::kF6E3M2FN, decodes);
  add_format<kF4E2M1, uint8_t>(t, ElementType::kF4E2M1FN, decodes);
}

constexpr ConversionTable to_f32() {
  ConversionTable t;
  add_integers_to<float>(t);
  add_formats(t, true);
  t[ElementType::kF64] = unary<Cast<float>, double, float>;
  return t;
}
constexpr ConversionTable from_f32() {
  ConversionTable t;
  add_integers_from<float>(t);
  add_formats(t, false);
  t[ElementType::kF64] = unary<Cast<double>, float, double>;
  return t;
}
constexpr ConversionTable to_f64() {
  ConversionTable t;
  add_integers_to<double>(t);
  t[ElementType::kF32] = unary<Cast<double>, float, double>;
  return t;
}
constexpr ConversionTable from_f64() {
  ConversionTable t;
  add_integers_from<double>(t);
  t[ElementType::kF32] = unary<Cast<float>, double, float>;
  return t;
}

constexpr ResizeTable resize() {
  return {
      .extend_sign = {{nullptr, unary<Cast<int16_t>, int8_t, int16_t>, unary<Cast<int32_t>, int8_t, int32_t>,
                       unary<Cast<int64_t>, int8_t, int64_t>},
                      {unary<Cast<int8_t>, int16_t, int8_t>, nullptr, unary<Cast<int32_t>, int16_t, int32_t>,
                       unary<Cast<int64_t>, int16_t, int64_t>},
                      {unary<Cast<int8_t>, int32_t, int8_t>, unary<Cast<int16_t>, int32_t, int16_t>, nullptr,
                       unary<Cast<int64_t>, int32_t, int64_t>},
                      {unary<Cast<int8_t>, int64_t, int8_t>, unary<Cast<int16_t>, int64_t, int16_t>,
                       unary<Cast<int32_t>, int64_t, int32_t>, nullptr}},
      .extend_zero = {{nullptr, unary<Cast<uint16_t>, uint8_t, uint16_t>,
                       unary<Cast<uint32_t>, uint8_t, uint32_t>, unary<Cast<uint64_t>, uint8_t, uint64_t>},
                      {unary<Cast<uint8_t>, uint16_t, uint8_t>, nullptr,
                       unary<Cast<uint32_t>, uint16_t, uint32_t>, unary<Cast<uint64_t>, uint16_t, uint64_t>},
                      {unary<Cast<uint8_t>, uint32_t, uint8_t>, unary<Cast<uint16_t>, uint32_t, uint16_t>,
                       nullptr, unary<Cast<uint64_t>, uint32_t, uint64_t>},
                      {unary<Cast<uint8_t>, uint64_t, uint8_t>, unary<Cast<uint16_t>, uint64_t, uint16_t>,
                       unary<Cast<uint32_t>, uint64_t, uint32_t>, nullptr}},
      .to_pred = {unary<NotZero, uint8_t, uint8_t>, unary<NotZero, uint16_t, uint8_t>,
                  unary<NotZero, uint32_t, uint8_t>, unary<NotZero, uint64_t, uint8_t>}};
}

// ── by way of f32 ───────────────────────────────────────────────

constexpr int64_t kChunk = 256;

}  // namespace

constexpr ConversionTable kToF32 = to_f32();
constexpr ConversionTable kFromF32 = from_f32();
constexpr ConversionTable kToF64 = to_f64();
constexpr ConversionTable kFromF64 = from_f64();
constexpr ResizeTable kResize = resize();

namespace {

/// Bytes of an element that isn't complex.
int64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::kS16:
    case ElementType::kU16:
    case ElementType::kF16:
    case ElementType::kBF16:
      return 2;
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kF32:
      return 4;
    case ElementType::kS64:
    case ElementType::kU64:
    case ElementType::kF64:
      return 8;
    default:
      return 1;
  }
}

void convert_by_f32(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const auto from = static_cast<ElementType>(immediate & 255), to = static_cast<ElementType>(immediate >> 8);
  const ElementFn load = kToF32[from], store = kFromF32[to];
  const int64_t from_bytes = bytes_of(from), to_bytes = bytes_of(to);
  alignas(64) float chunk[kChunk];
  const void* const chunks[] = {chunk};
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = n - i < kChunk ? n - i : kChunk;
    const void* const source[] = {static_cast<const char*>(in[0]) + i * from_bytes};
    load(chunk, source, 0, count);
    store(static_cast<char*>(out) + i * to_bytes, chunks, 0, count);
  }
}

void convert_from_f64_by_odd_f32(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const auto to = static_cast<ElementType>(immediate >> 8);
  const ElementFn store = kFromF32[to];
  const int64_t to_bytes = bytes_of(to);
  alignas(64) float chunk[kChunk];
  const void* const chunks[] = {chunk};
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = n - i < kChunk ? n - i : kChunk;
    round_to_odd(chunk, operand<double>(in[0]) + i, count);
    store(static_cast<char*>(out) + i * to_bytes, chunks, 0, count);
  }
}

void via_f32(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  const auto type = static_cast<ElementType>(immediate & 255);
  const auto op = static_cast<ElementOp>(immediate >> 8 & 255);
  const ElementFn load = kToF32[type], store = kFromF32[type];
  const ElementFn compute = kF32Elements[op] != nullptr ? kF32Elements[op] : kF32Functions[op];
  const int64_t bytes = bytes_of(type);
  const int operands = operand_count(op);
  const bool to_pred =
      op == ElementOp::kIsFinite || (op >= ElementOp::kEqual && op <= ElementOp::kTotalGreaterEqual);
  alignas(64) float chunk[3][kChunk];
  const void* const chunks[] = {chunk[0], chunk[1], chunk[2]};
  for (int64_t i = 0; i < n; i += kChunk) {
    const int64_t count = n - i < kChunk ? n - i : kChunk;
    for (int j = 0; j < operands; ++j) {
      const void* const source[] = {static_cast<const char*>(in[j]) + i * bytes};
      load(chunk[j], source, 0, count);
    }
    compute(to_pred ? static_cast<void*>(static_cast<char*>(out) + i) : chunk[0], chunks, immediate >> 16,
            count);
    if (!to_pred) store(static_cast<char*>(out) + i * bytes, chunks, 0, count);
  }
}

}  // namespace

constexpr CompositeTable kComposites = {via_f32, convert_by_f32, convert_from_f64_by_odd_f32};

}  // namespace hlosim::HLOSIM_ISA
