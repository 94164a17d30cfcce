// Cases of `hlosim accuracy` predicted again and again, on devices with other numbers.
//
//   const RepeatedPredictions again(cases, "cases.json", {});
//   const std::vector<size_t> which = {0, 2};
//   again.times({{"dma.bandwidth", "600 GB/s"}}, which)            // of the first and the third
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "study/accuracy.h"

namespace hlosim {

/// The same cases predicted again and again, on devices with other numbers: modules are read and lowered
/// once, for the devices as they are without these.
class RepeatedPredictions {
 public:
  RepeatedPredictions(std::vector<MeasuredCase> cases, const std::string& file,
                      const PredictOptions& options);
  RepeatedPredictions(RepeatedPredictions&&) noexcept;
  ~RepeatedPredictions();

  /// Microseconds of the cases with these indices, `overrides` coming last; nothing where there is no
  /// prediction. In parallel; from one thread at a time.
  std::vector<std::optional<double>> times(std::span<const DeviceOverride> overrides,
                                           std::span<const size_t> which) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hlosim
