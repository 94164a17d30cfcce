#include "evaluate/custom_calls/check_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>

#include "hlo/literal.h"
#include "hlo/number.h"

namespace hlosim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A part of an element: of a complex number the real or the imaginary one.
struct CheckPart {
  ElementType type;
  uint64_t bits;

  bool is_float() const { return hlosim::is_float(type); }
  double value() const {
    if (is_float()) return decode_float(type, bits);
    if (!is_signed_integer(type)) return static_cast<double>(bits);
    const int shift = 64 - static_cast<int>(byte_width(type)) * 8;
    return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
  }
};

CheckPart part_of(const Array& array, int64_t index, int64_t part) {
  ElementType type = array.type();
  if (is_complex(type)) type = type == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
  const auto width = static_cast<size_t>(byte_width(type));
  CheckPart made{type, 0};
  std::memcpy(&made.bits, array.bytes() + index * byte_width(array.type()) + part * byte_width(type), width);
  return made;
}

bool equal(const CheckPart& a, const CheckPart& e) {
  return a.is_float() ? a.value() == e.value() : a.bits == e.bits;
}

bool almost_equal(const CheckPart& a, const CheckPart& e, double tolerance) {
  if (equal(a, e)) return true;
  const double x = a.value(), y = e.value();
  if (std::isnan(x) && std::isnan(y)) return true;
  return std::isfinite(x) && std::isfinite(y) && std::abs(x - y) <= tolerance;
}

/// Numbers of the type between the two.
double ulps_between(const CheckPart& a, const CheckPart& e) {
  if (a.bits == e.bits) return 0;
  const double x = a.value(), y = e.value();
  if (std::isnan(x) && std::isnan(y)) return 0;
  if (!std::isfinite(x) || !std::isfinite(y)) return kInfinity;
  if (!a.is_float()) return std::abs(x - y);
  const uint64_t sign = uint64_t{1} << (bit_width(a.type) - 1);
  const uint64_t p = a.bits & (sign - 1), q = e.bits & (sign - 1);  // steps away from 0
  const bool across = ((a.bits ^ e.bits) & sign) != 0;
  return static_cast<double>(across ? p + q : std::max(p, q) - std::min(p, q));
}

using Holds = std::function<bool(const Array&, const Array&, int64_t)>;

/// The rule for every part of an element.
template <class Rule>
Holds for_parts(Rule rule) {
  return [rule](const Array& actual, const Array& expected, int64_t i) {
    for (int64_t part = 0; part < (is_complex(actual.type()) ? 2 : 1); ++part)
      if (!rule(part_of(actual, i, part), part_of(expected, i, part))) return false;
    return true;
  };
}

/// The number behind `key=` in a config that hlosim wrote.
double number_of(std::string_view config, std::string_view key, double otherwise) {
  const size_t at = config.find(fmt::format("{}=", key));
  return at == std::string_view::npos
             ? otherwise
             : std::strtod(std::string(config.substr(at + key.size() + 1)).c_str(), nullptr);
}

std::string element_text(const Array& array, int64_t i) {
  ShapePool pool;
  Literal literal;
  literal.shape = pool.scalar(array.type());
  literal.data = {array.bytes() + i * byte_width(array.type()),
                  static_cast<size_t>(byte_width(array.type()))};
  return to_text(literal);
}

std::string index_text(const Array& array, int64_t i) {
  std::vector<int64_t> index(static_cast<size_t>(array.shape->rank()));
  for (size_t d = index.size(); d-- > 0;) {
    const int64_t size = array.shape->dim(static_cast<int64_t>(d));
    index[d] = i % size;
    i /= size;
  }
  return index.empty() ? "the value" : fmt::format("element [{}]", fmt::join(index, ","));
}

CustomCallHandlers::Handler checker(std::string name, Holds (*rule)(std::string_view config),
                                    FailedChecks& failed) {
  return [name = std::move(name), rule, &failed](const CustomCallArguments& call) -> Result<void> {
    if (call.operands.size() != 2 || call.operands[0].type() != call.operands[1].type() ||
        call.operands[0].count() != call.operands[1].count())
      return failure(fmt::format("{} compares two arrays of one shape", name));
    const Array &actual = call.operands[0], &expected = call.operands[1];
    const Holds holds = rule(call.op.text(AttrKey::kBackendConfig));
    int64_t first = 0, wrong = 0;
    for (int64_t i = 0; i < actual.count(); ++i)
      if (!holds(actual, expected, i) && wrong++ == 0) first = i;
    if (wrong == 0) return {};
    Diagnostic finding;
    finding.message = fmt::format("{} fails: {} is {}, expected {}", name, index_text(actual, first),
                                  element_text(actual, first), element_text(expected, first));
    if (actual.count() > 1) finding.message += fmt::format(" ({} of {} differ)", wrong, actual.count());
    finding.source = call.op.module().source;
    finding.offset = call.op.instruction().offset;
    failed.add(std::move(finding));
    return {};
  };
}

Holds eq_rule(std::string_view) { return for_parts(equal); }
Holds almost_rule(std::string_view config) {
  const double tolerance = number_of(config, "tolerance", 1e-4);
  return for_parts(
      [tolerance](const CheckPart& a, const CheckPart& e) { return almost_equal(a, e, tolerance); });
}
Holds close_rule(std::string_view config) {
  const double low = number_of(config, "min_ulps", 0), high = number_of(config, "max_ulps", 3);
  return [low, high](const Array& actual, const Array& expected, int64_t i) {
    double ulps = ulps_between(part_of(actual, i, 0), part_of(expected, i, 0));
    if (is_complex(actual.type()))
      ulps = std::max(ulps, ulps_between(part_of(actual, i, 1), part_of(expected, i, 1)));
    return low <= ulps && ulps <= high;
  };
}

}  // namespace

void FailedChecks::add(Diagnostic finding) {
  const std::scoped_lock lock(mutex_);
  for (const Diagnostic& known : findings_)
    if (known.source == finding.source && known.offset == finding.offset && finding.source) return;
  findings_.push_back(std::move(finding));
}

std::vector<Diagnostic> FailedChecks::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Diagnostic> sorted = findings_;
  std::ranges::stable_sort(sorted, {}, &Diagnostic::offset);
  return sorted;
}

void FailedChecks::clear() {
  const std::scoped_lock lock(mutex_);
  findings_.clear();
}

void add_check_calls(CustomCallHandlers& handlers, FailedChecks& failed) {
  handlers.add("check.expect_eq", checker("check.expect_eq", eq_rule, failed));
  handlers.add("check.expect_almost_eq", checker("check.expect_almost_eq", almost_rule, failed));
  handlers.add("check.expect_close", checker("check.expect_close", close_rule, failed));
}

}  // namespace hlosim
