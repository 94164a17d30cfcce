// The device keys that the terms of many costs name, without the terms: sets of bits, so that the keys of a
// module with hundreds of thousands of instructions take no longer than its costs.
//
//   ReadKeys keys(device.config);
//   record_costs(module, table, device, {}, keys);
//   keys.paths().contains("vpu.alus")
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>

#include "model/cost_recorder.h"
#include "model/time_keys.h"

namespace hlosim {

class ReadKeys : public CostRecorder {
 public:
  /// The device outlives the object.
  explicit ReadKeys(const DeviceConfig& device);

  void work(const CostedWork& work) override;
  void issue(IssueKind kind, const InstructionCost& cost) override;

  /// Each key that cost_with_terms() would name for one of the instructions; sections ("kernel", "vpu.ops")
  /// where kernels of custom calls read some of their keys.
  std::set<std::string, std::less<>> paths() const;

 private:
  void add_blocks(const CostedWork& work);
  void add_custom_call(const CostedWork& work);

  const DeviceConfig& device_;
  size_t hbm_ = 0;
  std::array<TimeKeySet, kUnitCount> of_unit_{};
  TimeKeySet keys_;
  uint64_t costs_ = 0;  // bits of cost_bit()
  std::set<std::tuple<ElementType, ElementType, MatmulPrecision>> products_;
  std::set<std::string, std::less<>> others_;
};

}  // namespace hlosim
