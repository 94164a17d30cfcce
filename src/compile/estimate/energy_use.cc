#include "estimate/energy_use.h"

namespace hlosim {

std::vector<EnergyPart> energy_of(const DeviceConfig& device, const Totals& totals) {
  std::vector<EnergyPart> parts;
  const auto add = [&](std::string what, std::string path, auto amount, const auto& each,
                       std::string_view unit) {
    if (each)
      parts.push_back({std::move(what), std::move(path), static_cast<double>(amount.count()), unit,
                       each->count(), amount * *each});
  };
  const auto add_unit = [&](Unit unit, auto amount, const auto& each, std::string_view counted) {
    const UnitRow& row = unit_row(unit);
    add(std::string(row.name), std::string(row.section) + ".energy", amount, each, counted);
  };
  for (size_t i = 0; i < device.memory.size() && i < kMaxMemorySpaces; ++i) {
    const MemorySpace& space = device.memory[i];
    add(space.name, "memory." + space.name + ".energy", totals.traffic[i].total(), space.energy, "B");
  }
  add_unit(Unit::kMxu, totals.flops, device.mxu.energy, "FLOP");
  add_unit(Unit::kVpu, Flops(totals.vector_operations), device.vpu.energy, "FLOP");
  add_unit(Unit::kIci, totals.sent, device.ici.energy, "B");
  return parts;
}

}  // namespace hlosim
