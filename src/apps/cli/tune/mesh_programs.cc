#include "cli/tune/mesh_programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "estimate/partition_over_mesh.h"
#include "hlo/printer.h"
#include "ops/op_table.h"
#include "workloads/maxtext_settings.h"
#include "workloads/step.h"

namespace hlosim {
namespace {

/// The step of one batch and one policy, choice.batch and choice.remat, on this mesh.
Result<StepOptions> step_on(const Mesh& mesh, const MeshStep& step, const StepChoice& choice) {
  Result<StepOptions> chosen = step_options(choice, mesh);
  if (!chosen || !step.own) return chosen;
  StepOptions own = *step.own;
  own.mesh = mesh, own.batch = chosen->batch;
  if (step.choice.remat != StepChoice().remat) own.remat = chosen->remat;
  return own;
}

Result<void> add(MeshPrograms& into, const ModelConfig& model, const Result<StepOptions>& step,
                 const std::string& note) {
  if (!step) return tl::unexpected(step.error());
  const Mesh& mesh = step->mesh;
  Result<Module> module = make_step(model, *step);
  if (!module) {
    std::string text = fmt::format("{}: {}", to_text(mesh), module.error().message);
    if (std::ranges::count(into.left_out, text) == 0) into.left_out.push_back(std::move(text));
    return {};
  }
  const std::string name = fmt::format("{} {}", to_text(mesh), note);
  auto source = std::make_shared<SourceFile>(name, to_text(*module, op_table()));
  const bool decodes = step->kind == StepKind::kDecode;
  const auto tokens = static_cast<double>(step->batch * (decodes ? 1 : step->sequence));
  into.programs.push_back({to_text(mesh), note, std::move(*module), std::move(source), tokens});
  return {};
}

}  // namespace

std::vector<StepMesh> step_meshes(const StepMeshQuestion& question) {
  std::vector<StepMesh> meshes;
  const int64_t in_slice = question.devices / question.slices;
  for (const std::vector<int64_t>& sizes : factorizations(in_slice, question.axes.size())) {
    Mesh ici;
    for (size_t i = 0; i < question.axes.size(); ++i) ici.axes.push_back({question.axes[i], sizes[i]});
    if (question.slices == 1) {
      meshes.push_back({std::move(ici), ""});
      continue;
    }
    for (const std::string& axis : question.dcn_axes) {
      const Mesh dcn{{{axis, question.slices}}, {}};
      meshes.push_back({mesh_over_slices(ici, dcn), "dcn " + to_text(dcn)});
    }
  }
  return meshes;
}

Result<MeshPrograms> mesh_programs(const ModelConfig& model, const MeshStep& step,
                                   const std::vector<StepMesh>& meshes, const std::vector<int64_t>& batches) {
  const StepChoice& choice = step.choice;
  if (batches.empty())
    return failure("tune mesh of a model: --batch is missing",
                   "sequences of all devices together, the same on every mesh");
  MeshPrograms made;
  const std::vector<std::string> policies = split(choice.remat, ',');
  for (const auto& [mesh, over_slices] : meshes) {
    for (const int64_t batch : batches)
      for (const std::string& policy : policies) {
        StepChoice own = choice;
        own.batch = batch;
        const std::vector<std::string> parts = split(policy, '+');
        own.remat = parts[0];
        own.keep.insert(own.keep.end(), parts.begin() + 1, parts.end());
        std::string note = over_slices;
        if (batches.size() > 1) note += fmt::format("{}batch={}", note.empty() ? "" : " ", batch);
        if (policies.size() > 1) note += (note.empty() ? "remat=" : " remat=") + policy;
        if (Result<void> added = add(made, model, step_on(mesh, step, own), note); !added)
          return tl::unexpected(added.error());
      }
  }
  if (made.programs.empty())
    return failure("no mesh of these axes shards the model",
                   made.left_out.empty() ? std::string() : made.left_out.front());
  return made;
}

}  // namespace hlosim
