// Functions of f32. Everything is free of branches, so that the compiler makes vector code of it, and rounds
// every product and sum, so that all levels give the same bits.
//
// exp, log, tanh, logistic and erf compute in f32 (errors up to 2.7 units in the last place). The others
// compute in f64 with errors below 2^-33, so their results are the correctly rounded ones but for near ties.
//
// The coefficients are minimax fits; the error that stands beside each is the one before rounding.
#include <cmath>

#include "cpu_kernels/element/element_exp.h"
#include "cpu_kernels/element/element_groups.h"

namespace hlosim::HLOSIM_ISA {
namespace {

constexpr float kInf = __builtin_inff();
constexpr double kInfD = __builtin_inf();
constexpr float kNan = __builtin_nanf("");

uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
double as_double(uint64_t bits) { return __builtin_bit_cast(double, bits); }

float magnitude(float x) { return as_float(bits_of(x) & 0x7fffffffu); }
float with_sign(float magnitude, float sign) {
  return as_float((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

// ── in f32 ──────────────────────────────────────────────────────

void exponentials(void* out, const void* const in[], uint64_t immediate, int64_t n) {
  constexpr int kFew = kVectorBytes / 4, kMany = kExpVectors * kFew;
  auto* o = static_cast<float*>(out);
  const auto* a = static_cast<const float*>(in[0]);
  for (; n >= kMany; n -= kMany, o += kMany, a += kMany) {
    FloatVector values[kExpVectors];
    HLOSIM_UNROLL
    for (int v = 0; v < kExpVectors; ++v) values[v] = load<FloatVector>(a + v * kFew);
    if (all_within(values, 87.0f)) {
      HLOSIM_UNROLL
      for (int v = 0; v < kExpVectors; ++v) store(o + v * kFew, exp_within(values[v]));
    } else {
      const void* const these[] = {a};
      function1<Exp>(o, these, immediate, kMany);
    }
  }
  const void* const rest[] = {a};
  function1<Exp>(o, rest, immediate, n);
}

struct Logistic {
  static float of(float x) {
    const float e = Exp::of(-magnitude(x));  // of NaN: NaN
    const float numerator = x < 0.0f ? e : 1.0f;
    return numerator / (1.0f + e);
  }
};

struct ReducedFloat {
  float rest;          // e^r - 1, r within ln2/2 of 0
  float power_of_two;  // e^t = (1 + rest) · power_of_two
};
/// For |t| up to 87.
[[gnu::always_inline]] inline ReducedFloat reduce_within(float t) {
  const float rounded = t * 0x1.715476p0f + kRound;
  const float k = rounded - kRound;
  const float r = (t - k * kLn2High) - k * kLn2Low;
  return {r + r * r * polynomial(r, kExpRest), as_float((bits_of(rounded) + 127u) << 23)};
}
/// exp(t) for |t| up to 87.
[[gnu::always_inline]] inline float exp_within(float t) {
  const ReducedFloat e = reduce_within(t);
  return (1.0f + e.rest) * e.power_of_two;
}

/// (e^2x - 1) / (e^2x + 1), where e^2x - 1 is accurate near 0 too.
struct Tanh {
  static float of(float x) {
    const float a = magnitude(x);
    const ReducedFloat e = reduce_within(a < 10.0f ? a + a : 20.0f);
    const float numerator = e.power_of_two * e.rest + (e.power_of_two - 1.0f);
    return x != x ? x : with_sign(numerator / (numerator + 2.0f), x);
  }
};

struct Erf {
  static float of(float x) {
    const float a = magnitude(x);
    constexpr float kSmall[] = {1.128379166f,    -0.3761262713f,    0.1128360014f,  -0.02685444318f,
                                0.005189532608f, -0.0008020816932f, 7.889038186e-5f};
    const float small = a * polynomial(a * a, kSmall);  // up to 1: 2^-29.7
    // -log(1 - erf) from 1 to 4: erf 2^-35.4.
    constexpr float kLarge[] = {-0.0001894432344f, 1.129584656f,    0.633208255f,      0.1084304138f,
                                -0.02521533418f,   0.004207048817f, -0.0004418117524f, 2.172497361e-5f};
    const float large = 1.0f - exp_within(-polynomial(a < 4.0f ? a : 4.0f, kLarge));
    return x != x ? x : with_sign(a < 1.0f ? small : large, x);
  }
};

struct Log {
  static float of(float x) {
    // Subnormals are scaled up to normal numbers.
    const bool tiny = x < 0x1p-126f;
    const uint32_t bits = bits_of(tiny ? x * 0x1p23f : x);
    // x = m · 2^k, m from √½ to √2.
    constexpr uint32_t kRootHalf = 0x3f3504f3u;
    const int32_t exponent = static_cast<int32_t>(bits - kRootHalf) >> 23;
    const float m = as_float(bits - (static_cast<uint32_t>(exponent) << 23));
    const float k = static_cast<float>(exponent) - (tiny ? 23.0f : 0.0f);
    const float f = m - 1.0f, square = f * f;
    // (log(1+f) - f + f²/2) / f³: times f², 2^-27.3.
    constexpr float kC[] = {0.3333331677f, -0.25000811f,   0.2000228136f, -0.1662453069f,
                            0.1418129877f, -0.1312908671f, 0.1288100963f, -0.07857929003f};
    const float rest = f * (square * polynomial(f, kC)) - 0.5f * square;
    const float sum = k * kLn2High + (f + (rest + k * kLn2Low));
    const float positive = x < kInf ? sum : x;  // infinity and NaN stay
    const float at_most_zero = x == 0.0f ? -kInf : kNan;
    return x <= 0.0f ? at_most_zero : positive;
  }
};

// ── parts in f64 ────────────────────────────────────────────────

constexpr double kRoundD = 0x1.8p52;
constexpr double kPi = 0x1.921fb54442d18p1, kHalfPi = kPi / 2;
constexpr double kLn2HighD = 0x1.62e42fee00000p-1, kLn2LowD = 1.9082149292705878161e-10;

struct Reduced {
  double r;  // what is left, at most ln2/2 in magnitude
  double power_of_two;
};
/// t = k ln2 + r, for |t| up to 700.
Reduced reduce_exponent(double t) {
  const double rounded = t * 0x1.71547652b82fep0 + kRoundD;
  const double k = rounded - kRoundD;
  return {(t - k * kLn2HighD) - k * kLn2LowD, as_double((bits_of(rounded) + 1023) << 52)};
}
/// e^r - 1 - r.
double exp_rest(double r) {
  // Over r², relative to e^r: 2^-45.
  constexpr double kC[] = {0.499999999996626019,     0.166666666672666477,   0.0416666669632636713,
                           0.00833333309487266129,   0.00138888109765787369, 0.000198415389467495151,
                           0.0000248808918061095845, 2.74932759127527785e-6};
  return r * r * polynomial(r, kC);
}
/// Where f32 has nothing left to show: below it exp is 0, above it infinity, also as a square or third root.
double within_exp_range(double t) {
  const double low = t < -330.0 ? -330.0 : t;
  return low > 330.0 ? 330.0 : low;
}
[[gnu::always_inline]] inline double exp_d(double t) {
  const Reduced e = reduce_exponent(within_exp_range(t));
  return (1.0 + (e.r + exp_rest(e.r))) * e.power_of_two;
}
[[gnu::always_inline]] inline double expm1_d(double t) {
  const Reduced e = reduce_exponent(within_exp_range(t));
  return e.power_of_two * (e.r + exp_rest(e.r)) + (e.power_of_two - 1.0);
}

/// Of normal numbers, 0, infinity, negative numbers and NaN.
[[gnu::always_inline]] inline double log_d(double x) {
  constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu, kBias = uint64_t{1024} << 52;
  const uint64_t bits = bits_of(x);
  const uint64_t biased = (bits - kRootHalf + kBias) >> 52;  // exponent + 1024
  const double m = as_double(bits - (biased << 52) + kBias);
  const double k = as_double(biased | 0x4330000000000000u) - (0x1p52 + 1024.0);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  // (2 atanh s - 2 s) / s³: times s², 2^-43.9.
  constexpr double kC[] = {0.666666666758090091, 0.399999956195522523, 0.285721093691930539,
                           0.22176180824748471, 0.195842544765086702};
  const double sum = k * kLn2HighD + (2.0 * s + (s * z * polynomial(z, kC) + k * kLn2LowD));
  const double positive = x < kInfD ? sum : x;
  const double at_most_zero = x == 0.0 ? -kInfD : static_cast<double>(kNan);
  return x <= 0.0 ? at_most_zero : positive;
}
/// log(1 + x), also where 1 + x isn't exact.
[[gnu::always_inline]] inline double log1p_d(double x) {
  const double w = 1.0 + x;
  const double lost = x - (w - 1.0);
  const double correction = lost == 0.0 ? 0.0 : lost / w;  // w may be 0 when nothing is lost
  return w < kInfD ? log_d(w) + correction : w;
}

/// asin(√z) / √z for z in [0, 1/4].
double asin_quotient(double z) {
  constexpr double kC[] = {0.166666666265755109,   0.0750000505824672536, 0.0446406817085205987,
                           0.0304269483285842523,  0.0218620087135636199, 0.0206641831383030793,
                           0.00193477862089582465, 0.0329564310046071635};
  return 1.0 + z * polynomial(z, kC);  // 2^-39.9
}

// ── in f64 ──────────────────────────────────────────────────────

struct ExpMinusOne {
  static float of(float x) {
    const float result = static_cast<float>(expm1_d(x));
    return x == 0.0f ? x : result;
  }
};
struct LogPlusOne {
  static float of(float x) {
    const float result = static_cast<float>(log1p_d(x));
    return x == 0.0f ? x : result;
  }
};
struct Sinh {
  static float of(float x) {
    const double e = expm1_d(magnitude(x));
    return with_sign(static_cast<float>(0.5 * (e + e / (e + 1.0))), x);
  }
};
struct Cosh {
  static float of(float x) {
    const double e = exp_d(magnitude(x));
    return static_cast<float>(0.5 * (e + 1.0 / e));
  }
};
struct Asinh {
  static float of(float x) {
    const double a = magnitude(x), square = a * a;
    const float result = static_cast<float>(log1p_d(a + square / (1.0 + __builtin_sqrt(1.0 + square))));
    return with_sign(a < kInfD ? result : magnitude(x), x);
  }
};
struct Acosh {
  static float of(float x) {
    const double t = static_cast<double>(x) - 1.0;
    const float result = static_cast<float>(log1p_d(t + __builtin_sqrt(t * (t + 2.0))));
    return x < 1.0f ? kNan : result;
  }
};
struct Atanh {
  static float of(float x) {
    const double a = magnitude(x);
    return with_sign(static_cast<float>(0.5 * log1p_d(2.0 * a / (1.0 - a))), x);
  }
};
struct Cbrt {
  static float of(float x) {
    const float result = with_sign(static_cast<float>(exp_d(log_d(magnitude(x)) * (1.0 / 3.0))), x);
    return x - x == 0.0f ? result : x;
  }
};

struct Asin {
  static float of(float x) {
    const double a = magnitude(x);
    const bool low = a <= 0.5;
    const double z = low ? a * a : 0.5 * (1.0 - a);
    const double root = low ? a : __builtin_sqrt(z);
    const double arc = root * asin_quotient(z);
    return with_sign(static_cast<float>(low ? arc : kHalfPi - 2.0 * arc), x);
  }
};
struct Acos {
  static float of(float x) {
    const double a = magnitude(x);
    const bool low = a <= 0.5;
    const double z = low ? a * a : 0.5 * (1.0 - a);
    const double root = low ? a : __builtin_sqrt(z);
    const double arc = root * asin_quotient(z);
    const double of_low = x < 0.0f ? kHalfPi + arc : kHalfPi - arc;
    const double of_high = x < 0.0f ? kPi - 2.0 * arc : 2.0 * arc;
    return static_cast<float>(low ? of_low : of_high);
  }
};

struct Atan2 {
  static float of(float y, float x) {
    const double ay = magnitude(y), ax = magnitude(x);
    const double low = ay < ax ? ay : ax, high = ay < ax ? ax : ay;
    // The angle to the nearer axis, turned by -π/4 when it is more than π/8.
    const bool turned = low > 0.41421356237309503 * high || low == kInfD;
    const double quotient = (turned ? low - high : low) / (turned ? low + high : high);
    const double slope = high == 0.0 ? 0.0 : low == kInfD ? 0.0 : quotient;
    constexpr double kC[] = {-0.333333333316944703,  0.199999996852317549,   -0.142856935764282542,
                             0.111104495115264585,   -0.0907913151085359401, 0.0756849663179187987,
                             -0.0589089814502054035, 0.0308923031143333503};
    const double z = slope * slope;
    const double near = slope + slope * (z * polynomial(z, kC)) + (turned ? kPi / 4 : 0.0);  // 2^-45
    const double quadrant = ay > ax ? kHalfPi - near : near;
    const double half = (bits_of(x) & 0x80000000u) != 0 ? kPi - quadrant : quadrant;
    const float result = with_sign(static_cast<float>(half), y);
    return x != x ? x : y != y ? y : result;
  }
};

struct Power {
  static float of(float x, float y) {
    const double ax = magnitude(x);
    const double power = exp_d(static_cast<double>(y) * log_d(ax));
    const float ay = magnitude(y);
    const bool whole = __builtin_truncf(y) == y;  // infinity too
    const float halved = y * 0.5f;
    const bool odd = whole && __builtin_truncf(halved) != halved && ay < 0x1p24f;
    // exp_d is bounded: beyond f32's range it is infinity or zero anyway.
    float result = ax == 1.0 ? 1.0f : static_cast<float>(power);
    result = odd ? with_sign(result, x) : result;
    result = x < 0.0f && !whole && ax < kInfD ? kNan : result;
    result = y != y ? y : result;
    return x == 1.0f || y == 0.0f ? 1.0f : result;
  }
};

// ── functions with a slow way for rare operands ─────────────────

/// Quarter turns that x is away from zero, and the sine and cosine of the angle left. For |x| up to kLimit.
struct Angle {
  static constexpr float kLimit = 0x1p22f;
  double sine, cosine;
  uint64_t quarters;  // its low two bits count

  [[gnu::always_inline]] static Angle of(float x) {
    const double t = x;
    const double rounded = t * (2.0 / kPi) + kRoundD;
    const double k = rounded - kRoundD;
    // π/2 in three parts, of which two have 30 bits: their products with k are exact.
    const double r = ((t - k * 0x1.921fb54p0) - k * 0x1.10b46118p-30) - k * 0x1.313198a2e037p-61;
    const double z = r * r;
    constexpr double kSin[] = {-0.1666666666663143, 0.00833333332524244421, -0.000198412638067395581,
                               2.75553542538929575e-6, -2.47613946248183309e-8};
    constexpr double kCos[] = {0.0416666666666018844, -0.00138888888782264773, 0.0000248015809506683527,
                               -2.75555633114579254e-7, 2.06474913280291443e-9};
    return {r + r * (z * polynomial(z, kSin)), 1.0 - 0.5 * z + z * z * polynomial(z, kCos), bits_of(rounded)};
  }
};
double negated_if(double x, uint64_t bit) { return as_double(bits_of(x) ^ (bit << 63)); }

struct Sin {
  static bool rare(float x) { return !(magnitude(x) <= Angle::kLimit); }
  static float exact(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
  static float of(float x) {
    const Angle a = Angle::of(x);
    const double value = (a.quarters & 1) != 0 ? a.cosine : a.sine;
    return static_cast<float>(x == 0.0f ? static_cast<double>(x) : negated_if(value, a.quarters >> 1 & 1));
  }
};
struct Cos {
  static bool rare(float x) { return Sin::rare(x); }
  static float exact(float x) { return static_cast<float>(std::cos(static_cast<double>(x))); }
  static float of(float x) {
    const Angle a = Angle::of(x);
    const double value = (a.quarters & 1) != 0 ? a.sine : a.cosine;
    return static_cast<float>(negated_if(value, ((a.quarters >> 1) ^ a.quarters) & 1));
  }
};
struct Tan {
  static bool rare(float x) { return Sin::rare(x); }
  static float exact(float x) { return static_cast<float>(std::tan(static_cast<double>(x))); }
  static float of(float x) {
    const Angle a = Angle::of(x);
    const bool odd = (a.quarters & 1) != 0;
    const double value = (odd ? -a.cosine : a.sine) / (odd ? a.sine : a.cosine);
    return static_cast<float>(x == 0.0f ? static_cast<double>(x) : value);
  }
};

/// fmod: x - trunc(x/y) y is exact in f64 while the quotient has no more than 28 bits.
struct Remainder {
  static bool rare(float x, float y) {
    const double quotient = static_cast<double>(magnitude(x)) / static_cast<double>(magnitude(y));
    return quotient > 0x1p28 && quotient < kInfD;
  }
  static float exact(float x, float y) { return static_cast<float>(std::fmod(static_cast<double>(x), y)); }
  static float of(float x, float y) {
    const double a = magnitude(x), b = magnitude(y);
    double r = a - __builtin_trunc(a / b) * b;
    r = r < 0.0 ? r + b : r;  // the quotient was rounded up to an integer
    const float result = static_cast<float>(b == kInfD && a < kInfD ? a : r);
    return x != x ? x : with_sign(result, x);
  }
};

// ── table ───────────────────────────────────────────────────────

constexpr ElementTable table() {
  ElementTable t;
  t[ElementOp::kExp] = exponentials;
  t[ElementOp::kExpMinusOne] = function1<ExpMinusOne>;
  t[ElementOp::kLog] = function1<Log>;
  t[ElementOp::kLogPlusOne] = function1<LogPlusOne>;
  t[ElementOp::kLogistic] = function1<Logistic>;
  t[ElementOp::kErf] = function1<Erf>;
  t[ElementOp::kCbrt] = function1<Cbrt>;
  t[ElementOp::kSin] = rare1<Sin>;
  t[ElementOp::kCos] = rare1<Cos>;
  t[ElementOp::kTan] = rare1<Tan>;
  t[ElementOp::kAsin] = function1<Asin>;
  t[ElementOp::kAcos] = function1<Acos>;
  t[ElementOp::kSinh] = function1<Sinh>;
  t[ElementOp::kCosh] = function1<Cosh>;
  t[ElementOp::kTanh] = function1<Tanh>;
  t[ElementOp::kAsinh] = function1<Asinh>;
  t[ElementOp::kAcosh] = function1<Acosh>;
  t[ElementOp::kAtanh] = function1<Atanh>;
  t[ElementOp::kPower] = function2<Power>;
  t[ElementOp::kAtan2] = function2<Atan2>;
  t[ElementOp::kRemainder] = rare2<Remainder>;
  return t;
}

}  // namespace

constexpr ElementTable kF32Functions = table();

}  // namespace hlosim::HLOSIM_ISA
