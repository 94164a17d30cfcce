#include "advise/trial_setup.h"

#include "base/check.h"
#include "workloads/step.h"

namespace hlosim {

Result<Estimate> estimate(const TrialSetup& setup, const OpTable& table) {
  EstimateOptions options = setup.options;
  options.simulate.keep_timeline = false;
  return estimate(*setup.module, table, setup.device, options);
}

Result<void> remake_step(TrialSetup& setup) {
  HLOSIM_CHECK(setup.model, "a step without a model file");
  Result<Module> made = make_step(*setup.model->config, setup.model->step);
  if (!made) return tl::unexpected(std::move(made.error()));
  setup.module = std::make_shared<const Module>(std::move(*made));
  return {};
}

}  // namespace hlosim
