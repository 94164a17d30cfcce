// Energy of one run: bytes times pJ per byte and operations times pJ per operation, as far as the device file
// has figures. What switches, no more: clocks, leakage, control and the host are in no figure.
//
//   for (const EnergyPart& part : energy_of(device.config, simulation.totals))
//     std::cout << part.what << ": " << part.energy.count() << " pJ";
#pragma once

#include <string>
#include <vector>

#include "base/energy.h"
#include "model/device.h"
#include "sim/simulate.h"

namespace hlosim {

struct EnergyPart {
  std::string what;  // "hbm", "MXU", "VPU", "ICI"
  std::string path;  // of the figure in the device file
  double amount = 0;
  std::string_view unit;  // of `amount`: "B", "FLOP"
  double each = 0;        // pJ
  Picojoules energy{};
};

/// By one device. Parts whose figure the device file has, whatever their amount.
std::vector<EnergyPart> energy_of(const DeviceConfig& device, const Totals& totals);

}  // namespace hlosim
