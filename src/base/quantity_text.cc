#include "base/quantity_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "base/check.h"
#include "base/number_text.h"
#include "base/text.h"

namespace hlosim {
namespace internal {
namespace {

constexpr double kKi = 1024.0, kMi = kKi * 1024, kGi = kMi * 1024, kTi = kGi * 1024;

// Of each dimension the smallest unit first; the base unit has factor 1.
constexpr UnitRow kUnits[] = {
    {"Hz", Dimension::kFrequency, 1, true},
    {"kHz", Dimension::kFrequency, 1e3, true},
    {"MHz", Dimension::kFrequency, 1e6, true},
    {"GHz", Dimension::kFrequency, 1e9, true},
    {"B/s", Dimension::kRate, 1, true},
    {"kB/s", Dimension::kRate, 1e3, true},
    {"MB/s", Dimension::kRate, 1e6, true},
    {"GB/s", Dimension::kRate, 1e9, true},
    {"TB/s", Dimension::kRate, 1e12, true},
    {"KiB/s", Dimension::kRate, kKi, false},
    {"MiB/s", Dimension::kRate, kMi, false},
    {"GiB/s", Dimension::kRate, kGi, false},
    {"TiB/s", Dimension::kRate, kTi, false},
    {"Mbps", Dimension::kRate, 1e6 / 8, false},
    {"Gbps", Dimension::kRate, 1e9 / 8, false},
    {"Tbps", Dimension::kRate, 1e12 / 8, false},
    {"B", Dimension::kSize, 1, true},
    {"kB", Dimension::kSize, 1e3, true},
    {"MB", Dimension::kSize, 1e6, true},
    {"GB", Dimension::kSize, 1e9, true},
    {"TB", Dimension::kSize, 1e12, true},
    {"KiB", Dimension::kSize, kKi, true},
    {"MiB", Dimension::kSize, kMi, true},
    {"GiB", Dimension::kSize, kGi, true},
    {"TiB", Dimension::kSize, kTi, true},
    {"ps", Dimension::kTime, 1, true},
    {"ns", Dimension::kTime, 1e3, true},
    {"us", Dimension::kTime, 1e6, true},
    {"µs", Dimension::kTime, 1e6, false},
    {"ms", Dimension::kTime, 1e9, true},
    {"s", Dimension::kTime, 1e12, true},
    {"cycles", Dimension::kCycles, 1, true},
    {"cycle", Dimension::kCycles, 1, false},
    {"B/cycle", Dimension::kRatePerCycle, 1, true},
    {"KiB/cycle", Dimension::kRatePerCycle, kKi, false},
    {"fJ/B", Dimension::kEnergyPerByte, 1e-3, false},
    {"pJ/B", Dimension::kEnergyPerByte, 1, true},
    {"nJ/B", Dimension::kEnergyPerByte, 1e3, true},
    {"fJ/FLOP", Dimension::kEnergyPerFlop, 1e-3, false},
    {"pJ/FLOP", Dimension::kEnergyPerFlop, 1, true},
    {"nJ/FLOP", Dimension::kEnergyPerFlop, 1e3, true},
};

std::string_view dimension_name(Dimension dimension) {
  switch (dimension) {
    case Dimension::kNone:
      return "a plain number";
    case Dimension::kFrequency:
      return "a frequency";
    case Dimension::kRate:
      return "a bandwidth";
    case Dimension::kSize:
      return "a size";
    case Dimension::kTime:
      return "a time";
    case Dimension::kCycles:
      return "a number of cycles";
    case Dimension::kRatePerCycle:
      return "a bandwidth per cycle";
    case Dimension::kEnergyPerByte:
      return "an energy per byte";
    case Dimension::kEnergyPerFlop:
      return "an energy per operation";
  }
  return "a number";
}

bool same_letters(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

/// `did you mean "GHz"?` for "Ghz": a unit that differs by case alone comes first.
std::string unit_hint(std::string_view unit, Dimension allowed, Dimension also) {
  if (same_letters(unit, "kb") || same_letters(unit, "kb/s"))
    return fmt::format("1 kB{0} is 1000 bytes, 1 KiB{0} is 1024", unit.size() > 2 ? "/s" : "");
  std::vector<std::string_view> candidates;
  for (const UnitRow& row : kUnits) {
    if (row.dimension != allowed && row.dimension != also) continue;
    if (same_letters(row.text, unit)) return fmt::format("did you mean \"{}\"?", row.text);
    candidates.push_back(row.text);
  }
  return did_you_mean(unit, candidates);
}

/// "nan", as YAML writes it too; a unit may follow.
bool is_nan(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('.')) text.remove_prefix(1);
  return same_letters(text.substr(0, text.find(' ')), "nan");
}

std::string expected(Dimension allowed, Dimension also) {
  if (allowed == Dimension::kNone) return "a plain number";
  return also == allowed ? expected_quantity(allowed)
                         : expected_quantity(allowed) + ", or " + expected_quantity(also);
}

}  // namespace

std::string expected_quantity(Dimension dimension) {
  std::vector<std::string_view> units;
  for (const UnitRow& row : kUnits)
    if (row.dimension == dimension && row.written) units.push_back(row.text);
  if (dimension == Dimension::kCycles) return fmt::format("{} (\"32 cycles\")", dimension_name(dimension));
  std::string out = fmt::format("{} in ", dimension_name(dimension));
  for (size_t i = 0; i < units.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == units.size() ? " or " : ", ", units[i]);
  return out;
}

Result<NumberWithUnit> read_number(std::string_view text, Dimension allowed, Dimension also) {
  const std::string_view all = trimmed(text);
  const auto wrong = [&](std::string_view what) {
    return failure(fmt::format("\"{}\" {}; expected {}", shown(all), what, expected(allowed, also)));
  };
  const std::optional<LeadingNumber> number = leading_number(all);
  if (!number) return wrong(is_nan(all) ? "is not a finite number" : "is not a number");
  if (std::isinf(number->value)) return wrong("is out of range");
  NumberWithUnit out;
  out.number = number->value;

  const std::string_view unit = trimmed(all.substr(number->length));
  if (unit.empty()) {
    if (allowed != Dimension::kNone) return wrong("has no unit");
    return out;
  }
  if (unit.front() == ',' || unit.front() == '_')
    return failure(fmt::format("\"{}\" has a separator among its digits; expected {}", shown(all),
                               expected(allowed, also)));
  for (const UnitRow& row : kUnits) {
    if (row.text != unit) continue;
    if (row.dimension != allowed && row.dimension != also)
      return wrong(fmt::format("is {}", dimension_name(row.dimension)));
    out.unit = &row;
    return out;
  }
  auto unknown = wrong(fmt::format("has the unknown unit \"{}\"", shown(unit)));
  unknown.value().hint = unit_hint(unit, allowed, also);
  return unknown;
}

std::string write_number(double value, Dimension dimension) {
  if (dimension == Dimension::kNone) return fmt::format("{}", value);
  std::string best;
  for (const UnitRow& row : kUnits) {
    if (row.dimension != dimension || !row.written) continue;
    const double number = value / row.factor;
    std::string candidate = fmt::format("{} {}", number, row.text);
    if (number * row.factor != value || candidate.find('e') < candidate.find(' ')) continue;
    if (std::abs(number) < 1 && value != 0 && row.factor != 1) continue;
    if (value == 0 && row.factor != (dimension == Dimension::kTime ? 1e3 : 1)) continue;
    if (best.empty() || candidate.size() <= best.size()) best = std::move(candidate);
  }
  if (best.empty()) {  // so large or odd that every unit needs an exponent
    for (const UnitRow& row : kUnits)
      if (row.dimension == dimension && row.factor == 1 && row.written)
        return fmt::format("{} {}", value, row.text);
  }
  return best;
}

Result<double> read_double(std::string_view text, Dimension dimension) {
  const Result<NumberWithUnit> number = read_number(text, dimension, dimension);
  if (!number) return tl::unexpected<Diagnostic>(number.error());
  return number->number * (number->unit ? number->unit->factor : 1);
}

Result<int64_t> read_integer(std::string_view text, Dimension dimension, std::string_view whole) {
  const Result<double> value = read_double(text, dimension);
  if (!value) return tl::unexpected<Diagnostic>(value.error());
  const double rounded = std::nearbyint(*value);
  // 4.35 us is 4350000 ps although the product isn't exact; half a byte is an error.
  if (std::abs(*value - rounded) > 1e-9 * std::abs(*value))
    return failure(fmt::format("\"{}\" is not {}", shown(trimmed(text)), whole));
  if (std::abs(rounded) >= 9.2e18)
    return failure(
        fmt::format("\"{}\" is out of range; expected {} below 9.2e18", shown(trimmed(text)), whole));
  return static_cast<int64_t>(rounded);
}

}  // namespace internal

namespace {
template <class T, class V>
Result<T> wrapped(Result<V> value) {
  if (!value) return tl::unexpected<Diagnostic>(std::move(value.error()));
  return T(*value);
}
}  // namespace

using internal::Dimension;

Result<Hertz> TextForm<Hertz>::read(std::string_view text) {
  return wrapped<Hertz>(internal::read_double(text, Dimension::kFrequency));
}
Result<BytesPerSecond> TextForm<BytesPerSecond>::read(std::string_view text) {
  return wrapped<BytesPerSecond>(internal::read_double(text, Dimension::kRate));
}
Result<PicojoulesPerByte> TextForm<PicojoulesPerByte>::read(std::string_view text) {
  return wrapped<PicojoulesPerByte>(internal::read_double(text, dimension));
}
Result<PicojoulesPerFlop> TextForm<PicojoulesPerFlop>::read(std::string_view text) {
  return wrapped<PicojoulesPerFlop>(internal::read_double(text, dimension));
}
Result<Bytes> TextForm<Bytes>::read(std::string_view text) {
  return wrapped<Bytes>(internal::read_integer(text, Dimension::kSize, "a whole number of bytes"));
}
Result<Picoseconds> TextForm<Picoseconds>::read(std::string_view text) {
  return wrapped<Picoseconds>(
      internal::read_integer(text, Dimension::kTime, "a whole number of picoseconds"));
}
Result<Cycles> TextForm<Cycles>::read(std::string_view text) {
  return wrapped<Cycles>(internal::read_integer(text, Dimension::kCycles, "a whole number of cycles"));
}
Result<int64_t> TextForm<int64_t>::read(std::string_view text) {
  return internal::read_integer(text, Dimension::kNone, "a whole number");
}
Result<double> TextForm<double>::read(std::string_view text) {
  return internal::read_double(text, Dimension::kNone);
}
Result<bool> TextForm<bool>::read(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  return failure(fmt::format("\"{}\" is neither true nor false", shown(text)));
}
Result<std::string> TextForm<std::string>::read(std::string_view text) {
  if (text.empty()) return failure("the text is empty");
  return std::string(text);
}

}  // namespace hlosim
