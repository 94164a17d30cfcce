#include "model/provenances.h"

#include <algorithm>
#include <bit>

#include "model/memory_system.h"

namespace hlosim {
namespace {

Provenance source_of(const Device& device, std::string_view path) {
  const DeviceValue* const value = device.value(path);
  return value && value->has_source ? value->source_class : Provenance::kPublished;
}

}  // namespace

Provenances::Provenances(const Device& device) : device_(device), hbm_(MemorySystem(device.config).hbm()) {
  for (size_t i = 0; i < kUnitCount; ++i) unit_keys_[i] = unit_keys(device.config, static_cast<Unit>(i));
}

Provenance Provenances::of(const InstructionCost& cost, const ComputeSummary& compute,
                           const FixedTime& fixed) {
  if (compute.unmodelled) return Provenance::kDefault;
  if (cost.bound_by == Unit::kOverhead) return weakest(fixed_keys(fixed, cost.traffic[hbm_], cost.category));
  if (cost.bound_by == Unit::kCustom) return Provenance::kOverride;
  return index_of(cost.bound_by) < kUnitCount ? of_unit(cost.bound_by, cost, compute)
                                              : Provenance::kPublished;
}

Provenance Provenances::of_unit(Unit unit, const InstructionCost& cost, const ComputeSummary& compute) {
  TimeKeySet keys = unit_keys_[index_of(unit)];
  const Traffic& hbm = cost.traffic[hbm_];
  if (unit == Unit::kScalar) keys.add(access_keys(nullptr, device_.config, compute, hbm));
  if (unit >= Unit::kMemory)
    keys.add(access_keys(&device_.config.memory[index_of(unit) - index_of(Unit::kMemory)], device_.config,
                         compute, hbm));
  const Provenance of_rates = weakest(keys);
  if (unit == Unit::kMxu) return std::max(of_rates, of_product(compute.matmul.work));
  return std::max(of_rates, of_classes(unit, compute.costs));
}

Provenance Provenances::weakest(TimeKeySet keys) {
  Provenance weakest = Provenance::kPublished;
  keys.for_each([&](size_t index) {
    std::optional<Provenance>& known = keys_[index];
    if (!known) known = source_of(device_, name_and_path(device_.config, index).second);
    weakest = std::max(weakest, *known);
  });
  return weakest;
}

Provenance Provenances::weakest(const std::vector<std::pair<std::string_view, std::string>>& keys) const {
  Provenance weakest = Provenance::kPublished;
  for (const auto& [name, path] : keys) weakest = std::max(weakest, source_of(device_, path));
  return weakest;
}

Provenance Provenances::of_classes(Unit unit, uint64_t costs) {
  constexpr Unit kUnits[] = {Unit::kVpu, Unit::kEup, Unit::kXlu};
  const auto at = static_cast<size_t>(std::ranges::find(kUnits, unit) - std::begin(kUnits));
  Provenance weakest_of_all = Provenance::kPublished;
  if (at == std::size(kUnits)) return weakest_of_all;
  for (uint64_t left = costs; left != 0; left &= left - 1) {
    std::optional<Provenance>& known = classes_[at][static_cast<size_t>(std::countr_zero(left))];
    if (!known) known = weakest(cost_keys(device_.config, unit, left & (~left + 1)));
    weakest_of_all = std::max(weakest_of_all, *known);
  }
  return weakest_of_all;
}

Provenance Provenances::of_product(const MatmulWork& product) {
  const auto [at, is_new] = products_.try_emplace({product.lhs, product.rhs, product.precision});
  if (is_new)
    at->second = std::max(weakest(operand_keys(device_.config, product.lhs, product.precision, false)),
                          weakest(operand_keys(device_.config, product.rhs, product.precision, true)));
  return at->second;
}

Provenance Provenances::of_section(Unit unit) const { return device_.weakest_source(unit_row(unit).numbers); }

}  // namespace hlosim
