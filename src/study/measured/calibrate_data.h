// What constants are fitted to: measured cases, or the operations of a profile.
//
//   CaseData data(std::move(cases), "cases.json", predict_options);
//   calibrate(constants, data.cases(), data.predictor(constants), {});
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "measured/calibrate.h"
#include "profile/profile.h"
#include "study/accuracy.h"

namespace hlosim {

/// `constants` times what the logarithms say; those that stay are left out.
std::vector<DeviceOverride> overrides_of(const std::vector<Constant>& constants,
                                         std::span<const double> factors);

/// Cases of `hlosim accuracy`.
struct CaseData {
  std::vector<MeasuredCase> measured;
  std::string file;
  PredictOptions options;

  std::vector<CalibrationCase> cases() const;
  /// Each case a part; modules run as they were lowered for the device as it is. `constants` have to outlive
  /// it.
  PartedPredictor predictor(const std::vector<Constant>& constants) const;
  /// Modules are lowered anew each time. Both have to outlive it.
  LogPredictor exact(const std::vector<Constant>& constants) const;
};

/// Operations of profiled programs that run on the TensorCore and wait for nothing, by the mean of their
/// time.
class ProfileData {
 public:
  ProfileData(Device device, EstimateOptions options);
  /// Adds a program with the module that it ran. Errors: as estimate().
  Result<void> add(const ProfiledProgram& program, const Module& module, const OpTable& table);

  const std::vector<CalibrationCase>& cases() const { return cases_; }
  /// Each program a part; modules run as they were laid out for the device as it is. Both have to outlive it.
  PartedPredictor predictor(const std::vector<Constant>& constants, const OpTable& table) const;

 private:
  struct Program {
    std::shared_ptr<const Module> module;  // as it runs
    std::vector<std::string> names;        // of the simulated operations, one per case
  };
  Device device_;
  EstimateOptions options_;
  std::vector<Program> programs_;
  std::vector<CalibrationCase> cases_;
};

}  // namespace hlosim
