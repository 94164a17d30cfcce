// What of a device can be busy: the rows of model/unit.def and the ports of the device's memory spaces.
//
//   for (const UnitRow& row : unit_rows()) report(row.name, busy[index_of(row.unit)]);
//   unit_name(device, memory_unit(0));                          // "HBM"
//   device.weakest_source(unit_row(Unit::kIci).numbers);        // the class that time on links has
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hlosim {

struct DeviceConfig;

/// Memory spaces with a place in a cost: DeviceConfig::memory[i] is space i.
inline constexpr size_t kMaxMemorySpaces = 8;

/// What can be busy, or what else decides how long an instruction takes.
/// The ports of memory space i are the unit memory_unit(i).
enum class Unit : uint8_t {
#define HLOSIM_UNIT(Name, ...) k##Name,
#define HLOSIM_UNIT_AT(Name, ...) k##Name,
#include "model/unit.def"
  kMemory,  // the first memory space; further ones follow
#define HLOSIM_BOUND(Name, value, ...) k##Name = value,
#include "model/unit.def"
};
inline constexpr size_t kUnitCount = static_cast<size_t>(Unit::kMemory) + kMaxMemorySpaces;
constexpr Unit memory_unit(size_t space) {
  return static_cast<Unit>(static_cast<size_t>(Unit::kMemory) + space);
}
constexpr size_t index_of(Unit unit) { return static_cast<size_t>(unit); }

enum class UnitPlace : uint8_t {
  kCore,    // instructions of the TensorCore keep it busy
  kBeside,  // transfers beside the TensorCore keep it busy
};

struct UnitRow {
  Unit unit = Unit::kNone;
  std::string_view name;     // "MXU"
  std::string_view section;  // of a device file: "mxu"; empty: none
  UnitPlace place = UnitPlace::kCore;
  std::string_view words;                   // "the matrix units"
  std::array<std::string_view, 5> numbers;  // paths whose sources its time has; the last ones may be empty
};

/// Every unit but memory, by index_of(unit).
std::span<const UnitRow> unit_rows();
/// Requires: no memory space, overhead or wait.
const UnitRow& unit_row(Unit unit);

/// The device has cores beside the TensorCores: units with a section of their own in its file.
bool has_cores_beside(const DeviceConfig& device);

/// "MXU", "VPU", "HBM", …, "overhead", "wait", "none". Memory units by the name of their space, upper case.
std::string unit_name(const DeviceConfig& device, Unit unit);
/// Names of units and of what else bounds a time, with what they are in words: {"MXU", "the matrix units"}, …
std::vector<std::pair<std::string_view, std::string_view>> unit_words();

}  // namespace hlosim
