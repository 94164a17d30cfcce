#include "mosaic/scalars.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "mosaic/operation_cost.h"

namespace hlosim::mosaic {
namespace {

enum Predicate : int64_t { kEq, kNe, kSlt, kSle, kSgt, kSge, kUlt, kUle, kUgt, kUge };

bool compare(int64_t predicate, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  switch (predicate) {
    case kEq:
      return a == b;
    case kNe:
      return a != b;
    case kSlt:
      return a < b;
    case kSle:
      return a <= b;
    case kSgt:
      return a > b;
    case kSge:
      return a >= b;
    case kUlt:
      return ua < ub;
    case kUle:
      return ua <= ub;
    case kUgt:
      return ua > ub;
    default:
      return ua >= ub;
  }
}

/// Sums and products wrap, as those of the machine do.
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

std::optional<int64_t> divided(std::string_view name, int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1)) return std::nullopt;
  if (name == "arith.divsi" || name == "arith.divui") return a / b;
  if (name == "arith.remsi" || name == "arith.remui") return a % b;
  if (name == "arith.floordivsi") return floor_div(a, b);
  if (name == "arith.ceildivsi" || name == "arith.ceildivui") return ceil_div(a, b);
  return std::nullopt;
}

std::optional<int64_t> shifted(std::string_view name, int64_t a, int64_t b) {
  if (b < 0 || b > 63) return std::nullopt;
  if (name == "arith.shli") return wrapped(static_cast<uint64_t>(a) << b);
  if (name == "arith.shrsi") return a >> b;
  if (name == "arith.shrui") return wrapped(static_cast<uint64_t>(a) >> b);
  return std::nullopt;
}

std::optional<int64_t> binary(std::string_view name, int64_t a, int64_t b) {
  const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  if (name == "arith.addi" || name == "index.add") return wrapped(ua + ub);
  if (name == "arith.subi" || name == "index.sub") return wrapped(ua - ub);
  if (name == "arith.muli" || name == "index.mul") return wrapped(ua * ub);
  if (name == "arith.andi") return a & b;
  if (name == "arith.ori") return a | b;
  if (name == "arith.xori") return a ^ b;
  if (name == "arith.maxsi" || name == "arith.maxui") return std::max(a, b);
  if (name == "arith.minsi" || name == "arith.minui") return std::min(a, b);
  if (const auto made = divided(name, a, b)) return made;
  return shifted(name, a, b);
}

bool passes_through(std::string_view name) {
  return name == "arith.index_cast" || name == "arith.index_castui" || name == "arith.extsi" ||
         name == "arith.extui" || name == "arith.trunci" || name == "tpu.assume_multiple";
}

/// Comparisons with 0 or 1 of an unknown truth value are that value, or its opposite.
std::optional<Scalar> compared_truth(int64_t predicate, const Scalar& a, const Scalar& b) {
  if (a.is_known || !b.is_known || (predicate != kEq && predicate != kNe)) return std::nullopt;
  if (b.value != 0 || (a.unknown & 1) == 0) return std::nullopt;
  Scalar made = a;
  if (predicate == kEq) made.is_negated = !made.is_negated;
  return made;
}

Scalar compare_unknown(int64_t predicate, std::span<const Scalar> operands) {
  if (const auto truth = compared_truth(predicate, operands[0], operands[1])) return *truth;
  const auto number = [](const Scalar& scalar) {
    return scalar.is_known ? mixed(1, static_cast<uint64_t>(scalar.value))
                           : mixed(2 + scalar.is_negated, scalar.unknown);
  };
  // "not equal" is the opposite of "equal"; so are the orders.
  constexpr int64_t kOpposites[] = {kEq, kEq, kSlt, kSle, kSle, kSlt, kUlt, kUle, kUle, kUlt};
  const bool is_negated =
      predicate == kNe || predicate == kSgt || predicate == kSge || predicate == kUgt || predicate == kUge;
  const int64_t base = predicate >= 0 && predicate < 10 ? kOpposites[predicate] : predicate;
  Scalar made =
      unknown(mixed(mixed(static_cast<uint64_t>(base), number(operands[0])), number(operands[1])) | 1);
  made.is_negated = is_negated;
  return made;
}

}  // namespace

uint64_t mixed(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u ^ (b + 0x7f4a7c15u + (a << 6) + (a >> 2));
  x ^= x >> 31;
  return x * 0xbf58476d1ce4e5b9u;
}

Scalar evaluate_scalar(const mlir::Operation& op, std::span<const Scalar> operands) {
  const std::string_view name = plain_name(op);
  if (name == "arith.constant") {
    const mlir::Attribute* const value = op.find("value");
    const bool is_whole =
        value && (value->kind == mlir::AttributeKind::kInteger || value->kind == mlir::AttributeKind::kBool);
    return is_whole ? known(value->integer) : unknown(mixed(7, reinterpret_cast<uintptr_t>(&op)));
  }
  if (passes_through(name) && operands.size() == 1) return operands[0];
  const bool all_known =
      std::all_of(operands.begin(), operands.end(), [](const Scalar& scalar) { return scalar.is_known; });
  if (name == "arith.cmpi" && operands.size() == 2) {
    const mlir::Attribute* const predicate = op.find("predicate");
    const int64_t kind = predicate ? predicate->integer : 0;
    if (all_known) return known(compare(kind, operands[0].value, operands[1].value));
    return compare_unknown(kind, operands);
  }
  if (name == "arith.select" && operands.size() == 3 && operands[0].is_known)
    return operands[operands[0].value ? 1 : 2];
  if (operands.size() == 2) {
    const Scalar &a = operands[0], &b = operands[1];
    if (all_known) {
      if (const auto made = binary(name, a.value, b.value)) return known(*made);
    } else if (name == "arith.xori" && b.is_known && b.value == 1 && (a.unknown & 1)) {
      Scalar made = a;
      made.is_negated = !made.is_negated;
      return made;
    } else if (name == "arith.andi" && ((a.is_known && a.value == 0) || (b.is_known && b.value == 0))) {
      return known(0);
    }
  }
  uint64_t number = mixed(11, static_cast<uint64_t>(name.size()));
  for (const char c : name) number = mixed(number, static_cast<uint64_t>(c));
  for (const Scalar& operand : operands)
    number = mixed(mixed(number, operand.is_known ? static_cast<uint64_t>(operand.value) : operand.unknown),
                   operand.is_known ? 0 : 1 + operand.is_negated);
  const bool is_truth = !op.results.empty() && op.results[0]->type->word == "i1";
  return unknown(is_truth ? number | 1 : number & ~uint64_t{1});
}

}  // namespace hlosim::mosaic
