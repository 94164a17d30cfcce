// Steps of a model written for every mesh of a number of devices, each with every global batch and every
// rematerialization that was asked for.
//
//   const Result<MeshPrograms> made = mesh_programs(model, choice, 64, {"fsdp", "tensor"}, {256, 512});
//   search_programs(made->programs, device, task, ranks, progress)
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "console/step_choice.h"
#include "study/mesh_search.h"
#include "workloads/model_config.h"

namespace hlosim {

struct MeshPrograms {
  std::vector<MeshProgram> programs;
  std::vector<std::string> left_out;  // "fsdp=1,tensor=64: kv_heads 8 can't be cut by …"
};

/// `choice.remat` may name several, each with changes for single values: full,minimal,full+context=host.
/// `batches`: of all devices together; choice.batch isn't used. Errors: those of its options, an axis that no
/// rule of the model's shardings knows, no batch, no mesh that the model can be cut by.
Result<MeshPrograms> mesh_programs(const ModelConfig& model, const StepChoice& choice, int64_t devices,
                                   const std::vector<std::string>& axes, const std::vector<int64_t>& batches);

}  // namespace hlosim
