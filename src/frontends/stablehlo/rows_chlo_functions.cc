// Functions of CHLO that HLO has no instruction for, as elementwise instructions. Narrow types go through
// f32.
//
// Sources of the coefficients: Lanczos' approximation with g = 7 and 9 terms; M. Giles, "Approximating the
// erfinv function" (2010); Cephes' erfc, i1e and zeta.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "stablehlo/expression.h"

namespace hlosim::stablehlo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

constexpr double kLanczosGamma = 7;
constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                               771.3234287776530788486528258894,   -176.61502916214059906584551354,
                               12.507343278686904814458936853,     -0.13857109526572011689554707,
                               9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// log(Γ(x)), by reflection below 1/2.
Expression lgamma(const Expression& x) {
  const Expression reflects = x < 0.5;
  const Expression z = select(reflects, -x, x - 1.0);
  Expression sum = x.like(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i)
    sum = sum + x.like(kLanczos[i]) / (z + static_cast<double>(i + 1));
  const double shift = kLanczosGamma + 0.5;
  const Expression t = z + shift;
  const Expression log_t = log1p(z / shift) + std::log(shift);
  const Expression log_y = (z + 0.5 - t / log_t) * log_t + std::log(std::sqrt(2 * kPi)) + log(sum);
  // sin(π x) has the period that the fraction has, and loses nothing there.
  const Expression magnitude = abs(x);
  const Expression fraction = magnitude - floor(magnitude);
  const Expression reduced = select(fraction > 0.5, 1.0 - fraction, fraction);
  const Expression denominator = log(sin(reduced * kPi));
  const Expression reflected =
      select(is_finite(denominator), std::log(kPi) - denominator - log_y, -denominator);
  return select(magnitude == kInfinity, kInfinity, select(reflects, reflected, log_y));
}

/// The derivative of lgamma.
Expression digamma(const Expression& x) {
  const Expression reflects = x < 0.5;
  const Expression z = select(reflects, -x, x - 1.0);
  Expression numerator = x.like(0), denominator = x.like(kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    const Expression term = z + static_cast<double>(i + 1);
    numerator = numerator - x.like(kLanczos[i]) / (term * term);
    denominator = denominator + x.like(kLanczos[i]) / term;
  }
  const double shift = kLanczosGamma + 0.5;
  const Expression log_t = log1p(z / shift) + std::log(shift);
  const Expression y = log_t + numerator / denominator - kLanczosGamma / (z + shift);
  const Expression reduced = (x + abs(floor(x + 0.5))) * kPi;
  const Expression reflected = y - (kPi * cos(reduced)) / sin(reduced);
  const Expression is_pole = (x <= 0.0) && (x == floor(x));
  return select(is_pole, kNan, select(reflects, reflected, y));
}

/// The Hurwitz zeta function Σ (q + k)^-x by Euler and Maclaurin: nine terms, then the integral and twelve
/// corrections B_2j / (2j)!.
Expression zeta(const Expression& x, const Expression& q) {
  constexpr double kFactors[] = {12.0,
                                 -720.0,
                                 30240.0,
                                 -1209600.0,
                                 47900160.0,
                                 -1.8924375803183791606e9,
                                 7.47242496e10,
                                 -2.950130727918164224e12,
                                 1.1646782814350067249e14,
                                 -4.5979787224074726105e15,
                                 1.8152105401943546773e17,
                                 -7.1661652561756670113e18};
  constexpr int kTerms = 9;
  const Expression exponent = -x;
  Expression a = q, power = pow(q, exponent), sum = power;
  for (int i = 0; i < kTerms; ++i) {
    a = a + 1.0;
    power = pow(a, exponent);
    sum = sum + power;
  }
  sum = sum + power * a / (x - 1.0) - power * 0.5;
  const Expression inverse_square = 1.0 / (a * a);
  // Horner from the last correction: each has two more factors x + k than the one before.
  Expression corrections = x.like(0);
  for (size_t i = std::size(kFactors); i-- > 0;) {
    const auto k = 2.0 * static_cast<double>(i);
    const Expression term = x.like(1.0 / kFactors[i]);
    corrections = i + 1 == std::size(kFactors)
                      ? term
                      : term + (x + (k + 1)) * (x + (k + 2)) * inverse_square * corrections;
  }
  sum = sum + power * x * corrections / a;
  const Expression is_pole = (q <= 0.0) && (q == floor(q));
  const Expression even = (x == floor(x)) && ((floor(x * 0.5) * 2.0) == x);
  sum = select(is_pole && even, kInfinity, sum);
  sum = select((is_pole && !even) || ((q <= 0.0) && (x != floor(x))), kNan, sum);
  sum = select(x < 1.0, kNan, sum);
  return select(x == 1.0, kInfinity, sum);
}

