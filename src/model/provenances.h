// Where the numbers that decided a time come from: the least trustworthy source among the device keys that
// the term of it names (model/time_keys.h).
//
//   Provenances provenances(device);
//   cost.provenance = provenances.of(cost, compute, fixed);
//   provenances.weakest({TimeKey::kLoopIteration});
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "model/cost_details.h"
#include "model/time_keys.h"

namespace hlosim {

class Provenances {
 public:
  /// The device outlives the object.
  explicit Provenances(const Device& device);

  /// Of the term that decides: that of the unit which `cost` is bound by, or of what nothing hides.
  Provenance of(const InstructionCost& cost, const ComputeSummary& compute, const FixedTime& fixed);
  /// Of a term with these keys. kPublished for none.
  Provenance weakest(TimeKeySet keys);
  /// Of a unit beside the TensorCore: all keys of its section.
  Provenance of_section(Unit unit) const;

 private:
  Provenance of_unit(Unit unit, const InstructionCost& cost, const ComputeSummary& compute);
  Provenance of_classes(Unit unit, uint64_t costs);
  Provenance of_product(const MatmulWork& product);
  Provenance weakest(const std::vector<std::pair<std::string_view, std::string>>& keys) const;

  const Device& device_;
  size_t hbm_ = 0;
  std::array<TimeKeySet, kUnitCount> unit_keys_{};
  // Looked up once each.
  std::array<std::optional<Provenance>, kTimeKeys> keys_{};
  std::array<std::array<std::optional<Provenance>, 64>, 3> classes_{};  // of VPU, EUP and XLU, by cost_bit()
  std::map<std::tuple<ElementType, ElementType, MatmulPrecision>, Provenance> products_;
};

}  // namespace hlosim
