// Steps of a model written for every mesh of a number of devices, each with every global batch and every
// rematerialization that was asked for.
//
//   const std::vector<StepMesh> meshes = step_meshes({.devices = 64, .axes = {"fsdp", "tensor"}});
//   const Result<MeshPrograms> made = mesh_programs(model, {choice}, meshes, {256, 512});
//   search_programs(made->programs, device, task, ranks, progress)
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "console/step_choice.h"
#include "sharding/mesh.h"
#include "study/mesh_search.h"
#include "workloads/model_config.h"

namespace hlosim {

struct MeshPrograms {
  std::vector<MeshProgram> programs;
  std::vector<std::string> left_out;  // "fsdp=1,tensor=64: kv_heads 8 can't be sharded by …"
};

struct StepMesh {
  Mesh mesh;         // over all slices
  std::string note;  // "dcn data=2": the axis over slices; empty: one slice
};

struct StepMeshQuestion {
  int64_t devices = 1;            // of all slices
  std::vector<std::string> axes;  // of the meshes inside a slice
  int64_t slices = 1;
  std::vector<std::string> dcn_axes = {"data"};  // each is tried over all slices
};

/// All meshes of these axes; `slices` divides `devices`.
std::vector<StepMesh> step_meshes(const StepMeshQuestion& question);

/// The step that is written for each mesh.
struct MeshStep {
  /// choice.remat may name several policies, each with changes for single values:
  /// full,minimal,full+context=host. choice.batch isn't used.
  const StepChoice& choice;
  /// Of a MaxText configuration, in place of the choice, of which only a remat other than its default counts.
  /// May be null.
  const StepOptions* own = nullptr;
};

/// `batches`: of all devices together. Errors: those of the step's options, an axis that no rule of the
/// model's shardings knows, no batch, no mesh that the model can be cut by.
Result<MeshPrograms> mesh_programs(const ModelConfig& model, const MeshStep& step,
                                   const std::vector<StepMesh>& meshes, const std::vector<int64_t>& batches);

}  // namespace hlosim