Expression polygamma(const Expression& n, const Expression& x) {
  const Expression order = n + 1.0;
  const Expression is_even = (floor(n * 0.5) * 2.0) == n;
  const Expression sign = select(is_even, -1.0, n.like(1.0));
  const Expression higher = sign * exp(lgamma(order)) * zeta(order, x);
  const Expression value = select(n == 0.0, digamma(x), higher);
  return select((n != floor(n)) || (n < 0.0), kNan, value);
}

Expression erfc_tail_f32(const Expression& x) {
  const Expression magnitude = abs(x), inverse = 1.0 / magnitude, y = inverse * inverse;
  const Expression near = polynomial(y, {2.326819970068386E-2, -1.387039388740657E-1, 3.687424674597105E-1,
                                         -5.824733027278666E-1, 6.210004621745983E-1, -4.944515323274145E-1,
                                         3.404879937665872E-1, -2.741127028184656E-1, 5.638259427386472E-1});
  const Expression far = polynomial(
      y, {-1.047766399936249E+1, 1.297719955372516E+1, -7.495518717768503E+0, 2.921019019210786E+0,
          -1.015265279202700E+0, 4.218463358204948E-1, -2.820767439740514E-1, 5.641895067754075E-1});
  return exp(-(x * x)) * inverse * select(magnitude < 2.0, near, far);
}

Expression erfc_tail_f64(const Expression& x) {
  const Expression magnitude = abs(x);
  const Expression near =
      polynomial(magnitude, {2.46196981473530512524E-10, 5.64189564831068821977E-1, 7.46321056442269912687E0,
                             4.86371970985681366614E1, 1.96520832956077098242E2, 5.26445194995477358631E2,
                             9.34528527171957607540E2, 1.02755188689515710272E3, 5.57535335369399327526E2}) /
      polynomial(magnitude, {1.0, 1.32281951154744992508E1, 8.67072140885989742329E1,
                             3.54937778887819891062E2, 9.75708501743205489753E2, 1.82390916687909736289E3,
                             2.24633760818710981792E3, 1.65666309194161350182E3, 5.57535340817727675546E2});
  const Expression far =
      polynomial(magnitude, {5.64189583547755073984E-1, 1.27536670759978104416E0, 5.01905042251180477414E0,
                             6.16021097993053585195E0, 7.40974269950448939160E0, 2.97886665372100240670E0}) /
      polynomial(magnitude,
                 {1.0, 2.26052863220117276590E0, 9.39603524938001434673E0, 1.20489539808096656605E1,
                  1.70814450747565897222E1, 9.60896809063285878198E0, 3.36907645100081516050E0});
  return exp(-(x * x)) * select(magnitude < 8.0, near, far);
}

/// 1 - erf(x); the difference up to 1, above a rational times exp(-x²).
Expression erfc(const Expression& x) {
  const bool wide = !x.op().failed() && x.type() == ElementType::kF64;
  const double largest = wide ? 7.09782712893383996843E2 : 88.72283905206835;
  Expression tail = wide ? erfc_tail_f64(x) : erfc_tail_f32(x);
  tail = select(-(x * x) < -largest, 0.0, tail);
  tail = select(x < 0.0, 2.0 - tail, tail);
  return select(abs(x) > 1.0, tail, 1.0 - erf(x));
}

