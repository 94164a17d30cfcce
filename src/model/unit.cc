#include "model/unit.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "model/device.h"

namespace hlosim {
namespace {

constexpr UnitRow kRows[] = {
#define HLOSIM_UNIT(Name, name, section, Type, meaning, where, words, ...) \
  {Unit::k##Name, name, #section, UnitPlace::where, words, {__VA_ARGS__}},
#define HLOSIM_UNIT_AT(Name, name, section, where, words, ...) \
  {Unit::k##Name, name, section, UnitPlace::where, words, {__VA_ARGS__}},
#include "model/unit.def"
};
static_assert(std::size(kRows) == static_cast<size_t>(Unit::kMemory));

struct Bound {
  Unit unit;
  std::string_view name, words;
};
constexpr Bound kBounds[] = {
#define HLOSIM_BOUND(Name, value, name, words) {Unit::k##Name, name, words},
#include "model/unit.def"
};
static_assert(kUnitCount <= static_cast<size_t>(kBounds[0].unit));

template <class Section>
bool is_present(const Section&) {
  return true;
}
template <class Section>
bool is_present(const std::optional<Section>& section) {
  return section.has_value();
}

}  // namespace

std::span<const UnitRow> unit_rows() { return kRows; }

const UnitRow& unit_row(Unit unit) {
  HLOSIM_CHECK(unit < Unit::kMemory, "unit {} has no row", index_of(unit));
  return kRows[index_of(unit)];
}

bool has_cores_beside(const DeviceConfig& device) {
  bool has_any = false;
#define HLOSIM_UNIT(Name, name, section, Type, meaning, where, ...) \
  has_any |= UnitPlace::where == UnitPlace::kBeside && is_present(device.section);
#include "model/unit.def"
  return has_any;
}

std::string unit_name(const DeviceConfig& device, Unit unit) {
  if (unit < Unit::kMemory) return std::string(unit_row(unit).name);
  const size_t space = index_of(unit) - index_of(Unit::kMemory);
  if (space < device.memory.size()) {
    std::string name = device.memory[space].name;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); });
    return name;
  }
  for (const Bound& bound : kBounds)
    if (bound.unit == unit) return std::string(bound.name);
  return "none";
}

std::vector<std::pair<std::string_view, std::string_view>> unit_words() {
  std::vector<std::pair<std::string_view, std::string_view>> words;
  for (const UnitRow& row : kRows) words.emplace_back(row.name, row.words);
  words.emplace_back("HBM", "the main memory");
  words.emplace_back("VMEM", "the on-chip memory");
  for (const Bound& bound : kBounds)
    if (bound.unit != Unit::kNone) words.emplace_back(bound.name, bound.words);
  return words;
}

}  // namespace hlosim
