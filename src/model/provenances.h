// Where the numbers that decided an instruction's time come from.
//
//   const Provenances provenances(device);
//   const Provenance source = provenances.of(cost, compute);  // published, measured, calibrated or guess
#pragma once

#include <array>

#include "model/device.h"
#include "model/fusion_summary.h"
#include "model/instruction_cost.h"

namespace hlosim {

/// Where the numbers behind each unit's time come from.
class Provenances {
 public:
  explicit Provenances(const Device& device);

  /// Of the unit that `cost` is bound by.
  Provenance of(const InstructionCost& cost, const ComputeSummary& compute) const;

 private:
  std::array<Provenance, kUnitCount> of_unit_{};
  std::array<Provenance, 10> vector_{}, cross_lane_{};  // by VectorOp, bound by VPU and by XLU
  Provenance emulated_{}, overhead_{};
};

}  // namespace hlosim