Expression erf_inv_f32(const Expression& x) {
  const Expression w = -log1p(-(x * x));
  const Expression is_near = w < 5.0;
  const Expression near =
      polynomial(w - 2.5, {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                           -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  const Expression far =
      polynomial(sqrt(w) - 3.0, {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844,
                                 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682});
  return select(is_near, near, far) * x;
}

Expression erf_inv_f64(const Expression& x) {
  const Expression w = -log1p(-(x * x));
  const Expression near = polynomial(
      w - 3.125, {-3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
                  1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
                  6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
                  2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
                  1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
                  4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
                  0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
                  0.24015818242558961693,     1.6536545626831027356});
  const Expression middle = polynomial(
      sqrt(w) - 3.25,
      {2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
       1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
       2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
       6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
       0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
       -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334, 3.0838856104922207635});
  const Expression far = polynomial(
      sqrt(w) - 5.0, {-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
                      -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
                      2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
                      -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
                      7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
                      1.0103004648645343977, 4.8499064014085844221});
  return select(w < 6.25, near, select(w < 16.0, middle, far)) * x;
}

Expression erf_inv(const Expression& x) {
  const bool wide = !x.op().failed() && x.type() == ElementType::kF64;
  const Expression value = wide ? erf_inv_f64(x) : erf_inv_f32(x);
  return select(abs(x) == 1.0, x * kInfinity, value);
}

/// Clenshaw's recurrence of a Chebyshev series.
Expression chebyshev(const Expression& x, std::span<const double> coefficients) {
  Expression b0 = x.like(0), b1 = b0, b2 = b0;
  for (const double coefficient : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + coefficient;
  }
  return (b0 - b2) * 0.5;
}

constexpr double kI1eNear[] = {
    2.77791411276104639959E-18,  -2.11142121435816608115E-17, 1.55363195773620046921E-16,
    -1.10559694773538630805E-15, 7.60068429473540693410E-15,  -5.04218550472791168711E-14,
    3.22379336594557470981E-13,  -1.98397439776494371520E-12, 1.17361862988909016308E-11,
    -6.66348972350202774223E-11, 3.62559028155211703701E-10,  -1.88724975172282928790E-9,
    9.38153738649577178388E-9,   -4.44505912879632808065E-8,  2.00329475355213526229E-7,
    -8.56872026469545474066E-7,  3.47025130813767847674E-6,   -1.32731636560394358279E-5,
    4.78156510755005422638E-5,   -1.61760815825896745588E-4,  5.12285956168575772895E-4,
    -1.51357245063125314899E-3,  4.15642294431288815669E-3,   -1.05640848946261981558E-2,
    2.47264490306265168283E-2,   -5.29459812080949914269E-2,  1.02643658689847095384E-1,
    -1.76416518357834055153E-1,  2.52587186443633654823E-1};
constexpr double kI1eFar[] = {
    7.51729631084210481353E-18,  4.41434832307170791151E-18,  -4.65030536848935832153E-17,
    -3.20952592199342395980E-17, 2.96262899764595013876E-16,  3.30820231092092828324E-16,
    -1.88035477551078244854E-15, -3.81440307243700780478E-15, 1.04202769841288027642E-14,
    4.27244001671195135429E-14,  -2.10154184277266431302E-14, -4.08355111109219731823E-13,
    -7.19855177624590851209E-13, 2.03562854414708950722E-12,  1.41258074366137813316E-11,
    3.25260358301548823856E-11,  -1.89749581235054123450E-11, -5.58974346219658380687E-10,
    -3.83538038596423702205E-9,  -2.63146884688951950684E-8,  -2.51223623787020892529E-7,
    -3.88256480887769039346E-6,  -1.10588938762623716291E-4,  -9.76109749136146840777E-3,
    7.78576235018280120474E-1};

/// exp(-|x|) I₁(x); f32 needs the last terms of the series only.
Expression bessel_i1e(const Expression& x) {
  const bool wide = !x.op().failed() && x.type() == ElementType::kF64;
  const std::span<const double> near = std::span(kI1eNear).subspan(wide ? 0 : 12),
                                far = std::span(kI1eFar).subspan(wide ? 0 : 18);
  const Expression z = abs(x);
  const Expression small = z * chebyshev(z * 0.5 - 2.0, near);
  const Expression large = chebyshev(32.0 / z - 2.0, far) / sqrt(z);
  return select(z <= 8.0, small, large) * sign(x);
}

/// The neighbour of x on the side of y, by bits.
Expression next_after(const Expression& x, const Expression& y) {
  if (x.op().failed()) return x;
  const ElementType type = x.type();
  const int bits = bit_width(type);
  const ElementType integer = bits == 64   ? ElementType::kS64
                              : bits == 32 ? ElementType::kS32
                              : bits == 16 ? ElementType::kS16
                                           : ElementType::kS8;
  const Expression x_bits = x.bits_as(integer), y_bits = y.bits_as(integer);
  const Expression zero = x_bits.like(0);
  const Expression x_negative = x_bits < zero, y_negative = y_bits < zero;
  const Expression moves_to_zero = (abs(x) > abs(y)) || (x_negative != y_negative);
  const Expression step = select(moves_to_zero, -1.0, x_bits.like(1));
  const Expression moved = (x_bits + step).bits_as(type);
  const Expression smallest = x_bits.like(1).bits_as(type);
  const Expression from_zero = select(y_negative, -smallest, smallest);
  Expression result = select(x == 0.0, from_zero, moved);
  result = select(x == y, y, result);
  return select(is_nan(x) || is_nan(y), kNan, result);
}

constexpr double kLogHalf = -std::numbers::ln2;

/// Both by the terms that CHLO and XLA expand them to, whose rounding shows: e^(x - log 2), so that nothing
/// overflows before the result does.
Expression cosh(const Expression& x) { return exp(x + kLogHalf) + exp(-x + kLogHalf); }

/// Near 0, where the terms are alike, by e^x - 1.
Expression sinh(const Expression& x) {
  const Expression less = x.unary(Opcode::kExpm1);
  return select(abs(x) < 1.0, (less + less / (less + 1.0)) * 0.5, exp(x + kLogHalf) - exp(kLogHalf - x));
}

/// In f32 where the type is narrower.
template <class F>
void give_wide(OpLowering& op, size_t operands, F&& function) {
  if (!op.takes(operands)) return;
  std::vector<Expression> values;
  for (const InstructionId operand : broadcast_alike(op, op.operands())) values.emplace_back(op, operand);
  if (op.failed()) return;
  const ElementType type = values[0].type();
  if (!is_float(type)) {
    op.fail("expects floats, but has {}", to_text_without_layout(op.shape(values[0].id())));
    return;
  }
  const bool narrow = bit_width(type) < 32;
  if (narrow)
    for (Expression& value : values) value = value.as(ElementType::kF32);
  const Expression result = function(values);
  op.give((narrow ? result.as(type) : result).id());
}

using Values1 = const std::vector<Expression>&;

template <Expression (*kFunction)(const Expression&)>
void lower_one(OpLowering& op, Opcode) {
  give_wide(op, 1, [](Values1 values) { return kFunction(values[0]); });
}
template <Expression (*kFunction)(const Expression&, const Expression&)>
void lower_two(OpLowering& op, Opcode) {
  give_wide(op, 2, [](Values1 values) { return kFunction(values[0], values[1]); });
}

/// HLO has the function itself for complex numbers.
template <Expression (*kFunction)(const Expression&)>
void lower_hyperbolic(OpLowering& op, Opcode opcode) {
  if (!op.takes(1)) return;
  const Expression x(op, op.operand(0));
  if (op.failed()) return;
  if (x.is_complex_number()) return op.give(x.unary(opcode).id());
  lower_one<kFunction>(op, opcode);
}

void lower_next_after(OpLowering& op, Opcode) {
  if (!op.takes(2)) return;
  const Values alike = broadcast_alike(op, op.operands());
  if (op.failed()) return;
  op.give(next_after(Expression(op, alike[0]), Expression(op, alike[1])).id());
}

/// atan of a complex number by logarithms, of a real one by the angle.
void lower_atan(OpLowering& op, Opcode) {
  if (!op.takes(1)) return;
  const Expression x(op, op.operand(0));
  if (op.failed()) return;
  if (!x.is_complex_number()) return op.give(atan2(x, x.like(1)).id());
  // atan(z) = -i atanh(i z)
  const Expression turned = complex_of(-imag(x), real(x)).unary(Opcode::kAtanh);
  op.give(complex_of(imag(turned), -real(turned)).id());
}

constexpr Row kChloFunctionsRows[] = {
    {"chlo.atan", lower_atan},
    {"chlo.cosh", lower_hyperbolic<cosh>},
    {"chlo.sinh", lower_hyperbolic<sinh>},
    {"chlo.bessel_i1e", lower_one<bessel_i1e>},
    {"chlo.digamma", lower_one<digamma>},
    {"chlo.erf_inv", lower_one<erf_inv>},
    {"chlo.erfc", lower_one<erfc>},
    {"chlo.lgamma", lower_one<lgamma>},
    {"chlo.next_after", lower_next_after},
    {"chlo.broadcast_next_after", lower_next_after},
    {"chlo.polygamma", lower_two<polygamma>},
    {"chlo.broadcast_polygamma", lower_two<polygamma>},
    {"chlo.zeta", lower_two<zeta>},
    {"chlo.broadcast_zeta", lower_two<zeta>},
};

}  // namespace

std::span<const Row> chlo_function_rows() { return kChloFunctionsRows; }

}  // namespace hlosim::stablehlo
