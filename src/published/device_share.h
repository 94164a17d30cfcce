// What one device of a mesh does, as the step of a smaller model on one device: its tokens, its heads, its
// part of the width; parameters whole, as they are once they are gathered.
//
//   const DeviceShare share = device_share(run.model, run.options);
//   make_step(share.model, share.options)          // loss and gradients, no collectives, no optimizer
#pragma once

#include "models/model_config.h"
#include "models/step_options.h"

namespace hlosim {

struct DeviceShare {
  ModelConfig model;
  StepOptions options;
};

DeviceShare device_share(const ModelConfig& model, const StepOptions& options);

}  // namespace hlosim
