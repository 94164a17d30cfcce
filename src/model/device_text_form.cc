#include "model/device_text_form.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/number_text.h"

namespace hlosim {

Result<ElementType> TextForm<ElementType>::read(std::string_view text) {
  const ElementType type = parse_element_type(text);
  if (type != ElementType::kInvalid) return type;
  std::vector<std::string_view> names;
  for (int i = 1; i < kElementTypeCount; ++i) names.push_back(to_text(static_cast<ElementType>(i)));
  return failure(fmt::format("\"{}\" is not an element type", shown(text)), did_you_mean(text, names));
}

Result<Topology> TextForm<Topology>::read(std::string_view text) {
  constexpr int64_t kLongestSide = 1'000'000;
  constexpr size_t kMostSides = 6;
  const auto wrong = failure(fmt::format("\"{}\" is not a slice; expected {}", shown(text), expects()));
  Topology out;
  for (std::string_view rest = text; !rest.empty();) {
    int64_t side = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
    if (error == std::errc::result_out_of_range || side > kLongestSide)
      return failure(
          fmt::format("\"{}\" has a side that is out of range; expected 1 to {}", shown(text), kLongestSide));
    if (error != std::errc() || side < 1 || out.sides.size() == kMostSides) return wrong;
    out.sides.push_back(side);
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.empty()) return out;
    if (rest.front() != 'x' || rest.size() == 1) return wrong;
    rest.remove_prefix(1);
  }
  return wrong;
}

std::string TextForm<Topology>::write(const Topology& value) {
  return fmt::format("{}", fmt::join(value.sides, "x"));
}

namespace {
using internal::Dimension;
// Between what a serial line and what a whole array of registers could carry.
constexpr Range kPerCycle{1e-3, 1e7};
}  // namespace

std::string TextForm<Bandwidth>::expects() {
  return internal::expected_quantity(Dimension::kRate) + ", or in B/cycle";
}

Result<Bandwidth> TextForm<Bandwidth>::read(std::string_view text) {
  const auto limits = [](const Range& range, Dimension dimension) {
    return fmt::format("{} to {}", internal::write_number(range.low, dimension),
                       internal::write_number(range.high, dimension));
  };
  constexpr Range kPerSecond = TextForm<BytesPerSecond>::range;
  if (const std::optional<LeadingNumber> huge = leading_number(trimmed(text));
      huge && std::isinf(huge->value))
    return failure(fmt::format("\"{}\" is out of range; expected {}, or {}", shown(text),
                               limits(kPerSecond, Dimension::kRate),
                               limits(kPerCycle, Dimension::kRatePerCycle)));
  const auto number = internal::read_number(text, Dimension::kRate, Dimension::kRatePerCycle);
  if (!number) return tl::unexpected<Diagnostic>(number.error());
  const Bandwidth out{number->number * number->unit->factor,
                      number->unit->dimension == Dimension::kRatePerCycle};
  const Range range = out.per_cycle ? kPerCycle : kPerSecond;
  if (out.amount < range.low || out.amount > range.high)
    return failure(
        fmt::format("{} is out of range; expected {}", shown(text), limits(range, number->unit->dimension)));
  return out;
}

std::string TextForm<Bandwidth>::write(Bandwidth value) {
  return internal::write_number(value.amount, value.per_cycle ? Dimension::kRatePerCycle : Dimension::kRate);
}

}  // namespace hlosim
