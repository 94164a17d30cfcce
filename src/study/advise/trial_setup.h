// A program with all that its simulated time depends on: what a trial of advice changes.
//
//   TrialSetup changed = setup;                    // cheap: modules are shared
//   changed.device.config.vmem.scoped_limit = Bytes(96 << 20);
//   const Result<Estimate> run = estimate(changed, op_table());
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/source.h"
#include "estimate/estimate.h"
#include "hlo/module.h"
#include "hlo/op_def.h"
#include "model/device.h"
#include "workloads/model_config.h"
#include "workloads/step_options.h"

namespace hlosim {

/// A model file and the options of its step.
struct StepModel {
  std::shared_ptr<const ModelConfig> config;
  StepOptions step;
};

struct TrialSetup {
  std::optional<StepModel> model;        // of a model file; `module` is its step
  std::shared_ptr<const Module> module;  // as the framework or the compiler wrote it, verified
  Device device;
  EstimateOptions options;
  /// Parameters of the entry that have other arrays than before: by number, the module that makes the new
  /// array of the old one.
  std::map<int64_t, std::shared_ptr<const Module>> prepared_arguments{};
};

/// Simulates without a timeline. Errors: as estimate().
Result<Estimate> estimate(const TrialSetup& setup, const OpTable& table);

/// The module of the setup's model file as its options are now. Requires: a model. Errors: as make_step().
Result<void> remake_step(TrialSetup& setup);

}  // namespace hlosim
