// Arithmetic that writes HLO: what functions of CHLO are decomposed into.
//
//   const Expression x(op, op.operand(0));
//   const Expression y = select(x > 1.0, log(x), x * x - 1.0);
//   op.give(y.id());
#pragma once

#include <initializer_list>
#include <span>

#include "stablehlo/op_lowering.h"

namespace hlosim::stablehlo {

/// An array of floats, integers, complex or truth values. Numbers beside it stand for arrays of its shape and
/// type.
class Expression {
 public:
  Expression(OpLowering& op, InstructionId id) : op_(&op), id_(id) {}

  OpLowering& op() const { return *op_; }
  InstructionId id() const { return id_; }
  ElementType type() const { return op_->type(id_); }
  bool is_complex_number() const { return is_complex(type()); }
  Expression like(double value) const { return {*op_, op_->number_like(id_, value)}; }
  Expression unary(Opcode opcode) const { return {*op_, op_->make(opcode, {id_})}; }
  Expression binary(Opcode opcode, const Expression& other) const {
    return {*op_, op_->make(opcode, {id_, other.id_})};
  }
  Expression compared(std::string_view direction, const Expression& other) const {
    return {*op_, op_->make(Opcode::kCompare, {id_, other.id_}, {op_->word(AttrKey::kDirection, direction)})};
  }
  Expression as(ElementType type) const { return {*op_, op_->convert(id_, type)}; }
  Expression bits_as(ElementType type) const {
    return {*op_,
            op_->make(Opcode::kBitcastConvert, {id_}, {},
                      op_->failed() ? nullptr : op_->shapes().with_element_type(op_->shape(id_), type))};
  }

 private:
  OpLowering* op_;
  InstructionId id_;
};

#define HLOSIM_BINARY(symbol, opcode)                                                                      \
  inline Expression operator symbol(const Expression& a, const Expression& b) {                            \
    return a.binary(opcode, b);                                                                            \
  }                                                                                                        \
  inline Expression operator symbol(const Expression& a, double b) { return a.binary(opcode, a.like(b)); } \
  inline Expression operator symbol(double a, const Expression& b) { return b.like(a).binary(opcode, b); }
HLOSIM_BINARY(+, Opcode::kAdd)
HLOSIM_BINARY(-, Opcode::kSubtract)
HLOSIM_BINARY(*, Opcode::kMultiply)
HLOSIM_BINARY(/, Opcode::kDivide)
#undef HLOSIM_BINARY

#define HLOSIM_COMPARE(symbol, direction)                                       \
  inline Expression operator symbol(const Expression& a, const Expression& b) { \
    return a.compared(direction, b);                                            \
  }                                                                             \
  inline Expression operator symbol(const Expression& a, double b) {            \
    return a.compared(direction, a.like(b));                                    \
  }
HLOSIM_COMPARE(<, "LT")
HLOSIM_COMPARE(<=, "LE")
HLOSIM_COMPARE(>, "GT")
HLOSIM_COMPARE(>=, "GE")
HLOSIM_COMPARE(==, "EQ")
HLOSIM_COMPARE(!=, "NE")
#undef HLOSIM_COMPARE

inline Expression operator-(const Expression& a) { return a.unary(Opcode::kNegate); }
inline Expression operator!(const Expression& a) { return a.unary(Opcode::kNot); }
inline Expression operator&&(const Expression& a, const Expression& b) { return a.binary(Opcode::kAnd, b); }
inline Expression operator||(const Expression& a, const Expression& b) { return a.binary(Opcode::kOr, b); }

inline Expression abs(const Expression& x) { return x.unary(Opcode::kAbs); }
inline Expression exp(const Expression& x) { return x.unary(Opcode::kExp); }
inline Expression log(const Expression& x) { return x.unary(Opcode::kLog); }
inline Expression log1p(const Expression& x) { return x.unary(Opcode::kLog1p); }
inline Expression sqrt(const Expression& x) { return x.unary(Opcode::kSqrt); }
inline Expression rsqrt(const Expression& x) { return x.unary(Opcode::kRsqrt); }
inline Expression floor(const Expression& x) { return x.unary(Opcode::kFloor); }
inline Expression sin(const Expression& x) { return x.unary(Opcode::kSin); }
inline Expression cos(const Expression& x) { return x.unary(Opcode::kCos); }
inline Expression erf(const Expression& x) { return x.unary(Opcode::kErf); }
inline Expression sign(const Expression& x) { return x.unary(Opcode::kSign); }
inline Expression real(const Expression& x) { return x.unary(Opcode::kReal); }
inline Expression imag(const Expression& x) { return x.unary(Opcode::kImag); }
inline Expression is_finite(const Expression& x) { return x.unary(Opcode::kIsFinite); }
inline Expression pow(const Expression& x, const Expression& y) { return x.binary(Opcode::kPower, y); }
inline Expression max(const Expression& x, const Expression& y) { return x.binary(Opcode::kMaximum, y); }
inline Expression min(const Expression& x, const Expression& y) { return x.binary(Opcode::kMinimum, y); }
inline Expression atan2(const Expression& y, const Expression& x) { return y.binary(Opcode::kAtan2, x); }
inline Expression complex_of(const Expression& re, const Expression& im) {
  return re.binary(Opcode::kComplex, im);
}
inline Expression select(const Expression& pred, const Expression& yes, const Expression& no) {
  return {pred.op(), pred.op().make(Opcode::kSelect, {pred.id(), yes.id(), no.id()})};
}
inline Expression select(const Expression& pred, double yes, const Expression& no) {
  return select(pred, no.like(yes), no);
}
inline Expression select(const Expression& pred, const Expression& yes, double no) {
  return select(pred, yes, yes.like(no));
}
inline Expression is_nan(const Expression& x) { return x != x; }

/// Coefficients from the highest power down.
inline Expression polynomial(const Expression& x, std::span<const double> coefficients) {
  Expression sum = x.like(0);
  bool first = true;
  for (const double coefficient : coefficients) {
    sum = first ? x.like(coefficient) : sum * x + coefficient;
    first = false;
  }
  return sum;
}
inline Expression polynomial(const Expression& x, std::initializer_list<double> coefficients) {
  return polynomial(x, std::span(coefficients.begin(), coefficients.size()));
}

}  // namespace hlosim::stablehlo
